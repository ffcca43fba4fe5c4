/*
 * relay.h - a CONNECT passed through unread (--tunnel HOST): bytes both ways, nothing
 * recorded.
 *
 * Owns:    the client's socket from relay_start() on, and one reference of conn.
 * Threads: its worker's.
 */
#ifndef PROXY_RELAY_H
#define PROXY_RELAY_H

#include "proxy/conn.h"

/* Connect to conn->host:port, answer the CONNECT, then copy until both sides end. A
 * host that cannot be reached is answered 502. */
void relay_start(struct worker *w, int fd, struct conn *conn);

/* End all relays of a worker. */
void relay_end_all(struct worker *w);

#endif
