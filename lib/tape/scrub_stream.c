/* scrub_stream.c - see scrub_stream.h. */
#include "tape/scrub_stream.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_MOST KIB(64) /* a longer string is no part of a sentence in the making */
#define PLACE_TEXT 1       /* the place of all events that are plain text */

void scrub_stream_init(struct scrub_stream *st, const struct scrub *s, const char *body)
{
    *st = (struct scrub_stream){.s = s, .body = body};
}

void scrub_stream_fini(struct scrub_stream *st)
{
    free(st->pieces);
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
    if (st->failed || piece.len == 0 || piece.len > PIECE_MOST)
        return;
    st->pieces = grow(st->pieces, st->n, &st->cap, sizeof *st->pieces, &st->failed);
    if (!st->failed)
        st->pieces[st->n++] = piece;
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
            add_piece(st, (struct scrub_stream_piece){t.path, t.at, t.len, t.object,
                                                      t.escaped});
    }
    settle_objects(st);
    for (size_t i = first; i < st->n && !st->failed; i++)
        st->pieces[i].place ^= st->objects[st->pieces[i].object].marks;
    *at = j.at;
    return kind == JSON_END;
}

void scrub_stream_text(struct scrub_stream *st, size_t from, size_t to,
                       struct scrub_edits *edits)
{
    edits->base = from;
    scrub_find_text(st->s, st->body + from, to - from, edits);
    edits->base = 0;
    add_piece(st, (struct scrub_stream_piece){PLACE_TEXT, from, to - from, 0, false});
}

/* ---- across events ---- */

static int compare(const void *a, const void *b)
{
    const struct scrub_stream_piece *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Take one find [at, end) of the joined text out of the pieces it touches. `starts` are
 * the pieces' places in the joined text; *k and *places go on from find to find. */
static void take_out(const struct scrub_stream *st, const struct scrub_stream_piece *p,
                     const size_t *starts, size_t n, const struct scrub_edit *find,
                     size_t *k, struct scrub_json_places *places,
                     struct scrub_edits *edits)
{
    size_t at = find->at, end = find->at + find->len;
    const char *rule = find->rule;

    while (at < end) {
        bool fresh = !places->raw;
        while (*k + 1 < n && starts[*k + 1] <= at) {
            ++*k;
            fresh = true;
        }
        if (fresh)
            *places = (struct scrub_json_places){
                .kind = ESCAPES_JSON, .raw = st->body + p[*k].at, .len = p[*k].len};
        size_t stop = *k + 1 < n && starts[*k + 1] < end ? starts[*k + 1] : end;
        size_t from = at - starts[*k], to = stop - starts[*k];
        if (p[*k].escaped) {
            from = scrub_json_place(places, from, true);
            to = scrub_json_place(places, to, false);
        }
        scrub_edits_add(edits, p[*k].at + from, to - from, rule);
        rule = NULL;
        at = stop;
    }
}

/* Search the n pieces of one place as one text. */
static void find_across(const struct scrub_stream *st, const struct scrub_stream_piece *p,
                        size_t n, struct scrub_edits *edits)
{
    struct buf text = BUF_INIT(LIMIT_DECODED_BODY);
    struct scrub_edits finds = {0};
    struct scrub_json_places places = {0};
    size_t *starts = calloc(n, sizeof *starts), k = 0;

    edits->failed |= !starts;
    for (size_t i = 0; i < n && starts; i++) {
        starts[i] = text.len;
        if (p[i].escaped)
            scrub_json_decode(ESCAPES_JSON, st->body + p[i].at, p[i].len, &text);
        else
            buf_add(&text, st->body + p[i].at, p[i].len);
    }
    if (starts && !text.failed)
        scrub_find_inner(st->s, buf_cstr(&text), text.len, 0, &finds);
    scrub_edits_settle(&finds);
    for (size_t i = 0; i < finds.n; i++)
        take_out(st, p, starts, n, &finds.v[i], &k, &places, edits);
    edits->failed |= finds.failed || text.failed;
    scrub_edits_free(&finds);
    buf_free(&text);
    free(starts);
}

void scrub_stream_end(struct scrub_stream *st, struct scrub_edits *edits)
{
    edits->failed |= st->failed;
    if (st->n == 0 || st->failed)
        return;
    qsort(st->pieces, st->n, sizeof *st->pieces, compare);
    for (size_t i = 0, n; i < st->n; i += n) {
        for (n = 1; i + n < st->n && st->pieces[i + n].place == st->pieces[i].place;)
            n++;
        if (n > 1)
            find_across(st, st->pieces + i, n, edits);
    }
}
