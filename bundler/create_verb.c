/* create_verb.c - `retape-bundle create`: its flags, and what it tells. */
#include "base/cli.h"
#include "base/fsx.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "bundler/answer.h"
#include "bundler/create.h"
#include "bundler/progress.h"
#include "bundler/verbs.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

struct flags {
    struct bundle_plan plan;
    struct cli_list files, env;
    bool json;
};

#define TEXT_OPTION(name, arg, member, fallback, help)                                   \
    {                                                                                    \
        name, arg, CLI_TEXT, offsetof(struct flags, plan.member), NULL, NULL, fallback,  \
            help                                                                         \
    }
#define FLAG_OPTION(name, member, help)                                                  \
    {                                                                                    \
        name, NULL, CLI_FLAG, offsetof(struct flags, member), NULL, NULL, NULL, help     \
    }

static const struct cli_option options[] = {
    TEXT_OPTION("--from", "DIR|run.json", from, "the newest run.json below this folder",
                "the run to bundle"),
    TEXT_OPTION("--run-id", "ID", run_id, "run_id of run.json, else 'latest'",
                "name the bundle; selects .assay/ID, .assay/run_ID or .assay/runs/ID"),
    TEXT_OPTION("--output", "FILE", output, ".assay/bundles/ID.tar.gz",
                "where to write the bundle"),
    TEXT_OPTION("--cassettes", "DIR", cassettes,
                "cassettes, .assay/cassettes, .assay/vcr",
                "recordings, with all folders in it"),
    TEXT_OPTION("--config", "FILE", config, "eval.yaml, assay.yaml, retape.json",
                "the run's configuration"),
    TEXT_OPTION("--trace", "FILE", trace, "trace.jsonl, traces/{ci,run,trace}.jsonl",
                "the run's trace"),
    TEXT_OPTION("--policy", "FILE", policy, NULL, "the policy it was judged by"),
    TEXT_OPTION("--baseline", "FILE", baseline, NULL,
                "the baseline it was compared with"),
    TEXT_OPTION("--run", "FILE", run, "run.json", "the run's result"),
    TEXT_OPTION("--summary", "FILE", summary, "summary.json", "the run's summary"),
    TEXT_OPTION("--junit", "FILE", junit, "junit.xml", "a JUnit report"),
    TEXT_OPTION("--sarif", "FILE", sarif, "sarif.json", "a SARIF report"),
    {"--file", "SRC[=DEST]", CLI_LIST, offsetof(struct flags, files), NULL, NULL,
     "DEST: files/NAME", "a further file; may be given again"},
    {"--env", "NAME=VALUE", CLI_LIST, offsetof(struct flags, env), NULL, NULL, NULL,
     "note a value in the manifest; may be given again"},
    TEXT_OPTION("--created-at", "TIME", created_at, "SOURCE_DATE_EPOCH, else now",
                "the time the manifest tells, as 2026-02-06T10:11:12Z"),
    TEXT_OPTION("--assay-version", "V", assay_version, "the contract this version writes",
                "assay_version of the manifest"),
    TEXT_OPTION("--rules", "FILE", rules, NULL, "further rules for the secret scan"),
    FLAG_OPTION("--assay-strict", plan.assay_strict,
                "text that only Assay's scan dislikes is an error, not a warning"),
    FLAG_OPTION("--reproducible", plan.reproducible,
                "leave out what differs between machines: times, tools, git, env"),
    FLAG_OPTION("--audit-paths", plan.audit_paths,
                "note the absolute path of the run in the manifest"),
    FLAG_OPTION("--dry-run", plan.dry_run, "do everything but write the bundle"),
    FLAG_OPTION("--json", json, "print the result as JSON"),
    {0},
};

static const char *const exits[] = {
    "0  the bundle was written (there may be warnings)",
    "2  usage, inputs that are not there, or a bundle that would not be safe to share",
    "3  files could not be read or written",
    NULL,
};

static const struct cli_verb verb = {
    .program = "retape-bundle",
    .name = "create",
    .usage = "[options]",
    .summary = "Pack a run into one canonical .tar.gz: the same inputs give the same "
               "bytes. The bundle is verified while it is written and appears only when "
               "it is good.",
    .options = options,
    .exits = exits,
    .example = "retape-bundle create --run-id run-7 --cassettes cassettes",
};

static void show_progress(void *arg, const char *what, uint64_t done, uint64_t total)
{
    progress_tell(arg, what, done, total);
}

