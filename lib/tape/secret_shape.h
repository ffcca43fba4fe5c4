/*
 * secret_shape.h - the small language in which credential shapes are written.
 *
 *   text        itself; a '/' also matches the JSON escape "\/"
 *   [abc]       one byte of the set
 *   %d ...      one byte of a class: d digit, x hex in lower case, X hex, a letter or
 *               digit, l lower case or digit, U upper case or digit, B base32,
 *               u letter digit '-' '_', v the same and '.', b base64, s base64 without
 *               '=', t token68 (RFC 9110 section 11.2), q letter digit '/',
 *               p percent-encoded text, g what stands between a name and its value
 *   {n} {n,} {n,m}  how often the class or set before it
 *   ^           the credential begins here; what stands before is context
 *
 * Matching is greedy and never goes back, so the cost is the length of the match.
 *
 * Threads: any; pure functions.
 */
#ifndef TAPE_SECRET_SHAPE_H
#define TAPE_SECRET_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

struct secret_span {
    size_t at, end;
};

/* Match a shape at text[at]; *out is the credential itself (from '^' on). */
bool secret_shape_match(const char *shape, bool nocase, const char *text, size_t len,
                        size_t at, struct secret_span *out);

/* Does position `pos` of the shape accept byte c? Every shape has at least four fixed
 * positions, which is what the fast filter looks for; beyond the fixed ones, any byte
 * may stand. */
bool secret_shape_accepts(const char *shape, bool nocase, unsigned pos, unsigned char c);

/* A class letter, as above. */
bool secret_shape_in_class(char class, unsigned char c);

/* No word byte before text[at]: start of text, punctuation, or the end of an escape
 * such as \n, \u00e9 or %20. */
bool secret_shape_edge_before(const char *text, size_t at);
/* No word byte at text[end]. */
bool secret_shape_edge_after(const char *text, size_t len, size_t end);

/* How random a text looks. */
struct secret_texture {
    size_t digits;
    size_t run;  /* longest stretch without '-', '_' and '.' */
    double bits; /* Shannon entropy per byte */
    bool mixed;  /* a capital right after a small letter */
};
void secret_shape_texture(const char *text, size_t len, struct secret_texture *out);

#endif
