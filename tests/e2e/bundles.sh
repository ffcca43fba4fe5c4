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
