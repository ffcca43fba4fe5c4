/* inspect_text.c - a bundle laid out for people; see inspect.h. */
#include "base/table.h"
#include "bundler/answer.h"
#include "bundler/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    ROWS_SHOWN = 40,  /* of one table; --json has all */
    TESTS_SHOWN = 10, /* incomplete ones */
    LABEL = 11        /* width of the names at the left */
};

#define SIZE_TEXT 24

/* "517 B", "48.2 KB". */
static const char *size_text(uint64_t n, char out[SIZE_TEXT])
{
    static const char *const units[] = {"KB", "MB", "GB"};
    double v = (double)n / 1024;
    size_t i = 0;

    if (n < 1024) {
        (void)snprintf(out, SIZE_TEXT, "%" PRIu64 " B", n);
        return out;
    }
    for (; v >= 1024 && i + 1 < COUNT_OF(units); i++)
        v /= 1024;
    (void)snprintf(out, SIZE_TEXT, "%.1f %s", v, units[i]);
    return out;
}

static void label(struct buf *out, const char *name)
{
    buf_fmt(out, "%-*s", LABEL, name);
}

static void line(struct buf *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    label(out, name);
    answer_quote(out, value);
    buf_char(out, '\n');
}

/* A value that may not be there, and what stands before it. */
static void more(struct buf *out, const char *before, const char *value)
{
    if (!value || !*value)
        return;
    buf_str(out, before);
    answer_quote(out, value);
}

/* ---- the bundle ---- */

static void put_verdict(const struct verdict *v, struct buf *out)
{
    label(out, "verdict");
    if (v->refused)
        buf_str(out, "refused");
    else
        buf_str(out, v->findings.errors ? "not good" : "good");
    if (v->findings.errors)
        buf_fmt(out, ", %zu error(s)", v->findings.errors);
    if (v->findings.warnings)
        buf_fmt(out, ", %zu warning(s)", v->findings.warnings);
    buf_char(out, '\n');
    if (v->digests.has_file)
        line(out, "bundle", v->digests.file);
    if (v->digests.has_content)
        line(out, "content", v->digests.content);
}

static void put_size(const struct inspect *in, struct buf *out)
{
    char packed[SIZE_TEXT], unpacked[SIZE_TEXT];

    label(out, "size");
    buf_fmt(out, "%s packed, %s in %zu member(s)\n",
            size_text(in->verdict.digests.file_size, packed),
            size_text(in->verdict.unpacked, unpacked), in->n_members);
}

/* ---- the run ---- */

static void put_run(const struct facts *f, const struct manifest *m, struct buf *out)
{
    const char *name = f->run_id ? f->run_id : m->run_id;

    if (!f->known && !name)
        return;
    label(out, "run");
    answer_quote(out, name ? name : "without a name");
    more(out, " of suite ", f->suite);
    if (f->has_exit)
        buf_fmt(out, ", exit %" PRId64, f->exit_code);
    more(out, " ", f->reason_code);
    if (f->has_child)
        buf_fmt(out, ", command's exit %" PRId64, f->child_exit_code);
    if (f->has_results)
        buf_fmt(out, ", %" PRIu64 " passed, %" PRIu64 " failed of %" PRIu64, f->passed,
                f->failed, f->total);
    buf_char(out, '\n');
    line(out, "", f->message);
    if (f->replay) {
        label(out, "");
        more(out, "a replay, ", f->replay_mode ? f->replay_mode : "?");
        more(out, ", of run ", f->source_run_id);
        buf_char(out, '\n');
    }
}

static void put_source(const struct manifest *m, struct buf *out)
{
    line(out, "made", m->created_at);
    if (m->source_run_path || m->selection_method || m->git_sha || m->workflow_run_id) {
        label(out, "from");
        answer_quote(out, m->source_run_path ? m->source_run_path : "a run");
        more(out, ", chosen by ", m->selection_method);
        more(out, ", git ", m->git_sha);
        if (m->has_git_dirty && m->git_dirty)
            buf_str(out, " with changes");
        more(out, ", workflow run ", m->workflow_run_id);
        buf_char(out, '\n');
    }
}

static void put_seeds(const struct inspect *in, struct buf *out)
{
    const struct manifest_seeds *s = &in->verdict.manifest->seeds;
    const char *order = s->order_seed ? s->order_seed : in->facts.order_seed;
    const char *judge = s->judge_seed ? s->judge_seed : in->facts.judge_seed;

    if (!order && !judge)
        return;
    label(out, "seeds");
    more(out, "order ", order ? order : "not known");
    more(out, ", judge ", judge ? judge : "not known");
    buf_char(out, '\n');
}

static const char *reason_of(const struct manifest_coverage *c, const char *test)
{
    for (size_t i = 0; i < c->n_reasons; i++)
        if (strcmp(c->reasons[i].key, test) == 0)
            return c->reasons[i].value;
    return "no reason given";
}

static void put_coverage(const struct manifest_coverage *c, struct buf *out)
{
    if (!c->present)
        return;
    label(out, "coverage");
    buf_fmt(out, "%zu test(s) complete, %zu incomplete\n", c->complete.n,
            c->incomplete.n);
    for (size_t i = 0; i < c->incomplete.n && i < TESTS_SHOWN; i++) {
        label(out, "");
        answer_quote(out, c->incomplete.v[i]);
        more(out, ": ", reason_of(c, c->incomplete.v[i]));
        buf_char(out, '\n');
    }
    if (c->incomplete.n > TESTS_SHOWN) {
        label(out, "");
        buf_fmt(out, "and %zu more\n", c->incomplete.n - TESTS_SHOWN);
    }
}

