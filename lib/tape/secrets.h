/*
 * secrets.h - what credentials look like: rules as data, and the scanner over them.
 *
 * A rule has a name, a keyword that must be near (found first, with one pass over the
 * text), the exact shape, and where needed a least entropy, so that ordinary words
 * that merely resemble a credential do not fire. Shared by the recorder's scrubber
 * and the bundler's secret scan.
 *
 * Threads: any; the built-in table is constant.
 */
#ifndef TAPE_SECRETS_H
#define TAPE_SECRETS_H

#include "base/err.h"

#include <stddef.h>

struct secrets;

/* One find: bytes [at, at+len) of the scanned text are the credential itself. */
struct secret_hit {
    size_t at, len;
    const char *rule; /* lives as long as the rule set */
};

/* The built-in rules plus extra ones (name, POSIX extended regex). */
struct secrets_extra {
    const char *name, *regex;
};
int secrets_new(struct secrets **out, const struct secrets_extra *extra, size_t n_extra,
                struct err *e) MUST_CHECK;
void secrets_free(struct secrets **s);

size_t secrets_count(const struct secrets *s);
const char *secrets_name(const struct secrets *s, size_t i);

/* The next find at or after `from`; returns 0 and fills *hit, or -1 when there is
 * none. Text may hold any bytes; finds do not overlap. */
int secrets_next(const struct secrets *s, const char *text, size_t len, size_t from,
                 struct secret_hit *hit);

#endif
