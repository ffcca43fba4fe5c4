noinst_LIBRARIES += libdialect.a
libdialect_a_SOURCES = lib/dialect/dialect.c lib/dialect/dialect.h