static void put_toolchain(const struct manifest_toolchain *t, struct buf *out)
{
    size_t n = 0;

    if (!t->n_tools && !t->os && !t->arch)
        return;
    label(out, "made with");
    for (; n < t->n_tools; n++) {
        more(out, n ? ", " : "", t->tools[n].key);
        more(out, " ", t->tools[n].value);
    }
    more(out, n ? " on " : "", t->os ? t->os : "?");
    more(out, " ", t->arch);
    buf_str(out, t->has_ci && t->ci ? " in CI\n" : "\n");
}

/* ---- tables ---- */

enum heading { NAME, DETAIL, CALLS, FAILED, SENT, RECEIVED, HEADINGS };

static void add_cell(struct table *t, const struct contents_row *r, enum heading what)
{
    char text[SIZE_TEXT];

    switch (what) {
    case NAME:
        table_add(t, r->name);
        break;
    case DETAIL:
        table_add(t, *r->detail ? r->detail : "-");
        break;
    case CALLS:
    case FAILED:
        table_addf(t, "%" PRIu64, what == CALLS ? r->calls : r->failed);
        break;
    default:
        table_add(t, size_text(what == SENT ? r->sent : r->received, text));
    }
}

/* A column without a heading is left out. */
static int put_rows(const struct contents_rows *rows,
                    const char *const headings[HEADINGS], struct buf *out, struct err *e)
{
    struct table_column columns[HEADINGS + 1] = {{0}};
    size_t n = 0;
    struct table t;

    if (rows->n == 0)
        return 0;
    for (enum heading h = NAME; h < HEADINGS; h++)
        if (headings[h])
            columns[n++] = (struct table_column){headings[h],
                                                 h == NAME     ? 60
                                                 : h == DETAIL ? 40
                                                               : 0,
                                                 h >= CALLS};
    table_init(&t, columns);
    for (size_t i = 0; i < rows->n && i < ROWS_SHOWN; i++)
        for (enum heading h = NAME; h < HEADINGS; h++)
            if (headings[h])
                add_cell(&t, &rows->v[i], h);
    buf_char(out, '\n');
    int rc = table_print(&t, out, e);
    if (rows->n > ROWS_SHOWN || rows->more)
        buf_fmt(out, "and more: --json shows %zu\n", rows->n);
    table_fini(&t);
    return rc;
}

static int put_members(const struct inspect *in, struct buf *out, struct err *e)
{
    static const struct table_column columns[] = {
        {"MEMBER", 100, false}, {"SIZE", 0, true}, {NULL, 0, false}};
    struct table t;
    char path[PACK_PATH_TEXT], text[SIZE_TEXT];

    if (in->n_members == 0)
        return 0;
    table_init(&t, columns);
    for (size_t i = 0; i < in->n_members && i < ROWS_SHOWN; i++) {
        const struct inspect_member *m = &in->members[i];
        pack_path_text(m->path, strlen(m->path), path);
        table_add(&t, path);
        table_add(&t, size_text(m->size, text));
    }
    buf_char(out, '\n');
    int rc = table_print(&t, out, e);
    if (in->n_members > ROWS_SHOWN)
        buf_fmt(out, "and %zu more: --json shows them all\n", in->n_members - ROWS_SHOWN);
    table_fini(&t);
    return rc;
}

static int put_contents(const struct contents *c, struct buf *out, struct err *e)
{
    if (c->exchanges) {
        label(out, "recorded");
        buf_fmt(out,
                "%" PRIu64 " exchange(s): %" PRIu64 " with models, %" PRIu64
                " with tools, %" PRIu64 " other\n",
                c->exchanges, c->llm, c->tool, c->http);
    }
    if (c->unreadable)
        buf_fmt(out, "%-*s%zu cassette(s) of a format that is not known, or broken\n",
                LABEL, "", c->unreadable);
    if (c->partial)
        buf_fmt(out, "%-*snot all bodies were looked at: there are too many\n", LABEL,
                "");
    const struct {
        const struct contents_rows *rows;
        const char *headings[HEADINGS];
    } tables[] = {
        {&c->cassettes, {"CASSETTE", "SESSION", "EXCHANGES", NULL, "SIZE", NULL}},
        {&c->models, {"DIALECT", "MODEL", "CALLS", "FAILED", "SENT", "RECEIVED"}},
        {&c->tools, {"TOOL", "THROUGH", "CALLS", NULL, NULL, NULL}},
        {&c->hosts, {"HOST", NULL, "CALLS", "FAILED", "SENT", "RECEIVED"}},
    };
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        if (put_rows(tables[i].rows, tables[i].headings, out, e) < 0)
            return -1;
    return 0;
}

int inspect_text(const struct inspect *in, struct buf *out, struct err *e)
{
    const struct manifest *m = in->verdict.manifest;

    line(out, "file", in->path);
    put_verdict(&in->verdict, out);
    if (!m)
        return buf_check(out, "output", e);
    put_size(in, out);
    put_run(&in->facts, m, out);
    put_source(m, out);
    put_seeds(in, out);
    put_coverage(&m->coverage, out);
    put_toolchain(&m->toolchain, out);
    if (put_contents(&in->contents, out, e) < 0 || put_members(in, out, e) < 0)
        return -1;
    return buf_check(out, "output", e);
}
