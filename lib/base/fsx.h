/*
 * fsx.h - files the careful way: whole writes, whole reads, appear at once or not.
 *
 * Threads: any. Errors name the path and the reason.
 */
#ifndef BASE_FSX_H
#define BASE_FSX_H

#include "base/buf.h"

#include <stdbool.h>
#include <sys/types.h>

int fsx_write_all(int fd, const void *data, size_t len, struct err *e) MUST_CHECK;

/* The whole file, at most out->max bytes. */
int fsx_read_file(const char *path, struct buf *out, struct err *e) MUST_CHECK;

/* mkdir -p with mode for the folders it makes. */
int fsx_mkdirs(const char *path, mode_t mode, struct err *e) MUST_CHECK;

/* The file appears whole under its name or not at all; replaces an old one. */
int fsx_write_file(const char *path, const void *data, size_t len, mode_t mode,
                   struct err *e) MUST_CHECK;

bool fsx_exists(const char *path);

/* A read-only mapping of a whole regular file. An empty file maps to NULL, 0. */
struct fsx_map {
    const char *data;
    size_t len;
};
int fsx_map(struct fsx_map *out, int fd, const char *path, struct err *e) MUST_CHECK;
void fsx_unmap(struct fsx_map *m);

/* malloc'ed "dir/name"; NULL only when out of memory. */
char *fsx_join(const char *dir, const char *name);

/* The folder of the running executable (siblings are looked for beside it). */
int fsx_self_dir(struct buf *out, struct err *e) MUST_CHECK;

#endif
