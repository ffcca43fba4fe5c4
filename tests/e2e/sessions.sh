#!/bin/sh
# Each session has its own cassette and its own cursor, named by the proxy user, by
# X-Retape-Session (never forwarded), or by the path on the proxy's own origin.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /turn
reply 200 text/plain
body one
on GET /turn
reply 200 text/plain
body two
on GET /turn
reply 200 text/plain
body three
on GET /turn
reply 200 text/plain
body four
ORIGIN

by_user() { send GET /turn - --proxy "http://run-1@$proxy"; }
by_header() { send GET /turn - -H 'X-Retape-Session: run-2'; }
by_path() { own /s/run-3/to/https/llm.test/turn; }
by_default() { send GET /turn -; }

start_proxy record
is "$(by_user)" one
is "$(by_header)" two
is "$(by_path)" three
is "$(by_default)" four
stop_proxy
hasnt X-Retape-Session "$origin_log"
stop_origin
for session in run-1 run-2 run-3 default; do
    tape_count $session 1
done

start_proxy replay
is "$(by_default)" four
is "$(by_path)" three
is "$(by_user)" one
is "$(status GET /turn - --proxy "http://run-1@$proxy")" 424 'run-1 has played its only one'
is "$(by_header)" two
stop_proxy 2
counts run-1 1 0 1 0
counts run-2 1 0 0 0
