/*
 * nearest.h - the recordings that are most like a request nobody recorded.
 *
 * Three steps, each bounded by bytes looked at (LIMIT_MISS_WORK) and not by a clock, so
 * that the same miss gives the same report: heads of recordings around the place the run
 * has got to; a cheap ranking of the best kind found (same method, host and path; else
 * same host; else same method and path) by shared members and messages; a full
 * comparison of the best few by what counts in matching.
 *
 * Owns:    differences of each result, freed by miss_fini() or miss_differences_free().
 * Threads: any.
 */
#ifndef TAPE_NEAREST_H
#define TAPE_NEAREST_H

#include "base/limits.h"
#include "tape/miss.h"

#define NEAREST_NONE SIZE_MAX

/* `exhausted` is a recording that has the request's key but is used up: it comes first,
 * its equals are left out. NEAREST_NONE when there is none. */
int nearest_find(struct miss_near out[LIMIT_MISS_NEAREST], size_t *n,
                 const struct deck *d, const struct canon_request *req, size_t exhausted,
                 struct err *e) MUST_CHECK;

#endif
