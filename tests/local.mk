# make check: lint, unit tests, end-to-end scripts. Offline, parallel, a minute or two.
TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
AM_TESTS_ENVIRONMENT = \
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' RETAPE='$(abs_builddir)/retape'; \
	export srcdir builddir RETAPE;

LDADD = libproxy.a libbundler.a libcerts.a libdialect.a libtape.a libnet.a libpack.a \
	libbase.a $(ALL_LIBS)

unit_tests = \
	tests/unit/test-base \
	tests/unit/test-bundle \
	tests/unit/test-ca \
	tests/unit/test-ca-verb \
	tests/unit/test-canon \
	tests/unit/test-cassette \
	tests/unit/test-child \
	tests/unit/test-cli \
	tests/unit/test-config \
	tests/unit/test-decode \
	tests/unit/test-delta \
	tests/unit/test-dialect \
	tests/unit/test-digest \
	tests/unit/test-env-verb \
	tests/unit/test-extract \
	tests/unit/test-gate \
	tests/unit/test-guard \
	tests/unit/test-inspect \
	tests/unit/test-json \
	tests/unit/test-jsondiff \
	tests/unit/test-jsonrpc \
	tests/unit/test-loop \
	tests/unit/test-manifest \
	tests/unit/test-match \
	tests/unit/test-mint \
	tests/unit/test-miss \
	tests/unit/test-options \
	tests/unit/test-outputs \
	tests/unit/test-pack \
	tests/unit/test-scan \
	tests/unit/test-scan-assay \
	tests/unit/test-scrub \
	tests/unit/test-secrets \
	tests/unit/test-show \
	tests/unit/test-tape \
	tests/unit/test-target \
	tests/unit/test-trust

check_PROGRAMS += $(unit_tests)

lint_tests = \
	tests/lint/format.sh \
	tests/lint/headers.sh \
	tests/lint/layers.sh \
	tests/lint/man.sh \
	tests/lint/shell.sh \
	tests/lint/size.sh \
	tests/lint/static.sh \
	tests/lint/words.sh

e2e_tests = \
	tests/e2e/auto.sh \
	tests/e2e/bad-cassettes.sh \
	tests/e2e/bad-requests.sh \
	tests/e2e/body-limits.sh \
	tests/e2e/bundle-archive.sh \
	tests/e2e/bundle-bombs.sh \
	tests/e2e/bundle-golden.sh \
	tests/e2e/bundle-hostile.sh \
	tests/e2e/bundle-limits.sh \
	tests/e2e/bundle-other-readers.sh \
	tests/e2e/bundle-outputs.sh \
	tests/e2e/bundle-paths.sh \
	tests/e2e/bundle-replay.sh \
	tests/e2e/bundle-round-trip.sh \
	tests/e2e/bundle-safe-write.sh \
	tests/e2e/bundle-same-bytes.sh \
	tests/e2e/bundle-vcr.sh \
	tests/e2e/bundle-verify.sh \
	tests/e2e/ci-example.sh \
	tests/e2e/client-gone.sh \
	tests/e2e/command.sh \
	tests/e2e/command-environment.sh \
	tests/e2e/command-signals.sh \
	tests/e2e/config-errors.sh \
	tests/e2e/control-plane.sh \
	tests/e2e/conversations-grow-linearly.sh \
	tests/e2e/egress.sh \
	tests/e2e/encodings.sh \
	tests/e2e/foreign-names.sh \
	tests/e2e/forwarded-as-asked.sh \
	tests/e2e/full-disk.sh \
	tests/e2e/https-record-replay.sh \
	tests/e2e/jsonrpc-id.sh \
	tests/e2e/kept-alive-is-checked.sh \
	tests/e2e/kill9.sh \
	tests/e2e/large-bodies.sh \
	tests/e2e/match-ignores.sh \
	tests/e2e/match-normalised.sh \
	tests/e2e/miss-explains.sh \
	tests/e2e/offline.sh \
	tests/e2e/offline-namespace.sh \
	tests/e2e/own-address.sh \
	tests/e2e/record-never-overwrites.sh \
	tests/e2e/replay-bundle.sh \
	tests/e2e/replay-outputs.sh \
	tests/e2e/secrets.sh \
	tests/e2e/secrets-in-streams.sh \
	tests/e2e/sequence.sh \
	tests/e2e/session-names.sh \
	tests/e2e/session-without-cassette.sh \
	tests/e2e/sessions.sh \
	tests/e2e/shutdown-finishes.sh \
	tests/e2e/silent-client.sh \
	tests/e2e/slow-client-is-recorded.sh \
	tests/e2e/speed.sh \
	tests/e2e/sse-chunks-survive.sh \
	tests/e2e/stream-cut-replays-cut.sh \
	tests/e2e/token.sh \
	tests/e2e/tunnel.sh \
	tests/e2e/unwritable.sh \
	tests/e2e/upstream-ca-and-resolve.sh \
	tests/e2e/upstream-failures.sh \
	tests/e2e/verbs.sh \
	tests/e2e/ways-in.sh \
	tests/e2e/without-bodies.sh

