/*
 * pairs.h - queries and URL-encoded forms as sorted lists of name and value.
 *
 * Read as the URL standard reads application/x-www-form-urlencoded: split at `&`, then
 * at the first `=`; `+` is a space; empty pieces do not count; no `=` is an empty value.
 *
 * Threads: any.
 */
#ifndef TAPE_PAIRS_H
#define TAPE_PAIRS_H

#include "base/buf.h"

/* Is a decoded name of no account? */
typedef bool pairs_skip_fn(void *ctx, const char *name, size_t len);

/*
 * Append [[name,value],...] sorted by the bytes of name, then value, equal pairs kept;
 * bytes that are no UTF-8 as json_bytes() writes them. False when there are more than
 * LIMIT_PAIRS pairs: out is as it was.
 */
bool pairs_canonical(const char *text, size_t len, pairs_skip_fn *skip, void *ctx,
                     struct buf *out);

#endif
