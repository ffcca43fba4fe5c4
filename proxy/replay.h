/*
 * replay.h - playing a recorded exchange back to a client.
 *
 * Whole bodies go out at once; streams keep their recorded chunk boundaries and, with
 * --speed, their pace. A stream that was cut short is cut short at the same byte; an
 * upstream failure is answered as it was when it was recorded.
 *
 * With --repeat a recording may be played many times; a worker keeps the small ones it
 * played last as ready answers.
 *
 * Owns:    a playback lives until replay_done(), when its request is done.
 * Threads: the worker's.
 */
#ifndef PROXY_REPLAY_H
#define PROXY_REPLAY_H

#include "net/httpd.h"
#include "proxy/worker.h"
#include "tape/tape.h"

struct replay;
struct replay_shelf;

int replay_shelf_new(struct replay_shelf **out, struct err *e) MUST_CHECK;
void replay_shelf_free(struct replay_shelf **s);

/* Answer the request with entry i. *out is NULL when nothing is left to do. */
int replay_start(struct replay **out, struct worker *w, struct http_request *r,
                 const struct tape *t, size_t i, double speed, struct err *e) MUST_CHECK;
void replay_done(struct replay **p);

/* How a failure of the upstream is told to the client, at recording and at replay. */
void replay_failure(struct http_request *r, enum err_code code, const char *message);

#endif
