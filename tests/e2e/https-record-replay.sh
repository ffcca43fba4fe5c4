#!/bin/sh
# A recorded HTTPS exchange plays back byte for byte with the origin gone, and the
# caller's key is nowhere on disk.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on POST /v1/messages
reply 201 application/json; charset=utf-8
header X-Request-Id: req-7
header X-Twice: one
header X-Twice: two
body {"answer":"grüß dich"}
ORIGIN

start_proxy record
send POST '/v1/messages?beta=true' "$data/hello.json" -H 'X-Api-Key: sk-live-e2e' \
    -D live.head >live
stop_proxy
origin_hits 1
has '"X-Api-Key", "sk-live-e2e"' "$origin_log"
stop_origin

is "$(tape check "$tapes/default.jsonl")" 1
tape_is default 1 request.url 'https://llm.test/v1/messages?beta=true'
tape_is default 1 response.status 201
tape_is default 1 outcome complete
tape body "$tapes/default.jsonl" 1 request >stored
same "$data/hello.json" stored

start_proxy replay
send POST '/v1/messages?beta=true' "$data/hello.json" -H 'X-Api-Key: other' \
    -D again.head >again
stop_proxy
counts default 1 0 0 0

same live again
for head in live.head again.head; do
    tr -d '\r' <$head | grep -iE '^(x-|content-type|content-length)' >$head.kept
done
same live.head.kept again.head.kept
absent sk-live-e2e "$tapes" "$work"/*.log "$work"/summary-*.json
