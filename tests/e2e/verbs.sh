#!/bin/sh
# Every verb explains itself, prints results on stdout and JSON on demand; a wrong word
# is exit 2 and names the nearest valid one.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on POST /v1/chat/completions
reply 200 application/json
body {"choices":[{"message":{"role":"assistant","content":"hi"}}]}
ORIGIN
printf '{"model":"m","messages":[{"role":"user","content":"one"}]}' >one
printf '{"model":"m","messages":[{"role":"user","content":"two"}]}' >two
start_proxy record
send POST /v1/chat/completions one -H 'X-Retape-Session: a'
send POST /v1/chat/completions two -H 'X-Retape-Session: b'
stop_proxy

"$RETAPE" --help >help
for verb in record replay auto list show diff ca env doctor; do
    has $verb help
    "$RETAPE" $verb --help >help.$verb 2>err || fail "$verb --help"
    has "retape $verb" help.$verb
    grep -qi 'exit' help.$verb || fail "$verb --help: no exit codes"
    [ ! -s err ] || fail "$verb --help writes to stderr"
done
"$RETAPE" --version >version
for word in retape microhttpd curl mbed archive yyjson; do
    grep -qi "$word" version || fail "--version: $word"
done

"$RETAPE" list --cassettes "$tapes" >out
has a out
"$RETAPE" list --cassettes "$tapes" --json >out
pick out '' >/dev/null
"$RETAPE" show --cassettes "$tapes" a >out
has /v1/chat/completions out
"$RETAPE" show --cassettes "$tapes" a --json >out
pick out '' >/dev/null
got=0
"$RETAPE" diff "$tapes/a.jsonl" "$tapes/b.jsonl" >out || got=$?
is $got 1 'diff: different'
has /messages/0/content out
"$RETAPE" diff "$tapes/a.jsonl" "$tapes/a.jsonl" >out || fail 'diff: same'
"$RETAPE" ca show >out
has SHA-256: out
"$RETAPE" ca export exported.pem
same exported.pem "$ca"
is "$(stat -c %a "$RETAPE_CONFIG_DIR/ca.key")" 600
"$RETAPE" doctor >out 2>&1 || fail 'doctor'

start_fails 2 record recrod
start_fails 2 --cassettes record --casettes x
start_fails 2 last replay --repeat lst
start_fails 2 '' replay --speed fast
start_fails 2 sandbox record --sandbox -- true
start_fails 2 '' list --cassettes "$work/none"
start_fails 2 'no-such' show --cassettes "$tapes" no-such
start_fails 2 '' record --resolve nonsense -- true
start_fails 2 '' record --upstream-ca "$work/none.pem" -- true
