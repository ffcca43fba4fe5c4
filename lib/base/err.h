/*
 * err.h - the error value every fallible function fills.
 *
 * A code to act on and a sentence to read. Functions return 0 or -1 and take the
 * error as their last parameter; whoever catches it on the way up may put the place
 * in front ("tape a1: line 7: ..."). Printed once, in main.
 *
 * The code decides three things, all in the table of err.c: the name users see
 * (E_...), the exit status of a program and the HTTP status of an answer.
 *
 * Threads: a struct err belongs to its caller. Messages carry no secrets, no bodies.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/must.h"

enum err_code {
    ERR_NONE,
    ERR_USAGE,   /* the command line or a request we were asked to make sense of */
    ERR_CONFIG,  /* retape.json, environment */
    ERR_FORMAT,  /* a file or message is not what its format says */
    ERR_VERSION, /* a format version this build does not read */
    ERR_LIMIT,   /* over a ceiling of limits.h */
    ERR_IO,      /* local files and descriptors */
    ERR_NOMEM,
    ERR_BUSY,    /* somebody else holds the lock */
    ERR_EXISTS,  /* would overwrite */
    ERR_MISS,    /* nothing recorded answers this */
    ERR_DENIED,  /* refused by policy */
    ERR_DNS,     /* upstream: name not resolved */
    ERR_CONNECT, /* upstream: refused or unreachable */
    ERR_TLS,     /* upstream: handshake or certificate */
    ERR_TIMEOUT, /* upstream: took too long */
    ERR_PEER,    /* upstream: broke off or broke the protocol */
    ERR_GONE,    /* the client went away */
    ERR_COUNT
};

struct err {
    enum err_code code;
    char msg[512];
};

/* Fill *e. Always -1, so a caller can write: return err_set(e, ...); */
int err_set(struct err *e, enum err_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Put a place in front of the reason and keep the code. Always -1. */
int err_in(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

const char *err_name(enum err_code code);    /* "E_CASSETTE_EXISTS"; never NULL */
int err_exit_status(enum err_code code);     /* 2 or 3, PRODUCT exit codes */
int err_http_status(enum err_code code);     /* 400 .. 504 */
enum err_code err_by_name(const char *name); /* ERR_NONE when unknown */

#endif
