#!/bin/sh
# The command finds the proxy, the trust and the run in its environment, and `retape env`
# prints the same for a proxy started by hand.
. "${srcdir:-.}/tests/e2e/lib.sh"

NO_PROXY=corp.example "$RETAPE" record --cassettes "$tapes" --allow-empty --session run-9 \
    --run-id id-1 --seed 42 --base-urls -- env >vars 2>record.log || fail "record ended with $?"
value() { sed -n "s/^$1=//p" vars; }

origin=$(value RETAPE_URL)
echo "$origin" | grep -Eq '^http://127\.0\.0\.1:[0-9]+$' || fail "RETAPE_URL '$origin'"
is "$(value RETAPE_ORACLE_URL)" "$origin/oracle"
is "$(value RETAPE_RUN_ID)" id-1
is "$(value RETAPE_SESSION)" run-9
is "$(value RETAPE_SEED)" 42
for name in HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy; do
    value $name | grep -Eq '^http://([^@]*@)?127\.0\.0\.1:' || fail "$name"
done
is "$(value NO_PROXY)$(value no_proxy)" ''
has corp.example record.log
bundle=$(value SSL_CERT_FILE)
for name in REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO AWS_CA_BUNDLE \
    CARGO_HTTP_CAINFO PIP_CERT npm_config_cafile DENO_CERT GRPC_DEFAULT_SSL_ROOTS_FILE_PATH; do
    is "$(value $name)" "$bundle" $name
done
is "$(value NODE_EXTRA_CA_CERTS)" "$("$RETAPE" ca path)"
is "$(value NODE_USE_ENV_PROXY)" 1
for name in OPENAI_BASE_URL ANTHROPIC_BASE_URL GOOGLE_GEMINI_BASE_URL; do
    case $(value $name) in "$origin"/*) ;; *) fail "$name" ;; esac
done

"$RETAPE" env --shell sh >env.sh
"$RETAPE" env --shell json >env.json
"$RETAPE" env --shell fish >env.fish
pick env.json HTTPS_PROXY | grep -q '^http://127.0.0.1:8080' || fail 'env: HTTPS_PROXY'
is "$(sh -c '. ./env.sh; echo $SSL_CERT_FILE')" "$(pick env.json SSL_CERT_FILE)"
has 'set -gx HTTPS_PROXY' env.fish
