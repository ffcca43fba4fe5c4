/*
 * headers.h - an ordered list of header fields, as they stood on the wire.
 *
 * Order, case and repetition are kept: a recording is a record. Names compare
 * without case (RFC 9110 section 5.1).
 *
 * Owns:    its copies of names and values; headers_fini() frees them.
 * Threads: as its owner.
 */
#ifndef BASE_HEADERS_H
#define BASE_HEADERS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct header {
    char *name;
    char *value;
};

struct headers {
    struct header *v;
    size_t n;
    size_t cap;
};

void headers_fini(struct headers *h);
int headers_add(struct headers *h, const char *name, const char *value,
                struct err *e) MUST_CHECK;
int headers_add_n(struct headers *h, const char *name, size_t name_len, const char *value,
                  size_t value_len, struct err *e) MUST_CHECK;
int headers_copy(struct headers *to, const struct headers *from,
                 struct err *e) MUST_CHECK;
/* Replace the value of field i. */
int headers_set_value(struct headers *h, size_t i, const char *value,
                      struct err *e) MUST_CHECK;
const char *headers_find(const struct headers *h, const char *name); /* first, or NULL */
size_t headers_count(const struct headers *h, const char *name);
void headers_remove(struct headers *h, const char *name); /* every one of that name */

/* RFC 9110 section 7.6.1: fields that belong to one hop and are never recorded or
 * forwarded. Fields named by a Connection field are hop-by-hop too. */
bool headers_is_hop_by_hop(const char *name);
void headers_remove_hop_by_hop(struct headers *h);

/* True when a comma-separated field holds the token, without case. */
bool headers_has_token(const struct headers *h, const char *name, const char *token);

#endif
