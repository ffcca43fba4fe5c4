/* extract.c - `retape-bundle extract`: a verified bundle into an empty folder. */
#include "base/cli.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "bundler/answer.h"
#include "bundler/progress.h"
#include "bundler/unpack.h"
#include "bundler/verbs.h"
#include "bundler/verify.h"

#include <stddef.h>
#include <string.h>

struct flags {
    const char *bundle, *output, *rules;
    bool json;
};

static const struct cli_option options[] = {
    {"--bundle", "FILE", CLI_TEXT, offsetof(struct flags, bundle), NULL, NULL, NULL,
     "the bundle, instead of a plain argument"},
    {"--output", "DIR", CLI_TEXT, offsetof(struct flags, output), NULL, NULL,
     "the bundle's name", "folder to unpack into: empty, or not there yet"},
    {"--rules", "FILE", CLI_TEXT, offsetof(struct flags, rules), NULL, NULL, NULL,
     "further rules for the secret scan"},
    {"--json", NULL, CLI_FLAG, offsetof(struct flags, json), NULL, NULL, NULL,
     "print what was unpacked as JSON"},
    {0},
};

static const char *const exits[] = {
    "0  unpacked",
    "2  the bundle is not good, or the folder is not empty; or usage",
    "3  files could not be read or written",
    NULL,
};

static const struct cli_verb verb = {
    .program = "retape-bundle",
    .name = "extract",
    .usage = "[options] FILE",
    .summary = "Unpack a bundle into an empty folder. It is verified while it is "
               "unpacked, and unless all is well nothing is left behind.",
    .options = options,
    .exits = exits,
    .example = "retape-bundle extract --output run-7 run-7.tar.gz",
    .most = 1,
};

/* ---- members ---- */

static int take_manifest(void *arg, const struct manifest *m, const char *text,
                         size_t len, struct err *e)
{
    (void)m;
    return unpack_begin(arg, PACK_MANIFEST, e) < 0 || unpack_bytes(arg, text, len, e) < 0
               ? -1
               : 0;
}

static int take_begin(void *arg, const struct pack_member *member, struct err *e)
{
    return unpack_begin(arg, member->path, e);
}

static int take_bytes(void *arg, const void *data, size_t len, struct err *e)
{
    return unpack_bytes(arg, data, len, e);
}

static int take_end(void *arg, struct err *e)
{
    return unpack_end(arg, e);
}

static void show_progress(void *arg, uint64_t unpacked)
{
    progress_tell(arg, "extract", unpacked, 0);
}

/* ---- the verb ---- */

/* "run-7" for "a/run-7.tar.gz". */
static void default_output(const char *bundle, struct buf *out)
{
    static const char *const ends[] = {".tar.gz", ".tgz"};
    const char *slash = strrchr(bundle, '/'), *name = slash ? slash + 1 : bundle;
    size_t n = strlen(name);

    for (size_t i = 0; i < COUNT_OF(ends); i++)
        if (n > strlen(ends[i]) && strcmp(name + n - strlen(ends[i]), ends[i]) == 0) {
            buf_add(out, name, n - strlen(ends[i]));
            return;
        }
    buf_fmt(out, "%s.d", name);
}

static int print(const struct verdict *v, const char *folder, bool json, struct err *e)
{
    struct buf out = BUF_INIT(MIB(4));
    bool good = v->findings.errors == 0;
    int rc;

    if (json) {
        buf_fmt(&out, "{\"ok\":%s,\"folder\":", good ? "true" : "false");
        json_bytes(&out, folder, strlen(folder));
        buf_fmt(&out,
                ",\"members\":%zu,\"unpacked_bytes\":%llu,\"findings\":", v->members,
                (unsigned long long)v->unpacked);
        findings_json(&v->findings, &out);
        buf_str(&out, "}\n");
        rc = answer_bytes(&out, e);
    } else {
        if (good)
            buf_fmt(&out, "unpacked %zu member(s), %llu bytes, into %s\n", v->members,
                    (unsigned long long)v->unpacked, folder);
        else
            buf_str(&out, "nothing was unpacked: the bundle is not good\n");
        rc = answer_text(&v->findings, &out, e);
    }
    buf_free(&out);
    return rc;
}

static int unpack(const char *bundle, const char *folder, const struct flags *f,
                  int *status, struct err *e)
{
    struct progress progress = {0};
    struct unpack *u = NULL;
    struct verify_sink sink = {take_manifest, take_begin, take_bytes, take_end, NULL};
    struct verify_options how = {
        .sink = &sink, .progress = show_progress, .progress_arg = &progress};
    struct scan_rules *rules = NULL;
    struct verdict verdict = {0};
    int rc = -1;

    if (scan_rules_new(&rules, f->rules, e) < 0 || unpack_open(&u, folder, e) < 0)
        goto out;
    how.rules = rules;
    sink.arg = u;
    rc = bundle_verify_file(bundle, &how, &verdict, e);
    progress_end(&progress);
    if (rc == 0 && verdict.findings.errors == 0)
        rc = unpack_keep(u, e);
    if (rc == 0)
        rc = print(&verdict, folder, f->json, e);
    *status = verdict.findings.errors ? 2 : 0;
out:
    unpack_close(&u);
    verdict_fini(&verdict);
    scan_rules_free(&rules);
    return rc;
}

static int run(const char *bundle, const struct flags *f, int *status, struct err *e)
{
    struct buf folder = BUF_INIT(KIB(8));
    int rc;

    if (f->output)
        buf_str(&folder, f->output);
    else
        default_output(bundle, &folder);
    rc = buf_check(&folder, "--output", e);
    if (rc == 0)
        rc = unpack(bundle, buf_cstr(&folder), f, status, e);
    buf_free(&folder);
    return rc;
}

int verb_bundle_extract(int argc, char **argv)
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
                     "extract takes one bundle (see 'retape-bundle extract --help')");
    else if (rc == 0)
        rc = run(f.bundle ? f.bundle : rest.v[0], &f, &status, &e);
    if (rc < 0)
        log_error("%s", e.msg);
    cli_fini(&verb, &f, &rest);
    return rc < 0 ? err_exit_status(e.code) : status;
}
