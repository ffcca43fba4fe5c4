/* scrub_json.c - see scrub_json.h. */
#include "tape/scrub_json.h"

#include <string.h>

enum { WANT_VALUE, WANT_FIRST_VALUE, WANT_KEY, WANT_FIRST_KEY, WANT_COMMA, WANT_NOTHING };

/* ---- structure ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ a >> 29;
}

static uint64_t hash_bytes(const char *s, size_t len)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
    return h;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool scrub_json_looks_like(const char *text, size_t len, size_t *at)
{
    while (*at < len && is_blank(text[*at]))
        ++*at;
    return *at < len && (text[*at] == '{' || text[*at] == '[');
}

void scrub_json_start(struct scrub_json *j, const char *text, size_t len, size_t at,
                      bool fold_top, uint32_t objects)
{
    j->text = text;
    j->len = len;
    j->at = at;
    j->fold_top = fold_top;
    j->expect = WANT_VALUE;
    j->depth = 0;
    j->n_objects = objects;
    j->level[0].array = false;
    j->level[0].path = 0;
    j->level[0].index = 0;
    j->level[0].object = 0;
    j->level[0].key_len = 0;
    j->level[0].key_at = 0;
    j->level[0].key_escaped = false;
}

/* What every value token says about where it stands. */
static void place(const struct scrub_json *j, struct scrub_json_token *t)
{
    unsigned d = j->depth;
    bool folded = j->fold_top && d == 1;

    *t = (struct scrub_json_token){.at = j->at, .object = j->level[d].object};
    t->path = j->level[d].path;
    if (d == 0)
        return;
    if (j->level[d].array) {
        t->path = mix(t->path, folded ? 0 : (uint64_t)j->level[d].index + 1);
        return;
    }
    t->key_at = j->level[d].key_at;
    t->key_len = j->level[d].key_len;
    t->key_escaped = j->level[d].key_escaped;
    t->path = mix(t->path, hash_bytes(j->text + t->key_at, t->key_len));
}

/* The literal that begins at the quote; leaves `at` behind its closing one. */
static void read_string(struct scrub_json *j, struct scrub_json_token *t)
{
    const char *i = j->text + j->at + 1, *end = j->text + j->len;
    const char *quote = memchr(i, '"', (size_t)(end - i));

    t->at = j->at + 1;
    while (quote) {
        const char *escape = memchr(i, '\\', (size_t)(quote - i));
        if (!escape)
            break;
        t->escaped = true;
        i = escape + 2;
        if (quote < i) /* it was escaped */
            quote = i < end ? memchr(i, '"', (size_t)(end - i)) : NULL;
    }
    t->torn = !quote;
    if (t->torn) {
        t->escaped |= memchr(j->text + t->at, '\\', j->len - t->at) != NULL;
        quote = end;
    }
    t->len = (size_t)(quote - j->text) - t->at;
    j->at = t->torn ? j->len : t->at + t->len + 1;
}

static enum scrub_json_kind open_level(struct scrub_json *j, struct scrub_json_token *t)
{
    if (j->depth == LIMIT_JSON_DEPTH)
        return JSON_BAD;
    bool array = j->text[j->at++] == '[';
    unsigned d = ++j->depth;
    j->level[d].array = array;
    j->level[d].path = t->path;
    j->level[d].index = 0;
    j->level[d].object = ++j->n_objects;
    j->level[d].key_len = 0;
    j->expect = array ? WANT_FIRST_VALUE : WANT_FIRST_KEY;
    t->parent = t->object;
    t->object = j->n_objects;
    return JSON_OPEN;
}

static enum scrub_json_kind read_scalar(struct scrub_json *j, struct scrub_json_token *t)
{
    static const char *const words[] = {"true", "false", "null"};
    size_t left = j->len - j->at, n = 0;

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        size_t w = strlen(words[i]);
        if (left >= w && memcmp(j->text + j->at, words[i], w) == 0)
            n = w;
    }
    if (!n)
        while (n < left && j->text[j->at + n] &&
               strchr("0123456789+-.eE", j->text[j->at + n]))
            n++;
    if (!n)
        return JSON_BAD;
    t->len = n;
    j->at += n;
    return JSON_SCALAR;
}

static enum scrub_json_kind read_value(struct scrub_json *j, struct scrub_json_token *t)
{
    char c = j->text[j->at];

    place(j, t);
    if (c == '{' || c == '[')
        return open_level(j, t);
    j->expect = j->depth ? WANT_COMMA : WANT_NOTHING;
    if (c != '"')
        return read_scalar(j, t);
    read_string(j, t);
    return JSON_STRING;
}

static enum scrub_json_kind read_key(struct scrub_json *j, struct scrub_json_token *t)
{
    unsigned d = j->depth;

    *t = (struct scrub_json_token){.object = j->level[d].object};
    if (j->text[j->at] != '"')
        return JSON_BAD;
    read_string(j, t);
    while (j->at < j->len && is_blank(j->text[j->at]))
        j->at++;
    if (j->at >= j->len || j->text[j->at] != ':')
        return JSON_BAD;
    j->at++;
    j->level[d].key_at = t->at;
    j->level[d].key_len = t->len;
    j->level[d].key_escaped = t->escaped;
    j->expect = WANT_VALUE;
    return JSON_KEY;
}

