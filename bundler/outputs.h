/*
 * outputs.h - run.json and summary.json: what a replay leaves for machines to read.
 *
 * The run output contract (docs/FORMATS.md): two-space JSON in a fixed key order, no
 * line end at the end, seeds as decimal strings or null, results absent rather than
 * zero.
 *
 * Threads: any. Files appear whole or not at all.
 */
#ifndef BUNDLER_OUTPUTS_H
#define BUNDLER_OUTPUTS_H

#include "base/buf.h"

#include <stdbool.h>

/* What an input run's run.json had and a replay passes on, as JSON texts; "" is absent.
 */
struct outputs_carried {
    char judge_metrics[1024];
    char sarif[256];
};
/* Read them out of a run.json; texts that do not fit are left out. */
void outputs_carry(const char *run_json, size_t len, struct outputs_carried *out);

struct outputs_run {
    const char *run_id;
    int exit_code;
    const char *reason_code; /* "" when all is well */
    const char *message;     /* NULL: none */
    const char *next_step;   /* NULL: none */
    const char *order_seed;  /* decimal text or NULL */
    bool has_child;          /* a command ran */
    int child_exit_code;
    const char *bundle_digest; /* "sha256:…" or NULL */
    const char *replay_mode;   /* "offline" or "live" */
    const char *source_run_id; /* or NULL */
    struct outputs_carried carried;
};

void outputs_run_json(const struct outputs_run *r, struct buf *out);
void outputs_summary_json(const struct outputs_run *r, struct buf *out);
/* The line that ends a replay on the console. */
void outputs_footer(const struct outputs_run *r, struct buf *out);

/* Write both files into a folder, which is made if need be. */
int outputs_write(const char *dir, const struct outputs_run *r, struct err *e) MUST_CHECK;

#endif
