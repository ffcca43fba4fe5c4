/* log.c - see log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *prefix, *colour;
} levels[] = {
    [LOG_LEVEL_ERROR] = {"error", "error: ", "\033[31m"},
    [LOG_LEVEL_WARN] = {"warn", "warning: ", "\033[33m"},
    [LOG_LEVEL_INFO] = {"info", "", ""},
    [LOG_LEVEL_DEBUG] = {"debug", "debug: ", "\033[2m"},
};

enum log_level log_level_now = LOG_LEVEL_INFO;
static const char *program_name = "retape";
static bool coloured;

void log_init(const char *program)
{
    const char *want = getenv("RETAPE_LOG");
    const char *no_color = getenv("NO_COLOR");

    program_name = program;
    coloured = isatty(STDERR_FILENO) && !(no_color && *no_color);
    for (size_t i = 0; want && i < COUNT_OF(levels); i++)
        if (strcmp(want, levels[i].name) == 0)
            log_level_now = (enum log_level)i;
}

void log_set_level(enum log_level level)
{
    log_level_now = level;
}

bool log_colour(void)
{
    return coloured;
}

void log_line(enum log_level level, const char *fmt, ...)
{
    char text[4096];
    va_list ap;

    if (level > log_level_now)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)fprintf(stderr, "%s: %s%s%s%s\n", program_name,
                  coloured ? levels[level].colour : "", levels[level].prefix,
                  coloured ? "\033[0m" : "", text);
}
