/* jsontree.c - see jsontree.h. */
#include "tape/jsontree.h"

#include "base/digest.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_MAX 512 /* text without line ends or blanks is cut here */

/* MurmurHash3's 64-bit finaliser: every bit of the input reaches every bit of the hash.
 */
static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t h = a * 0x9e3779b97f4a7c15u + b;

    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

static uint64_t bytes_hash(const char *s, size_t len)
{
    return digest_xxh3(s, len).lo;
}

/*
 * The next piece of a text: to the end of the line, or to a blank after a byte whose low
 * bits are 5 (in English every fifth word or so). Where a piece ends depends on the text
 * alone, not on its offset, so after an insertion the pieces fall in step again.
 */
static size_t piece(const char *s, size_t len)
{
    size_t most = len < PIECE_MAX ? len : PIECE_MAX;

    for (size_t i = 0; i < most; i++)
        if (s[i] == '\n' || (s[i] == ' ' && i > 0 && (s[i - 1] & 7) == 5))
            return i + 1;
    return most;
}

static uint32_t pieces(const char *s, size_t len)
{
    uint32_t n = 0;

    for (size_t at = 0; at < len; at += piece(s + at, len - at))
        n++;
    return n ? n : 1;
}

/* Counts of hashes in an open-addressing table. */
struct tally {
    uint64_t *hash;
    uint32_t *count;
    size_t mask;
};

static uint32_t *tally_at(struct tally *t, uint64_t h)
{
    size_t i = (size_t)h & t->mask;

    h |= 1; /* 0 marks a free slot */
    while (t->hash[i] && t->hash[i] != h)
        i = (i + 1) & t->mask;
    t->hash[i] = h;
    return &t->count[i];
}

uint32_t jsontree_text_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    uint32_t na = pieces(a, a_len), nb = pieces(b, b_len);
    uint32_t larger = na > nb ? na : nb, common = 0;
    struct tally t = {.mask = 1};
    size_t n;

    while (t.mask < 2 * ((size_t)na + nb))
        t.mask *= 2;
    t.mask -= 1;
    t.hash = calloc(t.mask + 1, sizeof *t.hash);
    t.count = calloc(t.mask + 1, sizeof *t.count);
    if (t.hash && t.count) {
        for (size_t at = 0; at < a_len; at += n) {
            n = piece(a + at, a_len - at);
            *tally_at(&t, mix(1, bytes_hash(a + at, n))) += 1;
        }
        for (size_t at = 0; at < b_len; at += n) {
            n = piece(b + at, b_len - at);
            uint32_t *left = tally_at(&t, mix(1, bytes_hash(b + at, n)));
            common += *left > 0;
            *left -= *left > 0;
        }
    }
    free(t.hash);
    free(t.count);
    return larger > common ? larger - common : 1;
}

static size_t place(const struct jsontree *t, yyjson_val *val)
{
    /* yyjson keeps the values of a read-only document in one array, root first. */
    return (size_t)(val - t->root);
}

uint64_t jsontree_hash(const struct jsontree *t, yyjson_val *val)
{
    return t->hash[place(t, val)];
}

uint32_t jsontree_weight(const struct jsontree *t, yyjson_val *val)
{
    return t->weight[place(t, val)];
}

static void annotate(struct jsontree *t, yyjson_val *val);

static void annotate_array(struct jsontree *t, yyjson_val *val, uint64_t *h, uint32_t *w)
{
    yyjson_val *item;
    yyjson_arr_iter it = yyjson_arr_iter_with(val);

    while ((item = yyjson_arr_iter_next(&it))) {
        annotate(t, item);
        *h = mix(*h, jsontree_hash(t, item));
        *w += jsontree_weight(t, item);
    }
}

static void annotate_object(struct jsontree *t, yyjson_val *val, uint64_t *h, uint32_t *w)
{
    yyjson_val *key;
    yyjson_obj_iter it = yyjson_obj_iter_with(val);

    while ((key = yyjson_obj_iter_next(&it))) {
        yyjson_val *member = yyjson_obj_iter_get_val(key);
        annotate(t, member);
        /* A sum, so that the order of members does not count. */
        *h += mix(bytes_hash(yyjson_get_str(key), yyjson_get_len(key)),
                  jsontree_hash(t, member));
        *w += jsontree_weight(t, member);
    }
}

/* Depth is bounded by the reader (LIMIT_JSON_DEPTH). */
static void annotate(struct jsontree *t, yyjson_val *val)
{
    uint64_t h = yyjson_get_type(val);
    uint32_t w = 1;
    double real;

    switch (yyjson_get_type(val)) {
    case YYJSON_TYPE_STR:
        h = mix(h, bytes_hash(yyjson_get_str(val), yyjson_get_len(val)));
        w = pieces(yyjson_get_str(val), yyjson_get_len(val));
        break;
    case YYJSON_TYPE_NUM:
        real = yyjson_get_real(val);
        h = mix(h, yyjson_get_subtype(val));
        h = mix(h, yyjson_is_real(val) ? bytes_hash((const char *)&real, sizeof real)
                                       : yyjson_get_uint(val));
        break;
    case YYJSON_TYPE_ARR:
        annotate_array(t, val, &h, &w);
        break;
    case YYJSON_TYPE_OBJ:
        annotate_object(t, val, &h, &w);
        break;
    default:
        h = mix(h, yyjson_get_subtype(val)); /* true and false differ in it alone */
        break;
    }
    t->hash[place(t, val)] = mix(h, 2);
    t->weight[place(t, val)] = w;
}

