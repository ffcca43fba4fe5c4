/*
 * loop.h - one epoll loop: descriptors, timers, and things to do between turns.
 *
 * A worker thread owns one loop and everything registered with it. A turn is: wait,
 * call the watches that are ready, run due timers, then deferred calls and turn hooks
 * (the HTTP server and the TLS tunnels finish their work there) until nothing is
 * deferred. Deferred calls are where objects free themselves: nothing is freed while
 * events of the turn may still hold it.
 *
 * Owns:    watches and timers are embedded in their owners; the loop only links them.
 * Threads: all calls from the loop's thread, but loop_post() and loop_stop().
 */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

struct loop;

typedef void loop_ready_fn(void *arg, uint32_t events);
typedef void loop_call_fn(void *arg);

struct loop_watch {
    unsigned magic;
    int fd; /* -1 when not registered */
    uint32_t events;
    loop_ready_fn *ready;
    void *arg;
};

struct loop_timer {
    unsigned magic;
    size_t slot; /* place in the heap + 1; 0 when not set */
    uint64_t due_ns;
    loop_call_fn *call;
    void *arg;
};

/* A call to make at the end of the turn (or on another loop's thread by loop_post).
 * Queuing it again before its call has begun changes nothing. */
struct loop_job {
    struct loop_job *next;
    loop_call_fn *call;
    void *arg;
    atomic_bool queued;
};

int loop_new(struct loop **out, struct err *e) MUST_CHECK;
void loop_free(struct loop **l); /* runs what is still deferred */

/* Until loop_stop(). */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

/* Watch a descriptor; the watch must stay where it is until loop_unwatch(). */
int loop_watch(struct loop *l, struct loop_watch *w, int fd, uint32_t events,
               loop_ready_fn *ready, void *arg, struct err *e) MUST_CHECK;
void loop_rewatch(struct loop *l, struct loop_watch *w, uint32_t events);
/* Safe while its own event is being delivered; events already fetched for it in this
 * turn are dropped. Does not close the descriptor. */
void loop_unwatch(struct loop *l, struct loop_watch *w);

void loop_timer_set(struct loop *l, struct loop_timer *t, uint64_t in_ms,
                    loop_call_fn *call, void *arg);
void loop_timer_set_ns(struct loop *l, struct loop_timer *t, uint64_t due_ns,
                       loop_call_fn *call, void *arg);
void loop_timer_clear(struct loop *l, struct loop_timer *t);

uint64_t loop_now_ns(const struct loop *l); /* monotonic, of this turn */

/* Called every turn, in the order added; at most 4. Returns true while it has more to
 * do at once (the loop then does not sleep). Hooks may defer. */
typedef bool loop_hook_fn(void *arg);
void loop_hook(struct loop *l, loop_hook_fn *hook, void *arg);

void loop_defer(struct loop *l, struct loop_job *job, loop_call_fn *call, void *arg);
void loop_post(struct loop *l, struct loop_job *job, loop_call_fn *call, void *arg);

#endif
