#!/bin/sh
# The archive itself, cases 2 to 9: what create writes, header by header, and what other
# encoders may do to it.
. "${srcdir:-.}/tests/e2e/bundles.sh"

long=$(printf 'files/%094d' 0)
mkdir -p run/cassettes
printf '{"n":1}\n' >run/trace.jsonl
printf 'suite: s\n' >run/eval.yaml
printf '{"run_id":"r1","order_seed":42,"results":[{"test_id":"t1","status":"pass"}]}' >run/run.json
printf '{"schema_version":1}' >run/summary.json
printf '' >run/cassettes/.gitkeep
printf 'x' >x
bundle 0 create --from run --output run.tar.gz --json --file "x=$long"

case_ '3 order, and the fixed fields of every header'
is "$(members run.tar.gz)" "manifest.json cassettes/.gitkeep $long files/eval.yaml files/trace.jsonl outputs/run.json outputs/summary.json" "$label"
"$python" - <<'FIELDS' || fail "$label"
import gzip, tarfile
raw = open("run.tar.gz", "rb").read()
assert raw[:4] == b"\x1f\x8b\x08\0" and raw[4:8] == bytes(4), raw[:10]  # no name, no time
data = gzip.decompress(raw)
tar = tarfile.open("run.tar.gz")
end = 0
for m in tar:
    assert (m.mode, m.uid, m.gid, m.mtime, m.uname, m.gname) == (0o644, 0, 0, 0, "", ""), m
    assert m.isreg() and not m.pax_headers and m.offset == end, m.name
    end = m.offset_data + (m.size + 511) // 512 * 512
assert len(data) == end + 1024 and not any(data[end:]), "two blocks end it, no padding"
FIELDS

case_ '4 what was written is what is read; the manifest is not an entry'
bundle 0 extract --output unpacked run.tar.gz
same run/trace.jsonl unpacked/files/trace.jsonl
same run/run.json unpacked/outputs/run.json
manifest_of run.tar.gz >manifest
is "$(pick manifest schema_version)" 1 "$label"
hasnt '"manifest.json":' manifest

case_ '5 an empty member'
has '"cassettes/.gitkeep":{"sha256":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":0,"mode":420}' manifest
same run/cassettes/.gitkeep unpacked/cassettes/.gitkeep

case_ '6 a full manifest'
is "$(pick manifest seeds.order_seed)" 42 "$label"
is "$(pick manifest replay_coverage.complete_tests)" '["t1"]' "$label"
is "$(pick manifest outputs.run) $(pick manifest outputs.summary)" 'outputs/run.json outputs/summary.json' "$label"
hasnt judge_seed manifest
hasnt null manifest
hasnt "$work" manifest
grep -qE '^[{]"schema_version":1,"assay_version":"[^"]+","created_at":"[0-9T:.-]+[+]00:00","source_run_path":"[^/"]' manifest ||
    fail "$label: keys in order"

case_ '7 a path of 100 bytes is written, one of 101 is refused by name'
is ${#long} 100 "$label"
bundle 2 create --from run --output 101.tar.gz --file "x=${long}0"
has "${long}" bundle.log
[ ! -e 101.tar.gz ] || fail "$label: a bundle appeared"

case_ '8 another compressor, level or OS byte: only the digest differs'
gzip -dc run.tar.gz >run.tar
content=$(sha256sum <run.tar | cut -c 1-64)
gzip -1 <run.tar >fast.tar.gz
gzip -9 -N -c run.tar >named.tar.gz
"$python" -c 'import sys; d = bytearray(open("fast.tar.gz", "rb").read()); d[9] = 11
open("ntfs.tar.gz", "wb").write(d)'
gzip -dc fast.tar.gz | "$python" -c 'import sys, zlib; c = zlib.compressobj(0, 8, 31)
sys.stdout.buffer.write(c.compress(sys.stdin.buffer.read()) + c.flush())' >stored.tar.gz
for made in fast named ntfs stored; do
    verdict 0 $made.tar.gz ''
    is "$(pick out content_digest)" "sha256:$content" "$label"
    is "$(pick out bundle_digest)" "sha256:$(digest_of $made.tar.gz)" "$label"
done

case_ '9 bytes behind the gzip member are read past, and count for the digest'
head -c 10000 /dev/zero | tr '\0' j >junk
cat fast.tar.gz junk >junk.tar.gz
verdict 0 junk.tar.gz 'W_BUNDLE_TRAILING -'
is "$(pick out bundle_digest)" "sha256:$(digest_of junk.tar.gz)" "$label"
is "$(pick out content_digest)" "sha256:$content" "$label"
cat fast.tar.gz fast.tar.gz >twice.tar.gz
verdict 0 twice.tar.gz 'W_BUNDLE_TRAILING -'
