#!/bin/sh
# demo.sh - record an agent, take its provider away, replay the run offline.
#
# Needs nothing but this machine: the provider is llm_origin.py behind the names
# api.llm.example and weather.example, the agent is agent.py. Run by ./bootstrap demo,
# or by hand after a build. Exit status 0 only if everything held.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
RETAPE=${RETAPE:-${here%/*}/retape}
python=/usr/bin/python3
[ -x "$python" ] || python=python3
work=$(mktemp -d "${TMPDIR:-/tmp}/retape-demo.XXXXXX")
export RETAPE_CONFIG_DIR="$work/config"
origin=''

bold='' green='' red='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') green=$(printf '\033[32m') red=$(printf '\033[31m')
    plain=$(printf '\033[0m')
fi
step() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
good() { printf '  %sok%s  %s\n' "$green" "$plain" "$*"; }
bad() {
    printf '  %snot ok%s  %s\n      files are in %s\n' "$red" "$plain" "$*" "$work" >&2
    exit 1
}
indent() { sed 's/^/      /' "$1"; }
stop_origin() {
    [ -z "$origin" ] || kill "$origin" 2>/dev/null || true
    [ -z "$origin" ] || wait "$origin" 2>/dev/null || true
    origin=''
}
trap stop_origin EXIT
trap 'exit 1' INT TERM

[ -x "$RETAPE" ] || bad "no program at $RETAPE: build first (./bootstrap build)"
cd "$work"

step '1. An LLM provider and a weather service start, both HTTPS, on this machine.'
"$here/../tests/tools/make-certs.sh" certs api.llm.example weather.example
"$python" "$here/llm_origin.py" --cert certs/leaf.pem --key certs/leaf.key \
    --ready origin.ready --hits origin.hits &
origin=$!
"$python" "$here/../tests/tools/await.py" origin.ready "$origin" || bad 'they did not start'
read -r port <origin.ready
good "api.llm.example and weather.example answer on port $port"

step '2. An agent runs once through retape, which records every exchange.'
echo '      retape record -- python3 agent.py'
"$RETAPE" record --cassettes cassettes --upstream-ca certs/ca.pem \
    --resolve "api.llm.example:443:127.0.0.1:$port" \
    --resolve "weather.example:443:127.0.0.1:$port" \
    -- "$python" "$here/agent.py" >live.txt 2>record.log || {
    indent record.log >&2
    bad 'the recording failed'
}
indent live.txt
hits=$(wc -l <origin.hits)
good "the provider was asked $hits times; the cassette is cassettes/default.jsonl"
if grep -q sk-demo- cassettes/default.jsonl; then bad "the agent's key is in the cassette"; fi
good "the agent's API key is not in it"

step '3. The provider goes away. The same agent runs again, from the cassette.'
stop_origin
echo '      retape replay -- python3 agent.py'
"$RETAPE" replay --cassettes cassettes --output outputs -- "$python" "$here/agent.py" \
    >replayed.txt 2>replay.log || {
    indent replay.log >&2
    bad 'the replay failed'
}
cmp live.txt replayed.txt || bad 'the two transcripts differ'
[ "$(wc -l <origin.hits)" -eq "$hits" ] || bad 'the provider was asked again'
good 'the transcripts are the same, byte for byte, and nothing was asked'

step '4. Somebody changes a prompt. Replay does not guess: it fails and says where.'
status=0
"$RETAPE" replay --cassettes cassettes --output outputs -- "$python" "$here/agent.py" \
    'What is the weather in Rome?' >changed.txt 2>changed.log || status=$?
awk '/nearest:/ && near++ { exit } { print }' changed.log | fold -s -w 84 >reason.txt
indent reason.txt
[ "$status" -eq 2 ] || bad "exit status $status, expected 2"
grep -q E_REPLAY_MISSING_DEPENDENCY changed.log || bad 'the reason is not named'
grep -q /messages/1/content changed.log || bad 'the place is not named'
good 'exit status 2, and the reason names the message that changed'

step 'Everything held.'
printf '      The files are in %s: look at cassettes/default.jsonl, or run\n' "$work"
printf '      %s show --cassettes %s/cassettes default\n' "$RETAPE" "$work"
