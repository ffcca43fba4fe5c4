/*
 * httpd.c - see httpd.h.
 *
 * libmicrohttpd without a thread of its own: its epoll descriptor is nested in the
 * loop's, MHD_run() is called from a turn hook. What it gets wrong is put right here:
 * a reply is queued only when the upload is over, ambiguous framing is refused in the
 * first call, suspended connections are watched for hang-ups, and a socket whose FIN
 * came together with its last request gets a fresh edge by shutdown(SHUT_RD).
 */
#include "net/httpd.h"

#include "base/limits.h"
#include "net/refusal.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONN_MAGIC 0x636f6e6eu
#define REQUEST_MAGIC 0x72657175u
#define RUNS_A_TURN 16
#define KEPT_REQUESTS 64
#define KEPT_BODY KIB(256)

struct httpd {
    struct MHD_Daemon *mhd;
    struct loop *loop;
    struct loop_watch watch; /* MHD's own epoll */
    struct httpd_events events;
    size_t max_body;
    size_t n_conns;
    bool dirty;                   /* MHD_run() is due */
    struct httpd_conn *adding;    /* during MHD_add_connection() */
    struct httpd_conn *half_open; /* FIN seen, waiting for the fresh edge */
    struct httpd_conn *all;
    struct http_request *spare;   /* finished requests, memory kept */
    size_t n_spare;
};

struct httpd_conn {
    unsigned magic;
    struct httpd *h;
    void *user;
    int fd;
    bool tcp;
    bool fin;   /* the client will send no more */
    bool gone;  /* the client cannot be answered any more */
    bool closed;
    bool listed; /* in half_open */
    struct loop_watch watch;
    struct http_request *current;
    struct httpd_conn *next_half_open;
    struct httpd_conn *next, **link; /* in h->all */
    struct loop_job free_job;
};

enum request_state {
    READING,  /* head and body are coming in */
    ASKED,    /* on_request was called, no answer yet */
    ANSWERED, /* an answer is there, not queued yet */
    SENDING,  /* queued */
};

struct http_request {
    unsigned magic;
    enum request_state state;
    struct httpd_conn *conn;
    struct MHD_Connection *mhd;
    char *target;
    const char *method;
    struct header fields[64]; /* borrowed from libmicrohttpd's pool */
    struct header *more_fields;
    struct headers headers; /* .v points to one of the two above */
    struct buf body;
    bool has_body;
    bool too_large;
    bool suspended;
    bool seen; /* on_request was called */
    int refuse; /* status to refuse with once the upload is over */
    const char *refuse_why;
    struct MHD_Response *response;
    int status;
    http_source_fn *source;
    void *source_arg;
    void *user;
    struct http_request *next_spare;
};

const char *httpd_library_version(void)
{
    return MHD_get_version();
}

const char *http_method(const struct http_request *r)
{
    return r->method;
}

const char *http_target(const struct http_request *r)
{
    return r->target;
}

const struct headers *http_headers(const struct http_request *r)
{
    return &r->headers;
}

const struct buf *http_body(const struct http_request *r)
{
    return &r->body;
}

bool http_has_body(const struct http_request *r)
{
    return r->has_body;
}

void http_set_user(struct http_request *r, void *user)
{
    r->user = user;
}

void *http_user(const struct http_request *r)
{
    return r->user;
}

bool http_is_answered(const struct http_request *r)
{
    return r->state >= ANSWERED;
}

/* --- requests: made at the request line, kept for reuse ------------------------- */

static struct http_request *request_new(struct httpd *h)
{
    struct http_request *r = h->spare;

    if (r) {
        h->spare = r->next_spare;
        h->n_spare--;
    } else {
        r = calloc(1, sizeof *r);
        if (!r)
            return NULL;
        r->body = BUF_INIT(h->max_body);
    }
    r->magic = REQUEST_MAGIC;
    return r;
}

static void request_free(struct httpd *h, struct http_request *r)
{
    struct buf body = r->body;

    free(r->target);
    free(r->more_fields);
    if (r->response)
        MHD_destroy_response(r->response);
    if (h->n_spare >= KEPT_REQUESTS) {
        buf_free(&body);
        free(r);
        return;
    }
    if (body.cap > KEPT_BODY)
        buf_free(&body);
    buf_reset(&body);
    memset(r, 0, sizeof *r);
    r->body = body;
    r->next_spare = h->spare;
    h->spare = r;
    h->n_spare++;
}

