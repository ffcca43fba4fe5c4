/*
 * secret_filter.h - find the few places of a text where some shape could begin.
 *
 * Every shape has four fixed positions, so it shows one of its two first trigrams at an
 * even distance from wherever we start. Looking at every second trigram with a bitmap
 * therefore misses nothing and costs a fraction of a nanosecond per byte.
 *
 * Owns:    nothing; a plain value.
 * Threads: any once built.
 */
#ifndef TAPE_SECRET_FILTER_H
#define TAPE_SECRET_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECRET_FILTER_BITS 18 /* a map is 32 KB: it stays in the first-level cache */

#define SECRET_FILTER_WORDS ((1u << SECRET_FILTER_BITS) / 64)

struct secret_filter {
    uint64_t any[SECRET_FILTER_WORDS];    /* both of the following */
    uint64_t first[SECRET_FILTER_WORDS];  /* bytes one to three of a shape */
    uint64_t second[SECRET_FILTER_WORDS]; /* bytes two to four */
};

void secret_filter_add(struct secret_filter *f, const char *shape, bool nocase);

/* The least p >= from, at an even distance, such that a shape may begin at p or at
 * p - 1; len when there is none. */
size_t secret_filter_next(const struct secret_filter *f, const char *text, size_t len,
                          size_t from);

/* May a shape begin at `at`? Closer than secret_filter_next(): both trigrams fit. */
bool secret_filter_may_begin(const struct secret_filter *f, const char *text, size_t len,
                             size_t at);

#endif
