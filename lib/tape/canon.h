/*
 * canon.h - which requests are the same request.
 *
 * The one canonicaliser: recording, matching, the oracle and the exports all call
 * canon_key(), so what is recorded can always be found again. Input is the scrubbed
 * request with Content-Encoding undone; output is PRODUCT's key,
 * "sha256:" + hex over the canonical JSON of
 *   [method, scheme, host, port, path, [[name, value] sorted query], class,
 *    hex sha256 of the canonical body, [[header, value] of match.headers]].
 *
 * Bytes that are no UTF-8 (path, query, header values) stand as {"hex":"..."} instead of
 * a string. Nothing is guessed: only what the rules name is ignored, and the id of
 * JSON-RPC. Query and form: pairs.h; multipart: multipart.h; pointers: pointer.h.
 *
 * Owns:    canon_rules_new() hands out rules, immutable from then on.
 * Threads: any; rules are shared.
 */
#ifndef TAPE_CANON_H
#define TAPE_CANON_H

#include "base/digest.h"
#include "base/headers.h"
#include "base/url.h"

enum canon_class { CANON_RAW, CANON_JSON, CANON_FORM, CANON_MULTIPART };
const char *canon_class_name(enum canon_class c); /* "raw" "json" "form" "multipart" */

/* One `match.ignore` entry: a JSON pointer whose tokens may be `*` (any member or
 * element), limited to a host and/or a path prefix when those are not NULL. A host
 * may start with "*." (any deeper name). */
struct canon_ignore {
    const char *pointer;
    const char *host;
    const char *path;
};

struct canon_rules;
int canon_rules_new(struct canon_rules **out, struct err *e) MUST_CHECK; /* ignore none */
int canon_rules_ignore(struct canon_rules *r, const struct canon_ignore *rule,
                       struct err *e) MUST_CHECK;
int canon_rules_ignore_query(struct canon_rules *r, const char *name,
                             struct err *e) MUST_CHECK;
int canon_rules_match_header(struct canon_rules *r, const char *name,
                             struct err *e) MUST_CHECK;
void canon_rules_free(struct canon_rules **r);

/* A scrubbed request. Everything is borrowed for the call. */
struct canon_request {
    const char *method;
    const struct url *url;
    const struct headers *headers;
    const char *body;
    size_t body_len;
};

struct canon_result {
    char key[DIGEST_KEY_TEXT];
    enum canon_class body_class;
};

int canon_key(const struct canon_rules *r, const struct canon_request *req,
              struct canon_result *out, struct err *e) MUST_CHECK;

/*
 * A cheap fingerprint of the same request as sent: equal fingerprints imply equal keys
 * (not the other way round), so a byte-identical request is found without parsing.
 * Covers method, URL as sent, the values of match.headers, the Content-Type (it takes
 * part in the class) and `body`, the XXH3 of the scrubbed body.
 */
struct digest_xxh3 canon_fingerprint(const struct canon_rules *r, const char *method,
                                     const struct url *url, const struct headers *headers,
                                     struct digest_xxh3 body);

/* The canonical body alone, appended to out (what the sha256 in the key covers). */
enum canon_class canon_body(const struct canon_rules *r, const struct canon_request *req,
                            struct buf *out);

/* Does a host pattern ("api.x.y", "*.x.y") cover a host? */
bool canon_host_covers(const char *pattern, const char *host);

/* What the rules say, for those who explain or trust keys: do they change nothing, does
 * a query parameter not count, does a header count? */
bool canon_rules_is_default(const struct canon_rules *r);
bool canon_rules_ignores_query(const struct canon_rules *r, const char *name);
bool canon_rules_counts_header(const struct canon_rules *r, const char *name);

#endif
