/* replay.c - see replay.h. */
#include "proxy/replay.h"

#include "base/clock.h"
#include "base/limits.h"
#include "net/refusal.h"
#include "tape/jsonrpc.h"

#include <stdlib.h>
#include <string.h>

struct replay {
    struct worker *w;
    struct http_request *r;
    struct shelf_slot *keep; /* where a ready answer goes, or NULL */
    struct decoded *decoded;
    struct exchange *x; /* of decoded */
    double speed;
    uint64_t start_ns; /* when the first byte is due */
    size_t sent;
    size_t chunk;      /* being sent */
    size_t chunk_sent; /* bytes of it already sent */
    struct loop_timer timer;
};

/* --- what was played last --------------------------------------------------------------
 */

#define SHELF_SLOTS 512
#define SHELF_BODY KIB(64) /* larger bodies are not kept */

/* A decoded exchange, shared by the playbacks of it. */
struct decoded {
    unsigned refs;
    struct exchange x;
};

static void decoded_release(struct decoded **d)
{
    if (*d && --(*d)->refs == 0) {
        exchange_fini(&(*d)->x);
        free(*d);
    }
    *d = NULL;
}

struct replay_shelf {
    struct shelf_slot {
        const struct tape *tape;
        size_t entry;
        struct http_canned *answer; /* a whole body: a ready answer */
        struct decoded *decoded;    /* a stream: the exchange */
    } slots[SHELF_SLOTS];
};

static void slot_clear(struct shelf_slot *s)
{
    http_canned_free(&s->answer);
    decoded_release(&s->decoded);
    s->tape = NULL;
}

int replay_shelf_new(struct replay_shelf **out, struct err *e)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : err_set(e, ERR_NOMEM, "replay: out of memory");
}

void replay_shelf_free(struct replay_shelf **s)
{
    for (size_t i = 0; *s && i < SHELF_SLOTS; i++)
        slot_clear(&(*s)->slots[i]);
    free(*s);
    *s = NULL;
}

static struct shelf_slot *slot_of(struct replay_shelf *s, const struct tape *t,
                                  size_t entry)
{
    return &s->slots[((uintptr_t)t / 64 + entry) % SHELF_SLOTS];
}

/* The slot that holds this recording, or NULL. */
static struct shelf_slot *shelf_find(struct replay_shelf *s, const struct tape *t,
                                     size_t entry)
{
    struct shelf_slot *slot = s ? slot_of(s, t, entry) : NULL;

    return slot && slot->tape == t && slot->entry == entry ? slot : NULL;
}

/* An empty slot for this recording, or NULL when it is not for keeping. */
static struct shelf_slot *shelf_make(struct replay_shelf *s, const struct tape *t,
                                     size_t entry, const struct exchange *x)
{
    if (!s || x->res_body.len > SHELF_BODY)
        return NULL;
    struct shelf_slot *slot = slot_of(s, t, entry);
    slot_clear(slot);
    slot->tape = t;
    slot->entry = entry;
    return slot;
}

static void free_text(void *arg)
{
    free(arg);
}

void replay_failure(struct http_request *r, enum err_code code, const char *message)
{
    struct buf body = BUF_INIT(KIB(8));
    struct headers h = {0};
    struct err e;

    refusal_body(&body, "upstream_error", err_name(code), message);
    (void)!headers_add(&h, "Content-Type", "application/json", &e);
    (void)!headers_add(&h, "x-retape-error", err_name(code), &e);
    size_t len = body.len;
    char *text = buf_take(&body);
    struct http_reply reply = {.status = err_http_status(code),
                               .headers = &h,
                               .body = text,
                               .len = text ? len : 0,
                               .release = free_text,
                               .release_arg = text};
    http_reply(r, &reply);
    headers_fini(&h);
}

void replay_done(struct replay **pp)
{
    struct replay *p = *pp;

    if (!p)
        return;
    loop_timer_clear(p->w->loop, &p->timer);
    decoded_release(&p->decoded);
    free(p);
    *pp = NULL;
}

/* --- pace ------------------------------------------------------------------------------
 */

static uint64_t due_ns(const struct replay *p, uint32_t ms)
{
    return p->start_ns + (uint64_t)((double)ms * 1e6 / p->speed);
}

static void on_due(void *arg)
{
    struct replay *p = arg;

    http_wake(p->r);
}

/* True when the time for it has not come; wakes the stream then. */
static bool too_early(struct replay *p, uint32_t ms)
{
    if (p->speed <= 0)
        return false;
    uint64_t due = due_ns(p, ms);
    if (due <= clock_mono_ns())
        return false;
    loop_timer_set_ns(p->w->loop, &p->timer, due, on_due, p);
    return true;
}

/* --- bodies
 * ------------------------------------------------------------------------------ */

static ssize_t at_the_end(const struct replay *p)
{
    return p->x->outcome == OUTCOME_COMPLETE ? HTTP_END : HTTP_CUT;
}

static ssize_t next_bytes(struct replay *p, char *to, size_t max, size_t most)
{
    size_t n = most < max ? most : max;

    memcpy(to, p->x->res_body.data + p->sent, n);
    p->sent += n;
    return (ssize_t)n;
}

/* One recorded chunk a call. */
static ssize_t play_chunks(void *arg, char *to, size_t max)
{
    struct replay *p = arg;

    while (p->chunk < p->x->n_chunks && p->x->chunks[p->chunk].len == 0)
        p->chunk++; /* nothing to send is not the same as waiting */
    if (p->chunk == p->x->n_chunks)
        return at_the_end(p);
    const struct exchange_chunk *c = &p->x->chunks[p->chunk];
    if (p->chunk_sent == 0 && too_early(p, c->ms))
        return HTTP_WAIT;
    ssize_t n = next_bytes(p, to, max, (size_t)c->len - p->chunk_sent);
    p->chunk_sent += (size_t)n;
    if (p->chunk_sent == c->len) {
        p->chunk++;
        p->chunk_sent = 0;
    }
    return n;
}

