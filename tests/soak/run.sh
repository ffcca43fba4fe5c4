#!/bin/sh
# run.sh - the soak tests one after the other (`make check-soak`), with a closing count.
#
#   SOAK_SECONDS=60 KILLS=50
set -eu
here=$(cd "$(dirname "$0")" && pwd)
passed=0 failed=0 skipped=0
for name in concurrent kill9; do
    status=0
    KILLS=${KILLS:-50} sh "$here/$name.sh" || status=$?
    case $status in
    0) passed=$((passed + 1)) verdict=ok ;;
    77) skipped=$((skipped + 1)) verdict=skip ;;
    *) failed=$((failed + 1)) verdict='not ok' ;;
    esac
    echo "$verdict - soak/$name"
done
echo "soak: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
