#!/bin/sh
# A run packed into one bundle replays from that file alone: in another folder, in a
# network namespace with nothing in it, leaving no files but its outputs behind.
. "${srcdir:-.}/tests/e2e/lib.sh"
bundle=$(dirname "$RETAPE")/retape-bundle
[ -x "$bundle" ] || skip 'retape-bundle is not built'
alone='unshare -n'
$alone true 2>/dev/null || alone='unshare -rn'
$alone ip link set lo up 2>/dev/null || alone=''

start_origin <<'ORIGIN'
on POST /v1/messages
reply 200 text/event-stream
chunk data: one\n\n
chunk data: two\n\n
on GET /late
reply 200 text/plain
body only live
ORIGIN
start_proxy record
send POST /v1/messages "$data/hello.json" >live
stop_proxy

mkdir outputs
printf '{\n  "run_id": "run-7",\n  "exit_code": 0,\n  "reason_code": ""\n}' >outputs/run.json
printf 'answer 42\n' >outputs/answer.txt
printf '{"provider":"test"}\n' >agent.json
"$bundle" create --run-id run-7 --cassettes "$tapes" --run outputs/run.json --config agent.json \
    --file outputs/answer.txt=outputs/answer.txt --output run-7.tar.gz >create.out 2>create.log ||
    fail "create: $(cat create.log)"
digest=sha256:$(sha256sum run-7.tar.gz | cut -d ' ' -f 1)

mkdir elsewhere
mv run-7.tar.gz elsewhere/
mv "$tapes" gone
cd elsewhere
cat >inside <<'INSIDE'
[ -z "$1" ] || ip link set lo up
shift
exec "$@"
INSIDE
run() { # STATUS OUTPUT ARGS... -- COMMAND
    want=$1 got=0
    shift
    ${alone:+$alone} sh inside "$alone" "$RETAPE" replay --bundle run-7.tar.gz "$@" \
        2>replay.log >again || got=$?
    is "$got" "$want" "exit status, $(cat replay.log)"
}
run 0 --output out -- curl -sS --data-binary "@$data/hello.json" https://llm.test/v1/messages
same ../live again
is "$(pick out/run.json provenance.bundle_digest)" "$digest"
is "$(pick out/run.json provenance.replay_mode)" offline
is "$(pick out/run.json provenance.source_run_id)" run-7
is "$(pick out/summary.json provenance.bundle_digest)" "$digest"
is "$(ls)" "again
inside
out
replay.log
run-7.tar.gz" 'nothing was unpacked'

# --compare: what the command writes must be what it wrote then.
cat >agent <<'AGENT'
curl -sS --data-binary "@$1" https://llm.test/v1/messages
echo "answer $2" >"$3/answer.txt"
AGENT
run 0 --compare --output out -- sh agent "$data/hello.json" 42 out
run 1 --compare --output out -- sh agent "$data/hello.json" 43 out
has 'outputs/answer.txt' replay.log
is "$(pick out/run.json reason_code)" E_OUTPUTS_DIFFER

# What is not in it is a miss; with --live it is fetched, from hosts it knows only.
run 2 --output out -- curl -sS https://llm.test/late
is "$(pick out/run.json reason_code)" E_REPLAY_MISSING_DEPENDENCY
alone=''
run 0 --live --output out --upstream-ca ../certs/ca.pem \
    --resolve "llm.test:443:127.0.0.1:$origin_port" -- curl -sS https://llm.test/late
is "$(cat again)" 'only live'
is "$(pick out/run.json provenance.replay_mode)" live
run 2 --live --output out -- curl -sS https://unknown.test/late

# A changed byte is noticed before anything runs.
cp run-7.tar.gz good.tar.gz
printf 'x' | dd of=run-7.tar.gz bs=1 seek=200 conv=notrunc 2>dd.log
run 2 --output out -- touch ran
[ ! -e ran ] || fail 'a broken bundle was replayed'
is "$(pick out/run.json reason_code)" E_CFG_PARSE
