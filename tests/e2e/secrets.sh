#!/bin/sh
# No credential reaches the disk, wherever it travels: headers, query, JSON, form, in the
# request or in the answer. The client still gets the original bytes, and a rotated key
# still matches.
. "${srcdir:-.}/tests/e2e/lib.sh"

# Credentials are made here so that no scanner stumbles over this file.
noise() { printf '%s' "$1" | sha256sum | tr -dc 'a-f0-9' | cut -c "1-$2"; }
mixed() { printf '%s' "$1" | openssl dgst -sha256 -binary | openssl base64 | tr -dc 'A-Za-z0-9' | cut -c "1-$2"; }
credentials() {
    authorization=$(mixed "$1-a" 40) api_key=$(mixed "$1-b" 32) goog=$(mixed "$1-c" 32)
    cookie=$(mixed "$1-d" 30) amz=$(mixed "$1-e" 40) basic=$(mixed "$1-f" 24)
    query_key=$(mixed "$1-g" 30) query_token=$(mixed "$1-h" 30) query_sig=$(noise "$1-i" 40)
    password=$(mixed "$1-j" 16) client_secret=$(mixed "$1-k" 28) field_key=$(mixed "$1-l" 28)
    openai=sk-proj-$(mixed "$1-m" 40) anthropic=sk-ant-api03-$(mixed "$1-n" 40)
    aws=AKIA$(mixed "$1-o" 40 | tr '[:lower:]' '[:upper:]' | tr -d '0189' | cut -c 1-16)
    github=ghp_$(mixed "$1-p1" 18)$(mixed "$1-p2" 18) slack=xoxb-123456789012-$(mixed "$1-q" 24)
    google=AIza$(mixed "$1-r" 35) refresh=$(mixed "$1-s" 30) form_secret=$(mixed "$1-t" 30)
    jwt=eyJ$(mixed "$1-u" 30).eyJ$(mixed "$1-v" 30).$(mixed "$1-w" 36)
    pem_line=$(mixed "$1-x" 40)
}
all() {
    printf '%s\n' "$authorization" "$api_key" "$goog" "$cookie" "$amz" "$basic" \
        "$query_key" "$query_token" "$query_sig" "$password" "$client_secret" "$field_key" \
        "$openai" "$anthropic" "$aws" "$github" "$slack" "$google" "$refresh" \
        "$form_secret" "$jwt" "$pem_line"
}
ask() {
    cat >asked <<JSON
{"password":"$password","client_secret":"$client_secret","nested":[{"api_key":"$field_key"}],
 "messages":[{"role":"user","content":"my keys are $openai and $anthropic, $aws; $github"},
 {"role":"user","content":"slack $slack google $google jwt $jwt"},
 {"role":"user","content":"-----BEGIN PRIVATE KEY-----\\n$pem_line\\n-----END PRIVATE KEY-----"}]}
JSON
    send POST "/all?api_key=$query_key&access_token=$query_token&X-Amz-Signature=$query_sig" \
        asked -H "Authorization: Bearer $authorization" -H "X-Api-Key: $api_key" \
        -H "X-Goog-Api-Key: $goog" -H "Cookie: session=$cookie" \
        -H "X-Amz-Security-Token: $amz"
    send POST /form - -H "Authorization: Basic $basic" \
        -H 'Content-Type: application/x-www-form-urlencoded' \
        -d "grant_type=refresh_token&refresh_token=$refresh&client_secret=$form_secret"
}

credentials first
start_origin <<ORIGIN
on POST /all
reply 200 application/json
header Set-Cookie: id=$cookie; HttpOnly
body {"access_token":"$query_token","text":"use $openai","call_id":"call_$(noise id 24)"}
on POST /form
reply 200 text/plain
body key $github end
ORIGIN
start_proxy record
ask >live
stop_proxy
origin_hits 2
stop_origin
has "$openai" live
has "$github" live
all >list
[ "$(sort -u list | wc -l)" -ge 20 ] || broken 'fewer than 20 credentials'
while read -r secret; do
    absent "$secret" "$tapes" "$work"/*.log "$summary"
done <list
has "call_$(noise id 24)" "$tapes/default.jsonl"
[ "$(tape get "$tapes/default.jsonl" 1 scrubbed)" != '[]' ] || fail 'nothing was counted'

credentials rotated
start_proxy replay
ask >again
is "$(status POST "/all?api_key=$query_key" asked -H "X-Api-Key: $api_key")" 424
stop_proxy 2
counts default 2 0 1 0
all >list
while read -r secret; do
    absent "$secret" "$tapes" "$work"/*.log "$summary" "$work/body" "$work/outputs"
done <list
