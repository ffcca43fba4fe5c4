/* pack_pax.c - see pack_pax.h. */
#include "pack/pack_pax.h"

#include <string.h>

struct record {
    const char *key, *value;
    size_t key_len, value_len;
};

static int odd(const char *what, struct pack_fault *f)
{
    return pack_fault_set(f, PACK_TAR_EXTENSION, ERR_FORMAT, "a pax header %s", what);
}

/* Decimal digits only; at most ten of them, far above what a bundle may hold. */
static bool read_decimal(const char *s, size_t len, uint64_t *out)
{
    uint64_t v = 0;

    if (len == 0 || len > 10)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        v = v * 10 + (uint64_t)(s[i] - '0');
    }
    *out = v;
    return true;
}

/* Cut one record off the front. */
static int next_record(const char **text, size_t *left, struct record *out,
                       struct pack_fault *f)
{
    const char *blank = memchr(*text, ' ', *left);
    uint64_t whole = 0;

    if (!blank || !read_decimal(*text, (size_t)(blank - *text), &whole))
        return odd("has a record without its length", f);
    size_t head = (size_t)(blank - *text) + 1;
    if (whole <= head || whole > *left || (*text)[whole - 1] != '\n')
        return odd("has a record of the wrong length", f);
    out->key = blank + 1;
    const char *end = *text + whole - 1;
    const char *equals = memchr(out->key, '=', (size_t)(end - out->key));
    if (!equals || equals == out->key)
        return odd("has a record without a key", f);
    out->key_len = (size_t)(equals - out->key);
    out->value = equals + 1;
    out->value_len = (size_t)(end - out->value);
    *text += whole;
    *left -= (size_t)whole;
    return 0;
}

static bool key_is(const struct record *r, const char *key)
{
    return r->key_len == strlen(key) && memcmp(r->key, key, r->key_len) == 0;
}

static bool key_begins(const struct record *r, const char *start)
{
    return r->key_len >= strlen(start) && memcmp(r->key, start, strlen(start)) == 0;
}

static int take(const struct record *r, struct pack_pax *out, struct pack_fault *f)
{
    if (key_is(r, "path")) {
        if (out->path)
            return odd("tells the path twice", f);
        out->path = r->value;
        out->path_len = r->value_len;
    } else if (key_is(r, "size")) {
        if (out->has_size)
            return odd("tells the size twice", f);
        if (!read_decimal(r->value, r->value_len, &out->size))
            return odd("tells a size that is no number", f);
        out->has_size = true;
    } else if (key_is(r, "linkpath") || key_is(r, "hdrcharset") ||
               key_is(r, "SCHILY.realsize") || key_begins(r, "GNU.sparse.")) {
        return odd("changes how its member is to be read", f);
    }
    return 0;
}

int pack_pax_read(const char *text, size_t len, struct pack_pax *out,
                  struct pack_fault *f)
{
    struct record r = {0};

    *out = (struct pack_pax){0};
    while (len > 0)
        if (next_record(&text, &len, &r, f) < 0 || take(&r, out, f) < 0)
            return -1;
    return 0;
}