/* A closing bracket or comma; false when neither fits. */
static bool step_over(struct scrub_json *j)
{
    unsigned d = j->depth;
    bool array = j->level[d].array;
    char c = j->text[j->at];
    bool may_close = j->expect != WANT_VALUE && j->expect != WANT_KEY;

    if (c == (array ? ']' : '}') && may_close) {
        j->depth--;
        j->expect = j->depth ? WANT_COMMA : WANT_NOTHING;
    } else if (c == ',' && j->expect == WANT_COMMA) {
        j->level[d].index += array;
        j->expect = array ? WANT_VALUE : WANT_KEY;
    } else {
        return false;
    }
    j->at++;
    return true;
}

enum scrub_json_kind scrub_json_next(struct scrub_json *j, struct scrub_json_token *t)
{
    for (;;) {
        while (j->at < j->len && is_blank(j->text[j->at]))
            j->at++;
        if (j->expect == WANT_NOTHING)
            return JSON_END;
        if (j->at >= j->len)
            return JSON_BAD;
        if (j->depth && j->expect != WANT_VALUE && j->expect != WANT_KEY && step_over(j))
            continue;
        if (j->expect == WANT_VALUE || j->expect == WANT_FIRST_VALUE)
            return read_value(j, t);
        if (j->expect == WANT_KEY || j->expect == WANT_FIRST_KEY)
            return read_key(j, t);
        return JSON_BAD;
    }
}

/* ---- escapes ---- */

static int hex4(const char *s, size_t len)
{
    int v = 0;

    if (len < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = s[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        v = v * 16 + digit;
    }
    return v;
}

/* Half a surrogate pair is written like any other code unit: only its length counts. */
static size_t put_code_unit(int v, char out[3])
{
    if (v < 0x80) {
        out[0] = (char)v;
        return 1;
    }
    if (v < 0x800) {
        out[0] = (char)(0xc0 | v >> 6);
        out[1] = (char)(0x80 | (v & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | v >> 12);
    out[1] = (char)(0x80 | (v >> 6 & 0x3f));
    out[2] = (char)(0x80 | (v & 0x3f));
    return 3;
}

static size_t json_unit(const char *raw, size_t len, char out[3], size_t *n)
{
    static const char names[] = "nrtbf", bytes[] = "\n\r\t\b\f";
    const char *at;

    *n = 1;
    out[0] = raw[0];
    if (raw[0] != '\\' || len < 2)
        return 1;
    out[0] = raw[1];
    if (raw[1] == 'u') {
        int v = hex4(raw + 2, len - 2);
        if (v < 0)
            return 2;
        *n = put_code_unit(v, out);
        return 6;
    }
    if (raw[1] && (at = strchr(names, raw[1])))
        out[0] = bytes[at - names];
    return 2;
}

static size_t percent_unit(const char *raw, size_t len, char out[3], size_t *n)
{
    char digits[4] = {'0', '0'};
    int v = -1;

    *n = 1;
    out[0] = raw[0] == '+' ? ' ' : raw[0];
    if (raw[0] != '%' || len < 3)
        return 1;
    memcpy(digits + 2, raw + 1, 2);
    v = hex4(digits, 4);
    if (v < 0)
        return 1;
    out[0] = (char)v;
    return 3;
}

/* One unit of raw text and the bytes it stands for; returns its raw length. */
static size_t unit(enum scrub_escapes kind, const char *raw, size_t len, char out[3],
                   size_t *n)
{
    return kind == ESCAPES_JSON ? json_unit(raw, len, out, n)
                                : percent_unit(raw, len, out, n);
}

/* How many bytes from here on stand for themselves. */
static size_t plain_run(enum scrub_escapes kind, const char *raw, size_t len)
{
    size_t n = 0;

    if (kind == ESCAPES_JSON) {
        const char *at = memchr(raw, '\\', len);
        return at ? (size_t)(at - raw) : len;
    }
    while (n < len && raw[n] != '%' && raw[n] != '+')
        n++;
    return n;
}

void scrub_json_decode(enum scrub_escapes kind, const char *raw, size_t len,
                       struct buf *out)
{
    size_t i = 0;

    while (i < len) {
        char bytes[3];
        size_t n, run = plain_run(kind, raw + i, len - i);
        buf_add(out, raw + i, run);
        i += run;
        if (i < len) {
            i += unit(kind, raw + i, len - i, bytes, &n);
            buf_add(out, bytes, n);
        }
    }
}

size_t scrub_json_place(struct scrub_json_places *p, size_t decoded, bool begin)
{
    while (p->raw_at < p->len && p->decoded_at < decoded) {
        char bytes[3];
        size_t n, most = decoded - p->decoded_at;
        if (most > p->len - p->raw_at)
            most = p->len - p->raw_at;
        size_t run = plain_run(p->kind, p->raw + p->raw_at, most);
        p->raw_at += run;
        p->decoded_at += run;
        if (run || p->decoded_at == decoded)
            continue;
        size_t step = unit(p->kind, p->raw + p->raw_at, p->len - p->raw_at, bytes, &n);
        if (begin && p->decoded_at + n > decoded)
            break;
        p->raw_at += step;
        p->decoded_at += n;
    }
    return p->raw_at;
}
