#!/bin/sh
# Equal requests are answered in recorded order, each once: 1 2 3, then a miss. --repeat
# last and cycle say otherwise on demand.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /next
reply 200 text/plain
body 1
on GET /next
reply 200 text/plain
body 2
on GET /next
reply 200 text/plain
body 3
on GET /other
reply 200 text/plain
body o
ORIGIN
ask() { seq "$1" | while read -r _; do send GET /next -; done; }

start_proxy record
is "$(ask 3)" 123
is "$(send GET /other -)" o
stop_proxy
stop_origin

start_proxy replay
is "$(send GET /other -)" o 'order between different requests is free'
is "$(ask 3)" 123
is "$(status GET /next -)" 424
stop_proxy 2
counts default 4 0 1 0

start_proxy replay --repeat last
is "$(ask 5)" 12333
stop_proxy
start_proxy replay --repeat cycle
is "$(ask 7)" 1231231
stop_proxy
