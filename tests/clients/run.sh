#!/bin/sh
# run.sh - clients nobody here wrote, recorded and replayed; `make check-clients` calls it.
#
# Every client runs once against live servers of the loopback through `retape record`,
# then all servers are stopped, and it runs again through `retape replay --fail-unused`:
# what it prints must be the same. The Node clients are installed with npm as
# package-lock.json says; without Node >= 20 or npm they are skipped, loudly.
#
#   RETAPE=path/to/retape tests/clients/run.sh [client...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tools=$here/../tools
RETAPE=${RETAPE:-./retape}
RETAPE=$(cd "$(dirname "$RETAPE")" && pwd)/$(basename "$RETAPE")
PYTHON=${PYTHON:-/usr/bin/python3}
[ -x "$PYTHON" ] || PYTHON=python3

web_clients="curl urllib requests httpx aiohttp"
node_clients="openai anthropic genai undici"
clients=${*:-$web_clients git $node_clients}

work=$(mktemp -d "${TMPDIR:-/tmp}/retape-clients.XXXXXX")
pids=
passed=0 failed=0 skipped=0

stop_servers() {
    for pid in $pids; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    pids=
}
cleanup() {
    stop_servers
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

ok() { passed=$((passed + 1)) && echo "ok - $1"; }
skip() { skipped=$((skipped + 1)) && echo "skip - $1"; }
not_ok() { # what, then files to show
    failed=$((failed + 1))
    echo "not ok - $1"
    shift
    for file in "$@"; do
        [ -s "$file" ] && head -c 3000 "$file" | awk '{ print "    " $0 }'
    done
    return 0
}
wants() {
    for wanted in $clients; do
        [ "$wanted" = "$1" ] && return 0
    done
    return 1
}

# ---- servers

started() { # name, of the process just put in the background
    pids="$pids $!"
    "$PYTHON" "$tools/await.py" "$work/$1.ready" "$!" || {
        echo "clients: the $1 server did not start" >&2
        cat "$work/$1.log" >&2
        exit 1
    }
}

start_web() {
    {
        printf 'on GET /json\nreply 200 application/json\nbody {"answer":42,"name":"caf\303\251"}\n'
        printf 'on GET /gzip\nreply 200 application/json\nbody {"packed":true}\ngzip\n'
        printf 'on GET /missing\nreply 404 text/plain\nbody not here\n'
        printf 'on POST /echo\nreply 200 application/octet-stream\necho\n'
        printf 'on GET /stream\nreply 200 text/event-stream\n'
        printf 'chunk data: {"delta":"on"}\\n\\nda\npause 5ms\nchunk ta: {"delta":"e"}\\n\\n\n'
        for n in $(seq 100); do # a different answer each time
            printf 'on GET /count\nreply 200 text/plain\nbody %d\n' "$n"
        done
    } >"$work/web.script"
    "$PYTHON" "$tools/origin.py" --work "$work" --ready "$work/web.ready" \
        --log "$work/web.requests" --cert "$work/certs/leaf.pem" --key "$work/certs/leaf.key" \
        <"$work/web.script" >"$work/web.log" 2>&1 &
    started web
}

start_git() {
    git init -q -b main "$work/tree"
    (
        cd "$work/tree"
        seq 5000 >readme
        git add readme
        git -c user.name=t -c user.email=t@web.test commit -q -m first
        seq 5001 9000 >>readme
        git -c user.name=t -c user.email=t@web.test commit -q -a -m second
    )
    mkdir "$work/git"
    git clone -q --bare "$work/tree" "$work/git/repo.git"
    "$PYTHON" "$here/git_server.py" "$work/git" "$work/certs/leaf.pem" "$work/certs/leaf.key" \
        "$work/git.ready" >"$work/git.log" 2>&1 &
    started git
}

start_models() {
    node "$here/upstream.mjs" "$work/certs/leaf.pem" "$work/certs/leaf.key" \
        "$work/models.ready" >"$work/models.log" 2>&1 &
    started models
}

port() { cat "$work/$1.ready" 2>/dev/null || echo 1; }

# ---- the Node packages

have_node() {
    command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || return 1
    [ "$(node -p 'parseInt(process.versions.node)')" -ge 20 ]
}

install_packages() {
    cmp -s "$here/package-lock.json" "$here/node_modules/.installed" && return 0
    echo "# npm ci"
    if (cd "$here" && npm ci --no-progress) >"$work/npm.log" 2>&1; then
        cp "$here/package-lock.json" "$here/node_modules/.installed"
    else
        sed 's/^/    /' "$work/npm.log"
        return 1
    fi
}

drop_node_clients() { # why
    remaining=
    for client in $clients; do
        case " $node_clients " in
        *" $client "*) skip "$client: $1" ;;
        *) remaining="$remaining $client" ;;
        esac
    done
    clients=$remaining
}

