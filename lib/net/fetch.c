/*
 * fetch.c - see fetch.h.
 *
 * libcurl tells which sockets to watch and when to call back; loop.h does both. Easy
 * handles are pooled: setting one up costs more than a small transfer. A call never
 * ends inside libcurl's callbacks: on_done is delivered from the turn that collected
 * libcurl's message.
 */
#include "net/fetch.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CALL_MAGIC 0x63616c6cu
#define SOCKET_MAGIC 0x736f636bu
#define KEPT_HANDLES 64

struct fetch {
    struct loop *loop;
    CURLM *multi;
    struct loop_timer timer;
    struct fetch_setup setup;
    struct curl_slist *connect_to;
    struct fetch_call *calls;
    CURL *spare[KEPT_HANDLES];
    size_t n_spare;
    struct loop_job collect_job;
};

struct socket_watch {
    unsigned magic;
    struct fetch *f;
    struct loop_watch watch;
    struct loop_job free_job;
};

struct fetch_call {
    unsigned magic;
    struct fetch *f;
    CURL *easy;
    struct curl_slist *fields;
    struct fetch_events events;
    fetch_connected_fn *on_connected; /* instead of events */
    void *arg;
    struct headers head;
    int status;
    bool head_done;
    bool paused;
    uint64_t start_ns, first_ns;
    char detail[CURL_ERROR_SIZE];
    struct fetch_call *next, **link;
};

const char *fetch_library_version(void)
{
    return curl_version_info(CURLVERSION_NOW)->version;
}

int fetch_global_init(struct err *e)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return err_set(e, ERR_IO, "cannot initialise libcurl");
    return 0;
}

void fetch_global_fini(void)
{
    curl_global_cleanup();
}

/* --- ends of calls --------------------------------------------------------------- */

static const struct {
    CURLcode curl;
    enum err_code code;
} failures[] = {
    {CURLE_COULDNT_RESOLVE_HOST, ERR_DNS},     {CURLE_COULDNT_RESOLVE_PROXY, ERR_DNS},
    {CURLE_COULDNT_CONNECT, ERR_CONNECT},      {CURLE_SSL_CONNECT_ERROR, ERR_TLS},
    {CURLE_PEER_FAILED_VERIFICATION, ERR_TLS}, {CURLE_SSL_CACERT_BADFILE, ERR_TLS},
    {CURLE_SSL_CERTPROBLEM, ERR_TLS},          {CURLE_SSL_CIPHER, ERR_TLS},
    {CURLE_OPERATION_TIMEDOUT, ERR_TIMEOUT},   {CURLE_OUT_OF_MEMORY, ERR_NOMEM},
};

static void explain(const struct fetch_call *c, CURLcode code, struct err *e)
{
    enum err_code ours = ERR_PEER;

    for (size_t i = 0; i < COUNT_OF(failures); i++)
        if (failures[i].curl == code)
            ours = failures[i].code;
    err_set(e, ours, "%s", c->detail[0] ? c->detail : curl_easy_strerror(code));
}

static void call_free(struct fetch_call *c)
{
    struct fetch *f = c->f;

    if (c->link) {
        *c->link = c->next;
        if (c->next)
            c->next->link = c->link;
    }
    if (c->easy) {
        (void)curl_multi_remove_handle(f->multi, c->easy);
        if (f->n_spare < KEPT_HANDLES && !c->on_connected)
            f->spare[f->n_spare++] = c->easy;
        else
            curl_easy_cleanup(c->easy);
    }
    curl_slist_free_all(c->fields);
    headers_fini(&c->head);
    c->magic = 0;
    free(c);
}

void fetch_cancel(struct fetch_call **c)
{
    if (*c)
        call_free(*c);
    *c = NULL;
}

static uint32_t ms_between(uint64_t from, uint64_t to)
{
    return to > from ? (uint32_t)((to - from) / 1000000) : 0;
}

