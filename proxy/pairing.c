/* pairing.c - see pairing.h. */
#include "proxy/pairing.h"

#include "base/limits.h"

#include <stdlib.h>
#include <string.h>

/* One tape while pairs are being made. */
struct side {
    const struct tape *tape;
    size_t n;
    size_t *partner; /* by index, or PAIRING_NONE */
    struct label *labels;
    size_t n_labels;
};

/* What makes two exchanges a pair. */
struct label {
    uint8_t bytes[DIGEST_SHA256];
    size_t at;
};

typedef int label_fn(const struct tape *t, size_t i, const struct canon_rules *r,
                     struct label *out, struct err *e);

static int label_stored_key(const struct tape *t, size_t i, const struct canon_rules *r,
                            struct label *out, struct err *e)
{
    (void)r;
    (void)e;
    memcpy(out->bytes, tape_entry(t, i)->key, sizeof out->bytes);
    return 0;
}

static int label_key(const struct tape *t, size_t i, const struct canon_rules *r,
                     struct label *out, struct err *e)
{
    struct exchange x;
    struct url url = {0};
    struct canon_result canon;
    int rc = -1;

    if (tape_load(t, i, &x, e) < 0)
        return -1;
    if (url_parse(&url, x.url, e) == 0) {
        struct canon_request req = {x.method, &url, &x.req_headers, buf_cstr(&x.req_body),
                                    x.req_body.len};
        rc = canon_key(r, &req, &canon, e);
    }
    if (rc == 0)
        must(digest_unhex(strchr(canon.key, ':') + 1, 2 * DIGEST_SHA256, out->bytes,
                          DIGEST_SHA256) == 0);
    url_fini(&url);
    exchange_fini(&x);
    return rc;
}

/* Method, host and path. */
static int label_place(const struct tape *t, size_t i, const struct canon_rules *r,
                       struct label *out, struct err *e)
{
    struct exchange x;
    struct url url = {0};
    struct buf text = BUF_INIT(LIMIT_LINE);
    int rc = -1;

    (void)r;
    if (tape_load_head(t, i, &x, e) < 0)
        return -1;
    if (url_parse(&url, x.url, e) == 0) {
        buf_fmt(&text, "%s ", x.method);
        url_origin(&url, &text);
        buf_str(&text, url.path);
        rc = buf_check(&text, "URL", e);
    }
    if (rc == 0)
        digest_sha256(text.data, text.len, out->bytes);
    buf_free(&text);
    url_fini(&url);
    exchange_fini(&x);
    return rc;
}

static int by_label(const void *x, const void *y)
{
    const struct label *a = x, *b = y;
    int c = memcmp(a->bytes, b->bytes, sizeof a->bytes);

    return c ? c : (a->at > b->at) - (a->at < b->at);
}

/* The labels of what has no partner yet, sorted. */
static int collect(struct side *s, label_fn *label, const struct canon_rules *r,
                   struct err *e)
{
    s->n_labels = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct label *l = &s->labels[s->n_labels];
        if (s->partner[i] != PAIRING_NONE)
            continue;
        if (label(s->tape, i, r, l, e) < 0)
            return -1;
        l->at = i;
        s->n_labels++;
    }
    qsort(s->labels, s->n_labels, sizeof *s->labels, by_label);
    return 0;
}

/* The k-th of a label in a and the k-th of it in b are partners. */
static int pair_up(struct side *a, struct side *b, label_fn *label,
                   const struct canon_rules *r, struct err *e)
{
    if (collect(a, label, r, e) < 0 || collect(b, label, r, e) < 0)
        return -1;
    for (size_t i = 0, j = 0; i < a->n_labels && j < b->n_labels;) {
        struct label *x = &a->labels[i], *y = &b->labels[j];
        int c = memcmp(x->bytes, y->bytes, sizeof x->bytes);
        if (c == 0) {
            a->partner[x->at] = y->at;
            b->partner[y->at] = x->at;
        }
        i += c <= 0;
        j += c >= 0;
    }
    return 0;
}

