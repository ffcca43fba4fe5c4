/*
 * worker.h - one thread: a loop and everything that lives on it.
 *
 * Nothing here is shared between workers but what `shared` points at, which is either
 * read-only or guards itself.
 *
 * Owns:    its loop, HTTP server, upstream client and listener; the fields are open to
 *          the modules of proxy/ that run on it.
 * Threads: worker_start() and worker_stop() from main; everything else on its own.
 */
#ifndef PROXY_WORKER_H
#define PROXY_WORKER_H

#include "base/buf.h"
#include "net/fetch.h"
#include "net/httpd.h"
#include "net/leave.h"
#include "net/loop.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct shared;
struct listener;
struct tunnel;
struct relay;
struct replay_shelf;

struct worker {
    struct shared *shared;
    struct loop *loop;
    struct httpd *httpd;
    struct fetch *fetch; /* NULL in strict replay: nothing can go out */
    struct leave *leave;
    struct listener *listener;
    struct tunnel *tunnels; /* all of them, for the end */
    struct relay *relays;
    struct replay_shelf *shelf; /* NULL unless recordings repeat */
    struct buf spare[8];        /* buffers tunnels pass from one to the next */
    size_t n_spare;
    char *scratch;  /* SCRATCH bytes for one read at a time */
    uint64_t flows; /* requests being worked on */
    bool draining;
    pthread_t thread;
    struct loop_job drain_job;
    struct loop_timer drain_timer, settle_timer;
};

#define WORKER_SCRATCH 65536

/* The listening socket is given away, whatever the result. */
int worker_start(struct worker *w, struct shared *s, int listen_fd,
                 const struct fetch_setup *upstream, struct err *e) MUST_CHECK;
/* Stop accepting, let requests in flight finish (bounded), stop the loop. */
void worker_drain(struct worker *w);
void worker_join(struct worker *w);
/* A request ended; when draining and none is left, the loop stops once the last bytes
 * have gone. */
void worker_flow_ended(struct worker *w);

#endif
