#!/bin/sh
# Ceilings, cases 24 to 31: exactly so much is read, one more is refused with the name of
# the ceiling. They are those of the format and cannot be set.
E2E_SECONDS=${E2E_SECONDS:-300} # it unpacks gigabytes
. "${srcdir:-.}/tests/e2e/bundles.sh"

by_hand good.tar.gz files/trace.jsonl=x

case_ '24 source bytes: 104857600, whatever is behind the archive included'
cp good.tar.gz source.tar.gz
truncate -s 104857600 source.tar.gz
verdict 0 source.tar.gz 'W_BUNDLE_TRAILING -'
is "$(pick out bundle_digest)" "sha256:$(digest_of source.tar.gz)" "$label"
truncate -s 104857601 source.tar.gz
verdict 2 source.tar.gz 'E_BUNDLE_LIMIT_SOURCE -'
is "$(pick out bundle_digest)" null "$label: no digest of what was not read"

case_ '25 an endless source is left at the ceiling'
cat good.tar.gz /dev/zero 2>/dev/null | {
    bundle 2 verify --json /dev/stdin
    is "$(pick out findings.0.code)" E_BUNDLE_LIMIT_SOURCE "$label"
}

# make NAME < PYTHON: a program with the pieces of tarball.py that puts the stream.
make() {
    { printf 'import hashlib, sys, zlib\nfrom tarball import *\nMIB = 1 << 20\n'
      printf 'out = open("%s.tar.gz", "wb")\npacker = zlib.compressobj(1, 8, 31)\n' "$1"
      printf 'def put(data): out.write(packer.compress(data))\n'
      cat
      printf '\nout.write(packer.flush())\n'; } >make.py
    PYTHONPATH=$tools "$python" make.py || broken "$1"
}

case_ '26 and 30 member and decoded bytes: 524288000 and 1073741824'
for over in 0 512; do
    make "decoded-$over" <<PYTHON
zeros = bytes(MIB)
def said(size):
    digest = hashlib.sha256()
    for _ in range(size // MIB): digest.update(zeros)
    digest.update(bytes(size % MIB))
    return {"sha256": "sha256:" + digest.hexdigest(), "size": size}
def fill(size):
    for _ in range(size // MIB): put(zeros)
    put(bytes(size % MIB))
largest = said(500 * MIB)
spare = 1024 * MIB - 2 * (512 + 500 * MIB) - 4096
text = manifest({}, files={"files/a": largest, "files/b": largest, "outputs/c": said(spare)})
first = member(b"manifest.json", text)
put(first)
for name in b"files/a", b"files/b": put(header(name, 500 * MIB)); fill(500 * MIB)
put(header(b"outputs/c", spare)); fill(spare)
fill(1024 * MIB + $over - len(first) - 2 * (512 + 500 * MIB) - 512 - spare)
PYTHON
done
verdict 0 decoded-0.tar.gz 'W_BUNDLE_LACKS -'
verdict 2 decoded-512.tar.gz 'E_BUNDLE_LIMIT_DECODED -'
"$python" "$tools/make_hostile.py" hostile limit-member limit-manifest path-257 limit-entries \
    manifest-depth-65
verdict 2 hostile/limit-member.tar.gz 'E_BUNDLE_LIMIT_MEMBER files/x'

case_ '27 manifest bytes: 10485760'
make manifest <<'PYTHON'
put(member(b"manifest.json", manifest({"files/trace.jsonl": b""}).ljust(10 * MIB)))
put(member(b"files/trace.jsonl") + END)
PYTHON
verdict 0 manifest.tar.gz ''
verdict 2 hostile/limit-manifest.tar.gz 'E_BUNDLE_LIMIT_MEMBER manifest.json'

case_ '28 path bytes: 256; the digest of the file is known all the same'
make path <<'PYTHON'
names = ["cassettes/" + c * 246 for c in "ab"]
put(member(b"manifest.json", manifest({n: b"" for n in names + ["files/trace.jsonl"]})))
put(long_name(names[0].encode()) + member(b"cassettes/a"))
put(pax([(b"path", names[1].encode())]) + member(b"cassettes/b"))
put(member(b"files/trace.jsonl") + END)
PYTHON
verdict 0 path.tar.gz ''
bundle 2 verify --json hostile/path-257.tar.gz
is "$(pick out findings.0.code)" E_BUNDLE_LIMIT_PATH "$label"
is "$(pick out bundle_digest)" "sha256:$(digest_of hostile/path-257.tar.gz)" "$label"

case_ '29 members: 100000, the manifest one of them'
make entries <<'PYTHON'
names = (b"files/%06d" % i for i in range(99999))
put(member(b"manifest.json", manifest()) + b"".join(map(header, names)) + END)
PYTHON
verdict 0 entries.tar.gz 'W_BUNDLE_LACKS - W_NO_FILES -'
verdict 2 hostile/limit-entries.tar.gz 'E_BUNDLE_LIMIT_ENTRIES -'

case_ '31 nesting: 64, outside of strings'
deep=$("$python" -c 'print("[" * 62 + "]" * 62)')
by_hand deep.tar.gz --merge "{\"env\":{\"d\":$deep}}" files/trace.jsonl=x
verdict 0 deep.tar.gz ''
by_hand deep.tar.gz --merge "{\"env\":{\"d\":[$deep]}}" files/trace.jsonl=x
verdict 2 deep.tar.gz 'E_MANIFEST_DEPTH manifest.json'
verdict 2 hostile/manifest-depth-65.tar.gz 'E_MANIFEST_DEPTH manifest.json'
by_hand deep.tar.gz --merge "{\"env\":{\"d\":\"\\\"${deep}[[[\"}}" files/trace.jsonl=x
verdict 0 deep.tar.gz ''
