/*
 * jsondiff.h - where two bodies differ, by JSON pointer, and how far apart they are.
 *
 * Objects are compared by member, arrays are aligned first (an inserted message is one
 * difference, not a shift of all that follow), other UTF-8 text is compared by line.
 * The distance is the weight of what differs over the weight of the larger body
 * (jsontree.h), so one changed field of a long conversation is near.
 *
 * Owns:    jsondiff_compare() fills a result; jsondiff_fini() frees it, or the caller
 *          takes over `list` (miss_differences_free).
 * Threads: any.
 */
#ifndef TAPE_JSONDIFF_H
#define TAPE_JSONDIFF_H

#include "base/err.h"

#include <stddef.h>

struct miss_difference;

struct jsondiff {
    struct miss_difference *list; /* in pointer order */
    size_t n;
    size_t n_more;   /* differences beyond the most that were asked for */
    double distance; /* 0 same .. 1 nothing in common */
};

/*
 * Compare recorded a with asked b. Changed and added elements of arrays are named by
 * their place in b, removed ones by their place in a. Lines are "@line N"; "" is the
 * whole body (one side empty, or not UTF-8). ERR_NOMEM is the only error.
 */
int jsondiff_compare(struct jsondiff *out, const char *a, size_t a_len, const char *b,
                     size_t b_len, size_t most, struct err *e) MUST_CHECK;
void jsondiff_fini(struct jsondiff *d);

#endif
