/* serve.c - see serve.h. */
#include "proxy/serve.h"

#include "base/clock.h"
#include "base/fsx.h"
#include "base/limits.h"
#include "base/log.h"
#include "certs/mint.h"
#include "certs/trust.h"
#include "proxy/listener.h"
#include "proxy/misses.h"
#include "proxy/packed.h"
#include "proxy/session.h"
#include "proxy/tunnel.h"
#include "proxy/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SYNC_MS 500
#define FDS_A_CLIENT 3 /* its socket and the pair; while live, an upstream too */
#define MAX_WORKERS 64

struct serve {
    struct shared shared;
    struct ca *ca;
    char *trust_file;    /* system + ours, for children */
    char *upstream_file; /* system + --upstream-ca, or NULL: the system's own */
    char **connect_to;   /* --resolve in libcurl's form */
    struct worker *workers;
    size_t n_workers;
    bool global; /* libcurl is initialised */
    pthread_t syncer;
    bool syncing;
    pthread_mutex_t lock; /* with wake: ends the syncer */
    pthread_cond_t wake;
    bool ending;
};

const struct shared *serve_shared(const struct serve *s)
{
    return &s->shared;
}

const char *serve_trust_file(const struct serve *s)
{
    return s->trust_file;
}

/* May anything leave this machine? Strict replay does not even make the client for it. */
static bool goes_out(const struct options *o)
{
    return o->mode != MODE_REPLAY || o->live;
}

/* --- descriptors
 * -------------------------------------------------------------------------- */

static size_t admit_at_most(bool live)
{
    struct rlimit lim;

    if (getrlimit(RLIMIT_NOFILE, &lim) < 0)
        return 200;
    lim.rlim_cur = lim.rlim_max;
    if (lim.rlim_cur > 1048576)
        lim.rlim_cur = 1048576;
    (void)setrlimit(RLIMIT_NOFILE, &lim);
    (void)getrlimit(RLIMIT_NOFILE, &lim);
    size_t n = lim.rlim_cur > LIMIT_FDS_SPARE ? lim.rlim_cur - LIMIT_FDS_SPARE : 16;
    n /= FDS_A_CLIENT + live;
    return n > 4 ? n : 4;
}

/* --- trust
 * ------------------------------------------------------------------------------------ */

static int open_authority(struct serve *s, struct err *e)
{
    char *dir = NULL;
    int rc = -1;

    if (ca_dir(&dir, e) < 0 || ca_open(&s->ca, dir, e) < 0)
        goto out;
    s->shared.ca = s->ca;
    s->trust_file = fsx_join(dir, "trust.pem");
    if (!s->trust_file) {
        err_set(e, ERR_NOMEM, "out of memory");
        goto out;
    }
    if (trust_write_merged(s->trust_file, s->ca, NULL, e) < 0 ||
        mint_new(&s->shared.mint, s->ca, e) < 0 ||
        tls_new(&s->shared.tls, tunnel_certificate, e) < 0)
        goto out;
    rc = 0;
out:
    free(dir);
    return rc;
}

/* The certificates upstreams are verified against. */
static int write_upstream_trust(struct serve *s, const struct options *o, struct err *e)
{
    const char *tmp = getenv("TMPDIR");

    if (o->upstream_ca.n == 0)
        return 0;
    char *path = fsx_join(tmp && *tmp ? tmp : "/tmp", "retape-upstream-XXXXXX");
    int fd = path ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd < 0) {
        err_set(e, ERR_IO, "%s: %s", path ? path : "TMPDIR", strerror(errno));
        free(path);
        return -1;
    }
    (void)close(fd);
    s->upstream_file = path;
    return trust_write_merged(path, NULL, o->upstream_ca.v, e);
}

/* "HOST:PORT:ADDR" lacks the port libcurl wants; it stays the same then. */
static char *connect_to_line(const char *resolve)
{
    const char *p = resolve[0] == '[' ? strchr(resolve, ']') : resolve;
    const char *port = p ? strchr(p, ':') : NULL;
    const char *addr = port ? strchr(port + 1, ':') : NULL;

    if (!addr)
        return strdup(resolve);
    const char *after = addr[1] == '[' ? strchr(addr, ']') : addr + 1;
    if (after && strchr(after, ':'))
        return strdup(resolve);
    struct buf out = BUF_INIT(1024);
    buf_fmt(&out, "%s:%.*s", resolve, (int)(addr - port - 1), port + 1);
    return buf_take(&out);
}

static int convert_resolves(struct serve *s, const struct options *o, struct err *e)
{
    s->connect_to = calloc(o->resolve.n + 1, sizeof *s->connect_to);
    if (!s->connect_to)
        return err_set(e, ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < o->resolve.n; i++) {
        s->connect_to[i] = connect_to_line(o->resolve.v[i]);
        if (!s->connect_to[i])
            return err_set(e, ERR_NOMEM, "out of memory");
    }
    return 0;
}

/* --- sessions
 * --------------------------------------------------------------------------------- */

