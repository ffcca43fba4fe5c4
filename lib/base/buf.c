/* buf.c - see buf.h. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_free(struct buf *b)
{
    free(b->data);
    *b = BUF_INIT(b->max);
}

void buf_reset(struct buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data)
        b->data[0] = '\0';
}

char *buf_take(struct buf *b)
{
    char *out = NULL;

    if (!b->failed && (b->data || buf_room(b, 1))) {
        out = b->data;
        b->data = NULL;
    }
    buf_free(b);
    return out;
}

char *buf_room(struct buf *b, size_t n)
{
    if (b->failed)
        return NULL;
    if (n > b->max || b->len > b->max - n) {
        b->failed = true;
        return NULL;
    }
    if (b->len + n + 1 > b->cap) {
        size_t need = b->len + n + 1, cap = b->cap + b->cap / 2 + 64;
        if (cap < need)
            cap = need;
        char *data = realloc(b->data, cap);
        if (!data) {
            b->failed = true;
            return NULL;
        }
        if (!b->data)
            data[0] = '\0';
        b->data = data;
        b->cap = cap;
    }
    return b->data + b->len;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
    char *at = buf_room(b, len);

    if (!at)
        return;
    if (len)
        memcpy(at, data, len);
    b->len += len;
    b->data[b->len] = '\0';
}

void buf_str(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_char(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
    va_list ap, again;

    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    must(n >= 0);
    char *at = buf_room(b, (size_t)n);
    if (at) {
        (void)vsnprintf(at, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void buf_eat(struct buf *b, size_t n)
{
    must(n <= b->len);
    if (!n)
        return;
    memmove(b->data, b->data + n, b->len - n);
    b->len -= n;
    b->data[b->len] = '\0';
}

const char *buf_cstr(const struct buf *b)
{
    return b->data ? b->data : "";
}

int buf_check(const struct buf *b, const char *what, struct err *e)
{
    if (!b->failed)
        return 0;
    return err_set(e, ERR_LIMIT, "%s: larger than %zu bytes (or out of memory)", what,
                   b->max);
}
