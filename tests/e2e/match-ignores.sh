#!/bin/sh
# Declared ignores, and only those, do not count: body pointers, query parameters; and a
# header named in match.headers does count.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on POST /v1
reply 200 text/plain
body english
on POST /v1
reply 200 text/plain
body german
ORIGIN
cat >retape.json <<'CONFIG'
{
    // what changes from run to run
    "match": {
        "ignore": ["/metadata/request_id", "/messages/*/ts"],
        "ignore_query": ["nonce"],
        "headers": ["Accept-Language"],
    },
}
CONFIG
ask() { printf '{"metadata":{"request_id":"%s"},"messages":[{"text":"%s","ts":%s}]}' "$@" >asked; }

start_proxy record
ask first hello 1
is "$(send POST '/v1?nonce=1' asked -H 'Accept-Language: en')" english
is "$(send POST '/v1?nonce=1' asked -H 'Accept-Language: de')" german
stop_proxy
stop_origin

start_proxy replay
ask second hello 2
is "$(send POST '/v1?nonce=2' asked -H 'Accept-Language: de')" german
is "$(status POST '/v1?nonce=3' asked -H 'Accept-Language: fr')" 424
ask third goodbye 3
is "$(status POST '/v1?nonce=3' asked -H 'Accept-Language: en')" 424
ask fourth hello 4
is "$(send POST '/v1' asked -H 'Accept-Language: en')" english
stop_proxy 2
counts default 0 2 2 0
