/* nearest.c - see nearest.h. */
#include "tape/nearest.h"

#include "base/json.h"
#include "tape/headdiff.h"
#include "tape/jsondiff.h"
#include "tape/jsontree.h"

#include <stdlib.h>
#include <string.h>

/* How a recording is related to the request; the best kind that exists is ranked. */
enum relation { SAME_PLACE, SAME_HOST, SAME_PATH, RELATIONS };

struct candidate {
    size_t entry;
    size_t turn; /* order of the scan: nearer to the run's place first */
    double head; /* distance outside the body */
    double score;
    bool used;
};

/* Recordings of one relation: those not played yet, and the others. */
struct shelf {
    struct candidate v[2][LIMIT_MISS_CANDIDATES];
    size_t n[2];
};

struct search {
    const struct deck *deck;
    const struct canon_request *req;
    size_t exhausted;
    size_t group; /* of exhausted */
    struct shelf shelves[RELATIONS];
    uint64_t sketch[JSONTREE_SKETCH], theirs[JSONTREE_SKETCH];
    size_t n_sketch;
};

/* A recording loaded as far as a step needs it. */
struct loaded {
    struct exchange x;
    struct url url;
    struct buf body;
    struct canon_request req;
};

static void loaded_fini(struct loaded *l)
{
    exchange_fini(&l->x);
    url_fini(&l->url);
    buf_free(&l->body);
}

static int load(const struct search *s, size_t entry, bool with_body, struct loaded *l,
                struct err *e)
{
    const struct tape *t = deck_tape(s->deck);

    *l = (struct loaded){.body = BUF_INIT(LIMIT_MISS_WORK)};
    exchange_init(&l->x);
    if (tape_load_head(t, entry, &l->x, e) < 0 || url_parse(&l->url, l->x.url, e) < 0)
        return -1;
    if (with_body && tape_load_request_body(t, entry, &l->body, e) < 0)
        return -1;
    l->req = (struct canon_request){l->x.method, &l->url, &l->x.req_headers,
                                    buf_cstr(&l->body), l->body.len};
    return 0;
}

/* ---- step one: look around ---- */

static enum relation relation_of(const struct canon_request *a,
                                 const struct canon_request *b)
{
    bool host = a->url->tls == b->url->tls && a->url->port == b->url->port &&
                strcmp(a->url->host, b->url->host) == 0;
    bool rest =
        strcmp(a->method, b->method) == 0 && strcmp(a->url->path, b->url->path) == 0;

    if (host)
        return rest ? SAME_PLACE : SAME_HOST;
    return rest ? SAME_PATH : RELATIONS;
}

static bool is_equal_of_exhausted(const struct search *s, size_t entry)
{
    size_t recorded;

    return s->exhausted != NEAREST_NONE && entry != s->exhausted &&
           deck_group(s->deck, entry, &recorded) == s->group;
}

static void consider(struct search *s, size_t entry, size_t turn)
{
    struct loaded l;
    struct err e = {0};

    if (is_equal_of_exhausted(s, entry))
        return;
    if (load(s, entry, false, &l, &e) == 0) {
        enum relation r = relation_of(&l.req, s->req);
        bool used = deck_was_used(s->deck, entry);
        if (r != RELATIONS && s->shelves[r].n[used] < LIMIT_MISS_CANDIDATES) {
            struct shelf *shelf = &s->shelves[r];
            shelf->v[used][shelf->n[used]++] = (struct candidate){
                .entry = entry,
                .turn = turn,
                .head = headdiff_distance(&l.req, s->req),
                .used = used,
            };
        }
    }
    loaded_fini(&l);
}

/* Outwards from where the run has got to: what was to come next first. */
static void look_around(struct search *s)
{
    const struct tape *t = deck_tape(s->deck);
    size_t n = tape_count(t), up = deck_last(s->deck), down = up, work = 0, turn = 0;
    const struct shelf *best = &s->shelves[SAME_PLACE];

    while ((up < n || down > 0) && work < LIMIT_MISS_WORK &&
           best->n[false] < LIMIT_MISS_CANDIDATES) {
        if (up < n) {
            work += tape_entry(t, up)->len;
            consider(s, up++, turn++);
        }
        if (down > 0 && work < LIMIT_MISS_WORK) {
            work += tape_entry(t, --down)->len;
            consider(s, down, turn++);
        }
    }
}

/* ---- step two: rank cheaply ---- */

