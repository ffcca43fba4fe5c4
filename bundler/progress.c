/* progress.c - see progress.h. */
#include "bundler/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

#define PATIENCE 500000000u /* ns before the line appears */
#define REDRAW 200000000u   /* ns between two of them */
#define MB 1000000u

void progress_tell(struct progress *p, const char *what, uint64_t done, uint64_t total)
{
    uint64_t now = clock_mono_ns();

    if (!p->begun) {
        *p = (struct progress){
            .begun = true, .terminal = isatty(STDERR_FILENO) == 1, .since = now};
    }
    if (!p->terminal || now - p->since < PATIENCE || now - p->last < REDRAW)
        return;
    p->last = now;
    p->shown = true;
    if (total)
        (void)fprintf(stderr, "\r\033[K%s: %llu of %llu MB", what,
                      (unsigned long long)(done / MB), (unsigned long long)(total / MB));
    else
        (void)fprintf(stderr, "\r\033[K%s: %llu MB", what,
                      (unsigned long long)(done / MB));
}

void progress_end(struct progress *p)
{
    if (p->shown)
        (void)fputs("\r\033[K", stderr);
    p->shown = false;
}