/* A body that is not a stream, with a declared length it may not reach. */
static ssize_t play_body(void *arg, char *to, size_t max)
{
    struct replay *p = arg;

    if (p->sent == p->x->res_body.len)
        return at_the_end(p);
    return next_bytes(p, to, max, p->x->res_body.len - p->sent);
}

static int64_t declared_length(const struct headers *h)
{
    const char *text = headers_find(h, "Content-Length");

    return text && *text ? (int64_t)strtoll(text, NULL, 10) : -1;
}

static void answer(struct replay *p)
{
    const struct exchange *x = p->x;

    if (x->status == 0) {
        replay_failure(p->r,
                       err_by_name(x->error_code) ? err_by_name(x->error_code) : ERR_PEER,
                       x->error_message);
        return;
    }
    bool head_only = strcmp(http_method(p->r), "HEAD") == 0;
    bool whole = x->outcome == OUTCOME_COMPLETE && !x->chunks && !head_only;
    if (whole) {
        struct http_reply reply = {.status = x->status,
                                   .headers = &x->res_headers,
                                   .body = x->res_body.data,
                                   .len = x->res_body.len};
        if (p->keep)
            p->keep->answer = http_canned_new(&reply);
        http_reply(p->r, &reply);
        return;
    }
    struct http_stream s = {.status = x->status,
                            .headers = &x->res_headers,
                            .length = declared_length(&x->res_headers),
                            .source = x->chunks ? play_chunks : play_body,
                            .arg = p};
    http_stream(p->r, &s);
}

static void on_first_byte(void *arg)
{
    answer(arg);
}

/* --- JSON-RPC
 * ------------------------------------------------------------------------------ */

static int answer_callers_id(struct replay *p, const struct buf *asked, struct err *e)
{
    struct exchange *x = p->x;
    struct buf fixed = BUF_INIT(LIMIT_DECODED_BODY);
    uint64_t *lens = calloc(x->n_chunks + 1, sizeof *lens);

    if (!lens)
        return err_set(e, ERR_NOMEM, "replay: out of memory");
    for (size_t i = 0; i < x->n_chunks; i++)
        lens[i] = x->chunks[i].len;
    if (jsonrpc_answer(buf_cstr(&x->req_body), x->req_body.len, buf_cstr(asked),
                       asked->len, buf_cstr(&x->res_body), x->res_body.len, lens,
                       x->n_chunks, &fixed)) {
        buf_free(&x->res_body);
        x->res_body = fixed;
        for (size_t i = 0; i < x->n_chunks; i++)
            x->chunks[i].len = lens[i];
    } else {
        buf_free(&fixed);
    }
    free(lens);
    return buf_check(&x->res_body, "JSON-RPC answer", e);
}

/* Decode the recording, or take it from the shelf. */
static int get_exchange(struct replay *p, const struct tape *t, size_t i, bool rpc,
                        struct err *e)
{
    struct shelf_slot *slot = rpc ? NULL : shelf_find(p->w->shelf, t, i);

    if (slot && slot->decoded) {
        p->decoded = slot->decoded;
        p->decoded->refs++;
        p->x = &p->decoded->x;
        return 0;
    }
    struct decoded *d = calloc(1, sizeof *d);
    if (!d)
        return err_set(e, ERR_NOMEM, "replay: out of memory");
    d->refs = 1;
    if ((rpc ? tape_load(t, i, &d->x, e) : tape_load_response(t, i, &d->x, e)) < 0) {
        free(d);
        return -1;
    }
    p->decoded = d;
    p->x = &d->x;
    if (rpc) /* made for this caller */
        return answer_callers_id(p, http_body(p->r), e);
    slot = shelf_make(p->w->shelf, t, i, p->x);
    if (slot && p->x->chunks) {
        slot->decoded = d;
        d->refs++;
    } else if (p->speed <= 0) {
        p->keep = slot;
    }
    return 0;
}

int replay_start(struct replay **out, struct worker *w, struct http_request *r,
                 const struct tape *t, size_t i, double speed, struct err *e)
{
    const struct buf *asked = http_body(r);
    bool rpc = asked->len > 0 && jsonrpc_is(asked->data, asked->len);
    bool head_only = strcmp(http_method(r), "HEAD") == 0;
    struct shelf_slot *ready =
        rpc || head_only || speed > 0 ? NULL : shelf_find(w->shelf, t, i);

    *out = NULL;
    if (ready && ready->answer) {
        http_reply_canned(r, ready->answer);
        return 0;
    }
    struct replay *p = calloc(1, sizeof *p);
    if (!p)
        return err_set(e, ERR_NOMEM, "replay: out of memory");
    p->w = w;
    p->r = r;
    p->speed = speed;
    if (get_exchange(p, t, i, rpc, e) < 0) {
        replay_done(&p);
        return -1;
    }
    *out = p;
    p->start_ns = clock_mono_ns();
    uint32_t wait = p->x->chunks ? p->x->first_byte_ms : p->x->total_ms;
    if (speed <= 0 || wait == 0) {
        answer(p);
        return 0;
    }
    p->start_ns = due_ns(p, wait);
    loop_timer_set_ns(w->loop, &p->timer, p->start_ns, on_first_byte, p);
    return 0;
}
