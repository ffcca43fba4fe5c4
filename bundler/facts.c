/* facts.c - see facts.h. */
#include "bundler/facts.h"

#include "base/json.h"
#include "tape/excerpt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 300 };

/* A text, or a number as text, into an empty place. */
static int take(char **out, yyjson_val *obj, const char *key, struct err *e)
{
    yyjson_val *v = json_find(obj, key);
    struct buf text = BUF_INIT(TEXT_MOST + 8);

    if (*out)
        return 0;
    if (yyjson_is_str(v))
        excerpt_head(&text, yyjson_get_str(v), yyjson_get_len(v), TEXT_MOST);
    else if (yyjson_is_uint(v))
        buf_fmt(&text, "%" PRIu64, yyjson_get_uint(v));
    else if (yyjson_is_sint(v))
        buf_fmt(&text, "%" PRId64, yyjson_get_sint(v));
    else
        return 0;
    *out = strdup(buf_cstr(&text));
    buf_free(&text);
    return *out ? 0 : err_set(e, ERR_NOMEM, "out of memory");
}

static void take_int(bool *has, int64_t *out, yyjson_val *obj, const char *key)
{
    yyjson_val *v = json_find(obj, key);

    if (*has || !yyjson_is_int(v))
        return;
    *has = true;
    *out = yyjson_get_sint(v);
}

/* The rows of run.json, counted the way its summary counts them. */
static void count_results(struct facts *f, yyjson_val *rows)
{
    static const struct {
        const char *status;
        bool passed, failed;
    } kinds[] = {
        {"pass", true, false}, {"warn", true, false},  {"allowed_on_error", true, false},
        {"fail", false, true}, {"error", false, true},
    };
    size_t i, n;
    yyjson_val *row;

    f->has_results = true;
    yyjson_arr_foreach(rows, i, n, row)
    {
        yyjson_val *status = json_find(row, "status");
        f->total++;
        for (size_t k = 0; k < COUNT_OF(kinds); k++)
            if (yyjson_equals_str(status, kinds[k].status)) {
                f->passed += kinds[k].passed;
                f->failed += kinds[k].failed;
            }
    }
}

static void take_results(struct facts *f, yyjson_val *results)
{
    if (f->has_results)
        return;
    if (yyjson_is_arr(results)) {
        count_results(f, results);
    } else if (yyjson_is_obj(results)) {
        f->has_results = true;
        f->passed = yyjson_get_uint(json_find(results, "passed"));
        f->failed = yyjson_get_uint(json_find(results, "failed"));
        f->total = yyjson_get_uint(json_find(results, "total"));
    }
}

/* Seeds stand at the top of run.json and in `seeds` of the summary; the message at the
 * top of the summary and in `resolution` of run.json. */
static int take_texts(struct facts *f, yyjson_val *root, struct err *e)
{
    yyjson_val *resolution = json_find(root, "resolution");
    yyjson_val *provenance = json_find(root, "provenance");
    yyjson_val *seeds = json_find(root, "seeds");
    const struct {
        char **out;
        yyjson_val *obj;
        const char *key;
    } texts[] = {
        {&f->run_id, root, "run_id"},
        {&f->suite, root, "suite"},
        {&f->reason_code, root, "reason_code"},
        {&f->message, resolution, "message"},
        {&f->message, root, "message"},
        {&f->next_step, resolution, "next_step"},
        {&f->next_step, root, "next_step"},
        {&f->order_seed, root, "order_seed"},
        {&f->order_seed, seeds, "order_seed"},
        {&f->judge_seed, root, "judge_seed"},
        {&f->judge_seed, seeds, "judge_seed"},
        {&f->replay_mode, provenance, "replay_mode"},
        {&f->bundle_digest, provenance, "bundle_digest"},
        {&f->source_run_id, provenance, "source_run_id"},
    };

    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (take(texts[i].out, texts[i].obj, texts[i].key, e) < 0)
            return -1;
    f->replay |= yyjson_is_true(json_find(provenance, "replay"));
    return 0;
}

int facts_read(struct facts *f, const char *text, size_t len, struct err *e)
{
    yyjson_doc *doc = NULL;
    struct err ignored;

    if (json_read(&doc, text, len, &ignored) < 0)
        return 0;
    yyjson_val *root = yyjson_doc_get_root(doc);
    int rc = yyjson_is_obj(root) ? take_texts(f, root, e) : 0;
    if (rc == 0 && yyjson_is_obj(root)) {
        f->known = true;
        take_int(&f->has_exit, &f->exit_code, root, "exit_code");
        take_int(&f->has_child, &f->child_exit_code, root, "child_exit_code");
        take_results(f, json_find(root, "results"));
        f->warnings += yyjson_arr_size(json_find(root, "warnings"));
        if (!f->sarif_omitted)
            f->sarif_omitted =
                yyjson_get_uint(json_find(json_find(root, "sarif"), "omitted"));
    }
    yyjson_doc_free(doc);
    return rc;
}

void facts_fini(struct facts *f)
{
    char *const texts[] = {
        f->run_id,     f->suite,      f->reason_code, f->message,       f->next_step,
        f->order_seed, f->judge_seed, f->replay_mode, f->bundle_digest, f->source_run_id};

    for (size_t i = 0; i < COUNT_OF(texts); i++)
        free(texts[i]);
    *f = (struct facts){0};
}
