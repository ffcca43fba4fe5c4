/*
 * match.c - see match.h.
 *
 * Two indexes over the entries of a tape, both open addressing in arrays of uint32_t:
 * key -> group, and body hash -> an entry with that body. The second finds candidates
 * only: whether a candidate is the same request is decided by its fingerprint, which
 * needs its head and is computed when first looked at and kept.
 */
#include "tape/match.h"

#include "base/clock.h"
#include "base/limits.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Different requests with one body (most often the empty one) kept in the body index.
 * The others are small requests in practice, and found by their key. */
#define SAME_BODY_MAX 8
#define TRIED_KEYS 8 /* stored keys that are checked against the rules */

struct group {
    uint32_t head;  /* its first entry */
    uint32_t first; /* of its run in deck.order */
    uint32_t count;
    _Atomic uint64_t cursor;
};

enum { PRINT_UNKNOWN, PRINT_BUSY, PRINT_KNOWN };

/* The fingerprint of a recording, filled on first use. */
struct print {
    struct digest_xxh3 v;
    _Atomic uint8_t state;
};

struct deck {
    const struct tape *tape;
    const struct canon_rules *rules;
    enum deck_repeat repeat;
    uint32_t n;
    uint64_t seed; /* a cassette must not be able to choose its collisions */

    uint8_t (*keys)[DIGEST_SHA256]; /* computed keys; NULL: those of the tape */
    struct group *groups;
    uint32_t n_groups;
    uint32_t *group_of; /* by entry */
    uint32_t *order;    /* entries, group by group, each in recorded order */
    uint32_t *by_key;   /* group + 1, 0 is free */
    uint32_t *by_body;  /* entry + 1, 0 is free */
    size_t mask;        /* of both tables */

    struct print *prints;
    _Atomic uint8_t *used;
    _Atomic uint64_t exact, normalised, miss, n_used;
    _Atomic uint32_t last;
};

static const uint8_t *key_of(const struct deck *d, uint32_t entry)
{
    return d->keys ? d->keys[entry] : tape_entry(d->tape, entry)->key;
}

static size_t slot_of(const struct deck *d, uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ d->seed) * 0x9e3779b97f4a7c15u;

    h = (h ^ (h >> 32) ^ b) * 0xff51afd7ed558ccdu;
    return (size_t)(h ^ (h >> 33)) & d->mask;
}

/* The slot of by_key that holds this key, or the free one where it belongs. */
static uint32_t *key_slot(const struct deck *d, const uint8_t key[DIGEST_SHA256])
{
    uint64_t word[2];

    memcpy(word, key, sizeof word);
    for (size_t i = slot_of(d, word[0], word[1]);; i = (i + 1) & d->mask) {
        uint32_t *slot = &d->by_key[i];
        if (*slot == 0 ||
            memcmp(key_of(d, d->groups[*slot - 1].head), key, DIGEST_SHA256) == 0)
            return slot;
    }
}

/* A recording as the canonicaliser wants it. */
struct recording {
    struct exchange x;
    struct url url;
    struct buf body;
};

static void recording_fini(struct recording *r)
{
    exchange_fini(&r->x);
    url_fini(&r->url);
    buf_free(&r->body);
}

static int recording_load(const struct deck *d, uint32_t entry, struct recording *r,
                          struct err *e)
{
    *r = (struct recording){.body = BUF_INIT(LIMIT_DECODED_BODY)};
    exchange_init(&r->x);
    if (tape_load_head(d->tape, entry, &r->x, e) < 0)
        return -1;
    if (url_parse(&r->url, r->x.url, e) < 0)
        return err_in(e, "%s: line %u: url", tape_name(d->tape),
                      tape_entry(d->tape, entry)->line);
    return 0;
}

static int key_compute(const struct deck *d, uint32_t entry, uint8_t out[DIGEST_SHA256],
                       struct err *e)
{
    struct recording r;
    struct canon_result canon;
    int rc = -1;

    if (recording_load(d, entry, &r, e) < 0 ||
        tape_load_request_body(d->tape, entry, &r.body, e) < 0)
        goto out;
    struct canon_request req = {r.x.method, &r.url, &r.x.req_headers, buf_cstr(&r.body),
                                r.body.len};
    if (canon_key(d->rules, &req, &canon, e) < 0)
        goto out;
    rc = digest_unhex(strchr(canon.key, ':') + 1, 2 * DIGEST_SHA256, out, DIGEST_SHA256);
    must(rc == 0);
out:
    recording_fini(&r);
    return rc;
}

