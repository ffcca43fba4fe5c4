#!/bin/sh
# Every hostile archive is refused: exit 2, with the code of what is wrong with it; it
# unpacks to nothing, inside or outside; in little time and memory, without a crash.
. "${srcdir:-.}/tests/e2e/bundles.sh"

"$python" "$tools/make_hostile.py" hostile
mkdir -p jail/a/b results
: >jail/untouched
# A sanitizer reserves terabytes of address space; its own runs are bounded otherwise.
bounded='timeout 30 prlimit --as=600000000'
if grep -q __asan_init "$RETAPE_BUNDLE"; then
    bounded='timeout 60'
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:hard_rss_limit_mb=1024
    export ASAN_OPTIONS
fi
while read -r name code; do
    label=$name
    got=0
    $bounded "$RETAPE_BUNDLE" verify --json "hostile/$name.tar.gz" \
        >"results/$name" 2>verify.log || got=$?
    echo "$got $code $name" >>verdicts
    hasnt Sanitizer verify.log
    hasnt 'runtime error' verify.log
    got=0
    $bounded "$RETAPE_BUNDLE" extract --output jail/a/b/unpacked "hostile/$name.tar.gz" \
        >extract.out 2>extract.log || got=$?
    hasnt Sanitizer extract.log
    is "$got" 2 "$name: extract"
    is "$(find jail -type f -o -type l)" jail/untouched "$name: something was unpacked"
done <hostile/index

"$python" - <<'CHECK'
import json, sys
bad = 0
lines = open("verdicts").read().splitlines()
for line in lines:
    status, code, name = line.split()
    try:
        found = [f["code"] for f in json.load(open("results/" + name))["findings"]
                 if f["severity"] == "error"]
    except ValueError:
        found = ["no JSON"]
    # One thing is wrong with each; a missing or unlisted member may follow from it.
    if status != "2" or code not in found:
        bad += 1
        print(f"{name}: exit {status}, {' '.join(found)}; expected 2, {code}", file=sys.stderr)
print(f"{len(lines)} hostile archives, {bad} not refused as they should be")
sys.exit(bad > 0 or len(lines) < 60)
CHECK
