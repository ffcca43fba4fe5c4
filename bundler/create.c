/* create.c - see create.h. */
#include "bundler/create.h"

#include "base/fsx.h"
#include "base/json.h"
#include "base/limits.h"
#include "bundler/describe.h"
#include "bundler/outfile.h"
#include "bundler/source.h"
#include "bundler/survey.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK KIB(256)
#define PIPE_ROOM MIB(1) /* so that the two sides wait for each other seldom */

/* ---- the verifier on its thread ---- */

struct verifier {
    int ends[2]; /* read by the thread, written by us; -1 when closed */
    bool running;
    pthread_t thread;
    struct verify_options options;
    struct verdict *verdict;
    int rc;
    struct err e;
};

/* Whatever comes of it, the pipe is read to its end: the writer must not block. */
static void *verify_pipe(void *arg)
{
    struct verifier *v = arg;
    char rest[4096];

    v->rc = bundle_verify(v->ends[0], &v->options, v->verdict, &v->e);
    while (read(v->ends[0], rest, sizeof rest) > 0)
        ;
    return NULL;
}

static int start_verifier(struct verifier *v, struct verdict *verdict, struct err *e)
{
    /* No rules: what is hashed here has the digest of what was scanned. */
    v->options = (struct verify_options){.lacks_is_error = true};
    v->verdict = verdict;
    if (pipe2(v->ends, O_CLOEXEC) < 0)
        return err_set(e, ERR_IO, "pipe: %s", strerror(errno));
    (void)fcntl(v->ends[1], F_SETPIPE_SZ, (int)PIPE_ROOM);
    if (pthread_create(&v->thread, NULL, verify_pipe, v) != 0)
        return err_set(e, ERR_NOMEM, "cannot start a thread");
    v->running = true;
    return 0;
}

