#!/bin/sh
# What does not change a request's meaning does not change its match: order of JSON keys,
# of query parameters and of form fields, blanks, credentials, other headers.
. "${srcdir:-.}/tests/e2e/lib.sh"

start_origin <<'ORIGIN'
on POST /*
reply 200 application/json
body {"ok":true}
ORIGIN
printf '{"model":"m","n":1,"messages":[{"role":"user","content":"hi"}]}' >json
printf '{ "messages":[ {"content":"hi", "role":"user"} ],\n "n":1, "model":"\\u006d"}' >json2
form='Content-Type:application/x-www-form-urlencoded'

start_proxy record
send POST '/json?a=1&b=two%20words' json -H 'Authorization: Bearer one'
send POST /form - -H "$form" -d 'x=1&y=2'
stop_proxy
stop_origin

start_proxy replay
is "$(status POST '/json?b=two+words&a=1' json2 -H 'User-Agent: other/1')" 200 'JSON and query'
is "$(status POST /form - -H "$form" -d 'y=2&x=1')" 200 form
stop_proxy
counts default 0 2 0 0

start_proxy replay
for different in '{"model":"m","n":2,"messages":[{"role":"user","content":"hi"}]}' \
    '{"model":"m","n":1,"messages":[{"role":"user","content":"hi "}]}' \
    '{"model":"m","n":1.0,"messages":[{"role":"user","content":"hi"}]}' \
    '{"model":"m","n":"1","messages":[{"role":"user","content":"hi"}]}' \
    '{"model":"m","n":1,"messages":[{"role":"user","content":"hi"}],"x":null}'; do
    printf '%s' "$different" >other
    is "$(status POST '/json?a=1&b=two%20words' other)" 424 "$different"
done
is "$(status POST '/json?a=1&b=two' json)" 424 'other query'
is "$(status POST '/JSON?a=1&b=two%20words' json)" 424 'other path'
is "$(status PUT '/json?a=1&b=two%20words' json)" 424 'other method'
is "$(status POST 'https://tools.test/json?a=1&b=two%20words' json)" 424 'other host'
stop_proxy 2
counts default 0 0 9 2
