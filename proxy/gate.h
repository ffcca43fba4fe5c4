/*
 * gate.h - who is asking: the session and token a client names.
 *
 * Three ways to say it (PRODUCT 3.2): the user and password of the proxy URL (sent as
 * Proxy-Authorization: Basic), the headers X-Retape-Session and X-Retape-Token, and
 * the path prefix /s/<session>[:<token>]/ on the proxy's own origin.
 *
 * Threads: any. Tokens are compared in constant time and never logged.
 */
#ifndef PROXY_GATE_H
#define PROXY_GATE_H

#include "base/headers.h"

#include <stdbool.h>
#include <stddef.h>

#define GATE_NAME 65   /* a session name and its NUL */
#define GATE_TOKEN 257 /* a token and its NUL; longer ones are refused */

struct gate_claim {
    char session[GATE_NAME]; /* "" when none was named */
    char token[GATE_TOKEN];  /* "" when none was given */
    bool bad;                /* a name or token that cannot be one */
};

/* From a Proxy-Authorization value. NULL claims nothing. */
void gate_basic(const char *value, struct gate_claim *out);

/* From the value of X-Retape-Session / X-Retape-Token (either may be NULL); fills only
 * what the claim does not have yet. */
void gate_headers(const struct headers *h, struct gate_claim *claim);

/* From "/s/<session>[:<token>]/rest": returns the rest (starting with '/'), or `path`
 * itself when there is no such prefix. */
const char *gate_prefix(const char *path, struct gate_claim *claim);

/* expected NULL: everybody may. */
bool gate_token_ok(const struct gate_claim *claim, const char *expected);

#endif