static void shut(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* All is written, or nothing more comes: its verdict. */
static int end_verifier(struct verifier *v, struct err *e)
{
    shut(&v->ends[1]);
    if (v->running)
        pthread_join(v->thread, NULL);
    v->running = false;
    shut(&v->ends[0]);
    if (v->rc < 0)
        *e = v->e;
    return v->rc;
}

/* ---- writing ---- */

struct output {
    struct outfile *file; /* NULL: a dry run */
    struct verifier verifier;
    struct pack_writer *writer;
    const struct bundle_plan *plan;
    uint64_t done, total;
    uint8_t *block;
};

/* Compressed bytes go to the file and to the verifier. */
static int on_packed(void *arg, const void *data, size_t len, struct err *e)
{
    struct output *o = arg;

    if (o->file && outfile_write(o->file, data, len, e) < 0)
        return -1;
    return fsx_write_all(o->verifier.ends[1], data, len, e);
}

static int changed(const struct input *input, struct err *e)
{
    return err_set(e, ERR_BUSY,
                   "%s changed while it was read; is it still being written?",
                   input->source);
}

static int write_text(struct output *o, const char *path, const struct buf *text,
                      struct err *e)
{
    if (pack_writer_member(o->writer, path, text->len, e) < 0)
        return -1;
    return text->len ? pack_writer_bytes(o->writer, text->data, text->len, e) : 0;
}

static int write_scrubbed(struct output *o, const struct input *input, struct err *e)
{
    struct buf text = BUF_INIT(2 * LIMIT_SCRUB_FILE);
    int rc = survey_scrubbed(input, &text, e);

    if (rc == 0 && text.len != input->size)
        rc = changed(input, e);
    if (rc == 0)
        rc = write_text(o, input->dest, &text, e);
    buf_free(&text);
    return rc;
}

static int copy_bytes(struct output *o, const struct input *input, int fd, struct err *e)
{
    uint64_t left = input->size;
    ssize_t n;

    while ((n = read(fd, o->block, BLOCK)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(e, ERR_IO, "%s: %s", input->source, strerror(errno));
        if ((uint64_t)n > left)
            return changed(input, e);
        left -= (uint64_t)n;
        if (pack_writer_bytes(o->writer, o->block, (size_t)n, e) < 0)
            return -1;
        o->done += (uint64_t)n;
        if (o->plan->progress)
            o->plan->progress(o->plan->progress_arg, "write", o->done, o->total);
    }
    return left ? changed(input, e) : 0;
}

static int write_input(struct output *o, const struct input *input, struct err *e)
{
    if (input->scrub)
        return write_scrubbed(o, input, e);
    int fd = open(input->source, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_IO, "%s: %s", input->source, strerror(errno));
    int rc = pack_writer_member(o->writer, input->dest, input->size, e);
    if (rc == 0)
        rc = copy_bytes(o, input, fd, e);
    (void)close(fd);
    return rc;
}

static int write_members(struct output *o, const struct source *s,
                         const struct buf *manifest, struct err *e)
{
    if (write_text(o, PACK_MANIFEST, manifest, e) < 0)
        return -1;
    for (size_t i = 0; i < s->inputs.n; i++)
        if (write_input(o, &s->inputs.v[i], e) < 0)
            return -1;
    return pack_writer_finish(o->writer, e);
}

/* Write, verify while writing, and keep what passed. */
static int write_bundle(const struct bundle_plan *plan, const struct source *s,
                        struct bundle_made *out, struct err *e)
{
    struct output o = {.plan = plan, .total = s->inputs.bytes, .verifier.ends = {-1, -1}};
    struct err ignored;
    int rc = -1;

    o.block = malloc(BLOCK);
    if (!o.block) {
        err_set(e, ERR_NOMEM, "out of memory");
        goto out;
    }
    if (!plan->dry_run && outfile_open(&o.file, out->path, e) < 0)
        goto out;
    if (start_verifier(&o.verifier, &out->verdict, e) < 0 ||
        pack_writer_open(&o.writer, on_packed, &o, e) < 0 ||
        write_members(&o, s, &out->manifest, e) < 0)
        goto out;
    rc = end_verifier(&o.verifier, e);
    if (rc == 0 && o.file && out->verdict.findings.errors == 0) {
        rc = outfile_keep(o.file, e);
        out->written = rc == 0;
    }
out:
    pack_writer_close(&o.writer);
    (void)end_verifier(&o.verifier, &ignored);
    outfile_drop(&o.file);
    free(o.block);
    return rc;
}

/* ---- the whole ---- */

static int scan_manifest(const struct bundle_plan *plan, const struct scan_rules *rules,
                         const struct buf *text, struct findings *f, struct err *e)
{
    struct scan *scan = NULL;
    struct scan_result result;
    int rc = -1;

    if (scan_new(&scan, rules, e) == 0 &&
        scan_member_begin(scan, PACK_MANIFEST, e) == 0 &&
        scan_member_feed(scan, text->data, text->len, e) == 0 &&
        scan_member_end(scan, &result, e) == 0)
        rc = verify_add_scan(f, PACK_MANIFEST, &result, plan->assay_strict, e);
    scan_free(&scan);
    return rc;
}

/* Assay takes the first .yaml, .yml or .json below files/ for the config and the first
 * .jsonl for the trace, by the order of names and whatever the manifest says. */
static int check_shadows(const struct source *s, struct findings *f, struct err *e)
{
    static const struct {
        enum source_role role;
        const char *code, *what;
        const char *types[3];
    } roles[] = {
        {SOURCE_CONFIG,
         "W_CONFIG_SHADOWED",
         "config",
         {"application/x-yaml", "application/json"}},
        {SOURCE_TRACE, "W_TRACE_SHADOWED", "trace", {"application/x-ndjson"}},
    };

    for (size_t i = 0; i < s->inputs.n; i++) {
        const char *path = s->inputs.v[i].dest, *type = manifest_content_type(path);
        for (size_t k = 0; k < COUNT_OF(roles); k++) {
            const char *chosen = s->dest[roles[k].role];
            bool same_type = false;
            for (const char *const *t = roles[k].types; type && *t; t++)
                same_type |= strcmp(type, *t) == 0;
            if (!same_type || !chosen || strncmp(path, "files/", 6) != 0 ||
                strcmp(path, chosen) >= 0)
                continue;
            char text[PACK_PATH_TEXT];
            pack_path_text(path, strlen(path), text);
            if (findings_add(f, SEVERITY_WARNING, roles[k].code, path, e,
                             "%s stands before the %s: Assay would take it for that",
                             text, roles[k].what) < 0)
                return -1;
        }
    }
    return 0;
}

static int choose_path(const struct bundle_plan *plan, struct bundle_made *out,
                       struct err *e)
{
    struct buf path = BUF_INIT(PATH_MAX);

    if (plan->output) {
        out->path = strdup(plan->output);
        return out->path ? 0 : err_set(e, ERR_NOMEM, "out of memory");
    }
    if (!describe_run_id_ok(out->run_id))
        return err_set(e, ERR_CONFIG,
                       "the run's id cannot name a file; use --run-id or --output");
    buf_fmt(&path, ".assay/bundles/%s.tar.gz", out->run_id);
    out->path = buf_take(&path);
    buf_free(&path);
    return out->path ? 0 : err_set(e, ERR_NOMEM, "out of memory");
}

static int check_plan(const struct bundle_plan *plan, struct err *e)
{
    if (plan->run_id && !describe_run_id_ok(plan->run_id))
        return err_set(e, ERR_USAGE,
                       "--run-id: letters, digits, '.', '_' and '-' only, "
                       "at most 128");
    if (plan->assay_version &&
        !json_is_utf8(plan->assay_version, strlen(plan->assay_version)))
        return err_set(e, ERR_USAGE, "--assay-version: not UTF-8");
    return 0;
}

/* Inputs, their digests and findings, the manifest and where it all goes. */
static int prepare(const struct bundle_plan *plan, struct source *s,
                   struct findings *found, struct bundle_made *out, struct err *e)
{
    struct survey_options how = {.assay_strict = plan->assay_strict,
                                 .progress = plan->progress,
                                 .progress_arg = plan->progress_arg};
    struct scan_rules *rules = NULL;
    struct manifest *m = NULL;
    int rc = -1;

    if (check_plan(plan, e) < 0 || scan_rules_new(&rules, plan->rules, e) < 0)
        goto out;
    how.rules = rules;
    if (source_collect(s, plan, e) < 0 || survey(&s->inputs, &how, found, e) < 0 ||
        describe(plan, s, &m, &out->run_id, e) < 0 || choose_path(plan, out, e) < 0 ||
        check_shadows(s, found, e) < 0)
        goto out;
    manifest_write(m, &out->manifest);
    if (buf_check(&out->manifest, PACK_MANIFEST, e) < 0 ||
        scan_manifest(plan, rules, &out->manifest, found, e) < 0)
        goto out;
    rc = 0;
out:
    manifest_free(&m);
    scan_rules_free(&rules);
    return rc;
}

int bundle_create(const struct bundle_plan *plan, struct bundle_made *out, struct err *e)
{
    struct findings found = {0};
    struct source source = {0};
    int rc = -1;

    *out = (struct bundle_made){.manifest = BUF_INIT(LIMIT_BUNDLE_MANIFEST)};
    if (prepare(plan, &source, &found, out, e) < 0)
        goto out;
    rc = found.errors ? 0 : write_bundle(plan, &source, out, e);
    if (rc == 0)
        rc = findings_take(&out->verdict.findings, &found, e);
out:
    source_fini(&source);
    findings_fini(&found);
    return rc;
}

void bundle_made_fini(struct bundle_made *m)
{
    free(m->path);
    free(m->run_id);
    verdict_fini(&m->verdict);
    buf_free(&m->manifest);
}
