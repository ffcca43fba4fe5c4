#!/bin/sh
# When the disk is full, clients still get their answers, the loss is said loudly, the
# exit status is 3, and what was written before still opens.
. "${srcdir:-.}/tests/e2e/lib.sh"
alone='unshare -m'
$alone true 2>/dev/null || alone='unshare -rm'
mkdir "$tapes"
$alone mount -t tmpfs -o size=64k none "$tapes" 2>/dev/null || skip 'no mount namespaces here'

head -c 150000 /dev/urandom | base64 -w 0 >large
start_origin <<'ORIGIN'
on GET /small
reply 200 text/plain
body small
on GET /large
reply 200 text/plain
body @large
ORIGIN

cat >inside <<'INSIDE'
set -eu
mount -t tmpfs -o size=64k none "$tapes"
got=0
"$RETAPE" record --cassettes "$tapes" --upstream-ca certs/ca.pem \
    --resolve "llm.test:443:127.0.0.1:$origin_port" -- \
    curl -sS -o small.live https://llm.test/small -o large.live https://llm.test/large \
    >out 2>record.log || got=$?
echo "$got" >got
cp "$tapes/default.jsonl" saved.jsonl
INSIDE
export tapes RETAPE origin_port
$alone sh inside || fail 'inside'
same large large.live
is "$(cat got)" 3 'exit status'
grep -qi 'space' record.log || fail 'the reason is not said'
mkdir "$work/saved"
cp saved.jsonl "$work/saved/default.jsonl"
"$RETAPE" show --cassettes "$work/saved" default --json >shown 2>show.log ||
    fail 'what was written does not open'
has /small shown
