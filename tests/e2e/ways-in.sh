#!/bin/sh
# However a request comes in, the cassette holds the real upstream URL: what was recorded
# one way replays every other way.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on GET /v1/models
reply 200 application/json
body {"n":1}
on GET /v1/models
reply 200 application/json
body {"n":2}
on GET /v1/models
reply 200 application/json
body {"n":3}
on GET /v1/models
reply 200 application/json
body {"n":4}
on GET /plain
reply 200 text/plain
body first
on GET /plain
reply 200 text/plain
body second
on GET /plain
reply 200 text/plain
body third
ORIGIN
cat >retape.json <<'CONFIG'
{ "routes": { "/here": "https://llm.test/v1" } }
CONFIG

through_connect() { send GET /v1/models -; }
direct_with_sni() {
    curl -sS --cacert "$ca" --connect-to "llm.test:443:$proxy" https://llm.test/v1/models
}
by_route() { own /here/models; }
by_to() { own /to/https/llm.test/v1/models; }
plain_connect() { send GET http://llm.test/plain - --proxytunnel; }
absolute_form() { send GET http://llm.test/plain -; }
plain_to() { own /to/http/llm.test/plain; }

start_proxy record
is "$(through_connect)" '{"n":1}'
is "$(direct_with_sni)" '{"n":2}'
is "$(by_route)" '{"n":3}'
is "$(by_to)" '{"n":4}'
is "$(plain_connect)" first
is "$(absolute_form)" second
is "$(plain_to)" third
stop_proxy
origin_hits 7
stop_origin
tape urls "$tapes/default.jsonl" | sort | uniq -c | tr -s ' ' >listed
is "$(cat listed)" "$(printf ' 3 GET http://llm.test/plain\n 4 GET https://llm.test/v1/models')"

start_proxy replay
is "$(by_to)" '{"n":1}'
is "$(by_route)" '{"n":2}'
is "$(through_connect)" '{"n":3}'
is "$(direct_with_sni)" '{"n":4}'
is "$(plain_to)" first
is "$(plain_connect)" second
is "$(absolute_form)" third
stop_proxy
counts default 7 0 0 0
