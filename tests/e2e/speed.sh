#!/bin/sh
# --speed 1 plays a stream at its recorded pace, in order and not faster; by default it
# comes at once.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /slow
reply 200 text/event-stream
chunk data: 1\n\n
pause 300ms
chunk data: 2\n\n
pause 300ms
chunk data: 3\n\n
ORIGIN
start_proxy record
send GET /slow - >live
stop_proxy
stop_origin
recorded=$(tape get "$tapes/default.jsonl" 1 response.chunks.2.0)
[ "$recorded" -ge 500 ] || fail "the pace was not recorded: $recorded ms"

at_least() { # MS SPEED
    start_proxy replay --speed "$2"
    took=$(send GET /slow - -o again -w '%{time_total}' | sed 's/\.\(...\).*/\1/; s/^0*//')
    stop_proxy
    same live again
    [ "$took" -ge "$1" ] || fail "speed $2: $took ms, recorded $recorded ms"
}
at_least "$recorded" 1
at_least $((recorded / 2)) 2
at_least 0 0
