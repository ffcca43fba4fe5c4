/*
 * flow_live.c - the step of a flow that goes out: forward, deliver, record.
 *
 * The client is served from the same bytes the recorder keeps, piece by piece as they
 * come; the last of them is held back until the exchange is in the cassette.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "proxy/flow_internal.h"
#include "proxy/record.h"
#include "proxy/replay.h"
#include "proxy/shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Put the exchange into the cassette, however it ended. */
static void record(struct flow *f, const struct err *failure,
                   const struct fetch_timing *timing)
{
    struct record_request req = {.t_ms = f->t_ms,
                                 .method = http_method(f->r),
                                 .url = &f->target.url,
                                 .headers = http_headers(f->r),
                                 .body = f->body,
                                 .body_len = f->body_len,
                                 .has_body = http_has_body(f->r),
                                 .counts = f->counts};
    struct record_response res = {.status = f->status,
                                  .headers = &f->res_headers,
                                  .body = buf_cstr(&f->raw),
                                  .body_len = f->raw.len,
                                  .chunks = f->chunks,
                                  .n_chunks = f->n_chunks,
                                  .timing = *timing};
    const char *type = headers_find(&f->res_headers, "Content-Type");
    struct err e = {0};

    if (!f->session->cassette) /* replay --live: forwarded, not recorded */
        return;
    if (f->too_large) {
        (void)atomic_fetch_add(&f->session->failed, 1);
        log_error("%s: the response is larger than limits.response_body (%zu bytes): "
                  "passed on, not recorded",
                  f->target.url.host, f->w->shared->config->max_response_body);
        return;
    }
    res.streamed =
        f->n_chunks > 0 && (!headers_find(&f->res_headers, "Content-Length") ||
                            (type && strncasecmp(type, "text/event-stream", 17) == 0));
    if (record_exchange(f->w->shared->config, f->session, &req, &res, failure, &e) < 0)
        log_error("session %s: exchange not recorded: %s", f->session->name, e.msg);
}

/* Bytes for the client out of what the upstream has sent so far, piece by piece. */
static ssize_t next_piece(void *arg, char *to, size_t max)
{
    struct flow *f = arg;

    must(f->magic == FLOW_MAGIC);
    if (f->broken)
        return HTTP_CUT;
    if (f->piece == f->n_chunks) {
        if (!f->ended)
            return HTTP_WAIT;
        return f->cut ? HTTP_CUT : HTTP_END;
    }
    size_t left = (size_t)f->chunks[f->piece].len - f->piece_sent;
    size_t n = left < max ? left : max;
    /* The server ends a body of declared length by itself, so its last byte waits for
     * the recorder. */
    if (!f->ended && f->declared > 0 && f->given + n >= (uint64_t)f->declared)
        n = (size_t)((uint64_t)f->declared - 1 - f->given);
    if (n == 0)
        return HTTP_WAIT;
    memcpy(to, f->raw.data + f->sent, n);
    f->given += n;
    f->sent += n;
    f->piece_sent += n;
    if (n == left) {
        f->piece++;
        f->piece_sent = 0;
    }
    if (f->too_large) { /* nothing is kept for the recorder */
        buf_eat(&f->raw, f->sent);
        f->sent = 0;
    }
    if (f->call && f->raw.len - f->sent < LIMIT_STREAM_AHEAD / 2)
        fetch_resume(f->call);
    return (ssize_t)n;
}

static int64_t declared_length(const struct flow *f)
{
    const char *text = headers_find(&f->res_headers, "Content-Length");

    return text && *text ? (int64_t)strtoll(text, NULL, 10) : -1;
}

/* At the end of the turn in which the head came: a body that is all there goes out in
 * one piece, any other as it comes. */
static void deliver(void *arg)
{
    struct flow *f = arg;

    must(f->magic == FLOW_MAGIC);
    if (!f->r || http_is_answered(f->r))
        return;
    bool head_only = strcmp(http_method(f->r), "HEAD") == 0;
    bool bare = f->status == 204 || f->status == 304;
    f->declared = declared_length(f);
    bool framed = bare || f->declared >= 0 || f->raw.len == 0;
    if (!f->ended && (head_only || bare || f->declared == 0))
        return; /* the end comes with the head */
    if (f->ended && !f->cut && !f->too_large && !head_only && framed) {
        struct http_reply reply = {.status = f->status,
                                   .headers = &f->res_headers,
                                   .body = f->raw.data,
                                   .len = f->raw.len};
        http_reply(f->r, &reply);
        return;
    }
    struct http_stream s = {.status = f->status,
                            .headers = &f->res_headers,
                            .length = f->declared,
                            .source = next_piece,
                            .arg = f};
    http_stream(f->r, &s);
}

/* Once more to the back of the queue: the upstream's end may be in the same turn. */
static void deliver_soon(void *arg)
{
    struct flow *f = arg;

    loop_defer(f->w->loop, &f->deliver_job, deliver, f);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct flow *f = arg;
    struct err e;

    must(f->magic == FLOW_MAGIC);
    f->status = status;
    if (headers_copy(&f->res_headers, headers, &e) < 0)
        log_error("%s", e.msg);
    headers_remove_hop_by_hop(&f->res_headers);
    f->first_ns = clock_mono_ns();
    loop_defer(f->w->loop, &f->deliver_job, deliver_soon, f);
}