static size_t sketch_of(const char *body, size_t len, uint64_t out[JSONTREE_SKETCH])
{
    struct jsontree t = {0};
    struct err e = {0};
    size_t n = 0;

    if (len == 0 || len > LIMIT_MISS_WORK)
        return 0;
    if (jsontree_read(&t, body, len, &e) == 0 ||
        (json_is_utf8(body, len) && jsontree_lines(&t, body, len, &e) == 0))
        n = jsontree_sketch(&t, out);
    jsontree_fini(&t);
    return n;
}

static int by_score(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;

    if (a->score != b->score)
        return a->score < b->score ? 1 : -1;
    if (a->used != b->used)
        return a->used ? 1 : -1;
    return (a->turn > b->turn) - (a->turn < b->turn);
}

static void rank(struct search *s, struct candidate *list, size_t n)
{
    const struct tape *t = deck_tape(s->deck);
    size_t work = 0;

    s->n_sketch = sketch_of(s->req->body, s->req->body_len, s->sketch);
    for (size_t i = 0; i < n; i++) {
        uint64_t len = tape_entry(t, list[i].entry)->req_len;
        struct buf body = BUF_INIT(LIMIT_MISS_WORK);
        struct err e = {0};
        double overlap = 0;

        if (len <= LIMIT_MISS_WORK - work) {
            work += (size_t)len;
            if (tape_load_request_body(t, list[i].entry, &body, &e) == 0) {
                size_t m = sketch_of(body.data, body.len, s->theirs);
                overlap = jsontree_overlap(s->sketch, s->n_sketch, s->theirs, m);
            }
            buf_free(&body);
        }
        list[i].score = (1 - list[i].head) * (0.1 + overlap);
    }
    qsort(list, n, sizeof *list, by_score);
}

/* ---- step three: compare in full ---- */

static int put_too_large(struct miss_near *near, size_t recorded, size_t asked,
                         struct err *e)
{
    struct buf text = BUF_INIT(KIB(1));
    struct miss_difference *d =
        realloc(near->differences, (near->n_differences + 1) * sizeof *d);

    if (!d)
        return err_set(e, ERR_NOMEM, "compare: out of memory");
    near->differences = d;
    d += near->n_differences++;
    *d = (struct miss_difference){.at = strdup("")};
    buf_fmt(&text, "\"[%zu bytes, too large to compare here]\"", recorded);
    d->recorded = buf_take(&text);
    buf_fmt(&text, "\"[%zu bytes, too large to compare here]\"", asked);
    d->asked = buf_take(&text);
    near->distance = 1;
    return d->at && d->recorded && d->asked
               ? 0
               : err_set(e, ERR_NOMEM, "compare: out of memory");
}

static int append(struct miss_near *near, struct jsondiff *d, struct err *e)
{
    if (d->n) {
        struct miss_difference *all =
            realloc(near->differences, (near->n_differences + d->n) * sizeof *all);
        if (!all)
            return err_set(e, ERR_NOMEM, "compare: out of memory");
        memcpy(all + near->n_differences, d->list, d->n * sizeof *all);
        near->differences = all;
        near->n_differences += d->n;
        d->n = 0; /* the texts have moved */
    }
    near->n_more += d->n_more;
    return 0;
}

/* Bodies by what counts in matching: after the declared ignores, without JSON-RPC ids. */
static int compare_bodies(const struct search *s, const struct canon_request *recorded,
                          const struct buf *asked, struct miss_near *near, struct err *e)
{
    struct buf body = BUF_INIT(2 * LIMIT_MISS_WORK);
    struct jsondiff d = {0};
    int rc = -1;

    (void)canon_body(deck_rules(s->deck), recorded, &body);
    if (buf_check(&body, "canonical body", e) < 0)
        goto out;
    if (jsondiff_compare(&d, buf_cstr(&body), body.len, buf_cstr(asked), asked->len,
                         LIMIT_MISS_DIFFERENCES - near->n_differences, e) < 0)
        goto out;
    near->distance = d.distance;
    rc = append(near, &d, e);
out:
    jsondiff_fini(&d);
    buf_free(&body);
    return rc;
}

/* Nothing else differs, so the type of the body must: it decides how it is read. */
static int compare_types(const struct canon_request *recorded,
                         const struct canon_request *asked, struct miss_near *near,
                         struct err *e)
{
    struct canon_rules *only_type = NULL;
    int rc = -1;

    if (canon_rules_new(&only_type, e) == 0 &&
        canon_rules_match_header(only_type, "content-type", e) == 0)
        rc = headdiff_compare(only_type, recorded, asked, &near->differences,
                              &near->n_differences, LIMIT_MISS_DIFFERENCES, &near->n_more,
                              e);
    canon_rules_free(&only_type);
    return rc;
}

