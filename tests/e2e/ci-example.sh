#!/bin/sh
# The CI example: what it records it replays; a replay that fails leaves a bundle that
# fails the same way elsewhere, and a page that says how.
. "${srcdir:-.}/tests/e2e/lib.sh"
bundler=${RETAPE%/*}/retape-bundle
[ -x "$bundler" ] || broken "no binary at $bundler"

start_origin <<'ORIGIN'
on GET /x
reply 200 text/plain
body x
ORIGIN
cat >ask.sh <<'ASK'
curl -sS --max-time 20 "https://llm.test/$1"
ASK

export RETAPE RETAPE_BUNDLER="$bundler" RUN_ID=ci-7 SUMMARY="$work/page.md"
ci() { # STATUS WORDS...
    want=$1 got=0
    shift
    "$srcdir/examples/ci/ci.sh" "$@" >ci.out 2>ci.log || got=$?
    is "$got" "$want" "ci.sh $*"
}

ci 2
ci 2 replay
ci 2 forget curl
RETAPE_UPSTREAM_CA=certs/ca.pem RETAPE_RESOLVE="llm.test:443:127.0.0.1:$origin_port" \
    ci 0 record sh ask.sh x
has default ci.out
stop_origin

ci 0 replay sh ask.sh x
is "$(cat ci.out)" x 'the command has its answer'
has '## Run ci-7 passed' page.md
[ ! -e bundles ] || fail 'a bundle of a run that passed'

: >page.md
ci 2 replay sh ask.sh y
has '## Run ci-7 failed: E\_REPLAY\_MISSING\_DEPENDENCY' page.md
has '### Reproduce locally' page.md
has 'retape replay --bundle ci-7.tar.gz -- sh ask.sh y' page.md

# On another machine: only the bundle and the script.
mkdir elsewhere
cp bundles/ci-7.tar.gz ask.sh elsewhere
cd elsewhere
"$bundler" verify ci-7.tar.gz >verify.out
got=0
"$RETAPE" replay --bundle ci-7.tar.gz -- sh ask.sh y >out 2>again.log || got=$?
is "$got" 2 'the same failure'
has E_REPLAY_MISSING_DEPENDENCY again.log
"$RETAPE" replay --bundle ci-7.tar.gz -- sh ask.sh x >out 2>again.log
is "$(cat out)" x 'and what was recorded is there'
