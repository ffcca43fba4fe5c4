noinst_LIBRARIES += libtape.a
libtape_a_SOURCES = \
	lib/tape/base64.c lib/tape/base64.h \
	lib/tape/blobs.c lib/tape/blobs.h \
	lib/tape/body.c lib/tape/body.h \
	lib/tape/canon.c lib/tape/canon.h \
	lib/tape/cassette.c lib/tape/cassette.h \
	lib/tape/decode.c lib/tape/decode.h \
	lib/tape/delta.c lib/tape/delta.h \
	lib/tape/excerpt.c lib/tape/excerpt.h \
	lib/tape/exchange.c lib/tape/exchange.h \
	lib/tape/headdiff.c lib/tape/headdiff.h \
	lib/tape/jsondiff.c lib/tape/jsondiff.h \
	lib/tape/jsonrpc.c lib/tape/jsonrpc.h \
	lib/tape/jsontree.c lib/tape/jsontree.h \
	lib/tape/line.h \
	lib/tape/line_read.c \
	lib/tape/line_write.c \
	lib/tape/match.c lib/tape/match.h \
	lib/tape/miss.c lib/tape/miss.h \
	lib/tape/multipart.c lib/tape/multipart.h \
	lib/tape/nearest.c lib/tape/nearest.h \
	lib/tape/pairs.c lib/tape/pairs.h \
	lib/tape/pointer.c lib/tape/pointer.h \
	lib/tape/scrub.c lib/tape/scrub.h \
	lib/tape/scrub_body.c lib/tape/scrub_body.h \
	lib/tape/scrub_edit.c lib/tape/scrub_edit.h \
	lib/tape/scrub_find.c lib/tape/scrub_find.h \
	lib/tape/scrub_json.c lib/tape/scrub_json.h \
	lib/tape/scrub_names.c lib/tape/scrub_names.h \
	lib/tape/scrub_stream.c lib/tape/scrub_stream.h \
	lib/tape/secret_filter.c lib/tape/secret_filter.h \
	lib/tape/secret_forms.c lib/tape/secret_forms.h \
	lib/tape/secret_rules.c lib/tape/secret_rules.h \
	lib/tape/secret_scan.h \
	lib/tape/secret_shape.c lib/tape/secret_shape.h \
	lib/tape/secrets.c lib/tape/secrets.h \
	lib/tape/tape.c lib/tape/tape.h