static struct httpd_conn *conn_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct httpd_conn *c = info ? info->socket_context : NULL;

    must(c && c->magic == CONN_MAGIC);
    return c;
}

static void *on_target(void *cls, const char *target, struct MHD_Connection *mhd)
{
    struct httpd *h = cls;
    struct http_request *r = request_new(h);

    if (!r)
        return NULL;
    r->mhd = mhd;
    r->conn = conn_of(mhd);
    r->target = strdup(target);
    r->conn->current = r;
    return r;
}

static enum MHD_Result add_field(void *cls, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct http_request *r = cls;

    (void)kind;
    if (r->headers.n == r->headers.cap) {
        size_t cap = r->headers.cap * 2;
        struct header *v = malloc(cap * sizeof *v);
        if (!v)
            return MHD_NO;
        memcpy(v, r->headers.v, r->headers.n * sizeof *v);
        free(r->more_fields);
        r->headers.v = r->more_fields = v;
        r->headers.cap = cap;
    }
    /* Trailing blanks are not part of a value (RFC 9112 5.1); the pool is ours to cut. */
    char *v = (char *)(uintptr_t)(value ? value : "");
    size_t n = strlen(v);
    while (n > 0 && (v[n - 1] == ' ' || v[n - 1] == '\t'))
        v[--n] = '\0';
    r->headers.v[r->headers.n++] = (struct header){(char *)(uintptr_t)name, v};
    return MHD_YES;
}

static void refuse(struct http_request *r, int status, const char *why)
{
    if (r->refuse)
        return;
    r->refuse = status;
    r->refuse_why = why;
}

static size_t query_args(const char *target)
{
    const char *q = strchr(target, '?');
    size_t n = q ? 1 : 0;

    for (; q && *q; q++)
        n += *q == '&';
    return n;
}

/* What libmicrohttpd would let pass: ambiguous framing must not reach a recording. */
static void check_head(struct http_request *r, size_t max_body)
{
    const struct headers *h = &r->headers;
    const char *length = NULL;
    const char *coding = headers_find(h, "Transfer-Encoding");

    for (size_t i = 0; i < h->n; i++) {
        if (strcasecmp(h->v[i].name, "Content-Length") != 0)
            continue;
        if (length && strcmp(length, h->v[i].value) != 0)
            refuse(r, 400, "two different Content-Length fields");
        length = h->v[i].value;
        if (!*length || strspn(length, "0123456789") != strlen(length))
            refuse(r, 400, "Content-Length is not a number");
    }
    if (coding && length)
        refuse(r, 400, "Content-Length together with Transfer-Encoding");
    if (coding && (strcasecmp(coding, "chunked") != 0 ||
                   headers_count(h, "Transfer-Encoding") > 1))
        refuse(r, 501, "only Transfer-Encoding: chunked is understood");
    if (query_args(r->target) > LIMIT_QUERY_ARGS)
        refuse(r, 414, "too many query arguments");
    r->has_body = coding || (length && strcmp(length, "0") != 0);
    if (length && !r->refuse) {
        errno = 0;
        unsigned long long n = strtoull(length, NULL, 10);
        if (errno || n > max_body) {
            r->too_large = true;
            refuse(r, 413, "the request body is larger than limits.request_body allows");
        } else {
            (void)buf_room(&r->body, (size_t)n);
        }
    }
}

/* --- answers --------------------------------------------------------------------- */

static bool is_framing(const char *name)
{
    return !*name || strcasecmp(name, "Content-Length") == 0 ||
           headers_is_hop_by_hop(name);
}

static void put_headers(struct MHD_Response *to, const struct headers *h)
{
    for (size_t i = 0; h && i < h->n; i++) {
        const char *value = h->v[i].value;
        if (!is_framing(h->v[i].name)) /* an empty value is refused; a blank is not */
            (void)MHD_add_response_header(to, h->v[i].name, *value ? value : " ");
    }
}

static enum MHD_Result queue(struct http_request *r)
{
    enum MHD_Result ok = MHD_queue_response(r->mhd, (unsigned)r->status, r->response);

    r->state = SENDING;
    return ok;
}

/* The answer is ready: let libmicrohttpd call us again, where it may be queued. */
static void answered(struct http_request *r)
{
    r->state = ANSWERED;
    if (r->suspended) {
        r->suspended = false;
        MHD_resume_connection(r->mhd);
        r->conn->h->dirty = true;
    }
}

