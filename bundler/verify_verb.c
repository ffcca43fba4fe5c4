/* verify_verb.c - `retape-bundle verify`: a verdict for people or for machines. */
#include "base/cli.h"
#include "base/fsx.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "bundler/answer.h"
#include "bundler/progress.h"
#include "bundler/verbs.h"
#include "bundler/verify.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

struct flags {
    const char *bundle, *rules;
    bool json, assay_strict;
};

static const struct cli_option options[] = {
    {"--bundle", "FILE", CLI_TEXT, offsetof(struct flags, bundle), NULL, NULL, NULL,
     "the bundle, instead of a plain argument"},
    {"--rules", "FILE", CLI_TEXT, offsetof(struct flags, rules), NULL, NULL, NULL,
     "further rules for the secret scan"},
    {"--assay-strict", NULL, CLI_FLAG, offsetof(struct flags, assay_strict), NULL, NULL,
     NULL, "text that only Assay's scan dislikes is an error, not a warning"},
    {"--json", NULL, CLI_FLAG, offsetof(struct flags, json), NULL, NULL, NULL,
     "print the verdict as JSON"},
    {0},
};

static const char *const exits[] = {
    "0  the bundle is good (there may be warnings)",
    "2  it is not, or it was refused; or usage",
    "3  it could not be read",
    NULL,
};

static const struct cli_verb verb = {
    .program = "retape-bundle",
    .name = "verify",
    .usage = "[options] FILE",
    .summary =
        "Check a bundle in one pass: structure, paths, ceilings, the hash and size "
        "of every member, and secrets that must not be shared.",
    .options = options,
    .exits = exits,
    .example = "retape-bundle verify .assay/bundles/run-7.tar.gz",
    .most = 1,
};

static void show_progress(void *arg, uint64_t unpacked)
{
    progress_tell(arg, "verify", unpacked, 0);
}

static void put_digest(struct buf *out, const char *name, bool known, const char *digest)
{
    buf_fmt(out, known ? ",\"%s\":\"%s\"" : ",\"%s\":null", name, digest);
}

static void put_json(const char *path, const struct verdict *v, struct buf *out)
{
    buf_str(out, "{\"bundle\":");
    json_bytes(out, path, strlen(path));
    buf_fmt(out, ",\"ok\":%s", v->findings.errors ? "false" : "true");
    put_digest(out, "bundle_digest", v->digests.has_file, v->digests.file);
    put_digest(out, "content_digest", v->digests.has_content, v->digests.content);
    buf_fmt(out,
            ",\"members\":%zu,\"unpacked_bytes\":%llu,\"errors\":%zu,\"warnings\":%zu",
            v->members, (unsigned long long)v->unpacked, v->findings.errors,
            v->findings.warnings);
    buf_str(out, ",\"findings\":");
    findings_json(&v->findings, out);
    buf_str(out, "}\n");
}

static void put_text(const char *path, const struct verdict *v, struct buf *out)
{
    if (v->findings.errors)
        buf_fmt(out, "bundle verify: FAILED (%s, %zu error(s), %zu warning(s))\n", path,
                v->findings.errors, v->findings.warnings);
    else if (v->findings.warnings)
        buf_fmt(out, "bundle verify: OK with warnings (%s, %zu warning(s))\n", path,
                v->findings.warnings);
    else
        buf_fmt(out, "bundle verify: OK (%s)\n", path);
    if (v->digests.has_file)
        buf_fmt(out, "bundle_digest: %s\n", v->digests.file);
    if (v->digests.has_content)
        buf_fmt(out, "content_digest: %s\n", v->digests.content);
}

/* Findings are diagnostics, the verdict is the result. */
static int print(const char *path, const struct verdict *v, bool json, struct err *e)
{
    struct buf out = BUF_INIT(MIB(4)), said = BUF_INIT(MIB(4));
    int rc;

    if (json) {
        put_json(path, v, &out);
    } else {
        findings_text(&v->findings, &said);
        put_text(path, v, &out);
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

static int run(const char *path, const struct flags *f, int *status, struct err *e)
{
    struct progress progress = {0};
    struct verify_options how = {.assay_strict = f->assay_strict,
                                 .progress = show_progress,
                                 .progress_arg = &progress};
    struct scan_rules *rules = NULL;
    struct verdict verdict = {0};
    int rc = -1;

    if (scan_rules_new(&rules, f->rules, e) < 0)
        goto out;
    how.rules = rules;
    rc = bundle_verify_file(path, &how, &verdict, e);
    progress_end(&progress);
    if (rc == 0)
        rc = print(path, &verdict, f->json, e);
    *status = verdict.findings.errors ? 2 : 0;
out:
    verdict_fini(&verdict);
    scan_rules_free(&rules);
    return rc;
}

int verb_bundle_verify(int argc, char **argv)
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
                     "verify takes one bundle (see 'retape-bundle verify --help')");
    else if (rc == 0)
        rc = run(f.bundle ? f.bundle : rest.v[0], &f, &status, &e);
    if (rc < 0)
        log_error("%s", e.msg);
    cli_fini(&verb, &f, &rest);
    return rc < 0 ? err_exit_status(e.code) : status;
}
