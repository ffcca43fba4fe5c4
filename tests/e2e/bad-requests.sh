#!/bin/sh
# Requests that two readers could understand differently are refused (4xx, 501) and the
# connection is closed, inside TLS and outside; the proxy goes on serving others.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on * /*
reply 200 text/plain
body fine
ORIGIN
start_proxy record
host='Host: llm.test\r\n'
big=$(head -c 65536 /dev/zero | tr '\0' a)

# refused NAME FORMAT: outside and inside of TLS.
refused() {
    printf '%b' "$2" | sed "s/BIG/$big/" >"bad.$1"
    sed 's,^\([A-Z]*\) /,\1 http://llm.test/,' <"bad.$1" >"bad.$1.plain"
    raw "$proxy" <"bad.$1.plain" >"answer.$1.plain" || true
    raw_tls <"bad.$1" >"answer.$1.tls" || true
    for answer in "answer.$1.plain" "answer.$1.tls"; do
        head -n 1 "$answer" | grep -qE '^HTTP/1.1 (4|501)' ||
            fail "$answer: $(head -c 100 "$answer" | head -n 1)"
        [ "$(grep -c '^HTTP/1.1 ' "$answer")" -eq 1 ] || fail "$1: served what follows"
    done
}
next='GET /smuggled HTTP/1.1\r\n'$host'\r\n'
refused long-header "GET / HTTP/1.1\r\n${host}X: BIG\r\n\r\n$next"
refused long-target "GET /BIG HTTP/1.1\r\n$host\r\n$next"
refused length-and-chunks "POST / HTTP/1.1\r\n${host}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n$next"
refused two-lengths "POST / HTTP/1.1\r\n${host}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd$next"
refused bad-length "POST / HTTP/1.1\r\n${host}Content-Length: 3x\r\n\r\nabc$next"
refused nul "GET / HTTP/1.1\r\n${host}X-A: b\0c\r\n\r\n$next"
refused folded "GET / HTTP/1.1\r\n${host}X-A: b\r\n c\r\n\r\n$next"
refused blank-before-colon "GET / HTTP/1.1\r\n${host}X-A : b\r\n\r\n$next"
refused bad-chunk "POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n$next"
refused odd-coding "POST / HTTP/1.1\r\n${host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n$next"

for target in llm.test :443 llm.test:0 llm.test:99999 llm.test:x 'a b:443' '[::1:443' http://x/; do
    printf 'CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n' "$target" | raw "$proxy" >answer || true
    head -n 1 answer | grep -q '^HTTP/1.1 400' || fail "CONNECT $target: $(head -n 1 answer)"
done
# Neither HTTP nor TLS: no answer is owed, but nobody else may notice.
garbage='\0026\0003\0001\0000\0020no handshake....'
printf '\000\001\002\377\r\n\r\n' | raw "$proxy" --half-close >answer || true
printf '%b' "$garbage" | raw "$proxy" --half-close >answer || true
printf '%b' "$garbage" | raw "$proxy" --connect llm.test:443 --half-close >answer || true

is "$(send GET /after -)" fine
stop_proxy
hasnt smuggled "$origin_log"
