#!/bin/sh
# cppcheck has nothing to say.
set -eu
cd "${srcdir:-.}"

command -v cppcheck >/dev/null 2>&1 || {
    echo "static: skipped, cppcheck is not installed"
    exit 77
}
rooms=""
for room in lib certs oracle bundler proxy; do
    [ -z "$(find "$room" -name '*.c' 2>/dev/null | head -n 1)" ] || rooms="$rooms $room"
done
# shellcheck disable=SC2086 # rooms are words
if cppcheck --quiet --std=c11 --enable=warning,portability,performance --inline-suppr \
    --error-exitcode=1 -D_GNU_SOURCE -DRETAPE_VERSION='"0"' -Ilib -I. \
    --suppress=missingIncludeSystem $rooms; then
    echo "static:$rooms clean"
else
    echo "static: see above"
    exit 1
fi
