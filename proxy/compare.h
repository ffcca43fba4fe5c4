/*
 * compare.h - do this run's outputs agree with those in the bundle? (replay --compare)
 *
 * Every bundled file under outputs/ is held against the file of the same name in the
 * output folder: JSON by value, anything else byte for byte. run.json and summary.json,
 * which the replay writes itself, are compared by their verdict: exit and reason code.
 *
 * Threads: main only.
 */
#ifndef PROXY_COMPARE_H
#define PROXY_COMPARE_H

#include "proxy/packed.h"

/* Appends a line per difference and counts them; -1 only for errors of our own. */
int compare_outputs(const struct packed *p, const char *dir, int exit_code,
                    const char *reason_code, struct buf *report, size_t *differences,
                    struct err *e) MUST_CHECK;

#endif
