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
	tests/unit/test-env-verb \
	tests/unit/test-json \
	tests/unit/test-jsondiff \
	tests/unit/test-jsonrpc \
	tests/unit/test-match \
	tests/unit/test-mint \
	tests/unit/test-miss \
	tests/unit/test-options \
	tests/unit/test-tape \
	tests/unit/test-trust

check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
