/* jsondiff.c - see jsondiff.h. */
#include "tape/jsondiff.h"

#include "base/json.h"
#include "base/limits.h"
#include "tape/excerpt.h"
#include "tape/jsontree.h"
#include "tape/miss.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_MAX 128 /* bytes of a member's name shown in a pointer */
#define POINTER_MAX 512
#define ALIGN_MAX 256 /* elements aligned by longest common subsequence */

/* One comparison under way. */
struct walk {
    const struct jsontree *a, *b;
    struct jsondiff *out;
    struct buf at; /* pointer of the value being compared */
    size_t most;
    double differing; /* weight */
    bool lines;       /* the trees are texts, their elements lines */
    bool nomem;
};

struct member {
    const char *name;
    size_t len;
    size_t order;
    yyjson_val *val;
};

static void compare(struct walk *w, yyjson_val *a, yyjson_val *b);

/* A value as JSON text; one that is too long as a string of its beginning. */
static char *value_text(yyjson_val *val, size_t at)
{
    struct buf out = BUF_INIT(EXCERPT_MAX);
    struct buf whole = BUF_INIT(LIMIT_DECODED_BODY);

    if (!val)
        return NULL;
    if (yyjson_is_str(val)) {
        excerpt_json(&out, yyjson_get_str(val), yyjson_get_len(val), at);
        return buf_take(&out);
    }
    json_canonical(val, &whole);
    if (whole.len <= EXCERPT_MAX)
        return buf_take(&whole);
    excerpt_json(&out, whole.data, whole.len, 0);
    buf_free(&whole);
    return buf_take(&out);
}

static bool room_for_one(struct walk *w)
{
    struct jsondiff *d = w->out;

    if (d->n == w->most) {
        d->n_more++;
        return false;
    }
    /* Powers of two: grow when n reaches one. */
    if ((d->n & (d->n - 1)) == 0) {
        size_t cap = d->n ? d->n * 2 : 1;
        struct miss_difference *list = realloc(d->list, cap * sizeof *list);
        if (!list) {
            w->nomem = true;
            return false;
        }
        d->list = list;
    }
    return true;
}

/* Write down one difference; either side may be NULL (absent). */
static void note(struct walk *w, yyjson_val *a, yyjson_val *b)
{
    struct buf at = BUF_INIT(POINTER_MAX + 8);
    size_t first = 0;

    if (!room_for_one(w))
        return;
    if (yyjson_is_str(a) && yyjson_is_str(b))
        first = excerpt_common(yyjson_get_str(a), yyjson_get_len(a), yyjson_get_str(b),
                               yyjson_get_len(b));
    excerpt_head(&at, buf_cstr(&w->at), w->at.len, POINTER_MAX);
    struct miss_difference d = {buf_take(&at), value_text(a, first),
                                value_text(b, first)};
    w->nomem = w->nomem || !d.at || (a && !d.recorded) || (b && !d.asked);
    w->out->list[w->out->n++] = d;
}

/* Go down one step of the pointer; the caller restores the length it had. */
static void enter_name(struct walk *w, const char *name, size_t len)
{
    struct buf token = BUF_INIT(TOKEN_MAX + 8);

    excerpt_head(&token, name, len, TOKEN_MAX);
    buf_char(&w->at, '/');
    for (size_t i = 0; i < token.len; i++) {
        if (token.data[i] == '~' || token.data[i] == '/')
            buf_str(&w->at, token.data[i] == '~' ? "~0" : "~1");
        else
            buf_char(&w->at, token.data[i]);
    }
    buf_free(&token);
}

static void enter_index(struct walk *w, size_t i)
{
    if (w->lines && w->at.len == 0)
        buf_fmt(&w->at, "@line %zu", i + 1);
    else
        buf_fmt(&w->at, "/%zu", i);
}

static void leave(struct walk *w, size_t len)
{
    if (w->at.data) {
        w->at.len = len;
        w->at.data[len] = '\0';
    }
}

static void one_sided(struct walk *w, yyjson_val *a, yyjson_val *b)
{
    w->differing += a ? jsontree_weight(w->a, a) : jsontree_weight(w->b, b);
    note(w, a, b);
}

static int by_name(const void *x, const void *y)
{
    const struct member *a = x, *b = y;
    size_t n = a->len < b->len ? a->len : b->len;
    int c = n ? memcmp(a->name, b->name, n) : 0;

    if (c == 0)
        c = (a->len > b->len) - (a->len < b->len);
    return c ? c : (a->order > b->order) - (a->order < b->order);
}

static bool same_name(const struct member *a, const struct member *b)
{
    return a->len == b->len && memcmp(a->name, b->name, a->len) == 0;
}

/* The members in order of their names; of equal names the last counts. */
static struct member *members(yyjson_val *obj, size_t *n)
{
    size_t count = yyjson_obj_size(obj), kept = 0;
    struct member *list = malloc((count + 1) * sizeof *list);
    yyjson_obj_iter it = yyjson_obj_iter_with(obj);
    yyjson_val *key;

