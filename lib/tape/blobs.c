/* blobs.c - see blobs.h. */
#include "tape/blobs.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BLOBS (UINT32_MAX / 4) /* what slots can name */

void blobs_fini(struct blobs *b)
{
    free(b->v);
    free(b->slots);
    *b = (struct blobs){0};
}

/* Where the search for a hash starts: a random linear form over its four words. */
static size_t home(const struct blobs *b, const uint8_t hash[DIGEST_SHA256])
{
    uint64_t word[4], sum = 0;

    memcpy(word, hash, sizeof word);
    for (int i = 0; i < 4; i++)
        sum += (word[i] ^ word[i] >> 32) * b->mix[i];
    return (size_t)(sum >> 32) & (b->n_slots - 1);
}

static uint32_t *slot_of(const struct blobs *b, const uint8_t hash[DIGEST_SHA256])
{
    size_t i = home(b, hash);

    while (b->slots[i] && memcmp(b->v[b->slots[i] - 1].hash, hash, DIGEST_SHA256) != 0)
        i = (i + 1) & (b->n_slots - 1);
    return &b->slots[i];
}

static int grow_slots(struct blobs *b, size_t want, struct err *e)
{
    size_t n = b->n_slots ? b->n_slots : 16;

    while (n < want * 2)
        n *= 2;
    if (n == b->n_slots)
        return 0;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots)
        return err_set(e, ERR_NOMEM, "blobs: out of memory");
    if (!b->slots) {
        clock_random(b->mix, sizeof b->mix);
        for (int i = 0; i < 4; i++)
            b->mix[i] |= 1;
    }
    free(b->slots);
    b->slots = slots;
    b->n_slots = n;
    for (size_t i = 0; i < b->n; i++)
        *slot_of(b, b->v[i].hash) = (uint32_t)i + 1;
    return 0;
}

int blobs_reserve(struct blobs *b, size_t more, struct err *e)
{
    size_t want = b->n + more;

    if (want > MOST_BLOBS)
        return err_set(e, ERR_LIMIT, "more than %zu blobs", (size_t)MOST_BLOBS);
    if (want > b->cap) {
        size_t cap = b->cap * 2 > want ? b->cap * 2 : want + 8;
        struct blob *v = realloc(b->v, cap * sizeof *v);
        if (!v)
            return err_set(e, ERR_NOMEM, "blobs: out of memory");
        b->v = v;
        b->cap = cap;
    }
    return grow_slots(b, want, e);
}

struct blob *blobs_add(struct blobs *b, const uint8_t hash[DIGEST_SHA256])
{
    must(b->n < b->cap && b->n + 1 < b->n_slots);
    uint32_t *slot = slot_of(b, hash);
    must(*slot == 0);
    struct blob *blob = &b->v[b->n++];
    *slot = (uint32_t)b->n;
    memset(blob, 0, sizeof *blob);
    memcpy(blob->hash, hash, DIGEST_SHA256);
    return blob;
}

struct blob *blobs_find(const struct blobs *b, const uint8_t hash[DIGEST_SHA256])
{
    if (b->n == 0)
        return NULL;
    uint32_t at = *slot_of(b, hash);
    return at ? &b->v[at - 1] : NULL;
}
