#!/bin/sh
# A torn last line is cut with a warning. Any other damage is an error that names the
# line; another format version is refused by name.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /*
reply 200 text/plain
body answer
ORIGIN
start_proxy record
for path in a b c; do send GET /$path -; done
stop_proxy
good=$work/good.jsonl
cp "$tapes/default.jsonl" "$good"

broken_tape() { # WORDS: the cassette as it stands is refused with these words
    start_fails 2 "$1" replay --listen 127.0.0.1:0 --cassettes "$tapes"
    has default.jsonl refused.log
    start_fails 2 "$1" show --cassettes "$tapes" default
}
sed '3s/.*/{"exchange":/' "$good" >"$tapes/default.jsonl"
broken_tape 'line 3'
sed '2s/.*/[1,2]/' "$good" >"$tapes/default.jsonl"
broken_tape 'line 2'
sed '1s/"cassette":1/"cassette":2/' "$good" >"$tapes/default.jsonl"
broken_tape 'cassette format 2'
sed 1d "$good" >"$tapes/default.jsonl"
broken_tape 'line 1'
: >"$tapes/default.jsonl"
start_fails 2 default.jsonl replay --listen 127.0.0.1:0 --cassettes "$tapes"

head -c -7 "$good" >"$tapes/default.jsonl"
start_proxy replay
is "$(send GET /b -)" answer
is "$(status GET /c -)" 424 'the torn one'
stop_proxy 2
has 'default.jsonl' "$proxy_log"
start_proxy record --append
send GET /c -
stop_proxy
tape_count default 3
