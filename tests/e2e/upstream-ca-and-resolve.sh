#!/bin/sh
# --upstream-ca is what makes a private origin trusted, and --resolve sends a host
# elsewhere while TLS, Host and cassette keep its name.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /x
reply 200 text/plain
body x
ORIGIN
go_to="deep.llm.test:8443:127.0.0.1:$origin_port"
start_proxy record --resolve "$go_to"
is "$(send GET https://deep.llm.test:8443/x -)" x
stop_proxy
has '"Host", "deep.llm.test:8443"' "$origin_log"
tape_is default 1 request.url https://deep.llm.test:8443/x

got=0
"$RETAPE" record --cassettes other --resolve "$go_to" -- \
    curl -sS -o body -w '%{http_code}' https://deep.llm.test:8443/x >code 2>record.log || got=$?
is "$(cat code)" 502 'without the authority'
has E_UPSTREAM_TLS body
origin_hits 1
