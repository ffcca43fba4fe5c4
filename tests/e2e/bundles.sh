# bundles.sh - what the scripts about bundles start with, instead of lib.sh.
#
#   . "${srcdir:-.}/tests/e2e/bundles.sh"
#
# Adds the bundler, bundles made by hand (tests/tools/tarball.py) and words about verdicts.
# shellcheck shell=sh
. "${srcdir:-.}/tests/e2e/lib.sh"
RETAPE_BUNDLE=${RETAPE_BUNDLE:-$(dirname "$RETAPE")/retape-bundle}
[ -x "$RETAPE_BUNDLE" ] || broken "no binary at $RETAPE_BUNDLE (set RETAPE_BUNDLE)"
# shellcheck disable=SC2034 # for the scripts
vectors=$srcdir/tests/data/bundle
label=
# What the machine says of itself does not belong into the bundles of a test.
unset CI GITHUB_RUN_ID SOURCE_DATE_EPOCH ASSAY_VCR_DIR

# by_hand OUT [option...] PATH=TEXT...: a bundle that our program did not write.
by_hand() { "$python" "$tools/tarball.py" "$@"; }

# bundle STATUS VERB ARGS...: the result goes to ./out, diagnostics to ./bundle.log.
bundle() {
    want=$1 got=0
    shift
    ${UNDER:-} "$RETAPE_BUNDLE" "$@" >out 2>bundle.log || got=$?
    [ "$got" -eq "$want" ] || fail "${label:+$label: }retape-bundle $* ended with $got, expected $want"
    hasnt Sanitizer bundle.log
    hasnt 'runtime error' bundle.log
}

# verdict STATUS FILE 'CODE PATH ...': verify says exactly these findings, in any order;
# "-" is the path of what concerns the whole bundle, no words at all are no findings.
verdict() {
    wanted=$3
    bundle "$1" verify --json "$2"
    is "$("$python" -c 'import json, sys
found = sorted({(f["code"], f["path"] or "-") for f in json.load(open("out"))["findings"]})
print(" ".join(word for pair in found for word in pair))')" "$wanted" "$label"
}

# About what a case says, for messages: its number and a few words.
case_() { label="case $*"; }

members() { "$python" -c 'import sys, tarfile
print(" ".join(m.name for m in tarfile.open(sys.argv[1])))' "$1"; }
# The manifest of a bundle, read without our program.
manifest_of() { tar xzOf "$1" manifest.json; }
digest_of() { sha256sum <"$1" | cut -c 1-64; }

# all_refused WORDS...: every hostile bundle of these words (make_hostile.py) is refused
# with its code and exit status 2, and unpacks to nothing, inside or outside; in bounded
# memory and time. Sets refusals to how many there were.
all_refused() {
    # A sanitizer reserves terabytes of address space, so its memory is bounded otherwise.
    bounded='timeout 60 prlimit --as=600000000'
    if grep -q __asan_init "$RETAPE_BUNDLE"; then
        bounded='timeout 120'
        ASAN_OPTIONS=${ASAN_OPTIONS:-}:hard_rss_limit_mb=1024
        export ASAN_OPTIONS
    fi
    "$python" "$tools/make_hostile.py" hostile "$@" || broken make_hostile.py
    mkdir -p jail/a/b results
    : >jail/untouched
    while read -r name _; do
        UNDER=$bounded
        label=$name
        bundle 2 verify --json "hostile/$name.tar.gz"
        mv out "results/$name"
        bundle 2 extract --output jail/a/b/unpacked "hostile/$name.tar.gz"
        is "$(find jail ! -type d)" jail/untouched "$name: something was unpacked"
    done <hostile/index
    UNDER=''
    # shellcheck disable=SC2034 # for the scripts
    refusals=$(wc -l <hostile/index)
    "$python" - <<'CHECK' || fail 'refused with another code'
import json, sys
bad = 0
for line in open("hostile/index"):
    name, code = line.split()
    found = [f["code"] for f in json.load(open("results/" + name))["findings"]]
    if code not in found:  # others may follow from what is wrong
        bad += 1
        print(f"{name}: {' '.join(found)}; expected {code}", file=sys.stderr)
sys.exit(bad > 0)
CHECK
}
