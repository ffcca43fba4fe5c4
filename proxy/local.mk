# Everything but main is a library, so that unit tests can link it.
noinst_LIBRARIES += libproxy.a
libproxy_a_SOURCES = \
	proxy/ca_verb.c \
	proxy/child.c proxy/child.h \
	proxy/compare.c proxy/compare.h \
	proxy/conffile.c proxy/conffile.h \
	proxy/config.c proxy/config.h \
	proxy/conn.c proxy/conn.h \
	proxy/control.c proxy/control.h \
	proxy/diff.c \
	proxy/doctor.c \
	proxy/env_verb.c \
	proxy/exhibit.c proxy/exhibit.h \
	proxy/flow.c proxy/flow.h proxy/flow_internal.h proxy/flow_live.c \
	proxy/gate.c proxy/gate.h \
	proxy/listener.c proxy/listener.h \
	proxy/misses.c proxy/misses.h \
	proxy/options.c proxy/options.h \
	proxy/packed.c proxy/packed.h \
	proxy/page.c proxy/page.h \
	proxy/pairing.c proxy/pairing.h \
	proxy/place.c proxy/place.h \
	proxy/record.c proxy/record.h \
	proxy/relay.c proxy/relay.h \
	proxy/replay.c proxy/replay.h \
	proxy/run.c \
	proxy/serve.c proxy/serve.h \
	proxy/session.c proxy/session.h \
	proxy/shared.h proxy/verbs.h \
	proxy/shelf.c proxy/shelf.h \
	proxy/show.c \
	proxy/summary.c proxy/summary.h \
	proxy/target.c proxy/target.h \
	proxy/textcheck.c proxy/textcheck.h \
	proxy/tls.c proxy/tls.h \
	proxy/tunnel.c proxy/tunnel.h \
	proxy/worker.c proxy/worker.h

bin_PROGRAMS += retape
retape_SOURCES = proxy/main.c

