/* leave.c - see leave.h. */
#include "net/leave.h"

#include "base/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define LEAVE_MS 1000
#define LEAVE_MOST MIB(4)

struct leaving {
    struct leave *owner;
    struct leaving *next, **link;
    struct loop_watch watch;
    struct loop_timer timer;
    struct loop_job free_job;
    size_t seen;
    int fd;
};

struct leave {
    struct loop *loop;
    struct leaving *all;
};

int leave_new(struct leave **out, struct loop *l, struct err *e)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return err_set(e, ERR_NOMEM, "out of memory");
    (*out)->loop = l;
    return 0;
}

static void free_leaving(void *arg)
{
    free(arg);
}

static void end(void *arg)
{
    struct leaving *s = arg;
    struct loop *loop = s->owner->loop;

    loop_unwatch(loop, &s->watch);
    loop_timer_clear(loop, &s->timer);
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    (void)close(s->fd);
    loop_defer(loop, &s->free_job, free_leaving, s);
}

void leave_free(struct leave **l)
{
    if (!*l)
        return;
    while ((*l)->all)
        end((*l)->all);
    free(*l);
    *l = NULL;
}

static void discard(void *arg, uint32_t events)
{
    struct leaving *s = arg;
    char sink[16384];
    ssize_t n;

    (void)events;
    while ((n = recv(s->fd, sink, sizeof sink, MSG_DONTWAIT)) > 0) {
        s->seen += (size_t)n;
        if (s->seen > LEAVE_MOST)
            break;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    end(s);
}

void leave_close(struct leave *l, int fd)
{
    struct leaving *s = calloc(1, sizeof *s);
    struct err e;

    (void)shutdown(fd, SHUT_WR);
    if (!s || loop_watch(l->loop, &s->watch, fd, EPOLLIN, discard, s, &e) < 0) {
        free(s);
        (void)close(fd);
        return;
    }
    s->owner = l;
    s->fd = fd;
    s->next = l->all;
    s->link = &l->all;
    if (s->next)
        s->next->link = &s->next;
    l->all = s;
    loop_timer_set(l->loop, &s->timer, LEAVE_MS, end, s);
}