/* Takes over doc. */
static int build(struct jsontree *t, yyjson_doc *doc, struct err *e)
{
    size_t n = yyjson_doc_get_val_count(doc);

    *t = (struct jsontree){.doc = doc, .root = yyjson_doc_get_root(doc)};
    t->hash = malloc(n * sizeof *t->hash);
    t->weight = malloc(n * sizeof *t->weight);
    if (!t->hash || !t->weight) {
        jsontree_fini(t);
        return err_set(e, ERR_NOMEM, "compare: out of memory");
    }
    annotate(t, t->root);
    return 0;
}

int jsontree_read(struct jsontree *t, const char *text, size_t len, struct err *e)
{
    yyjson_doc *doc = NULL;

    *t = (struct jsontree){0};
    if (json_read(&doc, text, len, e) < 0)
        return -1;
    if (!yyjson_is_ctn(yyjson_doc_get_root(doc))) {
        yyjson_doc_free(doc);
        return err_set(e, ERR_FORMAT, "not a JSON object or array");
    }
    return build(t, doc, e);
}

int jsontree_lines(struct jsontree *t, const char *text, size_t len, struct err *e)
{
    yyjson_mut_doc *lines = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_arr(lines);
    yyjson_doc *doc = NULL;
    bool good = root != NULL;

    *t = (struct jsontree){0};
    for (size_t at = 0; good && at < len;) {
        const char *lf = memchr(text + at, '\n', len - at);
        size_t n = lf ? (size_t)(lf - text) - at : len - at;
        good = yyjson_mut_arr_add_strn(lines, root, text + at, n);
        at += n + 1;
    }
    if (good) {
        yyjson_mut_doc_set_root(lines, root);
        doc = yyjson_mut_doc_imut_copy(lines, NULL);
    }
    yyjson_mut_doc_free(lines);
    if (!doc)
        return err_set(e, ERR_NOMEM, "compare: out of memory");
    return build(t, doc, e);
}

void jsontree_fini(struct jsontree *t)
{
    yyjson_doc_free(t->doc);
    free(t->hash);
    free(t->weight);
    *t = (struct jsontree){0};
}

/* The `most` smallest hashes seen so far, as a heap with the largest on top. */
struct smallest {
    uint64_t *v;
    size_t n;
};

static void sift_down(uint64_t *v, size_t n, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n)
            return;
        if (child + 1 < n && v[child + 1] > v[child])
            child++;
        if (v[i] >= v[child])
            return;
        uint64_t up = v[child];
        v[child] = v[i];
        v[i] = up;
        i = child;
    }
}

static void keep(struct smallest *s, uint64_t h)
{
    if (s->n < JSONTREE_SKETCH) {
        s->v[s->n++] = h;
        if (s->n == JSONTREE_SKETCH)
            for (size_t i = s->n / 2; i-- > 0;)
                sift_down(s->v, s->n, i);
    } else if (h < s->v[0]) {
        s->v[0] = h;
        sift_down(s->v, s->n, 0);
    }
}

static void keep_value(const struct jsontree *t, struct smallest *s, uint64_t name,
                       yyjson_val *val)
{
    yyjson_val *item;
    yyjson_arr_iter it;

    if (!yyjson_is_arr(val) || yyjson_arr_size(val) == 0) {
        keep(s, mix(name, jsontree_hash(t, val)));
        return;
    }
    it = yyjson_arr_iter_with(val);
    while ((item = yyjson_arr_iter_next(&it)))
        keep(s, mix(name, jsontree_hash(t, item)));
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

size_t jsontree_sketch(const struct jsontree *t, uint64_t out[JSONTREE_SKETCH])
{
    struct smallest s = {.v = out};
    yyjson_val *key;
    yyjson_obj_iter it;

    if (yyjson_is_arr(t->root)) {
        keep_value(t, &s, 0, t->root);
    } else {
        it = yyjson_obj_iter_with(t->root);
        while ((key = yyjson_obj_iter_next(&it)))
            keep_value(t, &s, bytes_hash(yyjson_get_str(key), yyjson_get_len(key)),
                       yyjson_obj_iter_get_val(key));
    }
    qsort(out, s.n, sizeof *out, by_value);
    return s.n;
}

double jsontree_overlap(const uint64_t *a, size_t na, const uint64_t *b, size_t nb)
{
    size_t larger = na > nb ? na : nb, common = 0;

    for (size_t i = 0, j = 0; i < na && j < nb;) {
        if (a[i] == b[j]) {
            common++;
            i++;
            j++;
        } else if (a[i] < b[j]) {
            i++;
        } else {
            j++;
        }
    }
    return larger ? (double)common / (double)larger : 1.0;
}
