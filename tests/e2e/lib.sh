# lib.sh - what every end-to-end script starts with.
#
#   . "${srcdir:-.}/tests/e2e/lib.sh"
#
# Gives a private folder $work (also the working folder), a scripted origin behind the
# names llm.test and tools.test, a proxy on a free port, and words to say what must be
# true. Ends only what it started; shows the logs when something was not true. Exit
# status: 0 it holds, 1 it does not, 77 cannot be tried here, 99 the harness is broken.
#
# RETAPE names the binary (default: ./retape of the build folder).
# shellcheck shell=sh
set -eu

: "${srcdir:=.}"
srcdir=$(cd "$srcdir" && pwd)
RETAPE=${RETAPE:-$PWD/retape}
tools=$srcdir/tests/tools
# shellcheck disable=SC2034 # for the scripts
data=$srcdir/tests/data/e2e
python=/usr/bin/python3
export PYTHONDONTWRITEBYTECODE=1

# A script that hangs is a failure, not a wait.
if [ -z "${E2E_INSIDE:-}" ]; then
    E2E_INSIDE=1 exec timeout -k 10 "${E2E_SECONDS:-120}" /bin/sh "$0" "$@"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/retape-e2e.XXXXXX") || exit 99
tapes=$work/cassettes
proxy_pid='' origin_pid='' others='' proxies=0 origins=0
unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
unset SSL_CERT_FILE CURL_CA_BUNDLE
export RETAPE_CONFIG_DIR="$work/config" LC_ALL=C

