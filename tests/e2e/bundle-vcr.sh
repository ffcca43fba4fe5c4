#!/bin/sh
# Cases 55 to 58 are about the reference's client library. What they promise its users is
# promised here by the proxy and by bundles that carry such cassettes.
. "${srcdir:-.}/tests/e2e/bundles.sh"

start_origin <<'ORIGIN'
on POST /v1/embeddings
reply 200 application/json
body {"data":[1]}
ORIGIN
start_proxy record
printf '{"model":"m","input":"one"}' >one
printf '{"input":"one","model":"m"}' >turned
printf '{"model":"m","input":"two"}' >two
send POST /v1/embeddings one >live
stop_proxy
stop_origin

case_ '55 keys in another order ask for the same; another input does not'
start_proxy replay
send POST /v1/embeddings turned >again
same live again
is "$(status POST /v1/embeddings two)" 424 "$label"
stop_proxy 2

# Stricter: there a mode that is misspelt means strict replay; here it is refused.
case_ '56 modes are verbs, and a wrong one is an error'
start_fails 2 record recrod
for mode in record replay auto; do "$RETAPE" $mode --help >help || fail "$label: $mode"; done

case_ '57 their cassettes are packed where they lie, and found there again'
mkdir -p run/cassettes/openai/embeddings
entry=openai/embeddings/cd77c7f693d53d2e.json
printf '{"schema_version":2,"method":"POST","response_body":{"data":[1]}}' >run/cassettes/$entry
printf '[]' >run/trace.jsonl
bundle 0 create --from run --run-id r --output r.tar.gz
verdict 0 r.tar.gz ''
bundle 0 extract --output unpacked r.tar.gz
same run/cassettes/$entry unpacked/cassettes/$entry
ASSAY_VCR_DIR=vcr bundle 0 create --from run --run-id r --output r.tar.gz
mkdir -p run/vcr/openai/judge
printf '{}' >run/vcr/openai/judge/a.json
ASSAY_VCR_DIR=vcr bundle 0 create --from run --run-id r --output r.tar.gz
is "$(members r.tar.gz)" "manifest.json cassettes/$entry cassettes/openai/judge/a.json files/trace.jsonl" "$label"

case_ '58 what is not recorded is not fetched'
start_proxy replay
is "$(status POST https://llm.test/v1/other one)" 424 "$label"
has E_REPLAY_MISSING_DEPENDENCY body
stop_proxy 2
