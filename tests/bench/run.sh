#!/bin/sh
# run.sh - the benchmark table; `make bench` calls it. See bench.py for the settings.
#
#   RETAPE=path/to/retape LOAD=path/to/load tests/bench/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
RETAPE=${RETAPE:-./retape}
LOAD=${LOAD:-tests/bench/load}

for tool in python3 nginx wrk openssl taskset; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "bench: $tool is missing; ./bootstrap bench installs what is needed" >&2
        exit 1
    }
done
[ -e /usr/lib/nginx/modules/ngx_http_echo_module.so ] || {
    echo "bench: nginx's echo module is missing (libnginx-mod-http-echo)" >&2
    exit 1
}

work=$(mktemp -d "${TMPDIR:-/tmp}/retape-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

sh "$here/../tools/make-certs.sh" "$work/certs" bench.test
mkdir "$work/cassettes"
export PYTHONDONTWRITEBYTECODE=1
python3 "$here/make_cassette.py" hits "$work"
mv "$work/hits.jsonl" "$work/cassettes/"
status=0
python3 "$here/bench.py" "$RETAPE" "$LOAD" "$work" || status=$?
[ "$status" -eq 0 ] || tail -n 20 "$work"/*.log >&2
exit "$status"