clean_up() {
    status=$?
    trap - EXIT
    for pid in $proxy_pid $origin_pid $others; do
        kill -KILL "$pid" 2>/dev/null || true
    done
    if [ "$status" -ne 0 ] && [ "$status" -ne 77 ]; then
        for log in "$work"/*.log; do
            [ -s "$log" ] || continue
            printf -- '--- %s\n' "$(basename "$log")"
            tail -n 40 "$log" | cut -c 1-600
        done
    fi >&2
    cd /
    if [ -n "${E2E_KEEP:-}" ]; then
        printf 'kept %s\n' "$work" >&2
    else
        rm -rf "$work"
    fi
    exit "$status"
}
trap clean_up EXIT
trap 'echo "interrupted, or longer than ${E2E_SECONDS:-120} s" >&2; exit 99' INT TERM HUP
trap 'exec >/dev/null 2>&1; exit 99' PIPE # nobody reads what we say: still clean up

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
skip() { printf 'skipped: %s\n' "$*" >&2; exit 77; }
broken() { printf 'harness: %s\n' "$*" >&2; exit 99; }

[ -x "$RETAPE" ] || broken "no binary at $RETAPE (set RETAPE)"
cd "$work"

#--- origin -------------------------------------------------------------------------

# start_origin [stranger] < SCRIPT: certificates once, then the origin. `stranger` gives
# it a certificate that nobody trusts. Sets origin_port.
start_origin() {
    [ -f "$work/certs/ca.pem" ] || "$tools/make-certs.sh" "$work/certs" \
        llm.test tools.test '*.llm.test' localhost 127.0.0.1 || broken "no certificates"
    origins=$((origins + 1))
    origin_log=$work/origin-$origins.hits
    cat >"$work/origin-$origins.script"
    "$python" "$tools/origin.py" --work "$work" --ready "$work/origin-$origins.ready" \
        --log "$origin_log" --cert "$work/certs/${1:-leaf}.pem" \
        --key "$work/certs/${1:-leaf}.key" \
        <"$work/origin-$origins.script" 2>"$work/origin-$origins.log" &
    origin_pid=$!
    await "$work/origin-$origins.ready" "$origin_pid" || broken "the origin did not start"
    read -r origin_port <"$work/origin-$origins.ready"
}

stop_origin() {
    kill "$origin_pid"
    wait "$origin_pid" 2>/dev/null || true
    origin_pid=''
}

# origin_hits N: the origin was asked exactly so often.
origin_hits() {
    got=$(wc -l <"$origin_log")
    [ "$got" -eq "$1" ] || fail "origin was asked $got times, expected $1"
}

#--- proxy --------------------------------------------------------------------------

# start_proxy MODE ARGS...: on a free port, with the origin behind its names unless it
# replays. Sets proxy (HOST:PORT), proxy_pid, proxy_log and ca.
start_proxy() {
    mode=$1
    shift
    proxies=$((proxies + 1))
    proxy_log=$work/proxy-$proxies.log
    summary=$work/summary-$proxies.json
    [ "$mode" = replay ] || set -- --upstream-ca "$work/certs/ca.pem" \
        --resolve "llm.test:443:127.0.0.1:$origin_port" \
        --resolve "llm.test:80:127.0.0.1:$origin_port" \
        --resolve "tools.test:443:127.0.0.1:$origin_port" "$@"
    ca=$("$RETAPE" ca path) || fail "retape ca path"
    ${UNDER:-} "$RETAPE" "$mode" --listen 127.0.0.1:0 --cassettes "$tapes" \
        --ready-file "$work/proxy-$proxies.ready" --summary-file "$summary" \
        "$@" >"$work/proxy-$proxies.out" 2>"$proxy_log" &
    proxy_pid=$!
    await "$work/proxy-$proxies.ready" "$proxy_pid" || fail "retape $mode did not start"
    read -r proxy <"$work/proxy-$proxies.ready"
}

# Ask the proxy to end and wait for it: sets proxy_status. Any status but the expected
# one (default 0) is a failure.
stop_proxy() {
    kill -TERM "$proxy_pid" 2>/dev/null || true
    wait_proxy "${1:-0}"
}

wait_proxy() {
    proxy_status=0
    wait "$proxy_pid" || proxy_status=$?
    proxy_pid=''
    [ "$proxy_status" -eq "$1" ] || fail "retape ended with $proxy_status, expected $1"
}

# start_fails STATUS WORDS MODE ARGS...: a proxy that must not start, and says why.
start_fails() {
    want=$1 words=$2
    shift 2
    got=0
    timeout 20 "$RETAPE" "$@" >"$work/refused.out" 2>"$work/refused.log" || got=$?
    [ "$got" -eq "$want" ] || fail "retape $* ended with $got, expected $want"
    has "$words" "$work/refused.log"
}

#--- clients ------------------------------------------------------------------------

# send METHOD PATH BODYFILE CURL-ARGS...: through the proxy to https://llm.test, the
# body of the answer on stdout. BODYFILE - sends none; an absolute URL may stand for PATH.
send() {
    method=$1 target=$2 file=$3
    shift 3
    case $target in /*) target=https://llm.test$target ;; esac
    [ "$file" = - ] || set -- --data-binary "@$file" -H 'Content-Type: application/json' "$@"
    case $method in
    HEAD) set -- -I "$@" ;;
    *) set -- -X "$method" "$@" ;;
    esac
    curl -sS --max-time 30 --cacert "$ca" --proxy "http://$proxy" "$@" "$target"
}

# The same, and only the status is printed; the body goes to $work/body.
status() { send "$@" -o "$work/body" -w '%{http_code}'; }

# Straight to the proxy's own origin.
own() {
    target=$1
    shift
    curl -sS --max-time 30 "$@" "http://$proxy$target"
}

raw() { "$python" "$tools/rawhttp.py" "$@"; }
# raw_tls: through CONNECT and TLS to llm.test.
raw_tls() { raw "$proxy" --connect llm.test:443 --tls llm.test --ca "$ca" "$@"; }

#--- words --------------------------------------------------------------------------

await() { "$python" "$tools/await.py" "$@"; }
go() { for name in "$@"; do : >"$work/$name.go"; done; }

# is GOT WANT WHAT
is() { [ "$1" = "$2" ] || fail "${3:-value}: got '$1', expected '$2'"; }
same() { cmp "$1" "$2" || fail "$1 and $2 differ"; }
has() { grep -qF -- "$1" "$2" || fail "'$1' is not in $(basename "$2")"; }
hasnt() { ! grep -qF -- "$1" "$2" || fail "'$1' is in $(basename "$2")"; }
# absent STRING DIR...: in no file, under no name.
absent() {
    string=$1
    shift
    if grep -rlF -- "$string" "$@" || find "$@" -name "*$string*" | grep -q .; then
        fail "'$string' is on disk"
    fi >&2
}

tape() { "$python" "$tools/tape.py" "$@"; }
pick() { "$python" "$tools/pick.py" "$@"; }
tape_is() { is "$(tape get "$tapes/$1.jsonl" "$2" "$3")" "$4" "$1 exchange $2 $3"; }
tape_count() { is "$(tape count "$tapes/$1.jsonl")" "$2" "exchanges in $1"; }
summary_is() { is "$(pick "$summary" "$1")" "$2" "summary $1"; }
# counts SESSION EXACT NORMALISED MISS UNUSED
counts() {
    session=$1
    for name in exact normalised miss unused; do
        shift
        summary_is "sessions.session=$session.$name" "$1"
    done
}