    if (!list)
        return NULL;
    for (size_t i = 0; (key = yyjson_obj_iter_next(&it)); i++)
        list[i] = (struct member){yyjson_get_str(key), yyjson_get_len(key), i,
                                  yyjson_obj_iter_get_val(key)};
    qsort(list, count, sizeof *list, by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && same_name(&list[kept - 1], &list[i]))
            kept--;
        list[kept++] = list[i];
    }
    *n = kept;
    return list;
}

static void compare_objects(struct walk *w, yyjson_val *a, yyjson_val *b)
{
    size_t na = 0, nb = 0, mark = w->at.len;
    struct member *ma = members(a, &na), *mb = members(b, &nb);

    w->nomem = w->nomem || !ma || !mb;
    for (size_t i = 0, j = 0; !w->nomem && (i < na || j < nb);) {
        struct member *x = i < na ? &ma[i] : NULL, *y = j < nb ? &mb[j] : NULL;
        bool both = x && y && same_name(x, y);
        bool left = !both && x && (!y || by_name(x, y) < 0);
        const struct member *named = left || both ? x : y;

        enter_name(w, named->name, named->len);
        if (both)
            compare(w, x->val, y->val);
        else
            one_sided(w, left ? x->val : NULL, left ? NULL : y->val);
        leave(w, mark);
        i += both || left;
        j += both || !left;
    }
    free(ma);
    free(mb);
}

/* Two arrays being aligned: what is left of each, with its place in the whole. */
struct span {
    yyjson_val **v;
    size_t from, to;
};

static void elements(struct walk *w, yyjson_val *arr, struct span *s)
{
    yyjson_arr_iter it = yyjson_arr_iter_with(arr);
    yyjson_val *item;

    *s = (struct span){.to = yyjson_arr_size(arr)};
    s->v = malloc((s->to + 1) * sizeof *s->v);
    if (!s->v) {
        w->nomem = true;
        return;
    }
    for (size_t i = 0; (item = yyjson_arr_iter_next(&it)); i++)
        s->v[i] = item;
}

static bool equal_at(const struct walk *w, const struct span *a, size_t i,
                     const struct span *b, size_t j)
{
    return jsontree_hash(w->a, a->v[i]) == jsontree_hash(w->b, b->v[j]);
}

/* Nothing in common here: pair in order, what is left over stands on one side only. */
static void compare_gap(struct walk *w, const struct span *a, size_t i, size_t i_end,
                        const struct span *b, size_t j, size_t j_end)
{
    size_t mark = w->at.len;

    for (; (i < i_end || j < j_end) && !w->nomem; i++, j++) {
        enter_index(w, j < j_end ? j : i);
        if (i < i_end && j < j_end)
            compare(w, a->v[i], b->v[j]);
        else
            one_sided(w, i < i_end ? a->v[i] : NULL, i < i_end ? NULL : b->v[j]);
        leave(w, mark);
    }
}

/* table[i][j]: length of the longest common subsequence of a[i..] and b[j..]. */
static void align(struct walk *w, const struct span *a, const struct span *b)
{
    size_t na = a->to - a->from, nb = b->to - b->from, wide = nb + 1;
    uint16_t *table = calloc((na + 1) * wide, sizeof *table);
    size_t i, j, gap_i = a->from, gap_j = b->from;

    if (!table) {
        w->nomem = true;
        return;
    }
    for (i = na; i-- > 0;)
        for (j = nb; j-- > 0;) {
            uint16_t down = table[(i + 1) * wide + j], right = table[i * wide + j + 1];
            table[i * wide + j] = equal_at(w, a, a->from + i, b, b->from + j)
                                      ? (uint16_t)(table[(i + 1) * wide + j + 1] + 1)
                                      : (down > right ? down : right);
        }
    for (i = 0, j = 0; i < na && j < nb;) {
        if (equal_at(w, a, a->from + i, b, b->from + j)) {
            compare_gap(w, a, gap_i, a->from + i, b, gap_j, b->from + j);
            gap_i = a->from + ++i;
            gap_j = b->from + ++j;
        } else if (table[(i + 1) * wide + j] >= table[i * wide + j + 1]) {
            i++;
        } else {
            j++;
        }
    }
    compare_gap(w, a, gap_i, a->to, b, gap_j, b->to);
    free(table);
}

static void compare_arrays(struct walk *w, yyjson_val *a_val, yyjson_val *b_val)
{
    struct span a, b;

    elements(w, a_val, &a);
    elements(w, b_val, &b);
    if (!w->nomem) {
        while (a.from < a.to && b.from < b.to && equal_at(w, &a, a.from, &b, b.from)) {
            a.from++;
            b.from++;
        }
        while (a.from < a.to && b.from < b.to &&
               equal_at(w, &a, a.to - 1, &b, b.to - 1)) {
            a.to--;
            b.to--;
        }
        if (a.to - a.from <= ALIGN_MAX && b.to - b.from <= ALIGN_MAX)
            align(w, &a, &b);
        else
            compare_gap(w, &a, a.from, a.to, &b, b.from, b.to);
    }
    free(a.v);
    free(b.v);
}