/* Do the stored keys agree with these rules? A few, spread over the tape, are tried: a
 * rule that was taken out of retape.json leaves all keys it touched stale. */
static int keys_are_stale(const struct deck *d, bool *stale, struct err *e)
{
    uint32_t step = d->n / TRIED_KEYS + 1;
    uint8_t key[DIGEST_SHA256];

    *stale = !canon_rules_is_default(d->rules);
    for (uint32_t i = 0; i < d->n && !*stale; i += step) {
        if (key_compute(d, i, key, e) < 0)
            return -1;
        *stale = memcmp(key, tape_entry(d->tape, i)->key, sizeof key) != 0;
    }
    return 0;
}

static int load_keys(struct deck *d, struct err *e)
{
    bool stale;

    if (keys_are_stale(d, &stale, e) < 0)
        return -1;
    if (!stale || d->n == 0)
        return 0;
    d->keys = malloc((size_t)d->n * sizeof *d->keys);
    if (!d->keys)
        return err_set(e, ERR_NOMEM, "keys of %u recordings: out of memory", d->n);
    for (uint32_t i = 0; i < d->n; i++)
        if (key_compute(d, i, d->keys[i], e) < 0)
            return -1;
    return 0;
}

/* One candidate per body and group; see SAME_BODY_MAX. */
static void index_body(struct deck *d, uint32_t entry)
{
    const struct tape_entry *x = tape_entry(d->tape, entry);
    size_t same = 0;

    if (!x->has_xxh3)
        return;
    for (size_t i = slot_of(d, x->xxh3.lo, x->xxh3.hi);; i = (i + 1) & d->mask) {
        if (d->by_body[i] == 0) {
            d->by_body[i] = entry + 1;
            return;
        }
        uint32_t other = d->by_body[i] - 1;
        const struct tape_entry *y = tape_entry(d->tape, other);
        if (y->xxh3.lo != x->xxh3.lo || y->xxh3.hi != x->xxh3.hi)
            continue;
        if (d->group_of[other] == d->group_of[entry] || ++same == SAME_BODY_MAX)
            return;
    }
}

static void index_entries(struct deck *d)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t *slot = key_slot(d, key_of(d, i));
        if (*slot == 0) {
            d->groups[d->n_groups].head = i;
            *slot = ++d->n_groups;
        }
        d->group_of[i] = *slot - 1;
        d->groups[*slot - 1].count++;
    }
    for (uint32_t g = 0; g < d->n_groups; g++) {
        d->groups[g].first = first;
        first += d->groups[g].count;
        d->groups[g].count = 0;
    }
    for (uint32_t i = 0; i < d->n; i++) {
        struct group *g = &d->groups[d->group_of[i]];
        d->order[g->first + g->count++] = i;
        index_body(d, i);
    }
}

static int allocate(struct deck *d, struct err *e)
{
    size_t n = d->n ? d->n : 1;

    d->mask = 1;
    while (d->mask < 2 * n)
        d->mask *= 2;
    d->by_key = calloc(d->mask, sizeof *d->by_key);
    d->by_body = calloc(d->mask, sizeof *d->by_body);
    d->mask -= 1;
    d->groups = calloc(n, sizeof *d->groups);
    d->group_of = calloc(n, sizeof *d->group_of);
    d->order = calloc(n, sizeof *d->order);
    d->prints = calloc(n, sizeof *d->prints);
    d->used = calloc(n, sizeof *d->used);
    if (!d->by_key || !d->by_body || !d->groups || !d->group_of || !d->order ||
        !d->prints || !d->used)
        return err_set(e, ERR_NOMEM, "index of %u recordings: out of memory", d->n);
    return 0;
}

int deck_new(struct deck **out, const struct tape *t, const struct canon_rules *r,
             enum deck_repeat repeat, struct err *e)
{
    struct deck *d = calloc(1, sizeof *d);

