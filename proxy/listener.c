/*
 * listener.c - see listener.h.
 *
 * An arrival is looked at with MSG_PEEK, so that whoever gets the socket reads it from
 * its first byte. Watched edge-triggered: a half-sent head must not spin the loop.
 */
#include "proxy/listener.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/url.h"
#include "net/guard.h"
#include "net/refusal.h"
#include "proxy/relay.h"
#include "proxy/shared.h"
#include "proxy/target.h"
#include "proxy/tunnel.h"
#include "proxy/worker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define ARRIVAL_MAGIC 0x61727276u
#define ACCEPTS_A_TURN 64
#define RETRY_ACCEPT_MS 100

struct listener {
    struct worker *w;
    int fd;
    struct loop_watch watch;
    struct loop_timer retry;
    struct arrival *arrivals;
};

struct arrival {
    unsigned magic;
    struct listener *l;
    struct arrival *next, **link;
    int fd;
    struct loop_watch watch;
    struct loop_timer timer;
    struct loop_job free_job;
    struct conn *conn;
    bool connected; /* a CONNECT was answered; what follows is for its host */
};

/* --- sockets ----------------------------------------------------------------------- */

static void take_address(int fd, struct own_address *out)
{
    struct sockaddr_storage a;
    socklen_t len = sizeof a;

    *out = (struct own_address){0};
    if (getsockname(fd, (struct sockaddr *)&a, &len) < 0)
        return;
    if (a.ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)&a;
        bool v4 = IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr); /* on a socket for both */
        (void)inet_ntop(v4 ? AF_INET : AF_INET6, &in6->sin6_addr.s6_addr[v4 ? 12 : 0],
                        out->host, sizeof out->host);
        out->port = ntohs(in6->sin6_port);
        (void)snprintf(out->text, sizeof out->text, v4 ? "%s:%u" : "[%s]:%u", out->host,
                       out->port);
    } else {
        const struct sockaddr_in *in = (const void *)&a;
        (void)inet_ntop(AF_INET, &in->sin_addr, out->host, sizeof out->host);
        out->port = ntohs(in->sin_port);
        (void)snprintf(out->text, sizeof out->text, "%s:%u", out->host, out->port);
    }
}

static int open_socket(const struct addrinfo *ai, bool again)
{
    int one = 1;
    int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    /* SO_REUSEPORT would let a second retape share the port unnoticed, so the first
     * socket binds without it and shares only once it owns the port. */
    if (again)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
    if (bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one) < 0 ||
        listen(fd, 1024) < 0) {
        int kept = errno;
        (void)close(fd);
        errno = kept;
        return -1;
    }
    return fd;
}

int listener_bind(const char *address, bool again, int *out, struct own_address *bound,
                  struct err *e)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICSERV | AI_PASSIVE,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const char *colon = strrchr(address, ':');
    char host[256];

    if (!colon || (size_t)(colon - address) >= sizeof host)
        return err_set(e, ERR_USAGE, "--listen %s: not HOST:PORT", address);
    const char *from = address;
    size_t len = (size_t)(colon - address);
    if (len >= 2 && from[0] == '[' && from[len - 1] == ']')
        from++, len -= 2;
    (void)snprintf(host, sizeof host, "%.*s", (int)len, from);
    int rc = getaddrinfo(host[0] ? host : NULL, colon + 1, &hints, &found);
    if (rc != 0)
        return err_set(e, ERR_USAGE, "--listen %s: %s", address, gai_strerror(rc));
    int fd = open_socket(found, again);
    freeaddrinfo(found);
    if (fd < 0)
        return err_set(e, ERR_IO, "listen on %s: %s", address, strerror(errno));
    take_address(fd, bound);
    *out = fd;
    return 0;
}

/* --- arrivals
 * ---------------------------------------------------------------------------- */

static void free_arrival(void *arg)
{
    free(arg);
}

/* Forget the arrival; its socket and connection go to the caller. */
static int detach(struct arrival *a)
{
    struct loop *loop = a->l->w->loop;

    loop_unwatch(loop, &a->watch);
    loop_timer_clear(loop, &a->timer);
    *a->link = a->next;
    if (a->next)
        a->next->link = a->link;
    a->magic = 0;
    loop_defer(loop, &a->free_job, free_arrival, a);
    return a->fd;
}

static void drop(struct arrival *a)
{
    struct conn *c = a->conn;

    (void)close(detach(a));
    conn_release(c);
}

