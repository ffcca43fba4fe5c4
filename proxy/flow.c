/*
 * flow.c - see flow.h. A reader learns the product from the table below.
 *
 *   admit ─► own page
 *     └──► prepare ─► match ─ hit ──► replay
 *                       └ miss ─ strict ─► miss (424)
 *                              └ live ───► fetch ─► (record, then the last byte)
 *
 * While an upstream answers, the client is served from the same bytes the recorder
 * keeps; the end of the answer is given to the client only after the exchange is in
 * the cassette, so what a client has seen whole is never lost.
 */
#include "proxy/flow.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "net/refusal.h"
#include "proxy/control.h"
#include "proxy/flow_internal.h"
#include "proxy/misses.h"
#include "proxy/replay.h"
#include "proxy/shared.h"
#include "tape/decode.h"
#include "tape/miss.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- answers of our own --- */

static void free_text(void *arg)
{
    free(arg);
}

static void reply_text(struct flow *f, int status, const struct headers *h, struct buf *b)
{
    size_t len = b->len;
    char *text = buf_take(b);
    struct http_reply reply = {.status = status,
                               .headers = h,
                               .body = text,
                               .len = text ? len : 0,
                               .release = free_text,
                               .release_arg = text};

    http_reply(f->r, &reply);
}

enum flow_next flow_refuse(struct flow *f, int status, const char *code,
                           const char *message)
{
    struct buf body = BUF_INIT(KIB(8));
    struct headers h = {0};
    struct err e;

    refusal_body(&body, NULL, code ? code : refusal_code(status), message);
    (void)!headers_add(&h, "Content-Type", "application/json", &e);
    if (status == 407)
        (void)!headers_add(&h, "Proxy-Authenticate", "Basic realm=\"retape\"", &e);
    reply_text(f, status, &h, &body);
    headers_fini(&h);
    return FLOW_WAIT;
}

/* --- admit: who asks, for what --- */

static enum flow_next step_admit(struct flow *f)
{
    const struct shared *s = f->w->shared;
    const struct headers *h = http_headers(f->r);
    struct err e = {0};
    struct target_request tr = {.conn = f->conn,
                                .own = &s->own,
                                .routes = s->config->routes,
                                .n_routes = s->config->n_routes,
                                .line = http_target(f->r),
                                .host = headers_find(h, "Host")};

    if (target_of(&f->target, &tr, &f->claim, &e) < 0)
        return flow_refuse(f, 400, NULL, e.msg);
    if (!f->claim.session[0])
        memcpy(f->claim.session, f->conn->claim.session, sizeof f->claim.session);
    if (!f->claim.token[0])
        memcpy(f->claim.token, f->conn->claim.token, sizeof f->claim.token);
    if (!f->claim.session[0] && !f->claim.token[0])
        gate_basic(headers_find(h, "Proxy-Authorization"), &f->claim);
    gate_headers(h, &f->claim);
    if (f->claim.bad)
        return flow_refuse(f, 400, NULL,
                           "a session name must match [A-Za-z0-9][A-Za-z0-9._-]{0,63}");
    if (!gate_token_ok(&f->claim, s->options->token)) {
        if (f->target.own_origin)
            return flow_refuse(
                f, 401, NULL, "want the token: X-Retape-Token, or /s/<session>:<token>/");
        return flow_refuse(f, 407, NULL,
                           "this proxy wants its token as the password of the proxy URL");
    }
    if (f->target.own_origin && !f->target.named_us && !s->options->token)
        return flow_refuse(f, 421, NULL,
                           "the Host field names another host: ask under the proxy's own "
                           "address or retape.local, or set a --token");
    f->step = f->target.kind == TARGET_OWN ? FLOW_OWN : FLOW_PREPARE;
    return FLOW_MORE;
}

static enum flow_next step_own(struct flow *f)
{
    struct control_request c = {.shared = f->w->shared,
                                .method = http_method(f->r),
                                .path = f->target.path,
                                .session = f->claim.session};
    struct control_answer a = {.body = BUF_INIT(MIB(64))};

    control_serve(&c, &a);
    struct headers h = {0};
    struct err e;
    (void)!headers_add(&h, "Content-Type", a.type, &e);
    if (a.allow)
        (void)!headers_add(&h, "Allow", a.allow, &e);
    reply_text(f, a.status, &h, &a.body);
    headers_fini(&h);
    return FLOW_WAIT;
}

/* --- prepare: the request as it is stored and matched --- */

static const char *session_name(const struct flow *f)
{
    return f->claim.session[0] ? f->claim.session : f->w->shared->options->session;
}

static int find_session(struct flow *f, struct err *e)
{
    const char *name = session_name(f);

    if (f->conn->session && strcmp(f->conn->session->name, name) == 0) {
        f->session = f->conn->session;
        return 0;
    }
    if (sessions_get(f->w->shared->sessions, name, &f->session, e) < 0)
        return -1;
    f->conn->session = f->session;
    return 0;
}