    *out = NULL;
    if (!d)
        return err_set(e, ERR_NOMEM, "deck: out of memory");
    if (tape_count(t) >= UINT32_MAX) {
        free(d);
        return err_set(e, ERR_LIMIT, "%s: more than %u exchanges", tape_name(t),
                       UINT32_MAX - 1);
    }
    d->tape = t;
    d->rules = r;
    d->repeat = repeat;
    d->n = (uint32_t)tape_count(t);
    clock_random(&d->seed, sizeof d->seed);
    if (allocate(d, e) < 0 || load_keys(d, e) < 0) {
        deck_free(&d);
        return -1;
    }
    index_entries(d);
    *out = d;
    return 0;
}

void deck_free(struct deck **dp)
{
    struct deck *d = *dp;

    if (!d)
        return;
    free(d->keys);
    free(d->groups);
    free(d->group_of);
    free(d->order);
    free(d->by_key);
    free(d->by_body);
    free(d->prints);
    free((void *)d->used);
    free(d);
    *dp = NULL;
}

/* XXH3 of a recording's body, from the index or else from the body itself. */
static int body_hash(const struct deck *d, uint32_t entry, struct digest_xxh3 *out,
                     struct err *e)
{
    const struct tape_entry *x = tape_entry(d->tape, entry);
    struct buf body = BUF_INIT(LIMIT_DECODED_BODY);
    int rc = 0;

    if (x->has_xxh3) {
        *out = x->xxh3;
        return 0;
    }
    rc = tape_load_request_body(d->tape, entry, &body, e);
    if (rc == 0)
        *out = digest_xxh3(buf_cstr(&body), body.len);
    buf_free(&body);
    return rc;
}

/* The fingerprint of a recording. The first thread to finish keeps it for all. */
static int print_of(const struct deck *d, uint32_t entry, struct digest_xxh3 *out)
{
    struct print *p = &d->prints[entry];
    struct recording r = {0};
    struct digest_xxh3 body;
    struct err e = {0};
    uint8_t unknown = PRINT_UNKNOWN;
    int rc = 0;

    if (atomic_load_explicit(&p->state, memory_order_acquire) == PRINT_KNOWN) {
        *out = p->v;
        return 0;
    }
    rc = recording_load(d, entry, &r, &e);
    if (rc == 0)
        rc = body_hash(d, entry, &body, &e);
    if (rc == 0) {
        *out = canon_fingerprint(d->rules, r.x.method, &r.url, &r.x.req_headers, body);
        if (atomic_compare_exchange_strong(&p->state, &unknown, PRINT_BUSY)) {
            p->v = *out;
            atomic_store_explicit(&p->state, PRINT_KNOWN, memory_order_release);
        }
    }
    recording_fini(&r);
    return rc;
}

