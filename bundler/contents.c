/* contents.c - see contents.h. */
#include "bundler/contents.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/url.h"
#include "bundler/toolcalls.h"
#include "dialect/dialect.h"
#include "tape/excerpt.h"
#include "tape/tape.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 120 };

/* ---- rows ---- */

static int grow(struct contents_rows *rows, struct err *e)
{
    size_t cap = rows->cap ? rows->cap * 2 : 16;
    struct contents_row *v = realloc(rows->v, cap * sizeof *v);

    if (!v)
        return err_set(e, ERR_NOMEM, "out of memory");
    rows->v = v;
    rows->cap = cap;
    return 0;
}

/* A copy on one line, without the end that nobody reads. */
static char *copy_text(const char *s)
{
    struct buf out = BUF_INIT(NAME_MOST + 8);

    excerpt_head(&out, s, strlen(s), NAME_MOST);
    for (size_t i = 0; i < out.len; i++)
        if ((unsigned char)out.data[i] < ' ')
            out.data[i] = ' ';
    char *text = out.len ? buf_take(&out) : strdup("");
    buf_free(&out);
    return text;
}

/* Count a call under its row, made if need be. */
static int count(struct contents_rows *rows, const char *name, const char *detail,
                 const struct contents_row *add, struct err *e)
{
    struct contents_row row = {.name = copy_text(name), .detail = copy_text(detail)};
    size_t i = 0;
    int rc = -1;

    if (!row.name || !row.detail) {
        err_set(e, ERR_NOMEM, "out of memory");
        goto out;
    }
    while (i < rows->n && (strcmp(rows->v[i].name, row.name) != 0 ||
                           strcmp(rows->v[i].detail, row.detail) != 0))
        i++;
    rc = 0;
    if (i == CONTENTS_ROWS) {
        rows->more += add->calls;
        goto out;
    }
    if (i == rows->n) {
        if (rows->n == rows->cap && (rc = grow(rows, e)) < 0)
            goto out;
        rows->v[rows->n++] = row;
        row = (struct contents_row){0};
    }
    rows->v[i].calls += add->calls;
    rows->v[i].failed += add->failed;
    rows->v[i].sent += add->sent;
    rows->v[i].received += add->received;
out:
    free(row.name);
    free(row.detail);
    return rc;
}

static void fini_rows(struct contents_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        free(rows->v[i].name);
        free(rows->v[i].detail);
    }
    free(rows->v);
}

void contents_fini(struct contents *c)
{
    fini_rows(&c->models);
    fini_rows(&c->tools);
    fini_rows(&c->hosts);
    fini_rows(&c->cassettes);
    *c = (struct contents){0};
}

/* ---- one exchange ---- */

/* What is known of a call, whatever file it comes from. */
struct call {
    enum exchange_kind kind;
    const char *dialect; /* "" for none */
    const char *url;
    yyjson_val *body; /* of the request, or NULL */
    struct contents_row sizes;
};

/* The part of the path after a segment, up to the next '/', ':' or its end. */
static bool take_segment(const char *path, const char *after, struct buf *out)
{
    const char *p = strstr(path, after);

    if (!p)
        return false;
    p += strlen(after);
    buf_add(out, p, strcspn(p, "/:"));
    return out->len > 0;
}

/* Named in the body, or in the path (Gemini, Azure). */
static void put_model(const struct call *call, const char *path, struct buf *out)
{
    const char *model = yyjson_get_str(json_find(call->body, "model"));

    if (model)
        excerpt_head(out, model, strlen(model), NAME_MOST);
    else if (!take_segment(path, "/models/", out))
        (void)take_segment(path, "/deployments/", out);
}

struct tools_arg {
    struct contents *c;
    const char *dialect;
};

static int on_tool(void *arg, const char *name, bool called, struct err *e)
{
    struct tools_arg *t = arg;
    struct contents_row one = {.calls = called};

    return count(&t->c->tools, name, t->dialect, &one, e);
}

static int count_call(struct contents *c, const struct call *call,
                      struct toolcalls *tools, struct err *e)
{
    struct url url = {0};
    struct err ignored;
    struct buf model = BUF_INIT(KIB(64));
    struct tools_arg arg = {c, call->dialect};
    bool has_url = url_parse(&url, call->url, &ignored) == 0;
    int rc = count(&c->hosts, has_url ? url.host : "?", "", &call->sizes, e);

    c->exchanges++;
    c->llm += call->kind == KIND_LLM;
    c->tool += call->kind == KIND_TOOL;
    c->http += call->kind == KIND_HTTP;
    if (rc == 0 && call->kind == KIND_LLM) {
        put_model(call, has_url ? url.path : "", &model);
        rc = count(&c->models, *call->dialect ? call->dialect : "?", buf_cstr(&model),
                   &call->sizes, e);
    }
    if (rc == 0 && call->kind != KIND_HTTP && call->body)
        rc = toolcalls_find(tools, call->body, on_tool, &arg, e);
    buf_free(&model);
    url_fini(&url);
    return rc;
}

/* ---- retape's cassettes ---- */

