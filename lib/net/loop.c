/* loop.c - see loop.h. */
#include "net/loop.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WATCH_MAGIC 0x77617463u
#define TIMER_MAGIC 0x74696d65u
#define BATCH 256
#define HOOKS 4

struct loop {
    int epoll;
    int wake; /* eventfd: posted jobs, stop */
    struct loop_watch wake_watch;
    atomic_bool stop;
    uint64_t now_ns;

    struct epoll_event ready[BATCH]; /* of this turn; unwatch clears its entries */
    int n_ready;

    struct loop_timer **heap; /* by due_ns */
    size_t n_heap, cap_heap;

    struct {
        loop_hook_fn *call;
        void *arg;
    } hooks[HOOKS];
    size_t n_hooks;

    struct loop_job *deferred, **deferred_tail;
    pthread_mutex_t lock; /* guards posted */
    struct loop_job *posted, **posted_tail;
};

static void on_wake(void *arg, uint32_t events)
{
    struct loop *l = arg;
    uint64_t n;

    (void)events;
    (void)!read(l->wake, &n, sizeof n);
}

int loop_new(struct loop **out, struct err *e)
{
    struct loop *l = calloc(1, sizeof *l);

    if (!l)
        return err_set(e, ERR_NOMEM, "event loop: out of memory");
    l->deferred_tail = &l->deferred;
    l->posted_tail = &l->posted;
    (void)pthread_mutex_init(&l->lock, NULL);
    l->now_ns = clock_mono_ns();
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->wake_watch.fd = -1;
    if (l->epoll < 0 || l->wake < 0) {
        err_set(e, ERR_IO, "event loop: %s", strerror(errno));
        loop_free(&l);
        return -1;
    }
    if (loop_watch(l, &l->wake_watch, l->wake, EPOLLIN, on_wake, l, e) < 0) {
        loop_free(&l);
        return -1;
    }
    *out = l;
    return 0;
}

void loop_stop(struct loop *l)
{
    uint64_t one = 1;

    atomic_store(&l->stop, true);
    (void)!write(l->wake, &one, sizeof one);
}

uint64_t loop_now_ns(const struct loop *l)
{
    return l->now_ns;
}

int loop_watch(struct loop *l, struct loop_watch *w, int fd, uint32_t events,
               loop_ready_fn *ready, void *arg, struct err *e)
{
    struct epoll_event ev = {.events = events, .data.ptr = w};

    *w = (struct loop_watch){WATCH_MAGIC, fd, events, ready, arg};
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev) < 0) {
        w->fd = -1;
        return err_set(e, ERR_IO, "watch a descriptor: %s", strerror(errno));
    }
    return 0;
}

void loop_rewatch(struct loop *l, struct loop_watch *w, uint32_t events)
{
    struct epoll_event ev = {.events = events, .data.ptr = w};

    must(w->magic == WATCH_MAGIC && w->fd >= 0);
    if (w->events == events)
        return;
    w->events = events;
    must(epoll_ctl(l->epoll, EPOLL_CTL_MOD, w->fd, &ev) == 0);
}

