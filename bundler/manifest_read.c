/* manifest_read.c - see manifest.h: the strict reader, by tables of known keys. */
#include "base/json.h"
#include "base/limits.h"
#include "bundler/manifest.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MODE 0644

struct reading {
    const char *code; /* E_MANIFEST_… when refused */
    struct err *e;
};

enum kind { TEXT, FLAG, U32, U64, OTHER };

typedef int other_fn(struct reading *r, yyjson_val *val, void *into);

struct key {
    const char *name;
    enum kind kind;
    size_t at;  /* offset of the value */
    size_t has; /* FLAG, U32: offset of "is there", or NOWHERE */
    bool needed;
    other_fn *other; /* OTHER: takes the whole struct */
};
#define NOWHERE ((size_t)-1)
#define MOST_KEYS 24 /* in one table */

static int refuse(struct reading *r, const char *code, enum err_code class,
                  const char *name, const char *text)
{
    r->code = code;
    return err_set(r->e, class, "parse manifest.json: \"%s\" %s", name, text);
}

static int wrong_type(struct reading *r, const char *name, const char *want)
{
    return refuse(r, "E_MANIFEST_TYPE", ERR_FORMAT, name, want);
}

/* ---- values ---- */

static int read_text(struct reading *r, const char *name, yyjson_val *val, char **out)
{
    if (!yyjson_is_str(val))
        return wrong_type(r, name, "is not a string");
    if (strlen(yyjson_get_str(val)) != yyjson_get_len(val))
        return wrong_type(r, name, "holds a NUL character");
    return manifest_set(out, yyjson_get_str(val), r->e);
}

static int read_number(struct reading *r, const char *name, yyjson_val *val,
                       uint64_t most, uint64_t *out)
{
    if (!yyjson_is_num(val) && !yyjson_is_raw(val))
        return wrong_type(r, name, "is not a number");
    if (!yyjson_is_uint(val) || yyjson_get_uint(val) > most)
        return refuse(r, "E_MANIFEST_NUMBER", ERR_FORMAT, name,
                      "is not a whole number in range");
    *out = yyjson_get_uint(val);
    return 0;
}

static int read_value(struct reading *r, const struct key *k, yyjson_val *val, void *into)
{
    char *base = into;
    uint64_t number = 0;

    switch (k->kind) {
    case TEXT:
        return read_text(r, k->name, val, (char **)(void *)(base + k->at));
    case FLAG:
        if (!yyjson_is_bool(val))
            return wrong_type(r, k->name, "is not true or false");
        *(bool *)(base + k->at) = yyjson_get_bool(val);
        break;
    case U32:
        if (read_number(r, k->name, val, UINT32_MAX, &number) < 0)
            return -1;
        *(uint32_t *)(void *)(base + k->at) = (uint32_t)number;
        break;
    case U64:
        if (read_number(r, k->name, val, UINT64_MAX, &number) < 0)
            return -1;
        *(uint64_t *)(void *)(base + k->at) = number;
        break;
    case OTHER:
        return k->other(r, val, into);
    }
    if (k->has != NOWHERE)
        *(bool *)(base + k->has) = true;
    return 0;
}

static const struct key *find_key(const struct key *keys, yyjson_val *name)
{
    for (; keys->name; keys++)
        if (yyjson_equals_str(name, keys->name))
            return keys;
    return NULL;
}

