/* delta.c - see delta.h. */
#include "tape/delta.h"

#include "base/limits.h"
#include "base/must.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SAVED 64     /* bytes a delta must save, or the plain body is written */
#define REFERENCE_COST 40  /* {"at":0,"len":123456,"of":123}, as it stands in a line */
#define MOST_BYTES MIB(32) /* remembered by one cassette */

void delta_fini(struct delta *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->v[i].data);
    *d = (struct delta){0};
}

struct digest_xxh3 delta_scope(const char *method, const char *url)
{
    struct digest_xxh3 a = digest_xxh3(method, strlen(method));
    struct digest_xxh3 b = digest_xxh3(url, strcspn(url, "?"));
    uint64_t both[4] = {a.lo, a.hi, b.lo, b.hi};

    return digest_xxh3(both, sizeof both);
}

static uint64_t word_at(const char *p)
{
    uint64_t w;

    memcpy(&w, p, sizeof w);
    return w;
}

static size_t common_start(const char *a, const char *b, size_t most)
{
    size_t n = 0;

    while (most - n >= 8 && word_at(a + n) == word_at(b + n))
        n += 8;
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* a and b point behind their last bytes. */
static size_t common_end(const char *a, const char *b, size_t most)
{
    size_t n = 0;

    while (most - n >= 8 && word_at(a - n - 8) == word_at(b - n - 8))
        n += 8;
    while (n < most && a[-(ptrdiff_t)n - 1] == b[-(ptrdiff_t)n - 1])
        n++;
    return n;
}

static bool inside_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Cuts move to where a UTF-8 character starts, so that what is between them is text when
 * the body is. A character has at most three bytes after its first. */
static void settle_cuts(const char *body, size_t len, struct delta_match *m)
{
    for (int i = 0; i < 3 && m->prefix > 0 && m->prefix < len; i++)
        m->prefix -= inside_character(body[m->prefix]);
    for (int i = 0; i < 3 && m->suffix > 0; i++)
        m->suffix -= inside_character(body[len - m->suffix]);
    if (m->prefix <= REFERENCE_COST)
        m->prefix = 0;
    if (m->suffix <= REFERENCE_COST)
        m->suffix = 0;
}

static size_t saved(const struct delta_match *m)
{
    size_t cost = (m->prefix ? REFERENCE_COST : 0) + (m->suffix ? REFERENCE_COST : 0);

    return m->prefix + m->suffix - cost;
}

static bool same_scope(const struct delta_body *b, struct digest_xxh3 scope)
{
    return b->scope.lo == scope.lo && b->scope.hi == scope.hi;
}

struct delta_match delta_find(const struct delta *d, struct digest_xxh3 scope,
                              const char *body, size_t len)
{
    struct delta_match best = {0};
    size_t most = LEAST_SAVED - 1;

    for (size_t i = 0; i < d->n; i++) {
        const struct delta_body *b = &d->v[i];
        if (!same_scope(b, scope) || b->depth >= LIMIT_CHAIN)
            continue;
        size_t shorter = b->len < len ? b->len : len;
        struct delta_match m = {.with = b};
        m.prefix = common_start(b->data, body, shorter);
        m.suffix = common_end(b->data + b->len, body + len, shorter - m.prefix);
        settle_cuts(body, len, &m);
        if (saved(&m) > most) {
            most = saved(&m);
            best = m;
        }
    }
    return best;
}

static void drop(struct delta *d, size_t i)
{
    d->bytes -= d->v[i].len;
    free(d->v[i].data);
    d->v[i] = d->v[--d->n];
}

static size_t oldest(const struct delta *d)
{
    size_t at = 0;

    for (size_t i = 1; i < d->n; i++)
        if (d->v[i].used < d->v[at].used)
            at = i;
    return at;
}

void delta_keep(struct delta *d, struct digest_xxh3 scope, uint64_t of, uint32_t depth,
                const struct delta_match *m, const char *body, size_t len)
{
    if (len < LEAST_SAVED + REFERENCE_COST || len > MOST_BYTES)
        return;
    if (m->with) {
        size_t slot = (size_t)(m->with - d->v);
        must(slot < d->n);
        if (m->prefix == len && m->with->len == len) {
            d->v[slot].used = ++d->clock; /* the same body again: the chain stays short */
            return;
        }
        if (m->with->len - m->prefix - m->suffix <= m->with->len / 64)
            drop(d, slot); /* it lives on in the new body */
    }
    while (d->n > 0 && (d->n == DELTA_BODIES || d->bytes + len > MOST_BYTES))
        drop(d, oldest(d));
    char *copy = malloc(len);
    if (!copy)
        return;
    memcpy(copy, body, len);
    d->v[d->n++] = (struct delta_body){scope, of, ++d->clock, depth, copy, len};
    d->bytes += len;
}
