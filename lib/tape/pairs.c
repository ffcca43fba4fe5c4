/* pairs.c - see pairs.h. */
#include "tape/pairs.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/url.h"

#include <stdlib.h>
#include <string.h>

struct pair {
    const char *name, *value;
    size_t name_len, value_len;
};

static int compare_bytes(const char *a, size_t na, const char *b, size_t nb)
{
    int c = memcmp(a, b, na < nb ? na : nb);

    return c ? c : (na > nb) - (na < nb);
}

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int c = compare_bytes(x->name, x->name_len, y->name, y->name_len);

    return c ? c : compare_bytes(x->value, x->value_len, y->value, y->value_len);
}

/* How many pairs there are at most. */
static size_t count_pieces(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += text[i] != '&' && (i == 0 || text[i - 1] == '&');
    return n;
}

/* Decode every pair into `bytes`, whose memory must not move: it has room already. */
static size_t split(const char *text, size_t len, pairs_skip_fn *skip, void *ctx,
                    struct buf *bytes, struct pair *pairs)
{
    const char *end = text + len;
    size_t n = 0;

    while (text < end) {
        const char *stop = memchr(text, '&', (size_t)(end - text));
        if (!stop)
            stop = end;
        const char *equals = memchr(text, '=', (size_t)(stop - text));
        const char *value = equals ? equals + 1 : stop;
        struct pair *p = &pairs[n];
        size_t at = bytes->len;
        url_decode(text, (size_t)((equals ? equals : stop) - text), true, bytes);
        p->name = bytes->data + at;
        p->name_len = bytes->len - at;
        at = bytes->len;
        url_decode(value, (size_t)(stop - value), true, bytes);
        p->value = bytes->data + at;
        p->value_len = bytes->len - at;
        if (stop > text && (!skip || !skip(ctx, p->name, p->name_len)))
            n++;
        text = stop + 1;
    }
    return n;
}

bool pairs_canonical(const char *text, size_t len, pairs_skip_fn *skip, void *ctx,
                     struct buf *out)
{
    size_t n = count_pieces(text, len);
    struct buf bytes = BUF_INIT(len);
    /* One more: an empty piece uses a place before it is passed over. */
    struct pair *pairs = NULL;

    if (n > LIMIT_PAIRS)
        return false;
    pairs = calloc(n + 1, sizeof pairs[0]);
    if (!pairs || !buf_room(&bytes, len)) {
        out->failed = true;
        goto out;
    }
    n = split(text, len, skip, ctx, &bytes, pairs);
    qsort(pairs, n, sizeof pairs[0], compare_pairs);
    buf_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        buf_str(out, i ? ",[" : "[");
        json_bytes(out, pairs[i].name, pairs[i].name_len);
        buf_char(out, ',');
        json_bytes(out, pairs[i].value, pairs[i].value_len);
        buf_char(out, ']');
    }
    buf_char(out, ']');
out:
    free(pairs);
    buf_free(&bytes);
    return true;
}
