/* scrub_find.c - see scrub_find.h. */
#include "tape/scrub_find.h"

#include "tape/secret_forms.h"

#include <string.h>

#define NESTED_MOST 3 /* JSON inside of strings inside of JSON ... */

void scrub_find_text(const struct scrub *s, const char *text, size_t len,
                     struct scrub_edits *edits)
{
    struct secret_scan scan;
    struct secret_find find;

    secret_scan_start(&scan, s->secrets, text, len, 0);
    while (secret_scan_next(&scan, &find))
        scrub_edits_add(edits, find.at, find.len, secrets_name(s->secrets, find.rule));
}

/* ---- strings of JSON ---- */

static bool is_base64(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!secret_shape_in_class('b', (unsigned char)text[i]) && text[i] != '-' &&
            text[i] != '_' && text[i] != '\\')
            return false;
    return true;
}

/* Images, audio, files and other long opaque strings. */
static bool is_blob(const struct scrub_json *j, const struct scrub_json_token *t)
{
    enum { BLOB_LEAST = 512, DATA_LEAST = 64, HEAD_MOST = 128 };
    const char *text = j->text + t->at, *head = NULL;
    size_t least = BLOB_LEAST;

    if (t->key_len == 4 && memcmp(j->text + t->key_at, "data", 4) == 0)
        least = DATA_LEAST;
    if (t->len > 5 && memcmp(text, "data:", 5) == 0)
        head = memmem(text, t->len < HEAD_MOST ? t->len : HEAD_MOST, ";base64,", 8);
    if (head)
        return is_base64(head + 8, t->len - (size_t)(head + 8 - text));
    return t->len >= least && is_base64(text, t->len);
}

/* Find a name as it was sent, escapes undone. */
static const struct scrub_name *find_key(const struct scrub_names *names, const char *raw,
                                         size_t len, bool escaped)
{
    const struct scrub_name *row = NULL;
    struct buf key = BUF_INIT(KIB(4));

    if (!escaped)
        return scrub_names_find(names, raw, len);
    scrub_json_decode(ESCAPES_JSON, raw, len, &key);
    if (!key.failed)
        row = scrub_names_find(names, buf_cstr(&key), key.len);
    buf_free(&key);
    return row;
}

/* Search a decoded copy of raw text and bring the finds back to its places. */
static void find_decoded(const struct scrub *s, enum scrub_escapes kind, const char *raw,
                         size_t len, unsigned depth, struct scrub_edits *edits)
{
    struct buf text = BUF_INIT(LIMIT_DECODED_BODY);
    struct scrub_edits inner = {0};
    struct scrub_json_places places = {.kind = kind, .raw = raw, .len = len};

    scrub_json_decode(kind, raw, len, &text);
    scrub_find_inner(s, buf_cstr(&text), text.len, depth, &inner);
    scrub_edits_settle(&inner);
    for (size_t i = 0; i < inner.n; i++) {
        size_t at = scrub_json_place(&places, inner.v[i].at, true);
        size_t end = scrub_json_place(&places, inner.v[i].at + inner.v[i].len, false);
        scrub_edits_add(edits, at, end - at, inner.v[i].rule);
    }
    edits->failed |= inner.failed || text.failed;
    scrub_edits_free(&inner);
    buf_free(&text);
}

void scrub_find_string(const struct scrub *s, const struct scrub_json *j,
                       enum scrub_json_kind kind, const struct scrub_json_token *t,
                       unsigned depth, bool *opaque, struct scrub_edits *edits)
{
    const char *raw = j->text + t->at, *key = j->text + t->key_at;
    const struct scrub_name *row = NULL;
    size_t base = edits->base;

    *opaque = false;
    edits->base = base + t->at;
    if (kind == JSON_STRING && t->key_len)
        row = find_key(&s->fields, key, t->key_len, t->key_escaped);
    if (row && scrub_names_fits(row, raw, t->len)) {
        scrub_edits_add(edits, 0, t->len, row->rule);
    } else if (kind == JSON_STRING &&
               ((t->key_len && find_key(&s->exempt, key, t->key_len, t->key_escaped)) ||
                is_blob(j, t))) {
        *opaque = true;
    } else if (t->escaped) {
        find_decoded(s, ESCAPES_JSON, raw, t->len, depth, edits);
    } else {
        scrub_find_text(s, raw, t->len, edits);
    }
    edits->base = base;
}

