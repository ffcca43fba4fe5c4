/* err.c - see err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int exit_status;
    int http_status;
} codes[ERR_COUNT] = {
    [ERR_NONE] = {"", 0, 200},
    [ERR_USAGE] = {"E_USAGE", 2, 400},
    [ERR_CONFIG] = {"E_CONFIG", 2, 400},
    [ERR_FORMAT] = {"E_FORMAT", 2, 400},
    [ERR_VERSION] = {"E_VERSION", 2, 400},
    [ERR_LIMIT] = {"E_LIMIT", 2, 413},
    [ERR_IO] = {"E_IO", 3, 500},
    [ERR_NOMEM] = {"E_NOMEM", 3, 500},
    [ERR_BUSY] = {"E_CASSETTE_BUSY", 2, 409},
    [ERR_EXISTS] = {"E_CASSETTE_EXISTS", 2, 409},
    [ERR_MISS] = {"E_REPLAY_MISSING_DEPENDENCY", 2, 424},
    [ERR_DENIED] = {"E_EGRESS_BLOCKED", 2, 403},
    [ERR_DNS] = {"E_UPSTREAM_DNS", 3, 502},
    [ERR_CONNECT] = {"E_UPSTREAM_CONNECT", 3, 502},
    [ERR_TLS] = {"E_UPSTREAM_TLS", 3, 502},
    [ERR_TIMEOUT] = {"E_UPSTREAM_TIMEOUT", 3, 504},
    [ERR_PEER] = {"E_UPSTREAM_ABORTED", 3, 502},
    [ERR_GONE] = {"E_CLIENT_GONE", 3, 499},
};

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    va_list ap;

    e->code = code;
    va_start(ap, fmt);
    (void)vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    return -1;
}

int err_in(struct err *e, const char *fmt, ...)
{
    struct err inner = *e;
    char where[256];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(where, sizeof where, fmt, ap);
    va_end(ap);
    return err_set(e, inner.code, "%s: %s", where, inner.msg);
}

const char *err_name(enum err_code code)
{
    must(code < ERR_COUNT);
    return codes[code].name;
}

int err_exit_status(enum err_code code)
{
    must(code < ERR_COUNT);
    return codes[code].exit_status;
}

int err_http_status(enum err_code code)
{
    must(code < ERR_COUNT);
    return codes[code].http_status;
}

enum err_code err_by_name(const char *name)
{
    for (int i = 1; i < ERR_COUNT; i++)
        if (strcmp(codes[i].name, name) == 0)
            return (enum err_code)i;
    return ERR_NONE;
}
