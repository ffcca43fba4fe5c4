/*
 * record.h - turning a finished upstream exchange into a line of a cassette.
 *
 * The recorder works on its own copy: Content-Encoding undone, credentials scrubbed,
 * classified, keyed, then appended. What the client gets is never touched.
 *
 * Owns:    nothing; everything is borrowed for the call.
 * Threads: any; appending locks the cassette.
 */
#ifndef PROXY_RECORD_H
#define PROXY_RECORD_H

#include "net/fetch.h"
#include "proxy/session.h"
#include "tape/exchange.h"

/* The request as it will be stored and matched. */
struct record_request {
    int64_t t_ms;
    const char *method;
    const struct url *url;         /* scrubbed */
    const struct headers *headers; /* as sent */
    const char *body;              /* decoded and scrubbed */
    size_t body_len;
    bool has_body;
    struct scrub_counts *counts; /* what scrubbing the request replaced so far */
};

/* The response as it came. */
struct record_response {
    int status; /* 0: none came */
    const struct headers *headers;
    const char *body; /* raw, as sent */
    size_t body_len;
    const struct exchange_chunk *chunks; /* over the raw bytes */
    size_t n_chunks;
    bool streamed; /* keep the chunks */
    struct fetch_timing timing;
};

/* failure NULL: complete. ERR_GONE or a failure after a head: aborted; else error. */
int record_exchange(const struct config *config, struct session *s,
                    const struct record_request *req, const struct record_response *res,
                    const struct err *failure, struct err *e) MUST_CHECK;

#endif
