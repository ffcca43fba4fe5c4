/*
 * body.h - bodies as a cassette stores them: pieces that join to the exact bytes.
 *
 * A body stands in its line as {"text":...}, {"base64":...} or {"parts":[...]}; read, it
 * becomes a list of pieces that point into the file. Nothing is decoded until somebody
 * asks for bytes. A piece may be a range of the request body of an earlier exchange, so
 * joining walks back through them, with a stack of its own and bounded work: a hostile
 * file that doubles itself line by line is refused, not expanded.
 *
 * Owns:    a body_store its tables, freed by body_store_fini(); the file stays the
 *          caller's and must outlive it.
 * Threads: filled by one; then any number may read at once.
 */
#ifndef TAPE_BODY_H
#define TAPE_BODY_H

#include "base/json.h"
#include "base/limits.h"
#include "tape/blobs.h"

#include <stdint.h>

#define BODY_INLINE KIB(16) /* from here on bytes get a blob line of their own */

enum body_kind { PIECE_TEXT, PIECE_BASE64, PIECE_BLOB, PIECE_OF };

struct body_piece {
    uint64_t at;  /* text, base64: offset in the file; of: offset in that body */
    uint64_t len; /* decoded bytes */
    uint32_t ref; /* blob: index in blobs; of: index of the exchange */
    uint8_t kind; /* enum body_kind */
};

struct body_list {
    struct body_piece *v;
    size_t n, cap;
};

/* The request body of one exchange. */
struct body_own {
    uint64_t n;   /* number of the exchange */
    uint64_t len; /* decoded bytes */
    size_t first; /* of its pieces */
    uint32_t count;
    uint32_t depth; /* how many bodies build on one another below it */
};

struct body_store {
    const char *data; /* the file */
    size_t len;
    struct blobs blobs;
    struct body_list pieces; /* of all request bodies, one after the other */
    struct body_own *own;    /* by increasing n */
    size_t n_own, cap_own;
};

void body_store_fini(struct body_store *s);

/* Where a parsed line stands: `text` is a copy of it that yyjson unescaped in place, so
 * a string's address tells its offset in the file. */
struct body_line {
    const char *text;
    uint64_t at;
};

/* What a body value is made of; pieces are appended to the list. */
struct body_shape {
    uint64_t len;
    uint32_t depth;
};
int body_parse(const struct body_store *s, const struct body_line *line, yyjson_val *val,
               struct body_list *list, struct body_shape *shape,
               struct err *e) MUST_CHECK;

/* Note the request body of the next exchange; val may be null. */
int body_store_add(struct body_store *s, const struct body_line *line, uint64_t n,
                   yyjson_val *val, struct err *e) MUST_CHECK;
/* Note a blob line; `content` is its string. */
int body_store_blob(struct body_store *s, const struct body_line *line,
                    const uint8_t hash[DIGEST_SHA256], uint64_t size, bool text,
                    yyjson_val *content, struct err *e) MUST_CHECK;

/* Append the bytes of these pieces. */
int body_join(const struct body_store *s, const struct body_piece *v, size_t n,
              struct buf *out, struct err *e) MUST_CHECK;
/* The same for the request body of exchange number i (an index, not its n). */
int body_join_own(const struct body_store *s, size_t i, struct buf *out,
                  struct err *e) MUST_CHECK;

/* "sha256:<64 hex digits>" */
bool body_hash_parse(yyjson_val *val, uint8_t out[DIGEST_SHA256]);

/* Bytes that are stored as a JSON string: UTF-8 that is not mostly control characters. */
bool body_is_text(const char *data, size_t len);
/* Write `"text":"..."` or `"base64":"..."`. */
void body_put(struct buf *out, bool text, const char *data, size_t len);

#endif
