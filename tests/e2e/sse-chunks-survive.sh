#!/bin/sh
# A stream reaches the client piece by piece while it is recorded, and replay keeps the
# recorded boundaries, also in the middle of an event.
. "${srcdir:-.}/tests/e2e/lib.sh"

# Each piece is sent only when the client has seen the one before.
start_origin <<'ORIGIN'
on POST /v1/chat/completions
reply 200 text/event-stream
chunk data: {"delta":"Hel
wait c1
chunk lo"}\n\ndata: {"del
wait c2
chunk ta":" wor
wait c3
chunk ld"}\n\n
wait c4
chunk data: [DONE]\n\n
ORIGIN
size=$(wc -c <"$data/hello.json")
{
    printf 'POST /v1/chat/completions HTTP/1.1\r\nHost: llm.test\r\n'
    printf 'Content-Type: application/json\r\nContent-Length: %d\r\n\r\n' "$size"
    cat "$data/hello.json"
} >request

start_proxy record
raw_tls --show chunks --touch "$work" <request >live
stop_proxy
origin_hits 1
stop_origin

is "$(wc -l <live)" 7 'status, five pieces and the end'
has '17 "lo\"}\n\ndata: {\"del"' live

start_proxy replay
raw_tls --show chunks <request >again
stop_proxy
sed -n '2,$p' live >live.pieces
sed -n '2,$p' again >again.pieces
same live.pieces again.pieces
counts default 1 0 0 0
