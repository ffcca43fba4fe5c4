/*
 * scrub_edit.h - what is to be replaced in a text: collected first, applied once.
 *
 * Owns:    its list; scrub_edits_free() frees it.
 * Threads: as its owner. Memory failure is sticky and shows in scrub_edits_check().
 */
#ifndef TAPE_SCRUB_EDIT_H
#define TAPE_SCRUB_EDIT_H

#include "base/buf.h"
#include "tape/scrub.h"

struct scrub_edit {
    size_t at, len;
    const char *rule; /* its placeholder takes the place; NULL: the bytes just go */
};

struct scrub_edits {
    struct scrub_edit *v;
    size_t n, cap;
    size_t base; /* added to every `at` that comes in */
    bool failed;
};

void scrub_edits_free(struct scrub_edits *x);
void scrub_edits_add(struct scrub_edits *x, size_t at, size_t len, const char *rule);
/* In order and without overlap: what overlaps becomes one, under the first rule. */
void scrub_edits_settle(struct scrub_edits *x);
int scrub_edits_check(const struct scrub_edits *x, struct err *e) MUST_CHECK;

/* Append the edited text (settled edits); lengths of pieces follow. */
void scrub_edits_apply(const struct scrub_edits *x, const char *text, size_t len,
                       struct scrub_pieces *pieces, struct buf *out);

#endif