/* The usual hit is byte for byte what was recorded, and that is clean already. */
static int scrub_request_body(struct flow *f, struct err *e)
{
    const struct deck *deck = f->session->deck;

    if (deck) {
        f->body_xxh3 = digest_xxh3(f->body, f->body_len);
        if (deck_has_body(deck, f->body_xxh3))
            return 0;
    }
    f->scrubbed = BUF_INIT(LIMIT_DECODED_BODY);
    int hit = scrub_body(f->w->shared->config->scrub, SCRUB_REQUEST,
                         headers_find(http_headers(f->r), "Content-Type"), f->body,
                         f->body_len, NULL, &f->scrubbed, f->counts, e);
    if (hit <= 0)
        return hit;
    f->body = buf_cstr(&f->scrubbed);
    f->body_len = f->scrubbed.len;
    if (deck)
        f->body_xxh3 = digest_xxh3(f->body, f->body_len);
    return 0;
}

static int scrub_request(struct flow *f, struct err *e)
{
    const struct config *config = f->w->shared->config;
    const struct headers *h = http_headers(f->r);
    const char *coding = headers_find(h, "Content-Encoding");

    f->body = buf_cstr(http_body(f->r));
    f->body_len = http_body(f->r)->len;
    if (coding && f->body_len > 0 && decode_knows(coding)) {
        struct err ignored;
        f->decoded = BUF_INIT(LIMIT_DECODED_BODY);
        if (decode_all(coding, f->body, f->body_len, &f->decoded, &ignored) == 0) {
            f->body = buf_cstr(&f->decoded);
            f->body_len = f->decoded.len;
        }
    }
    if (scrub_url(config->scrub, &f->target.url, f->counts, e) < 0)
        return -1;
    if (scrub_request_body(f, e) < 0)
        return -1;
    if (canon_rules_is_default(config->match))
        return 0;
    if (headers_copy(&f->scrubbed_headers, h, e) < 0)
        return -1;
    return scrub_headers(config->scrub, SCRUB_REQUEST, &f->scrubbed_headers, NULL, e);
}

static enum flow_next reply_miss(struct flow *f, uint64_t n, struct buf *body)
{
    struct headers h = {0};
    struct err e;
    char text[24];

    (void)snprintf(text, sizeof text, "%" PRIu64, n);
    (void)!headers_add(&h, "Content-Type", "application/json", &e);
    (void)!headers_add(&h, "x-should-retry", "false", &e);
    (void)!headers_add(&h, "x-retape-miss", text, &e);
    reply_text(f, 424, &h, body);
    headers_fini(&h);
    return FLOW_WAIT;
}

/* Strict replay, and the session it is for has no cassette. */
static enum flow_next miss_session(struct flow *f, const char *message)
{
    struct buf body = BUF_INIT(KIB(8));
    uint64_t n = sessions_count_stray(f->w->shared->sessions);

    refusal_body(&body, "replay_missing_dependency", err_name(ERR_MISS), message);
    misses_put(f->w->shared->misses, session_name(f), n, &body);
    log_warn("session %s: miss %" PRIu64 ": %s", session_name(f), n, message);
    return reply_miss(f, n, &body);
}

static enum flow_next step_prepare(struct flow *f)
{
    struct buf url = BUF_INIT(LIMIT_REQUEST_HEAD + KIB(2));
    struct err e = {0};

    int rc = find_session(f, &e);
    if (rc < 0 && e.code == ERR_MISS)
        return miss_session(f, e.msg);
    if (rc < 0)
        return flow_refuse(f, err_http_status(e.code), err_name(e.code), e.msg);
    if (f->w->fetch) { /* strict replay neither forwards nor counts */
        url_text(&f->target.url, &url);
        f->upstream_url = buf_take(&url);
        if (scrub_counts_new(&f->counts, f->w->shared->config->scrub, &e) < 0)
            return flow_refuse(f, 500, err_name(e.code), e.msg);
    }
    if (scrub_request(f, &e) < 0)
        return flow_refuse(f, err_http_status(e.code), err_name(e.code), e.msg);
    f->step = f->session->deck ? FLOW_MATCH : f->w->fetch ? FLOW_FETCH : FLOW_MISS;
    return FLOW_MORE;
}

static struct canon_request canon_of(const struct flow *f)
{
    return (struct canon_request){.method = http_method(f->r),
                                  .url = &f->target.url,
                                  .headers = f->scrubbed_headers.n ? &f->scrubbed_headers
                                                                   : http_headers(f->r),
                                  .body = f->body,
                                  .body_len = f->body_len};
}

/* --- match, replay, miss --- */

/* In auto everything may; in a live replay only hosts that the recording knows. */
static bool may_go_out(struct flow *f)
{
    struct shared *s = f->w->shared;

    if (!f->w->fetch)
        return false;
    if (s->options->mode != MODE_REPLAY)
        return true;
    if (!session_knows_host(f->session, f->target.url.host))
        return false;
    (void)atomic_fetch_add(&s->live, 1);
    return true;
}

static enum flow_next step_match(struct flow *f)
{
    struct canon_request req = canon_of(f);
    struct err e = {0};

