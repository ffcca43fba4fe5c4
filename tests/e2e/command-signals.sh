#!/bin/sh
# SIGTERM and SIGINT reach the command, and retape waits for it.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >child <<'CHILD'
trap 'echo "$1" >caught; exit 5' "$1"
echo ready >child.ready
while :; do read -r line <never || exit 9; done
CHILD
mkfifo never
for signal in TERM INT; do
    rm -f caught child.ready
    # The subshell gives the job its default SIGINT back, which a background job lacks.
    "$python" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$RETAPE" record --cassettes "$tapes" --allow-empty \
        --overwrite -- sh child $signal >out 2>record.log &
    proxy_pid=$!
    await child.ready "$proxy_pid"
    kill -$signal "$proxy_pid"
    wait_proxy 5
    is "$(cat caught)" $signal
done