static void put_member(struct buf *out, const char *name, const char *value)
{
    buf_fmt(out, "%s\"%s\":", out->data[out->len - 1] == '{' ? "" : ",", name);
    if (value)
        json_bytes(out, value, strlen(value));
    else
        buf_str(out, "null");
}

static void put_json(const struct bundle_made *m, struct buf *out)
{
    const struct pack_digests *d = &m->verdict.digests;

    buf_char(out, '{');
    put_member(out, "path", m->path);
    put_member(out, "run_id", m->run_id);
    buf_fmt(out, ",\"written\":%s", m->written ? "true" : "false");
    put_member(out, "bundle_digest", d->has_file ? d->file : NULL);
    put_member(out, "content_digest", d->has_content ? d->content : NULL);
    buf_fmt(out, ",\"members\":%zu,\"unpacked_bytes\":%llu,\"size\":%llu",
            m->verdict.members, (unsigned long long)m->verdict.unpacked,
            (unsigned long long)d->file_size);
    buf_fmt(out,
            ",\"errors\":%zu,\"warnings\":%zu,\"findings\":", m->verdict.findings.errors,
            m->verdict.findings.warnings);
    findings_json(&m->verdict.findings, out);
    buf_str(out, "}\n");
}

static void put_text(const struct bundle_made *m, bool dry, struct buf *out)
{
    const struct verdict *v = &m->verdict;

    if (v->findings.errors)
        buf_fmt(out, "bundle create failed verification: %s (%zu error(s))\n", m->path,
                v->findings.errors);
    else if (v->findings.warnings)
        buf_fmt(out, "bundle %s with warnings: %s (%zu warning(s))\n",
                dry ? "would be created" : "created", m->path, v->findings.warnings);
    else
        buf_fmt(out, "bundle %s: %s\n", dry ? "would be created" : "created", m->path);
    if (v->findings.errors)
        return;
    buf_fmt(out, "bundle_digest: %s\ncontent_digest: %s\n", v->digests.file,
            v->digests.content);
    buf_fmt(out, "members: %zu, %llu bytes, %llu packed\n", v->members,
            (unsigned long long)v->unpacked, (unsigned long long)v->digests.file_size);
    for (size_t i = 0; dry && v->manifest && i < v->manifest->n_files; i++) {
        const struct manifest_file *file = &v->manifest->files[i];
        char path[PACK_PATH_TEXT];
        pack_path_text(file->path, strlen(file->path), path);
        buf_fmt(out, "  %12llu  %s\n", (unsigned long long)file->size, path);
    }
}

static int print(const struct bundle_made *m, const struct flags *f, struct err *e)
{
    struct buf out = BUF_INIT(MIB(16)), said = BUF_INIT(MIB(4));
    int rc;

    if (f->json) {
        put_json(m, &out);
    } else {
        findings_text(&m->verdict.findings, &said);
        put_text(m, f->plan.dry_run, &out);
    }
    rc = buf_check(&out, "output", e);
    if (rc == 0 && said.len)
        rc = fsx_write_all(STDERR_FILENO, said.data, said.len, e);
    if (rc == 0)
        rc = fsx_write_all(STDOUT_FILENO, out.data, out.len, e);
    buf_free(&out);
    buf_free(&said);
    return rc;
}

static int run(struct flags *f, int *status, struct err *e)
{
    struct progress progress = {0};
    struct bundle_made made = {0};

    f->plan.files = f->files.v;
    f->plan.env = f->env.v;
    f->plan.progress = show_progress;
    f->plan.progress_arg = &progress;
    int rc = bundle_create(&f->plan, &made, e);
    progress_end(&progress);
    if (rc == 0)
        rc = print(&made, f, e);
    *status = made.verdict.findings.errors ? 2 : 0;
    bundle_made_fini(&made);
    return rc;
}

int verb_bundle_create(int argc, char **argv)
{
    struct flags f = {0};
    struct cli_rest rest = {0};
    struct err e = {0};
    int status = 0;
    int rc = cli_parse(&verb, argc, argv, &f, &rest, &e);

    if (rc == 0)
        rc = rest.help ? answer_help(&verb, &e) : run(&f, &status, &e);
    if (rc < 0)
        log_error("%s", e.msg);
    cli_fini(&verb, &f, &rest);
    return rc < 0 ? err_exit_status(e.code) : status;
}