static void refuse(struct arrival *a, int status, const char *extra, const char *why)
{
    struct buf text = BUF_INIT(KIB(8));
    struct worker *w = a->l->w;
    struct conn *c = a->conn;
    int fd = detach(a);

    log_debug("connection refused with %d: %s", status, why);
    refusal_response(&text, status, extra, why);
    (void)!send(fd, text.data, text.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    buf_free(&text);
    leave_close(w->leave, fd);
    conn_release(c);
}

static void on_silence(void *arg)
{
    struct arrival *a = arg;

    must(a->magic == ARRIVAL_MAGIC);
    drop(a);
}

/* --- CONNECT
 * ------------------------------------------------------------------------------ */

static int parse_fields(const char *head, size_t len, struct headers *out, struct err *e)
{
    const char *p = memchr(head, '\n', len), *end = head + len;

    for (p++; p < end;) {
        const char *lf = memchr(p, '\n', (size_t)(end - p));
        const char *colon = lf ? memchr(p, ':', (size_t)(lf - p)) : NULL;
        if (!colon)
            break;
        const char *v = colon + 1, *v_end = lf;
        while (v < v_end && (*v == ' ' || *v == '\t'))
            v++;
        while (v_end > v && (v_end[-1] == '\r' || v_end[-1] == ' ' || v_end[-1] == '\t'))
            v_end--;
        if (headers_add_n(out, p, (size_t)(colon - p), v, (size_t)(v_end - v), e) < 0)
            return -1;
        p = lf + 1;
    }
    return 0;
}

/* Read "CONNECT host:port HTTP/1.1" and its fields into the connection. */
static int read_connect(struct conn *c, const char *head, size_t len, struct err *e)
{
    struct headers fields = {0};
    char authority[300];
    const char *from = head + strlen("CONNECT ");
    size_t n = strcspn(from, " \r\n");
    char *host = NULL;
    int rc = -1;

    if (n >= sizeof authority)
        return err_set(e, ERR_FORMAT, "CONNECT target is too long");
    (void)snprintf(authority, sizeof authority, "%.*s", (int)n, from);
    if (url_host_port(authority, &host, &c->port, e) < 0)
        return err_set(e, ERR_FORMAT, "CONNECT target is not HOST:PORT");
    if (c->port == 0 || strlen(host) >= sizeof c->host) {
        err_set(e, ERR_FORMAT, "CONNECT target is not HOST:PORT");
        goto out;
    }
    (void)snprintf(c->host, sizeof c->host, "%s", host);
    if (parse_fields(head, len, &fields, e) < 0)
        goto out;
    gate_basic(headers_find(&fields, "Proxy-Authorization"), &c->claim);
    gate_headers(&fields, &c->claim);
    rc = 0;
out:
    headers_fini(&fields);
    free(host);
    return rc;
}

static bool is_tunnelled(const struct shared *s, const struct conn *c)
{
    const char *host = c->host;

    if (s->options->mode == MODE_REPLAY ||
        target_is_own(&s->own, &c->local, host, c->port))
        return false;
    for (size_t i = 0; i < s->options->tunnel.n; i++)
        if (canon_host_covers(s->options->tunnel.v[i], host))
            return true;
    for (const char *const *p = s->config->tunnel; *p; p++)
        if (canon_host_covers(*p, host))
            return true;
    return false;
}

/* Returns true when the arrival goes on (look again), false when it is done with. */
static bool answer_connect(struct arrival *a, const char *peeked, size_t len)
{
    static const char yes[] = "HTTP/1.1 200 Connection Established\r\n\r\n";
    struct worker *w = a->l->w;
    struct guard_fault fault;
    struct err e;
    uint64_t left;
    char *head = strndup(peeked, len);

    if (a->connected || !head || guard_head(peeked, len, &left, &fault) < 0 ||
        read_connect(a->conn, head, len, &e) < 0) {
        free(head);
        refuse(a, 400, "", "malformed CONNECT: want `CONNECT host:port HTTP/1.1`");
        return false;
    }
    free(head);
    if (a->conn->claim.bad) {
        refuse(a, 400, "",
               "the session name in the proxy URL must match "
               "[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
        return false;
    }
    if (!gate_token_ok(&a->conn->claim, w->shared->options->token)) {
        refuse(a, 407, "Proxy-Authenticate: Basic realm=\"retape\"\r\n",
               "this proxy wants its token as the password of the proxy URL");
        return false;
    }
    if (recv(a->fd, w->scratch, len, MSG_DONTWAIT) != (ssize_t)len) {
        drop(a);
        return false;
    }
    if (is_tunnelled(w->shared, a->conn)) {
        struct conn *c = a->conn;
        relay_start(w, detach(a), c);
        return false;
    }
    if (send(a->fd, yes, sizeof yes - 1, MSG_NOSIGNAL | MSG_DONTWAIT) !=
        (ssize_t)sizeof yes - 1) {
        drop(a);
        return false;
    }
    a->connected = true;
    loop_timer_set(w->loop, &a->timer, LIMIT_FIRST_BYTE_MS, on_silence, a);
    return true;
}

/* --- the first look
 * ---------------------------------------------------------------------------- */

static void start_tls(struct arrival *a)
{
    struct worker *w = a->l->w;
    struct conn *c = a->conn;
    struct err e;

    c->via = a->connected ? VIA_CONNECT_TLS : VIA_TLS;
    if (tunnel_start(w, detach(a), c, &e) < 0)
        log_debug("tunnel: %s", e.msg);
}

static void start_plain(struct arrival *a, const char *peeked, size_t head_len)
{
    struct worker *w = a->l->w;
    struct conn *c = a->conn;
    struct guard_fault fault;
    struct httpd_conn *hc;
    struct err e;
    uint64_t left;

    c->via = a->connected ? VIA_CONNECT_PLAIN : VIA_PLAIN;
    if (guard_head(peeked, head_len, &left, &fault) < 0) {
        refuse(a, fault.status, "", fault.why);
        return;
    }
    if (httpd_add(w->httpd, detach(a), true, c, &hc, &e) < 0) {
        log_debug("connection: %s", e.msg);
        conn_release(c);
    }
}

/* Length of the first request head with the empty lines before it (RFC 9112 2.2); 0
 * while incomplete. */
static size_t whole_head(const char *data, size_t len)
{
    size_t blank = 0;

    while (blank < len && (data[blank] == '\r' || data[blank] == '\n'))
        blank++;
    size_t head = guard_head_length(data + blank, len - blank, 0);
    return head ? blank + head : 0;
}

static void on_arrival(void *arg, uint32_t events)
{
    struct arrival *a = arg;
    struct worker *w = a->l->w;

    must(a->magic == ARRIVAL_MAGIC);
    for (;;) {
        ssize_t n = recv(a->fd, w->scratch, WORKER_SCRATCH, MSG_PEEK | MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            if (events & (EPOLLERR | EPOLLHUP))
                drop(a);
            return;
        }
        if (n <= 0) {
            drop(a);
            return;
        }
        unsigned char first = (unsigned char)w->scratch[0];
        if (first == 0x16) {
            start_tls(a);
            return;
        }
        if (first != '\r' && first != '\n' && (first < 'A' || first > 'z')) {
            refuse(a, 400, "", "neither HTTP nor a TLS handshake");
            return;
        }
        size_t head = whole_head(w->scratch, (size_t)n);
        if (head > LIMIT_REQUEST_HEAD || (head == 0 && n > (ssize_t)LIMIT_REQUEST_HEAD)) {
            refuse(a, 431, "", "the request head is larger than 30 KB");
            return;
        }
        if (head == 0) {
            if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
                refuse(a, 400, "", "the request head is incomplete");
            return;
        }
        if (n > 8 && memcmp(w->scratch, "CONNECT ", 8) == 0) {
            if (!answer_connect(a, w->scratch, head))
                return;
            continue;
        }
        start_plain(a, w->scratch, head);
        return;
    }
}

/* --- accepting
 * ------------------------------------------------------------------------------------ */

static void admit(struct listener *l, int fd)
{
    struct arrival *a = calloc(1, sizeof *a);
    struct conn *c = conn_new(l->w);
    struct err e;
    int one = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (!a || !c ||
        loop_watch(l->w->loop, &a->watch, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, on_arrival,
                   a, &e) < 0) {
        free(a);
        if (c)
            conn_release(c);
        (void)close(fd);
        return;
    }
    take_address(fd, &c->local);
    a->magic = ARRIVAL_MAGIC;
    a->l = l;
    a->fd = fd;
    a->conn = c;
    a->next = l->arrivals;
    a->link = &l->arrivals;
    if (a->next)
        a->next->link = &a->next;
    l->arrivals = a;
    loop_timer_set(l->w->loop, &a->timer, LIMIT_FIRST_BYTE_MS, on_silence, a);
}

static void on_retry(void *arg)
{
    struct listener *l = arg;

    if (l->watch.fd >= 0)
        loop_rewatch(l->w->loop, &l->watch, EPOLLIN);
}

/* Out of descriptors: clients wait in the kernel's queue until some are free. */
static void pause_accepting(struct listener *l)
{
    loop_rewatch(l->w->loop, &l->watch, 0);
    loop_timer_set(l->w->loop, &l->retry, RETRY_ACCEPT_MS, on_retry, l);
}

static void on_accept(void *arg, uint32_t events)
{
    struct listener *l = arg;
    const struct shared *s = l->w->shared;

    (void)events;
    for (int i = 0; i < ACCEPTS_A_TURN; i++) {
        if (atomic_load(&s->conns) >= s->max_conns) {
            pause_accepting(l);
            return;
        }
        int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                pause_accepting(l);
            return;
        }
        admit(l, fd);
    }
}

int listener_new(struct listener **out, struct worker *w, int fd, struct err *e)
{
    struct listener *l = calloc(1, sizeof *l);

    if (!l) {
        (void)close(fd);
        return err_set(e, ERR_NOMEM, "listener: out of memory");
    }
    l->w = w;
    l->fd = fd;
    if (loop_watch(w->loop, &l->watch, fd, EPOLLIN, on_accept, l, e) < 0) {
        listener_free(&l);
        return -1;
    }
    *out = l;
    return 0;
}

void listener_stop(struct listener *l)
{
    loop_unwatch(l->w->loop, &l->watch);
    loop_timer_clear(l->w->loop, &l->retry);
    if (l->fd >= 0)
        (void)close(l->fd);
    l->fd = -1;
}

void listener_free(struct listener **lp)
{
    struct listener *l = *lp;

    if (!l)
        return;
    listener_stop(l);
    while (l->arrivals)
        drop(l->arrivals);
    free(l);
    *lp = NULL;
}
