/* test-loop.c - order of timers, deferred and posted calls, watches that go in a turn. */
#include "base/clock.h"
#include "net/loop.h"
#include "tap.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static struct loop *loop;
static char log_text[256];

static void note(const char *word)
{
    size_t n = strlen(log_text);

    (void)snprintf(log_text + n, sizeof log_text - n, "%s%s", n ? " " : "", word);
}

static void on_note(void *arg)
{
    note(arg);
}

static void on_stop(void *arg)
{
    (void)arg;
    loop_stop(loop);
}

static void start(void)
{
    struct err e = {0};

    log_text[0] = '\0';
    ok(loop_new(&loop, &e) == 0, "a loop");
}

static void check_timers(void)
{
    enum { N = 200 };
    static struct loop_timer timers[N], last;
    static char words[N][8];
    uint64_t at = clock_mono_ns();
    struct loop_timer moved = {0}, cleared = {0};

    start();
    loop_timer_set_ns(loop, &moved, at, on_note, (void *)"early");
    loop_timer_set_ns(loop, &cleared, at, on_note, (void *)"cleared");
    for (size_t i = 0; i < N; i++) { /* 0, 7, 14, ... scrambled; half are taken out */
        size_t due = i * 7 % N;
        (void)snprintf(words[i], sizeof words[i], "%zu", due);
        loop_timer_set_ns(loop, &timers[i], at + due, on_note, words[i]);
    }
    for (size_t i = 0; i < N; i++)
        if (i * 7 % N > 9)
            loop_timer_clear(loop, &timers[i]);
    loop_timer_clear(loop, &cleared);
    loop_timer_clear(loop, &cleared); /* again changes nothing */
    loop_timer_set_ns(loop, &moved, at + N, on_note, (void *)"late");
    loop_timer_set_ns(loop, &last, at + N + 1, on_stop, NULL);
    loop_run(loop);
    is(log_text, "0 1 2 3 4 5 6 7 8 9 late", "timers run in the order they are due");
    loop_free(&loop);
}

static struct loop_job first, second;

static void on_first(void *arg)
{
    note(arg);
    loop_defer(loop, &second, on_note, (void *)"second");
    loop_defer(loop, &first, on_note, (void *)"again");
    loop_defer(loop, &first, on_note, (void *)"ignored");
}

static bool hook(void *arg)
{
    note(arg);
    loop_stop(loop);
    return false;
}

static void check_deferred(void)
{
    struct loop_timer now = {0};

    start();
    loop_hook(loop, hook, (void *)"hook");
    loop_timer_set(loop, &now, 0, on_note, (void *)"timer");
    loop_defer(loop, &first, on_first, (void *)"first");
    loop_run(loop);
    is(log_text, "timer first second again hook",
       "timers, then what is deferred, what that defers, then hooks");
    loop_defer(loop, &first, on_note, (void *)"end");
    loop_free(&loop);
    is(log_text, "timer first second again hook end", "freeing runs what is deferred");
}

/* Two descriptors are ready in one turn; whoever comes first takes the other out. */
static struct loop_watch watches[2];
static int ends[2][2];

static void on_ready(void *arg, uint32_t events)
{
    struct loop_watch *mine = arg;
    struct loop_watch *other = &watches[mine == &watches[0]];

    (void)events;
    note("ready");
    loop_unwatch(loop, other);
    loop_unwatch(loop, mine);
    loop_unwatch(loop, mine); /* again changes nothing */
    loop_stop(loop);
}

static void check_unwatch(void)
{
    struct err e = {0};

    start();
    for (int i = 0; i < 2; i++) {
        ok(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]) == 0 &&
               write(ends[i][1], "x", 1) == 1 &&
               loop_watch(loop, &watches[i], ends[i][0], EPOLLIN, on_ready, &watches[i],
                          &e) == 0,
           "a watch");
    }
    loop_run(loop);
    is(log_text, "ready", "an event fetched for a watch that went is dropped");
    ok(loop_watch(loop, &watches[0], -1, EPOLLIN, on_ready, NULL, &e) == -1 &&
           watches[0].fd == -1,
       "a bad descriptor is refused");
    for (int i = 0; i < 2; i++) {
        (void)close(ends[i][0]);
        (void)close(ends[i][1]);
    }
    loop_free(&loop);
}

static void *post(void *arg)
{
    static struct loop_job job;

    loop_post(arg, &job, on_stop, NULL);
    return NULL;
}

static void check_post(void)
{
    pthread_t thread;

    start();
    ok(pthread_create(&thread, NULL, post, loop) == 0, "another thread");
    loop_run(loop); /* nothing but the post ends it */
    (void)pthread_join(thread, NULL);
    ok(true, "a posted call wakes a sleeping loop");
    loop_free(&loop);
}

int main(void)
{
    check_timers();
    check_deferred();
    check_unwatch();
    check_post();
    return tap_done();
}
