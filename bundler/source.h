/*
 * source.h - which run a bundle is made from, and which of its files go in.
 *
 * The root is what --from names, else the folder of --run-id, else that of the newest
 * run.json below the working folder, else the working folder itself. In it, files are
 * looked for where Assay and retape leave them; a flag replaces the search for its file.
 *
 * Owns:    source_fini() frees all.
 * Threads: main.
 */
#ifndef BUNDLER_SOURCE_H
#define BUNDLER_SOURCE_H

#include "bundler/create.h"
#include "bundler/inputs.h"

/* What an input is to the run, beside being a file. */
enum source_role {
    SOURCE_RUN,
    SOURCE_SUMMARY,
    SOURCE_JUNIT,
    SOURCE_SARIF,
    SOURCE_CONFIG,
    SOURCE_TRACE,
    SOURCE_POLICY,
    SOURCE_BASELINE,
    SOURCE_ROLES
};

struct source {
    char *root;         /* as selected, for opening files */
    const char *method; /* "explicit-from", ... */
    char *run_json;     /* --from named this file; NULL otherwise */
    struct inputs inputs;
    char *dest[SOURCE_ROLES]; /* in the bundle; NULL: there is none */
};

/* `out` is overwritten; fini it in any case. */
int source_collect(struct source *out, const struct bundle_plan *plan,
                   struct err *e) MUST_CHECK;
void source_fini(struct source *s);

/* The root for the manifest: relative to the working folder, or its own name when it
 * lies elsewhere; absolute only when asked for. malloc'ed. */
int source_label(const struct source *s, bool absolute, char **out,
                 struct err *e) MUST_CHECK;

/* The input of that role, or NULL. */
const struct input *source_input(const struct source *s, enum source_role role);

#endif
