/*
 * target.h - what a request is for: an upstream URL, or a page of our own.
 *
 * Whatever the way in (CONNECT, absolute-form, direct TLS, base-URL routes), the answer
 * is the real upstream URL, so a recording made one way replays another way. A request
 * aimed at one of our own addresses or at retape.local is for us and never forwarded.
 *
 * Owns:    target_of() fills a struct target; target_fini() frees it.
 * Threads: any; a pure function.
 */
#ifndef PROXY_TARGET_H
#define PROXY_TARGET_H

#include "base/url.h"
#include "proxy/config.h"
#include "proxy/conn.h"

enum target_kind { TARGET_UPSTREAM, TARGET_OWN };

struct target {
    enum target_kind kind;
    struct url url;  /* TARGET_UPSTREAM */
    char *path;      /* TARGET_OWN: path and query, session prefix taken off */
    bool own_origin; /* came by our own origin: a route, or a page */
    bool named_us;   /* and the Host field is one of our names: a web page in the user's
                        browser cannot say so, even if its own name leads to us */
    bool keep_host;  /* the Host field is for the upstream; otherwise it is ours, or the
                        URL counts instead (RFC 9112 3.2.2) */
};

/* What target_of() looks at. */
struct target_request {
    const struct conn *conn;
    const struct own_address *own; /* where we listen */
    const struct config_route *routes;
    size_t n_routes;
    const char *line; /* request target as sent */
    const char *host; /* Host field, or NULL */
};

/* claim gets what a /s/ prefix says. -1 with ERR_FORMAT for a request that is for
 * nothing. */
int target_of(struct target *out, const struct target_request *r,
              struct gate_claim *claim, struct err *e) MUST_CHECK;
void target_fini(struct target *t);

/* Is host:port one of our own addresses or names? */
bool target_is_own(const struct own_address *own, const struct own_address *local,
                   const char *host, uint16_t port);

#endif
