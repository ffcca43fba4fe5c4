#!/bin/sh
# A chat that repeats its history with every turn costs what is new on disk, and every
# request still reads back exactly.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on POST /v1/chat/completions
reply 200 application/json
body {"choices":[{"message":{"role":"assistant","content":"fine"}}]}
ORIGIN
start_proxy record
messages=''
for turn in $(seq 40); do
    text=$(printf 'turn %s' "$turn" | sha256sum | cut -c 1-64)
    text="$text$text$text$text$text$text$text$text"
    messages="$messages${messages:+,}{\"role\":\"user\",\"content\":\"$turn $text\"}"
    printf '{"model":"m","messages":[%s],"temperature":0}' "$messages" >"turn.$turn"
    send POST /v1/chat/completions "turn.$turn" >answer
    wc -c <"$tapes/default.jsonl" >"size.$turn"
done
stop_proxy
stop_origin
read -r at_10 <size.10
read -r at_20 <size.20
read -r at_40 <size.40
first=$((at_20 - at_10)) later=$(((at_40 - at_20) / 2))
[ "$later" -le $((first * 12 / 10)) ] || fail "10 turns cost $first bytes, later $later"

is "$(tape check "$tapes/default.jsonl")" 40
for turn in 1 2 17 40; do
    tape body "$tapes/default.jsonl" $turn request >stored
    same turn.$turn stored
done
start_proxy replay
is "$(status POST /v1/chat/completions turn.17)" 200
is "$(status POST /v1/chat/completions turn.40)" 200
stop_proxy
counts default 2 0 0 38
