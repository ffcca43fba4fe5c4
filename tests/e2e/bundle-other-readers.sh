#!/bin/sh
# tar, gzip, bsdtar and Python read our bundles, and we read what they write.
. "${srcdir:-.}/tests/e2e/bundles.sh"

mkdir -p run/cassettes/sub
printf '{"n":1}\n' >run/trace.jsonl
printf '{}' >run/cassettes/sub/a.json
: >run/cassettes/empty
head -c 100000 /dev/zero >run/cassettes/zeros
bundle 0 create --from run --run-id r --output r.tar.gz --json
members='manifest.json cassettes/empty cassettes/sub/a.json cassettes/zeros files/trace.jsonl'

label=gzip
gzip -t r.tar.gz 2>reader.log || fail "$label"
label=tar
is "$(tar tzf r.tar.gz 2>reader.log | tr '\n' ' ')" "$members " "$label"
mkdir by-tar by-bsdtar by-python
tar xzf r.tar.gz -C by-tar 2>>reader.log
label=python
is "$(members r.tar.gz)" "$members" "$label"
"$python" -c 'import tarfile; tarfile.open("r.tar.gz", errorlevel=2).extractall("by-python")'
readers='by-tar by-python'
if command -v bsdtar >/dev/null; then
    label=bsdtar
    is "$(bsdtar tzf r.tar.gz 2>>reader.log | tr '\n' ' ')" "$members " "$label"
    bsdtar xzf r.tar.gz -C by-bsdtar 2>>reader.log
    readers="$readers by-bsdtar"
fi
[ ! -s reader.log ] || fail "a reader complains: $(cat reader.log)"
bundle 0 extract --output by-us r.tar.gz
for folder in $readers; do diff -r "$folder" by-us >diff.log || fail "$folder and ours differ"; done

# The other way: the same members, packed by others in their own ways.
# shellcheck disable=SC2086 # words
for make in 'tar --format=ustar -czf' 'tar --format=gnu -czf' 'tar --format=v7 -czf' \
    'tar --format=pax -czf' 'bsdtar -czf'; do
    label=$make
    command -v ${make%% *} >/dev/null || continue
    (cd by-us && $make "$work/theirs.tar.gz" $members)
    verdict 0 theirs.tar.gz ''
done
label='a folder packed as it is has folders in it'
(cd by-us && tar -czf "$work/theirs.tar.gz" .)
bundle 2 verify theirs.tar.gz
