noinst_LIBRARIES += libpack.a
libpack_a_SOURCES = \
	lib/pack/pack.c lib/pack/pack.h \
	lib/pack/pack_fault.c lib/pack/pack_fault.h \
	lib/pack/pack_names.c lib/pack/pack_names.h \
	lib/pack/pack_pax.c lib/pack/pack_pax.h \
	lib/pack/pack_read.c \
	lib/pack/pack_stream.c lib/pack/pack_stream.h \
	lib/pack/pack_tar.c lib/pack/pack_tar.h \
	lib/pack/pack_write.c
