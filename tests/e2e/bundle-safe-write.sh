#!/bin/sh
# A bundle appears whole or not at all: a full disk, a folder that may not be written, a
# kill at any moment leave nothing under its name, and what was there before stays.
. "${srcdir:-.}/tests/e2e/bundles.sh"

mkdir run
printf 'suite: s\n' >run/eval.yaml
"$python" -c 'import random, sys
sys.stdout.buffer.write(random.Random(7).randbytes(3000000))' | base64 -w 76 | sed 's/.*/{"t":"&"}/' >run/trace.jsonl

label='a folder that may not be written'
if [ "$(id -u)" -ne 0 ]; then # root may write anywhere; see below
    mkdir -m 555 closed
    bundle 3 create --from run --run-id r --output closed/r.tar.gz
    is "$(ls -A closed)" '' "$label"
fi
bundle 3 create --from run --run-id r --output /proc/r.tar.gz
printf x >file
bundle 3 create --from run --run-id r --output file/r.tar.gz

label='a bundle that fails its own verification'
printf 'AKIA%s' IOSFODNN7EXAMPL3 >secret
printf 'before' >r.tar.gz
bundle 2 create --from run --run-id r --output r.tar.gz --file secret=files/secret
is "$(cat r.tar.gz)" before "$label: the old file"
is "$(find . -name '*r.tar.gz*' | wc -l)" 1 "$label: nothing left beside it"

label='killed at any moment'
mkdir killed
for seconds in 0.005 0.01 0.02 0.04 0.08 0.12 0.16 0.2 0.3; do
    timeout -s KILL $seconds "$RETAPE_BUNDLE" create --from run --run-id r \
        --output killed/r.tar.gz >out 2>bundle.log || true
    if [ -e killed/r.tar.gz ]; then
        bundle 0 verify killed/r.tar.gz
        rm killed/r.tar.gz
    fi
done
label='after a kill the next one works, leftovers or not'
bundle 0 create --from run --run-id r --output killed/r.tar.gz
bundle 0 verify killed/r.tar.gz

label='a full disk and a read-only one'
alone='unshare -m'
$alone true 2>/dev/null || alone='unshare -rm'
mkdir small closed-disk
$alone mount -t tmpfs -o size=64k none small 2>/dev/null || skip 'no mount namespaces here'
cat >inside <<'INSIDE'
set -eu
mount -t tmpfs -o size=512k none small
mount -t tmpfs -o ro none closed-disk
for disk in small closed-disk; do
    got=0
    "$RETAPE_BUNDLE" create --from run --run-id r --output $disk/r.tar.gz \
        >out 2>$disk.log || got=$?
    echo "$got" >>got
    ls -A $disk >>left
done
INSIDE
export RETAPE_BUNDLE
$alone sh inside || fail 'inside'
is "$(tr '\n' ' ' <got)" '3 3 ' "$label: exit status"
is "$(cat left)" '' "$label: what is left"
grep -qi space small.log || fail "$label: the reason is not said"
grep -qi read-only closed-disk.log || fail "$label: the reason is not said"
