/*
 * buf.h - a growing byte buffer with a ceiling and a sticky failure.
 *
 * Text is put together with a row of buf_* calls and checked once at the end:
 * a call that would pass the ceiling (or finds no memory) adds nothing and marks
 * the buffer; every later call does nothing; buf_check() turns the mark into an
 * error. Nothing is ever cut silently.
 *
 * Owns:    data, freed by buf_free(). buf_take() gives it away.
 * Threads: as its owner. data is NUL-terminated beyond len whenever not NULL.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data;
    size_t len;
    size_t cap;
    size_t max;  /* ceiling for len */
    bool failed; /* sticky: over the ceiling, or out of memory */
};

#define BUF_INIT(ceiling) ((struct buf){.max = (ceiling)})

void buf_free(struct buf *b);
void buf_reset(struct buf *b); /* keep the memory, forget bytes and failure */
char *buf_take(struct buf *b); /* malloc'ed NUL-terminated bytes, or NULL if failed */

void buf_add(struct buf *b, const void *data, size_t len);
void buf_str(struct buf *b, const char *s);
void buf_char(struct buf *b, char c);
void buf_fmt(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Room for n more bytes at the returned place; the caller writes and adds to len.
 * NULL when over the ceiling. */
char *buf_room(struct buf *b, size_t n);

/* Drop n bytes at the front (memmove). */
void buf_eat(struct buf *b, size_t n);

const char *buf_cstr(const struct buf *b); /* "" when empty */

/* 0, or -1 with ERR_LIMIT/ERR_NOMEM when any call since reset failed. */
int buf_check(const struct buf *b, const char *what, struct err *e) MUST_CHECK;

#endif
