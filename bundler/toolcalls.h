/*
 * toolcalls.h - the tools a request speaks of: those it offers and those it reports calls
 * of, in the four model APIs, and those called through MCP.
 *
 * A conversation repeats its history: a call is told once, known by its id, or by its
 * place in the conversation where there are no ids.
 *
 * Owns:    toolcalls_new() hands out the memory of what was told already.
 * Threads: as its owner.
 */
#ifndef BUNDLER_TOOLCALLS_H
#define BUNDLER_TOOLCALLS_H

#include "base/err.h"

#include <stdbool.h>
#include <yyjson.h>

struct toolcalls;

int toolcalls_new(struct toolcalls **out, struct err *e) MUST_CHECK;
void toolcalls_free(struct toolcalls **t);

/* -1 ends the search. */
typedef int toolcalls_fn(void *arg, const char *name, bool called, struct err *e);

int toolcalls_find(struct toolcalls *t, yyjson_val *body, toolcalls_fn *fn, void *arg,
                   struct err *e) MUST_CHECK;

#endif
