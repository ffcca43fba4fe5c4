/*
 * line.h - the lines of a cassette: writing them, and checking them as they are read.
 *
 * docs/FORMATS.md in code. Writing is canonical JSON, keys in order. Reading checks
 * every key the format names, its type and its range, and ignores the others; bodies are
 * body.h's business. What is played back later is checked here as well: a header from a
 * file never carries a line break into a response.
 *
 * Owns:    a line_exchange borrows from its document.
 * Threads: any.
 * Errors:  ERR_FORMAT says which key; the caller adds file and line.
 */
#ifndef TAPE_LINE_H
#define TAPE_LINE_H

#include "base/json.h"
#include "tape/exchange.h"

#define LINE_FORMAT 1 /* the cassette format this build reads and writes */

/* ---- writing ---- */

void line_put_header(struct buf *out, const char *session);
/* name is "sha256:<hex>" of the bytes. */
void line_put_blob(struct buf *out, const char *name, const char *data, size_t len);
/* The bodies are given as JSON texts. */
void line_put_exchange(struct buf *out, const struct exchange *x, uint64_t n,
                       const struct buf *req_body, const struct buf *res_body);

/* A token of HTTP: what a header name and a method may look like. */
bool line_is_token(const char *name, size_t len);

/* ---- reading ---- */

enum line_kind { LINE_HEADER, LINE_BLOB, LINE_EXCHANGE };
int line_kind(yyjson_val *root, enum line_kind *out, struct err *e) MUST_CHECK;

struct line_header {
    yyjson_val *created_at, *producer, *session;
};
/* ERR_VERSION names a format that is not LINE_FORMAT. */
int line_read_header(struct line_header *out, yyjson_val *root, struct err *e) MUST_CHECK;

struct line_blob {
    yyjson_val *blob, *size, *content;
    uint8_t hash[DIGEST_SHA256];
    bool text; /* else base64 */
};
int line_read_blob(struct line_blob *out, yyjson_val *root, struct err *e) MUST_CHECK;

/* A checked exchange line. */
struct line_exchange {
    yyjson_val *exchange, *t, *dialect, *key_text, *kind_text, *outcome_text;
    yyjson_val *request, *method, *url, *req_headers, *req_body, *xxh3_text;
    yyjson_val *response; /* null: then the next four are NULL */
    yyjson_val *status, *res_headers, *res_body, *chunks;
    yyjson_val *error, *error_code, *error_message;
    yyjson_val *timing, *connect_ms, *first_byte_ms, *total_ms;
    yyjson_val *scrubbed;
    enum exchange_kind kind;
    enum exchange_outcome outcome;
    uint8_t key[DIGEST_SHA256];
    bool has_xxh3;
    struct digest_xxh3 xxh3;
    uint64_t chunk_bytes; /* sum of the chunks' lengths */
};
int line_read_exchange(struct line_exchange *out, yyjson_val *root,
                       struct err *e) MUST_CHECK;

/* The same for the value of `response` alone. */
int line_read_response(struct line_exchange *out, yyjson_val *response,
                       struct err *e) MUST_CHECK;

/* Copy status, chunks and response headers. */
int line_fill_response(const struct line_exchange *l, struct exchange *x,
                       struct err *e) MUST_CHECK;
/* Copy method, url and request headers. */
int line_fill_head(const struct line_exchange *l, struct exchange *x,
                   struct err *e) MUST_CHECK;
/* Copy all the rest but bodies and `scrubbed`, whose names the tape keeps. */
int line_fill_rest(const struct line_exchange *l, struct exchange *x,
                   struct err *e) MUST_CHECK;

#endif
