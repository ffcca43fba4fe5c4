/*
 * flow_internal.h - what flow.c and flow_live.c share; nobody else includes it.
 *
 * flow.c has the table of steps and everything answered from here; flow_live.c has the
 * one step that goes out: forward, deliver while it comes, record.
 */
#ifndef PROXY_FLOW_INTERNAL_H
#define PROXY_FLOW_INTERNAL_H

#include "net/fetch.h"
#include "net/httpd.h"
#include "proxy/conn.h"
#include "proxy/session.h"
#include "proxy/target.h"
#include "proxy/worker.h"

#define FLOW_MAGIC 0x666c6f77u

enum flow_step {
    FLOW_ADMIT,
    FLOW_OWN,
    FLOW_PREPARE,
    FLOW_MATCH,
    FLOW_REPLAY,
    FLOW_MISS,
    FLOW_FETCH,
};
enum flow_next { FLOW_MORE, FLOW_WAIT };

struct replay;

struct flow {
    unsigned magic;
    uint64_t id;
    enum flow_step step;
    struct worker *w;
    struct conn *conn;
    struct http_request *r; /* NULL once it is done */
    struct session *session;
    struct gate_claim claim;
    struct target target;

    /* the request as it is stored and matched */
    int64_t t_ms;
    uint64_t start_ns;
    char *upstream_url;              /* as asked, credentials and all; NULL in replay */
    struct headers scrubbed_headers; /* when match.headers looks at them */
    struct buf decoded, scrubbed;
    const char *body;
    size_t body_len;
    struct digest_xxh3 body_xxh3; /* set when there is a deck to look it up in */
    struct scrub_counts *counts;

    /* a hit */
    size_t entry;
    enum deck_found found;
    struct replay *replay;

    /* a live exchange */
    struct fetch_call *call;
    int status;
    struct headers res_headers;
    struct buf raw; /* the response body as it comes */
    struct exchange_chunk *chunks;
    size_t n_chunks, cap_chunks;
    uint64_t first_ns;
    int64_t declared; /* the answer's Content-Length, or -1 */
    uint64_t given;   /* bytes of the answer given to the client */
    size_t sent;      /* of them, those still in raw */
    size_t piece, piece_sent;
    bool ended;     /* the upstream is done and the exchange recorded */
    bool cut;       /* it broke off: so must we */
    bool too_large; /* over limits.response_body: passed on, not recorded */
    bool broken;    /* out of memory for it: neither */
    struct loop_job deliver_job, free_job;
};

/* Answer with an error of ours. Always FLOW_WAIT. */
enum flow_next flow_refuse(struct flow *f, int status, const char *code,
                           const char *message);

/* Forward the request and record what comes back. */
enum flow_next flow_step_fetch(struct flow *f);
/* The client went away: stop fetching for it, record what there is. */
void flow_abandon(struct flow *f);

#endif
