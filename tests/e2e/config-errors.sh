#!/bin/sh
# A mistake in retape.json is named by file, line and key, with the nearest valid word.
. "${srcdir:-.}/tests/e2e/lib.sh"

wrong() { # WORDS...: the file on stdin is refused with all of these
    cat >retape.json
    start_fails 2 retape.json record --cassettes "$tapes" --allow-empty -- true
    for words in "$@"; do has "$words" refused.log; done
}
wrong retape.json:3 match.ignroe ignore <<'CONFIG'
{
    "match": {
        "ignroe": ["/x"],
    },
}
CONFIG
wrong retape.json:2 match.ignore <<'CONFIG'
{
    "match": { "ignore": "/x" }
}
CONFIG
wrong retape.json:2 scrub.patterns regex <<'CONFIG'
{ "scrub": { "patterns": [
    { "name": "own", "regex": "(" } ] } }
CONFIG
wrong retape.json:4: <<'CONFIG'
{
    "match": {},
    "scrub"
}
CONFIG
start_fails 2 elsewhere.json record --config elsewhere.json --allow-empty -- true
printf '// comment\n{ "match": { "ignore": [], }, }\n' >retape.json
"$RETAPE" record --cassettes "$tapes" --allow-empty -- true 2>refused.log || fail 'a good file is refused'
