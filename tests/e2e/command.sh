#!/bin/sh
# With a command, retape ends when it ends: record passes its exit code through, replay
# says 1 when it failed and 2 when something was not recorded, even if it hid that.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /x
reply 200 text/plain
body x
ORIGIN
run() { # STATUS VERB SHELL-TEXT OPTIONS...
    want=$1 verb=$2 text=$3
    shift 3
    [ "$verb" = replay ] || set -- --upstream-ca certs/ca.pem \
        --resolve "llm.test:443:127.0.0.1:$origin_port" "$@"
    got=0
    "$RETAPE" "$verb" --cassettes "$tapes" --summary-file sum.json "$@" -- sh -c "$text" \
        >out 2>run.log || got=$?
    is "$got" "$want" "$verb '$text'"
}
ask='curl -sS https://llm.test/x'

run 0 record "$ask"
is "$(cat out)" x 'stdout belongs to the command'
run 7 record "$ask; exit 7" --overwrite
run 137 record "$ask; kill -KILL \$\$" --overwrite
run 2 record true --overwrite
has E_RECORD_EMPTY run.log
run 0 record true --overwrite --allow-empty
run 0 record "$ask" --overwrite
run 127 record no-such-program --overwrite --allow-empty

run 0 record "$ask" --overwrite
stop_origin
run 0 replay "$ask"
is "$(cat out)" x
run 1 replay "$ask; exit 7"
has E_TEST_FAILED run.log
is "$(pick outputs/run.json exit_code)" 1
is "$(pick outputs/run.json child_exit_code)" 7
run 1 replay "$ask; kill -KILL \$\$"
run 2 replay "$ask; curl -sS https://llm.test/other; exit 0"
has E_REPLAY_MISSING_DEPENDENCY run.log
run 2 replay "curl -sS https://llm.test/other; exit 7" # a miss weighs more than a failure
run 0 replay true
run 2 replay true --fail-unused
has E_REPLAY_UNUSED run.log
run 0 replay "$ask" --fail-unused
