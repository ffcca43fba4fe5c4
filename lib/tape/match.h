/*
 * match.h - the replay cursor of one session: recordings grouped by key, each played
 * once, equal keys in recorded order.
 *
 * A byte-identical request is found by fingerprint without parsing; any other by its
 * canonical key. Nothing fuzzy is ever served. A hit is `exact` when the recording that
 * is served has the asked method, URL and body bytes, else `normalised`.
 *
 * The keys in a cassette were made with the rules of the day it was recorded. With
 * default rules they are taken as they are (after a few were tried); with rules that
 * ignore or add something, and when a tried one is stale, deck_new() computes every key
 * again from the recordings: about 4 ms per MB of request bodies.
 *
 * Owns:    deck_new() hands out a deck over a tape and rules it borrows.
 * Threads: deck_take() from any thread, without a lock: groups are advanced atomically.
 */
#ifndef TAPE_MATCH_H
#define TAPE_MATCH_H

#include "tape/canon.h"
#include "tape/tape.h"

enum deck_repeat { REPEAT_NONE, REPEAT_LAST, REPEAT_CYCLE };
enum deck_found { FOUND_EXACT, FOUND_NORMALISED, FOUND_EXHAUSTED, FOUND_NEVER };

struct deck;
int deck_new(struct deck **out, const struct tape *t, const struct canon_rules *r,
             enum deck_repeat repeat, struct err *e) MUST_CHECK;
void deck_free(struct deck **d);

struct deck_counts {
    uint64_t exact, normalised, miss, unused;
};

/*
 * Find and consume the recording that answers a scrubbed request, whose body hashes to
 * `body`. On a hit *entry is its index in the tape. On FOUND_EXHAUSTED *entry is the
 * last recording of the group. -1 with *e only when the request could not be
 * canonicalised at all.
 */
int deck_take(struct deck *d, const struct canon_request *req, struct digest_xxh3 body,
              enum deck_found *found, size_t *entry, struct err *e) MUST_CHECK;

/* Was a request with exactly this body recorded? What is recorded is scrubbed, and
 * scrubbing twice changes nothing, so such a body need not be scrubbed again. */
bool deck_has_body(const struct deck *d, struct digest_xxh3 body);

void deck_counts(const struct deck *d, struct deck_counts *out);
bool deck_was_used(const struct deck *d, size_t entry);
const struct tape *deck_tape(const struct deck *d);
const struct canon_rules *deck_rules(const struct deck *d);

/* The recording played last (0 before the first): where a run has got to. */
size_t deck_last(const struct deck *d);
/* The group of a recording; equal numbers have equal keys. *recorded: its size. */
size_t deck_group(const struct deck *d, size_t entry, size_t *recorded);

#endif
