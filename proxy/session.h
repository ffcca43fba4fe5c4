/*
 * session.h - the runs one proxy serves: each has its cassette, its replay cursor and
 * its counts.
 *
 * A session is opened by its first request (the default one at start-up, so that a
 * command does not run in vain) and stays until the end. In `record` it has a cassette
 * to append to, in `replay` a tape and a deck, in `auto` both.
 *
 * Owns:    sessions_new() hands out the registry, which owns all sessions.
 * Threads: any; opening is serialised, counts are atomic.
 */
#ifndef PROXY_SESSION_H
#define PROXY_SESSION_H

#include "proxy/options.h"
#include "tape/cassette.h"
#include "tape/match.h"

#include <pthread.h>
#include <stdatomic.h>

struct session {
    char name[65];
    struct tape *tape;             /* replay, auto (NULL when there is no cassette yet) */
    struct deck *deck;             /* over the tape */
    struct cassette *cassette;     /* record, auto */
    atomic_uint_fast64_t miss;     /* requests without a recording, also without a tape */
    atomic_uint_fast64_t recorded; /* exchanges appended */
    atomic_uint_fast64_t failed;   /* exchanges that could not be stored */
    struct session *next;          /* in the order they came */
};

struct session_counts {
    uint64_t exact, normalised, miss, unused, recorded, failed;
};

struct sessions;
struct packed;

/* packed: cassettes are taken from this bundle; NULL: from --cassettes. */
int sessions_new(struct sessions **out, const struct options *o,
                 const struct packed *packed, struct err *e) MUST_CHECK;
/* Closes all cassettes; -1 with the first error (the others are logged). */
int sessions_close(struct sessions *s, struct err *e);
void sessions_free(struct sessions **s);

/* The session of that name, opened if need be. ERR_EXISTS, ERR_BUSY, ERR_FORMAT, ... */
int sessions_get(struct sessions *s, const char *name, struct session **out,
                 struct err *e) MUST_CHECK;
/* Count a request for a session that cannot be opened for want of a cassette; returns
 * how many there were. They belong to no session, but the run has missed something. */
uint64_t sessions_count_stray(struct sessions *s);
uint64_t sessions_strays(struct sessions *s);
/* All sessions so far, oldest first: start with NULL, ends with NULL. */
struct session *sessions_next(struct sessions *s, const struct session *after);

/* Is a host among those of the session's recordings? (--live) */
bool session_knows_host(const struct session *s, const char *host);

void session_counts(const struct session *s, struct session_counts *out);
/* fdatasync what was appended since the last call. */
void sessions_sync(struct sessions *s);

#endif
