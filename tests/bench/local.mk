EXTRA_PROGRAMS += tests/bench/load
tests_bench_load_SOURCES = tests/bench/load.c
CLEANFILES += tests/bench/load
EXTRA_DIST += \
	tests/bench/bench.py tests/bench/bundles.py tests/bench/chat.py tests/bench/idle.py \
	tests/bench/make_cassette.py tests/bench/pace.py tests/bench/peers.py tests/bench/run.sh \
	tests/bench/servers.py

bench: $(bin_PROGRAMS) tests/bench/load
	RETAPE=$(abs_builddir)/retape LOAD=$(abs_builddir)/tests/bench/load \
		$(srcdir)/tests/bench/run.sh
