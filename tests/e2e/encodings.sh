#!/bin/sh
# Encoded bodies pass unchanged while recording; the cassette holds them decoded and
# plays them back unencoded. A request's own encoding is undone before matching.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /gzip
reply 200 application/json
gzip
body {"text":"a text that is worth compressing, compressing, compressing"}
on GET /deflate
reply 200 text/plain
deflate
body deflated
on GET /stream
reply 200 text/event-stream
gzip
chunk data: one\n\n
chunk data: two\n\n
on GET /broken
reply 200 text/plain
header Content-Encoding: gzip
body this is not gzip
on GET /unknown
reply 200 text/plain
header Content-Encoding: x-own
body as it is
on POST /upload
reply 200 text/plain
body thanks
ORIGIN
gzip -c <"$data/hello.json" >hello.gz
coded='Content-Encoding:gzip'

start_proxy record
for path in gzip deflate stream broken unknown; do
    send GET /$path - -H 'Accept-Encoding: gzip, deflate' -D $path.head >$path.raw
done
has 'Content-Encoding: gzip' gzip.head
gzip -dc <gzip.raw >gzip.live
gzip -dc <stream.raw >stream.live
send POST /upload hello.gz -H "$coded" >upload.live
stop_proxy
has "$(sha256sum <hello.gz | cut -d ' ' -f 1)" "$origin_log"
stop_origin
is "$(tape check "$tapes/default.jsonl")" 6
tape body "$tapes/default.jsonl" 1 response >stored
same gzip.live stored
tape body "$tapes/default.jsonl" 6 request >stored
same "$data/hello.json" stored
has 'a text that is worth' "$tapes/default.jsonl"

start_proxy replay
for path in gzip deflate stream broken unknown; do
    send GET /$path - -D $path.head >$path.again
done
is "$(send POST /upload "$data/hello.json")" thanks 'unencoded request'
stop_proxy
same gzip.live gzip.again
same stream.live stream.again
is "$(cat deflate.again)" deflated
hasnt Content-Encoding gzip.head
for path in broken unknown; do
    same $path.raw $path.again
    has Content-Encoding $path.head
done
counts default 6 0 0 0