    if (deck_take(f->session->deck, &req, f->body_xxh3, &f->found, &f->entry, &e) < 0)
        return flow_refuse(f, err_http_status(e.code), err_name(e.code), e.msg);
    if (f->found == FOUND_EXACT || f->found == FOUND_NORMALISED)
        f->step = FLOW_REPLAY;
    else
        f->step = may_go_out(f) ? FLOW_FETCH : FLOW_MISS;
    return FLOW_MORE;
}

static enum flow_next step_replay(struct flow *f)
{
    struct err e = {0};

    if (replay_start(&f->replay, f->w, f->r, f->session->tape, f->entry,
                     f->w->shared->options->speed, &e) < 0) {
        log_error("%s: exchange %" PRIu64 ": %s", tape_name(f->session->tape),
                  tape_entry(f->session->tape, f->entry)->n, e.msg);
        return flow_refuse(f, 500, err_name(e.code), e.msg);
    }
    return FLOW_WAIT;
}

static enum flow_next step_miss(struct flow *f)
{
    struct canon_request req = canon_of(f);
    struct buf body = BUF_INIT(LIMIT_MISS_BODY), text = BUF_INIT(LIMIT_MISS_BODY);
    struct miss m;
    struct err e = {0};
    uint64_t n = atomic_fetch_add(&f->session->miss, 1) + 1;

    if (miss_explain(&m, f->session->deck, &req, f->found, f->entry, &e) < 0)
        return flow_refuse(f, 424, err_name(ERR_MISS), e.msg);
    miss_json(&m, &body);
    miss_text(&m, &text);
    misses_put(f->w->shared->misses, f->session->name, n, &body);
    log_line(LOG_LEVEL_WARN, "session %s: miss %" PRIu64 ": %s", f->session->name, n,
             buf_cstr(&text));
    buf_free(&text);
    miss_fini(&m);
    return reply_miss(f, n, &body);
}

static void free_flow(void *arg)
{
    struct flow *f = arg;

    target_fini(&f->target);
    free(f->upstream_url);
    headers_fini(&f->scrubbed_headers);
    headers_fini(&f->res_headers);
    buf_free(&f->decoded);
    buf_free(&f->scrubbed);
    buf_free(&f->raw);
    free(f->chunks);
    scrub_counts_free(&f->counts);
    replay_done(&f->replay);
    struct worker *w = f->w;
    conn_release(f->conn);
    f->magic = 0;
    free(f);
    worker_flow_ended(w);
}

/* Both sides are done with it? */
static void maybe_free(struct flow *f)
{
    if (!f->r && !f->call)
        loop_defer(f->w->loop, &f->free_job, free_flow, f);
}

/* --- the table
 * ---------------------------------------------------------------------------------------------
 */

typedef enum flow_next flow_step_fn(struct flow *f);
static const struct {
    const char *name;
    flow_step_fn *run;
} flow_steps[] = {
    [FLOW_ADMIT] = {"admit", step_admit},       /* who asks, and for what? */
    [FLOW_OWN] = {"own", step_own},             /* a page of our own */
    [FLOW_PREPARE] = {"prepare", step_prepare}, /* session, scrubbed request */
    [FLOW_MATCH] = {"match", step_match},       /* cassette hit or miss? */
    [FLOW_REPLAY] = {"replay", step_replay},    /* hit: play it back */
    [FLOW_MISS] = {"miss", step_miss},          /* strict: say why not */
    [FLOW_FETCH] = {"fetch", flow_step_fetch},  /* live: forward and record */
};

static void run(struct flow *f)
{
    enum flow_next next;

    do {
        must(f->step < COUNT_OF(flow_steps));
        log_debug("flow %" PRIu64 " %s", f->id, flow_steps[f->step].name);
        next = flow_steps[f->step].run(f);
    } while (next == FLOW_MORE);
}

void flow_begin(void *conn, struct http_request *r)
{
    struct conn *c = conn_check(conn);
    struct flow *f = calloc(1, sizeof *f);

    must(f != NULL);
    f->magic = FLOW_MAGIC;
    f->id = atomic_fetch_add(&c->worker->shared->requests, 1) + 1;
    f->w = c->worker;
    f->conn = c;
    f->r = r;
    f->t_ms = clock_wall_ms();
    f->start_ns = clock_mono_ns();
    conn_hold(c);
    f->w->flows++;
    http_set_user(r, f);
    run(f);
}

bool flow_hangup(struct http_request *r)
{
    struct flow *f = http_user(r);

    must(f && f->magic == FLOW_MAGIC);
    bool live = f->call != NULL;
    flow_abandon(f);
    return live;
}

void flow_done(struct http_request *r, bool complete)
{
    struct flow *f = http_user(r);

    must(f && f->magic == FLOW_MAGIC);
    if (!complete)
        flow_abandon(f);
    f->r = NULL;
    if (f->call) /* answered in full before its upstream ended: cannot be */
        fetch_cancel(&f->call);
    maybe_free(f);
}
