/* scrub_stream.c - see scrub_stream.h. */
#include "tape/scrub_stream.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_MOST KIB(64) /* a longer string is no part of a sentence in the making */
#define PLACE_TEXT 1       /* the place of all events that are plain text */

void scrub_stream_init(struct scrub_stream *st, const struct scrub *s, const char *body,
                       bool alone)
{
    *st = (struct scrub_stream){.s = s, .body = body, .alone = alone, .n = 1};
}

void scrub_stream_fini(struct scrub_stream *st)
{
    free(st->pieces);
    free(st->places);
    free(st->objects);
    *st = (struct scrub_stream){0};
}

/* ---- remembering ---- */

static void *grow(void *v, size_t n, size_t *cap, size_t size, bool *failed)
{
    if (n < *cap)
        return v;
    size_t more = *cap ? *cap * 2 : 64;
    void *bigger = realloc(v, more * size);
    if (!bigger) {
        *failed = true;
        return v;
    }
    *cap = more;
    return bigger;
}

static void add_piece(struct scrub_stream *st, struct scrub_stream_piece piece)
{
    if (st->failed || st->alone || piece.len == 0 || piece.len > PIECE_MOST)
        return;
    st->pieces = grow(st->pieces, st->n, &st->cap, sizeof *st->pieces, &st->failed);
    if (!st->failed)
        st->pieces[st->n++] = piece;
}

static struct scrub_stream_place *find_place(const struct scrub_stream *st,
                                             uint64_t place)
{
    size_t i = place * 0x9e3779b97f4a7c15u >> 32;

    for (;; i++) {
        struct scrub_stream_place *p = &st->places[i & (st->cap_places - 1)];
        if (!p->first || st->pieces[p->first].place == place)
            return p;
    }
}

/* Keep the table at most half full. */
static void grow_places(struct scrub_stream *st)
{
    struct scrub_stream_place *old = st->places;
    size_t n = st->cap_places;

    if (st->n_places * 2 < n)
        return;
    st->cap_places = n ? n * 2 : 64;
    st->places = calloc(st->cap_places, sizeof *st->places);
    for (size_t i = 0; i < n && st->places; i++)
        if (old[i].first)
            *find_place(st, st->pieces[old[i].first].place) = old[i];
    st->failed |= !st->places;
    free(old);
}

/* Chain a piece to those before it at its place. */
static void link_piece(struct scrub_stream *st, size_t i)
{
    grow_places(st);
    if (st->failed)
        return;
    struct scrub_stream_place *p = find_place(st, st->pieces[i].place);
    if (p->first)
        st->pieces[p->last].next = i;
    else
        st->n_places++;
    if (!p->first)
        p->first = i;
    p->last = i;
    p->count++;
}

/* Object numbers start at 1 and come in order; 0 stands for the stream. */
static void add_object(struct scrub_stream *st, const struct scrub_json_token *t,
                       bool is_root)
{
    while (!st->failed && st->n_objects <= t->object) {
        st->objects = grow(st->objects, st->n_objects, &st->cap_objects,
                           sizeof *st->objects, &st->failed);
        if (!st->failed)
            st->objects[st->n_objects++] =
                (struct scrub_stream_object){.parent = t->parent, .is_root = is_root};
    }
}

/* Keys whose value tells parallel answers apart. `type` does so at the top only: inside
 * it may be sent with the first piece and then no more. */
static bool is_mark(const struct scrub_stream *st, const struct scrub_json_token *t)
{
    static const char *const names[] = {"index", "output_index", "content_index",
                                        "summary_index", "item_id"};
    const char *key = st->body + t->key_at;

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (t->key_len == strlen(names[i]) && memcmp(key, names[i], t->key_len) == 0)
            return true;
    return t->key_len == 4 && memcmp(key, "type", 4) == 0 &&
           st->objects[t->object].is_root;
}

static void add_mark(struct scrub_stream *st, const struct scrub_json_token *t)
{
    uint64_t h = t->path * 0x9e3779b97f4a7c15u;

    if (st->failed || !t->key_len || !is_mark(st, t))
        return;
    for (size_t i = 0; i < t->len; i++)
        h = (h ^ (unsigned char)st->body[t->at + i]) * 0x100000001b3u;
    st->objects[t->object].marks ^= h; /* in any order */
}

/* An object's marks count for everything inside of it. Parents have lower numbers. */
static void settle_objects(struct scrub_stream *st)
{
    for (size_t i = st->settled; i < st->n_objects; i++)
        if (st->objects[i].parent < i)
            st->objects[i].marks ^= st->objects[st->objects[i].parent].marks * 31;
    st->settled = st->n_objects;
}

bool scrub_stream_event(struct scrub_stream *st, size_t from, size_t to, size_t *at,
                        struct scrub_edits *edits)
{
    struct scrub_json j;
    struct scrub_json_token t;
    enum scrub_json_kind kind;
    size_t first = st->n;
    bool opaque;

