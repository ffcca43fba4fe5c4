#!/bin/sh
# Rooms include only what lies below them, and a library's header has one owner.
set -eu
cd "${srcdir:-.}"

rooms=""
for room in lib certs oracle bundler proxy; do
    [ -d "$room" ] && rooms="$rooms $room"
done

# shellcheck disable=SC2016,SC2086 # the program is awk, rooms are words
find $rooms -name '*.[ch]' | sort | xargs awk '
BEGIN {
    # room: the first parts of paths its files may include
    may["lib/base"] = "base"
    may["lib/tape"] = "base tape"
    may["lib/dialect"] = "base tape dialect"
    may["lib/pack"] = "base tape pack"
    may["lib/net"] = "base net"
    may["certs"] = "base certs"
    may["oracle"] = "base tape dialect pack net oracle"
    may["bundler"] = "base tape dialect pack net bundler"
    may["proxy"] = "base tape dialect pack net certs oracle bundler proxy"

    # header of another project: the files that may include it
    owner["^microhttpd[.]h$"] = "^lib/net/httpd[._]"
    owner["^curl/"] = "^lib/net/fetch[._]"
    owner["^(mbedtls|psa)/"] = "^(lib/base/digest[.]|certs/|proxy/(tls|tunnel)[.])"
    owner["^archive"] = "^lib/pack/"
    owner["^sys/epoll[.]h$"] = "^lib/net/loop[.]"
    owner["^xxh.*[.]h$"] = "^lib/base/digest[.]"
    owner["^(zlib[.]h|zstd[.]h|brotli/)"] = "^lib/(tape/decode[.]|pack/)"
    owner["^yyjson[.]h$"] = "^(lib/(base/json|tape/|dialect/)|oracle/|bundler/|proxy/)"
}
function complain(text) {
    print FILENAME ":" FNR ": " text > "/dev/stderr"
    bad++
}
FNR == 1 {
    files++
    n = split(FILENAME, part, "/")
    room = part[1] == "lib" ? part[1] "/" part[2] : part[1]
    if (!(room in may))
        complain("no rule says what " room " may include")
}
/^#[ \t]*include[ \t]*"/ {
    split($0, quoted, "\"")
    split(quoted[2], part, "/")
    if (index(quoted[2], "/") == 0 || index(" " may[room] " ", " " part[1] " ") == 0)
        complain(room " may not include \"" quoted[2] "\"")
}
/^#[ \t]*include[ \t]*</ {
    split($0, angled, /[<>]/)
    for (header in owner)
        if (angled[2] ~ header && FILENAME !~ owner[header])
            complain("<" angled[2] "> belongs to " owner[header])
}
END {
    printf "layers: %d files, %d broken rules\n", files, bad
    exit bad > 0
}' || exit 1