/* Read the known keys of an object; null is absent, other keys are ignored. */
static int read_object(struct reading *r, const char *name, yyjson_val *obj,
                       const struct key *keys, void *into)
{
    bool seen[MOST_KEYS] = {false}, filled[MOST_KEYS] = {false};
    yyjson_obj_iter it = yyjson_obj_iter_with(obj);
    yyjson_val *at;

    if (!yyjson_is_obj(obj))
        return wrong_type(r, name, "is not an object");
    while ((at = yyjson_obj_iter_next(&it))) {
        const struct key *k = find_key(keys, at);
        yyjson_val *val = yyjson_obj_iter_get_val(at);
        if (!k)
            continue;
        must(k - keys < MOST_KEYS);
        if (seen[k - keys])
            return refuse(r, "E_MANIFEST_DUPLICATE_KEY", ERR_FORMAT, k->name,
                          "stands there twice");
        seen[k - keys] = true;
        if (yyjson_is_null(val) && !k->needed)
            continue;
        if (read_value(r, k, val, into) < 0)
            return -1;
        filled[k - keys] = true;
    }
    for (const struct key *k = keys; k->name; k++)
        if (k->needed && !filled[k - keys])
            return refuse(r, "E_MANIFEST_MISSING_KEY", ERR_FORMAT, k->name, "is missing");
    return 0;
}

/* ---- nested shapes ---- */

#define HAS(type, member) offsetof(struct type, member)

static int read_outputs(struct reading *r, yyjson_val *val, void *into)
{
    static const struct key keys[] = {
        {"run", TEXT, HAS(manifest_outputs, run), NOWHERE, false, NULL},
        {"summary", TEXT, HAS(manifest_outputs, summary), NOWHERE, false, NULL},
        {"junit", TEXT, HAS(manifest_outputs, junit), NOWHERE, false, NULL},
        {"sarif", TEXT, HAS(manifest_outputs, sarif), NOWHERE, false, NULL},
        {0},
    };
    struct manifest *m = into;

    m->outputs.present = true;
    return read_object(r, "outputs", val, keys, &m->outputs);
}

static int read_runner(struct reading *r, yyjson_val *val, void *into)
{
    static const struct key keys[] = {
        {"os", TEXT, HAS(manifest_toolchain, os), NOWHERE, false, NULL},
        {"arch", TEXT, HAS(manifest_toolchain, arch), NOWHERE, false, NULL},
        {"container_image_digest", TEXT, HAS(manifest_toolchain, container_image_digest),
         NOWHERE, false, NULL},
        {"ci", FLAG, HAS(manifest_toolchain, ci), HAS(manifest_toolchain, has_ci), false,
         NULL},
        {0},
    };
    struct manifest_toolchain *t = into;

    t->has_runner = true;
    return read_object(r, "runner", val, keys, t);
}

static int read_toolchain(struct reading *r, yyjson_val *val, void *into)
{
    static const struct key keys[] = {
        {"rustc", TEXT, HAS(manifest_toolchain, rustc), NOWHERE, false, NULL},
        {"cargo", TEXT, HAS(manifest_toolchain, cargo), NOWHERE, false, NULL},
        {"cargo_lock_hash", TEXT, HAS(manifest_toolchain, cargo_lock_hash), NOWHERE,
         false, NULL},
        {"runner", OTHER, 0, NOWHERE, false, read_runner},
        {0},
    };
    struct manifest *m = into;
    yyjson_obj_iter it = yyjson_obj_iter_with(val);
    yyjson_val *at;

    m->toolchain.present = true;
    if (read_object(r, "toolchain", val, keys, &m->toolchain) < 0)
        return -1;
    while ((at = yyjson_obj_iter_next(&it))) {
        yyjson_val *version = yyjson_obj_iter_get_val(at);
        if (find_key(keys, at) || !yyjson_is_str(version) ||
            strlen(yyjson_get_str(at)) != yyjson_get_len(at) ||
            strlen(yyjson_get_str(version)) != yyjson_get_len(version))
            continue;
        if (manifest_add_tool(m, yyjson_get_str(at), yyjson_get_str(version), r->e) < 0)
            return -1;
    }
    return 0;
}

static int read_seeds(struct reading *r, yyjson_val *val, void *into)
{
    static const struct key keys[] = {
        {"seed_version", U32, HAS(manifest_seeds, version),
         HAS(manifest_seeds, has_version), false, NULL},
        {"order_seed", TEXT, HAS(manifest_seeds, order_seed), NOWHERE, false, NULL},
        {"judge_seed", TEXT, HAS(manifest_seeds, judge_seed), NOWHERE, false, NULL},
        {0},
    };
    struct manifest *m = into;

    m->seeds.present = true;
    return read_object(r, "seeds", val, keys, &m->seeds);
}

