#!/bin/sh
# Ten gigabytes of zeros, in every place there is, and one more than each ceiling: refused
# in bounded memory, and nothing of it stays on disk.
E2E_SECONDS=${E2E_SECONDS:-300} # it unpacks a gigabyte a few times
. "${srcdir:-.}/tests/e2e/bundles.sh"

all_refused bomb limit