void http_reply(struct http_request *r, const struct http_reply *reply)
{
    must(r->magic == REQUEST_MAGIC && r->state == ASKED);
    void *body = (void *)(uintptr_t)(reply->body ? reply->body : "");
    struct MHD_Response *m =
        reply->release ? MHD_create_response_from_buffer_with_free_callback_cls(
                             reply->len, body, reply->release, reply->release_arg)
                       : MHD_create_response_from_buffer(reply->len, body,
                                                         MHD_RESPMEM_PERSISTENT);
    must(m != NULL);
    put_headers(m, reply->headers);
    if (reply->close)
        (void)MHD_add_response_header(m, "Connection", "close");
    r->response = m;
    r->status = reply->status;
    answered(r);
}

static ssize_t read_source(void *cls, uint64_t pos, char *to, size_t max)
{
    struct http_request *r = cls;

    (void)pos;
    must(r->magic == REQUEST_MAGIC);
    if (r->conn->gone)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    ssize_t n = r->source(r->source_arg, to, max);
    if (n == HTTP_WAIT) {
        r->suspended = true;
        MHD_suspend_connection(r->mhd);
        return 0;
    }
    if (n == HTTP_END)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (n < 0)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    return n;
}

void http_stream(struct http_request *r, const struct http_stream *s)
{
    bool unknown = s->length < 0;
    bool head_only = strcmp(r->method, "HEAD") == 0;

    must(r->magic == REQUEST_MAGIC && r->state == ASKED);
    r->source = s->source;
    r->source_arg = s->arg;
    r->response = MHD_create_response_from_callback(
        unknown ? MHD_SIZE_UNKNOWN : (uint64_t)s->length, KIB(16), read_source, r, NULL);
    must(r->response != NULL);
    put_headers(r->response, s->headers);
    if (unknown && head_only) /* its end-of-chunks would be taken for the next reply */
        (void)MHD_add_response_header(r->response, "Connection", "close");
    r->status = s->status;
    answered(r);
}

void http_wake(struct http_request *r)
{
    must(r->magic == REQUEST_MAGIC);
    if (!r->suspended || r->state != SENDING)
        return;
    r->suspended = false;
    MHD_resume_connection(r->mhd);
    r->conn->h->dirty = true;
}

/* Answer a request that is not going to be served, and close. */
static enum MHD_Result send_refusal(struct http_request *r)
{
    struct buf text = BUF_INIT(KIB(4));

    refusal_body(&text, NULL, refusal_code(r->refuse), r->refuse_why);
    size_t len = text.len;
    char *body = buf_take(&text);
    if (!body)
        return MHD_NO;
    r->response = MHD_create_response_from_buffer(len, body, MHD_RESPMEM_MUST_FREE);
    if (!r->response) {
        free(body);
        return MHD_NO;
    }
    (void)MHD_add_response_header(r->response, "Content-Type", "application/json");
    (void)MHD_add_response_header(r->response, "Connection", "close");
    r->status = r->refuse;
    return queue(r);
}

/* --- what libmicrohttpd calls ------------------------------------------------------ */

static enum MHD_Result begin(struct httpd *h, struct http_request *r, const char *method)
{
    r->method = method;
    r->headers = (struct headers){r->fields, 0, COUNT_OF(r->fields)};
    if (!r->target)
        return MHD_NO;
    (void)MHD_get_connection_values(r->mhd, MHD_HEADER_KIND, add_field, r);
    check_head(r, h->max_body);
    /* Do not read an upload that is refused by its length; nor one that never ends. */
    if (r->too_large || r->refuse == 501)
        return send_refusal(r);
    return MHD_YES;
}

static void take_upload(struct http_request *r, const char *data, size_t len)
{
    if (r->refuse)
        return;
    r->has_body = true;
    buf_add(&r->body, data, len);
    if (r->body.failed) {
        buf_reset(&r->body);
        refuse(r, 413, "the request body is larger than limits.request_body allows");
    }
}

static enum MHD_Result on_access(void *cls, struct MHD_Connection *mhd, const char *url,
                                 const char *method, const char *version,
                                 const char *upload, size_t *upload_len, void **con_cls)
{
    struct httpd *h = cls;
    struct http_request *r = *con_cls;

    (void)mhd;
    (void)url;
    (void)version;
    if (!r)
        return MHD_NO;
    must(r->magic == REQUEST_MAGIC);
    if (!r->method)
        return begin(h, r, method);
    if (*upload_len > 0) {
        take_upload(r, upload, *upload_len);
        *upload_len = 0;
        return MHD_YES;
    }
    if (r->refuse && r->state == READING)
        return send_refusal(r);
    if (r->state == READING) {
        r->state = ASKED;
        r->seen = true;
        h->events.on_request(r->conn->user, r);
    }
    if (r->state == ANSWERED)
        return queue(r);
    if (r->conn->gone)
        return MHD_NO;
    r->suspended = true;
    MHD_suspend_connection(r->mhd);
    return MHD_YES;
}

