/* inspect.c - `retape-bundle inspect`: what a bundle holds; see inspect.h. */
#include "bundler/inspect.h"

#include "base/cli.h"
#include "base/limits.h"
#include "base/log.h"
#include "bundler/answer.h"
#include "bundler/progress.h"
#include "bundler/verbs.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct flags {
    const char *bundle, *rules;
    bool json;
};

static const struct cli_option options[] = {
    {"--bundle", "FILE", CLI_TEXT, offsetof(struct flags, bundle), NULL, NULL, NULL,
     "the bundle, instead of a plain argument"},
    {"--rules", "FILE", CLI_TEXT, offsetof(struct flags, rules), NULL, NULL, NULL,
     "further rules for the secret scan"},
    {"--json", NULL, CLI_FLAG, offsetof(struct flags, json), NULL, NULL, NULL,
     "print a JSON object, with every row"},
    {0},
};

static const char *const exits[] = {
    "0  ok (there may be warnings)",
    "2  the bundle is not good, or it was refused; or usage",
    "3  it could not be read",
    NULL,
};

static const struct cli_verb verb = {
    .program = "retape-bundle",
    .name = "inspect",
    .usage = "[options] FILE",
    .summary = "Show what a bundle holds: the run and how it ended, model calls, tools, "
               "hosts, coverage, members, sizes and digests. It is verified on the way.",
    .options = options,
    .exits = exits,
    .example = "retape-bundle inspect .assay/bundles/run-7.tar.gz",
    .most = 1,
};

/* ---- reading ---- */

/* The member that is passing, kept when it is looked into. */
struct reading {
    struct inspect *in;
    struct buf text;
    bool kept;
    struct progress progress;
};

/* The paths of run.json and summary.json: the manifest's, or the usual ones. */
static bool is_output(const struct inspect *in, const char *path)
{
    const struct manifest *m = in->verdict.manifest;
    const char *run = m && m->outputs.run ? m->outputs.run : "outputs/run.json";
    const char *summary =
        m && m->outputs.summary ? m->outputs.summary : "outputs/summary.json";

    return strcmp(path, run) == 0 || strcmp(path, summary) == 0;
}

static bool is_cassette(const char *path)
{
    return strncmp(path, "cassettes/", strlen("cassettes/")) == 0;
}

static int add_member(struct inspect *in, const struct pack_member *member, struct err *e)
{
    if (in->n_members == in->cap_members) {
        size_t cap = in->cap_members ? in->cap_members * 2 : 64;
        struct inspect_member *v = realloc(in->members, cap * sizeof *v);
        if (!v)
            return err_set(e, ERR_NOMEM, "out of memory");
        in->members = v;
        in->cap_members = cap;
    }
    struct inspect_member *m = &in->members[in->n_members];
    m->size = member->size;
    m->path = strdup(member->path);
    if (!m->path)
        return err_set(e, ERR_NOMEM, "out of memory");
    in->n_members++;
    return 0;
}

static int take_begin(void *arg, const struct pack_member *member, struct err *e)
{
    struct reading *r = arg;

    buf_reset(&r->text);
    r->kept = is_cassette(member->path) ||
              (is_output(r->in, member->path) && member->size <= FACTS_FILE_MOST);
    return add_member(r->in, member, e);
}

static int take_bytes(void *arg, const void *data, size_t len, struct err *e)
{
    struct reading *r = arg;

    if (!r->kept)
        return 0;
    buf_add(&r->text, data, len);
    return buf_check(&r->text, "a member of the bundle", e);
}

static int take_end(void *arg, struct err *e)
{
    struct reading *r = arg;
    const char *path = r->in->members[r->in->n_members - 1].path;

    if (!r->kept)
        return 0;
    if (is_cassette(path))
        return contents_add(&r->in->contents, path, buf_cstr(&r->text), r->text.len, e);
    return facts_read(&r->in->facts, buf_cstr(&r->text), r->text.len, e);
}

static void show_progress(void *arg, uint64_t unpacked)
{
    struct reading *r = arg;

    progress_tell(&r->progress, "inspect", unpacked, 0);
}

int inspect_bundle(struct inspect *out, const char *path, const struct scan_rules *rules,
                   struct err *e)
{
    struct reading r = {.in = out, .text = BUF_INIT(LIMIT_BUNDLE_MEMBER)};
    struct verify_sink sink = {NULL, take_begin, take_bytes, take_end, &r};
    struct verify_options how = {
        .rules = rules, .sink = &sink, .progress = show_progress, .progress_arg = &r};

    *out = (struct inspect){.path = path};
    int rc = bundle_verify_file(path, &how, &out->verdict, e);
    progress_end(&r.progress);
    buf_free(&r.text);
    return rc;
}

void inspect_fini(struct inspect *in)
{
    for (size_t i = 0; i < in->n_members; i++)
        free(in->members[i].path);
    free(in->members);
    verdict_fini(&in->verdict);
    facts_fini(&in->facts);
    contents_fini(&in->contents);
    *in = (struct inspect){0};
}

/* ---- the verb ---- */

static int print(const struct inspect *in, bool json, struct err *e)
{
    struct buf out = BUF_INIT(MIB(256));
    int rc;

    if (json) {
        inspect_json(in, &out);
        rc = answer_bytes(&out, e);
    } else {
        rc = inspect_text(in, &out, e);
        if (rc == 0)
            rc = answer_text(&in->verdict.findings, &out, e);
    }
    buf_free(&out);
    return rc;
}

static int run(const char *bundle, const struct flags *f, int *status, struct err *e)
{
    struct scan_rules *rules = NULL;
    struct inspect in = {0};
    int rc = -1;

    if (scan_rules_new(&rules, f->rules, e) < 0)
        goto out;
    rc = inspect_bundle(&in, bundle, rules, e);
    if (rc == 0)
        rc = print(&in, f->json, e);
    *status = in.verdict.findings.errors ? 2 : 0;
out:
    inspect_fini(&in);
    scan_rules_free(&rules);
    return rc;
}

int verb_bundle_inspect(int argc, char **argv)
{
    struct flags f = {0};
    struct cli_rest rest = {0};
    struct err e = {0};
    int status = 0;
    int rc = cli_parse(&verb, argc, argv, &f, &rest, &e);

    if (rc == 0 && rest.help)
        rc = answer_help(&verb, &e);
    else if (rc == 0 && (rest.n == 1) == (f.bundle != NULL))
        rc = err_set(&e, ERR_USAGE,
                     "inspect takes one bundle (see 'retape-bundle inspect --help')");
    else if (rc == 0)
        rc = run(f.bundle ? f.bundle : rest.v[0], &f, &status, &e);
    if (rc < 0)
        log_error("%s", e.msg);
    cli_fini(&verb, &f, &rest);
    return rc < 0 ? err_exit_status(e.code) : status;
}