    scrub_json_start(&j, st->body, to, from, true,
                     st->n_objects ? (uint32_t)st->n_objects - 1 : 0);
    while ((kind = scrub_json_next(&j, &t)) != JSON_END && kind != JSON_BAD) {
        if (kind == JSON_OPEN)
            add_object(st, &t, j.depth == 1 || (j.depth == 2 && j.level[1].array));
        if (kind == JSON_SCALAR || kind == JSON_STRING)
            add_mark(st, &t);
        if (kind != JSON_STRING && kind != JSON_KEY)
            continue;
        scrub_find_string(st->s, &j, kind, &t, 0, &opaque, edits);
        if (kind == JSON_STRING && !opaque && !t.torn)
            add_piece(st, (struct scrub_stream_piece){.place = t.path,
                                                      .at = t.at,
                                                      .len = t.len,
                                                      .object = t.object,
                                                      .escaped = t.escaped});
    }
    settle_objects(st);
    for (size_t i = first; i < st->n && !st->failed; i++) {
        st->pieces[i].place ^= st->objects[st->pieces[i].object].marks;
        link_piece(st, i);
    }
    *at = j.at;
    return kind == JSON_END;
}

void scrub_stream_text(struct scrub_stream *st, size_t from, size_t to,
                       struct scrub_edits *edits)
{
    size_t n = st->n;

    edits->base = from;
    scrub_find_text(st->s, st->body + from, to - from, edits);
    edits->base = 0;
    add_piece(st, (struct scrub_stream_piece){
                      .place = PLACE_TEXT, .at = from, .len = to - from});
    if (st->n > n)
        link_piece(st, n);
}

/* ---- across events ---- */

/* The pieces of one place, and where each begins in their joined text. */
struct joined {
    const struct scrub_stream *st;
    const struct scrub_stream_piece **pieces;
    size_t *starts;
    size_t n;
    size_t k;                        /* the piece we are in; finds come in order */
    struct scrub_json_places places; /* how far we are in it */
};

static void go_to(struct joined *j, size_t at)
{
    bool fresh = !j->places.raw;

    for (; j->k + 1 < j->n && j->starts[j->k + 1] <= at; j->k++)
        fresh = true;
    if (fresh)
        j->places = (struct scrub_json_places){.kind = ESCAPES_JSON,
                                               .raw = j->st->body + j->pieces[j->k]->at,
                                               .len = j->pieces[j->k]->len};
}

/* Take a find out of every piece it touches. The first gets the placeholder. */
static void take_out(struct joined *j, const struct scrub_edit *find,
                     struct scrub_edits *edits)
{
    size_t at = find->at, end = find->at + find->len;
    const char *rule = find->rule;

    while (at < end) {
        go_to(j, at);
        const struct scrub_stream_piece *p = j->pieces[j->k];
        size_t start = j->starts[j->k], stop = end;
        if (j->k + 1 < j->n && j->starts[j->k + 1] < end)
            stop = j->starts[j->k + 1];
        size_t from = at - start, to = stop - start;
        if (p->escaped) {
            from = scrub_json_place(&j->places, from, true);
            to = scrub_json_place(&j->places, to, false);
        }
        scrub_edits_add(edits, p->at + from, to - from, rule);
        rule = NULL;
        at = stop;
    }
}

static void join(struct joined *j, size_t first, struct buf *text)
{
    for (size_t i = first; i; i = j->st->pieces[i].next, j->n++) {
        const struct scrub_stream_piece *p = &j->st->pieces[i];
        j->pieces[j->n] = p;
        j->starts[j->n] = text->len;
        if (p->escaped)
            scrub_json_decode(ESCAPES_JSON, j->st->body + p->at, p->len, text);
        else
            buf_add(text, j->st->body + p->at, p->len);
    }
}

/* Search the pieces of one place as one text. */
static void find_across(const struct scrub_stream *st,
                        const struct scrub_stream_place *place, struct scrub_edits *edits)
{
    struct joined j = {.st = st};
    struct buf text = BUF_INIT(LIMIT_DECODED_BODY);
    struct scrub_edits finds = {0};

    j.pieces = calloc(place->count, sizeof *j.pieces);
    j.starts = calloc(place->count, sizeof *j.starts);
    if (j.pieces && j.starts) {
        join(&j, place->first, &text);
        scrub_find_inner(st->s, buf_cstr(&text), text.len, 0, &finds);
        scrub_edits_settle(&finds);
    }
    for (size_t i = 0; i < finds.n; i++)
        take_out(&j, &finds.v[i], edits);
    edits->failed |= !j.pieces || !j.starts || finds.failed || text.failed;
    scrub_edits_free(&finds);
    buf_free(&text);
    free(j.pieces);
    free(j.starts);
}

void scrub_stream_end(struct scrub_stream *st, struct scrub_edits *edits)
{
    edits->failed |= st->failed;
    for (size_t i = 0; i < st->cap_places && !edits->failed; i++)
        if (st->places[i].count > 1)
            find_across(st, &st->places[i], edits);
}