static void finish(struct fetch_call *c, CURLcode code)
{
    struct err failure = {0};
    struct fetch_timing t = {0};
    curl_off_t connect_us = 0;

    (void)curl_easy_getinfo(c->easy, CURLINFO_APPCONNECT_TIME_T, &connect_us);
    if (connect_us == 0)
        (void)curl_easy_getinfo(c->easy, CURLINFO_CONNECT_TIME_T, &connect_us);
    t.connect_ms = (uint32_t)(connect_us / 1000);
    t.first_byte_ms = c->first_ns ? ms_between(c->start_ns, c->first_ns) : 0;
    t.total_ms = ms_between(c->start_ns, clock_mono_ns());
    if (code == CURLE_OK && !c->head_done)
        err_set(&failure, ERR_PEER, "the upstream closed without an answer");
    else if (code != CURLE_OK)
        explain(c, code, &failure);
    struct fetch_events events = c->events;
    void *arg = c->arg;
    call_free(c);
    events.on_done(arg, failure.code ? &failure : NULL, &t);
}

/* The socket of a CONNECT_ONLY handle closes with it; the caller gets a copy. */
static void finish_connect(struct fetch_call *c, CURLcode code)
{
    struct err failure = {0};
    curl_socket_t s = CURL_SOCKET_BAD;
    int fd = -1;

    if (code == CURLE_OK)
        (void)curl_easy_getinfo(c->easy, CURLINFO_ACTIVESOCKET, &s);
    if (s != CURL_SOCKET_BAD)
        fd = fcntl(s, F_DUPFD_CLOEXEC, 3);
    if (code != CURLE_OK)
        explain(c, code, &failure);
    else if (fd < 0)
        err_set(&failure, ERR_IO, "no descriptor left for a relay");
    fetch_connected_fn *call = c->on_connected;
    void *arg = c->arg;
    call_free(c);
    call(arg, fd, failure.code ? &failure : NULL);
}

static void collect(void *arg)
{
    struct fetch *f = arg;
    CURLMsg *m;
    int left;

    while ((m = curl_multi_info_read(f->multi, &left))) {
        struct fetch_call *c = NULL;
        if (m->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&c);
        must(c && c->magic == CALL_MAGIC);
        if (c->on_connected)
            finish_connect(c, m->data.result);
        else
            finish(c, m->data.result);
    }
}

static void act(struct fetch *f, curl_socket_t fd, int what)
{
    int running;

    (void)curl_multi_socket_action(f->multi, fd, what, &running);
    loop_defer(f->loop, &f->collect_job, collect, f);
}

/* --- sockets and timers --------------------------------------------------------------
 */

static void on_socket(void *arg, uint32_t events)
{
    struct socket_watch *s = arg;
    int what = 0;

    must(s->magic == SOCKET_MAGIC);
    if (events & (EPOLLIN | EPOLLRDHUP))
        what |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        what |= CURL_CSELECT_OUT;
    if (events & (EPOLLERR | EPOLLHUP))
        what |= CURL_CSELECT_ERR;
    act(s->f, s->watch.fd, what);
}

static void free_socket(void *arg)
{
    free(arg);
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *cls, void *socket)
{
    struct fetch *f = cls;
    struct socket_watch *s = socket;
    struct err e;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (s) {
            loop_unwatch(f->loop, &s->watch);
            (void)curl_multi_assign(f->multi, fd, NULL);
            loop_defer(f->loop, &s->free_job, free_socket, s);
        }
        return 0;
    }
    uint32_t events =
        ((what & CURL_POLL_IN) ? EPOLLIN : 0) | ((what & CURL_POLL_OUT) ? EPOLLOUT : 0);
    if (s) {
        loop_rewatch(f->loop, &s->watch, events);
        return 0;
    }
    s = calloc(1, sizeof *s);
    if (!s)
        return -1;
    s->magic = SOCKET_MAGIC;
    s->f = f;
    if (loop_watch(f->loop, &s->watch, fd, events, on_socket, s, &e) < 0) {
        free(s);
        return -1;
    }
    (void)curl_multi_assign(f->multi, fd, s);
    return 0;
}

