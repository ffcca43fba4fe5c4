/*
 * httpd.c - connections and the daemon (httpd.h).
 *
 * libmicrohttpd without a thread of its own: its epoll descriptor is nested in the
 * loop's, MHD_run() is called from a turn hook. What it gets wrong is put right here:
 * suspended connections are watched for hang-ups, and a socket whose FIN came together
 * with its last request gets a fresh edge by shutdown(SHUT_RD).
 */
#include "net/httpd_internal.h"

#include "base/limits.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define RUNS_A_TURN 16

const char *httpd_library_version(void)
{
    return MHD_get_version();
}

void httpd_ask_for_edge(struct httpd_conn *c)
{
    struct httpd *h = c->h;

    h->dirty = true;
    if (c->listed)
        return;
    c->listed = true;
    c->next_half_open = h->half_open;
    h->half_open = c;
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
    must(c->magic == HTTPD_CONN_MAGIC);
    loop_unwatch(h->loop, &c->watch);
    unlist(c);
    forget_conn(c);
    if (h->adding == c) /* httpd_add() fails and cleans up */
        return;
    h->events.on_closed(c->user);
    loop_defer(h->loop, &c->free_job, free_conn, c);
}

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
    must(c->magic == HTTPD_CONN_MAGIC);
    if (c->closed || c->gone)
        return;
    if (is_busy(c))
        (void)c->h->events.on_hangup(c->current);
    give_up(c);
    if (!is_busy(c))
        httpd_ask_for_edge(c);
}

void httpd_finish(struct httpd_conn *c)
{
    must(c->magic == HTTPD_CONN_MAGIC);
    if (c->closed || c->fin)
        return;
    c->fin = true;
    if (!is_busy(c)) /* also when its request can never become whole */
        httpd_ask_for_edge(c);
    else if (c->h->events.on_hangup(c->current))
        give_up(c);
}

static void on_tcp(void *arg, uint32_t events)
{
    struct httpd_conn *c = arg;

    must(c->magic == HTTPD_CONN_MAGIC);
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

static void on_mhd_epoll(void *arg, uint32_t events)
{
    struct httpd *h = arg;

    (void)events;
    h->dirty = true;
}

static void on_idle(void *arg)
{
    struct httpd *h = arg;

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
        if (MHD_get_timeout(h->mhd, &ms) != MHD_YES)
            break;
        if (ms > 0) { /* nothing else may ever wake us; too early does no harm */
            if (h->idle.slot == 0)
                loop_timer_set(h->loop, &h->idle, ms, on_idle, h);
            break;
        }
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
        0, NULL, NULL, httpd_on_access, h, MHD_OPTION_EXTERNAL_LOGGER, drop_log, NULL,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)LIMIT_HTTP_POOL,
        MHD_OPTION_CONNECTION_LIMIT, 1000000U, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)(LIMIT_IDLE_MS / 1000), MHD_OPTION_URI_LOG_CALLBACK, httpd_on_target, h,
        MHD_OPTION_NOTIFY_COMPLETED, httpd_on_completed, h, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, h, MHD_OPTION_END);
    if (!h->mhd) {
        free(h);
        return err_set(e, ERR_IO, "cannot start libmicrohttpd: %s", strerror(errno));
    }
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info ||
        loop_watch(l, &h->watch, info->epoll_fd, EPOLLIN, on_mhd_epoll, h, e) < 0) {
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
    loop_timer_clear(h->loop, &h->idle);
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
    /* The address is only asked for its family: TCP options are for TCP. */
    static const struct sockaddr_in inet = {.sin_family = AF_INET};
    static const struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct httpd_conn *c = calloc(1, sizeof *c);

    if (!c) {
        (void)close(fd);
        return err_set(e, ERR_NOMEM, "connection: out of memory");
    }
    *c = (struct httpd_conn){
        .magic = HTTPD_CONN_MAGIC, .h = h, .user = conn, .fd = fd, .tcp = tcp};
    c->watch.fd = -1;
    if (tcp &&
        loop_watch(h->loop, &c->watch, fd, EPOLLRDHUP | EPOLLET, on_tcp, c, e) < 0) {
        (void)close(fd);
        free(c);
        return -1;
    }
    h->adding = c;
    remember_conn(h, c);
    enum MHD_Result ok =
        tcp ? MHD_add_connection(h->mhd, fd, (const struct sockaddr *)&inet, sizeof inet)
            : MHD_add_connection(h->mhd, fd, (const struct sockaddr *)&local,
                                 sizeof(sa_family_t) + 1);
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
