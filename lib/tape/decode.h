/*
 * decode.h - undo Content-Encoding on the recorder's copy of a body.
 *
 * gzip, x-gzip, deflate (with and without its zlib header), br, zstd, identity, and
 * lists of them. Works piece by piece, so that the boundaries of a streamed body are
 * known in decoded bytes.
 *
 * Owns:    decode_new() hands out a decoder; decode_free() frees it.
 * Threads: as its owner.
 */
#ifndef TAPE_DECODE_H
#define TAPE_DECODE_H

#include "base/buf.h"

#include <stdbool.h>

struct decode;

/* True when every coding of the list is one we undo. NULL or "" is true. */
bool decode_knows(const char *content_encoding);
int decode_new(struct decode **out, const char *content_encoding,
               struct err *e) MUST_CHECK;
/* Append what these bytes decode to. ERR_FORMAT when they are broken. */
int decode_feed(struct decode *d, const void *data, size_t len, struct buf *out,
                struct err *e) MUST_CHECK;
/* ERR_FORMAT when the encoded stream has not reached its end. */
int decode_end(struct decode *d, struct err *e) MUST_CHECK;
void decode_free(struct decode **d);

/* One call for a whole body. */
int decode_all(const char *content_encoding, const void *data, size_t len,
               struct buf *out, struct err *e) MUST_CHECK;

#endif
