/*
 * excerpt.h - short and harmless pieces of text that somebody else wrote.
 *
 * Bodies, keys and URLs come from outside and end up in miss reports and on terminals:
 * here they are cut to what a person reads, kept valid UTF-8 and valid JSON, and their
 * control characters are shown instead of sent.
 *
 * Threads: any. Nothing is kept.
 */
#ifndef TAPE_EXCERPT_H
#define TAPE_EXCERPT_H

#include "base/buf.h"

#include <stddef.h>

#define EXCERPT_MAX 200 /* bytes of one excerpt, as JSON text */

/* Append a JSON string of at most EXCERPT_MAX bytes that shows s: whole when it fits,
 * else the part around byte `at` with an ellipsis where it was cut. Bytes that are not
 * UTF-8 become U+FFFD. */
void excerpt_json(struct buf *out, const char *s, size_t len, size_t at);

/* Append the first `most` bytes of s, never half a character, with an ellipsis when it
 * was cut. Bytes that are not UTF-8 become U+FFFD. */
void excerpt_head(struct buf *out, const char *s, size_t len, size_t most);

/* Append s for a terminal: everything but line ends, tabs and printable UTF-8 is written
 * as \xNN, so that no recorded byte can move a cursor or set a title. */
void excerpt_plain(struct buf *out, const char *s, size_t len);

/* How many bytes a and b have in common at their start. */
size_t excerpt_common(const char *a, size_t a_len, const char *b, size_t b_len);

#endif
