/* clock.c - see clock.h. */
#include "base/clock.h"

#include "base/must.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static int64_t pinned = -1;

uint64_t clock_mono_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

int64_t clock_wall_ms(void)
{
    struct timespec ts;

    if (pinned >= 0)
        return pinned;
    (void)clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void clock_pin_wall(int64_t ms)
{
    pinned = ms;
}

void clock_rfc3339(int64_t ms, char out[CLOCK_TEXT])
{
    time_t s = (time_t)(ms / 1000);
    struct tm tm;
    char day[20] = "9999-12-31T23:59:59"; /* kept for years the format cannot hold */

    (void)gmtime_r(&s, &tm);
    (void)strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(out, CLOCK_TEXT, "%.19s.%03uZ", day, (unsigned)(ms % 1000) % 1000U);
}

int64_t clock_parse_rfc3339(const char *text)
{
    struct tm tm = {0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    int64_t ms = 0, offset = 0;

    if (!rest || *text < '0' || *text > '9')
        return -1;
    if (*rest == '.') {
        int64_t unit = 100;
        for (rest++; *rest >= '0' && *rest <= '9'; rest++, unit /= 10)
            ms += (*rest - '0') * unit;
    }
    if (*rest == '+' || *rest == '-') {
        int h, m, used = 0;
        if (sscanf(rest + 1, "%2d:%2d%n", &h, &m, &used) != 2 || rest[1 + used])
            return -1;
        offset = (*rest == '+' ? 1 : -1) * (h * 3600 + m * 60);
    } else if (strcmp(rest, "Z") != 0) {
        return -1;
    }
    return ((int64_t)timegm(&tm) - offset) * 1000 + ms;
}

void clock_random(void *out, size_t len)
{
    unsigned char *p = out;

    while (len > 0) {
        ssize_t n = getrandom(p, len, 0);
        if (n < 0)
            continue;
        p += n;
        len -= (size_t)n;
    }
}