/* Open the default session now, so that a run does not fail at its first request. */
static int open_default(struct serve *s, const struct options *o,
                        const struct packed *packed, struct err *e)
{
    struct session *x;

    if (sessions_new(&s->shared.sessions, o, packed, e) < 0 ||
        misses_new(&s->shared.misses, e) < 0)
        return -1;
    if (o->mode == MODE_REPLAY && !o->rest.command) {
        char *path = cassette_path(o->cassettes, o->session);
        bool there = packed ? packed_cassette(packed, o->session) != NULL
                            : path && fsx_exists(path);
        free(path);
        if (!there)
            return 0; /* other sessions may be asked for */
    }
    return sessions_get(s->shared.sessions, o->session, &x, e);
}

static void *sync_now_and_then(void *arg)
{
    struct serve *s = arg;
    struct timespec until;

    (void)pthread_mutex_lock(&s->lock);
    while (!s->ending) {
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += SYNC_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        (void)pthread_cond_timedwait(&s->wake, &s->lock, &until);
        (void)pthread_mutex_unlock(&s->lock);
        sessions_sync(s->shared.sessions);
        (void)pthread_mutex_lock(&s->lock);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return NULL;
}

static int start_syncer(struct serve *s, struct err *e)
{
    sigset_t all, old;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&s->syncer, NULL, sync_now_and_then, s);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc != 0)
        return err_set(e, ERR_IO, "start a thread: %s", strerror(rc));
    s->syncing = true;
    return 0;
}

static void stop_syncer(struct serve *s)
{
    if (!s->syncing)
        return;
    (void)pthread_mutex_lock(&s->lock);
    s->ending = true;
    (void)pthread_cond_signal(&s->wake);
    (void)pthread_mutex_unlock(&s->lock);
    (void)pthread_join(s->syncer, NULL);
    s->syncing = false;
}

/* --- workers
 * ------------------------------------------------------------------------------------ */

static int start_workers(struct serve *s, const struct options *o, struct err *e)
{
    const char *address = o->listen         ? o->listen
                          : o->rest.command ? "127.0.0.1:0"
                                            : "127.0.0.1:8080";
    struct fetch_setup upstream = {.ca_file = s->upstream_file ? s->upstream_file
                                                               : trust_system_file(),
                                   .connect_to = (const char *const *)s->connect_to,
                                   .proxy = o->upstream_proxy};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t want = o->workers.given ? o->workers.value : cores > 0 ? (size_t)cores : 1;

    if (want < 1 || want > MAX_WORKERS)
        want = want < 1 ? 1 : MAX_WORKERS;
    s->workers = calloc(want, sizeof *s->workers);
    if (!s->workers)
        return err_set(e, ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < want; i++) {
        struct own_address bound;
        int fd;
        if (listener_bind(i ? s->shared.own.text : address, i > 0, &fd, &bound, e) < 0)
            return -1;
        if (i == 0)
            s->shared.own = bound;
        if (worker_start(&s->workers[i], &s->shared, fd, goes_out(o) ? &upstream : NULL,
                         e) < 0)
            return -1;
        s->n_workers++;
    }
    return 0;
}

int serve_start(struct serve **out, const struct options *o, const struct packed *packed,
                struct err *e)
{
    struct serve *s = calloc(1, sizeof *s);

    if (!s)
        return err_set(e, ERR_NOMEM, "out of memory");
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->wake, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    s->shared.options = o;
    s->shared.config = o->config;
    s->shared.max_conns = admit_at_most(goes_out(o));
    s->shared.start_ns = clock_mono_ns();
    if (open_default(s, o, packed, e) < 0 || open_authority(s, e) < 0)
        goto fail;
    if (goes_out(o)) {
        if (fetch_global_init(e) < 0)
            goto fail;
        s->global = true;
        if (write_upstream_trust(s, o, e) < 0 || convert_resolves(s, o, e) < 0 ||
            (o->mode != MODE_REPLAY && start_syncer(s, e) < 0))
            goto fail;
    }
    if (start_workers(s, o, e) < 0)
        goto fail;
    *out = s;
    return 0;
fail:
    (void)serve_stop(s, &(struct err){0});
    serve_free(&s);
    return -1;
}

int serve_stop(struct serve *s, struct err *e)
{
    for (size_t i = 0; i < s->n_workers; i++)
        worker_drain(&s->workers[i]);
    for (size_t i = 0; i < s->n_workers; i++)
        worker_join(&s->workers[i]);
    s->n_workers = 0;
    stop_syncer(s);
    if (s->upstream_file)
        (void)unlink(s->upstream_file);
    return s->shared.sessions ? sessions_close(s->shared.sessions, e) : 0;
}

void serve_free(struct serve **sp)
{
    struct serve *s = *sp;

    if (!s)
        return;
    must(s->n_workers == 0);
    free(s->workers);
    sessions_free(&s->shared.sessions);
    misses_free(&s->shared.misses);
    tls_free(&s->shared.tls);
    mint_free(&s->shared.mint);
    ca_close(&s->ca);
    if (s->global)
        fetch_global_fini();
    for (char **p = s->connect_to; p && *p; p++)
        free(*p);
    free(s->connect_to);
    free(s->trust_file);
    free(s->upstream_file);
    (void)pthread_cond_destroy(&s->wake);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
    *sp = NULL;
}
