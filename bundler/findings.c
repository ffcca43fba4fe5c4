/* findings.c - see findings.h. */
#include "bundler/findings.h"

#include "base/json.h"
#include "base/limits.h"
#include "pack/pack.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE 512 /* longest; sentences of ours with an escaped path in them */

const char *severity_name(enum severity severity)
{
    return severity == SEVERITY_ERROR ? "error" : "warning";
}

int findings_add(struct findings *f, enum severity severity, const char *code,
                 const char *path, struct err *e, const char *fmt, ...)
{
    char text[PACK_PATH_TEXT], message[MESSAGE];
    struct finding one = {.severity = severity, .code = code};
    va_list ap;

    (void)(severity == SEVERITY_ERROR ? f->errors++ : f->warnings++);
    if (f->n == LIMIT_FINDINGS)
        return 0;
    if (!f->v)
        f->v = calloc(LIMIT_FINDINGS, sizeof *f->v);
    va_start(ap, fmt);
    (void)vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    if (path)
        pack_path_text(path, strlen(path), text);
    one.path = path ? strdup(text) : NULL;
    one.message = strdup(message);
    if (!f->v || !one.message || (path && !one.path)) {
        free(one.path);
        free(one.message);
        return err_set(e, ERR_NOMEM, "out of memory");
    }
    f->v[f->n++] = one;
    return 0;
}

int findings_take(struct findings *f, struct findings *from, struct err *e)
{
    if (from->n && !f->v && !(f->v = calloc(LIMIT_FINDINGS, sizeof *f->v)))
        return err_set(e, ERR_NOMEM, "out of memory");
    size_t moved = LIMIT_FINDINGS - f->n < from->n ? LIMIT_FINDINGS - f->n : from->n;
    if (moved) {
        memcpy(f->v + f->n, from->v, moved * sizeof *f->v);
        memmove(from->v, from->v + moved, (from->n - moved) * sizeof *f->v);
    }
    f->n += moved;
    from->n -= moved;
    f->errors += from->errors;
    f->warnings += from->warnings;
    findings_fini(from);
    return 0;
}

void findings_fini(struct findings *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->v[i].path);
        free(f->v[i].message);
    }
    free(f->v);
    *f = (struct findings){0};
}

void findings_json(const struct findings *f, struct buf *out)
{
    buf_char(out, '[');
    for (size_t i = 0; i < f->n; i++) {
        const struct finding *one = &f->v[i];
        buf_fmt(out, "%s{\"severity\":\"%s\",\"code\":\"%s\",\"path\":", i ? "," : "",
                severity_name(one->severity), one->code);
        if (one->path)
            json_string(out, one->path, strlen(one->path));
        else
            buf_str(out, "null");
        buf_str(out, ",\"message\":");
        json_string(out, one->message, strlen(one->message));
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

void findings_text(const struct findings *f, struct buf *out)
{
    for (size_t i = 0; i < f->n; i++)
        buf_fmt(out, "%s: %s: %s\n", severity_name(f->v[i].severity), f->v[i].code,
                f->v[i].message);
    if (f->errors + f->warnings > f->n)
        buf_fmt(out, "... and %zu more\n", f->errors + f->warnings - f->n);
}
