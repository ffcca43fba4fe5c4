/*
 * fetch.h - the upstream side of one worker, on libcurl's multi interface.
 *
 * A call forwards one request and reports its response as it arrives: head, data, done.
 * Bytes are passed on as sent (no decoding, no redirects, no proxy environment); peers
 * are verified. A slow reader pauses the call.
 *
 * Owns:    fetch_start() hands out a call; it ends with on_done (then it is gone) or
 *          with fetch_cancel(). The request body is borrowed until then.
 * Threads: the loop's thread only. Names are resolved by libcurl's own threads.
 * Errors:  on_done gets ERR_DNS, ERR_CONNECT, ERR_TLS, ERR_TIMEOUT or ERR_PEER.
 */
#ifndef NET_FETCH_H
#define NET_FETCH_H

#include "base/headers.h"
#include "net/loop.h"

#include <stddef.h>
#include <stdint.h>

struct fetch;
struct fetch_call;

struct fetch_setup {
    const char *ca_file;           /* trusted certificates, PEM; must outlive the fetch */
    const char *const *connect_to; /* "HOST:PORT:ADDR:PORT", NULL-terminated, or NULL */
    const char *proxy;             /* upstream proxy URL, or NULL */
};

/* Before the first thread starts, and at the very end. */
int fetch_global_init(struct err *e) MUST_CHECK;
void fetch_global_fini(void);

int fetch_new(struct fetch **out, struct loop *l, const struct fetch_setup *setup,
              struct err *e) MUST_CHECK;
void fetch_free(struct fetch **f); /* cancels what is under way, without on_done */

struct fetch_request {
    const char *method;
    const char *url;
    const struct headers *headers; /* hop-by-hop and Content-Length are left out */
    const char *body;
    size_t body_len;
    bool has_body;
};

struct fetch_timing {
    uint32_t connect_ms, first_byte_ms, total_ms;
};

struct fetch_events {
    void (*on_head)(void *arg, int status, const struct headers *headers);
    void (*on_data)(void *arg, const char *data, size_t len);
    void (*on_done)(void *arg, const struct err *failure, const struct fetch_timing *t);
};

int fetch_start(struct fetch *f, const struct fetch_request *r,
                const struct fetch_events *events, void *arg, struct fetch_call **out,
                struct err *e) MUST_CHECK;
/* Stop delivering data / go on. on_data may be called once more after a pause. */
void fetch_pause(struct fetch_call *c);
void fetch_resume(struct fetch_call *c);
void fetch_cancel(struct fetch_call **c);

/* Only connect (for relays): on_connected gets a socket it owns, or the failure. The
 * call is gone afterwards; fetch_cancel() gives it up before. */
typedef void fetch_connected_fn(void *arg, int fd, const struct err *failure);
int fetch_connect(struct fetch *f, const char *host, uint16_t port,
                  fetch_connected_fn *on_connected, void *arg, struct fetch_call **out,
                  struct err *e) MUST_CHECK;

const char *fetch_library_version(void);

#endif
