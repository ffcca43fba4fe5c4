/*
 * facts.h - what run.json and summary.json say about a run.
 *
 * Both are read leniently: they may be Assay's or ours, of a finished run or of one that
 * never started, and what is missing or of another type is simply not known. The summary
 * adds to what the run says; it does not replace it.
 *
 * Owns:    every text is the struct's; facts_fini() frees them. NULL is not known.
 * Threads: as its owner. Texts are cut to what a person reads and are UTF-8, but may
 *          hold control characters.
 */
#ifndef BUNDLER_FACTS_H
#define BUNDLER_FACTS_H

#include "base/buf.h"

#include <stdint.h>

#define FACTS_FILE_MOST MIB(64) /* of one such file; larger ones are not looked into */

struct facts {
    bool known; /* one of the files could be read */
    char *run_id, *suite;
    bool has_exit, has_child, has_results;
    int64_t exit_code, child_exit_code;
    char *reason_code, *message, *next_step;
    uint64_t passed, failed, total;
    char *order_seed, *judge_seed;
    bool replay;
    char *replay_mode, *bundle_digest, *source_run_id;
    uint64_t warnings, sarif_omitted;
};

/* Take what the text of such a file says; text that is no JSON object says nothing.
 * ERR_NOMEM only. */
int facts_read(struct facts *f, const char *text, size_t len, struct err *e) MUST_CHECK;
void facts_fini(struct facts *f);

#endif
