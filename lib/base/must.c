/* must.c - see must.h. */
#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void must_fail(const char *what, const char *file, int line)
{
    (void)fprintf(stderr, "retape: internal error: %s (%s:%d); please report it\n", what,
                  file, line);
    abort();
}