static void add_chunk(struct flow *f, size_t len)
{
    if (f->n_chunks == f->cap_chunks) {
        size_t cap = f->cap_chunks ? f->cap_chunks * 2 : 16;
        struct exchange_chunk *v = realloc(f->chunks, cap * sizeof *v);
        must(v != NULL); /* 16 bytes beside a piece that was just stored */
        f->chunks = v;
        f->cap_chunks = cap;
    }
    uint64_t ms = (clock_mono_ns() - f->first_ns) / 1000000;
    f->chunks[f->n_chunks++] = (struct exchange_chunk){(uint32_t)ms, len};
}

static void on_data(void *arg, const char *data, size_t len)
{
    struct flow *f = arg;

    must(f->magic == FLOW_MAGIC);
    if (len == 0)
        return;
    if (!f->too_large && f->raw.len + len > f->w->shared->config->max_response_body) {
        f->too_large = true;
        buf_eat(&f->raw, f->sent);
        f->sent = 0;
    }
    buf_add(&f->raw, data, len);
    if (f->raw.failed) {
        f->broken = f->too_large = true;
        if (f->r)
            http_wake(f->r);
        return;
    }
    add_chunk(f, len);
    if (f->raw.len - f->sent > LIMIT_STREAM_AHEAD)
        fetch_pause(f->call);
    if (f->r)
        http_wake(f->r);
}

static void on_fetched(void *arg, const struct err *failure,
                       const struct fetch_timing *timing)
{
    struct flow *f = arg;

    must(f->magic == FLOW_MAGIC);
    f->call = NULL;
    record(f, failure, timing);
    f->ended = true;
    f->cut = failure != NULL;
    if (failure)
        log_warn("session %s: %s %s%s: %s: %s; recorded as a failure", f->session->name,
                 http_method(f->r), f->target.url.host, f->target.url.path,
                 err_name(failure->code), failure->msg);
    if (f->status == 0) {
        replay_failure(f->r, failure ? failure->code : ERR_PEER,
                       failure ? failure->msg : "no answer");
        return;
    }
    deliver(f);
    http_wake(f->r);
}

static bool egress_allowed(const struct config *config, const char *host)
{
    if (!config->egress_allow)
        return true;
    for (const char *const *p = config->egress_allow; *p; p++)
        if (canon_host_covers(*p, host))
            return true;
    return false;
}

/* What goes upstream: the client's fields but ours, and Host only where the client
 * speaks to the upstream itself. */
static int upstream_headers(const struct flow *f, struct headers *out, struct err *e)
{
    if (headers_copy(out, http_headers(f->r), e) < 0)
        return -1;
    headers_remove_hop_by_hop(out);
    headers_remove(out, "X-Retape-Session");
    headers_remove(out, "X-Retape-Token");
    if (!f->target.keep_host)
        headers_remove(out, "Host");
    return 0;
}

enum flow_next flow_step_fetch(struct flow *f)
{
    static const struct fetch_events events = {on_head, on_data, on_fetched};
    struct headers h = {0};
    struct err e = {0};

    if (!egress_allowed(f->w->shared->config, f->target.url.host)) {
        (void)atomic_fetch_add(&f->w->shared->blocked, 1);
        return flow_refuse(f, 403, NULL,
                           "this host is not in egress.allow of retape.json");
    }
    if (headers_find(http_headers(f->r), "Upgrade") &&
        headers_has_token(http_headers(f->r), "Connection", "Upgrade"))
        return flow_refuse(
            f, 501, "E_UPGRADE",
            "protocol upgrades (WebSocket) are not recorded by this version; "
            "pass the host through with --tunnel HOST");
    if (upstream_headers(f, &h, &e) < 0) {
        headers_fini(&h);
        return flow_refuse(f, 500, err_name(e.code), e.msg);
    }
    f->raw = BUF_INIT(f->w->shared->config->max_response_body + MIB(2));
    struct fetch_request req = {.method = http_method(f->r),
                                .url = f->upstream_url,
                                .headers = &h,
                                .body = buf_cstr(http_body(f->r)),
                                .body_len = http_body(f->r)->len,
                                .has_body = http_has_body(f->r)};
    int rc = fetch_start(f->w->fetch, &req, &events, f, &f->call, &e);
    headers_fini(&h);
    return rc < 0 ? flow_refuse(f, 500, err_name(e.code), e.msg) : FLOW_WAIT;
}

/* The client went away: nobody is left to fetch for. */
void flow_abandon(struct flow *f)
{
    uint64_t now = clock_mono_ns();
    struct fetch_timing until = {
        .first_byte_ms =
            f->first_ns ? (uint32_t)((f->first_ns - f->start_ns) / 1000000) : 0,
        .total_ms = (uint32_t)((now - f->start_ns) / 1000000)};
    struct err gone = {0};

    if (!f->call)
        return;
    fetch_cancel(&f->call);
    err_set(&gone, ERR_GONE, "the client closed its connection after %" PRIu64 " bytes",
            f->given);
    record(f, &gone, &until);
    f->ended = f->cut = true;
}
