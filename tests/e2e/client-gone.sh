#!/bin/sh
# When the client leaves in the middle of a stream, the upstream request is ended too and
# the exchange is marked.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /endless
reply 200 text/event-stream
chunk data: one\n\n
until-gone upstream-closed
ORIGIN

start_proxy record
printf 'GET /endless HTTP/1.1\r\nHost: llm.test\r\n\r\n' |
    raw_tls --show chunks --leave 1 >seen
has '11 "data: one\n\n"' seen
await "$work/upstream-closed" "$proxy_pid" || fail "upstream was not told"
stop_proxy
tape_is default 1 outcome aborted
tape_is default 1 error.code E_CLIENT_GONE
is "$(tape body "$tapes/default.jsonl" 1 response)" 'data: one'
