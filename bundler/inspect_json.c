/* inspect_json.c - a bundle laid out for machines; see inspect.h. */
#include "base/json.h"
#include "bundler/inspect.h"

#include <inttypes.h>
#include <string.h>

/* A key and its comma; the first of an object has none before it. */
static void key(struct buf *out, const char *name)
{
    char last = out->len ? out->data[out->len - 1] : '\0';

    if (last != '{' && last != '[')
        buf_char(out, ',');
    buf_fmt(out, "\"%s\":", name);
}

static void text(struct buf *out, const char *name, const char *value)
{
    key(out, name);
    if (value)
        json_bytes(out, value, strlen(value));
    else
        buf_str(out, "null");
}

static void number(struct buf *out, const char *name, uint64_t value)
{
    key(out, name);
    buf_fmt(out, "%" PRIu64, value);
}

static void put_rows(struct buf *out, const char *name, const struct contents_rows *rows,
                     const char *const keys[5])
{
    key(out, name);
    buf_char(out, '[');
    for (size_t i = 0; i < rows->n; i++) {
        const struct contents_row *r = &rows->v[i];
        buf_str(out, i ? ",{" : "{");
        text(out, keys[0], r->name);
        if (keys[1])
            text(out, keys[1], *r->detail ? r->detail : NULL);
        number(out, keys[2], r->calls);
        if (keys[3])
            number(out, keys[3], r->sent);
        if (keys[4]) {
            number(out, keys[4], r->received);
            number(out, "failed", r->failed);
        }
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void put_run(struct buf *out, const struct facts *f)
{
    key(out, "run");
    if (!f->known) {
        buf_str(out, "null");
        return;
    }
    buf_char(out, '{');
    text(out, "run_id", f->run_id);
    text(out, "suite", f->suite);
    key(out, "exit_code");
    if (f->has_exit)
        buf_fmt(out, "%" PRId64, f->exit_code);
    else
        buf_str(out, "null");
    text(out, "reason_code", f->reason_code);
    text(out, "message", f->message);
    text(out, "order_seed", f->order_seed);
    text(out, "judge_seed", f->judge_seed);
    if (f->has_results) {
        key(out, "results");
        buf_fmt(out,
                "{\"passed\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"total\":%" PRIu64 "}",
                f->passed, f->failed, f->total);
    }
    buf_char(out, '}');
}

static void put_members(struct buf *out, const struct inspect *in)
{
    key(out, "members");
    buf_char(out, '[');
    for (size_t i = 0; i < in->n_members; i++) {
        buf_str(out, i ? ",{" : "{");
        text(out, "path", in->members[i].path);
        number(out, "size", in->members[i].size);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void put_contents(struct buf *out, const struct contents *c)
{
    number(out, "exchanges", c->exchanges);
    put_rows(out, "cassettes", &c->cassettes,
             (const char *const[5]){"path", "session", "exchanges", "size", NULL});
    put_rows(out, "models", &c->models,
             (const char *const[5]){"dialect", "model", "calls", "sent", "received"});
    put_rows(out, "tools", &c->tools,
             (const char *const[5]){"name", "through", "calls", NULL, NULL});
    put_rows(out, "hosts", &c->hosts,
             (const char *const[5]){"host", NULL, "calls", "sent", "received"});
    number(out, "unreadable_cassettes", c->unreadable);
    key(out, "partial");
    buf_str(out, c->partial ? "true" : "false");
}

void inspect_json(const struct inspect *in, struct buf *out)
{
    const struct verdict *v = &in->verdict;

    buf_char(out, '{');
    text(out, "bundle", in->path);
    key(out, "ok");
    buf_str(out, v->findings.errors ? "false" : "true");
    text(out, "bundle_digest", v->digests.has_file ? v->digests.file : NULL);
    text(out, "content_digest", v->digests.has_content ? v->digests.content : NULL);
    number(out, "size", v->digests.file_size);
    number(out, "unpacked_bytes", v->unpacked);
    key(out, "manifest");
    if (v->manifest)
        manifest_write(v->manifest, out);
    else
        buf_str(out, "null");
    put_run(out, &in->facts);
    put_contents(out, &in->contents);
    put_members(out, in);
    key(out, "findings");
    findings_json(&v->findings, out);
    buf_str(out, "}\n");
}
