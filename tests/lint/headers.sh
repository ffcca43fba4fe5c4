#!/bin/sh
# Every header starts with words: a block that names the file and says what it is for,
# in three lines or more (one will do for the headers of tests).
set -eu
cd "${srcdir:-.}"

bad=0
seen=0
for header in $(find lib certs oracle bundler proxy tests -name '*.h' 2>/dev/null | sort); do
    seen=$((seen + 1))
    case $header in
    tests/*) least=1 ;;
    *) least=3 ;;
    esac
    awk -v name="${header##*/}" -v least="$least" '
        NR == 1 && $0 != "/*" { exit }
        NR == 2 && index($0, " * " name " - ") != 1 { exit }
        /\*\// { good = NR - 2 >= least; exit }
        END { exit !good }' "$header" || {
        echo "$header: no text block of $least lines that starts with '${header##*/} - '" >&2
        bad=$((bad + 1))
    }
done
echo "headers: $seen files, $bad without their text"
[ "$bad" -eq 0 ]
