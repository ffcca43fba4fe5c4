#!/bin/sh
# What goes upstream: the method that was asked for, the Host of the URL whatever the
# Host field said, nothing of ours and nothing meant for a proxy.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on * /*
reply 200 text/plain
body fine
ORIGIN
start_proxy record
printf 'HEAD http://llm.test/head HTTP/1.1\r\nHost: llm.test\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc' |
    raw "$proxy" >head.answer || true
has 'HTTP/1.1 200 ' head.answer
printf 'GET http://llm.test/host HTTP/1.1\r\nHost: other.test\r\n%s\r\n\r\n' \
    "$(printf 'X-Retape-Session: own\r\nProxy-Connection: keep-alive\r\nX-Kept: yes')" |
    raw "$proxy" >host.answer
has fine host.answer
stop_proxy
origin_hits 2
sed -n 1p "$origin_log" >first
is "$(pick first method)" HEAD 'HEAD with a body'
sed -n 2p "$origin_log" >second
has '"llm.test"' second
has X-Kept second
for word in other.test Retape Proxy-; do hasnt "$word" second; done