static void ask_for_edge(struct httpd_conn *c)
{
    struct httpd *h = c->h;

    h->dirty = true;
    if (c->listed)
        return;
    c->listed = true;
    c->next_half_open = h->half_open;
    h->half_open = c;
}

static void on_completed(void *cls, struct MHD_Connection *mhd, void **con_cls,
                         enum MHD_RequestTerminationCode why)
{
    struct httpd *h = cls;
    struct http_request *r = *con_cls;

    (void)mhd;
    if (!r)
        return;
    must(r->magic == REQUEST_MAGIC);
    *con_cls = NULL;
    struct httpd_conn *c = r->conn;
    c->current = NULL;
    if (r->seen)
        h->events.on_done(r, why == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    request_free(h, r);
    if (c->fin)
        ask_for_edge(c);
}

static void free_conn(void *arg)
{
    struct httpd_conn *c = arg;

    c->magic = 0;
    free(c);
}

static void unlist(struct httpd_conn *c)
{
    struct httpd_conn **at = &c->h->half_open;

    while (c->listed && *at) {
        if (*at == c) {
            *at = c->next_half_open;
            c->listed = false;
            return;
        }
        at = &(*at)->next_half_open;
    }
}

static void remember_conn(struct httpd *h, struct httpd_conn *c)
{
    c->next = h->all;
    c->link = &h->all;
    if (c->next)
        c->next->link = &c->next;
    h->all = c;
    h->n_conns++;
}

static void forget_conn(struct httpd_conn *c)
{
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    c->closed = true;
    c->h->n_conns--;
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct httpd *h = cls;

    (void)mhd;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = h->adding;
        return;
    }
    struct httpd_conn *c = *socket_context;
    if (!c)
        return;
    must(c->magic == CONN_MAGIC);
    loop_unwatch(h->loop, &c->watch);
    unlist(c);
    forget_conn(c);
    if (h->adding == c) /* httpd_add() fails and cleans up */
        return;
    h->events.on_closed(c->user);
    loop_defer(h->loop, &c->free_job, free_conn, c);
}

/* --- hang-ups ------------------------------------------------------------------------- */

/* Is somebody above working on a request of it? */
static bool is_busy(const struct httpd_conn *c)
{
    return c->current && c->current->seen;
}

static void give_up(struct httpd_conn *c)
{
    struct http_request *r = c->current;

    c->gone = true;
    if (r && r->suspended) { /* let it run into its end */
        r->suspended = false;
        MHD_resume_connection(r->mhd);
    }
    c->h->dirty = true;
}

void httpd_hangup(struct httpd_conn *c)
{
    must(c->magic == CONN_MAGIC);
    if (c->closed || c->gone)
        return;
    if (is_busy(c))
        (void)c->h->events.on_hangup(c->current);
    give_up(c);
    if (!is_busy(c))
        ask_for_edge(c);
}

void httpd_finish(struct httpd_conn *c)
{
    must(c->magic == CONN_MAGIC);
    if (c->closed || c->fin)
        return;
    c->fin = true;
    if (!is_busy(c)) /* also when its request can never become whole */
        ask_for_edge(c);
    else if (c->h->events.on_hangup(c->current))
        give_up(c);
}

static void on_tcp(void *arg, uint32_t events)
{
    struct httpd_conn *c = arg;

    must(c->magic == CONN_MAGIC);
    if (events & (EPOLLERR | EPOLLHUP)) {
        httpd_hangup(c);
        return;
    }
    if (events & EPOLLRDHUP)
        httpd_finish(c);
}

/* A FIN that came with the last request was swallowed with it; shutdown(SHUT_RD) makes
 * a new edge that libmicrohttpd sees. Only between requests. */
static void renew_edges(struct httpd *h)
{
    while (h->half_open) {
        struct httpd_conn *c = h->half_open;
        h->half_open = c->next_half_open;
        c->listed = false;
        if (!is_busy(c))
            (void)shutdown(c->fd, SHUT_RD);
    }
}

