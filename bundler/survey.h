/*
 * survey.h - hash and scan all inputs before anything is written.
 *
 * The manifest stands first in a bundle and names the digest of everything behind it, so
 * the inputs are read twice. The first time is here, on several threads: hashing and
 * scanning one file are two jobs, so that a single large file keeps two of them busy.
 *
 * A cassette of another tool that holds credentials is marked to be scrubbed on its way
 * into the bundle; retape's own were scrubbed when they were recorded, and changing them
 * would break their digests, so there a credential is an error.
 *
 * Threads: called from one; its workers are gone when it returns.
 */
#ifndef BUNDLER_SURVEY_H
#define BUNDLER_SURVEY_H

#include "base/buf.h"
#include "bundler/inputs.h"
#include "bundler/verify.h"

struct survey_options {
    const struct scan_rules *rules;
    bool assay_strict;
    void (*progress)(void *arg, const char *what, uint64_t done, uint64_t total);
    void *progress_arg;
};

/* Fill in size, digest and scrub of every input, and add what the scan finds. */
int survey(struct inputs *in, const struct survey_options *options, struct findings *f,
           struct err *e) MUST_CHECK;

/* The text of an input that is to be scrubbed, without its credentials. */
int survey_scrubbed(const struct input *input, struct buf *out, struct err *e) MUST_CHECK;

#endif
