/*
 * listener.h - accepting clients and finding out what they speak.
 *
 * One port takes everything: TLS (a handshake's first byte), CONNECT (answered here,
 * then looked at again), and plain HTTP. The first request head is checked before it
 * is handed on. A client that says nothing is let go after LIMIT_FIRST_BYTE_MS; when
 * descriptors run short accepting stops until some are free again.
 *
 * Owns:    its listening socket and the sockets of clients not handed on yet.
 * Threads: its worker's.
 */
#ifndef PROXY_LISTENER_H
#define PROXY_LISTENER_H

#include "base/err.h"
#include "proxy/conn.h"

#include <stdbool.h>

struct listener;
struct worker;

/* A bound, listening, non-blocking socket for host:port (port 0 picks one; IPv6 in
 * brackets). bound gets the address it has. With `again` the port is shared with an
 * earlier socket of this process (SO_REUSEPORT). */
int listener_bind(const char *address, bool again, int *fd, struct own_address *bound,
                  struct err *e) MUST_CHECK;

int listener_new(struct listener **out, struct worker *w, int fd,
                 struct err *e) MUST_CHECK;
/* Stop accepting; clients already here go on. */
void listener_stop(struct listener *l);
void listener_free(struct listener **l);

#endif
