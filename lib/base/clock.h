/*
 * clock.h - time and randomness, in one place so that tests can pin them.
 *
 * Threads: any; the pin is for tests and set before threads start.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define CLOCK_TEXT 25 /* "2026-03-01T12:00:00.123Z" and its NUL */

uint64_t clock_mono_ns(void);
int64_t clock_wall_ms(void);     /* Unix time */
void clock_pin_wall(int64_t ms); /* every later clock_wall_ms(); -1 unpins */
void clock_rfc3339(int64_t ms, char out[CLOCK_TEXT]);
int64_t clock_parse_rfc3339(const char *text); /* -1 when it is not such a text */
void clock_random(void *out, size_t len);      /* unpredictable bytes */

#endif
