#!/bin/sh
# No file of 800 lines, no function of more than 80.
set -eu
cd "${srcdir:-.}"

find lib certs oracle bundler proxy tests examples -name node_modules -prune -o \
    \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' \) -print 2>/dev/null | sort |
    xargs awk '
function complain(where, text) {
    print where ": " text > "/dev/stderr"
    bad++
}
function close_file() {
    if (lines >= 800)
        complain(file, lines " lines; split it by idea")
}
FNR == 1 {
    close_file()
    file = FILENAME
    files++
    start = 0
}
{ lines = FNR }
FILENAME ~ /[.]c$/ && /^\{/ { start = FNR }
FILENAME ~ /[.]c$/ && /^\}/ && start {
    if (FNR - start - 1 > 80)
        complain(FILENAME ":" start, "a function of " FNR - start - 1 " lines")
    start = 0
}
END {
    close_file()
    printf "size: %d files, %d things too large\n", files, bad
    exit bad > 0
}' || exit 1
