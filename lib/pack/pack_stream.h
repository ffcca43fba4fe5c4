/*
 * pack_stream.h - the tar stream of an archive, inflated ahead on a thread of its own.
 *
 * The thread reads the descriptor to its end, digests the compressed bytes and the
 * inflated ones, and keeps a few blocks ready. Trailing bytes behind the gzip member are
 * read and digested, not looked at.
 *
 * Owns:    the descriptor stays the caller's. Bytes handed out live until the next call.
 * Threads: all calls from one; the thread inside ends in finish or close.
 */
#ifndef PACK_PACK_STREAM_H
#define PACK_PACK_STREAM_H

#include "pack/pack_fault.h"

struct pack_stream;

int pack_stream_open(struct pack_stream **out, int fd, uint64_t max_source,
                     uint64_t max_decoded, struct err *e) MUST_CHECK;
/* 1 with bytes (never none), 0 at the end of a whole gzip member, -1 refused. */
int pack_stream_next(struct pack_stream *s, const uint8_t **data, size_t *len,
                     struct pack_fault *f) MUST_CHECK;
/* Read on to the end of the file without inflating more; no next after this. -1 when
 * that goes over the source limit or fails. */
int pack_stream_finish(struct pack_stream *s, struct pack_digests *out,
                       struct pack_fault *f) MUST_CHECK;
void pack_stream_close(struct pack_stream **s);

#endif
