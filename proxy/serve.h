/*
 * serve.h - the whole proxy, running: authority, sessions, workers on one address.
 *
 * Owns:    serve_start() hands out a running proxy; serve_stop() ends it and keeps the
 *          sessions for the summary; serve_free() frees them.
 * Threads: main only.
 */
#ifndef PROXY_SERVE_H
#define PROXY_SERVE_H

#include "proxy/shared.h"

struct serve;
struct packed;

/* Everything that can be wrong is found before the first client: cassettes, folders,
 * certificates, the address. */
int serve_start(struct serve **out, const struct options *o, const struct packed *packed,
                struct err *e) MUST_CHECK;
/* Let requests in flight finish, then close the cassettes. */
int serve_stop(struct serve *s, struct err *e);
void serve_free(struct serve **s);

const struct shared *serve_shared(const struct serve *s);
const char *serve_trust_file(const struct serve *s); /* merged bundle for children */

#endif
