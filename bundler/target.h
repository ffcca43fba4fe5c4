/*
 * target.h - a file that appears whole under its name, or not at all.
 *
 * It is written without a name where the file system can do that, so that even a kill
 * leaves nothing behind; else under a temporary one beside the target.
 *
 * Owns:    target_drop() frees and removes what was not kept.
 * Threads: as its owner.
 */
#ifndef BUNDLER_TARGET_H
#define BUNDLER_TARGET_H

#include "base/err.h"

#include <stddef.h>

struct target;

/* Makes the folder when there is none. */
int target_open(struct target **out, const char *path, struct err *e) MUST_CHECK;
int target_write(struct target *t, const void *data, size_t len,
                 struct err *e) MUST_CHECK;
/* On the disk and under its name; replaces what had it before. */
int target_keep(struct target *t, struct err *e) MUST_CHECK;
void target_drop(struct target **t);

#endif
