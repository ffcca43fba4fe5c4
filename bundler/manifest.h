/*
 * manifest.h - manifest.json of a bundle: read, checked and written.
 *
 * Key order, types and the rules of reading are in docs/FORMATS.md, "Bundles". Reading
 * is strict where the format is (a known key twice, a wrong type, a missing required key,
 * nesting, numbers out of range) and ignores keys it does not know. Writing is compact,
 * keys in the fixed order, maps sorted by bytes; unknown values are left out, never null.
 *
 * Owns:    every text is the manifest's; manifest_free() frees them. NULL is absent.
 * Threads: as its owner.
 * Errors:  manifest_read() leaves the machine code of what is wrong in *code.
 */
#ifndef BUNDLER_MANIFEST_H
#define BUNDLER_MANIFEST_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MANIFEST_SCHEMA 1

struct manifest_file {
    char *path;
    char *sha256; /* as it stands there: "sha256:<hex>" or bare */
    uint64_t size;
    uint32_t mode;
    char *content_type; /* or NULL */
};

struct manifest_pair {
    char *key;
    char *value; /* of env: JSON text; of tools and reasons: plain text */
};

struct manifest_list {
    char **v;
    size_t n;
};

struct manifest_outputs {
    bool present;
    char *run, *summary, *junit, *sarif;
};

struct manifest_toolchain {
    bool present;
    char *rustc, *cargo, *cargo_lock_hash; /* what Assay writes there */
    struct manifest_pair
        *tools; /* ours: retape and its libraries, in the order written */
    size_t n_tools;
    bool has_runner;
    char *os, *arch, *container_image_digest;
    bool has_ci, ci;
};

struct manifest_seeds {
    bool present;
    bool has_version;
    uint32_t version;
    char *order_seed, *judge_seed;
};

struct manifest_coverage {
    bool present;
    struct manifest_list complete, incomplete;
    struct manifest_pair *reasons; /* test id and why, sorted */
    size_t n_reasons;
};

struct manifest_scrub {
    bool present;
    bool has_include_prompts, include_prompts;
    bool has_scrub_cassettes, scrub_cassettes;
    char *name;
};

struct manifest {
    uint32_t schema_version;
    char *assay_version;
    char *created_at;
    char *source_run_path, *selection_method;
    char *git_sha;
    bool has_git_dirty, git_dirty;
    char *workflow_run_id;
    char *config_digest, *policy_digest, *baseline_digest, *trace_digest;
    char *trace_path;
    struct manifest_outputs outputs;
    struct manifest_toolchain toolchain;
    struct manifest_seeds seeds;
    struct manifest_coverage coverage;
    struct manifest_scrub scrub;
    bool has_files;
    struct manifest_file *files; /* sorted by path */
    size_t n_files;
    bool has_env;
    struct manifest_pair *env; /* sorted by key */
    size_t n_env;
    char *run_id; /* ours, written last: the run a bundle is named after */
};

int manifest_new(struct manifest **out, struct err *e) MUST_CHECK;
void manifest_free(struct manifest **m);

/* Parse; `depth` is the deepest nesting allowed (0: LIMIT_BUNDLE_DEPTH). On -1 *code
 * names what is wrong: E_MANIFEST_JSON, _DEPTH, _DUPLICATE_KEY, _TYPE, _NUMBER,
 * _MISSING_KEY, _VERSION. Whether listed paths can be members is not looked at. */
int manifest_read(struct manifest **out, const char *text, size_t len, size_t depth,
                  const char **code, struct err *e) MUST_CHECK;

/* Append the compact text. */
void manifest_write(const struct manifest *m, struct buf *out);

/* The listed file of that (normalised) path, or NULL. */
const struct manifest_file *manifest_find(const struct manifest *m, const char *path);

/* Building one that manifest_new() made; all copy. The list of files stays sorted, which
 * is cheapest when they come in order. */
int manifest_add_file(struct manifest *m, const char *path, const char *sha256,
                      uint64_t size, struct err *e) MUST_CHECK;
/* Set env[key] to this text; ERR_USAGE when it is set already. */
int manifest_add_env(struct manifest *m, const char *key, const char *value,
                     struct err *e) MUST_CHECK;
int manifest_add_tool(struct manifest *m, const char *name, const char *version,
                      struct err *e) MUST_CHECK;
int manifest_add_test(struct manifest_list *list, const char *id,
                      struct err *e) MUST_CHECK;
/* Why a test is incomplete; a reason it has already stays. */
int manifest_add_reason(struct manifest *m, const char *id, const char *why,
                        struct err *e) MUST_CHECK;
/* Replace a text of the manifest by a copy of this one (NULL: absent). */
int manifest_set(char **text, const char *value, struct err *e) MUST_CHECK;

/* "application/json" for "….json"; NULL when the ending says nothing. */
const char *manifest_content_type(const char *path);

#endif
