/*
 * delta.h - the last request bodies of a cassette, to write a new one as what is new.
 *
 * A chat repeats its history: the next body is the previous one with a piece put in
 * near its end. The writer remembers the last few bodies for each method and URL
 * (without its query) and finds the one with the longest common start and end. A body
 * that goes on from another takes its place, so parallel conversations each keep one.
 *
 * Owns:    copies of the bodies, freed by delta_fini(). Bounded in number and bytes. A
 *          zeroed struct is empty.
 * Threads: as its owner (the cassette's lock).
 */
#ifndef TAPE_DELTA_H
#define TAPE_DELTA_H

#include "base/digest.h"

#include <stddef.h>
#include <stdint.h>

#define DELTA_BODIES 8

struct delta_body {
    struct digest_xxh3 scope;
    uint64_t of;    /* number of the exchange */
    uint64_t used;  /* when, for the oldest to go */
    uint32_t depth; /* how many bodies it builds on */
    char *data;
    size_t len;
};

struct delta {
    struct delta_body v[DELTA_BODIES];
    size_t n, bytes;
    uint64_t clock;
};

/* A new body is `prefix` bytes of another from its start, bytes of its own, and the
 * other's last `suffix` bytes. */
struct delta_match {
    const struct delta_body *with; /* NULL: nothing worth it */
    size_t prefix, suffix;
};

void delta_fini(struct delta *d);

/* What bodies have in common when they go to the same place. */
struct digest_xxh3 delta_scope(const char *method, const char *url);

struct delta_match delta_find(const struct delta *d, struct digest_xxh3 scope,
                              const char *body, size_t len);

/* Remember the body of exchange `of`, which was written as `m` says. Memory that is not
 * there is no error: the next body is then written in full. */
void delta_keep(struct delta *d, struct digest_xxh3 scope, uint64_t of, uint32_t depth,
                const struct delta_match *m, const char *body, size_t len);

#endif
