/* relay.c - see relay.h. */
#include "proxy/relay.h"

#include "base/limits.h"
#include "base/log.h"
#include "net/refusal.h"
#include "proxy/shared.h"
#include "proxy/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define RELAY_MAGIC 0x72656c61u
#define HELD KIB(64) /* bytes waiting for a slow side */

struct side {
    int fd;
    struct loop_watch watch;
    struct buf out; /* bytes for this side that it has not taken yet */
    bool eof;       /* it will send no more */
    bool shut;      /* we told it that the other one will send no more */
};

struct relay {
    unsigned magic;
    struct worker *w;
    struct relay *next, **link;
    struct conn *conn;
    struct fetch_call *call; /* connecting */
    struct side client, server;
    struct loop_job free_job;
    bool dead;
};

static void free_relay(void *arg)
{
    struct relay *y = arg;

    buf_free(&y->client.out);
    buf_free(&y->server.out);
    free(y);
}

static void end(struct relay *y)
{
    struct side *sides[] = {&y->client, &y->server};

    if (y->dead)
        return;
    y->dead = true;
    fetch_cancel(&y->call);
    for (size_t i = 0; i < COUNT_OF(sides); i++) {
        loop_unwatch(y->w->loop, &sides[i]->watch);
        if (sides[i]->fd >= 0)
            (void)close(sides[i]->fd);
    }
    *y->link = y->next;
    if (y->next)
        y->next->link = y->link;
    conn_release(y->conn);
    loop_defer(y->w->loop, &y->free_job, free_relay, y);
}

/* Write what waits for a side; false when the relay ended. */
static bool flush(struct relay *y, struct side *to, const struct side *from)
{
    while (to->out.len > 0) {
        ssize_t n = send(to->fd, to->out.data, to->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n < 0) {
            end(y);
            return false;
        }
        buf_eat(&to->out, (size_t)n);
    }
    if (from->eof && !to->shut) {
        to->shut = true;
        (void)shutdown(to->fd, SHUT_WR);
    }
    return true;
}

static bool fill(struct relay *y, struct side *from, struct side *to)
{
    while (!from->eof && to->out.len < HELD) {
        ssize_t n = recv(from->fd, y->w->scratch, HELD, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            end(y);
            return false;
        }
        if (n == 0)
            from->eof = true;
        buf_add(&to->out, y->w->scratch, (size_t)n);
        if (!flush(y, to, from))
            return false;
    }
    return true;
}

static void set_interest(struct relay *y, struct side *s, const struct side *other)
{
    uint32_t events = 0;

    if (s->eof && s->shut) { /* only a hang-up is left to report, again and again */
        loop_unwatch(y->w->loop, &s->watch);
        return;
    }
    if (!s->eof && other->out.len < HELD)
        events |= EPOLLIN;
    if (s->out.len > 0)
        events |= EPOLLOUT;
    loop_rewatch(y->w->loop, &s->watch, events);
}

static void pump(struct relay *y)
{
    struct side *c = &y->client, *s = &y->server;

    if (!flush(y, c, s) || !flush(y, s, c) || !fill(y, c, s) || !fill(y, s, c))
        return;
    if (c->eof && s->eof && c->out.len == 0 && s->out.len == 0) {
        end(y);
        return;
    }
    set_interest(y, c, s);
    set_interest(y, s, c);
}

static void on_ready(void *arg, uint32_t events)
{
    struct relay *y = arg;

    must(y->magic == RELAY_MAGIC);
    if (events & EPOLLERR)
        end(y);
    else
        pump(y);
}

static void on_connected(void *arg, int fd, const struct err *failure)
{
    static const char yes[] = "HTTP/1.1 200 Connection Established\r\n\r\n";
    struct relay *y = arg;
    struct err e;

    must(y->magic == RELAY_MAGIC);
    y->call = NULL;
    y->server.fd = fd;
    if (failure) {
        struct buf text = BUF_INIT(KIB(4));
        refusal_response(&text, 502, "", failure->msg);
        (void)!send(y->client.fd, text.data, text.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        buf_free(&text);
        end(y);
        return;
    }
    (void)atomic_fetch_add(&y->w->shared->tunnelled, 1);
    buf_add(&y->client.out, yes, sizeof yes - 1);
    if (loop_watch(y->w->loop, &y->client.watch, y->client.fd, EPOLLIN, on_ready, y, &e) <
            0 ||
        loop_watch(y->w->loop, &y->server.watch, fd, EPOLLIN, on_ready, y, &e) < 0) {
        end(y);
        return;
    }
    pump(y);
}

void relay_start(struct worker *w, int fd, struct conn *conn)
{
    struct relay *y = calloc(1, sizeof *y);
    struct err e;

    if (!y) {
        (void)close(fd);
        conn_release(conn);
        return;
    }
    *y = (struct relay){.magic = RELAY_MAGIC, .w = w, .conn = conn};
    y->client = (struct side){.fd = fd, .out = BUF_INIT(HELD * 2 + KIB(1))};
    y->server = (struct side){.fd = -1, .out = BUF_INIT(HELD * 2)};
    y->client.watch.fd = y->server.watch.fd = -1;
    y->next = w->relays;
    y->link = &w->relays;
    if (y->next)
        y->next->link = &y->next;
    w->relays = y;
    if (fetch_connect(w->fetch, conn->host, conn->port, on_connected, y, &y->call, &e) <
        0) {
        log_warn("tunnel to %s: %s", conn->host, e.msg);
        end(y);
    }
}

void relay_end_all(struct worker *w)
{
    while (w->relays)
        end(w->relays);
}