TESTS += $(unit_tests) $(lint_tests) $(e2e_tests)
dist_check_SCRIPTS += $(lint_tests) $(e2e_tests)

# Minutes, not seconds: 200 clients for a minute, 50 times kill -9.
check-soak: $(bin_PROGRAMS)
	srcdir='$(abs_srcdir)' RETAPE='$(abs_builddir)/retape' $(srcdir)/tests/soak/run.sh

# libFuzzer targets: ./configure --enable-fuzz CC=clang; make fuzz-smoke runs each for
# FUZZ_SECONDS on its corpus.
fuzz_targets = \
	tests/fuzz/fuzz-canon \
	tests/fuzz/fuzz-config \
	tests/fuzz/fuzz-decode \
	tests/fuzz/fuzz-json \
	tests/fuzz/fuzz-jsondiff \
	tests/fuzz/fuzz-jsonrpc \
	tests/fuzz/fuzz-manifest \
	tests/fuzz/fuzz-pack \
	tests/fuzz/fuzz-scan \
	tests/fuzz/fuzz-scrub \
	tests/fuzz/fuzz-secrets \
	tests/fuzz/fuzz-tape \
	tests/fuzz/fuzz-trust

if FUZZ
noinst_PROGRAMS += $(fuzz_targets)
tests_fuzz_fuzz_canon_LDFLAGS = -fsanitize=fuzzer,address -pthread
tests_fuzz_fuzz_config_LDFLAGS = -fsanitize=fuzzer,address -pthread
tests_fuzz_fuzz_decode_LDFLAGS = -fsanitize=fuzzer,address -pthread
tests_fuzz_fuzz_json_LDFLAGS = -fsanitize=fuzzer,address -pthread
tests_fuzz_fuzz_jsondiff_LDFLAGS = -fsanitize=fuzzer,address -pthread
tests_fuzz_fuzz_jsonrpc_LDFLAGS = -fsanitize=fuzzer,address -pthread
tests_fuzz_fuzz_manifest_LDFLAGS = -fsanitize=fuzzer,address -pthread
tests_fuzz_fuzz_pack_LDFLAGS = -fsanitize=fuzzer,address -pthread
tests_fuzz_fuzz_scan_LDFLAGS = -fsanitize=fuzzer,address -pthread
tests_fuzz_fuzz_scrub_LDFLAGS = -fsanitize=fuzzer,address -pthread
tests_fuzz_fuzz_secrets_LDFLAGS = -fsanitize=fuzzer,address -pthread
tests_fuzz_fuzz_tape_LDFLAGS = -fsanitize=fuzzer,address -pthread
tests_fuzz_fuzz_trust_LDFLAGS = -fsanitize=fuzzer,address -pthread

fuzz-smoke: $(fuzz_targets)
	srcdir='$(abs_srcdir)' $(srcdir)/tests/fuzz/smoke.sh $(fuzz_targets)
else
EXTRA_PROGRAMS += $(fuzz_targets)
endif

EXTRA_DIST += tests/run-all.sh tests/lint/tool.sh tests/unit tests/e2e tests/soak tests/tools tests/data \
	tests/fuzz .ci/run

dist-hook:
	find $(distdir)/tests -name '__pycache__' -o -name '*.o' -o -name '*.log' \
		-o -name '*.trs' -o -name '.deps' -o -name '.dirstamp' | xargs rm -rf
