#!/bin/sh
# Asked to end, the proxy finishes what is in flight and records it.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /slow
reply 200 text/event-stream
chunk data: first\n\n
wait middle
chunk data: last\n\n
ORIGIN
start_proxy record
send GET /slow - >live &
client=$!
others=$client
await "$work/middle.at" "$client"
kill -TERM "$proxy_pid"
until ! own /__retape/health >/dev/null 2>&1; do :; done # no new connections
go middle
wait_proxy 0
wait "$client" || fail 'the client was cut off'
has 'data: last' live
tape_is default 1 outcome complete
