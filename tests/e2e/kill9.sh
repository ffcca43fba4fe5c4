#!/bin/sh
# kill -9 loses at most the exchanges still in flight: however often a busy recorder is
# killed, its cassettes open, and every finished exchange is in them.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on POST /*
generate
ORIGIN
for round in $(seq "${KILLS:-5}"); do
    start_proxy record --append
    "$python" "$tools/swarm.py" --proxy "$proxy" --ca "$ca" --clients 8 --label "r$round" \
        --sessions 2 --finished "$work/finished" --kill "$proxy_pid" \
        --kill-after $((20 + round * 37 % 150)) 2>swarm.log || fail "round $round"
    proxy_status=0
    wait "$proxy_pid" || proxy_status=$?
    proxy_pid=''
    is $proxy_status 137 'killed'
    for session in s0 s1; do
        "$RETAPE" show --cassettes "$tapes" "$session" --json >shown 2>show.log ||
            fail "$session does not open after round $round"
    done
done
start_proxy record --append --allow-empty # mends a torn last line
for session in s0 s1; do
    is "$(status POST /last "$data/generate.json" -H "X-Retape-Session: $session")" 200
done
stop_proxy
cat "$tapes"/*.jsonl >all
tape check "$tapes/s0.jsonl" "$tapes/s1.jsonl" >counted
[ -s "$work/finished" ] || fail 'nothing was finished'
while read -r id; do
    grep -qF -- "$id" all || fail "$id was finished and is lost"
done <"$work/finished"
