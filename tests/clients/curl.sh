#!/bin/sh
# curl: whole and streamed, encoded, posted, over TLS and plain, one status each.
set -eu
get() { curl -sS -w ' %{http_code} %{content_type}\n' "$@"; }
for path in /json /stream /count /count /missing; do
    get "https://web.test$path"
done
get --compressed https://web.test/gzip
get -H 'Content-Type: application/json' --data '{"text":"gr\u00fc\u00dfe"}' https://web.test/echo
get -H 'Transfer-Encoding: chunked' --data 'in chunks' https://web.test/echo
get -F one=1 -F two=@/dev/null https://web.test/echo -o /dev/null
get 'http://web.test/json?way=plain'
get --proxytunnel 'http://web.test/json?way=tunnel'
