/*
 * headdiff.h - where two requests differ outside their bodies.
 *
 * Method, origin, path, query parameters and headers, as far as the rules let them count
 * in matching.
 *
 * Owns:    headdiff_compare() appends to a list the caller frees.
 * Threads: any.
 */
#ifndef TAPE_HEADDIFF_H
#define TAPE_HEADDIFF_H

#include "tape/miss.h"

/* 0 same .. 1 nothing in common. */
double headdiff_distance(const struct canon_request *a, const struct canon_request *b);

/* Append the differences between recorded a and asked b to *list: "@method" "@host"
 * "@path" "?name" "@header name". At most `most` in the list, the rest in *n_more. */
int headdiff_compare(const struct canon_rules *r, const struct canon_request *a,
                     const struct canon_request *b, struct miss_difference **list,
                     size_t *n, size_t most, size_t *n_more, struct err *e) MUST_CHECK;

#endif
