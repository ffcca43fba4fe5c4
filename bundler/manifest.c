/* manifest.c - see manifest.h: what a manifest holds. */
#include "bundler/manifest.h"

#include "base/json.h"
#include "base/limits.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MODE 0644

int manifest_new(struct manifest **out, struct err *e)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return err_set(e, ERR_NOMEM, "out of memory");
    (*out)->schema_version = MANIFEST_SCHEMA;
    return 0;
}

static void free_pairs(struct manifest_pair *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(v[i].key);
        free(v[i].value);
    }
    free(v);
}

static void free_list(struct manifest_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->v[i]);
    free(list->v);
}

void manifest_free(struct manifest **m)
{
    struct manifest *p = *m;

    if (!p)
        return;
    char *texts[] = {p->assay_version,
                     p->created_at,
                     p->source_run_path,
                     p->selection_method,
                     p->git_sha,
                     p->workflow_run_id,
                     p->config_digest,
                     p->policy_digest,
                     p->baseline_digest,
                     p->trace_digest,
                     p->trace_path,
                     p->outputs.run,
                     p->outputs.summary,
                     p->outputs.junit,
                     p->outputs.sarif,
                     p->toolchain.rustc,
                     p->toolchain.cargo,
                     p->toolchain.cargo_lock_hash,
                     p->toolchain.os,
                     p->toolchain.arch,
                     p->toolchain.container_image_digest,
                     p->seeds.order_seed,
                     p->seeds.judge_seed,
                     p->scrub.name,
                     p->run_id};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        free(texts[i]);
    free_pairs(p->toolchain.tools, p->toolchain.n_tools);
    free_list(&p->coverage.complete);
    free_list(&p->coverage.incomplete);
    free_pairs(p->coverage.reasons, p->coverage.n_reasons);
    for (size_t i = 0; i < p->n_files; i++) {
        free(p->files[i].path);
        free(p->files[i].sha256);
        free(p->files[i].content_type);
    }
    free(p->files);
    free_pairs(p->env, p->n_env);
    free(p);
    *m = NULL;
}

int manifest_set(char **text, const char *value, struct err *e)
{
    char *copy = value ? strdup(value) : NULL;

    if (value && !copy)
        return err_set(e, ERR_NOMEM, "out of memory");
    free(*text);
    *text = copy;
    return 0;
}

/* ---- growing lists ---- */

/* Room for one more element; arrays double when they are full, at powers of two. */
static int reserve(void **v, size_t n, size_t each, struct err *e)
{
    if (n != 0 && (n & (n - 1)) != 0)
        return 0;
    void *grown = reallocarray(*v, n ? n * 2 : 1, each);
    if (!grown)
        return err_set(e, ERR_NOMEM, "out of memory");
    *v = grown;
    return 0;
}

/* Put a pair at place `at` of a list. */
static int put_pair(struct manifest_pair **v, size_t *n, size_t at, const char *key,
                    const char *value, struct err *e)
{
    struct manifest_pair pair = {0};

    if (reserve((void **)v, *n, sizeof **v, e) < 0)
        return -1;
    if (manifest_set(&pair.key, key, e) < 0 || manifest_set(&pair.value, value, e) < 0) {
        free(pair.key);
        return -1;
    }
    memmove(*v + at + 1, *v + at, (*n - at) * sizeof **v);
    (*v)[at] = pair;
    (*n)++;
    return 0;
}

/* Where a key belongs in a sorted list; *found when it is there. */
static size_t pair_place(const struct manifest_pair *v, size_t n, const char *key,
                         bool *found)
{
    size_t at = n;

    while (at > 0 && strcmp(v[at - 1].key, key) >= 0)
        at--;
    *found = at < n && strcmp(v[at].key, key) == 0;
    return at;
}

/* ---- files ---- */

/* The first file whose path is not before this one. */
static size_t file_place(const struct manifest *m, const char *path)
{
    size_t low = 0, high = m->n_files;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (strcmp(m->files[mid].path, path) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const struct manifest_file *manifest_find(const struct manifest *m, const char *path)
{
    size_t at = file_place(m, path);

    return at < m->n_files && strcmp(m->files[at].path, path) == 0 ? &m->files[at] : NULL;
}

int manifest_add_file(struct manifest *m, const char *path, const char *sha256,
                      uint64_t size, struct err *e)
{
    struct manifest_file file = {.size = size, .mode = FILE_MODE};
    size_t at = file_place(m, path);

    must(!manifest_find(m, path));
    if (reserve((void **)&m->files, m->n_files, sizeof *m->files, e) < 0)
        return -1;
    if (manifest_set(&file.path, path, e) < 0 ||
        manifest_set(&file.sha256, sha256, e) < 0 ||
        manifest_set(&file.content_type, manifest_content_type(path), e) < 0) {
        free(file.path);
        free(file.sha256);
        return -1;
    }
    memmove(m->files + at + 1, m->files + at, (m->n_files - at) * sizeof file);
    m->files[at] = file;
    m->n_files++;
    m->has_files = true;
    return 0;
}

const char *manifest_content_type(const char *path)
{
    static const struct {
        const char *ending, *type;
    } types[] = {
        {"json", "application/json"},  {"jsonl", "application/x-ndjson"},
        {"xml", "application/xml"},    {"yaml", "application/x-yaml"},
        {"yml", "application/x-yaml"},
    };
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    if (!dot || dot == name) /* ".json" is a hidden file without an ending */
        return NULL;
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (strcmp(dot + 1, types[i].ending) == 0)
            return types[i].type;
    return NULL;
}

/* ---- env, tools, tests ---- */

int manifest_add_env(struct manifest *m, const char *key, const char *value,
                     struct err *e)
{
    struct buf json = BUF_INIT(LIMIT_BUNDLE_MANIFEST);
    bool found = false;
    size_t at = pair_place(m->env, m->n_env, key, &found);
    int rc = -1;

    json_string(&json, value, strlen(value));
    if (found)
        err_set(e, ERR_USAGE, "env %.80s is given twice", key);
    else if (buf_check(&json, "env", e) == 0)
        rc = put_pair(&m->env, &m->n_env, at, key, buf_cstr(&json), e);
    m->has_env |= rc == 0;
    buf_free(&json);
    return rc;
}

int manifest_add_tool(struct manifest *m, const char *name, const char *version,
                      struct err *e)
{
    struct manifest_toolchain *t = &m->toolchain;

    t->present = true;
    return put_pair(&t->tools, &t->n_tools, t->n_tools, name, version, e);
}

int manifest_add_test(struct manifest_list *list, const char *id, struct err *e)
{
    if (reserve((void **)&list->v, list->n, sizeof *list->v, e) < 0)
        return -1;
    list->v[list->n] = NULL;
    if (manifest_set(&list->v[list->n], id, e) < 0)
        return -1;
    list->n++;
    return 0;
}

int manifest_add_reason(struct manifest *m, const char *id, const char *why,
                        struct err *e)
{
    struct manifest_coverage *c = &m->coverage;
    bool found = false;
    size_t at = pair_place(c->reasons, c->n_reasons, id, &found);

    return found ? 0 : put_pair(&c->reasons, &c->n_reasons, at, id, why, e);
}
