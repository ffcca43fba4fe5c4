/* session.c - see session.h. */
#include "proxy/session.h"

#include "base/fsx.h"
#include "base/limits.h"
#include "base/log.h"
#include "proxy/packed.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096

struct bucket {
    struct session *session;
    struct bucket *next;
};

struct sessions {
    const struct options *options;
    const struct packed *packed;
    pthread_rwlock_t lock;
    struct bucket *buckets[BUCKETS];
    struct session *first, **last;
    size_t n;
    atomic_uint_fast64_t strays;
};

int sessions_new(struct sessions **out, const struct options *o,
                 const struct packed *packed, struct err *e)
{
    struct sessions *s = calloc(1, sizeof *s);

    if (!s)
        return err_set(e, ERR_NOMEM, "sessions: out of memory");
    s->options = o;
    s->packed = packed;
    s->last = &s->first;
    (void)pthread_rwlock_init(&s->lock, NULL);
    *out = s;
    return 0;
}

static void session_free(struct session *x)
{
    struct err e;

    deck_free(&x->deck);
    tape_close(&x->tape);
    (void)cassette_close(&x->cassette, &e);
    free(x);
}

void sessions_free(struct sessions **sp)
{
    struct sessions *s = *sp;

    if (!s)
        return;
    for (struct session *x = s->first, *next; x; x = next) {
        next = x->next;
        session_free(x);
    }
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct bucket *b = s->buckets[i], *next; b; b = next) {
            next = b->next;
            free(b);
        }
    (void)pthread_rwlock_destroy(&s->lock);
    free(s);
    *sp = NULL;
}

static size_t bucket_of(const char *name)
{
    return digest_xxh3(name, strlen(name)).lo % BUCKETS;
}

static struct session *find(const struct sessions *s, const char *name)
{
    for (const struct bucket *b = s->buckets[bucket_of(name)]; b; b = b->next)
        if (strcmp(b->session->name, name) == 0)
            return b->session;
    return NULL;
}

static int make_deck(struct session *x, const struct options *o, struct err *e)
{
    return deck_new(&x->deck, x->tape, o->config->match, (enum deck_repeat)o->repeat, e);
}

static int open_packed(struct session *x, const struct sessions *s, struct err *e)
{
    const struct packed_member *m = packed_cassette(s->packed, x->name);

    if (!m)
        return err_set(e, ERR_MISS, "%s: the bundle has no cassettes/%s.jsonl",
                       s->options->bundle, x->name);
    if (tape_open_memory(&x->tape, m->path, buf_cstr(&m->bytes), m->bytes.len, e) < 0)
        return err_in(e, "%s", s->options->bundle);
    return make_deck(x, s->options, e);
}

static int open_tape(struct session *x, const struct options *o, const char *path,
                     struct err *e)
{
    bool torn = false;

    if (tape_open(&x->tape, path, &torn, e) < 0)
        return -1;
    if (torn)
        log_warn("%s: the last line is torn (a crash while recording?); it is left out",
                 path);
    return make_deck(x, o, e);
}

/* Open what the mode needs. In auto the tape is what was there before the run. */
static int open_session(struct session *x, const struct options *o, struct err *e)
{
    bool cut = false;
    int rc = -1;
    char *path = cassette_path(o->cassettes, x->name);

    if (!path)
        return err_set(e, ERR_NOMEM, "out of memory");
    bool there = fsx_exists(path);
    if (o->mode == MODE_REPLAY && !there) {
        err_set(e, ERR_MISS, "%s: no such cassette; record it first with `retape record`",
                path);
        goto out;
    }
    if (o->mode != MODE_RECORD && there && open_tape(x, o, path, e) < 0)
        goto out;
    if (o->mode != MODE_REPLAY) {
        enum cassette_open_how how = o->mode == MODE_AUTO || o->append ? CASSETTE_APPEND
                                     : o->overwrite ? CASSETTE_OVERWRITE
                                                    : CASSETTE_NEW;
        if (cassette_open(&x->cassette, o->cassettes, x->name, how, &cut, e) < 0)
            goto out;
        if (cut)
            log_warn("%s: a torn last line was cut off", path);
    }
    rc = 0;
out:
    free(path);
    return rc;
}

