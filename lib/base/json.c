/* json.c - see json.h. */
#include "base/json.h"

#include "base/limits.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

const char *json_library_version(void)
{
    return YYJSON_VERSION_STRING;
}

/*
 * yyjson keeps a document as one flat array in document order, so its depth is found
 * without recursion. On the way the integer -0, which only the sign flag tells from 0,
 * becomes the double -0.0 it means.
 */
static bool settle(yyjson_doc *doc)
{
    const yyjson_val *ends[LIMIT_JSON_DEPTH];
    size_t depth = 0;
    yyjson_val *val = yyjson_doc_get_root(doc);

    for (size_t n = yyjson_doc_get_val_count(doc); n > 0; n--, val++) {
        while (depth > 0 && val >= ends[depth - 1])
            depth--;
        if (yyjson_is_ctn(val)) {
            if (depth == LIMIT_JSON_DEPTH)
                return false;
            ends[depth++] = unsafe_yyjson_get_next(val);
        } else if (yyjson_is_sint(val) && yyjson_get_sint(val) == 0) {
            unsafe_yyjson_set_real(val, -0.0);
        }
    }
    return true;
}

static int read_flags(yyjson_doc **out, const char *text, size_t len,
                      yyjson_read_flag flags, yyjson_read_err *why, struct err *e)
{
    *out = NULL;
    /* Not const in yyjson's prototype because of its in-place mode, unused here. */
    yyjson_doc *doc = yyjson_read_opts((char *)text, len, flags, NULL, why);
    if (!doc)
        return err_set(
            e, why->code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ? ERR_NOMEM : ERR_FORMAT,
            "%s", why->msg);
    if (!settle(doc)) {
        yyjson_doc_free(doc);
        return err_set(e, ERR_LIMIT, "JSON nested deeper than %d levels",
                       LIMIT_JSON_DEPTH);
    }
    *out = doc;
    return 0;
}

int json_read(yyjson_doc **out, const char *text, size_t len, struct err *e)
{
    yyjson_read_err why = {0};

    if (read_flags(out, text ? text : "", len, YYJSON_READ_NOFLAG, &why, e) == 0)
        return 0;
    return why.code ? err_in(e, "JSON, byte %zu", why.pos) : -1;
}

int json_read_config(yyjson_doc **out, const char *text, size_t len, struct err *e)
{
    yyjson_read_flag flags =
        YYJSON_READ_ALLOW_COMMENTS | YYJSON_READ_ALLOW_TRAILING_COMMAS;
    yyjson_read_err why = {0};
    size_t line, column, chr;

    if (read_flags(out, text ? text : "", len, flags, &why, e) == 0)
        return 0;
    if (!why.code)
        return -1;
    if (!text || !yyjson_locate_pos(text, len, why.pos, &line, &column, &chr))
        line = column = 1;
    return err_in(e, "%zu:%zu", line, column);
}

yyjson_val *json_find(yyjson_val *obj, const char *key)
{
    yyjson_obj_iter it = yyjson_obj_iter_with(obj);
    yyjson_val *at, *found = NULL;

    while ((at = yyjson_obj_iter_next(&it)))
        if (yyjson_equals_str(at, key))
            found = yyjson_obj_iter_get_val(at);
    return found;
}

/* Length of the UTF-8 sequence at s (RFC 3629 section 4), or 0. */
static size_t utf8_sequence(const unsigned char *s, size_t len)
{
    static const struct {
        unsigned char lo, hi;   /* range of the first byte */
        unsigned char lo2, hi2; /* range of the second */
        unsigned char n;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, /* no surrogates */
        {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };

    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        if (s[0] < forms[i].lo || s[0] > forms[i].hi)
            continue;
        if (len < forms[i].n || s[1] < forms[i].lo2 || s[1] > forms[i].hi2)
            return 0;
        for (size_t k = 2; k < forms[i].n; k++)
            if ((s[k] & 0xc0) != 0x80)
                return 0;
        return forms[i].n;
    }
    return 0;
}

#define EACH_BYTE (~(uint64_t)0 / 255) /* 0x01 in every byte */

