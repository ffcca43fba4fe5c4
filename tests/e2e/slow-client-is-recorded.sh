#!/bin/sh
# However slowly a client takes an answer of known length, its last byte comes after the
# exchange is in the cassette: what a client has seen whole is never lost.
. "${srcdir:-.}/tests/e2e/lib.sh"

urls='' n=0
for size in 280 300 320 340 360 380 400 450 500 600 700 800 1000 1300 1700 2500; do
    for more in 0 17 33; do
        n=$((n + 1))
        bytes=$((size * 1000 + more * 1000))
        head -c "$bytes" /dev/zero | tr '\0' x >"body.$n"
        printf 'on GET /%s\nreply 200 text/plain\nbody @body.%s\n' "$n" "$n"
        echo "$bytes" >>want
        urls="$urls http://llm.test/$n"
    done
done >script
start_origin <script
start_proxy record --workers 1
# shellcheck disable=SC2086 # a list
"$python" "$tools/slow.py" "$proxy" $urls >got || fail 'an answer was cut'
same got want
stop_proxy
origin_hits "$n"
tape_count default "$n"