static int add_exchange(struct contents *c, const struct exchange *x,
                        struct toolcalls *tools, struct err *e)
{
    yyjson_doc *doc = NULL;
    struct err ignored;
    bool failed = x->outcome != OUTCOME_COMPLETE || x->status >= 400;
    struct call call = {x->kind,
                        x->dialect,
                        x->url,
                        NULL,
                        {.calls = 1,
                         .failed = failed,
                         .sent = x->req_body.len,
                         .received = x->res_body.len}};

    if (x->kind != KIND_HTTP &&
        json_read(&doc, buf_cstr(&x->req_body), x->req_body.len, &ignored) == 0)
        call.body = yyjson_doc_get_root(doc);
    int rc = count_call(c, &call, tools, e);
    yyjson_doc_free(doc);
    return rc;
}

/* Too much has been looked at: what the index knows. */
static int add_head(struct contents *c, const struct tape *tape, size_t i,
                    struct toolcalls *tools, struct err *e)
{
    const struct tape_entry *entry = tape_entry(tape, i);
    struct exchange x;

    c->partial = true;
    if (tape_load_head(tape, i, &x, e) < 0)
        return -1;
    bool failed = entry->outcome != OUTCOME_COMPLETE || entry->status >= 400;
    struct call call = {entry->kind,
                        x.dialect,
                        x.url,
                        NULL,
                        {.calls = 1, .failed = failed, .sent = entry->req_len}};
    int rc = count_call(c, &call, tools, e);
    exchange_fini(&x);
    return rc;
}

static int add_tape(struct contents *c, const struct tape *tape, struct toolcalls *tools,
                    struct err *e)
{
    for (size_t i = 0; i < tape_count(tape); i++) {
        struct exchange x;
        if (c->work >= CONTENTS_WORK ||
            tape_entry(tape, i)->req_len > CONTENTS_WORK - c->work) {
            if (add_head(c, tape, i, tools, e) < 0)
                return -1;
            continue;
        }
        if (tape_load(tape, i, &x, e) < 0)
            return -1;
        c->work += x.req_body.len + x.res_body.len;
        int rc = add_exchange(c, &x, tools, e);
        exchange_fini(&x);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int add_jsonl(struct contents *c, const char *path, const char *data, size_t len,
                     struct toolcalls *tools, struct err *e)
{
    struct tape *tape = NULL;
    int rc = -1;

    if (tape_open_memory(&tape, path, data, len, e) < 0)
        goto out;
    struct contents_row sizes = {.calls = tape_count(tape), .sent = len};
    if (count(&c->cassettes, path, tape_session(tape), &sizes, e) < 0)
        goto out;
    rc = add_tape(c, tape, tools, e);
out:
    tape_close(&tape);
    return rc;
}

/* ---- Assay's VCR files: one exchange each ---- */

static int add_vcr(struct contents *c, const char *path, const char *data, size_t len,
                   struct toolcalls *tools, struct err *e)
{
    yyjson_doc *doc = NULL;
    char *body = NULL;
    size_t body_len = 0;
    struct url url = {0};
    struct err ignored;
    int rc = -1;

    if (json_read(&doc, data, len, e) < 0)
        goto out;
    yyjson_val *root = yyjson_doc_get_root(doc), *sent = json_find(root, "request_body");
    const char *where = yyjson_get_str(json_find(root, "url"));
    const char *method = yyjson_get_str(json_find(root, "method"));
    if (!where || !method || !json_find(root, "fingerprint")) {
        err_set(e, ERR_FORMAT, "not a VCR file");
        goto out;
    }
    body = yyjson_val_write(sent, 0, &body_len);
    struct call call = {.dialect = "", .url = where, .body = sent};
    const char *dialect = NULL;
    if (body && url_parse(&url, where, &ignored) == 0)
        dialect = dialect_of(method, url.path, body, body_len, &call.kind);
    call.dialect = dialect ? dialect : "";
    call.sizes =
        (struct contents_row){.calls = 1,
                              .failed = yyjson_get_int(json_find(root, "status")) >= 400,
                              .sent = body_len};
    struct contents_row sizes = {.calls = 1, .sent = len};
    if (count(&c->cassettes, path, "", &sizes, e) == 0)
        rc = count_call(c, &call, tools, e);
out:
    url_fini(&url);
    free(body);
    yyjson_doc_free(doc);
    return rc;
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n >= m && strcmp(s + n - m, end) == 0;
}

int contents_add(struct contents *c, const char *path, const char *data, size_t len,
                 struct err *e)
{
    struct toolcalls *tools = NULL;
    int rc = toolcalls_new(&tools, e);

    if (rc == 0 && ends_with(path, ".jsonl"))
        rc = add_jsonl(c, path, data, len, tools, e);
    else if (rc == 0 && ends_with(path, ".json"))
        rc = add_vcr(c, path, data, len, tools, e);
    toolcalls_free(&tools);
    if (rc < 0 && e->code != ERR_NOMEM) {
        c->unreadable++;
        rc = 0;
    }
    return rc;
}
