/*
 * tunnel.c - see tunnel.h.
 *
 * Ciphertext is read 64 KB at a time into the worker's scratch buffer and fed to
 * mbedTLS from memory; what mbedTLS writes is collected and sent with one call. The
 * pair is opened with the first clean request head, so a connection that only shakes
 * hands costs one descriptor.
 *
 *   client ─ fd ─► decrypt ─► plain ─► guard ─► pair ─► HTTP server
 *   client ◄ fd ─ out ◄─ encrypt ◄───────────── pair ◄─ HTTP server
 */
#include "proxy/tunnel.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/url.h"
#include "certs/mint.h"
#include "net/guard.h"
#include "net/refusal.h"
#include "proxy/shared.h"
#include "proxy/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TUNNEL_MAGIC 0x74756e6eu
#define RECORD 16384
#define OUT_HIGH KIB(256) /* stop reading the pair above this much unsent */

struct tunnel {
    unsigned magic;
    struct worker *w;
    struct tunnel *next, **link;
    struct conn *conn;
    int fd;
    struct loop_watch watch;
    struct loop_timer timer; /* handshake and first request */
    struct loop_job free_job;

    mbedtls_ssl_context ssl;
    struct mint_leaf leaf;
    bool open;      /* the handshake is over */
    const char *in; /* ciphertext not decrypted yet: scratch or saved */
    size_t in_len;
    struct buf saved; /* what was left of it when the pair was full */
    struct buf out;   /* ciphertext not sent yet */

    struct guard guard;
    struct buf plain; /* decrypted, not written into the pair yet */
    size_t cleared;   /* bytes of it that guard has let pass */
    struct guard_fault fault;
    int pair;
    struct loop_watch pair_watch;
    struct httpd_conn *http; /* NULL before the pair is open and after it closed */
    bool eof;                /* the client sends no more */
    bool pair_full;
    bool ending; /* nothing more is read; close when out is sent */
    bool dead;
};

/* --- the end -------------------------------------------------------------------------
 */

static void free_tunnel(void *arg)
{
    struct tunnel *t = arg;

    mbedtls_ssl_free(&t->ssl);
    if (t->leaf.entry)
        mint_release(t->w->shared->mint, &t->leaf);
    buf_free(&t->saved);
    buf_free(&t->out);
    buf_free(&t->plain);
    t->magic = 0;
    free(t);
}

/* Let go of everything now; memory goes at the end of the turn. */
static void end(struct tunnel *t, bool politely)
{
    struct worker *w = t->w;

    if (t->dead)
        return;
    t->dead = true;
    loop_unwatch(w->loop, &t->watch);
    loop_unwatch(w->loop, &t->pair_watch);
    loop_timer_clear(w->loop, &t->timer);
    if (t->pair >= 0)
        (void)close(t->pair);
    if (politely)
        leave_close(w->leave, t->fd);
    else
        (void)close(t->fd);
    *t->link = t->next;
    if (t->next)
        t->next->link = t->link;
    t->conn->tunnel = NULL;
    conn_release(t->conn);
    loop_defer(w->loop, &t->free_job, free_tunnel, t);
}

/* The client is gone for good: whoever works for it should know. */
static void hang_up(struct tunnel *t)
{
    if (t->http)
        httpd_hangup(t->http);
    end(t, false);
}

static void on_timeout(void *arg)
{
    struct tunnel *t = arg;

    must(t->magic == TUNNEL_MAGIC);
    hang_up(t);
}

/* --- towards the client ----------------------------------------------------------------
 */

/* A connection needs buffers only while bytes pass; the worker keeps a few that are not
 * in use, because allocating them anew for every request costs more than encrypting. */
static void borrow(struct worker *w, struct buf *b)
{
    if (b->data || w->n_spare == 0)
        return;
    struct buf spare = w->spare[--w->n_spare];
    b->data = spare.data;
    b->cap = spare.cap;
    buf_reset(b);
}

static void give_back(struct worker *w, struct buf *b)
{
    if (!b->data || b->cap > WORKER_SCRATCH || w->n_spare == COUNT_OF(w->spare)) {
        buf_free(b);
        return;
    }
    w->spare[w->n_spare++] = *b;
    *b = BUF_INIT(b->max);
}

static int bio_send(void *ctx, const unsigned char *data, size_t len)
{
    struct tunnel *t = ctx;

    borrow(t->w, &t->out);
    buf_add(&t->out, data, len);
    return t->out.failed ? MBEDTLS_ERR_SSL_INTERNAL_ERROR : (int)len;
}