bool json_is_utf8(const char *s, size_t len)
{
    const unsigned char *at = (const unsigned char *)s;
    uint64_t word;

    while (len > 0) {
        if (len >= sizeof word) { /* eight ASCII bytes at once */
            memcpy(&word, at, sizeof word);
            if (!(word & EACH_BYTE * 0x80)) {
                at += sizeof word;
                len -= sizeof word;
                continue;
            }
        }
        size_t n = *at < 0x80 ? 1 : utf8_sequence(at, len);
        if (!n)
            return false;
        at += n;
        len -= n;
    }
    return true;
}

/* ---- numbers ---- */

/* Shortest decimal form of a finite, non-zero double: 0.d1d2d3... times 10^point. */
struct decimal {
    char digits[32];
    int n;
    int point;
};

static void decimal_of(double v, struct decimal *d)
{
    char pool[1024];
    yyjson_alc alc;
    yyjson_val val = {0};

    /* yyjson finds the shortest digits (tested against strtod); on the stack, since
     * an allocation for each number would show. */
    unsafe_yyjson_set_real(&val, v);
    must(yyjson_alc_pool_init(&alc, pool, sizeof pool));
    const char *s = yyjson_val_write_opts(&val, 0, &alc, NULL, NULL);
    must(s);

    bool fraction = false;
    *d = (struct decimal){0};
    for (; *s && *s != 'e' && *s != 'E'; s++) {
        if (*s == '.') {
            fraction = true;
        } else if (d->n || *s != '0') {
            must(d->n < (int)sizeof d->digits);
            d->digits[d->n++] = *s;
            d->point += !fraction;
        } else if (fraction) {
            d->point--;
        }
    }
    if (*s)
        d->point += (int)strtol(s + 1, NULL, 10);
    while (d->n > 1 && d->digits[d->n - 1] == '0')
        d->n--;
}

static void zeros(struct buf *out, int n)
{
    for (; n > 0; n--)
        buf_char(out, '0');
}

void json_double(struct buf *out, double v)
{
    struct decimal d;

    if (!isfinite(v)) {
        buf_str(out, "null");
        return;
    }
    if (signbit(v))
        buf_char(out, '-');
    if (v == 0) {
        buf_str(out, "0.0");
        return;
    }
    decimal_of(fabs(v), &d);
    if (d.point <= -5 || d.point > 16) {
        buf_add(out, d.digits, 1);
        if (d.n > 1) {
            buf_char(out, '.');
            buf_add(out, d.digits + 1, (size_t)d.n - 1);
        }
        buf_fmt(out, "e%+d", d.point - 1);
    } else if (d.point <= 0) {
        buf_str(out, "0.");
        zeros(out, -d.point);
        buf_add(out, d.digits, (size_t)d.n);
    } else if (d.point >= d.n) {
        buf_add(out, d.digits, (size_t)d.n);
        zeros(out, d.point - d.n);
        buf_str(out, ".0");
    } else {
        buf_add(out, d.digits, (size_t)d.point);
        buf_char(out, '.');
        buf_add(out, d.digits + d.point, (size_t)(d.n - d.point));
    }
}

/* ---- strings and other leaves ---- */

/* How many of the eight bytes at s need no escape. (x - 1) & ~x has its top bit set
 * where a byte is zero, and reliably so in the lowest such byte, which is the one
 * asked for. This is where a large request spends its time. */
static inline size_t plain_of_eight(const char *s)
{
    uint64_t word;

    memcpy(&word, s, sizeof word);
    word = le64toh(word);
    uint64_t quote = word ^ EACH_BYTE * '"', slash = word ^ EACH_BYTE * '\\';
    uint64_t hits = ((word - EACH_BYTE * 0x20) & ~word) | ((quote - EACH_BYTE) & ~quote) |
                    ((slash - EACH_BYTE) & ~slash);
    hits &= EACH_BYTE * 0x80;
    return hits ? (size_t)__builtin_ctzll(hits) / 8 : 8;
}

static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

/* The letter after the backslash: 'u' for those without a short form. */
static char escape_letter(char c)
{
    static const char short_form[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
    };
    unsigned char u = (unsigned char)c;

    if (u >= sizeof short_form)
        return c;
    return short_form[u] ? short_form[u] : 'u';
}

#define BLOCK 512 /* bytes escaped at a time */

