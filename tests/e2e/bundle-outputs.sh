#!/bin/sh
# The run output contract, cases 49 to 54, as far as a tool that runs no tests of its own
# can break it: early exits, seeds, what is carried through, and the shape of summary.json.
. "${srcdir:-.}/tests/e2e/bundles.sh"

printf '[]' >trace.jsonl
printf 'suite: s\n' >eval.yaml

# The reference's inputs are a trace and a config; ours are cassettes, a bundle, a config.
case_ '49 an input that is not there: exit 2, and both outputs agree on why'
"$RETAPE" replay --help >help
while read -r flag; do
    case $flag in --bundle*) grep -q -- --bundle help || continue ;; esac
    rm -rf outputs
    got=0
    # shellcheck disable=SC2086 # words
    "$RETAPE" replay $flag -- true >stdout 2>replay.log || got=$?
    is $got 2 "$label: $flag"
    [ -n "$(pick outputs/run.json reason_code)" ] || fail "$label: $flag: no reason"
    for key in exit_code reason_code; do
        is "$(pick outputs/run.json $key)" "$(pick outputs/summary.json $key)" "$label: $flag"
    done
    is "$(pick outputs/run.json seed_version)" 1 "$label: $flag"
    [ -n "$(pick outputs/summary.json next_step)" ] || fail "$label: $flag: no next step"
    hasnt '"results"' outputs/summary.json
done <<'FLAGS'
--cassettes none
--config none.json
--bundle none.tar.gz
FLAGS
case_ '49 the bundler: inputs that are not there, and flags that contradict'
for flags in '--trace none' '--config none' '--from none' '--policy none' '--baseline none' \
    '--junit none' '--file none' '--from . --created-at never'; do
    # shellcheck disable=SC2086 # words
    bundle 2 create --run-id r --output b.tar.gz $flags
    [ ! -e b.tar.gz ] || fail "$label: $flags"
done

case_ '50 a seed of 64 bits survives as text, from run.json to the manifest'
printf '{"run_id":1,"order_seed":17390767342376325021,"judge_seed":null}' >run.json
bundle 0 create --from . --output b.tar.gz
manifest_of b.tar.gz >manifest
has '"order_seed":"17390767342376325021"' manifest
hasnt judge_seed manifest

case_ '51 rows of a run: errors are incomplete, with their reason; failures are complete'
printf '%s' '{"run_id":1,"results":[{"test_id":"t3","status":"ERROR","message":" timeout "},{"test_id":"t2","status":"fail"},{"test_id":"t1","status":"pass"},{"status":"pass"}]}' >run.json
bundle 0 create --from . --output b.tar.gz
manifest_of b.tar.gz >manifest
has '"complete_tests":["t2","t1"]' manifest
has '"incomplete_tests":["t3"],"reason":{"t3":"timeout"}' manifest

# retape writes no JUnit and no SARIF of its own: it carries those it is given.
case_ '52 and 53 reports are carried byte for byte; a folder in their place is refused'
printf '<testsuite name="s"/>' >junit.xml
printf '{"version":"2.1.0"}' >sarif.json
bundle 0 create --from . --output b.tar.gz
bundle 0 extract --output unpacked b.tar.gz
same junit.xml unpacked/outputs/junit.xml
same sarif.json unpacked/outputs/sarif.json
manifest_of b.tar.gz >manifest
is "$(pick manifest outputs.junit) $(pick manifest outputs.sarif)" 'outputs/junit.xml outputs/sarif.json' "$label"
rm b.tar.gz
mkdir folder
bundle 2 create --from . --output b.tar.gz --junit folder
bundle 2 create --from . --output b.tar.gz --sarif folder

case_ '54 summary.json: its second line; one without a schema name is read as well'
start_origin <<'ORIGIN'
on GET /x
reply 200 text/plain
body x
ORIGIN
start_proxy record
send GET /x - >live
stop_proxy
rm -rf outputs
"$RETAPE" replay --cassettes "$tapes" --seed 17390767342376325021 -- curl -sS https://llm.test/x \
    >stdout 2>replay.log || fail "$label: replay"
is "$(sed -n 2p outputs/summary.json)" '  "schema_version": 1,' "$label"
is "$(pick outputs/summary.json schema)" assay.run_summary.v1 "$label"
has 'order_seed=17390767342376325021 judge_seed=null' replay.log
for name in run summary; do has '"17390767342376325021"' outputs/$name.json; done
grep -v '"schema":' outputs/summary.json | sed '$!N;s/,\n}/\n}/;P;D' >summary.json
pick summary.json '' >/dev/null
bundle 0 create --from . --run-id r --output b.tar.gz
bundle 0 summary b.tar.gz
bundle 0 summary --markdown b.tar.gz
has retape out
