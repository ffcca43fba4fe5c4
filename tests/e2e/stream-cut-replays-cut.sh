#!/bin/sh
# A response that broke off in the recording breaks off at the same byte in replay,
# whether it was chunked or had a length.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /stream
reply 200 text/event-stream
chunk data: one\n\n
wait c1
chunk data: tw
wait c2
cut
on GET /sized
reply 200 text/plain
length 100
body only this
ORIGIN
printf 'GET /stream HTTP/1.1\r\nHost: llm.test\r\n\r\n' >stream
printf 'GET /sized HTTP/1.1\r\nHost: llm.test\r\n\r\n' >sized

both() {
    for name in stream sized; do
        got=0
        raw_tls --show chunks --touch "$work" <"$name" >"$name.$1" || got=$?
        is $got 4 "$name, $1: exit status of a cut response"
    done
}
start_proxy record
both live
stop_proxy
stop_origin
for n in 1 2; do
    tape_is default $n outcome aborted
    tape_is default $n error.code E_UPSTREAM_ABORTED
done
is "$(tape body "$tapes/default.jsonl" 2 response)" 'only this'

start_proxy replay
both again
stop_proxy
same stream.live stream.again
is "$(tail -n 2 sized.again)" "$(printf '9 "only this"\ncut')"
