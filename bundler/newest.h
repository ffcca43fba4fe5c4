/*
 * newest.h - the run.json written last below a folder.
 *
 * Looks a few levels down and not into folders that hold no runs (inputs_skips()); links
 * are not followed. Of equally old ones the first in the order of names wins.
 *
 * Threads: any.
 */
#ifndef BUNDLER_NEWEST_H
#define BUNDLER_NEWEST_H

#include "base/err.h"

/* malloc'ed path in *out, or NULL when there is none. */
int newest_run(const char *dir, char **out, struct err *e) MUST_CHECK;

#endif
