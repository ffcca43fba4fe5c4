#!/bin/sh
# run-all.sh - every test there is, in the built source folder (`./bootstrap check`):
# make check, the clients nobody here wrote, the soak tests, then make check and a short
# soak once more with sanitizers. Ends with one line that counts them all.
#
#   SOAK_SECONDS=60 KILLS=50   how long and how often the soak tests run
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc)
logs=build-check
passed=0 failed=0 skipped=0 broken=''
mkdir -p "$logs"

# count PASSED FAILED SKIPPED
count() {
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# The sum of automake's "# PASS:  N" lines (or our own "name: N passed, ...") in a log.
tally() {
    # shellcheck disable=SC2046 # three numbers
    count $(awk '
        /^# PASS: / { p += $3 } /^# (FAIL|ERROR|XPASS): / { f += $3 } /^# SKIP: / { s += $3 }
        / passed, [0-9]+ failed/ { p += $(NF > 6 ? 2 : 2); f += $4; s += $6 }
        END { print p + 0, f + 0, s + 0 }' "$1")
}

# stage NAME COMMAND...: shows what failed, goes on with the next stage.
stage() {
    name=$1
    shift
    printf '== %s\n' "$name"
    if "$@" >"$logs/$name.log" 2>&1; then
        ok=yes
    else
        ok=no
        broken="$broken $name"
        grep -E '^(FAIL|ERROR|not ok|FAILED)|: (error|warning):|^# (FAIL|ERROR): +[1-9]' \
            "$logs/$name.log" | head -n 40 || true
    fi
    before=$((passed + failed + skipped))
    tally "$logs/$name.log"
    [ $ok = yes ] || [ $((passed + failed + skipped)) -gt $before ] || count 0 1 0
    printf '   %s (%s/%s.log)\n' "$([ $ok = yes ] && echo ok || echo FAILED)" "$logs" "$name"
}

# A second build beside this one; a source folder that is configured cannot be built in
# another, so it goes by a copy of what is tracked.
sanitized() {
    top=$PWD
    rm -rf "$logs/sanitized"
    mkdir -p "$logs/sanitized"
    git ls-files -z 2>/dev/null | xargs -0 cp --parents -t "$logs/sanitized"
    cd "$logs/sanitized"
    autoreconf -i && ./configure --quiet --enable-werror --enable-asan --enable-ubsan \
        CFLAGS='-O1 -g' && make -s -j"$jobs"
    status=$?
    cd "$top"
    return $status
}

stage check make -k -j"$jobs" check
stage clients make check-clients
stage soak make check-soak
stage sanitized-build sanitized
if [ -x "$logs/sanitized/retape" ]; then
    stage sanitized-check make -C "$logs/sanitized" -k -j"$jobs" check
    stage sanitized-soak env SOAK_SECONDS="${SANITIZED_SOAK_SECONDS:-20}" SOAK_RATE=120 KILLS=5 \
        make -C "$logs/sanitized" check-soak
fi

[ -z "$broken" ] || printf 'failed stages:%s\n' "$broken"
printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ -z "$broken" ] && [ $failed -eq 0 ]
