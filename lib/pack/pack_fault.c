/* pack_fault.c - see pack_fault.h. */
#include "pack/pack_fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int pack_fault_set(struct pack_fault *f, enum pack_refusal why, enum err_code code,
                   const char *fmt, ...)
{
    va_list ap;

    if (f->why != PACK_OK)
        return -1;
    f->why = why;
    f->e.code = code;
    va_start(ap, fmt);
    (void)vsnprintf(f->e.msg, sizeof f->e.msg, fmt, ap);
    va_end(ap);
    return -1;
}

int pack_fault_at(struct pack_fault *f, const char *path, size_t len,
                  enum pack_refusal why, enum err_code code, const char *text)
{
    size_t n = len < sizeof f->where ? len : sizeof f->where - 1;

    if (f->why != PACK_OK)
        return -1;
    memcpy(f->where, path, n);
    f->where[n] = '\0';
    return pack_fault_set(f, why, code, "%s", text);
}
