/*
 * exhibit.h - one recorded exchange laid out: for people, or as a JSON value.
 *
 * Bodies are whole here, whatever pieces they are stored in; JSON is indented, event
 * streams and other text stand as they are.
 *
 * Threads: main.
 */
#ifndef PROXY_EXHIBIT_H
#define PROXY_EXHIBIT_H

#include "tape/exchange.h"

#include <yyjson.h>

/* Which parts of it; none means all. */
struct exhibit_parts {
    bool headers, body;
};

void exhibit_text(const struct exchange *x, struct exhibit_parts parts, struct buf *out);

/* The whole exchange, or what a line of a list says. Strings are copied. */
yyjson_mut_val *exhibit_json(yyjson_mut_doc *doc, const struct exchange *x);
yyjson_mut_val *exhibit_json_short(yyjson_mut_doc *doc, const struct exchange *x);

#endif
