#!/bin/sh
# Record, bundle, carry it elsewhere, verify, unpack, replay: the same answers, offline.
. "${srcdir:-.}/tests/e2e/bundles.sh"
alone='unshare -n'
$alone true 2>/dev/null || alone='unshare -rn'

start_origin <<'ORIGIN'
on POST /v1/messages
reply 200 text/event-stream
chunk data: one\n\n
chunk data: two\n\n
ORIGIN
start_proxy record
send POST /v1/messages "$data/hello.json" -H 'x-api-key: sk-live-round-trip' >live
stop_proxy
stop_origin

bundle 0 create --run-id run-7 --cassettes "$tapes" --json
made=$(pick out path)
[ -s .assay/bundles/run-7.tar.gz ] || fail "create wrote $made"
digest=$(pick out bundle_digest)
is "$digest" "sha256:$(digest_of .assay/bundles/run-7.tar.gz)"
mkdir elsewhere
mv .assay/bundles/run-7.tar.gz elsewhere/carried.tar.gz
rm -rf "$tapes" .assay
cd elsewhere
verdict 0 carried.tar.gz ''
is "$(pick out bundle_digest)" "$digest"
bundle 0 inspect carried.tar.gz
has run-7 out
has llm.test out
bundle 0 inspect --json carried.tar.gz
pick out '' >/dev/null
bundle 0 extract --output unpacked carried.tar.gz
absent sk-live-round-trip unpacked

cat >inside <<'INSIDE'
ip link set lo up
exec "$@"
INSIDE
$alone ip link set lo up 2>/dev/null || skip 'no network namespaces here'
replay() { # FLAGS...: the answer goes to ./again
    $alone sh inside "$RETAPE" replay "$@" -- curl -sS --data-binary "@$data/hello.json" \
        https://llm.test/v1/messages >again 2>replay.log || fail "replay $* ended with $?"
    same ../live again
}
replay --cassettes unpacked/cassettes
rm -rf unpacked outputs
"$RETAPE" replay --help | grep -q -- --bundle || skip 'replay has no --bundle'
replay --bundle carried.tar.gz
for file in run summary; do
    is "$(pick outputs/$file.json provenance.bundle_digest)" "$digest" "$file.json"
    is "$(pick outputs/$file.json provenance.replay_mode)" offline "$file.json"
done
rm -r outputs
is "$(find . -type f | LC_ALL=C sort | tr '\n' ' ')" \
    './again ./bundle.log ./carried.tar.gz ./inside ./out ./replay.log ' 'left behind'
