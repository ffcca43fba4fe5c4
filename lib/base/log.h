/*
 * log.h - diagnostics on stderr, one line each.
 *
 * The programs speak through it; library code only uses log_debug() (one line per
 * flow step with RETAPE_LOG=debug). Lines carry no header values and no bodies.
 *
 * Threads: any; a line is one write.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/must.h"

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Reads RETAPE_LOG (error warn info debug), NO_COLOR and whether stderr is a terminal.
 * The program name stands in front of every line. */
void log_init(const char *program);
void log_set_level(enum log_level level);
bool log_colour(void); /* may stderr be coloured? */

void log_line(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);
extern enum log_level log_level_now;

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)                                                                   \
    do {                                                                                 \
        if (log_level_now >= LOG_LEVEL_DEBUG)                                            \
            log_line(LOG_LEVEL_DEBUG, __VA_ARGS__);                                      \
    } while (0)

#endif
