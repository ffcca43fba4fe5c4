#!/bin/sh
# No script gets a complaint from shellcheck.
set -eu
cd "${srcdir:-.}"

. tests/lint/tool.sh
want_tool shell shellcheck 0.9
list=$(find bootstrap tests examples docs .ci -name node_modules -prune -o \
    \( -name '*.sh' -o -name bootstrap \) -print 2>/dev/null | sort)
bad=0
for file in $list; do
    # SC1090, SC1091: helpers are sourced through $srcdir. SC2154: and set variables.
    shellcheck -e SC1090,SC1091,SC2154 "$file" >&2 || bad=$((bad + 1))
done
echo "shell: $(echo "$list" | wc -l) scripts, $bad with complaints"
[ "$bad" -eq 0 ]
