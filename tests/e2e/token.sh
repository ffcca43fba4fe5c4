#!/bin/sh
# With a token nobody without it gets in; without a token the proxy stays on the loopback.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /x
reply 200 text/plain
body x
ORIGIN
start_proxy record --token open-sesame
is "$(status GET http://llm.test/x -)" 407 'no credentials'
is "$(status GET http://llm.test/x - --proxy "http://run-1:wrong@$proxy")" 407 'wrong token'
is "$(status GET http://llm.test/x - --proxy "http://run-1:open-sesame@$proxy")" 200
! send GET /x - 2>connect.log || fail 'CONNECT without credentials'
has 407 connect.log
is "$(status GET /x - --proxy "http://run-1:open-sesame@$proxy")" 200 'CONNECT with it'
is "$(own /to/https/llm.test/x -o body -w '%{http_code}')" 401 'own origin'
is "$(own /to/https/llm.test/x -o body -w '%{http_code}' -H 'X-Retape-Token: open-sesame')" 200
is "$(own /s/run-2:wrong/to/https/llm.test/x -o body -w '%{http_code}')" 401
is "$(own /s/run-2:open-sesame/to/https/llm.test/x -o body -w '%{http_code}')" 200
is "$(own /__retape/sessions -o body -w '%{http_code}')" 401 'control plane'
stop_proxy
origin_hits 4
hasnt open-sesame "$origin_log"
absent open-sesame "$tapes" "$proxy_log" "$summary"

RETAPE_TOKEN=from-env start_proxy record --append
is "$(status GET http://llm.test/x -)" 407 'token from the environment'
is "$(status GET http://llm.test/x - --proxy "http://run-3:from-env@$proxy")" 200
stop_proxy

start_fails 2 token record --listen 0.0.0.0:0
start_fails 2 token replay --listen '[::]:0'