static void on_timer(void *arg)
{
    struct fetch *f = arg;

    act(f, CURL_SOCKET_TIMEOUT, 0);
}

static int want_timer(CURLM *multi, long ms, void *cls)
{
    struct fetch *f = cls;

    (void)multi;
    if (ms < 0)
        loop_timer_clear(f->loop, &f->timer);
    else
        loop_timer_set_ns(f->loop, &f->timer, clock_mono_ns() + (uint64_t)ms * 1000000U,
                          on_timer, f);
    return 0;
}

/* --- the response as it comes ----------------------------------------------------------
 */

static size_t on_header(char *line, size_t size, size_t n, void *cls)
{
    struct fetch_call *c = cls;
    size_t len = size * n;
    struct err e;

    must(c->magic == CALL_MAGIC);
    if (c->head_done) /* trailers */
        return len;
    while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
        len--;
    if (len >= 5 && strncasecmp(line, "HTTP/", 5) == 0) { /* also after a 1xx */
        long status = 0;
        (void)curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
        headers_fini(&c->head);
        c->status = (int)status;
        return size * n;
    }
    if (len == 0) {
        if (c->status >= 200 || c->status == 101) {
            c->head_done = true;
            c->first_ns = clock_mono_ns();
            c->events.on_head(c->arg, c->status, &c->head);
        }
        return size * n;
    }
    const char *colon = memchr(line, ':', len);
    if (!colon)
        return size * n;
    const char *value = colon + 1;
    while (value < line + len && (*value == ' ' || *value == '\t'))
        value++;
    size_t value_len = (size_t)(line + len - value);
    while (value_len > 0 && (value[value_len - 1] == ' ' || value[value_len - 1] == '\t'))
        value_len--;
    if (headers_add_n(&c->head, line, (size_t)(colon - line), value, value_len, &e) < 0)
        return 0;
    return size * n;
}

static size_t on_body(char *data, size_t size, size_t n, void *cls)
{
    struct fetch_call *c = cls;

    must(c->magic == CALL_MAGIC);
    if (c->paused)
        return CURL_WRITEFUNC_PAUSE;
    c->events.on_data(c->arg, data, size * n);
    return size * n;
}

void fetch_pause(struct fetch_call *c)
{
    c->paused = true; /* the next delivery is refused with PAUSE */
}

void fetch_resume(struct fetch_call *c)
{
    must(c->magic == CALL_MAGIC);
    if (!c->paused)
        return;
    c->paused = false;
    (void)curl_easy_pause(c->easy, CURLPAUSE_CONT);
    loop_defer(c->f->loop, &c->f->collect_job, collect, c->f);
}

/* --- starting a call
 * ------------------------------------------------------------------------ */

static int add_line(struct fetch_call *c, const char *line, struct err *e)
{
    struct curl_slist *longer = curl_slist_append(c->fields, line);

    if (!longer)
        return err_set(e, ERR_NOMEM, "request headers: out of memory");
    c->fields = longer;
    return 0;
}

