/*
 * scrub_names.h - credentials known by the name they stand under: header fields, JSON
 * and form fields, query parameters.
 *
 * Names compare without case and without '-' and '_', so that api_key, apiKey and
 * API-KEY are one. A few names match as the end of a longer one (OPENAI_API_KEY).
 *
 * Owns:    a list owns copies of user names; scrub_names_fini() frees them.
 * Threads: any once built.
 */
#ifndef TAPE_SCRUB_NAMES_H
#define TAPE_SCRUB_NAMES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NAME_SUFFIX = 1,  /* also as the end of a longer name */
    NAME_RANDOM = 2,  /* only when the value looks like a key; the name is a plain word */
    NAME_PAIRS = 4,   /* only when the value holds a '=' */
    NAME_COOKIES = 8, /* keep the names of the cookies */
};

struct scrub_name {
    const char *name; /* in lower case, without '-' and '_' */
    const char *rule;
    unsigned flags;
};

struct scrub_names {
    struct scrub_name *v;
    size_t n;
    size_t n_own;  /* the last n_own rows are copies of ours */
    uint64_t ends; /* which two bytes the names end with */
};

extern const struct scrub_name scrub_header_names[], scrub_field_names[],
    scrub_query_names[], scrub_google_query_names[], scrub_exempt_names[];
extern const size_t n_scrub_header_names, n_scrub_field_names, n_scrub_query_names,
    n_scrub_google_query_names, n_scrub_exempt_names;

/* A list of built-in rows and, after them, the user's (NULL-terminated, or NULL). */
int scrub_names_init(struct scrub_names *out, const struct scrub_name *rows, size_t n,
                     const char *const *user, struct err *e) MUST_CHECK;
void scrub_names_fini(struct scrub_names *t);

/* The row of a name as it was sent, or NULL. */
const struct scrub_name *scrub_names_find(const struct scrub_names *t, const char *name,
                                          size_t len);
/* Is this value to be replaced under that row? */
bool scrub_names_fits(const struct scrub_name *row, const char *value, size_t len);

/* Shapes (secret_shape.h) one of which every built-in field name shows as it is
 * commonly written: what the first look at a body watches for. */
extern const char *const scrub_name_signs[];
extern const size_t n_scrub_name_signs;

#endif
