/*
 * scrub_json.h - the string literals of a JSON text, where they stand in its bytes.
 *
 * A tokeniser over the raw text, so that everything outside of a replaced string stays
 * byte for byte. It follows the structure (a string knows the key it stands under and
 * the path to it) and stops at the first thing that is not JSON; it does not check more
 * than that. A text that ends inside a string gives that string, marked torn.
 *
 * Also here: undoing the escapes of a string, and finding the raw place of a decoded one.
 *
 * Threads: as its owner; no allocation.
 */
#ifndef TAPE_SCRUB_JSON_H
#define TAPE_SCRUB_JSON_H

#include "base/buf.h"
#include "base/limits.h"

#include <stdint.h>

enum scrub_json_kind {
    JSON_END,    /* the document is over; `at` of the tokeniser is behind it */
    JSON_BAD,    /* not JSON from here on */
    JSON_OPEN,   /* an object or array begins */
    JSON_KEY,    /* a key; at and len are its raw text without the quotes */
    JSON_STRING, /* a string value, likewise */
    JSON_SCALAR, /* a number or word */
};

struct scrub_json_token {
    size_t at, len;
    bool escaped;           /* holds a backslash */
    bool torn;              /* the text ends before its closing quote */
    size_t key_at, key_len; /* the key this value stands under; key_len 0: none */
    bool key_escaped;
    uint64_t path; /* a hash of keys and indexes down to here */
    uint32_t object,
        parent; /* numbers of the enclosing (OPEN: new) object, and its parent */
};

struct scrub_json {
    const char *text;
    size_t len, at;
    bool fold_top; /* elements of a top-level array share their paths */
    int expect;
    unsigned depth;
    uint32_t n_objects;
    struct {
        bool array;
        uint64_t path;
        uint32_t index, object;
        size_t key_at, key_len;
        bool key_escaped;
    } level[LIMIT_JSON_DEPTH + 1];
};

/* Read the document that begins at text[at]; object numbers go on from `objects`. */
void scrub_json_start(struct scrub_json *j, const char *text, size_t len, size_t at,
                      bool fold_top, uint32_t objects);
enum scrub_json_kind scrub_json_next(struct scrub_json *j, struct scrub_json_token *t);

/* Skip blanks; does a JSON object or array seem to begin there? */
bool scrub_json_looks_like(const char *text, size_t len, size_t *at);

enum scrub_escapes { ESCAPES_JSON, ESCAPES_PERCENT };

/* Append the decoded text. */
void scrub_json_decode(enum scrub_escapes kind, const char *raw, size_t len,
                       struct buf *out);

/* Walks raw and decoded text side by side; places must not go down. */
struct scrub_json_places {
    enum scrub_escapes kind;
    const char *raw;
    size_t len;
    size_t raw_at, decoded_at;
};
/* The raw place of a decoded one: the unit it lies in (begin), or the end of the unit
 * before it (!begin), so that no escape is ever cut. */
size_t scrub_json_place(struct scrub_json_places *p, size_t decoded, bool begin);

#endif
