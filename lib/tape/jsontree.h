/*
 * jsontree.h - a parsed body with a hash and a weight for every value in it.
 *
 * Hashes make equal subtrees cheap to see whatever the order of their members; weights
 * say how much of a body a value is. A long text weighs as many pieces (about a line
 * each), so that a few changed characters in a 200 KB prompt weigh little.
 *
 * Owns:    jsontree_read() and jsontree_lines() fill a tree; jsontree_fini() frees it.
 * Threads: as its owner. Hashes steer comparisons for people; nothing is served by them.
 */
#ifndef TAPE_JSONTREE_H
#define TAPE_JSONTREE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

struct jsontree {
    yyjson_doc *doc;
    yyjson_val *root;
    uint64_t *hash; /* by place in the document */
    uint32_t *weight;
};

/* ERR_FORMAT unless the text is strictly a JSON object or array. */
int jsontree_read(struct jsontree *t, const char *text, size_t len,
                  struct err *e) MUST_CHECK;
/* Any UTF-8 text as an array of its lines (without their LF); it must stay. */
int jsontree_lines(struct jsontree *t, const char *text, size_t len,
                   struct err *e) MUST_CHECK;
void jsontree_fini(struct jsontree *t);

uint64_t jsontree_hash(const struct jsontree *t, yyjson_val *val);
uint32_t jsontree_weight(const struct jsontree *t, yyjson_val *val);

/* How much two texts differ: pieces of the larger one that the other does not have. At
 * least 1 when they differ at all. */
uint32_t jsontree_text_distance(const char *a, size_t a_len, const char *b, size_t b_len);

/*
 * A small sorted set of hashes that stands for a body: its members, and the elements of
 * arrays among them (messages, tools, contents). Of more than `most` the smallest are
 * kept, the same ones for every body. Returns how many.
 */
#define JSONTREE_SKETCH 512
size_t jsontree_sketch(const struct jsontree *t, uint64_t out[JSONTREE_SKETCH]);
/* Shared hashes of two sketches, over the larger one's count: 0 .. 1. */
double jsontree_overlap(const uint64_t *a, size_t na, const uint64_t *b, size_t nb);

#endif
