/*
 * control.h - the proxy's own pages: health, sessions, exchanges, misses, metrics, CA.
 *
 * Read-only. For loopback or token holders; flow.c lets nobody through who asks under
 * a foreign name.
 *
 * Threads: any.
 */
#ifndef PROXY_CONTROL_H
#define PROXY_CONTROL_H

#include "base/buf.h"
#include "proxy/shared.h"

struct control_request {
    const struct shared *shared;
    const char *method;
    const char *path;    /* with query */
    const char *session; /* named by header or prefix, or "" */
};

struct control_answer {
    int status;
    const char *type;  /* Content-Type */
    const char *allow; /* for 405, else NULL */
    struct buf body;
};

void control_serve(const struct control_request *r, struct control_answer *a);

#endif