/* Escape up to BLOCK bytes; the end of what was written. Eight bytes may be copied
 * where fewer count: at least as many as are left to read are left to write. */
static char *escape_block(char *to, const char *s, size_t len)
{
    const char *end = s + len;

    while (s < end) {
        size_t plain;
        if (end - s >= 8) {
            memcpy(to, s, 8);
            plain = plain_of_eight(s);
        } else {
            *to = *s;
            plain = is_plain(*s);
        }
        to += plain;
        s += plain;
        if (plain > 0)
            continue;
        *to++ = '\\';
        *to++ = escape_letter(*s);
        if (to[-1] == 'u')
            to += sprintf(to, "%04x", (unsigned char)*s);
        s++;
    }
    return to;
}

void json_string(struct buf *out, const char *s, size_t len)
{
    char block[6 * BLOCK + 1]; /* "\u00xx" for each byte, and sprintf's NUL */

    buf_char(out, '"');
    while (len > 0) {
        size_t n = len < BLOCK ? len : BLOCK;
        buf_add(out, block, (size_t)(escape_block(block, s, n) - block));
        s += n;
        len -= n;
    }
    buf_char(out, '"');
}

void json_bytes(struct buf *out, const char *s, size_t len)
{
    static const char digits[] = "0123456789abcdef";

    if (json_is_utf8(s, len)) {
        json_string(out, s, len);
        return;
    }
    buf_str(out, "{\"hex\":\"");
    for (size_t i = 0; i < len; i++) {
        buf_char(out, digits[(unsigned char)s[i] >> 4]);
        buf_char(out, digits[s[i] & 15]);
    }
    buf_str(out, "\"}");
}

static void write_integer(struct buf *out, uint64_t magnitude, bool negative)
{
    char text[24];
    size_t at = sizeof text;

    do
        text[--at] = (char)('0' + magnitude % 10);
    while (magnitude /= 10);
    if (negative)
        text[--at] = '-';
    buf_add(out, text + at, sizeof text - at);
}

static void write_leaf(struct buf *out, yyjson_val *val)
{
    switch (yyjson_get_tag(val)) {
    case YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT:
        write_integer(out, yyjson_get_uint(val), false);
        break;
    case YYJSON_TYPE_NUM | YYJSON_SUBTYPE_SINT: {
        int64_t v = yyjson_get_sint(val);
        write_integer(out, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0);
        break;
    }
    case YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL:
        json_double(out, yyjson_get_real(val));
        break;
    case YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_TRUE:
        buf_str(out, "true");
        break;
    case YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_FALSE:
        buf_str(out, "false");
        break;
    default: /* yyjson notes on some strings that they need no escape */
        if (yyjson_is_str(val))
            json_string(out, unsafe_yyjson_get_str(val), unsafe_yyjson_get_len(val));
        else
            buf_str(out, "null");
    }
}

/* ---- canonical text ---- */

/* The keys of all objects open at a time share one stack, so that most documents need
 * no allocation at all. */
struct writer {
    struct buf *out;
    yyjson_val *const *gone; /* what to leave out, in order of address */
    size_t n_gone;
    yyjson_val **keys;
    size_t n, cap;
    yyjson_val *first[256];
};

