#!/bin/sh
# record refuses an existing cassette unless told to append or to overwrite; two recorders
# never share one.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /*
reply 200 text/plain
body x
ORIGIN
start_proxy record
send GET /first -
start_fails 2 'another recorder' record --cassettes "$tapes" --append -- true
stop_proxy
cp "$tapes/default.jsonl" before

start_fails 2 --append record --cassettes "$tapes" -- true
same before "$tapes/default.jsonl"

start_proxy record --append
send GET /second -
stop_proxy
tape_count default 2
tape_is default 1 request.url https://llm.test/first

start_proxy record --overwrite
send GET /third -
stop_proxy
tape_count default 1
tape_is default 1 request.url https://llm.test/third
start_fails 2 '' record --append --overwrite --cassettes "$tapes" -- true
