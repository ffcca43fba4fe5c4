noinst_LIBRARIES += libcerts.a
libcerts_a_SOURCES = \
	certs/ca.c certs/ca.h \
	certs/issue.c certs/issue.h \
	certs/mint.c certs/mint.h \
	certs/trust.c certs/trust.h
