noinst_LIBRARIES += libpack.a
libpack_a_SOURCES = lib/pack/pack.c lib/pack/pack.h
