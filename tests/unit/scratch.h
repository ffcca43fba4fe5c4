/*
 * scratch.h - a private folder for a unit test, gone when the test exits.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch_path[4096];

static int scratch_remove_one(const char *path, const struct stat *st, int kind,
                              struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static void scratch_remove(void)
{
    (void)nftw(scratch_path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Make the folder; exits with a hard error when there is no place for it. */
__attribute__((unused)) static const char *scratch_make(void)
{
    const char *tmp = getenv("TMPDIR");

    (void)snprintf(scratch_path, sizeof scratch_path, "%s/retape-test-XXXXXX",
                   tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(scratch_path)) {
        perror(scratch_path);
        exit(99);
    }
    (void)atexit(scratch_remove);
    return scratch_path;
}

/* "folder/name" in one of a few static buffers. */
__attribute__((unused)) static const char *scratch_file(const char *name)
{
    static char paths[8][sizeof scratch_path + 256];
    static unsigned next;
    char *out = paths[next++ % 8];

    (void)snprintf(out, sizeof paths[0], "%s/%s", scratch_path, name);
    return out;
}

#endif
