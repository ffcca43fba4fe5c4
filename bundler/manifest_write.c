/* manifest_write.c - see manifest.h: the compact text, in the order the format fixes. */
#include "base/json.h"
#include "bundler/manifest.h"

#include <string.h>

/* Every member but the first has a comma before it. */
static void key(struct buf *out, const char *name)
{
    if (out->len && out->data[out->len - 1] != '{')
        buf_char(out, ',');
    json_string(out, name, strlen(name));
    buf_char(out, ':');
}

static void text(struct buf *out, const char *name, const char *value)
{
    if (!value)
        return;
    key(out, name);
    json_string(out, value, strlen(value));
}

static void flag(struct buf *out, const char *name, bool has, bool value)
{
    if (!has)
        return;
    key(out, name);
    buf_str(out, value ? "true" : "false");
}

static void list(struct buf *out, const char *name, const struct manifest_list *l)
{
    key(out, name);
    buf_char(out, '[');
    for (size_t i = 0; i < l->n; i++) {
        if (i)
            buf_char(out, ',');
        json_string(out, l->v[i], strlen(l->v[i]));
    }
    buf_char(out, ']');
}

static void outputs(struct buf *out, const struct manifest_outputs *o)
{
    if (!o->present)
        return;
    key(out, "outputs");
    buf_char(out, '{');
    text(out, "run", o->run);
    text(out, "summary", o->summary);
    text(out, "junit", o->junit);
    text(out, "sarif", o->sarif);
    buf_char(out, '}');
}

static void toolchain(struct buf *out, const struct manifest_toolchain *t)
{
    if (!t->present)
        return;
    key(out, "toolchain");
    buf_char(out, '{');
    text(out, "rustc", t->rustc);
    text(out, "cargo", t->cargo);
    text(out, "cargo_lock_hash", t->cargo_lock_hash);
    for (size_t i = 0; i < t->n_tools; i++)
        text(out, t->tools[i].key, t->tools[i].value);
    if (t->has_runner) {
        key(out, "runner");
        buf_char(out, '{');
        text(out, "os", t->os);
        text(out, "arch", t->arch);
        text(out, "container_image_digest", t->container_image_digest);
        flag(out, "ci", t->has_ci, t->ci);
        buf_char(out, '}');
    }
    buf_char(out, '}');
}

static void seeds(struct buf *out, const struct manifest_seeds *s)
{
    if (!s->present)
        return;
    key(out, "seeds");
    buf_char(out, '{');
    if (s->has_version) {
        key(out, "seed_version");
        buf_fmt(out, "%u", s->version);
    }
    text(out, "order_seed", s->order_seed);
    text(out, "judge_seed", s->judge_seed);
    buf_char(out, '}');
}

static void coverage(struct buf *out, const struct manifest_coverage *c)
{
    if (!c->present)
        return;
    key(out, "replay_coverage");
    buf_char(out, '{');
    list(out, "complete_tests", &c->complete);
    list(out, "incomplete_tests", &c->incomplete);
    if (c->n_reasons) {
        key(out, "reason");
        buf_char(out, '{');
        for (size_t i = 0; i < c->n_reasons; i++)
            text(out, c->reasons[i].key, c->reasons[i].value);
        buf_char(out, '}');
    }
    buf_char(out, '}');
}

static void scrub_policy(struct buf *out, const struct manifest_scrub *s)
{
    if (!s->present)
        return;
    key(out, "scrub_policy");
    buf_char(out, '{');
    flag(out, "include_prompts", s->has_include_prompts, s->include_prompts);
    flag(out, "scrub_cassettes", s->has_scrub_cassettes, s->scrub_cassettes);
    text(out, "name", s->name);
    buf_char(out, '}');
}

static void files(struct buf *out, const struct manifest *m)
{
    if (!m->has_files)
        return;
    key(out, "files");
    buf_char(out, '{');
    for (size_t i = 0; i < m->n_files; i++) {
        const struct manifest_file *f = &m->files[i];
        key(out, f->path);
        buf_char(out, '{');
        text(out, "sha256", f->sha256);
        key(out, "size");
        buf_fmt(out, "%llu", (unsigned long long)f->size);
        key(out, "mode");
        buf_fmt(out, "%u", f->mode);
        text(out, "content_type", f->content_type);
        buf_char(out, '}');
    }
    buf_char(out, '}');
}

static void env(struct buf *out, const struct manifest *m)
{
    if (!m->has_env)
        return;
    key(out, "env");
    buf_char(out, '{');
    for (size_t i = 0; i < m->n_env; i++) {
        key(out, m->env[i].key);
        buf_str(out, m->env[i].value);
    }
    buf_char(out, '}');
}

void manifest_write(const struct manifest *m, struct buf *out)
{
    buf_char(out, '{');
    key(out, "schema_version");
    buf_fmt(out, "%u", m->schema_version);
    text(out, "assay_version", m->assay_version);
    text(out, "created_at", m->created_at);
    text(out, "source_run_path", m->source_run_path);
    text(out, "selection_method", m->selection_method);
    text(out, "git_sha", m->git_sha);
    flag(out, "git_dirty", m->has_git_dirty, m->git_dirty);
    text(out, "workflow_run_id", m->workflow_run_id);
    text(out, "config_digest", m->config_digest);
    text(out, "policy_digest", m->policy_digest);
    text(out, "baseline_digest", m->baseline_digest);
    text(out, "trace_digest", m->trace_digest);
    text(out, "trace_path", m->trace_path);
    outputs(out, &m->outputs);
    toolchain(out, &m->toolchain);
    seeds(out, &m->seeds);
    coverage(out, &m->coverage);
    scrub_policy(out, &m->scrub);
    files(out, m);
    env(out, m);
    text(out, "run_id", m->run_id);
    buf_char(out, '}');
}
