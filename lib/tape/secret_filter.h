/*
 * secret_filter.h - find the few places of a text where some shape could begin.
 *
 * Every shape has four fixed positions. The text is read in pairs of bytes, one table
 * look-up each: two pairs in a row may be positions 1-2 and 3-4 of a shape, or 2-3 and
 * 4-5 when it begins at an odd distance. Shapes share sixteen buckets, a bit each, so
 * that halves of different shapes seldom add up. This costs a fraction of a nanosecond
 * per byte and misses nothing.
 *
 * Owns:    nothing; a plain value, to be zeroed first.
 * Threads: any once built.
 */
#ifndef TAPE_SECRET_FILTER_H
#define TAPE_SECRET_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct secret_filter {
    /* By two bytes as they lie in memory. Four sets of buckets, from the lowest bits
     * up: the pair may be positions 1-2, 2-3, 3-4, 4-5. */
    uint64_t pairs[65536];
};

void secret_filter_add(struct secret_filter *f, const char *shape, bool nocase);

/* The least p >= from, at an even distance, such that a shape may begin at p or at
 * p - 1; len when there is none. */
size_t secret_filter_next(const struct secret_filter *f, const char *text, size_t len,
                          size_t from);

/* May a shape begin at `at`? */
bool secret_filter_may_begin(const struct secret_filter *f, const char *text, size_t len,
                             size_t at);

#endif
