#!/bin/sh
# An upstream that refuses, does not exist or is not trusted fails the request with a
# reason; the failure is recorded and replays as the same failure.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin stranger <<'ORIGIN'
on GET /
reply 200 text/plain
body never seen
ORIGIN
cases='https://refused.test/ https://nowhere.invalid/ https://llm.test/ http://dropped.test/'
ask() {
    for url in $cases; do
        printf '%s %s\n' "$(status GET "$url" -)" "$url"
        cat "$work/body"
    done
}

"$python" "$tools/hangup.py" "$work/hangup.port" &
others=$!
await "$work/hangup.port" "$others"
start_proxy record --resolve refused.test:443:127.0.0.1:1 \
    --resolve "dropped.test:80:127.0.0.1:$(cat "$work/hangup.port")"
ask >live
stop_proxy
origin_hits 0
stop_origin
n=0
for code in E_UPSTREAM_CONNECT E_UPSTREAM_DNS E_UPSTREAM_TLS E_UPSTREAM_ABORTED; do
    n=$((n + 1))
    tape_is default $n outcome error
    tape_is default $n error.code $code
    has $code live
done
is "$(grep -c '^502 ' live)" 4

start_proxy replay
ask >again
stop_proxy
same live again
counts default 4 0 0 0
