#!/bin/sh
# clang-format has nothing to say.
set -eu
cd "${srcdir:-.}"

. tests/lint/tool.sh
want_tool format clang-format 14
list=$(find lib certs oracle bundler proxy tests -name '*.[ch]' 2>/dev/null | sort)
bad=0
for file in $list; do
    clang-format --dry-run -Werror "$file" >/dev/null 2>&1 || {
        echo "$file: run clang-format -i" >&2
        bad=$((bad + 1))
    }
done
echo "format: $(echo "$list" | wc -l) files, $bad to format"
[ "$bad" -eq 0 ]
