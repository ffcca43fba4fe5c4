#!/bin/sh
# In replay a request for a session that was never recorded is a miss like any other: 424,
# not to be tried again, listed, and the run fails even if nobody looked at the answer.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on * /*
reply 200 text/plain
body fine
ORIGIN
start_proxy record
send GET /x - >/dev/null
stop_proxy

start_proxy replay
is "$(send GET /x -)" fine
is "$(status GET /x - -D head --proxy-user nosuch:)" 424
has 'x-should-retry: false' head
has 'x-retape-miss: 1' head
is "$(pick body error.code)" E_REPLAY_MISSING_DEPENDENCY
has nosuch body
own /__retape/misses >misses
has nosuch misses
stop_proxy 2
has 'session nosuch: miss 1' "$proxy_log"
summary_is reason_code E_REPLAY_MISSING_DEPENDENCY
summary_is total.miss 1
counts default 1 0 0 0
