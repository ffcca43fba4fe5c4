/*
 * leave.h - close sockets so that the last bytes written to them arrive.
 *
 * Closing with unread input makes the kernel reset the connection and the peer lose
 * the answer. A lingering socket is shut for writing and read into the void until the
 * peer closes, a second passes or 4 MB have come.
 *
 * Owns:    the descriptors it is given; leave_free() closes those still waiting.
 * Threads: the loop's thread.
 */
#ifndef NET_LEAVE_H
#define NET_LEAVE_H

#include "net/loop.h"

struct leave;

int leave_new(struct leave **out, struct loop *l, struct err *e) MUST_CHECK;
void leave_free(struct leave **l);

/* The descriptor is not registered with any loop when called. */
void leave_close(struct leave *l, int fd);

#endif
