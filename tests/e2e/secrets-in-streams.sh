#!/bin/sh
# A credential that a stream delivers in pieces is scrubbed as well, and the stream still
# plays back as events.
. "${srcdir:-.}/tests/e2e/lib.sh"

half=$(printf a | sha256sum | cut -c 1-20) rest=$(printf b | sha256sum | cut -c 1-20)
start_origin <<ORIGIN
on GET /stream
reply 200 text/event-stream
chunk data: {"text":"the key is sk-proj-$half
wait c1
chunk $rest, keep it"}\n\n
wait c2
chunk data: [DONE]\n\n
ORIGIN
printf 'GET /stream HTTP/1.1\r\nHost: llm.test\r\n\r\n' >request

start_proxy record
raw_tls --show chunks --touch "$work" <request >live
stop_proxy
stop_origin
has "$rest" live
absent "$half" "$tapes" "$proxy_log"
absent "$rest" "$tapes" "$proxy_log"
is "$(tape check "$tapes/default.jsonl")" 1

start_proxy replay
raw_tls --show chunks <request >again
stop_proxy
is "$(grep -c '"' again)" 3 'pieces'
has 'keep it\"}\n\n"' again
has '14 "data: [DONE]\n\n"' again
