#!/bin/sh
# A web page whose host name was made to lead to the proxy can neither read its pages nor
# use its routes, and no route leads back to the proxy. With the token, any name will do.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on * /*
reply 200 text/plain
body fine
ORIGIN
port() { echo "${proxy##*:}"; }
ask() { own "$@" -o body -w '%{http_code}'; }

echo '{"routes": {"/mine": "http://llm.test"}}' >retape.json
start_proxy record
for path in /__retape/sessions /to/http/llm.test/x /mine/x /s/other/to/http/llm.test/x; do
    is "$(ask "$path" -H "Host: evil.test:$(port)")" 421 "$path under another name"
    has E_NOT_OUR_NAME body
done
origin_hits 0
for name in "127.0.0.1:$(port)" localhost retape.local; do
    is "$(ask /to/http/llm.test/x -H "Host: $name")" 200 "a route under $name"
done
origin_hits 3
for host in "$proxy" "localhost:$(port)" "0.0.0.0:$(port)" retape.local; do
    is "$(ask "/to/http/$host/__retape/sessions")" 400 "a route back by $host"
done
stop_proxy
tape_count default 3

start_proxy record --append --token T
is "$(ask /to/http/llm.test/x -H "Host: docker.test" -H 'X-Retape-Token: T')" 200
is "$(ask /to/http/llm.test/x -H "Host: docker.test")" 401
stop_proxy
