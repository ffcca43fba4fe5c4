#!/bin/sh
# Every hostile archive is refused with the code of what is wrong with it, and unpacks to
# nothing: names, types, tar and pax records, gzip, manifests, lists, secrets.
. "${srcdir:-.}/tests/e2e/bundles.sh"

all_refused -bomb -limit
[ "$refusals" -ge 60 ] || fail "only $refusals hostile archives"
echo "$refusals hostile archives refused"
