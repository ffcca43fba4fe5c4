#!/bin/sh
# A folder that cannot be written to is an error at the start, not a lost recording.
. "${srcdir:-.}/tests/e2e/lib.sh"

as_nobody=
if [ "$(id -u)" -eq 0 ]; then # root may write anywhere
    as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
    $as_nobody true 2>/dev/null || skip 'setpriv may not change the user here'
fi
cp "$RETAPE" retape
mkdir "$tapes"
chmod 777 "$work"
chmod 555 "$tapes" retape
got=0
$as_nobody ./retape record --listen 127.0.0.1:0 --cassettes "$tapes" -- true 2>refused.log || got=$?
is "$got" 3 'exit status'
has "$tapes" refused.log