void loop_unwatch(struct loop *l, struct loop_watch *w)
{
    if (w->magic != WATCH_MAGIC || w->fd < 0)
        return;
    (void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
    w->fd = -1;
    for (int i = 0; i < l->n_ready; i++)
        if (l->ready[i].data.ptr == w)
            l->ready[i].data.ptr = NULL;
}

/* Timers: a binary heap; each timer knows its slot, so clearing is cheap. */
static void heap_put(struct loop *l, size_t i, struct loop_timer *t)
{
    l->heap[i] = t;
    t->slot = i + 1;
}

static void heap_up(struct loop *l, size_t i)
{
    struct loop_timer *t = l->heap[i];

    while (i > 0 && l->heap[(i - 1) / 2]->due_ns > t->due_ns) {
        heap_put(l, i, l->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    heap_put(l, i, t);
}

static void heap_down(struct loop *l, size_t i)
{
    struct loop_timer *t = l->heap[i];

    for (;;) {
        size_t c = 2 * i + 1;
        if (c >= l->n_heap)
            break;
        if (c + 1 < l->n_heap && l->heap[c + 1]->due_ns < l->heap[c]->due_ns)
            c++;
        if (l->heap[c]->due_ns >= t->due_ns)
            break;
        heap_put(l, i, l->heap[c]);
        i = c;
    }
    heap_put(l, i, t);
}

void loop_timer_clear(struct loop *l, struct loop_timer *t)
{
    if (t->magic != TIMER_MAGIC || t->slot == 0)
        return;
    size_t i = t->slot - 1;
    struct loop_timer *last = l->heap[--l->n_heap];
    t->slot = 0;
    if (last == t)
        return;
    heap_put(l, i, last);
    heap_up(l, i);
    heap_down(l, last->slot - 1);
}

void loop_timer_set_ns(struct loop *l, struct loop_timer *t, uint64_t due_ns,
                       loop_call_fn *call, void *arg)
{
    loop_timer_clear(l, t);
    *t = (struct loop_timer){TIMER_MAGIC, 0, due_ns, call, arg};
    if (l->n_heap == l->cap_heap) {
        size_t cap = l->cap_heap ? l->cap_heap * 2 : 64;
        struct loop_timer **heap = realloc(l->heap, cap * sizeof(struct loop_timer *));
        must(heap != NULL); /* 8 bytes a connection, whose own memory was there */
        l->heap = heap;
        l->cap_heap = cap;
    }
    heap_put(l, l->n_heap++, t);
    heap_up(l, l->n_heap - 1);
}

void loop_timer_set(struct loop *l, struct loop_timer *t, uint64_t in_ms,
                    loop_call_fn *call, void *arg)
{
    loop_timer_set_ns(l, t, l->now_ns + in_ms * 1000000U, call, arg);
}

static void run_timers(struct loop *l)
{
    while (l->n_heap > 0 && l->heap[0]->due_ns <= l->now_ns) {
        struct loop_timer *t = l->heap[0];
        must(t->magic == TIMER_MAGIC);
        loop_timer_clear(l, t);
        t->call(t->arg);
    }
}

void loop_hook(struct loop *l, loop_hook_fn *hook, void *arg)
{
    must(l->n_hooks < HOOKS);
    l->hooks[l->n_hooks].call = hook;
    l->hooks[l->n_hooks++].arg = arg;
}

static void enqueue(struct loop_job ***tail, struct loop_job *job, loop_call_fn *call,
                    void *arg)
{
    job->next = NULL;
    job->call = call;
    job->arg = arg;
    **tail = job;
    *tail = &job->next;
}

void loop_defer(struct loop *l, struct loop_job *job, loop_call_fn *call, void *arg)
{
    if (!atomic_exchange(&job->queued, true))
        enqueue(&l->deferred_tail, job, call, arg);
}

void loop_post(struct loop *l, struct loop_job *job, loop_call_fn *call, void *arg)
{
    uint64_t one = 1;

    (void)pthread_mutex_lock(&l->lock);
    if (!atomic_exchange(&job->queued, true))
        enqueue(&l->posted_tail, job, call, arg);
    (void)pthread_mutex_unlock(&l->lock);
    (void)!write(l->wake, &one, sizeof one);
}

static void run_jobs(struct loop_job *job)
{
    while (job) {
        struct loop_job *next = job->next; /* the call may free its job */
        atomic_store(&job->queued, false);
        job->call(job->arg);
        job = next;
    }
}

static void run_posted(struct loop *l)
{
    (void)pthread_mutex_lock(&l->lock);
    struct loop_job *jobs = l->posted;
    l->posted = NULL;
    l->posted_tail = &l->posted;
    (void)pthread_mutex_unlock(&l->lock);
    run_jobs(jobs);
}

static void run_deferred(struct loop *l)
{
    while (l->deferred) {
        struct loop_job *jobs = l->deferred;
        l->deferred = NULL;
        l->deferred_tail = &l->deferred;
        run_jobs(jobs);
    }
}

void loop_free(struct loop **lp)
{
    struct loop *l = *lp;

    if (!l)
        return;
    run_deferred(l); /* what was about to free itself */
    if (l->wake >= 0)
        (void)close(l->wake);
    if (l->epoll >= 0)
        (void)close(l->epoll);
    (void)pthread_mutex_destroy(&l->lock);
    free(l->heap);
    free(l);
    *lp = NULL;
}

static bool run_hooks(struct loop *l)
{
    bool busy = false;

    for (size_t i = 0; i < l->n_hooks; i++)
        busy |= l->hooks[i].call(l->hooks[i].arg);
    return busy;
}

static int wait_ms(const struct loop *l, bool busy)
{
    if (busy)
        return 0;
    if (l->n_heap == 0)
        return -1;
    uint64_t now = clock_mono_ns(), due = l->heap[0]->due_ns;
    if (due <= now)
        return 0;
    uint64_t ms = (due - now + 999999) / 1000000;
    return ms > 60000 ? 60000 : (int)ms;
}

void loop_run(struct loop *l)
{
    bool busy = false;

    while (!atomic_load_explicit(&l->stop, memory_order_relaxed)) {
        l->n_ready = epoll_wait(l->epoll, l->ready, BATCH, wait_ms(l, busy));
        must(l->n_ready >= 0 || errno == EINTR);
        l->now_ns = clock_mono_ns();
        for (int i = 0; i < l->n_ready; i++) {
            struct loop_watch *w = l->ready[i].data.ptr;
            if (!w)
                continue;
            must(w->magic == WATCH_MAGIC);
            w->ready(w->arg, l->ready[i].events);
        }
        l->n_ready = 0;
        run_timers(l);
        run_posted(l);
        do {
            run_deferred(l);
            busy = run_hooks(l);
        } while (l->deferred);
    }
}