# ---- running a client

command_of() {
    case $1 in
    curl | git) echo "sh $here/$1.sh" ;;
    openai | anthropic | genai | undici) echo "node $here/$1.mjs" ;;
    *) echo "$PYTHON $here/web.py $1" ;;
    esac
}

# retape MODE SESSION [option...]: runs the client of that session.
run() {
    mode=$1 session=$2
    shift 2
    # shellcheck disable=SC2046 # a command of several words
    timeout 120 "$RETAPE" "$mode" --cassettes "$work/cassettes" --session "$session" \
        --output "$work/outputs" "$@" -- $(command_of "${session%%-*}")
}

record() { # session [option...]
    session=$1
    shift
    status=0
    CLIENT_KEY=sk-proj-clientsRecordedKey0123456789abcdefABCDEF \
        run record "$session" --upstream-ca "$work/certs/ca.pem" \
        --resolve "web.test:443:127.0.0.1:$(port web)" \
        --resolve "web.test:80:127.0.0.1:$(port web)" \
        --resolve "git.test:443:127.0.0.1:$(port git)" \
        --resolve "api.openai.com:443:127.0.0.1:$(port models)" \
        --resolve "api.anthropic.com:443:127.0.0.1:$(port models)" \
        --resolve "generativelanguage.googleapis.com:443:127.0.0.1:$(port models)" \
        "$@" >"$work/$session.recorded" 2>"$work/$session.record.log" || status=$?
    case $status in
    0) ok "$session: records" ;;
    77) skip "$session: not installed" ;;
    *) not_ok "$session: records (exit status $status)" "$work/$session.record.log" \
        "$work/$session.recorded" ;;
    esac
    [ "$status" -eq 0 ] || rm -f "$work/$session.recorded"
}

replay() { # session, words for the way, [option...]
    session=$1 how=$2
    shift 2
    [ -e "$work/$session.recorded" ] || return 0
    status=0
    CLIENT_KEY=sk-proj-clientsReplayedKeyABCDEFabcdef9876543210 \
        run replay "$session" --fail-unused "$@" >"$work/$session.replayed" \
        2>"$work/$session.replay.log" || status=$?
    if [ "$status" -ne 0 ]; then
        not_ok "$session: replays$how (exit status $status)" "$work/$session.replay.log"
    elif cmp -s "$work/$session.recorded" "$work/$session.replayed"; then
        ok "$session: replays$how, same result"
    else
        diff "$work/$session.recorded" "$work/$session.replayed" >"$work/$session.diff" || true
        not_ok "$session: replays$how, another result" "$work/$session.diff"
    fi
}

check_cassettes() {
    for tape in "$work"/cassettes/*.jsonl; do
        [ -e "$tape" ] || continue
        if "$PYTHON" "$here/../bench/make_cassette.py" check "$tape" >"$work/check.log" 2>&1; then
            ok "$(basename "$tape"): keys and bodies check out"
        else
            not_ok "$(basename "$tape"): keys and bodies check out" "$work/check.log"
        fi
    done
    if grep -rl clientsRe "$work/cassettes" >"$work/leaks.log" 2>/dev/null; then
        not_ok "no key in any cassette" "$work/leaks.log"
    else
        ok "no key in any cassette"
    fi
}

strict_tls() {
    if "$RETAPE" record --allow-empty --cassettes "$work/strict" -- "$PYTHON" "$here/strict_tls.py" \
        >"$work/strict.out" 2>"$work/strict.log"; then
        ok "leaves pass OpenSSL's strict checks"
    else
        not_ok "leaves pass OpenSSL's strict checks" "$work/strict.log"
    fi
}

export RETAPE_CONFIG_DIR="$work/config" PYTHONDONTWRITEBYTECODE=1 GIT_CONFIG_GLOBAL=/dev/null
cd "$work"
sh "$tools/make-certs.sh" "$work/certs" web.test git.test api.openai.com api.anthropic.com \
    generativelanguage.googleapis.com

if ! have_node; then
    drop_node_clients "Node >= 20 or npm is missing"
elif ! install_packages; then
    drop_node_clients "npm could not install the packages"
fi
start_web
if wants git; then
    start_git
fi
if wants openai || wants anthropic || wants genai; then
    start_models
fi

for client in $clients; do
    record "$client"
done
if wants anthropic; then
    CLIENT_WAY=base-url record anthropic-base --base-urls
fi
stop_servers

for client in $clients; do
    replay "$client" ""
done
if wants anthropic; then
    replay anthropic-base " by proxy what came by base URL"
fi
if wants openai; then
    CLIENT_WAY=base-url replay openai " by base URL what came by proxy" --base-urls
fi
check_cassettes
strict_tls

echo "clients: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
