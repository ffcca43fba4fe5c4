#!/bin/sh
# Words: spelled right, no reminders left behind, no names that say nothing.
set -eu
cd "${srcdir:-.}"

. tests/lint/tool.sh
want_tool words codespell 2.2
list=$(find bootstrap Makefile.am configure.ac ./*.md lib certs oracle bundler proxy tests \
    examples docs -name node_modules -prune -o -path tests/data -prune -o \
    -path tests/fuzz/corpus -prune -o -type f \
    \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o -name '*.md' -o -name '*.mk' \
    -o -name '*.[1-9]' -o -name '*.json' -o -name '*.am' -o -name '*.ac' \
    -o -name bootstrap \) -print 2>/dev/null | sort)
bad=0

# Not mistakes, or made on purpose by tests.
fine=aci,hasnt,hel,ingore,lits,lsat,recrod,te,toke
# shellcheck disable=SC2086 # file names are words
codespell -L "$fine" $list >&2 || bad=$((bad + 1))
# In pieces, so that this file passes itself.
# shellcheck disable=SC2086
if grep -nE 'TO''DO|FIX''ME' $list >&2; then
    bad=$((bad + 1))
fi
for file in $list; do
    name=${file##*/}
    case ${name%%.*} in
    util | utils | misc | common | helpers)
        echo "$file: a name that says nothing" >&2
        bad=$((bad + 1))
        ;;
    esac
done
echo "words: $(echo "$list" | wc -l) files, $bad complaints"
[ "$bad" -eq 0 ]
