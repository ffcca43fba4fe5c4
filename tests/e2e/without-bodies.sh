#!/bin/sh
# Answers that have no body (HEAD, 204, 304) and several requests on one connection are
# recorded and replayed like any other.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on HEAD /file
reply 200 text/plain
header ETag: "v1"
body twelve bytes
on GET /file
reply 304
header ETag: "v1"
on DELETE /file
reply 204
on GET /empty
reply 200 text/plain
body
on GET /until-close
reply 200 text/plain
close
body to the end
ORIGIN
host='Host: llm.test\r\n\r\n'
printf '%b' "GET /file HTTP/1.1\r\n${host}DELETE /file HTTP/1.1\r\n${host}GET /empty HTTP/1.1\r\n${host}GET /until-close HTTP/1.1\r\n$host" >requests
all() {
    raw_tls --responses 4 --show chunks <requests
    send HEAD /file - | tr -d '\r' | grep -iE '^(HTTP|ETag|Content-Type)'
}
start_proxy record
all >live
stop_proxy
origin_hits 5
stop_origin
is "$(tape check "$tapes/default.jsonl")" 5

start_proxy replay
all >again
stop_proxy
sed 's/^HTTP.1.1 \(...\).*/\1/' live >live.plain
sed 's/^HTTP.1.1 \(...\).*/\1/' again >again.plain
same live.plain again.plain
counts default 5 0 0 0
