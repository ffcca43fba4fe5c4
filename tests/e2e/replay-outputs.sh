#!/bin/sh
# A replay leaves outputs/run.json and outputs/summary.json of the run output contract.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /x
reply 200 text/plain
body x
ORIGIN
start_proxy record
send GET /x -
stop_proxy
stop_origin

replay() { "$RETAPE" replay --cassettes "$tapes" --output out --seed 42 -- "$@" >stdout 2>replay.log; }
replay curl -sS https://llm.test/x || fail "replay ended with $?"
for file in run summary; do
    is "$(pick out/$file.json exit_code)" 0
    is "$(pick out/$file.json provenance.replay)" true
    is "$(pick out/$file.json provenance.replay_mode)" offline
    [ "$(tail -c 1 out/$file.json)" = '}' ] || fail "$file.json ends with a newline"
done
is "$(pick out/summary.json schema)" assay.run_summary.v1
is "$(pick out/summary.json seeds.order_seed)" 42
has 'Seeds: seed_version=1 order_seed=42' replay.log

! replay curl -sS https://llm.test/other || fail 'a miss went unnoticed'
is "$(pick out/run.json exit_code)" 2
is "$(pick out/summary.json reason_code)" E_REPLAY_MISSING_DEPENDENCY
