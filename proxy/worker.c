/* worker.c - see worker.h. */
#include "proxy/worker.h"

#include "proxy/conn.h"
#include "proxy/flow.h"
#include "proxy/listener.h"
#include "proxy/relay.h"
#include "proxy/replay.h"
#include "proxy/shared.h"
#include "proxy/tunnel.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRAIN_MS 10000 /* a stream in flight gets this long at the end */
#define SETTLE_MS 10   /* between looks whether its last bytes have gone */

static void on_closed(void *conn)
{
    struct conn *c = conn_check(conn);

    if (c->tunnel)
        tunnel_http_closed(c->tunnel);
    conn_release(c);
}

static void *run(void *arg)
{
    struct worker *w = arg;

    loop_run(w->loop);
    return NULL;
}

static void fini(struct worker *w)
{
    listener_free(&w->listener);
    tunnel_end_all(w);
    relay_end_all(w);
    httpd_free(&w->httpd);
    replay_shelf_free(&w->shelf);
    fetch_free(&w->fetch);
    leave_free(&w->leave);
    loop_free(&w->loop);
    while (w->n_spare > 0)
        buf_free(&w->spare[--w->n_spare]);
    free(w->scratch);
    w->scratch = NULL;
}

int worker_start(struct worker *w, struct shared *s, int listen_fd,
                 const struct fetch_setup *upstream, struct err *e)
{
    static const struct httpd_events events = {flow_begin, flow_done, flow_hangup,
                                               on_closed};
    sigset_t all, old;

    *w = (struct worker){.shared = s, .scratch = malloc(WORKER_SCRATCH)};
    if (!w->scratch) {
        (void)close(listen_fd);
        return err_set(e, ERR_NOMEM, "worker: out of memory");
    }
    if (loop_new(&w->loop, e) < 0 || leave_new(&w->leave, w->loop, e) < 0 ||
        httpd_new(&w->httpd, w->loop, &events, s->config->max_request_body, e) < 0 ||
        (upstream && fetch_new(&w->fetch, w->loop, upstream, e) < 0) ||
        (s->options->repeat != REPEAT_NONE && replay_shelf_new(&w->shelf, e) < 0)) {
        (void)close(listen_fd);
        fini(w);
        return -1;
    }
    if (listener_new(&w->listener, w, listen_fd, e) < 0) {
        fini(w);
        return -1;
    }
    (void)sigfillset(&all); /* signals are main's */
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&w->thread, NULL, run, w);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc != 0) {
        fini(w);
        return err_set(e, ERR_IO, "start a thread: %s", strerror(rc));
    }
    return 0;
}

static void stop(void *arg)
{
    struct worker *w = arg;

    loop_stop(w->loop);
}

/* The last answers may still be on their way through the tunnels. */
static void settle(void *arg)
{
    struct worker *w = arg;

    if (tunnel_settle_all(w))
        stop(w);
    else
        loop_timer_set(w->loop, &w->settle_timer, SETTLE_MS, settle, w);
}

static void drain(void *arg)
{
    struct worker *w = arg;

    w->draining = true;
    listener_stop(w->listener);
    loop_timer_set(w->loop, &w->drain_timer, DRAIN_MS, stop, w);
    if (w->flows == 0)
        settle(w);
}

void worker_drain(struct worker *w)
{
    loop_post(w->loop, &w->drain_job, drain, w);
}

void worker_flow_ended(struct worker *w)
{
    w->flows--;
    if (w->draining && w->flows == 0)
        loop_timer_set(w->loop, &w->settle_timer, 0, settle, w);
}

void worker_join(struct worker *w)
{
    (void)pthread_join(w->thread, NULL);
    fini(w);
}
