/*
 * refusal.h - the one shape of every error answer that is ours.
 *
 * JSON that OpenAI and Anthropic clients both read:
 *   {"error":{"code":…,"message":…,"type":…},"type":"error"}
 *
 * Threads: any.
 */
#ifndef NET_REFUSAL_H
#define NET_REFUSAL_H

#include "base/buf.h"

/* The name that goes with a status of our own: 413 is E_BODY_TOO_LARGE. */
const char *refusal_code(int status);

/* Append the body. type NULL: "bad_request". */
void refusal_body(struct buf *out, const char *type, const char *code,
                  const char *message);

/* Append a whole HTTP/1.1 response that closes its connection, for the places that
 * answer before an HTTP server is there. extra: further header lines with CRLF, or "". */
void refusal_response(struct buf *out, int status, const char *extra,
                      const char *message);

#endif
