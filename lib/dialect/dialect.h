/*
 * dialect.h - which LLM API, tool protocol or plain HTTP an exchange speaks.
 *
 * Recognised by path and by the shape of the request, not by host: gateways rename
 * hosts, and OpenAI-compatible servers are everywhere.
 *
 * Threads: any; the table is constant.
 */
#ifndef DIALECT_DIALECT_H
#define DIALECT_DIALECT_H

#include "tape/exchange.h"

/* Fills x->kind and x->dialect from method, url, headers and request body. */
void dialect_classify(struct exchange *x);

/* The same from its parts. Returns the dialect's name, or NULL. */
const char *dialect_of(const char *method, const char *path, const char *body,
                       size_t body_len, enum exchange_kind *kind);

#endif
