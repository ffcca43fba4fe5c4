/*
 * shared.h - what all workers look at: settings, sessions, the authority, counters.
 *
 * Filled by run.c before the first worker starts; from then on read-only, but for the
 * counters (atomic) and the modules that guard themselves (sessions, mint).
 */
#ifndef PROXY_SHARED_H
#define PROXY_SHARED_H

#include "proxy/conn.h"
#include "proxy/options.h"

#include <stdatomic.h>

struct sessions;
struct tls;
struct ca;
struct misses;
struct mint;

struct shared {
    const struct options *options;
    const struct config *config;
    struct sessions *sessions;
    struct tls *tls;
    struct mint *mint;
    struct misses *misses;
    const struct ca *ca;
    struct own_address own; /* where we listen */
    size_t max_conns;       /* clients admitted at once, by the descriptor limit */
    uint64_t start_ns;
    atomic_size_t conns;
    atomic_uint_fast64_t requests;  /* all requests, ours too */
    atomic_uint_fast64_t tunnelled; /* connections passed through unread */
    atomic_uint_fast64_t live;      /* requests a live replay forwarded */
    atomic_uint_fast64_t blocked;   /* requests refused by egress rules */
};

#endif
