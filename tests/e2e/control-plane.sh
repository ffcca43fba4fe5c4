#!/bin/sh
# The control pages tell health, sessions, exchanges, misses and counters, on the proxy's
# own address and, through the proxy, as retape.local.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on POST /v1
reply 200 text/plain
body x
ORIGIN
start_proxy record
send POST /v1 "$data/hello.json" -H 'Authorization: Bearer sk-live-control'
own /__retape/exchanges >page
is "$(pick page recorded)" 1
stop_proxy
stop_origin

start_proxy replay
send POST /v1 "$data/hello.json" >/dev/null
is "$(status GET /missing -)" 424
for path in health sessions 'exchanges?session=default' misses; do
    is "$(own "/__retape/$path" -o page -w '%{http_code} %{content_type}')" \
        '200 application/json' "$path"
    pick page '' >/dev/null
done
has /missing page
own /__retape/sessions >page
has '"default"' page
own /__retape/metrics -o page -w '%{content_type}' | grep -q '^text/plain' || fail metrics
grep -Eq '^retape_[a-z_]+({.*})? 1$' page || fail 'no counter counts'
own /__retape/ca.pem >page
same page "$ca"
is "$(own /__retape/nothing -o page -w '%{http_code}')" 404
is "$(own / -o page -w '%{http_code}' | cut -c 1)" 4 'the bare origin'

for url in http://retape.local/__retape/health https://retape.local/__retape/health; do
    is "$(status GET $url -)" 200 $url
done
send GET http://retape.local/__retape/ca.pem - >page
same page "$ca"
stop_proxy 2
counts default 1 0 1 0
