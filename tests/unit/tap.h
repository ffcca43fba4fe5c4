/*
 * tap.h - just enough TAP for unit tests: ok(), is(), tap_done().
 *
 * A test is a program: it prints one line per check and exits 0 only when all held.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 4, 5), unused)) static bool
tap_ok(bool passed, const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    printf("%s %d - ", passed ? "ok" : "not ok", ++tap_count);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    if (!passed) {
        tap_failed++;
        printf("# failed at %s:%d\n", file, line);
    }
    return passed;
}

#define ok(cond, ...) tap_ok(cond, __FILE__, __LINE__, __VA_ARGS__)

/* Two strings are equal (NULL equals NULL). */
#define is(got, want, ...)                                                               \
    do {                                                                                 \
        const char *g_ = (got), *w_ = (want);                                            \
        bool same_ = g_ == w_ || (g_ && w_ && strcmp(g_, w_) == 0);                      \
        if (!tap_ok(same_, __FILE__, __LINE__, __VA_ARGS__))                             \
            printf("#      got: %s\n# expected: %s\n", g_ ? g_ : "(null)",               \
                   w_ ? w_ : "(null)");                                                  \
    } while (0)

__attribute__((unused)) static int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed ? 1 : 0;
}

#endif
