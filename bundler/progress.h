/*
 * progress.h - one line on a terminal that says how far long work is.
 *
 * Nothing is shown when stderr is not a terminal, nor before the work has taken half a
 * second; the line is redrawn a few times a second and wiped at the end.
 *
 * Threads: any one at a time. The struct belongs to its caller; zero it first.
 */
#ifndef BUNDLER_PROGRESS_H
#define BUNDLER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool begun, terminal, shown;
    uint64_t since, last; /* clock_mono_ns() */
};

/* "verify: 123 MB" or, when the total is known, "hash: 123 of 900 MB". */
void progress_tell(struct progress *p, const char *what, uint64_t done, uint64_t total);
void progress_end(struct progress *p);

#endif
