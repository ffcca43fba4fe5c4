#!/bin/sh
# A session name is checked before it becomes a file name; a session that is recorded
# already is not recorded over.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /x
reply 200 text/plain
body x
ORIGIN
long=$(printf '%065d' 0)
start_proxy record
for name in ../evil .hidden 'a b' a/b "$long" -x; do
    is "$(status GET /x - -H "X-Retape-Session: $name")" 400 "session '$name'"
done
is "$(status GET /x - --proxy "http://..%2fevil@$proxy" || true)" 000 'CONNECT as ../evil'
is "$(status GET /x - -H "X-Retape-Session: ${long%?}")" 200 'the longest name'
is "$(status GET /x - -H 'X-Retape-Session: taken')" 200
stop_proxy
find "$work" -name '*evil*' -o -name '.hidden*' | grep . && fail 'a bad name became a file'

start_proxy record
is "$(status GET /x - -H 'X-Retape-Session: taken')" 409 'recorded before'
has E_CASSETTE_EXISTS body
is "$(status GET /x - -H 'X-Retape-Session: free')" 200
stop_proxy
tape_count taken 1
