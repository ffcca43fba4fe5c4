/*
 * mined.h - what a run's own output files tell the manifest.
 *
 * run.json and summary.json are Assay's or retape's. They are looked into as far as they
 * are understood: one that is no JSON still goes into the bundle, it just tells nothing.
 *
 * Owns:    texts of the run, freed by mined_fini().
 * Threads: any.
 */
#ifndef BUNDLER_MINED_H
#define BUNDLER_MINED_H

#include "bundler/manifest.h"

struct mined {
    char *run_id; /* as text, or NULL */
    char *policy_digest, *baseline_digest, *trace_digest;
};

/* Fill seeds and coverage of the manifest and *out from the files (either may be NULL).
 */
int mined_read(struct mined *out, struct manifest *m, const char *run_path,
               const char *summary_path, struct err *e) MUST_CHECK;
void mined_fini(struct mined *m);

/* No test of the coverage is complete without this: move them all, with that reason. */
int mined_block(struct manifest *m, const char *reason, struct err *e) MUST_CHECK;

#endif