static int compare_one(const struct search *s, const struct candidate *c,
                       const struct buf *asked, size_t *work, struct miss_near *near,
                       struct err *e)
{
    const struct tape_entry *entry = tape_entry(deck_tape(s->deck), c->entry);
    size_t cost = (size_t)entry->req_len + asked->len;
    bool fits = entry->req_len < LIMIT_MISS_WORK && !asked->failed && cost <= *work;
    struct loaded l;
    int rc = -1;

    *near = (struct miss_near){.exchange = entry->n, .used = c->used};
    if (load(s, c->entry, fits, &l, e) < 0 ||
        headdiff_compare(deck_rules(s->deck), &l.req, s->req, &near->differences,
                         &near->n_differences, LIMIT_MISS_DIFFERENCES - 1, &near->n_more,
                         e) < 0)
        goto out;
    if (fits) {
        *work -= cost;
        rc = compare_bodies(s, &l.req, asked, near, e);
    } else {
        rc = put_too_large(near, (size_t)entry->req_len, s->req->body_len, e);
    }
    if (rc == 0 && near->n_differences == 0 && c->entry != s->exhausted)
        rc = compare_types(&l.req, s->req, near, e);
    near->distance = 1 - (1 - near->distance) * (1 - c->head);
out:
    loaded_fini(&l);
    return rc;
}

/* Keep the nearest: insertion into the few that are kept. */
static void keep(struct miss_near *out, size_t *n, size_t fixed, struct miss_near *near)
{
    size_t at = *n;

    while (at > fixed &&
           (out[at - 1].distance > near->distance ||
            (out[at - 1].distance == near->distance && out[at - 1].used && !near->used)))
        at--;
    if (*n == LIMIT_MISS_NEAREST) {
        struct miss_near *drop = at == *n ? near : &out[*n - 1];
        miss_differences_free(&drop->differences, &drop->n_differences);
        if (drop == near)
            return;
        *n -= 1;
    }
    memmove(&out[at + 1], &out[at], (*n - at) * sizeof *out);
    out[at] = *near;
    *n += 1;
}

static int compare_best(const struct search *s, struct candidate *list, size_t count,
                        struct miss_near *out, size_t *n, struct err *e)
{
    struct buf asked = BUF_INIT(2 * LIMIT_MISS_WORK);
    size_t work = 2 * LIMIT_MISS_WORK, fixed = s->exhausted != NEAREST_NONE;
    int rc = 0;

    if (s->req->body_len <= LIMIT_MISS_WORK)
        (void)canon_body(deck_rules(s->deck), s->req, &asked);
    else
        asked.failed = true;
    for (size_t i = 0; i < count && i < LIMIT_MISS_COMPARED && rc == 0; i++) {
        struct miss_near near;
        struct err bad = {0};
        if (compare_one(s, &list[i], &asked, &work, &near, &bad) == 0) {
            keep(out, n, i == 0 ? 0 : fixed, &near);
            continue;
        }
        miss_differences_free(&near.differences, &near.n_differences);
        if (bad.code == ERR_NOMEM) {
            *e = bad;
            rc = -1; /* anything else: a recording that cannot be read is not near */
        }
    }
    buf_free(&asked);
    return rc;
}

/* The best relation's recordings in one list, the exhausted one in front. */
static size_t gather(struct search *s, struct candidate *list)
{
    size_t n = 0;

    for (int r = 0; r < RELATIONS && n == 0; r++)
        for (int used = 0; used < 2; used++)
            for (size_t i = 0; i < s->shelves[r].n[used] && n < LIMIT_MISS_CANDIDATES;
                 i++)
                if (s->shelves[r].v[used][i].entry != s->exhausted)
                    list[n++] = s->shelves[r].v[used][i];
    return n;
}

int nearest_find(struct miss_near out[LIMIT_MISS_NEAREST], size_t *n,
                 const struct deck *d, const struct canon_request *req, size_t exhausted,
                 struct err *e)
{
    struct candidate list[LIMIT_MISS_CANDIDATES + 1];
    struct search *s = calloc(1, sizeof *s);
    size_t recorded, count = 0, front = exhausted != NEAREST_NONE;
    int rc;

    *n = 0;
    if (!s)
        return err_set(e, ERR_NOMEM, "nearest recordings: out of memory");
    s->deck = d;
    s->req = req;
    s->exhausted = exhausted;
    if (front) {
        s->group = deck_group(d, exhausted, &recorded);
        list[0] = (struct candidate){.entry = exhausted, .used = true};
    }
    look_around(s);
    count = gather(s, list + front);
    rank(s, list + front, count);
    rc = compare_best(s, list, count + front, out, n, e);
    free(s);
    return rc;
}
