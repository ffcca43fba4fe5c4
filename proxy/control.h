/*
 * control.h - the proxy's own pages: health, sessions, exchanges, misses, metrics, CA.
 *
 * Read-only. For loopback or token holders, and only under our own name, so that a web
 * page in the user's browser cannot read them through a rebound host name.
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
    bool trusted;        /* asked under our own name, or with the token */
};

struct control_answer {
    int status;
    const char *type;  /* Content-Type */
    const char *allow; /* for 405, else NULL */
    struct buf body;
};

void control_serve(const struct control_request *r, struct control_answer *a);

#endif
