#!/bin/sh
# A request that was not recorded gets 424 with a reason clients can read: the nearest
# recording, where they differ, and what to do. The same stands on stderr.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on POST /v1/chat/completions
reply 200 application/json
body {"ok":true}
ORIGIN
chat() { printf '{"model":"m","messages":[{"role":"system","content":"%s"},{"role":"user","content":"%s"}]}' "$1" "$2"; }
chat 'be brief' 'weather in Bern?' >asked
chat 'be brief' 'weather in Rome?' >changed

start_proxy record
send POST /v1/chat/completions asked
stop_proxy
stop_origin

start_proxy replay
is "$(status POST /v1/chat/completions changed -D miss.head)" 424
tr -d '\r' <miss.head >lines
has 'x-should-retry: false' lines
has 'x-retape-miss: 1' lines
is "$(pick body type)" error
is "$(pick body error.type)" replay_missing_dependency
is "$(pick body error.code)" E_REPLAY_MISSING_DEPENDENCY
is "$(pick body error.nearest.0.exchange)" 1
is "$(pick body error.nearest.0.differences.0.at)" /messages/1/content
is "$(pick body error.nearest.0.differences.0.recorded)" 'weather in Bern?'
is "$(pick body error.nearest.0.differences.0.asked)" 'weather in Rome?'
is "$(pick body error.reason)" never_recorded
never=$(pick body error.message)

is "$(status POST /v1/chat/completions asked)" 200
is "$(status POST /v1/chat/completions asked -D miss.head)" 424 'asked once too often'
has 'x-retape-miss: 2' miss.head
[ "$(pick body error.message)" != "$never" ] || fail 'exhausted reads like never recorded'
is "$(pick body error.reason)" exhausted
stop_proxy 2

counts default 1 0 2 0
has /messages/1/content "$proxy_log"
has E_REPLAY_MISSING_DEPENDENCY "$proxy_log"
