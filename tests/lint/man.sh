#!/bin/sh
# The manual page and --help name the same options, and every verb has its section.
set -eu
page=${srcdir:-.}/docs/man/retape.1
retape=${builddir:-.}/retape

[ -x "$retape" ] || {
    echo "man: skipped, $retape is not built"
    exit 77
}
bad=0
complain() {
    echo "$1" >&2
    bad=$((bad + 1))
}

plain=$(sed 's/\\-/-/g' "$page")
# Verbs of this program; the siblings have pages of their own.
verbs=$("$retape" --help | sed -n '/^verbs:/,$s/^  \([a-z]*\) .*/\1/p' |
    grep -vxE 'bundle|oracle|help')
known=$("$retape" --help | grep -oE '^  --[a-z-]+')
for verb in $verbs; do
    printf '%s\n' "$plain" | grep -qx ".SS retape $verb.*" ||
        complain "$page: no section '.SS retape $verb'"
    text=$("$retape" "$verb" --help) || complain "retape $verb --help failed"
    options=$(printf '%s\n' "$text" | grep -oE '^  --[a-z-]+' || true)
    known="$known $options"
    for option in $options; do
        printf '%s\n' "$plain" | grep -qE "^(\.B|\.BR|\.BI) $option( |\$)" ||
            complain "$page: retape $verb $option is missing"
    done
done
for option in $(printf '%s\n' "$plain" | sed -nE 's/^\.(B|BR|BI) (--[a-z-]+).*/\2/p'); do
    printf '%s\n' "$known" | tr ' ' '\n' | grep -qxe "$option" ||
        complain "$page: no verb has $option"
done
echo "man: $(echo "$verbs" | wc -l) verbs, $bad complaints"
[ "$bad" -eq 0 ]
