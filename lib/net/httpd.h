/*
 * httpd.h - the HTTP/1.1 server side of one worker, on libmicrohttpd.
 *
 * Sockets come from outside (a client's TCP socket, or one end of a socketpair that
 * carries decrypted TLS); httpd reads requests from them and hands each, whole, to one
 * function. The answer may come at once or later, as a buffer or as a stream that is
 * pulled when the client has room.
 *
 * Owns:    an httpd closes every socket given to it. A request lives from on_request
 *          to on_done; headers and body are borrowed from it for that time.
 * Threads: the loop's thread only.
 * Errors:  broken requests are answered here (400, 413, 431, ...) and never seen above.
 */
#ifndef NET_HTTPD_H
#define NET_HTTPD_H

#include "base/buf.h"
#include "base/headers.h"
#include "net/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct httpd;
struct httpd_conn;
struct http_request;

struct httpd_events {
    /* A whole request is here: answer now, or any time before on_done. */
    void (*on_request)(void *conn, struct http_request *r);
    /* The request is over; complete is false when the client did not get it all.
     * Not called for requests on_request never saw. */
    void (*on_done)(struct http_request *r, bool complete);
    /* The client closed its side while its request is being worked on. True: give the
     * request up (on_done follows); false: go on, it may still be listening. */
    bool (*on_hangup)(struct http_request *r);
    /* The socket is closed; conn may be freed after this. */
    void (*on_closed)(void *conn);
};

int httpd_new(struct httpd **out, struct loop *l, const struct httpd_events *events,
              size_t max_body, struct err *e) MUST_CHECK;
void httpd_free(struct httpd **h);

/* Serve a socket. On failure the socket is closed all the same. tcp: a client's own
 * socket (httpd watches it for hang-ups); otherwise the other end of a pair. */
int httpd_add(struct httpd *h, int fd, bool tcp, void *conn, struct httpd_conn **out,
              struct err *e) MUST_CHECK;
/* For pairs: the client behind the other end will send no more / is gone. */
void httpd_finish(struct httpd_conn *c);
void httpd_hangup(struct httpd_conn *c);
size_t httpd_connections(const struct httpd *h);
/* Bytes were written into a pair: serve them in this turn. */
void httpd_poke(struct httpd *h);

/* The request. */
const char *http_method(const struct http_request *r);
const char *http_target(const struct http_request *r); /* as sent, undecoded */
const struct headers *http_headers(const struct http_request *r);
const struct buf *http_body(const struct http_request *r);
bool http_has_body(const struct http_request *r); /* Content-Length or chunked given */
void http_set_user(struct http_request *r, void *user);
void *http_user(const struct http_request *r);

/* Answer with a whole body. Hop-by-hop fields, Content-Length and empty names are left
 * out of the headers given; framing is httpd's. `release` (may be NULL: the bytes live
 * long enough) is called once they have been sent or given up. */
struct http_reply {
    int status;
    const struct headers *headers; /* may be NULL */
    const char *body;
    size_t len;
    void (*release)(void *arg);
    void *release_arg;
    bool close; /* end the connection after this */
};
void http_reply(struct http_request *r, const struct http_reply *reply);

/* An answer made once and given many times. Answering with it must happen inside
 * on_request. The body is copied. */
struct http_canned;
struct http_canned *http_canned_new(const struct http_reply *reply); /* or NULL */
void http_canned_free(struct http_canned **c);
void http_reply_canned(struct http_request *r, const struct http_canned *c);

/* Answer with a stream. The source is asked when the client has room: it copies at
 * most max bytes (one call is one chunk on the wire) or says why not. After
 * HTTP_WAIT nothing is asked until http_wake(). */
#define HTTP_WAIT 0
#define HTTP_END (-1)
#define HTTP_CUT (-2) /* break off: the client must notice */
typedef ssize_t http_source_fn(void *arg, char *to, size_t max);
struct http_stream {
    int status;
    const struct headers *headers;
    int64_t length; /* declared Content-Length, or -1: chunked */
    http_source_fn *source;
    void *arg; /* must live until on_done */
};
void http_stream(struct http_request *r, const struct http_stream *s);
void http_wake(struct http_request *r);
bool http_is_answered(const struct http_request *r);

const char *httpd_library_version(void);

#endif
