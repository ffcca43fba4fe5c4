/*
 * outfile.h - a file that appears whole under its name, or not at all.
 *
 * It is written without a name where the file system can do that, so that even a kill
 * leaves nothing behind; else under a temporary one beside the target.
 *
 * Owns:    outfile_drop() frees and removes what was not kept.
 * Threads: as its owner.
 */
#ifndef BUNDLER_OUTFILE_H
#define BUNDLER_OUTFILE_H

#include "base/err.h"

#include <stddef.h>

struct outfile;

/* Makes the folder when there is none. */
int outfile_open(struct outfile **out, const char *path, struct err *e) MUST_CHECK;
int outfile_write(struct outfile *t, const void *data, size_t len,
                  struct err *e) MUST_CHECK;
/* On the disk and under its name; replaces what had it before. */
int outfile_keep(struct outfile *t, struct err *e) MUST_CHECK;
void outfile_drop(struct outfile **t);

#endif
