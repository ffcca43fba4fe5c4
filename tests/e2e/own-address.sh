#!/bin/sh
# A request through the proxy to the proxy's own address is answered by the proxy itself
# and never forwarded, however the address is spelt, even if its host is tunnelled.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin </dev/null
start_proxy record --allow-empty --tunnel 127.0.0.1 --tunnel localhost
for host in 127.0.0.1 localhost 127.1.2.3 0.0.0.0 '[::1]' '[::ffff:127.0.0.1]'; do
    url=http://$host:${proxy##*:}/__retape/health
    is "$(status GET "$url" -)" 200 "$url, absolute form"
    is "$(status GET "$url" - --proxytunnel)" 200 "$url, CONNECT"
done
stop_proxy
summary_is total.recorded 0
summary_is tunnelled.connections 0
origin_hits 0
