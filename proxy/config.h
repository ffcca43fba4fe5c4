/*
 * config.h - retape.json: what to ignore, scrub, route and allow.
 *
 * JSON with comments and trailing commas (docs/retape.schema.json). Unknown keys are
 * errors that name file, line, key and the nearest valid key.
 *
 * Owns:    config_load() hands out an immutable config; everything in it lives as long.
 * Threads: shared by all once loaded.
 */
#ifndef PROXY_CONFIG_H
#define PROXY_CONFIG_H

#include "tape/canon.h"
#include "tape/scrub.h"

#include <stddef.h>
#include <stdint.h>

/* A base-URL route on the proxy's own origin: "/openai" -> "https://api.openai.com". */
struct config_route {
    const char *prefix; /* starts with '/', no '/' at the end */
    const char *target; /* absolute URL without '/' at the end; may have a path */
};

/* A plain HTTP tool: requests to this host (and path prefix) are calls of `name`. */
struct config_tool {
    const char *host, *path; /* path may be NULL */
    const char *name;
};

struct config {
    const char *path; /* the file, or NULL when there was none */
    struct canon_rules *match;
    struct scrub *scrub;
    struct config_route *routes; /* built-in ones last */
    size_t n_routes;
    struct config_tool *tools;
    size_t n_tools;
    const char *const *llm_hosts;    /* NULL-terminated patterns; never NULL */
    const char *const *egress_allow; /* NULL: everything may be forwarded */
    const char *const *tunnel;       /* NULL-terminated; never NULL */
    size_t max_request_body, max_response_body;
};

/* path NULL: "retape.json" in the working folder if it exists, else the defaults. */
int config_load(struct config **out, const char *path, struct err *e) MUST_CHECK;
void config_free(struct config **c);

/* Every key the loader knows, one a line: "match.ignore", "tools[].name". The published
 * schema is checked against it. */
void config_known_keys(struct buf *out);

#endif
