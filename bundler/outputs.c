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

static void replay_keys(struct writer *w, const struct outputs_run *r)
{
    key(w, "replay");
    buf_str(w->out, "true");
    text(w, "bundle_digest", r->bundle_digest);
    text(w, "replay_mode", r->replay_mode);
    text(w, "source_run_id", r->source_run_id);
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
    if (r->has_child)
        number(&w, "child_exit_code", r->child_exit_code);
    open(&w, "resolution");
    number(&w, "exit_code", r->exit_code);
    text(&w, "reason_code", r->reason_code);
    optional(&w, "message", r->message);
    optional(&w, "next_step", r->next_step);
    shut(&w);
    open(&w, "provenance");
    replay_keys(&w, r);
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
    replay_keys(&w, r);
    shut(&w);
    open(&w, "seeds");
    number(&w, "seed_version", 1);
    text(&w, "order_seed", r->order_seed);
    text(&w, "judge_seed", NULL);
    shut(&w);
    text(&w, "schema", "assay.run_summary.v1");
    shut(&w);
}

void outputs_footer(const struct outputs_run *r, struct buf *out)
{
    buf_fmt(out, "Seeds: seed_version=1 order_seed=%s judge_seed=null\n",
            r->order_seed ? r->order_seed : "null");
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
