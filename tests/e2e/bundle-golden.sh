#!/bin/sh
# Bundles of the reference writer, byte for byte, are read and verified; our own bundles
# of the same inputs are pinned by digest.
. "${srcdir:-.}/tests/e2e/bundles.sh"

#--- theirs: the five vectors, as their compressor wrote them
while read -r name file content findings; do
    case_ "1 vector $name"
    is "$(digest_of "$vectors/$name.tar.gz")" "$file" "$label: the file itself"
    verdict 0 "$vectors/$name.tar.gz" "$findings"
    is "$(pick out bundle_digest)" "sha256:$file" "$label: bundle_digest"
    is "$(pick out content_digest)" "sha256:$content" "$label: content_digest"
done <<'VECTORS'
a e982d2dd1d7cf56df6b417c7af1bc3f7f334ecfc47298bf5d240f4485f3b7a7c ac15f205e0b40d299934febe78549abbfbe5156cadb31e2bb31d8b4fe51da5a5 W_NO_FILES -
b f8d09d4a2bf208169befb7534c47436d14f20c1bfeac19b40c4696f2b712d036 0668bbc7243bd54325ba999371bf55f3c6166377b2d0b43a6cca70f1171b6ed0 W_BUNDLE_LACKS - W_NO_FILES -
c c96805cf616e9bf4e74add66662e2d6f583ebf830870021cf14fa274cdead6f1 505695105a5696252a48d9138603f16da62dc053977f611a7eb90f258689aa31 W_NO_FILES -
d b3f2ba114dfa4d8af4bd92a8b8ca6c338b1525b22dfcc9fc830f1b5ed7294e76 76111809cf93f39108629cbc0f2a78320fc3518ef0c628091fd94a27eae84357
e 11af93c986af4196dbee99c08434565c56aeb603b7d0cd92bafd27c21a5f5296 2572dfe29fd3aa2a15617c42d642144bc0bc47871b7229ee36325dc3cd318ad8 W_NO_FILES -
VECTORS

#--- ours: the same inputs through create
"$python" - <<'INPUTS'
import os
lines = "".join('{"i":%d,"v":%d}\n' % (i, i * 2654435761 % 2**32) for i in range(5000))
for name, body in {
    "a/trace.jsonl": "[]", "b/none": "", "c/z.json": "{}", "c/a.jsonl": "[]",
    "c/cassettes/m.json": "{}", "d/eval.yaml": "suite: s\n", "d/trace.jsonl": "[]",
    "d/run.json": '{"run_id":7}', "d/cassettes/openai/judge/0123456789abcdef.json": "{}",
    "e/trace.jsonl": lines,
}.items():
    os.makedirs(os.path.dirname(name), exist_ok=True)
    open(name, "w").write(body)
INPUTS
# The digest of the tar depends on nothing but the inputs; that of the file on zlib too.
zlib=$("$python" -c 'import zlib; print(zlib.ZLIB_RUNTIME_VERSION)')
while read -r name content file more; do
    case_ "1 our vector $name"
    # shellcheck disable=SC2086 # words
    bundle 0 create --from $name --run-id $name --reproducible --output $name.tar.gz --json $more
    is "$(pick out content_digest)" "sha256:$content" "$label: content_digest"
    is "$(gzip -dc "$name.tar.gz" | sha256sum | cut -c 1-64)" "$content" "$label: content_digest is the tar's"
    is "$(pick out bundle_digest)" "sha256:$(digest_of "$name.tar.gz")" "$label: bundle_digest"
    [ "$zlib" != 1.2.13 ] || is "$(digest_of "$name.tar.gz")" "$file" "$label: with zlib $zlib"
    verdict 0 "$name.tar.gz" ''
done <<'OURS'
a 608e557e5f94d0477b08955441fb27edb29f68e66c3ea19d65076b408395916f 718e25da48ef0dd51074d508218bf3a4a7ecb7be4476147d544ed4cb4598b1ce
c 1d09f455a1b973450de56c67d03d579c8d2166aaee4e627b8d0ace4c8f2e8c0c 462db6c316964c997aa2141b4d56b444f51cffa66194d7aae5d93a69a3b4d1ca --file c/a.jsonl --file c/z.json=outputs/z.json
d ab9fb13d2a7a102d5791ef26fa16e8a3bad49e2595379bffbad3b8b454902c3e 852d57e3872910e6d690872d86f0473cb347dd742afd4430a06ad0da595e3912
e 9a8f77edef8bd99cbb22e660f0188c78f040ca4e59272c9c9bb6be6e0bedef5b 736c5816eee973ae765f474350a6ca4399180bf72c7ab4bff8e0c80f44a9388e
OURS
# Nothing in it: the reference makes such a bundle, we do not (the spec's minimum contents).
case_ '1 our vector b'
bundle 2 create --from b --run-id b --reproducible --output b.tar.gz --json
[ ! -e b.tar.gz ] || fail "$label: a bundle of nothing appeared"
