/* conn.c - see conn.h. */
#include "proxy/conn.h"

#include "base/must.h"
#include "proxy/shared.h"
#include "proxy/worker.h"

#include <stdlib.h>

#define CONN_MAGIC 0x636c6e74u

struct conn *conn_new(struct worker *w)
{
    struct conn *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->magic = CONN_MAGIC;
    c->refs = 1;
    c->worker = w;
    (void)atomic_fetch_add(&w->shared->conns, 1);
    return c;
}

struct conn *conn_check(void *p)
{
    struct conn *c = p;

    must(c && c->magic == CONN_MAGIC);
    return c;
}

void conn_hold(struct conn *c)
{
    c->refs++;
}

void conn_release(struct conn *c)
{
    must(c->magic == CONN_MAGIC && c->refs > 0);
    if (--c->refs > 0)
        return;
    (void)atomic_fetch_sub(&c->worker->shared->conns, 1);
    c->magic = 0;
    free(c);
}
