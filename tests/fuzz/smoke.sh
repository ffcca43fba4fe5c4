#!/bin/sh
# smoke.sh - run each libFuzzer target for FUZZ_SECONDS (60) from its corpus; what it
# finds new stays in a temporary folder.
set -eu
: "${srcdir:=.}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 passed=0
for target in "$@"; do
    name=${target##*/fuzz-}
    mkdir -p "$work/$name"
    seeds=$srcdir/tests/fuzz/corpus/$name
    [ -d "$seeds" ] || seeds=$work/$name
    if "./$target" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=4096 \
        -artifact_prefix="$work/" "$work/$name" "$seeds" >"$work/$name.log" 2>&1; then
        passed=$((passed + 1))
        echo "ok - fuzz/$name ($(grep -c . "$work/$name.log") lines)"
    else
        failed=$((failed + 1))
        tail -n 30 "$work/$name.log"
        echo "not ok - fuzz/$name"
    fi
done
echo "fuzz: $passed passed, $failed failed"
[ $failed -eq 0 ]
