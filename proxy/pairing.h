/*
 * pairing.h - which exchange of one cassette answers to which of another.
 *
 * Equal keys are paired in recorded order, whatever the order between different keys:
 * that is how replay looks at them. What is left is paired by method, host and path, so
 * that a changed request meets the one it was.
 *
 * Owns:    pairing_new() hands out a pairing over tapes it borrows; pairing_free().
 * Threads: main.
 */
#ifndef PROXY_PAIRING_H
#define PROXY_PAIRING_H

#include "tape/canon.h"
#include "tape/tape.h"

#define PAIRING_NONE SIZE_MAX

enum pairing_how {
    PAIR_SAME,    /* one request: equal keys */
    PAIR_CHANGED, /* one place, another request */
    PAIR_ONLY_A,
    PAIR_ONLY_B
};

struct pairing_row {
    enum pairing_how how;
    size_t a, b; /* indexes in the tapes, or PAIRING_NONE */
};

struct pairing {
    struct pairing_row *rows; /* in the order of a, what only b has in its place */
    size_t n;
    size_t moved; /* equal requests that are in another order in b */
};

/* Keys are those in the cassettes, or made again when the rules are not the defaults. */
int pairing_new(struct pairing **out, const struct tape *a, const struct tape *b,
                const struct canon_rules *r, struct err *e) MUST_CHECK;
void pairing_free(struct pairing **p);

#endif
