#!/bin/sh
# Replay works in a network namespace that has nothing but its own loopback.
. "${srcdir:-.}/tests/e2e/lib.sh"
alone='unshare -n'
$alone true 2>/dev/null || alone='unshare -rn'
$alone ip link set lo up 2>/dev/null || skip 'no network namespaces here'

start_origin <<'ORIGIN'
on POST /v1/messages
reply 200 text/event-stream
chunk data: one\n\n
chunk data: two\n\n
ORIGIN
start_proxy record
send POST /v1/messages "$data/hello.json" >live
stop_proxy
stop_origin

cat >inside <<'INSIDE'
ip link set lo up
exec "$@"
INSIDE
$alone sh inside "$RETAPE" replay --cassettes "$tapes" -- \
    curl -sS --data-binary "@$data/hello.json" https://llm.test/v1/messages >again 2>replay.log ||
    fail "replay ended with $?"
same live again
