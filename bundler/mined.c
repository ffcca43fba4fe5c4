/* mined.c - see mined.h. */
#include "bundler/mined.h"

#include "base/fsx.h"
#include "base/json.h"
#include "base/limits.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define REASON_MOST 240 /* characters of a test's message that are kept */

/* A string, or a number that is not negative as its digits; NULL otherwise. malloc'ed. */
static int as_text(yyjson_val *val, char **out, struct err *e)
{
    struct buf text = BUF_INIT(KIB(64));
    int rc = 0;

    if (yyjson_is_uint(val))
        buf_fmt(&text, "%llu", (unsigned long long)yyjson_get_uint(val));
    else if (yyjson_is_str(val) && strlen(yyjson_get_str(val)) == yyjson_get_len(val))
        buf_add(&text, yyjson_get_str(val), yyjson_get_len(val));
    else
        return 0;
    free(*out);
    if (!(*out = buf_take(&text)))
        rc = err_set(e, ERR_LIMIT, "run.json: a value is far too long");
    buf_free(&text);
    return rc;
}

/* A file that is not there, too large or no JSON object is NULL. */
static int read_document(const char *path, yyjson_doc **out, struct err *e)
{
    struct buf text = BUF_INIT(LIMIT_RUN_FILE);
    struct err ignored;

    *out = NULL;
    if (!path)
        return 0;
    int rc = fsx_read_file(path, &text, e);
    if (rc < 0 && e->code == ERR_LIMIT)
        rc = 0;
    else if (rc == 0 && json_read(out, buf_cstr(&text), text.len, &ignored) < 0)
        *out = NULL;
    buf_free(&text);
    return rc;
}

/* ---- seeds ---- */

static int take_seeds(struct manifest_seeds *s, yyjson_val *from, struct err *e)
{
    yyjson_val *version = json_find(from, "seed_version");

    if (yyjson_is_uint(version) && yyjson_get_uint(version) <= UINT32_MAX) {
        s->has_version = true;
        s->version = (uint32_t)yyjson_get_uint(version);
    }
    if (as_text(json_find(from, "order_seed"), &s->order_seed, e) < 0 ||
        as_text(json_find(from, "judge_seed"), &s->judge_seed, e) < 0)
        return -1;
    s->present |= s->has_version || s->order_seed || s->judge_seed;
    return 0;
}

static int find_seeds(struct manifest_seeds *s, yyjson_val *root, struct err *e)
{
    yyjson_val *seeds = json_find(root, "seeds");

    if (s->present)
        return 0;
    s->present = seeds != NULL;
    return take_seeds(s, yyjson_is_obj(seeds) ? seeds : root, e);
}

/* ---- coverage ---- */

/* Without blanks around it and cut after so many characters, never inside one. */
static char *trimmed(const char *s)
{
    size_t len, at = 0, characters = 0;

    while (*s && strchr(" \t\r\n", *s))
        s++;
    for (len = strlen(s); len && strchr(" \t\r\n", s[len - 1]);)
        len--;
    while (at < len && characters < REASON_MOST) {
        at++;
        while (at < len && ((unsigned char)s[at] & 0xc0) == 0x80)
            at++;
        characters++;
    }
    return strndup(s, at);
}

static int add_row(struct manifest *m, yyjson_val *row, struct err *e)
{
    const char *id = yyjson_get_str(json_find(row, "test_id"));
    const char *status = yyjson_get_str(json_find(row, "status"));
    const char *message = yyjson_get_str(json_find(row, "message"));

    if (!id)
        return 0;
    m->coverage.present = true;
    if (!status || strcasecmp(status, "error") != 0)
        return manifest_add_test(&m->coverage.complete, id, e);
    if (manifest_add_test(&m->coverage.incomplete, id, e) < 0)
        return -1;
    char *why = trimmed(message ? message : "");
    int rc = why ? 0 : err_set(e, ERR_NOMEM, "out of memory");
    if (rc == 0 && *why)
        rc = manifest_add_reason(m, id, why, e);
    free(why);
    return rc;
}

static int find_coverage(struct manifest *m, yyjson_val *root, struct err *e)
{
    yyjson_val *results = json_find(root, "results"), *row;
    yyjson_arr_iter it = yyjson_arr_iter_with(results);

    while ((row = yyjson_arr_iter_next(&it)))
        if (add_row(m, row, e) < 0)
            return -1;
    return 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int mined_block(struct manifest *m, const char *reason, struct err *e)
{
    struct manifest_list *from = &m->coverage.complete, *to = &m->coverage.incomplete;
    size_t kept = 0;

    for (size_t i = 0; i < from->n; i++)
        if (manifest_add_test(to, from->v[i], e) < 0)
            return -1;
    while (from->n > 0)
        free(from->v[--from->n]);
    if (to->n)
        qsort(to->v, to->n, sizeof *to->v, by_text);
    for (size_t i = 0; i < to->n; i++) {
        if (kept && strcmp(to->v[kept - 1], to->v[i]) == 0)
            free(to->v[i]);
        else
            to->v[kept++] = to->v[i];
    }
    to->n = kept;
    for (size_t i = 0; i < to->n; i++)
        if (manifest_add_reason(m, to->v[i], reason, e) < 0)
            return -1;
    return 0;
}

/* ---- the whole ---- */

int mined_read(struct mined *out, struct manifest *m, const char *run_path,
               const char *summary_path, struct err *e)
{
    yyjson_doc *run = NULL, *summary = NULL;
    int rc = -1;

    *out = (struct mined){0};
    if (read_document(run_path, &run, e) < 0 ||
        read_document(summary_path, &summary, e) < 0)
        goto out;
    yyjson_val *root = yyjson_doc_get_root(run);
    yyjson_val *provenance = json_find(root, "provenance");
    if (as_text(json_find(root, "run_id"), &out->run_id, e) < 0 ||
        as_text(json_find(provenance, "policy_pack_digest"), &out->policy_digest, e) <
            0 ||
        as_text(json_find(provenance, "baseline_digest"), &out->baseline_digest, e) < 0 ||
        as_text(json_find(provenance, "trace_digest"), &out->trace_digest, e) < 0)
        goto out;
    if (find_seeds(&m->seeds, root, e) < 0 ||
        find_seeds(&m->seeds, yyjson_doc_get_root(summary), e) < 0 ||
        find_coverage(m, root, e) < 0)
        goto out;
    rc = 0;
out:
    yyjson_doc_free(run);
    yyjson_doc_free(summary);
    return rc;
}

void mined_fini(struct mined *m)
{
    free(m->run_id);
    free(m->policy_digest);
    free(m->baseline_digest);
    free(m->trace_digest);
    *m = (struct mined){0};
}
