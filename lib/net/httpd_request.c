/*
 * httpd_request.c - requests and their answers (httpd.h).
 *
 * A request is made at its request line and kept for reuse. A reply is queued only when
 * the upload is over: libmicrohttpd cannot do it earlier without closing. Ambiguous
 * framing is refused in the first call.
 */
#include "net/httpd_internal.h"

#include "base/limits.h"
#include "net/guard.h"
#include "net/refusal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEPT_REQUESTS 64
#define KEPT_BODY KIB(256)

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
    r->magic = HTTPD_REQUEST_MAGIC;
    return r;
}

static void request_free(struct httpd *h, struct http_request *r)
{
    struct buf body = r->body;

    free(r->target);
    free(r->more_fields);
    if (r->response && !r->borrowed)
        MHD_destroy_response(r->response);
    if (h->n_spare >= KEPT_REQUESTS) {
        buf_free(&body);
        free(r);
        return;
    }
    if (body.cap > KEPT_BODY)
        buf_free(&body);
    buf_reset(&body);
    memset(r, 0, offsetof(struct http_request, fields));
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

    must(c && c->magic == HTTPD_CONN_MAGIC);
    return c;
}

static size_t query_args(const char *target)
{
    const char *q = strchr(target, '?');
    size_t n = q ? 1 : 0;

    for (; q && *q; q++)
        n += *q == '&';
    return n;
}

void *httpd_on_target(void *cls, const char *target, struct MHD_Connection *mhd)
{
    struct httpd *h = cls;
    struct http_request *r = request_new(h);

    if (!r)
        return NULL;
    r->mhd = mhd;
    r->conn = conn_of(mhd);
    r->target = strdup(target);
    r->conn->current = r;
    /* It would parse all arguments into its pool, and never answer when that is full.
     * Nobody reads them there: make them one. check_head() counts the real ones. */
    if (query_args(target) > LIMIT_QUERY_ARGS)
        for (char *p = strchr((char *)(uintptr_t)target, '?') + 1; *p; p++)
            if (*p == '&')
                *p = '_';
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
    char *v = (char *)(uintptr_t)(value ? value : name + strlen(name));
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

/* What libmicrohttpd would let pass: ambiguous framing must not reach a recording. */
static void check_head(struct http_request *r, size_t max_body)
{
    const struct headers *h = &r->headers;
    const char *length = NULL;
    const char *coding = headers_find(h, "Transfer-Encoding");

    for (size_t i = 0; i < h->n; i++) {
        if (!guard_is_token(h->v[i].name, strlen(h->v[i].name)))
            refuse(r, 400, "a header name holds a blank or another wrong character");
        /* A folded line is put behind the name, which then moves behind its value. */
        if (h->v[i].value < h->v[i].name)
            refuse(r, 400, "a header field is folded over lines");
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
    if (coding &&
        (strcasecmp(coding, "chunked") != 0 || headers_count(h, "Transfer-Encoding") > 1))
        refuse(r, 501, "only Transfer-Encoding: chunked is understood");
    if (query_args(r->target) > LIMIT_QUERY_ARGS)
        refuse(r, 414, "too many query arguments");
    for (const char *p = r->target; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            refuse(r, 400, "the request target holds a control character");
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
    must(r->magic == HTTPD_REQUEST_MAGIC && r->state == ASKED);
    void *body = (void *)(uintptr_t)(reply->body ? reply->body : "");
    struct MHD_Response *m =
        reply->release
            ? MHD_create_response_from_buffer_with_free_callback_cls(
                  reply->len, body, reply->release, reply->release_arg)
            : MHD_create_response_from_buffer(reply->len, body, MHD_RESPMEM_PERSISTENT);
    must(m != NULL);
    put_headers(m, reply->headers);
    if (reply->close)
        (void)MHD_add_response_header(m, "Connection", "close");
    r->response = m;
    r->status = reply->status;
    answered(r);
}

struct http_canned {
    struct MHD_Response *response;
    int status;
};

struct http_canned *http_canned_new(const struct http_reply *reply)
{
    struct http_canned *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->status = reply->status;
    c->response = MHD_create_response_from_buffer(
        reply->len, (void *)(uintptr_t)(reply->body ? reply->body : ""),
        MHD_RESPMEM_MUST_COPY);
    if (!c->response) {
        free(c);
        return NULL;
    }
    put_headers(c->response, reply->headers);
    return c;
}

void http_canned_free(struct http_canned **c)
{
    if (!*c)
        return;
    MHD_destroy_response((*c)->response); /* those being sent hold a reference */
    free(*c);
    *c = NULL;
}

void http_reply_canned(struct http_request *r, const struct http_canned *c)
{
    must(r->magic == HTTPD_REQUEST_MAGIC && r->state == ASKED && !r->suspended);
    r->response = c->response;
    r->borrowed = true;
    r->status = c->status;
    answered(r);
}

static ssize_t read_source(void *cls, uint64_t pos, char *to, size_t max)
{
    struct http_request *r = cls;

    (void)pos;
    must(r->magic == HTTPD_REQUEST_MAGIC);
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

    must(r->magic == HTTPD_REQUEST_MAGIC && r->state == ASKED);
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
    must(r->magic == HTTPD_REQUEST_MAGIC);
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

enum MHD_Result httpd_on_access(void *cls, struct MHD_Connection *mhd, const char *url,
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
    must(r->magic == HTTPD_REQUEST_MAGIC);
    if (r->conn->gone)
        return MHD_NO;
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
    r->suspended = true;
    MHD_suspend_connection(r->mhd);
    return MHD_YES;
}

void httpd_on_completed(void *cls, struct MHD_Connection *mhd, void **con_cls,
                        enum MHD_RequestTerminationCode why)
{
    struct httpd *h = cls;
    struct http_request *r = *con_cls;

    (void)mhd;
    if (!r)
        return;
    must(r->magic == HTTPD_REQUEST_MAGIC);
    *con_cls = NULL;
    struct httpd_conn *c = r->conn;
    c->current = NULL;
    if (r->seen)
        h->events.on_done(r, why == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    request_free(h, r);
    if (c->fin)
        httpd_ask_for_edge(c);
}