static int read_tests(struct reading *r, const char *name, yyjson_val *val,
                      struct manifest_list *list)
{
    yyjson_arr_iter it = yyjson_arr_iter_with(val);
    yyjson_val *at;

    if (!yyjson_is_arr(val))
        return wrong_type(r, name, "is not an array");
    while ((at = yyjson_arr_iter_next(&it))) {
        char *id = NULL;
        int rc = read_text(r, name, at, &id);
        if (rc == 0)
            rc = manifest_add_test(list, id, r->e);
        free(id);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int read_complete(struct reading *r, yyjson_val *val, void *into)
{
    struct manifest *m = into;

    return read_tests(r, "complete_tests", val, &m->coverage.complete);
}

static int read_incomplete(struct reading *r, yyjson_val *val, void *into)
{
    struct manifest *m = into;

    return read_tests(r, "incomplete_tests", val, &m->coverage.incomplete);
}

/* ---- maps, sorted by key ---- */

static int by_key(const void *a, const void *b)
{
    const struct manifest_pair *x = a, *y = b;

    return strcmp(x->key, y->key);
}

/* One value of a map as the text that is kept. */
typedef int map_value_fn(struct reading *r, const char *name, yyjson_val *val,
                         char **out);

static int json_value(struct reading *r, const char *name, yyjson_val *val, char **out)
{
    struct buf json = BUF_INIT(LIMIT_BUNDLE_MANIFEST * 6);

    (void)name;
    json_canonical(val, &json);
    int rc = buf_check(&json, "env", r->e);
    if (rc == 0)
        rc = manifest_set(out, buf_cstr(&json), r->e);
    buf_free(&json);
    return rc;
}

static int read_map(struct reading *r, const char *name, yyjson_val *val,
                    map_value_fn *value, struct manifest_pair **out, size_t *n)
{
    yyjson_obj_iter it = yyjson_obj_iter_with(val);
    yyjson_val *at;

    if (!yyjson_is_obj(val))
        return wrong_type(r, name, "is not an object");
    *out = calloc(yyjson_obj_size(val) + 1, sizeof **out);
    if (!*out)
        return err_set(r->e, ERR_NOMEM, "out of memory");
    while ((at = yyjson_obj_iter_next(&it))) {
        struct manifest_pair *pair = &(*out)[(*n)++];
        if (read_text(r, name, at, &pair->key) < 0 ||
            value(r, name, yyjson_obj_iter_get_val(at), &pair->value) < 0)
            return -1;
    }
    qsort(*out, *n, sizeof **out, by_key);
    for (size_t i = 1; i < *n; i++)
        if (strcmp((*out)[i - 1].key, (*out)[i].key) == 0)
            return refuse(r, "E_MANIFEST_DUPLICATE_KEY", ERR_FORMAT, name,
                          "holds a key twice");
    return 0;
}

static int read_reasons(struct reading *r, yyjson_val *val, void *into)
{
    struct manifest_coverage *c = &((struct manifest *)into)->coverage;

    return read_map(r, "reason", val, read_text, &c->reasons, &c->n_reasons);
}

static int read_coverage(struct reading *r, yyjson_val *val, void *into)
{
    static const struct key keys[] = {
        {"complete_tests", OTHER, 0, NOWHERE, true, read_complete},
        {"incomplete_tests", OTHER, 0, NOWHERE, true, read_incomplete},
        {"reason", OTHER, 0, NOWHERE, false, read_reasons},
        {0},
    };
    struct manifest *m = into;

    m->coverage.present = true;
    return read_object(r, "replay_coverage", val, keys, m);
}

static int read_scrub(struct reading *r, yyjson_val *val, void *into)
{
    static const struct key keys[] = {
        {"include_prompts", FLAG, HAS(manifest_scrub, include_prompts),
         HAS(manifest_scrub, has_include_prompts), false, NULL},
        {"scrub_cassettes", FLAG, HAS(manifest_scrub, scrub_cassettes),
         HAS(manifest_scrub, has_scrub_cassettes), false, NULL},
        {"name", TEXT, HAS(manifest_scrub, name), NOWHERE, false, NULL},
        {0},
    };
    struct manifest *m = into;

    m->scrub.present = true;
    return read_object(r, "scrub_policy", val, keys, &m->scrub);
}

static int read_env(struct reading *r, yyjson_val *val, void *into)
{
    struct manifest *m = into;

    m->has_env = true;
    return read_map(r, "env", val, json_value, &m->env, &m->n_env);
}

/* ---- files ---- */

static int by_path(const void *a, const void *b)
{
    const struct manifest_file *x = a, *y = b;

    return strcmp(x->path, y->path);
}

static int read_files(struct reading *r, yyjson_val *val, void *into)
{
    static const struct key keys[] = {
        {"sha256", TEXT, HAS(manifest_file, sha256), NOWHERE, true, NULL},
        {"size", U64, HAS(manifest_file, size), NOWHERE, true, NULL},
        {"mode", U32, HAS(manifest_file, mode), NOWHERE, false, NULL},
        {"content_type", TEXT, HAS(manifest_file, content_type), NOWHERE, false, NULL},
        {0},
    };
    struct manifest *m = into;
    yyjson_obj_iter it = yyjson_obj_iter_with(val);
    yyjson_val *at;

    m->has_files = true;
    if (!yyjson_is_obj(val))
        return wrong_type(r, "files", "is not an object");
    m->files = calloc(yyjson_obj_size(val) + 1, sizeof *m->files);
    if (!m->files)
        return err_set(r->e, ERR_NOMEM, "out of memory");
    while ((at = yyjson_obj_iter_next(&it))) {
        struct manifest_file *file = &m->files[m->n_files++];
        file->mode = FILE_MODE;
        if (read_text(r, "files", at, &file->path) < 0 ||
            read_object(r, "files", yyjson_obj_iter_get_val(at), keys, file) < 0)
            return -1;
    }
    qsort(m->files, m->n_files, sizeof *m->files, by_path);
    for (size_t i = 1; i < m->n_files; i++)
        if (strcmp(m->files[i - 1].path, m->files[i].path) == 0)
            return refuse(r, "E_MANIFEST_DUPLICATE_KEY", ERR_FORMAT, "files",
                          "lists a path twice");
    return 0;
}

/* ---- the whole ---- */

static const struct key top_keys[] = {
    {"schema_version", U32, HAS(manifest, schema_version), NOWHERE, true, NULL},
    {"assay_version", TEXT, HAS(manifest, assay_version), NOWHERE, true, NULL},
    {"created_at", TEXT, HAS(manifest, created_at), NOWHERE, false, NULL},
    {"source_run_path", TEXT, HAS(manifest, source_run_path), NOWHERE, false, NULL},
    {"selection_method", TEXT, HAS(manifest, selection_method), NOWHERE, false, NULL},
    {"git_sha", TEXT, HAS(manifest, git_sha), NOWHERE, false, NULL},
    {"git_dirty", FLAG, HAS(manifest, git_dirty), HAS(manifest, has_git_dirty), false,
     NULL},
    {"workflow_run_id", TEXT, HAS(manifest, workflow_run_id), NOWHERE, false, NULL},
    {"config_digest", TEXT, HAS(manifest, config_digest), NOWHERE, false, NULL},
    {"policy_digest", TEXT, HAS(manifest, policy_digest), NOWHERE, false, NULL},
    {"baseline_digest", TEXT, HAS(manifest, baseline_digest), NOWHERE, false, NULL},
    {"trace_digest", TEXT, HAS(manifest, trace_digest), NOWHERE, false, NULL},
    {"trace_path", TEXT, HAS(manifest, trace_path), NOWHERE, false, NULL},
    {"outputs", OTHER, 0, NOWHERE, false, read_outputs},
    {"toolchain", OTHER, 0, NOWHERE, false, read_toolchain},
    {"seeds", OTHER, 0, NOWHERE, false, read_seeds},
    {"replay_coverage", OTHER, 0, NOWHERE, false, read_coverage},
    {"scrub_policy", OTHER, 0, NOWHERE, false, read_scrub},
    {"files", OTHER, 0, NOWHERE, false, read_files},
    {"env", OTHER, 0, NOWHERE, false, read_env},
    {"run_id", TEXT, HAS(manifest, run_id), NOWHERE, false, NULL},
    {0},
};
_Static_assert(COUNT_OF(top_keys) <= MOST_KEYS, "room for every key");

/* Counted on the bytes, before anything parses them: brackets outside strings. */
static bool deeper_than(const char *text, size_t len, size_t most)
{
    size_t depth = 0;
    bool string = false;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (string && c == '\\')
            i++;
        else if (c == '"')
            string = !string;
        else if (!string && (c == '{' || c == '['))
            depth++;
        else if (!string && (c == '}' || c == ']') && depth > 0)
            depth--;
        if (depth > most)
            return true;
    }
    return false;
}

static int read_document(struct reading *r, yyjson_doc *doc, struct manifest *m)
{
    yyjson_val *root = yyjson_doc_get_root(doc);

    if (!yyjson_is_obj(root)) {
        r->code = "E_MANIFEST_TYPE";
        return err_set(r->e, ERR_FORMAT, "parse manifest.json: not an object");
    }
    if (read_object(r, "manifest.json", root, top_keys, m) < 0)
        return -1;
    if (m->schema_version == MANIFEST_SCHEMA)
        return 0;
    r->code = "E_MANIFEST_VERSION";
    return err_set(r->e, ERR_VERSION,
                   "schema_version %u is not %d, the one this program reads",
                   m->schema_version, MANIFEST_SCHEMA);
}

/* The text is no JSON to a parser of doubles. Is it only that a number we know is out of
 * range? Then say so. */
static void explain_number(struct reading *r, const char *text, size_t len)
{
    struct manifest *m = NULL;
    struct err inner = {0};
    struct reading retry = {NULL, &inner};
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text, len,
                                       YYJSON_READ_BIGNUM_AS_RAW, NULL, NULL);

