#!/bin/sh
# 200 TLS clients at once, streams and short answers mixed, for SOAK_SECONDS (60): every
# body is the one the origin made, no exchange is lost, and memory stays where it was.
E2E_SECONDS=$((${SOAK_SECONDS:-60} * 3 + 120))
export E2E_SECONDS
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on POST /*
generate
ORIGIN
swarm() { # LABEL OPTIONS...: sets answers
    label=$1
    shift
    "$python" "$tools/swarm.py" --proxy "$proxy" --ca "$ca" --clients 200 --sessions 4 \
        --rate "${SOAK_RATE:-400}" --label "$label" "$@" >"$label.json" 2>"$label.log" ||
        fail "$(cat "$label.json") $(head -n 5 "$label.log")"
    answers=$(pick "$label.json" answers)
    [ "$(pick "$label.json" streams)" -gt 0 ] || fail 'no stream among them'
}
rss_kb() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$proxy_pid/status"; }

start_proxy record
swarm warm --each 30
expected=$answers
before=$(rss_kb)
swarm long --seconds "${SOAK_SECONDS:-60}"
expected=$((expected + answers))
after=$(rss_kb)
stop_proxy
origin_hits "$expected"
stored=0
for session in s0 s1 s2 s3; do
    n=$(tape count "$tapes/$session.jsonl")
    stored=$((stored + n))
done
is "$stored" "$expected" 'exchanges on disk'
printf 'recorded %s exchanges, rss %s kB then %s kB\n' "$expected" "$before" "$after"
# What a recorder keeps per exchange is an index entry; 1 kB each is the allowance.
[ "$after" -le $((before * 5 / 4 + 8192 + answers)) ] || fail "memory grew: $before to $after kB"
stop_origin

start_proxy replay
swarm warm --each 30
stop_proxy
is "$answers" 6000
