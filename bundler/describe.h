/*
 * describe.h - the manifest of a bundle that is about to be made.
 *
 * Everything the format has a place for is filled in when it is known: from the plan,
 * the inputs and their digests, the run's own files, git and the machine. With
 * `reproducible`, what differs between machines stays out.
 *
 * Threads: main.
 */
#ifndef BUNDLER_DESCRIBE_H
#define BUNDLER_DESCRIBE_H

#include "bundler/manifest.h"
#include "bundler/source.h"

#define DESCRIBE_CONTRACT "5.4.0" /* assay_version: the contract this writes */

/* The surveyed source's manifest in *out and the run's id (malloc'ed) in *run_id:
 * the plan's, else what run.json says, else "latest". */
int describe(const struct bundle_plan *plan, const struct source *source,
             struct manifest **out, char **run_id, struct err *e) MUST_CHECK;

/* Can it be part of a file name? */
bool describe_run_id_ok(const char *id);

#endif
