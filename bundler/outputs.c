/* outputs.c - see outputs.h. */
#include "bundler/outputs.h"

#include "base/fsx.h"
#include "base/json.h"
#include "base/limits.h"

#include <stdlib.h>
#include <string.h>

#define CONTRACT_VERSION "5.4.0" /* of the run output contract written here */

/* A JSON object written in place: indentation and commas are its business. */
struct writer {
    struct buf *out;
    int depth;
    bool first;
};

static void key(struct writer *w, const char *name)
{
    buf_str(w->out, w->first ? "\n" : ",\n");
    buf_fmt(w->out, "%*s\"%s\": ", w->depth * 2, "", name);
    w->first = false;
}

static void open(struct writer *w, const char *name)
{
    if (name)
        key(w, name);
    buf_char(w->out, '{');
    w->depth++;
    w->first = true;
}

static void shut(struct writer *w)
{
    w->depth--;
    buf_fmt(w->out, "\n%*s}", w->depth * 2, "");
    w->first = false;
}

static void text(struct writer *w, const char *name, const char *value)
{
    key(w, name);
    if (value)
        json_string(w->out, value, strlen(value));
    else
        buf_str(w->out, "null");
}

static void number(struct writer *w, const char *name, int value)
{
    key(w, name);
    buf_fmt(w->out, "%d", value);
}

static void optional(struct writer *w, const char *name, const char *value)
{
    if (value)
        text(w, name, value);
}

/* Text that is JSON already, laid out like the rest. */
static void json_member(struct writer *w, const char *name, const char *value)
{
    yyjson_doc *doc = NULL;
    struct err e;

    if (!*value || json_read(&doc, value, strlen(value), &e) < 0)
        return;
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_obj_iter it = yyjson_obj_iter_with(root);
    open(w, name);
    for (yyjson_val *k; (k = yyjson_obj_iter_next(&it));) {
        key(w, yyjson_get_str(k));
        json_canonical(yyjson_obj_iter_get_val(k), w->out);
    }
    shut(w);
    yyjson_doc_free(doc);
}

static void carried_keys(struct writer *w, const struct outputs_carried *c)
{
    json_member(w, "judge_metrics", c->judge_metrics);
    json_member(w, "sarif", c->sarif);
}

static void carry_one(yyjson_val *root, const char *name, char *to, size_t room)
{
    yyjson_val *v = json_find(root, name);
    struct buf out = BUF_INIT(room - 1);

    if (!yyjson_is_obj(v) || yyjson_obj_size(v) == 0)
        return;
    json_canonical(v, &out);
    if (!out.failed)
        memcpy(to, buf_cstr(&out), out.len + 1);
    buf_free(&out);
}

void outputs_carry(const char *run_json, size_t len, struct outputs_carried *out)
{
    yyjson_doc *doc = NULL;
    struct err e;

    *out = (struct outputs_carried){0};
    if (json_read(&doc, run_json, len, &e) < 0)
        return;
    yyjson_val *root = yyjson_doc_get_root(doc);
    carry_one(root, "judge_metrics", out->judge_metrics, sizeof out->judge_metrics);
    carry_one(root, "sarif", out->sarif, sizeof out->sarif);
    yyjson_doc_free(doc);
}

static void mark_replay(struct writer *w)
{
    key(w, "replay");
    buf_str(w->out, "true");
}

void outputs_run_json(const struct outputs_run *r, struct buf *out)
{
    struct writer w = {.out = out};

    open(&w, NULL);
    text(&w, "run_id", r->run_id);
    number(&w, "exit_code", r->exit_code);
    text(&w, "reason_code", r->reason_code);
    number(&w, "reason_code_version", 1);
    number(&w, "seed_version", 1);
    text(&w, "order_seed", r->order_seed);
    text(&w, "judge_seed", NULL);
    carried_keys(&w, &r->carried);
    if (r->has_child)
        number(&w, "child_exit_code", r->child_exit_code);
    open(&w, "resolution");
    number(&w, "exit_code", r->exit_code);
    text(&w, "reason_code", r->reason_code);
    optional(&w, "message", r->message);
    optional(&w, "next_step", r->next_step);
    shut(&w);
    open(&w, "provenance");
    mark_replay(&w);
    text(&w, "bundle_digest", r->bundle_digest);
    text(&w, "replay_mode", r->replay_mode);
    text(&w, "source_run_id", r->source_run_id);
    shut(&w);
    shut(&w);
}

void outputs_summary_json(const struct outputs_run *r, struct buf *out)
{
    struct writer w = {.out = out};

    open(&w, NULL);
    number(&w, "schema_version", 1);
    number(&w, "reason_code_version", 1);
    number(&w, "exit_code", r->exit_code);
    text(&w, "reason_code", r->reason_code);
    optional(&w, "message", r->message);
    optional(&w, "next_step", r->next_step);
    open(&w, "provenance");
    text(&w, "assay_version", CONTRACT_VERSION);
    text(&w, "verify_mode", "enabled");
    mark_replay(&w);
    optional(&w, "bundle_digest", r->bundle_digest);
    text(&w, "replay_mode", r->replay_mode);
    optional(&w, "source_run_id", r->source_run_id);
    shut(&w);
    open(&w, "seeds");
    number(&w, "seed_version", 1);
    text(&w, "order_seed", r->order_seed);
    text(&w, "judge_seed", NULL);
    shut(&w);
    carried_keys(&w, &r->carried);
    text(&w, "schema", "assay.run_summary.v1");
    shut(&w);
}

void outputs_footer(const struct outputs_run *r, struct buf *out)
{
    static const struct {
        const char *name;
        bool whole; /* a count; the others are rates with two decimals */
    } metrics[] = {{"abstain_rate", false},
                   {"flip_rate", false},
                   {"consensus_rate", false},
                   {"unavailable_count", true}};
    const char *carried = r->carried.judge_metrics;
    yyjson_doc *doc = NULL;
    struct err e;

    buf_fmt(out, "Seeds: seed_version=1 order_seed=%s judge_seed=null\n",
            r->order_seed ? r->order_seed : "null");
    if (!*carried || json_read(&doc, carried, strlen(carried), &e) < 0)
        return;
    buf_str(out, "Judge metrics:");
    for (size_t i = 0; i < COUNT_OF(metrics); i++) {
        yyjson_val *v = json_find(yyjson_doc_get_root(doc), metrics[i].name);
        if (yyjson_is_num(v))
            buf_fmt(out, " %s=%.*f", metrics[i].name, metrics[i].whole ? 0 : 2,
                    yyjson_get_num(v));
    }
    buf_char(out, '\n');
    yyjson_doc_free(doc);
}

static int write_one(const char *dir, const char *name, const struct buf *content,
                     struct err *e)
{
    char *path = fsx_join(dir, name);
    int rc = -1;

    if (!path)
        return err_set(e, ERR_NOMEM, "out of memory");
    if (buf_check(content, name, e) == 0)
        rc = fsx_write_file(path, content->data, content->len, 0644, e);
    free(path);
    return rc;
}

int outputs_write(const char *dir, const struct outputs_run *r, struct err *e)
{
    struct buf content = BUF_INIT(MIB(1));
    int rc = -1;

    if (fsx_mkdirs(dir, 0755, e) < 0)
        goto out;
    outputs_run_json(r, &content);
    if (write_one(dir, "run.json", &content, e) < 0)
        goto out;
    buf_reset(&content);
    outputs_summary_json(r, &content);
    rc = write_one(dir, "summary.json", &content, e);
out:
    buf_free(&content);
    return rc;
}
