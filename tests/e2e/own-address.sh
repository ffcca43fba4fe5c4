#!/bin/sh
# A request through the proxy to the proxy's own address is answered by the proxy itself
# and never forwarded.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin </dev/null
start_proxy record --allow-empty
for url in "http://$proxy/__retape/health" "http://localhost:${proxy##*:}/__retape/health"; do
    is "$(status GET "$url" -)" 200 "$url, absolute form"
    is "$(status GET "$url" - --proxytunnel)" 200 "$url, CONNECT"
done
stop_proxy
origin_hits 0
