/* control.c - see control.h. */
#include "proxy/control.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "certs/ca.h"
#include "net/refusal.h"
#include "proxy/misses.h"
#include "proxy/session.h"
#include "proxy/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef void page_fn(const struct control_request *r, const char *session,
                     struct control_answer *a);

static const char *const modes[] = {"record", "replay", "auto"};

static void fail(struct control_answer *a, int status, const char *message)
{
    a->status = status;
    a->type = "application/json";
    buf_reset(&a->body);
    refusal_body(&a->body, NULL, refusal_code(status), message);
}

static void page_health(const struct control_request *r, const char *session,
                        struct control_answer *a)
{
    const struct shared *s = r->shared;

    (void)session;
    buf_fmt(&a->body,
            "{\"mode\":\"%s\",\"status\":\"ok\",\"uptime_ms\":%" PRIu64
            ",\"version\":\"%s\"}\n",
            modes[s->options->mode], (clock_mono_ns() - s->start_ns) / 1000000,
            RETAPE_VERSION);
}

static void page_sessions(const struct control_request *r, const char *session,
                          struct control_answer *a)
{
    bool first = true;

    buf_char(&a->body, '[');
    for (struct session *x = NULL; (x = sessions_next(r->shared->sessions, x));) {
        if (session && strcmp(session, x->name) != 0)
            continue;
        buf_str(&a->body, first ? "" : ",");
        summary_session_json(x, &a->body);
        first = false;
    }
    buf_str(&a->body, "]\n");
}

static bool put_entry(const struct session *x, const struct tape *tape, size_t i,
                      bool first, struct buf *out)
{
    const struct tape_entry *t = tape_entry(tape, i);
    struct exchange head;
    struct err e;

    if (tape_load_head(tape, i, &head, &e) < 0)
        return false;
    buf_fmt(out,
            "%s{\"exchange\":%" PRIu64 ",\"kind\":\"%s\",\"method\":", first ? "" : ",",
            t->n, exchange_kind_name((enum exchange_kind)t->kind));
    json_string(out, head.method, strlen(head.method));
    buf_fmt(out, ",\"outcome\":\"%s\",\"status\":%u,\"url\":",
            exchange_outcome_name((enum exchange_outcome)t->outcome), t->status);
    json_string(out, head.url, strlen(head.url));
    bool used = x->deck && i < tape_count(x->tape) && deck_was_used(x->deck, i);
    buf_fmt(out, ",\"used\":%s}", used ? "true" : "false");
    exchange_fini(&head);
    return true;
}

/* What the cassette holds by now; a recording session reads its own file again. */
static void put_entries(const struct shared *s, const struct session *x, struct buf *out)
{
    char *path = cassette_path(s->options->cassettes, x->name);
    const struct tape *tape = x->tape;
    struct tape *fresh = NULL;
    struct err e;
    bool first = true;

    if (x->cassette && path && tape_open(&fresh, path, NULL, &e) == 0)
        tape = fresh;
    for (size_t i = 0; tape && i < tape_count(tape); i++)
        if (put_entry(x, tape, i, first, out))
            first = false;
    tape_close(&fresh);
    free(path);
}

static void page_exchanges(const struct control_request *r, const char *session,
                           struct control_answer *a)
{
    const char *name = session ? session : r->shared->options->session;
    struct session *x = NULL;

    while ((x = sessions_next(r->shared->sessions, x)))
        if (strcmp(x->name, name) == 0)
            break;
    if (!x) {
        fail(a, 404, "no request has named this session yet");
        return;
    }
    struct session_counts c;
    session_counts(x, &c);
    buf_str(&a->body, "{\"exchanges\":[");
    put_entries(r->shared, x, &a->body);
    buf_fmt(&a->body, "],\"recorded\":%" PRIu64 ",\"session\":", c.recorded);
    json_string(&a->body, x->name, strlen(x->name));
    buf_str(&a->body, "}\n");
}

static void page_misses(const struct control_request *r, const char *session,
                        struct control_answer *a)
{
    misses_json(r->shared->misses, session, &a->body);
    buf_char(&a->body, '\n');
}

static void page_metrics(const struct control_request *r, const char *session,
                         struct control_answer *a)
{
    const struct shared *s = r->shared;

    (void)session;
    a->type = "text/plain; version=0.0.4; charset=utf-8";
    buf_fmt(&a->body,
            "# TYPE retape_requests_total counter\nretape_requests_total %" PRIu64 "\n"
            "# TYPE retape_connections gauge\nretape_connections %zu\n"
            "# TYPE retape_tunnelled_total counter\nretape_tunnelled_total %" PRIu64 "\n"
            "# TYPE retape_blocked_total counter\nretape_blocked_total %" PRIu64 "\n",
            (uint64_t)atomic_load(&s->requests), atomic_load(&s->conns),
            (uint64_t)atomic_load(&s->tunnelled), (uint64_t)atomic_load(&s->blocked));
    summary_metrics(s->sessions, &a->body);
}

static void page_ca(const struct control_request *r, const char *session,
                    struct control_answer *a)
{
    (void)session;
    a->type = "application/x-pem-file";
    buf_str(&a->body, ca_cert_pem(r->shared->ca));
}

static const struct {
    const char *path;
    page_fn *serve;
} pages[] = {
    {"/__retape/health", page_health},       {"/__retape/sessions", page_sessions},
    {"/__retape/exchanges", page_exchanges}, {"/__retape/misses", page_misses},
    {"/__retape/metrics", page_metrics},     {"/__retape/ca.pem", page_ca},
};

/* The value of `session` in a query, malloc'ed, or NULL. */
static char *query_session(const char *query)
{
    for (const char *p = query; p && *p;) {
        size_t n = strcspn(p, "&");
        if (n > 8 && strncmp(p, "session=", 8) == 0) {
            struct buf out = BUF_INIT(256);
            url_decode(p + 8, n - 8, true, &out);
            return buf_take(&out);
        }
        p += n + (p[n] == '&');
    }
    return NULL;
}

static void not_found(struct control_answer *a)
{
    fail(a, 404,
         "nothing here; pages: /__retape/health, sessions, exchanges?session=NAME, "
         "misses, "
         "metrics, ca.pem; routes: /openai, /anthropic, /gemini, /to/https/HOST, and "
         "those "
         "of retape.json");
}

void control_serve(const struct control_request *r, struct control_answer *a)
{
    size_t path = strcspn(r->path, "?");

    a->status = 200;
    a->type = "application/json";
    a->allow = NULL;
    for (size_t i = 0; i < COUNT_OF(pages); i++) {
        if (strlen(pages[i].path) != path || strncmp(pages[i].path, r->path, path) != 0)
            continue;
        if (strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0) {
            fail(a, 405, "these pages are read with GET");
            a->allow = "GET, HEAD";
            return;
        }
        char *named = query_session(r->path[path] ? r->path + path + 1 : NULL);
        pages[i].serve(r, named ? named : r->session[0] ? r->session : NULL, a);
        free(named);
        return;
    }
    not_found(a);
}