    if (doc && manifest_new(&m, &inner) == 0 && read_document(&retry, doc, m) < 0 &&
        retry.code && strcmp(retry.code, "E_MANIFEST_NUMBER") == 0) {
        r->code = retry.code;
        *r->e = inner;
    }
    manifest_free(&m);
    yyjson_doc_free(doc);
}

int manifest_read(struct manifest **out, const char *text, size_t len, size_t depth,
                  const char **code, struct err *e)
{
    struct reading r = {NULL, e};
    yyjson_doc *doc = NULL;
    size_t most = depth ? depth : LIMIT_BUNDLE_DEPTH;
    int rc = -1;

    *out = NULL;
    if (deeper_than(text, len, most)) {
        r.code = "E_MANIFEST_DEPTH";
        err_set(
            e, ERR_LIMIT,
            "replay bundle manifest JSON nesting exceeds the configured maximum depth "
            "of %zu",
            most);
        goto out;
    }
    if (json_read(&doc, text, len, e) < 0) {
        r.code = "E_MANIFEST_JSON";
        err_in(e, "parse manifest.json");
        explain_number(&r, text, len);
        goto out;
    }
    if (manifest_new(out, e) < 0 || read_document(&r, doc, *out) < 0)
        goto out;
    rc = 0;
out:
    yyjson_doc_free(doc);
    if (rc < 0)
        manifest_free(out);
    *code = rc == 0 ? NULL : r.code ? r.code : "E_MANIFEST_JSON";
    return rc;
}
