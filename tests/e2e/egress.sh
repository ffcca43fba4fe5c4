#!/bin/sh
# With egress.allow nothing else is forwarded: the request is answered with 403 and the
# host is never asked.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /x
reply 200 text/plain
body x
ORIGIN
echo '{"egress": {"allow": ["llm.test"]}}' >retape.json
start_proxy record
is "$(send GET /x -)" x
is "$(status GET https://tools.test/x -)" 403
has E_EGRESS_BLOCKED body
is "$(own /to/https/tools.test/x -o body -w '%{http_code}')" 403
stop_proxy
origin_hits 1
