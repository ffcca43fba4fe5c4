#!/bin/sh
# Replaying straight from a bundle, cases 42 to 48.
. "${srcdir:-.}/tests/e2e/bundles.sh"
"$RETAPE" replay --help | grep -q -- --bundle || skip 'replay has no --bundle'

# replay STATUS REASON FILE FLAGS...: both outputs say so, and where it came from.
replay() {
    want=$1 reason=$2 file=$3 got=0
    shift 3
    rm -rf outputs
    "$RETAPE" replay --bundle "$file" "$@" >stdout 2>replay.log || got=$?
    is $got "$want" "$label: exit status"
    for name in run summary; do
        is "$(pick outputs/$name.json exit_code)" "$want" "$label: $name.json"
        is "$(pick outputs/$name.json reason_code)" "$reason" "$label: $name.json"
        is "$(pick outputs/$name.json reason_code_version)" 1 "$label: $name.json"
        is "$(pick outputs/$name.json provenance.replay)" true "$label: $name.json"
        is "$(pick outputs/$name.json provenance.replay_mode)" offline "$label: $name.json"
    done
    hasnt Sanitizer replay.log
}
digest_is() {
    for name in run summary; do
        is "$(pick outputs/$name.json provenance.bundle_digest)" "$1" "$label: $name.json"
    done
}
no_seeds() {
    is "$(pick outputs/run.json order_seed) $(pick outputs/run.json judge_seed)" 'null null' "$label"
    is "$(pick outputs/summary.json seeds.order_seed) $(pick outputs/summary.json seeds.judge_seed)" \
        'null null' "$label"
    is "$(pick outputs/summary.json seeds.seed_version)" 1 "$label"
}

case_ '42 incomplete coverage blocks an offline replay'
by_hand b.tar.gz --merge '{"replay_coverage":{"complete_tests":[],"incomplete_tests":["t1"],"reason":{"t1":"trace missing"}}}' \
    'files/eval.yaml=suite: s\n'
replay 2 E_REPLAY_MISSING_DEPENDENCY b.tar.gz -- touch ran
[ ! -e ran ] || fail "$label: the command ran"
digest_is "sha256:$(digest_of b.tar.gz)"
no_seeds
has t1 outputs/run.json
for name in passed failed total results; do hasnt "\"$name\"" outputs/summary.json; done

case_ '43 a bundle that fails verification'
by_hand b.tar.gz "files/eval.yaml=k: sk-$(printf %s Zq7Rw2Xy9Kd4Mf8Hs3JtBv6Nc1Lp5G)"
replay 2 E_CFG_PARSE b.tar.gz -- touch ran
[ ! -e ran ] || fail "$label: the command ran"
digest_is "sha256:$(digest_of b.tar.gz)"
no_seeds

case_ '44 no trace and no cassette: created, and blocked on replay'
mkdir passed
printf '{"run_id":5,"results":[{"test_id":"t1","status":"pass"}]}' >passed/run.json
printf 'suite: s\n' >passed/eval.yaml
bundle 0 create --from passed --output b.tar.gz
manifest_of b.tar.gz >manifest
is "$(pick manifest replay_coverage.complete_tests)" '[]' "$label"
is "$(pick manifest replay_coverage.incomplete_tests)" '["t1"]' "$label"
has 'trace snapshot missing' manifest
replay 2 E_REPLAY_MISSING_DEPENDENCY b.tar.gz -- touch ran
is "$(pick outputs/run.json provenance.source_run_id)" 5 "$label"

case_ '45, 46 and 48 a recorded run replays, offline, and says which run it was'
start_origin <<'ORIGIN'
on GET /x
reply 200 text/plain
body x
ORIGIN
start_proxy record
send GET /x - >live
stop_proxy
stop_origin
printf '{"run_id":"123","results":[{"test_id":"t1","status":"pass"}]}' >run.json
printf '[]' >trace.jsonl
bundle 0 create --from . --run-id 123 --config passed/eval.yaml --output b.tar.gz
rm -rf "$tapes" run.json trace.jsonl
ASSAY_NETWORK_POLICY=deny replay 0 '' b.tar.gz -- curl -sS -o again https://llm.test/x
same live again
digest_is "sha256:$(digest_of b.tar.gz)"
for name in run summary; do is "$(pick outputs/$name.json provenance.source_run_id)" 123 "$label"; done
replay 2 E_REPLAY_MISSING_DEPENDENCY b.tar.gz -- curl -sS -o again https://llm.test/other

case_ '47 a ceiling'
cp b.tar.gz large.tar.gz
truncate -s 104857601 large.tar.gz
replay 2 E_REPLAY_LIMIT_EXCEEDED large.tar.gz -- touch ran
[ ! -e ran ] || fail "$label: the command ran"
for name in passed failed total verdict score compliant results; do hasnt "\"$name\"" outputs/summary.json; done
pick outputs/summary.json next_step | grep -qiE 'ceiling|limit|smaller' || fail "$label: next step"
case_ 'any hostile bundle'
"$python" "$tools/make_hostile.py" hostile path-traversal type-symlink twice-same gzip-cut
while read -r name code; do
    replay 2 E_CFG_PARSE "hostile/$name.tar.gz" -- touch ran
    has "$code" replay.log
done <hostile/index
[ ! -e ran ] || fail "$label: the command ran"
is "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -newer b.tar.gz -name 'retape-replay*')" '' 'left behind'