/* Depth is bounded by the reader (LIMIT_JSON_DEPTH). */
static void compare(struct walk *w, yyjson_val *a, yyjson_val *b)
{
    if (w->nomem || jsontree_hash(w->a, a) == jsontree_hash(w->b, b))
        return;
    if (yyjson_is_obj(a) && yyjson_is_obj(b)) {
        compare_objects(w, a, b);
    } else if (yyjson_is_arr(a) && yyjson_is_arr(b)) {
        compare_arrays(w, a, b);
    } else {
        uint32_t wa = jsontree_weight(w->a, a), wb = jsontree_weight(w->b, b);
        if (yyjson_is_str(a) && yyjson_is_str(b))
            wa = wb = jsontree_text_distance(yyjson_get_str(a), yyjson_get_len(a),
                                             yyjson_get_str(b), yyjson_get_len(b));
        w->differing += wa > wb ? wa : wb;
        note(w, a, b);
    }
}

/* A body that is no text, as words about it. NULL when there is none. */
static char *bytes_text(const char *s, size_t len, size_t first)
{
    struct buf out = BUF_INIT(EXCERPT_MAX);

    if (len == 0)
        return NULL;
    if (json_is_utf8(s, len))
        excerpt_json(&out, s, len, first);
    else
        buf_fmt(&out, "\"[%zu bytes, the first difference at byte %zu]\"", len, first);
    return buf_take(&out);
}

static void compare_bytes(struct walk *w, const char *a, size_t a_len, const char *b,
                          size_t b_len)
{
    size_t larger = a_len > b_len ? a_len : b_len;
    size_t smaller = a_len < b_len ? a_len : b_len;
    size_t head = excerpt_common(a, a_len, b, b_len), tail = 0;

    while (tail < smaller - head && a[a_len - 1 - tail] == b[b_len - 1 - tail])
        tail++;
    w->out->distance = (double)(larger - head - tail) / (double)larger;
    if (w->out->distance <= 0)
        w->out->distance = 1.0 / (double)larger;
    if (!room_for_one(w))
        return;
    struct miss_difference d = {strdup(""), bytes_text(a, a_len, head),
                                bytes_text(b, b_len, head)};
    w->nomem = !d.at || (a_len && !d.recorded) || (b_len && !d.asked);
    w->out->list[w->out->n++] = d;
}

static void compare_trees(struct walk *w)
{
    uint32_t wa = jsontree_weight(w->a, w->a->root);
    uint32_t wb = jsontree_weight(w->b, w->b->root);

    w->at = BUF_INIT(LIMIT_JSON_DEPTH * (2 * TOKEN_MAX + 16));
    compare(w, w->a->root, w->b->root);
    buf_free(&w->at);
    w->out->distance = w->differing / (double)(wa > wb ? wa : wb);
    if (w->out->distance > 1)
        w->out->distance = 1;
}

int jsondiff_compare(struct jsondiff *out, const char *a, size_t a_len, const char *b,
                     size_t b_len, size_t most, struct err *e)
{
    struct jsontree ta = {0}, tb = {0};
    struct walk w = {.a = &ta, .b = &tb, .out = out, .most = most};
    struct err not_json = {0};

    *out = (struct jsondiff){0};
    if (a_len == b_len && (a_len == 0 || memcmp(a, b, a_len) == 0))
        return 0;
    if (a_len && b_len && jsontree_read(&ta, a, a_len, &not_json) == 0 &&
        jsontree_read(&tb, b, b_len, &not_json) == 0) {
        compare_trees(&w);
        goto out;
    }
    jsontree_fini(&ta);
    if (a_len && b_len && json_is_utf8(a, a_len) && json_is_utf8(b, b_len)) {
        w.lines = true;
        w.nomem =
            jsontree_lines(&ta, a, a_len, e) < 0 || jsontree_lines(&tb, b, b_len, e) < 0;
        if (!w.nomem)
            compare_trees(&w);
        /* Texts that differ in nothing but their last line end. */
        if (!w.nomem && out->n == 0 && out->n_more == 0)
            compare_bytes(&w, a, a_len, b, b_len);
    } else {
        compare_bytes(&w, a, a_len, b, b_len);
    }
out:
    jsontree_fini(&ta);
    jsontree_fini(&tb);
    if (w.nomem) {
        jsondiff_fini(out);
        return err_set(e, ERR_NOMEM, "compare: out of memory");
    }
    return 0;
}

void jsondiff_fini(struct jsondiff *d)
{
    miss_differences_free(&d->list, &d->n);
    d->n_more = 0;
}
