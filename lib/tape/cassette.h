/*
 * cassette.h - writing a cassette: one append-only JSONL file per session.
 *
 * A header line, then blobs and finished exchanges as they happen (docs/FORMATS.md).
 * Lines are never rewritten. Opening for append cuts a torn last line left by a crash.
 * A request body that repeats an earlier one is stored as references to it, so a
 * conversation costs what is new in it.
 *
 * Owns:    cassette_open() hands out a handle and holds the file's lock;
 *          only cassette_close() frees it. cassette_append() copies.
 * Threads: cassette_append() and cassette_sync() from any thread (one lock inside);
 *          open and close from one.
 * Errors:  a failed append leaves the file as it was before it (ERR_IO: full disk),
 *          the handle stays usable. A second writer gets ERR_BUSY.
 */
#ifndef TAPE_CASSETTE_H
#define TAPE_CASSETTE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct cassette;
struct exchange;

enum cassette_open_how { CASSETTE_NEW, CASSETTE_APPEND, CASSETTE_OVERWRITE };

/* [A-Za-z0-9][A-Za-z0-9._-]{0,63} */
bool cassette_name_ok(const char *session);
/* malloc'ed "<dir>/<session>.jsonl". */
char *cassette_path(const char *dir, const char *session);

/* Makes dir when it does not exist. ERR_EXISTS with CASSETTE_NEW on an existing file.
 * *warned (may be NULL) is set when a torn last line was cut. With CASSETTE_OVERWRITE the
 * old file stays until the new one has its first exchange and then is replaced at once;
 * a run that records nothing leaves it as it was. */
int cassette_open(struct cassette **out, const char *dir, const char *session,
                  enum cassette_open_how how, bool *warned, struct err *e) MUST_CHECK;

/* Append an exchange; fills x->n with its number. One write per call. */
int cassette_append(struct cassette *c, struct exchange *x, struct err *e) MUST_CHECK;

/* Push appended lines to the disk (fdatasync), if there are new ones. */
int cassette_sync(struct cassette *c, struct err *e) MUST_CHECK;

/* Syncs and closes. A file this handle created and never appended to is removed. */
int cassette_close(struct cassette **c, struct err *e);

uint64_t cassette_count(const struct cassette *c); /* exchanges, with earlier ones */

#endif
