#!/bin/sh
# Later requests of a plain connection are held to the same rules as its first: what two
# readers could understand differently is refused and never reaches an upstream. So is
# a head behind empty lines.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on * /*
reply 200 text/plain
body fine
ORIGIN
start_proxy record
url=http://llm.test
args=$(seq 1500 | sed 's/.*/a=&/' | paste -sd '&' -)

# second NAME STATUS FORMAT: after a good request, this one is refused and nothing follows.
second() {
    printf '%b' "GET $url/first HTTP/1.1\r\nHost: llm.test\r\n\r\n$3" >"ask.$1"
    printf 'GET %s/smuggled HTTP/1.1\r\nHost: llm.test\r\n\r\n' "$url" >>"ask.$1"
    raw "$proxy" --responses 2 <"ask.$1" >"answer.$1" || true
    is "$(grep -aoE 'HTTP/1.1 [0-9]+' "answer.$1" | cut -d ' ' -f 2 | paste -sd ' ' -)" "200 $2" "$1"
}
second blank-before-colon 400 "POST $url/ HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n"
second folded 400 "GET $url/ HTTP/1.1\r\nX-A: b\r\n c\r\n\r\n"
second folded-coding 400 "POST $url/ HTTP/1.1\r\nX-A: b\r\n c\r\nX-B: d\r\n\te\r\n\r\n"
second name-with-slash 400 "GET $url/ HTTP/1.1\r\nX/A: b\r\n\r\n"
second blank-in-target 400 "GET $url/a b HTTP/1.1\r\n\r\n"
second escape-in-target 400 "GET $url/\033[31m HTTP/1.1\r\n\r\n"
second two-lengths 400 "POST $url/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na"
second many-arguments 414 "GET $url/?$args HTTP/1.1\r\nHost: llm.test\r\n\r\n"

printf '\r\n\r\n\r\nGET %s/ HTTP/1.1\r\nX-A : b\r\n\r\n' "$url" | raw "$proxy" >answer || true
has 'HTTP/1.1 400 ' answer
printf '\r\n\r\n\r\nGET %s/last HTTP/1.1\r\nX-A: b\r\n\r\n' "$url" | raw "$proxy" >answer
has fine answer
stop_proxy
origin_hits 9
hasnt smuggled "$origin_log"
