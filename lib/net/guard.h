/*
 * guard.h - strict HTTP/1.1 request framing, checked before a parser sees the bytes.
 *
 * libmicrohttpd forgives what a recording proxy must not: it would serve one request
 * where a stricter peer sees two. A guard follows the byte stream of one connection and
 * says how much of it may be passed on: a request head only once it is whole and clean,
 * body bytes as they come. Refused: Content-Length with Transfer-Encoding, differing or
 * malformed Content-Length, codings other than chunked, folded lines, blanks before the
 * colon, NUL and bare CR, bad chunk framing, heads over LIMIT_REQUEST_HEAD, too many
 * query arguments.
 *
 * Owns:    nothing. Threads: as its owner.
 */
#ifndef NET_GUARD_H
#define NET_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum guard_state {
    GUARD_HEAD,
    GUARD_BODY,  /* `left` bytes by Content-Length */
    GUARD_SIZE,  /* a chunk-size line */
    GUARD_CHUNK, /* `left` bytes of a chunk and its line end */
    GUARD_TRAILERS
};

struct guard {
    enum guard_state state;
    uint64_t left;
    size_t scanned; /* bytes of the waiting head or line already searched for its end */
};

struct guard_fault {
    int status;      /* 400, 414, 431, 501 */
    const char *why; /* static */
};

/*
 * Look at everything received and not passed on yet. Returns how many of those bytes
 * may be passed on now (0: wait for more), or -1 with *fault: answer and close.
 */
long guard_pass(struct guard *g, const char *data, size_t len, struct guard_fault *fault);

/* Check one whole head, request line to blank line. 0 or -1. *left is the body's
 * length, or UINT64_MAX for chunked. */
int guard_head(const char *head, size_t len, uint64_t *left, struct guard_fault *fault);

/* Is this a field name or method (a token, RFC 9110 5.6.2)? */
bool guard_is_token(const char *s, size_t len);

/* Length of the head at the front of data, blank line included; 0 while incomplete. */
size_t guard_head_length(const char *data, size_t len, size_t from);

#endif
