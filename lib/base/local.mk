noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	lib/base/buf.c lib/base/buf.h \
	lib/base/cli.c lib/base/cli.h \
	lib/base/clock.c lib/base/clock.h \
	lib/base/digest.c lib/base/digest.h \
	lib/base/err.c lib/base/err.h \
	lib/base/fsx.c lib/base/fsx.h \
	lib/base/headers.c lib/base/headers.h \
	lib/base/json.c lib/base/json.h \
	lib/base/limits.h \
	lib/base/log.c lib/base/log.h \
	lib/base/must.c lib/base/must.h \
	lib/base/program.c lib/base/program.h \
	lib/base/sha256_cpu.c lib/base/sha256_cpu.h \
	lib/base/table.c lib/base/table.h \
	lib/base/url.c lib/base/url.h
