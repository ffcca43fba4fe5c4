/* misses.c - see misses.h. */
#include "proxy/misses.h"

#include "base/json.h"
#include "base/limits.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kept {
    char session[65];
    uint64_t number;
    char *report;
};

struct misses {
    pthread_mutex_t lock;
    struct kept ring[LIMIT_MISS_KEPT];
    size_t n; /* ever put */
};

int misses_new(struct misses **out, struct err *e)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return err_set(e, ERR_NOMEM, "misses: out of memory");
    (void)pthread_mutex_init(&(*out)->lock, NULL);
    return 0;
}

void misses_free(struct misses **m)
{
    if (!*m)
        return;
    for (size_t i = 0; i < LIMIT_MISS_KEPT; i++)
        free((*m)->ring[i].report);
    (void)pthread_mutex_destroy(&(*m)->lock);
    free(*m);
    *m = NULL;
}

void misses_put(struct misses *m, const char *session, uint64_t number,
                const struct buf *report)
{
    char *copy = strdup(buf_cstr(report));

    if (!copy)
        return;
    (void)pthread_mutex_lock(&m->lock);
    struct kept *k = &m->ring[m->n++ % LIMIT_MISS_KEPT];
    free(k->report);
    (void)snprintf(k->session, sizeof k->session, "%s", session);
    k->number = number;
    k->report = copy;
    (void)pthread_mutex_unlock(&m->lock);
}

void misses_json(struct misses *m, const char *session, struct buf *out)
{
    bool first = true;

    buf_char(out, '[');
    (void)pthread_mutex_lock(&m->lock);
    size_t from = m->n > LIMIT_MISS_KEPT ? m->n - LIMIT_MISS_KEPT : 0;
    for (size_t i = from; i < m->n; i++) {
        const struct kept *k = &m->ring[i % LIMIT_MISS_KEPT];
        if (session && strcmp(session, k->session) != 0)
            continue;
        size_t len = strlen(k->report);
        while (len > 0 && k->report[len - 1] == '\n')
            len--;
        buf_fmt(out, "%s{\"miss\":%" PRIu64 ",\"report\":", first ? "" : ",", k->number);
        buf_add(out, k->report, len);
        buf_str(out, ",\"session\":");
        json_string(out, k->session, strlen(k->session));
        buf_char(out, '}');
        first = false;
    }
    (void)pthread_mutex_unlock(&m->lock);
    buf_char(out, ']');
}
