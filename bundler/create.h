/*
 * create.h - make a bundle from a run.
 *
 * The inputs are chosen (source.h), hashed and scanned on two threads; then the manifest
 * and the members go through the writer, and what it writes is verified by a second
 * thread while it is written to a temporary name beside the target. Only a bundle that
 * passes is given its name: after a failure, a full disk or a kill there is none.
 *
 * Owns:    bundle_made_fini() frees the outcome.
 * Threads: called from one; uses two more.
 * Errors:  -1 for what stopped the work; a bundle that was refused is `verdict` with
 *          errors, and 0.
 */
#ifndef BUNDLER_CREATE_H
#define BUNDLER_CREATE_H

#include "bundler/verify.h"

#include <stdbool.h>

/* What was asked for; NULL and false are the defaults. Lists end with NULL. */
struct bundle_plan {
    const char *from;   /* folder or run.json */
    const char *run_id; /* names the bundle */
    const char *output;
    const char *cassettes, *config, *trace, *policy, *baseline;
    const char *junit, *sarif, *summary, *run;
    const char *const *files; /* "SRC[=DEST]" */
    const char *const *env;   /* "K=V" */
    const char *created_at;   /* RFC 3339; NULL: SOURCE_DATE_EPOCH, else now */
    const char *assay_version;
    const char *rules; /* --rules FILE */
    bool reproducible, audit_paths, assay_strict, dry_run;
    void (*progress)(void *arg, const char *what, uint64_t done, uint64_t total);
    void *progress_arg;
};

struct bundle_made {
    char *path; /* where it is, or would be */
    char *run_id;
    bool written; /* false: dry run, or the verdict has errors */
    struct verdict verdict;
    struct buf manifest; /* its text */
};

int bundle_create(const struct bundle_plan *plan, struct bundle_made *out,
                  struct err *e) MUST_CHECK;
void bundle_made_fini(struct bundle_made *m);

#endif
