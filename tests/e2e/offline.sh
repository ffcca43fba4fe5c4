#!/bin/sh
# A replaying proxy opens no connection and resolves no name, whatever it is asked for.
. "${srcdir:-.}/tests/e2e/lib.sh"
strace -o /dev/null true 2>/dev/null || skip 'strace may not trace here'

start_origin <<'ORIGIN'
on GET /x
reply 200 text/plain
body x
ORIGIN
start_proxy record
send GET /x -
stop_proxy
stop_origin

# A traced process cannot look for its own leaks.
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
export ASAN_OPTIONS
UNDER="strace -D -f -o $work/calls -e trace=network"
start_proxy replay
is "$(send GET /x -)" x
is "$(status GET https://never-recorded.test/ -)" 424
is "$(status GET http://127.0.0.1:9/ -)" 424
is "$(own /to/https/localhost:1/x -o body -w '%{http_code}')" 424
stop_proxy 2
UNDER=
is "$(grep -cE 'accept4?\(.*= [0-9]' calls)" 4 'connections seen by strace'
if grep -E '(connect|sendto|sendmsg)\(.*AF_INET' calls || grep -E 'AF_INET.*SOCK_DGRAM' calls; then
    fail 'something left the process'
fi
