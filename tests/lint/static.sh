#!/bin/sh
# cppcheck has nothing to say.
set -eu
cd "${srcdir:-.}"

. tests/lint/tool.sh
want_tool static cppcheck 2.10
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
