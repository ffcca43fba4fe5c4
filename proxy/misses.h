/*
 * misses.h - the last misses of a run, for /__retape/misses and the summary.
 *
 * Owns:    misses_new() hands out a ring of LIMIT_MISS_KEPT reports.
 * Threads: any; one lock.
 */
#ifndef PROXY_MISSES_H
#define PROXY_MISSES_H

#include "base/buf.h"

#include <stdint.h>

struct misses;

int misses_new(struct misses **out, struct err *e) MUST_CHECK;
void misses_free(struct misses **m);

/* Keep a copy of a miss report (JSON); the oldest makes room. */
void misses_put(struct misses *m, const char *session, uint64_t number,
                const struct buf *report);
/* Append a JSON array of {"miss":n,"report":…,"session":…}; session NULL: all. */
void misses_json(struct misses *m, const char *session, struct buf *out);

#endif
