/*
 * base64.h - RFC 4648 section 4 base64, strict: padded, no line breaks, spare bits zero.
 *
 * One text for the same bytes, so that a cassette written twice is the same file.
 *
 * Threads: any.
 */
#ifndef TAPE_BASE64_H
#define TAPE_BASE64_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

void base64_encode(struct buf *out, const void *data, size_t len);

/* True when the text is base64 as above; *size is then what it decodes to. */
bool base64_check(const char *text, size_t len, size_t *size);

/* Append bytes [skip, skip+take) of what the text decodes to. The text is checked and
 * the range inside it; anything else is left out and the result false. */
bool base64_decode(const char *text, size_t len, size_t skip, size_t take,
                   struct buf *out);

#endif
