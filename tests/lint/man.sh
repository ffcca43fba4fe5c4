#!/bin/sh
# The manual pages and --help name the same options, and every verb has its section.
set -eu
bad=0
verbs_seen=0

complain() {
    echo "$1" >&2
    bad=$((bad + 1))
}

# check PROGRAM [SIBLINGS]: verbs that are programs of their own have pages of their own.
check() {
    name=$1 siblings=${2:-none}
    page=${srcdir:-.}/docs/man/$name.1
    program=${builddir:-.}/$name
    [ -x "$program" ] || {
        echo "man: skipped, $program is not built"
        exit 77
    }
    plain=$(sed 's/\\-/-/g' "$page")
    verbs=$("$program" --help | sed -n '/^verbs:/,$s/^  \([a-z]*\) .*/\1/p' |
        grep -vxE "$siblings|help")
    known=$("$program" --help | grep -oE '^  --[a-z-]+')
    for verb in $verbs; do
        verbs_seen=$((verbs_seen + 1))
        printf '%s\n' "$plain" | grep -qx ".SS $name $verb.*" ||
            complain "$page: no section '.SS $name $verb'"
        text=$("$program" "$verb" --help) || complain "$name $verb --help failed"
        options=$(printf '%s\n' "$text" | grep -oE '^  --[a-z-]+' || true)
        known="$known $options"
        for option in $options; do
            printf '%s\n' "$plain" | grep -qE "^(\.B|\.BR|\.BI) $option( |\$)" ||
                complain "$page: $name $verb $option is missing"
        done
    done
    for option in $(printf '%s\n' "$plain" |
        sed -nE 's/^\.(B|BR|BI) (--[a-z-]+).*/\2/p'); do
        printf '%s\n' "$known" | tr ' ' '\n' | grep -qxe "$option" ||
            complain "$page: no verb has $option"
    done
}

check retape 'bundle|oracle'
check retape-bundle
echo "man: $verbs_seen verbs, $bad complaints"
[ "$bad" -eq 0 ]