/* --- the daemon ------------------------------------------------------------------------- */

static void on_mhd_epoll(void *arg, uint32_t events)
{
    struct httpd *h = arg;

    (void)events;
    h->dirty = true;
}

static bool run(void *arg)
{
    struct httpd *h = arg;

    if (!h->dirty)
        return false;
    for (int i = 0; i < RUNS_A_TURN; i++) {
        MHD_UNSIGNED_LONG_LONG ms;
        h->dirty = false;
        (void)MHD_run(h->mhd);
        if (h->dirty)
            continue;
        if (MHD_get_timeout(h->mhd, &ms) != MHD_YES || ms > 0)
            break;
        h->dirty = true;
    }
    renew_edges(h);
    return h->dirty;
}

void httpd_poke(struct httpd *h)
{
    h->dirty = true;
}

/* On a pair every TCP option fails, and libmicrohttpd says so each time. */
static void drop_log(void *cls, const char *fmt, va_list ap)
{
    (void)cls;
    (void)fmt;
    (void)ap;
}

int httpd_new(struct httpd **out, struct loop *l, const struct httpd_events *events,
              size_t max_body, struct err *e)
{
    struct httpd *h = calloc(1, sizeof *h);

    if (!h)
        return err_set(e, ERR_NOMEM, "http server: out of memory");
    h->loop = l;
    h->events = *events;
    h->max_body = max_body;
    h->watch.fd = -1;
    h->mhd = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
            MHD_USE_SUPPRESS_DATE_NO_CLOCK,
        0, NULL, NULL, on_access, h, MHD_OPTION_EXTERNAL_LOGGER, drop_log, NULL,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)LIMIT_HTTP_POOL,
        MHD_OPTION_CONNECTION_LIMIT, 1000000U, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)(LIMIT_IDLE_MS / 1000), MHD_OPTION_URI_LOG_CALLBACK, on_target, h,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, h, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, h, MHD_OPTION_END);
    if (!h->mhd) {
        free(h);
        return err_set(e, ERR_IO, "cannot start libmicrohttpd: %s", strerror(errno));
    }
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info || loop_watch(l, &h->watch, info->epoll_fd, EPOLLIN, on_mhd_epoll, h, e) < 0) {
        httpd_free(&h);
        return -1;
    }
    loop_hook(l, run, h);
    *out = h;
    return 0;
}

void httpd_free(struct httpd **hp)
{
    struct httpd *h = *hp;

    if (!h)
        return;
    loop_unwatch(h->loop, &h->watch);
    /* libmicrohttpd does not stop while connections are suspended. */
    for (struct httpd_conn *c = h->all, *next; c; c = next) {
        next = c->next;
        httpd_hangup(c);
    }
    (void)MHD_run(h->mhd);
    MHD_stop_daemon(h->mhd);
    while (h->spare) {
        struct http_request *r = h->spare;
        h->spare = r->next_spare;
        buf_free(&r->body);
        free(r);
    }
    free(h);
    *hp = NULL;
}

size_t httpd_connections(const struct httpd *h)
{
    return h->n_conns;
}

int httpd_add(struct httpd *h, int fd, bool tcp, void *conn, struct httpd_conn **out,
              struct err *e)
{
    static const struct sockaddr_in nobody = {.sin_family = AF_INET};
    struct httpd_conn *c = calloc(1, sizeof *c);

    if (!c) {
        (void)close(fd);
        return err_set(e, ERR_NOMEM, "connection: out of memory");
    }
    *c = (struct httpd_conn){
        .magic = CONN_MAGIC, .h = h, .user = conn, .fd = fd, .tcp = tcp};
    c->watch.fd = -1;
    if (tcp && loop_watch(h->loop, &c->watch, fd, EPOLLRDHUP | EPOLLET, on_tcp, c, e) < 0) {
        (void)close(fd);
        free(c);
        return -1;
    }
    h->adding = c;
    remember_conn(h, c);
    enum MHD_Result ok = MHD_add_connection(h->mhd, fd, (const struct sockaddr *)&nobody,
                                            sizeof nobody);
    h->adding = NULL;
    if (ok != MHD_YES) {
        loop_unwatch(h->loop, &c->watch);
        if (!c->closed)
            forget_conn(c);
        free(c);
        return err_set(e, ERR_IO, "libmicrohttpd refused a connection: %s",
                       strerror(errno));
    }
    h->dirty = true;
    *out = c;
    return 0;
}
