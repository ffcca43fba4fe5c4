noinst_LIBRARIES += libnet.a
libnet_a_SOURCES = \
	lib/net/fetch.c lib/net/fetch.h \
	lib/net/guard.c lib/net/guard.h \
	lib/net/httpd.c lib/net/httpd.h lib/net/httpd_internal.h lib/net/httpd_request.c \
	lib/net/leave.c lib/net/leave.h \
	lib/net/loop.c lib/net/loop.h \
	lib/net/fetch_once.c lib/net/fetch_once.h \
	lib/net/refusal.c lib/net/refusal.h
