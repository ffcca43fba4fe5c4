/*
 * scan_unwrap.h - credentials inside base64 and percent-encoding, and inside both.
 *
 * Base64 is taken in either alphabet, wherever twenty of its letters stand in a row, at
 * all four ways the letters can be grouped (something that is no base64 may stand right
 * before it), over line breaks and with JSON's escapes. What comes out is looked at only
 * where it is ASCII for a dozen bytes: credentials are, pictures are not. Percent-encoded
 * text is taken from one blank or quotation mark to the next. Two layers deep, so the
 * cost stays proportional to the text.
 *
 * Owns:    scan_unwrap_new() hands out the buffers; sizes are fixed by `most`.
 * Threads: as its owner.
 */
#ifndef BUNDLER_SCAN_UNWRAP_H
#define BUNDLER_SCAN_UNWRAP_H

#include "bundler/scan.h"
#include "tape/secrets.h"

struct scan_unwrap;

/* A find: [at, end) is the encoded text of it; `form` is the outer one. */
typedef void scan_unwrap_fn(void *arg, const char *rule, enum scan_form form, size_t at,
                            size_t end);

/* For texts of up to `most` bytes. */
int scan_unwrap_new(struct scan_unwrap **out, const struct secrets *rules, size_t most,
                    struct err *e) MUST_CHECK;
void scan_unwrap_free(struct scan_unwrap **u);

void scan_unwrap_look(struct scan_unwrap *u, const char *text, size_t len,
                      scan_unwrap_fn *fn, void *arg);

#endif