static int put_fields(struct fetch_call *c, const struct fetch_request *r, struct err *e)
{
    /* What libcurl would add by itself is taken out, unless the client sent it. */
    static const char *const added_by_curl[] = {"Accept", "Content-Type", "User-Agent"};
    struct buf line = BUF_INIT(LIMIT_REQUEST_HEAD + 16);
    int rc = -1;

    for (size_t i = 0; i < r->headers->n; i++) {
        const struct header *h = &r->headers->v[i];
        if (headers_is_hop_by_hop(h->name) ||
            strcasecmp(h->name, "Content-Length") == 0 ||
            strcasecmp(h->name, "Expect") == 0)
            continue;
        buf_reset(&line);
        buf_str(&line, h->name);
        buf_str(&line, *h->value ? ": " : ";");
        buf_str(&line, h->value);
        if (buf_check(&line, "a request header", e) < 0 || add_line(c, line.data, e) < 0)
            goto out;
    }
    if (add_line(c, "Expect:", e) < 0)
        goto out;
    for (size_t i = 0; i < COUNT_OF(added_by_curl); i++) {
        if (headers_find(r->headers, added_by_curl[i]))
            continue;
        buf_reset(&line);
        buf_fmt(&line, "%s:", added_by_curl[i]);
        if (buf_check(&line, "a request header", e) < 0 || add_line(c, line.data, e) < 0)
            goto out;
    }
    rc = 0;
out:
    buf_free(&line);
    return rc;
}

/* What stays the same on a handle from call to call. */
static CURL *new_handle(struct fetch *f)
{
    CURL *h = curl_easy_init();

    if (!h)
        return NULL;
    (void)curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(h, CURLOPT_PROXY, f->setup.proxy ? f->setup.proxy : "");
    (void)curl_easy_setopt(h, CURLOPT_NOPROXY, "");
    (void)curl_easy_setopt(h, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    (void)curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(h, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(h, CURLOPT_PATH_AS_IS, 1L);
    (void)curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(h, CURLOPT_CAINFO, f->setup.ca_file);
    (void)curl_easy_setopt(h, CURLOPT_CAPATH, NULL);
    (void)curl_easy_setopt(h, CURLOPT_CONNECT_TO, f->connect_to);
    (void)curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, (long)LIMIT_CONNECT_MS);
    (void)curl_easy_setopt(h, CURLOPT_LOW_SPEED_LIMIT, 1L);
    (void)curl_easy_setopt(h, CURLOPT_LOW_SPEED_TIME, (long)LIMIT_UPSTREAM_IDLE_S);
    (void)curl_easy_setopt(h, CURLOPT_BUFFERSIZE, (long)KIB(64));
    (void)curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, on_body);
    return h;
}

static void set_method(CURL *h, const struct fetch_request *r)
{
    bool head = strcmp(r->method, "HEAD") == 0;

    (void)curl_easy_setopt(h, CURLOPT_HTTPGET, 1L); /* undo POST and NOBODY */
    if (head) { /* a body would mean nothing (RFC 9110 9.3.2) and make it a POST */
        (void)curl_easy_setopt(h, CURLOPT_NOBODY, 1L);
    } else if (r->has_body || r->body_len > 0) {
        (void)curl_easy_setopt(h, CURLOPT_POSTFIELDS, r->body_len ? r->body : "");
        (void)curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_len);
    } else if (strcmp(r->method, "POST") == 0 || strcmp(r->method, "PUT") == 0 ||
               strcmp(r->method, "PATCH") == 0) {
        (void)curl_easy_setopt(h, CURLOPT_POSTFIELDS, "");
        (void)curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
    }
    (void)curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, head ? NULL : r->method);
}

static struct fetch_call *new_call(struct fetch *f, CURL *easy, void *arg)
{
    struct fetch_call *c = calloc(1, sizeof *c);

    if (!c || !easy) {
        free(c);
        if (easy)
            curl_easy_cleanup(easy);
        return NULL;
    }
    c->magic = CALL_MAGIC;
    c->f = f;
    c->easy = easy;
    c->arg = arg;
    c->start_ns = clock_mono_ns();
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, c);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, c);
    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, c);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, c->detail);
    return c;
}

/* Hand the call to libcurl; frees it when that fails. */
static int launch(struct fetch_call *c, struct fetch_call **out, struct err *e)
{
    struct fetch *f = c->f;

    if (curl_multi_add_handle(f->multi, c->easy) != CURLM_OK) {
        call_free(c);
        return err_set(e, ERR_IO, "libcurl refused an upstream request");
    }
    c->next = f->calls;
    c->link = &f->calls;
    if (c->next)
        c->next->link = &c->next;
    f->calls = c;
    *out = c;
    return 0;
}

