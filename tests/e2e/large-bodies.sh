#!/bin/sh
# Bodies of several megabytes, text and binary, come back byte for byte.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on POST /echo
reply 200 application/octet-stream
echo
ORIGIN
head -c 5000000 /dev/urandom >binary
base64 -w 0 <binary >text
start_proxy record
for body in binary text; do
    send POST /echo $body -H 'Content-Type: application/octet-stream' >$body.live
    same $body $body.live
done
stop_proxy
origin_hits 2
stop_origin
is "$(tape check "$tapes/default.jsonl")" 2

start_proxy replay
for body in text binary; do
    send POST /echo $body >$body.again
    same $body $body.again
done
stop_proxy
counts default 2 0 0 0
