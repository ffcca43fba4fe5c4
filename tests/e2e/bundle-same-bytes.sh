#!/bin/sh
# The same inputs give the same bytes: a second time, in another folder, under another
# umask, time zone, locale and user's names, from files of another age and mode.
. "${srcdir:-.}/tests/e2e/bundles.sh"

mkdir -p one/cassettes/deep one/files
printf '{"n":1}\n' >one/trace.jsonl
printf 'suite: s\n' >one/eval.yaml
printf '{"run_id":"r1","results":[{"test_id":"t1","status":"pass"}],"order_seed":"7"}' >one/run.json
printf '{}' >one/cassettes/deep/b.json
printf '{}' >one/cassettes/a.json
: >one/cassettes/.gitkeep
mkdir -p elsewhere/other
cp -r one elsewhere/other/one
find elsewhere -exec touch -d 2001-02-03 {} +
chmod 600 elsewhere/other/one/trace.jsonl
chmod 755 elsewhere/other/one/eval.yaml

make() { # OUT FLAGS...: from ./one
    output=$1
    shift
    bundle 0 create --from one --run-id r1 --output "$output" --json "$@"
}
label='a second time'
make "$work/1.tar.gz" --reproducible
make "$work/2.tar.gz" --reproducible
same "$work/1.tar.gz" "$work/2.tar.gz"

label='elsewhere'
(
    cd elsewhere/other
    umask 077
    TZ=Pacific/Auckland LC_ALL=C.UTF-8 HOME=/nowhere USER=nobody CI=1 GITHUB_RUN_ID=9
    export TZ LC_ALL HOME USER CI GITHUB_RUN_ID
    make "$work/3.tar.gz" --reproducible
)
same "$work/1.tar.gz" "$work/3.tar.gz"
manifest_of "$work/3.tar.gz" >manifest
for key in created_at toolchain git_ workflow_run_id '"env"' "$work"; do hasnt "$key" manifest; done

label='a given time'
make "$work/4.tar.gz" --created-at 2026-02-06T10:11:12Z
make "$work/5.tar.gz" --created-at 2026-02-06T10:11:12Z
same "$work/4.tar.gz" "$work/5.tar.gz"
SOURCE_DATE_EPOCH=1770372672
export SOURCE_DATE_EPOCH
make "$work/6.tar.gz"
make "$work/7.tar.gz"
same "$work/6.tar.gz" "$work/7.tar.gz"
manifest_of "$work/6.tar.gz" >manifest
case $(pick manifest created_at) in 2026-02-06T10:11:12*) ;; *) fail "SOURCE_DATE_EPOCH: $(cat manifest)" ;; esac
hasnt "$work" manifest
label='a time that is none'
SOURCE_DATE_EPOCH=yesterday bundle 2 create --from one --run-id r1 --output "$work/8.tar.gz"
bundle 2 create --from one --run-id r1 --output "$work/8.tar.gz" --created-at yesterday
[ ! -e "$work/8.tar.gz" ] || fail "$label"

case_ '2 and 3: members in order of their bytes, whatever the order they are given in'
printf '{}' >z.json
printf '[]' >a.jsonl
mkdir tapes
printf '{}' >tapes/m.json
unset SOURCE_DATE_EPOCH
for order in '--file z.json=outputs/z.json --file a.jsonl=files/a.jsonl' \
    '--file a.jsonl=files/a.jsonl --file z.json=outputs/z.json'; do
    # shellcheck disable=SC2086 # words
    bundle 0 create --run-id o --reproducible --output o.tar.gz --trace a.jsonl --cassettes tapes $order
    is "$(members o.tar.gz)" 'manifest.json cassettes/m.json files/a.jsonl outputs/z.json' "$label"
    [ ! -e first ] || same first o.tar.gz
    mv o.tar.gz first
done