static void set_interest(struct tunnel *t)
{
    uint32_t events = EPOLLRDHUP | EPOLLET;

    if (!t->ending)
        events |= EPOLLIN;
    if (t->out.len > 0)
        events |= EPOLLOUT;
    loop_rewatch(t->w->loop, &t->watch, events);
}

static void flush(struct tunnel *t)
{
    size_t sent = 0;

    if (t->dead)
        return;
    while (sent < t->out.len) {
        ssize_t n = send(t->fd, t->out.data + sent, t->out.len - sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            hang_up(t);
            return;
        }
        sent += (size_t)n;
    }
    if (sent == t->out.len)
        give_back(t->w, &t->out);
    else
        buf_eat(&t->out, sent);
    if (t->ending && t->out.len == 0) {
        end(t, true);
        return;
    }
    set_interest(t);
}

static void say_goodbye(struct tunnel *t)
{
    if (t->open)
        (void)mbedtls_ssl_close_notify(&t->ssl);
    t->ending = true;
    loop_timer_set(t->w->loop, &t->timer, LIMIT_GOODBYE_MS, on_timeout, t);
    flush(t);
}

static bool encrypt(struct tunnel *t, const char *data, size_t len)
{
    while (len > 0) {
        int n = mbedtls_ssl_write(&t->ssl, (const unsigned char *)data, len);
        if (n <= 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

/* The HTTP server will say no more on this connection. */
static void pair_ended(struct tunnel *t)
{
    loop_unwatch(t->w->loop, &t->pair_watch);
    (void)close(t->pair);
    t->pair = -1;
    if (t->fault.status) {
        struct buf text = BUF_INIT(KIB(8));
        refusal_response(&text, t->fault.status, "", t->fault.why);
        (void)encrypt(t, text.data, text.len);
        buf_free(&text);
    }
    say_goodbye(t);
}

/* to_end: a hang-up was signalled, so read until it is seen; otherwise a short read
 * means drained, and an edge tells when there is more. */
static void read_pair(struct tunnel *t, bool to_end)
{
    while (!t->dead && t->pair >= 0 && t->out.len < OUT_HIGH) {
        ssize_t n = recv(t->pair, t->w->scratch, WORKER_SCRATCH, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n <= 0) {
            pair_ended(t);
            return;
        }
        if (!encrypt(t, t->w->scratch, (size_t)n)) {
            hang_up(t);
            return;
        }
        if (n < WORKER_SCRATCH && !to_end)
            break;
    }
}

static void pump_out(struct tunnel *t, bool to_end)
{
    bool more;

    do { /* when all of it goes at once, no edge will tell of the rest in the pair */
        read_pair(t, to_end);
        more = t->out.len >= OUT_HIGH;
        flush(t);
    } while (more && !t->dead && t->out.len < OUT_HIGH / 2);
}

/* --- from the client
 * -------------------------------------------------------------------- */

static int bio_recv(void *ctx, unsigned char *to, size_t len)
{
    struct tunnel *t = ctx;

    if (t->in_len == 0)
        return MBEDTLS_ERR_SSL_WANT_READ;
    if (len > t->in_len)
        len = t->in_len;
    memcpy(to, t->in, len);
    t->in += len;
    t->in_len -= len;
    return (int)len;
}

static void pump_in(struct tunnel *t);

static void on_pair(void *arg, uint32_t events)
{
    struct tunnel *t = arg;

    must(t->magic == TUNNEL_MAGIC);
    if (events & EPOLLOUT && t->pair_full) {
        t->pair_full = false;
        loop_rewatch(t->w->loop, &t->pair_watch, EPOLLIN | EPOLLRDHUP | EPOLLET);
        pump_in(t);
    }
    if (!t->dead && events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        pump_out(t, events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
}

static int open_pair(struct tunnel *t, struct err *e)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0)
        return err_set(e, ERR_IO, "socketpair: %s", strerror(errno));
    t->pair = ends[0];
    if (loop_watch(t->w->loop, &t->pair_watch, t->pair, EPOLLIN | EPOLLRDHUP | EPOLLET,
                   on_pair, t, e) < 0) {
        (void)close(ends[1]);
        return -1;
    }
    conn_hold(t->conn);
    if (httpd_add(t->w->httpd, ends[1], false, t->conn, &t->http, e) < 0) {
        conn_release(t->conn);
        return -1;
    }
    t->conn->tunnel = t;
    loop_timer_clear(t->w->loop, &t->timer);
    return 0;
}

void tunnel_http_closed(struct tunnel *t)
{
    must(t->magic == TUNNEL_MAGIC);
    t->http = NULL;
}

/* Answer what guard refused, after whatever the HTTP server still has to say. */
static void refuse(struct tunnel *t)
{
    log_debug("request refused with %d: %s", t->fault.status, t->fault.why);
    if (t->http) {
        httpd_finish(t->http);
        return;
    }
    if (t->pair < 0)
        pair_ended(t);
}

/* Check plaintext and write what is clean into the pair. False: the pair is full, or
 * the tunnel is done with. */
static bool push_plain(struct tunnel *t)
{
    struct err e;

    for (;;) {
        if (t->fault.status) /* refused: read on only to see the end */
            buf_reset(&t->plain);
        if (t->cleared == 0 && t->plain.len > 0) {
            struct guard_fault fault;
            long n = guard_pass(&t->guard, t->plain.data, t->plain.len, &fault);
            if (n < 0) {
                t->fault = fault;
                refuse(t);
                return false;
            }
            t->cleared = (size_t)n;
        }
        if (t->cleared == 0)
            return true;
        if (t->pair < 0 && open_pair(t, &e) < 0) {
            log_debug("tunnel: %s", e.msg);
            end(t, false);
            return false;
        }
        ssize_t sent =
            send(t->pair, t->plain.data, t->cleared, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN) { /* the HTTP server closed: its last words */
            sent = (ssize_t)t->cleared;    /* are coming, ours go nowhere */
        } else if (sent < 0) {
            t->pair_full = true;
            loop_rewatch(t->w->loop, &t->pair_watch,
                         EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
            return false;
        }
        buf_eat(&t->plain, (size_t)sent);
        t->cleared -= (size_t)sent;
        httpd_poke(t->w->httpd);
    }
}

static void client_ended(struct tunnel *t)
{
    t->eof = true;
    if (t->http)
        httpd_finish(t->http); /* it closes the pair when it has answered */
    else if (t->pair < 0)
        say_goodbye(t);
}

static bool shake_hands(struct tunnel *t)
{
    int rc = mbedtls_ssl_handshake(&t->ssl);

    if (rc == 0) {
        const char *name = t->conn->host;
        t->open = true;
        loop_timer_set(t->w->loop, &t->timer, LIMIT_IDLE_MS, on_timeout, t);
        log_debug("tls: %s with %s", mbedtls_ssl_get_version(&t->ssl),
                  name[0] ? name : "an unnamed host");
        return true;
    }
    if (rc == MBEDTLS_ERR_SSL_WANT_READ)
        return true;
    log_debug("tls handshake failed: mbedTLS error -0x%04x", (unsigned)-rc);
    say_goodbye(t); /* the alert is in out */
    return false;
}

/* Decrypt what is in memory. False: stop reading. */
static bool digest_input(struct tunnel *t)
{
    for (;;) {
        if (!t->open) {
            if (!shake_hands(t))
                return false;
            if (!t->open)
                return true;
        }
        borrow(t->w, &t->plain);
        char *room = buf_room(&t->plain, RECORD);
        if (!room) {
            hang_up(t);
            return false;
        }
        int n = mbedtls_ssl_read(&t->ssl, (unsigned char *)room, RECORD);
        if (n == MBEDTLS_ERR_SSL_WANT_READ)
            return true;
        if (n == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY || n == 0) {
            client_ended(t);
            return false;
        }
        if (n < 0) {
            log_debug("tls: mbedTLS error -0x%04x", (unsigned)-n);
            hang_up(t);
            return false;
        }
        t->plain.len += (size_t)n;
        if (!push_plain(t))
            return false;
    }
}

/* The pair was full: keep ciphertext that is still in the shared scratch buffer. */
static void save_input(struct tunnel *t)
{
    if (t->dead)
        return;
    if (t->in_len == 0)
        buf_free(&t->saved);
    if (t->in_len == 0 ||
        (t->in >= t->saved.data && t->in < t->saved.data + t->saved.len))
        return;
    struct buf kept = BUF_INIT(WORKER_SCRATCH * 2);
    buf_add(&kept, t->in, t->in_len);
    buf_free(&t->saved);
    t->saved = kept;
    t->in = t->saved.data;
}

static void pump_in(struct tunnel *t)
{
    if (t->pair_full || t->dead)
        return;
    if (t->plain.len > 0 && !push_plain(t))
        return;
    while (!t->dead && !t->ending && !t->eof) {
        if (t->in_len == 0) {
            ssize_t n = recv(t->fd, t->w->scratch, WORKER_SCRATCH, MSG_DONTWAIT);
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0 && errno == EAGAIN)
                break;
            if (n < 0) {
                hang_up(t);
                return;
            }
            if (n == 0) {
                client_ended(t);
                break;
            }
            t->in = t->w->scratch;
            t->in_len = (size_t)n;
        }
        if (!digest_input(t))
            break;
    }
    save_input(t);
    if (!t->dead && t->plain.len == 0)
        give_back(t->w, &t->plain);
    if (!t->dead && t->out.len > 0)
        flush(t);
}

static void on_client(void *arg, uint32_t events)
{
    struct tunnel *t = arg;

    must(t->magic == TUNNEL_MAGIC);
    if (events & (EPOLLERR | EPOLLHUP)) {
        hang_up(t);
        return;
    }
    if (events & EPOLLOUT) {
        flush(t);
        if (!t->dead && !t->ending && t->out.len < OUT_HIGH / 2)
            pump_out(t, true);
    }
    if (!t->dead && events & (EPOLLIN | EPOLLRDHUP))
        pump_in(t);
}

/* --- the beginning
 * --------------------------------------------------------------------------- */

/* The name a certificate is for: SNI, else the CONNECT host, else our own address. */
static void certificate_name(struct tunnel *t, char name[256])
{
    size_t len;
    const unsigned char *sni = mbedtls_ssl_get_hs_sni(&t->ssl, &len);

    if (sni && len > 0 && len < 254) {
        (void)snprintf(name, 256, "%.*s", (int)len, (const char *)sni);
        for (char *p = name; *p; p++)
            *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
        /* RFC 6066 section 3: an address is not a server name, whatever clients send */
        if (t->conn->via == VIA_TLS && !url_is_ip(name))
            (void)snprintf(t->conn->host, sizeof t->conn->host, "%s", name);
        return;
    }
    (void)snprintf(name, 256, "%s",
                   t->conn->host[0] ? t->conn->host : t->conn->local.host);
}

int tunnel_certificate(mbedtls_ssl_context *ssl)
{
    struct tunnel *t = mbedtls_ssl_get_user_data_p(ssl);
    struct err e;
    char name[256];

    must(t && t->magic == TUNNEL_MAGIC);
    if (t->leaf.entry)
        return 0; /* after a HelloRetryRequest */
    certificate_name(t, name);
    if (mint_leaf(t->w->shared->mint, name, &t->leaf, &e) < 0) {
        log_debug("certificate: %s", e.msg);
        return MBEDTLS_ERR_SSL_UNRECOGNIZED_NAME;
    }
    return mbedtls_ssl_set_hs_own_cert(ssl, t->leaf.chain, t->leaf.key);
}

int tunnel_start(struct worker *w, int fd, struct conn *conn, struct err *e)
{
    struct tunnel *t = calloc(1, sizeof *t);

    if (!t) {
        (void)close(fd);
        conn_release(conn);
        return err_set(e, ERR_NOMEM, "tunnel: out of memory");
    }
    *t = (struct tunnel){.magic = TUNNEL_MAGIC,
                         .w = w,
                         .conn = conn,
                         .fd = fd,
                         .pair = -1,
                         .saved = BUF_INIT(WORKER_SCRATCH * 2),
                         .out = BUF_INIT(MIB(2)),
                         .plain = BUF_INIT(LIMIT_REQUEST_HEAD + KIB(64))};
    t->watch.fd = t->pair_watch.fd = -1;
    mbedtls_ssl_init(&t->ssl);
    t->next = w->tunnels;
    t->link = &w->tunnels;
    if (t->next)
        t->next->link = &t->next;
    w->tunnels = t;
    if (mbedtls_ssl_setup(&t->ssl, tls_config(w->shared->tls)) != 0) {
        end(t, false);
        return err_set(e, ERR_NOMEM, "tunnel: out of memory");
    }
    mbedtls_ssl_set_user_data_p(&t->ssl, t);
    mbedtls_ssl_set_bio(&t->ssl, t, bio_send, bio_recv, NULL);
    if (loop_watch(w->loop, &t->watch, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, on_client, t,
                   e) < 0) {
        end(t, false);
        return -1;
    }
    loop_timer_set(w->loop, &t->timer, LIMIT_FIRST_BYTE_MS, on_timeout, t);
    return 0;
}

bool tunnel_settle_all(struct worker *w)
{
    bool settled = true;

    for (struct tunnel *t = w->tunnels, *next; t; t = next) {
        next = t->next;
        if (!t->ending)
            pump_out(t, true);
        if (!t->dead && !t->ending)
            say_goodbye(t);
        settled &= t->dead;
    }
    return settled;
}

void tunnel_end_all(struct worker *w)
{
    while (w->tunnels)
        hang_up(w->tunnels);
}
