/*
 * multipart.h - multipart/form-data without its boundary, which clients draw at random.
 *
 * Canonical: a JSON array with one [[[header,value],...],"sha256 of the bytes"] for each
 * part, in order; header names in lower case. Only bodies of the plain shape of
 * RFC 2046 section 5.1.1 are read: nothing before the first boundary, nothing but one
 * line end after the last, CRLF line ends, no folded headers. Everything that counts is
 * in the result; whatever is not of that shape is left to be matched as raw bytes.
 *
 * Threads: any.
 */
#ifndef TAPE_MULTIPART_H
#define TAPE_MULTIPART_H

#include "base/buf.h"

/* Append the canonical form; false, and out as it was, when the body is not of the
 * shape. `content_type` is the whole field value. */
bool multipart_canonical(const char *content_type, const char *body, size_t len,
                         struct buf *out);

#endif
