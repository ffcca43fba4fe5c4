#!/bin/sh
# The id of a JSON-RPC request does not count, and the answer carries the caller's own.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on POST /mcp
reply 200 application/json
body {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"id 1"}]}}
on POST /stream
reply 200 text/event-stream
chunk event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"ok":true}}\n\n
ORIGIN
call() { printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"t","arguments":{}}}' "$1" >call; }

start_proxy record
call 1
send POST /mcp call >live
send POST /stream call >stream
stop_proxy
stop_origin

start_proxy replay
call 77
is "$(send POST /mcp call)" "$(sed 's/"id":1,/"id":77,/' live)"
call '"abc"'
is "$(send POST /stream call)" "$(sed 's/"id":1,/"id":"abc",/' stream)"
stop_proxy
counts default 0 2 0 0
