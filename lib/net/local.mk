noinst_LIBRARIES += libnet.a
libnet_a_SOURCES = \
	lib/net/fetch.c lib/net/fetch.h \
	lib/net/guard.c lib/net/guard.h \
	lib/net/httpd.c lib/net/httpd.h \
	lib/net/leave.c lib/net/leave.h \
	lib/net/loop.c lib/net/loop.h \
	lib/net/probe.c lib/net/probe.h \
	lib/net/refusal.c lib/net/refusal.h
