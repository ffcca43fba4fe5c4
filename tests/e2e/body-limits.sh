#!/bin/sh
# A body of exactly the limit passes, one byte more is refused with 413 and not sent on,
# whether its length was declared or not.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on POST /*
reply 200 text/plain
body ok
ORIGIN
echo '{"limits": {"request_body": 2000}}' >retape.json
head -c 2000 /dev/zero | tr '\0' a >most
printf a | cat most - >over
chunked='Transfer-Encoding:chunked'

start_proxy record
is "$(status POST /sized most)" 200 'at the limit'
is "$(status POST /chunked most -H "$chunked")" 200 'at the limit, in chunks'
is "$(status POST /sized over)" 413 'over the limit'
has E_BODY_TOO_LARGE body
is "$(status POST /chunked over -H "$chunked")" 413 'over the limit, in chunks'
is "$(status POST /sized most)" 200 'and on we go'
stop_proxy
origin_hits 3
