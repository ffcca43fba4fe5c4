/*
 * replay.h - playing a recorded exchange back to a client.
 *
 * Whole bodies go out at once; streams keep their recorded chunk boundaries and, with
 * --speed, their pace. A stream that was cut short is cut short at the same byte; an
 * upstream failure is answered as it was when it was recorded.
 *
 * Owns:    a playback frees itself when its request is done (replay_done()).
 * Threads: the worker's.
 */
#ifndef PROXY_REPLAY_H
#define PROXY_REPLAY_H

#include "net/httpd.h"
#include "proxy/worker.h"
#include "tape/tape.h"

struct replay;

/* Answer the request with entry i. asked: the request body, for JSON-RPC ids. */
int replay_start(struct replay **out, struct worker *w, struct http_request *r,
                 const struct tape *t, size_t i, double speed, struct err *e) MUST_CHECK;
void replay_done(struct replay **p);

/* How a failure of the upstream is told to the client, at recording and at replay. */
void replay_failure(struct http_request *r, enum err_code code, const char *message);

#endif