static bool is_gone(const struct writer *w, const yyjson_val *val)
{
    size_t lo = 0, hi = w->n_gone;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (w->gone[mid] == val)
            return true;
        if (w->gone[mid] < val)
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

static bool push_key(struct writer *w, yyjson_val *key)
{
    if (w->n == w->cap) {
        size_t cap = w->cap * 2;
        yyjson_val **old = w->keys == w->first ? NULL : w->keys;
        yyjson_val **keys = realloc(old, cap * sizeof(yyjson_val *));
        if (!keys) {
            w->out->failed = true;
            return false;
        }
        if (w->keys == w->first)
            memcpy(keys, w->first, sizeof w->first);
        w->keys = keys;
        w->cap = cap;
    }
    w->keys[w->n++] = key;
    return true;
}

static int compare_text(yyjson_val *a, yyjson_val *b)
{
    size_t na = unsafe_yyjson_get_len(a), nb = unsafe_yyjson_get_len(b);
    int c = memcmp(unsafe_yyjson_get_str(a), unsafe_yyjson_get_str(b), na < nb ? na : nb);

    return c ? c : (na > nb) - (na < nb);
}

/* Equal keys stay in document order, which is the order of their addresses. */
static int compare_keys(const void *a, const void *b)
{
    yyjson_val *x = *(yyjson_val *const *)a, *y = *(yyjson_val *const *)b;
    int c = compare_text(x, y);

    return c ? c : (x > y) - (x < y);
}

static void sort_keys(yyjson_val **keys, size_t n)
{
    if (n > 32) {
        qsort(keys, n, sizeof keys[0], compare_keys);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        yyjson_val *key = keys[i];
        size_t at = i;
        for (; at > 0 && compare_keys(&keys[at - 1], &key) > 0; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

static void write_value(struct writer *w, yyjson_val *val);

static void write_object(struct writer *w, yyjson_val *obj)
{
    size_t base = w->n;
    yyjson_obj_iter it = yyjson_obj_iter_with(obj);
    yyjson_val *key;
    bool some = false;

    while ((key = yyjson_obj_iter_next(&it)))
        if (!is_gone(w, key) && !push_key(w, key))
            return;
    size_t end = w->n;
    sort_keys(w->keys + base, end - base);
    buf_char(w->out, '{');
    for (size_t i = base; i < end; i++) {
        key = w->keys[i];
        if (i + 1 < end && compare_text(key, w->keys[i + 1]) == 0)
            continue; /* the last of equal keys wins */
        if (some)
            buf_char(w->out, ',');
        some = true;
        write_leaf(w->out, key);
        buf_char(w->out, ':');
        write_value(w, yyjson_obj_iter_get_val(key));
    }
    buf_char(w->out, '}');
    w->n = base;
}

static void write_array(struct writer *w, yyjson_val *arr)
{
    yyjson_arr_iter it = yyjson_arr_iter_with(arr);
    yyjson_val *val;
    bool some = false;

    buf_char(w->out, '[');
    while ((val = yyjson_arr_iter_next(&it))) {
        if (is_gone(w, val))
            continue;
        if (some)
            buf_char(w->out, ',');
        some = true;
        write_value(w, val);
    }
    buf_char(w->out, ']');
}

/* Recursion ends: json_read() bounds the depth. */
static void write_value(struct writer *w, yyjson_val *val)
{
    if (w->out->failed)
        return;
    if (yyjson_is_obj(val))
        write_object(w, val);
    else if (yyjson_is_arr(val))
        write_array(w, val);
    else
        write_leaf(w->out, val);
}

void json_canonical_without(yyjson_val *val, yyjson_val *const *gone, size_t n_gone,
                            struct buf *out)
{
    struct writer w;

    w.out = out;
    w.gone = gone;
    w.n_gone = n_gone;
    w.keys = w.first;
    w.n = 0;
    w.cap = COUNT_OF(w.first);
    write_value(&w, val);
    if (w.keys != w.first)
        free(w.keys);
}

void json_canonical(yyjson_val *val, struct buf *out)
{
    json_canonical_without(val, NULL, 0, out);
}

/* ---- for people ---- */

static void new_line(struct buf *out, int depth)
{
    buf_char(out, '\n');
    for (; depth > 0; depth--)
        buf_str(out, "  ");
}

static void pretty(yyjson_val *val, int depth, struct buf *out)
{
    bool object = yyjson_is_obj(val);
    size_t n = yyjson_get_len(val);

    if (!yyjson_is_ctn(val)) {
        write_leaf(out, val);
        return;
    }
    if (n == 0) {
        buf_str(out, object ? "{}" : "[]");
        return;
    }
    buf_char(out, object ? '{' : '[');
    yyjson_val *at = unsafe_yyjson_get_first(val);
    for (size_t i = 0; i < n && !out->failed; i++) {
        if (i)
            buf_char(out, ',');
        new_line(out, depth + 1);
        if (object) {
            write_leaf(out, at++);
            buf_str(out, ": ");
        }
        pretty(at, depth + 1, out);
        at = unsafe_yyjson_get_next(at);
    }
    new_line(out, depth);
    buf_char(out, object ? '}' : ']');
}

void json_pretty(yyjson_val *val, struct buf *out)
{
    pretty(val, 0, out);
}