void scrub_find_inner(const struct scrub *s, const char *text, size_t len, unsigned depth,
                      struct scrub_edits *edits)
{
    struct scrub_json j;
    struct scrub_json_token t;
    enum scrub_json_kind kind;
    size_t at = 0;
    bool opaque;

    scrub_find_text(s, text, len, edits);
    if (depth >= NESTED_MOST)
        return;
    while (scrub_json_looks_like(text, len, &at)) {
        scrub_json_start(&j, text, len, at, false, 0);
        while ((kind = scrub_json_next(&j, &t)) != JSON_END && kind != JSON_BAD)
            if (kind == JSON_STRING)
                scrub_find_string(s, &j, kind, &t, depth + 1, &opaque, edits);
        if (kind == JSON_BAD)
            return;
        at = j.at;
    }
}

/* ---- forms and queries ---- */

static const struct scrub_name *find_pair(const struct scrub_names *const *names,
                                          const char *name, size_t name_len,
                                          const char *value, size_t value_len)
{
    const struct scrub_name *row = NULL;
    struct buf text = BUF_INIT(KIB(4));

    scrub_json_decode(ESCAPES_PERCENT, name, name_len, &text);
    for (; *names && !row && !text.failed; names++) {
        row = scrub_names_find(*names, buf_cstr(&text), text.len);
        if (row && !scrub_names_fits(row, value, value_len))
            row = NULL;
    }
    buf_free(&text);
    return row;
}

void scrub_find_pairs(const struct scrub *s, const struct scrub_names *const *names,
                      const char *text, size_t len, struct scrub_edits *edits)
{
    size_t base = edits->base;

    for (size_t at = 0; at < len;) {
        const char *pair = text + at;
        const char *amp = memchr(pair, '&', len - at);
        size_t n = amp ? (size_t)(amp - pair) : len - at;
        const char *eq = memchr(pair, '=', n);
        size_t name = eq ? (size_t)(eq - pair) : n;
        size_t value = eq ? name + 1 : n;
        const struct scrub_name *row =
            find_pair(names, pair, name, pair + value, n - value);

        edits->base = base + at;
        if (row) {
            scrub_edits_add(edits, value, n - value, row->rule);
        } else {
            scrub_find_text(s, pair, n, edits);
            edits->base += value;
            if (memchr(pair + value, '%', n - value) ||
                memchr(pair + value, '+', n - value))
                find_decoded(s, ESCAPES_PERCENT, pair + value, n - value, 0, edits);
        }
        at += n + 1;
    }
    edits->base = base;
}

/* ---- the first look ---- */

static size_t skip(const char *text, size_t len, size_t at, const char *set)
{
    while (at < len && text[at] && strchr(set, text[at]))
        at++;
    return at;
}

/* \u0041: a letter hidden from the filter. Letters that encoders escape for the sake of
 * HTML (< > & ' ") are part of no shape. */
static bool hides_a_letter(const char *text, size_t len, size_t at)
{
    static const char *const harmless[] = {"22", "26", "27", "3c", "3e", "3C", "3E"};

    if (len - at < 6 || text[at + 4] < '2' || text[at + 4] > '7')
        return false;
    for (size_t i = 0; i < COUNT_OF(harmless); i++)
        if (memcmp(text + at + 4, harmless[i], 2) == 0)
            return false;
    return true;
}

bool scrub_find_is_field(const char *text, size_t len, size_t at, void *arg)
{
    const struct scrub *s = arg;
    size_t from = at, to = at, most = 64;

    if (text[at] == '\\')
        return hides_a_letter(text, len, at);
    while (from > 0 && at - from < most &&
           secret_shape_in_class('u', (unsigned char)text[from - 1]))
        from--;
    while (to < len && to - at < most &&
           secret_shape_in_class('u', (unsigned char)text[to]))
        to++;
    size_t i = skip(text, len, to, "\\");
    if (i >= len || text[i] != '"')
        return false;
    i = skip(text, len, i + 1, " \t\r\n");
    if (i >= len || text[i] != ':')
        return false;
    i = skip(text, len, skip(text, len, i + 1, " \t\r\n"), "\\");
    return i < len && text[i] == '"' &&
           scrub_names_find(&s->fields, text + from, to - from);
}
