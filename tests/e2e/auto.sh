#!/bin/sh
# auto replays what is recorded and records the rest.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /a
reply 200 text/plain
body A
on GET /b
reply 200 text/plain
body B
ORIGIN
start_proxy auto
is "$(send GET /a -)" A
stop_proxy
origin_hits 1

start_proxy auto
is "$(send GET /a -)" A
origin_hits 1
is "$(send GET /b -)" B
stop_proxy
origin_hits 2
stop_origin
tape_count default 2

start_proxy replay
is "$(send GET /b -)$(send GET /a -)" BA
stop_proxy
counts default 2 0 0 0