static int side_init(struct side *s, const struct tape *t, struct err *e)
{
    *s = (struct side){.tape = t, .n = tape_count(t)};
    s->partner = malloc((s->n + 1) * sizeof *s->partner);
    s->labels = malloc((s->n + 1) * sizeof *s->labels);
    if (!s->partner || !s->labels)
        return err_set(e, ERR_NOMEM, "%.200s: out of memory", tape_name(t));
    for (size_t i = 0; i < s->n; i++)
        s->partner[i] = PAIRING_NONE;
    return 0;
}

static void side_fini(struct side *s)
{
    free(s->partner);
    free(s->labels);
}

/* Pairs that are not part of the longest run in which both cassettes agree on order:
 * all pairs less the longest increasing subsequence of partners. */
static size_t count_moved(const struct side *a, size_t *tails)
{
    size_t n = 0, pairs = 0;

    for (size_t i = 0; i < a->n; i++) {
        size_t lo = 0, hi = n;
        if (a->partner[i] == PAIRING_NONE)
            continue;
        pairs++;
        while (lo < hi) {
            size_t mid = (lo + hi) / 2;
            if (tails[mid] < a->partner[i])
                lo = mid + 1;
            else
                hi = mid;
        }
        tails[lo] = a->partner[i];
        n += lo == n;
    }
    return pairs - n;
}

/* `same` tells which partners have equal keys. */
static void fill_rows(struct pairing *p, const struct side *a, const struct side *b,
                      const bool *same)
{
    size_t j = 0;

    for (size_t i = 0; i < a->n; i++) {
        size_t partner = a->partner[i];
        for (; partner != PAIRING_NONE && j < partner; j++)
            if (b->partner[j] == PAIRING_NONE)
                p->rows[p->n++] = (struct pairing_row){PAIR_ONLY_B, PAIRING_NONE, j};
        p->rows[p->n++] = (struct pairing_row){partner == PAIRING_NONE ? PAIR_ONLY_A
                                               : same[i]               ? PAIR_SAME
                                                                       : PAIR_CHANGED,
                                               i, partner};
    }
    for (; j < b->n; j++)
        if (b->partner[j] == PAIRING_NONE)
            p->rows[p->n++] = (struct pairing_row){PAIR_ONLY_B, PAIRING_NONE, j};
}

int pairing_new(struct pairing **out, const struct tape *a_tape,
                const struct tape *b_tape, const struct canon_rules *r, struct err *e)
{
    label_fn *key = canon_rules_is_default(r) ? label_stored_key : label_key;
    struct side a = {0}, b = {0};
    struct pairing *p = calloc(1, sizeof *p);
    bool *same = NULL;
    size_t *tails = NULL;
    int rc = -1;

    *out = NULL;
    if (side_init(&a, a_tape, e) < 0 || side_init(&b, b_tape, e) < 0)
        goto out;
    same = calloc(a.n + 1, sizeof *same);
    tails = calloc(a.n + 1, sizeof *tails);
    if (p)
        p->rows = calloc(a.n + b.n + 1, sizeof *p->rows);
    if (!p || !same || !tails || !p->rows) {
        err_set(e, ERR_NOMEM, "pairing: out of memory");
        goto out;
    }
    if (pair_up(&a, &b, key, r, e) < 0)
        goto out;
    p->moved = count_moved(&a, tails);
    for (size_t i = 0; i < a.n; i++)
        same[i] = a.partner[i] != PAIRING_NONE;
    if (pair_up(&a, &b, label_place, r, e) < 0)
        goto out;
    fill_rows(p, &a, &b, same);
    *out = p;
    p = NULL;
    rc = 0;
out:
    pairing_free(&p);
    side_fini(&a);
    side_fini(&b);
    free(same);
    free(tails);
    return rc;
}

void pairing_free(struct pairing **p)
{
    if (!*p)
        return;
    free((*p)->rows);
    free(*p);
    *p = NULL;
}