int fetch_start(struct fetch *f, const struct fetch_request *r,
                const struct fetch_events *events, void *arg, struct fetch_call **out,
                struct err *e)
{
    CURL *easy = f->n_spare > 0 ? f->spare[--f->n_spare] : new_handle(f);
    struct fetch_call *c = new_call(f, easy, arg);

    if (!c)
        return err_set(e, ERR_NOMEM, "upstream request: out of memory");
    c->events = *events;
    if (put_fields(c, r, e) < 0) {
        call_free(c);
        return -1;
    }
    if (curl_easy_setopt(easy, CURLOPT_URL, r->url) != CURLE_OK) {
        call_free(c);
        return err_set(e, ERR_NOMEM, "upstream request: out of memory");
    }
    set_method(easy, r);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, c->fields);
    return launch(c, out, e);
}

int fetch_connect(struct fetch *f, const char *host, uint16_t port,
                  fetch_connected_fn *on_connected, void *arg, struct fetch_call **out,
                  struct err *e)
{
    bool v6 = strchr(host, ':') != NULL;
    char url[320];
    struct fetch_call *c = new_call(f, new_handle(f), arg);

    if (!c)
        return err_set(e, ERR_NOMEM, "relay: out of memory");
    c->on_connected = on_connected;
    (void)snprintf(url, sizeof url, "http://%s%s%s:%u/", v6 ? "[" : "", host,
                   v6 ? "]" : "", port);
    (void)curl_easy_setopt(c->easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(c->easy, CURLOPT_CONNECT_ONLY, 1L);
    (void)curl_easy_setopt(c->easy, CURLOPT_FRESH_CONNECT, 1L);
    (void)curl_easy_setopt(c->easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
    return launch(c, out, e);
}

/* --- setup
 * ----------------------------------------------------------------------------------- */

int fetch_new(struct fetch **out, struct loop *l, const struct fetch_setup *setup,
              struct err *e)
{
    struct fetch *f = calloc(1, sizeof *f);

    if (!f)
        return err_set(e, ERR_NOMEM, "upstream client: out of memory");
    f->loop = l;
    f->setup = *setup;
    for (size_t i = 0; setup->connect_to && setup->connect_to[i]; i++) {
        struct curl_slist *longer =
            curl_slist_append(f->connect_to, setup->connect_to[i]);
        if (!longer) {
            fetch_free(&f);
            return err_set(e, ERR_NOMEM, "upstream client: out of memory");
        }
        f->connect_to = longer;
    }
    f->multi = curl_multi_init();
    if (!f->multi) {
        fetch_free(&f);
        return err_set(e, ERR_NOMEM, "upstream client: out of memory");
    }
    (void)curl_multi_setopt(f->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
    (void)curl_multi_setopt(f->multi, CURLMOPT_SOCKETDATA, f);
    (void)curl_multi_setopt(f->multi, CURLMOPT_TIMERFUNCTION, want_timer);
    (void)curl_multi_setopt(f->multi, CURLMOPT_TIMERDATA, f);
    (void)curl_multi_setopt(f->multi, CURLMOPT_MAXCONNECTS, 256L);
    (void)curl_multi_setopt(f->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    *out = f;
    return 0;
}

void fetch_free(struct fetch **fp)
{
    struct fetch *f = *fp;

    if (!f)
        return;
    while (f->calls)
        call_free(f->calls);
    while (f->n_spare > 0)
        curl_easy_cleanup(f->spare[--f->n_spare]);
    if (f->multi)
        (void)curl_multi_cleanup(f->multi);
    loop_timer_clear(f->loop, &f->timer);
    curl_slist_free_all(f->connect_to);
    free(f);
    *fp = NULL;
}