static int add(struct sessions *s, const char *name, struct session **out, struct err *e)
{
    struct session *x = calloc(1, sizeof *x);
    struct bucket *b = calloc(1, sizeof *b);

    if (!x || !b) {
        err_set(e, ERR_NOMEM, "session: out of memory");
        goto fail;
    }
    if (s->n >= LIMIT_SESSIONS) {
        err_set(e, ERR_LIMIT, "more than %d sessions", LIMIT_SESSIONS);
        goto fail;
    }
    (void)memcpy(x->name, name, strlen(name) + 1);
    if ((s->packed ? open_packed(x, s, e) : open_session(x, s->options, e)) < 0)
        goto fail;
    b->session = x;
    b->next = s->buckets[bucket_of(name)];
    s->buckets[bucket_of(name)] = b;
    *s->last = x;
    s->last = &x->next;
    s->n++;
    *out = x;
    return 0;
fail:
    if (x)
        session_free(x);
    free(b);
    return -1;
}

int sessions_get(struct sessions *s, const char *name, struct session **out,
                 struct err *e)
{
    int rc = 0;

    must(cassette_name_ok(name));
    (void)pthread_rwlock_rdlock(&s->lock);
    *out = find(s, name);
    (void)pthread_rwlock_unlock(&s->lock);
    if (*out)
        return 0;
    (void)pthread_rwlock_wrlock(&s->lock);
    *out = find(s, name);
    if (!*out)
        rc = add(s, name, out, e);
    (void)pthread_rwlock_unlock(&s->lock);
    return rc;
}

uint64_t sessions_count_stray(struct sessions *s)
{
    return atomic_fetch_add(&s->strays, 1) + 1;
}

uint64_t sessions_strays(struct sessions *s)
{
    return atomic_load(&s->strays);
}

struct session *sessions_next(struct sessions *s, const struct session *after)
{
    (void)pthread_rwlock_rdlock(&s->lock);
    struct session *x = after ? after->next : s->first;
    (void)pthread_rwlock_unlock(&s->lock);
    return x;
}

bool session_knows_host(const struct session *x, const char *host)
{
    bool known = false;

    for (size_t i = 0; x->tape && !known && i < tape_count(x->tape); i++) {
        struct exchange head;
        struct url u;
        struct err e;
        if (tape_load_head(x->tape, i, &head, &e) < 0)
            continue;
        if (url_parse(&u, head.url, &e) == 0) {
            known = strcmp(u.host, host) == 0;
            url_fini(&u);
        }
        exchange_fini(&head);
    }
    return known;
}

void session_counts(const struct session *x, struct session_counts *out)
{
    struct deck_counts d = {0};

    if (x->deck)
        deck_counts(x->deck, &d);
    *out = (struct session_counts){
        .exact = d.exact,
        .normalised = d.normalised,
        .miss = atomic_load(&x->miss),
        .unused = d.unused,
        .recorded = atomic_load(&x->recorded),
        .failed = atomic_load(&x->failed),
    };
}

void sessions_sync(struct sessions *s)
{
    struct err e;

    for (struct session *x = NULL; (x = sessions_next(s, x));)
        if (x->cassette && cassette_sync(x->cassette, &e) < 0)
            log_warn("%s", e.msg);
}

int sessions_close(struct sessions *s, struct err *e)
{
    struct err mine;
    int rc = 0;

    for (struct session *x = s->first; x; x = x->next) {
        if (!x->cassette || cassette_close(&x->cassette, rc ? &mine : e) == 0)
            continue;
        if (rc)
            log_error("%s", mine.msg);
        rc = -1;
    }
    return rc;
}
