/*
 * unpack.h - members of an archive into a folder, all of them or none.
 *
 * The folder is made, or is there and empty. Files are written below a folder of our own
 * inside it, one path segment after the other and through no link, each made new; only
 * unpack_keep() moves them up, again over nothing. Until then unpack_close() leaves the
 * folder as it was.
 *
 * Owns:    unpack_open() hands out a handle; only unpack_close() frees it.
 * Threads: as its owner.
 * Errors:  0, or -1 with the path and the reason; then the handle may only be closed.
 */
#ifndef BUNDLER_UNPACK_H
#define BUNDLER_UNPACK_H

#include "base/err.h"

#include <stddef.h>

struct unpack;

/* ERR_EXISTS when the folder holds something, or is no folder. */
int unpack_open(struct unpack **out, const char *folder, struct err *e) MUST_CHECK;

/* Begin a file; path as pack_path() normalises it, or a plain name. The one before is
 * finished by the next, by unpack_end() or unpack_keep(). */
int unpack_begin(struct unpack *u, const char *path, struct err *e) MUST_CHECK;
int unpack_bytes(struct unpack *u, const void *data, size_t len,
                 struct err *e) MUST_CHECK;
int unpack_end(struct unpack *u, struct err *e) MUST_CHECK;

/* Move everything to its place. */
int unpack_keep(struct unpack *u, struct err *e) MUST_CHECK;
void unpack_close(struct unpack **u);

#endif
