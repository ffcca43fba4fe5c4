/*
 * answer.h - how a verb answers: results on stdout, findings on stderr.
 *
 * Threads: main.
 */
#ifndef BUNDLER_ANSWER_H
#define BUNDLER_ANSWER_H

#include "base/buf.h"
#include "base/cli.h"
#include "bundler/findings.h"

/* --help of the verb. */
int answer_help(const struct cli_verb *verb, struct err *e) MUST_CHECK;

/* For people: the findings (may be NULL), then the text. Texts that come out of a bundle
 * cannot move the cursor: control characters are shown, not sent. */
int answer_text(const struct findings *findings, const struct buf *text,
                struct err *e) MUST_CHECK;

/* As they are: JSON, and our own words. */
int answer_bytes(const struct buf *bytes, struct err *e) MUST_CHECK;

/* Append text of others for people: on one line, and no longer than a line. */
void answer_quote(struct buf *out, const char *text);

#endif
