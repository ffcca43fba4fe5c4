/*
 * scrub.h - take credentials out of what is about to be stored or compared.
 *
 * Runs on the recorder's copy before the first byte reaches the disk, and in the same
 * way on every incoming request at replay: a rotated key still matches. Replacement is
 * by rule, never by value: "[secret:openai-key]". It is deterministic and idempotent,
 * keeps JSON valid, leaves protocol ids, signatures and base64 media alone, and never
 * leaves text that another scanner would take for a credential.
 *
 * Owns:    scrub_new() hands out rules, immutable from then on.
 * Threads: any; rules are shared.
 */
#ifndef TAPE_SCRUB_H
#define TAPE_SCRUB_H

#include "base/buf.h"
#include "base/headers.h"
#include "base/url.h"

#include <stdint.h>

struct scrub;
struct exchange;

/* User additions (retape.json `scrub`); NULL-terminated lists or NULL. */
struct scrub_config {
    const char *const *headers; /* header names */
    const char *const *fields;  /* JSON and form field names, compared without case */
    const char *const *query;   /* query parameter names */
    struct scrub_pattern {
        const char *name;
        const char *regex; /* POSIX extended */
    } const *patterns;     /* ends with a NULL name */
};

int scrub_new(struct scrub **out, const struct scrub_config *config,
              struct err *e) MUST_CHECK;
void scrub_free(struct scrub **s);

/* Where replacements are counted; a fixed table per rule set. Zero it first. */
struct scrub_counts;
int scrub_counts_new(struct scrub_counts **out, const struct scrub *s,
                     struct err *e) MUST_CHECK;
void scrub_counts_free(struct scrub_counts **c);
void scrub_counts_reset(struct scrub_counts *c);
/* Append what was counted to the exchange's `scrubbed` list. */
int scrub_counts_put(const struct scrub_counts *c, struct exchange *x,
                     struct err *e) MUST_CHECK;

enum scrub_side { SCRUB_REQUEST, SCRUB_RESPONSE };

/* All three may be given counts = NULL. */
int scrub_headers(const struct scrub *s, enum scrub_side side, struct headers *h,
                  struct scrub_counts *c, struct err *e) MUST_CHECK;
/* Credentials in the query (and in path segments, by pattern). */
int scrub_url(const struct scrub *s, struct url *u, struct scrub_counts *c,
              struct err *e) MUST_CHECK;

/* The pieces of a streamed body; lengths follow the text when it is replaced. A
 * piece boundary inside a credential moves to the end of its replacement. */
struct scrub_pieces {
    uint64_t *lens;
    size_t n;
};

/*
 * Scrub a body. Returns 1 when something was replaced and `out` holds the new body,
 * 0 when the body is clean (out is untouched: use the original bytes), -1 on error.
 * pieces may be NULL.
 */
int scrub_body(const struct scrub *s, enum scrub_side side, const char *content_type,
               const char *body, size_t len, struct scrub_pieces *pieces, struct buf *out,
               struct scrub_counts *c, struct err *e) MUST_CHECK;

/* Plain text (a log line, a miss report): patterns only. Same results as above. */
int scrub_text(const struct scrub *s, const char *text, size_t len, struct buf *out,
               struct scrub_counts *c, struct err *e) MUST_CHECK;

#endif
