#!/bin/sh
# Clients that connect and say nothing, or stop half way, keep nobody else waiting.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /x
reply 200 text/plain
body x
ORIGIN
start_proxy record --workers 1
"$python" "$tools/silent.py" "$proxy" "$work/silent.ready" &
others=$!
await "$work/silent.ready" "$others"
is "$(send GET /x -)" x
is "$(send GET http://llm.test/x -)" x
is "$(own /__retape/health -o body -w '%{http_code}')" 200
stop_proxy
origin_hits 2
