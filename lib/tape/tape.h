/*
 * tape.h - reading a cassette: a mapped file and an index of its exchanges.
 *
 * Loading is one pass over the lines that checks them and keeps a small entry each;
 * bodies stay in the file and are decoded when played. Immutable once open.
 *
 * The size is taken at open, without a lock: a recorder may append to the same file
 * meanwhile (auto mode). Cutting the file short under a tape ends the reader (SIGBUS);
 * retape itself only cuts back what it appended.
 *
 * Owns:    tape_open() hands out a tape; entries and their strings live as long as it.
 * Threads: any number may read at once.
 * Errors:  ERR_FORMAT names the line; ERR_VERSION names the version; a torn last line
 *          is left out with *torn set.
 */
#ifndef TAPE_TAPE_H
#define TAPE_TAPE_H

#include "base/digest.h"
#include "tape/exchange.h"

#include <stdbool.h>
#include <stdint.h>

struct tape;

/* What the index knows of an exchange without decoding it again. */
struct tape_entry {
    uint64_t n;
    uint8_t key[DIGEST_SHA256];
    struct digest_xxh3 xxh3; /* of the request body */
    bool has_xxh3;
    uint8_t kind;    /* enum exchange_kind */
    uint8_t outcome; /* enum exchange_outcome */
    uint16_t status;
    uint32_t line;            /* line number in the file, from 1 */
    uint64_t at;              /* offset of the line */
    uint32_t len;             /* its length without LF */
    uint64_t req_len;         /* bytes of the request body */
    uint32_t res_at, res_end; /* the value of `response` in the line; 0: not known */
    uint32_t first_byte_ms, total_ms;
};

int tape_open(struct tape **out, const char *path, bool *torn, struct err *e) MUST_CHECK;
/* The same over memory the caller keeps for the tape's lifetime (a bundle's member). */
int tape_open_memory(struct tape **out, const char *name, const char *data, size_t len,
                     struct err *e) MUST_CHECK;
void tape_close(struct tape **t);

size_t tape_count(const struct tape *t);
const struct tape_entry *tape_entry(const struct tape *t, size_t i);
const char *tape_session(const struct tape *t);
const char *tape_name(const struct tape *t); /* path, for messages */

/* Decode one exchange whole. `x` is initialised by the call; the caller finis it. */
int tape_load(const struct tape *t, size_t i, struct exchange *x,
              struct err *e) MUST_CHECK;

/* What matching needs of an exchange: method, url, req_headers. No bodies. */
int tape_load_head(const struct tape *t, size_t i, struct exchange *x,
                   struct err *e) MUST_CHECK;

/* What playing it back needs: outcome, status, headers, body, chunks, error, timing.
 * Costs the response's length, however long the request was. */
int tape_load_response(const struct tape *t, size_t i, struct exchange *x,
                       struct err *e) MUST_CHECK;

/* Only the request body. */
int tape_load_request_body(const struct tape *t, size_t i, struct buf *out,
                           struct err *e) MUST_CHECK;

/* What a writer that goes on needs: the end of the last whole line, whether its LF is
 * missing, and the blobs and request bodies the file holds. */
struct tape_end {
    uint64_t at;
    bool no_lf;
};
struct body_store;
struct tape_end tape_end(const struct tape *t);
const struct body_store *tape_bodies(const struct tape *t);

#endif
