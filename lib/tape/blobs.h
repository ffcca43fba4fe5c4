/*
 * blobs.h - the blobs of one cassette file, found by their SHA-256.
 *
 * The reader notes where each blob stands; the writer only asks whether it is there.
 *
 * Owns:    its tables, freed by blobs_fini(). A zeroed struct is an empty set.
 * Threads: as its owner; once filled, any number may look up. `verified` may be set by
 *          readers at the same time: it only ever goes from false to true.
 */
#ifndef TAPE_BLOBS_H
#define TAPE_BLOBS_H

#include "base/digest.h"
#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blob {
    uint8_t hash[DIGEST_SHA256];
    uint64_t at;   /* offset of the text between its quotes */
    uint64_t size; /* decoded bytes */
    bool text;     /* a JSON string of the bytes, else base64 */
    atomic_bool verified;
};

struct blobs {
    struct blob *v;
    size_t n, cap;
    uint32_t *slots; /* index + 1 into v; 0 is free */
    size_t n_slots;  /* a power of two */
    uint64_t mix[4]; /* random: a file cannot choose where its blobs collide */
};

void blobs_fini(struct blobs *b);
/* Room for `more` blobs, so that blobs_add() cannot fail. */
int blobs_reserve(struct blobs *b, size_t more, struct err *e) MUST_CHECK;
/* Add a blob that is not in the set yet, after blobs_reserve(). */
struct blob *blobs_add(struct blobs *b, const uint8_t hash[DIGEST_SHA256]);
/* The blob, or NULL. */
struct blob *blobs_find(const struct blobs *b, const uint8_t hash[DIGEST_SHA256]);

#endif
