#!/bin/sh
# A tunnelled host is passed through unread while recording and listed in the summary; in
# replay nothing passes.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /*
reply 200 text/plain
body private
ORIGIN
to_tools() { # the origin's own certificate, or the handshake fails
    curl -sS --max-time 20 --cacert certs/ca.pem --proxy "http://$proxy" "https://${1:-tools.test}/p"
}
start_proxy record --tunnel tools.test
is "$(to_tools)" private
is "$(send GET /q -)" private
stop_proxy
origin_hits 2
tape_count default 1
absent tools.test "$tapes"
has tools.test "$summary"

# An upstream proxy is asked for a tunnel, too.
start_proxy record --append --allow-empty --tunnel x.llm.test \
    --resolve "x.llm.test:443:127.0.0.1:$origin_port"
first=$proxy first_pid=$proxy_pid others=$proxy_pid
start_proxy record --session second --allow-empty --tunnel x.llm.test \
    --upstream-proxy "http://$first"
is "$(to_tools x.llm.test)" private
stop_proxy
proxy_pid=$first_pid others=''
stop_proxy
origin_hits 3

start_fails 2 --tunnel replay --cassettes "$tapes" --tunnel tools.test -- true
echo '{"tunnel": ["tools.test"]}' >retape.json
start_proxy replay
! to_tools 2>/dev/null || fail 'replay let it through'
stop_proxy
origin_hits 3