static bool equal(struct digest_xxh3 a, struct digest_xxh3 b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

/* A recording made from the very same bytes, or NULL. Nothing is parsed but the heads
 * of candidates not looked at before. */
static struct group *find_identical(const struct deck *d, struct digest_xxh3 body,
                                    struct digest_xxh3 print)
{
    struct digest_xxh3 theirs;

    for (size_t i = slot_of(d, body.lo, body.hi); d->by_body[i]; i = (i + 1) & d->mask) {
        uint32_t entry = d->by_body[i] - 1;
        if (!equal(tape_entry(d->tape, entry)->xxh3, body))
            continue;
        if (print_of(d, entry, &theirs) == 0 && equal(theirs, print))
            return &d->groups[d->group_of[entry]];
    }
    return NULL;
}

bool deck_has_body(const struct deck *d, struct digest_xxh3 body)
{
    for (size_t i = slot_of(d, body.lo, body.hi); d->by_body[i]; i = (i + 1) & d->mask)
        if (equal(tape_entry(d->tape, d->by_body[i] - 1)->xxh3, body))
            return true;
    return false;
}

static int find_by_key(const struct deck *d, const struct canon_request *req,
                       struct group **out, struct err *e)
{
    struct canon_result canon;
    uint8_t key[DIGEST_SHA256];

    if (canon_key(d->rules, req, &canon, e) < 0)
        return -1;
    must(digest_unhex(strchr(canon.key, ':') + 1, 2 * DIGEST_SHA256, key, sizeof key) ==
         0);
    uint32_t slot = *key_slot(d, key);
    *out = slot ? &d->groups[slot - 1] : NULL;
    return 0;
}

/* Fingerprints cover more than bytes (the Content-Type, for one), so when they differ
 * the parts that make a hit exact are compared themselves. */
static bool is_exact(const struct deck *d, uint32_t entry,
                     const struct canon_request *req, struct digest_xxh3 body,
                     struct digest_xxh3 print)
{
    struct digest_xxh3 theirs;
    struct recording r = {0};
    struct buf ours = BUF_INIT(LIMIT_LINE), recorded = BUF_INIT(LIMIT_LINE);
    struct err e = {0};
    bool same = false;

    if (print_of(d, entry, &theirs) < 0)
        return false;
    if (equal(theirs, print))
        return true;
    if (body_hash(d, entry, &theirs, &e) < 0 || !equal(theirs, body))
        return false;
    if (recording_load(d, entry, &r, &e) == 0) {
        url_text(req->url, &ours);
        url_text(&r.url, &recorded);
        same = strcmp(r.x.method, req->method) == 0 &&
               strcmp(buf_cstr(&ours), buf_cstr(&recorded)) == 0;
    }
    buf_free(&ours);
    buf_free(&recorded);
    recording_fini(&r);
    return same;
}

/* Move the group's cursor on; false when everything in it has been played. */
static bool advance(struct deck *d, struct group *g, uint32_t *entry)
{
    uint64_t turn = atomic_fetch_add_explicit(&g->cursor, 1, memory_order_relaxed);
    uint32_t at = g->count - 1;

    if (turn < g->count)
        at = (uint32_t)turn;
    else if (d->repeat == REPEAT_CYCLE)
        at = (uint32_t)(turn % g->count);
    *entry = d->order[g->first + at];
    return turn < g->count || d->repeat != REPEAT_NONE;
}

static void count_one(_Atomic uint64_t *counter)
{
    (void)atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

int deck_take(struct deck *d, const struct canon_request *req, struct digest_xxh3 body,
              enum deck_found *found, size_t *entry, struct err *e)
{
    struct digest_xxh3 print =
        canon_fingerprint(d->rules, req->method, req->url, req->headers, body);
    struct group *g = find_identical(d, body, print);
    uint32_t taken;

    *found = FOUND_NEVER;
    *entry = 0;
    if (!g && find_by_key(d, req, &g, e) < 0)
        return -1;
    if (!g) {
        count_one(&d->miss);
        return 0;
    }
    bool plays = advance(d, g, &taken);
    *entry = taken;
    if (!plays) {
        *found = FOUND_EXHAUSTED;
        count_one(&d->miss);
        return 0;
    }
    if (!atomic_exchange_explicit(&d->used[taken], 1, memory_order_relaxed))
        count_one(&d->n_used);
    atomic_store_explicit(&d->last, taken, memory_order_relaxed);
    *found = is_exact(d, taken, req, body, print) ? FOUND_EXACT : FOUND_NORMALISED;
    count_one(*found == FOUND_EXACT ? &d->exact : &d->normalised);
    return 0;
}

void deck_counts(const struct deck *d, struct deck_counts *out)
{
    *out = (struct deck_counts){
        .exact = atomic_load_explicit(&d->exact, memory_order_relaxed),
        .normalised = atomic_load_explicit(&d->normalised, memory_order_relaxed),
        .miss = atomic_load_explicit(&d->miss, memory_order_relaxed),
        .unused = d->n - atomic_load_explicit(&d->n_used, memory_order_relaxed),
    };
}

bool deck_was_used(const struct deck *d, size_t entry)
{
    must(entry < d->n);
    return atomic_load_explicit(&d->used[entry], memory_order_relaxed);
}

const struct tape *deck_tape(const struct deck *d)
{
    return d->tape;
}

const struct canon_rules *deck_rules(const struct deck *d)
{
    return d->rules;
}

size_t deck_last(const struct deck *d)
{
    return atomic_load_explicit(&d->last, memory_order_relaxed);
}

size_t deck_group(const struct deck *d, size_t entry, size_t *recorded)
{
    must(entry < d->n);
    *recorded = d->groups[d->group_of[entry]].count;
    return d->group_of[entry];
}
