/*
 * secret_scan.h - what scrub needs of the scanner beyond secrets.h: rule numbers, a
 * cursor over one text, and a first look that stops at anything worth a closer one.
 *
 * Threads: any; a cursor belongs to its caller.
 */
#ifndef TAPE_SECRET_SCAN_H
#define TAPE_SECRET_SCAN_H

#include "base/limits.h"
#include "tape/secrets.h"

#include <stdbool.h>

/* Called at a place where a watched shape may begin; true stops the look. */
typedef bool secret_watch_fn(const char *text, size_t len, size_t at, void *arg);

/* Like secrets_new(), with shapes of four positions (either case) that glance() watches
 * They must outlive the rule set. */
int secret_scan_new(struct secrets **out, const struct secrets_extra *extra,
                    size_t n_extra, const char *const *watch, size_t n_watch,
                    struct err *e) MUST_CHECK;

/* One pass: is there a built-in credential, or a watched place fn agrees with? User
 * patterns are not looked at. */
bool secret_scan_glance(const struct secrets *s, const char *text, size_t len,
                        secret_watch_fn *fn, void *arg);

struct secret_find {
    size_t at, len;
    size_t rule; /* as in secrets_name() */
};

/* All finds of one text, in order, without overlap. */
struct secret_scan {
    const struct secrets *s;
    const char *text;
    size_t len, from;
    struct secret_find built_in;                    /* next one, len 0 for none */
    struct secret_find extra[LIMIT_SCRUB_PATTERNS]; /* next one of each user pattern */
};

void secret_scan_start(struct secret_scan *scan, const struct secrets *s,
                       const char *text, size_t len, size_t from);
bool secret_scan_next(struct secret_scan *scan, struct secret_find *out);

#endif
