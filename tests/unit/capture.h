/*
 * capture.h - what a verb prints to stdout, for tests that print TAP there themselves.
 */
#ifndef TESTS_CAPTURE_H
#define TESTS_CAPTURE_H

#include "base/fsx.h"
#include "scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int capture_verb_fn(int argc, char **argv);

/* Run the verb with these words (argv[0] first, NULL last); its exit status. */
static int capture(capture_verb_fn *verb, struct buf *out, const char *const *words)
{
    const char *path = scratch_file("stdout");
    char *argv[32] = {NULL};
    int argc = 0, status;
    struct err e;

    while (words[argc] && argc < 31) {
        argv[argc] = strdup(words[argc]);
        argc++;
    }
    (void)fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (kept < 0 || fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
        exit(99);
    status = verb(argc, argv);
    (void)fflush(stdout);
    (void)dup2(kept, STDOUT_FILENO);
    (void)close(kept);
    (void)close(fd);
    buf_reset(out);
    if (fsx_read_file(path, out, &e) < 0)
        exit(99);
    while (argc > 0)
        free(argv[--argc]);
    return status;
}

#define WORDS(...)                                                                       \
    (const char *const[])                                                                \
    {                                                                                    \
        __VA_ARGS__, NULL                                                                \
    }

#endif
