/* verify.c - see verify.h. */
#include "bundler/verify.h"

#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRESS_STEP MIB(8)

/* Members the manifest names outside its list of files. */
enum named { TRACE, RUN, SUMMARY, JUNIT, SARIF, NAMED };

struct checking {
    const struct verify_options *o;
    struct verdict *v;
    struct pack_reader *reader;
    struct digest_stream *sha;
    struct scan *scan;          /* NULL: no scan */
    bool *seen;                 /* by place in manifest->files */
    bool named[NAMED];          /* was the member it names there? */
    bool config, trace, output; /* what a bundle must have one of */
    uint64_t told;              /* progress */
};

static int add_error(struct checking *c, const char *code, const char *path,
                     const char *message, struct err *e)
{
    return findings_add(&c->v->findings, SEVERITY_ERROR, code, path, e, "%s", message);
}

/* ---- secrets ---- */

static bool is_under(const char *path, const char *folder)
{
    return strncmp(path, folder, strlen(folder)) == 0;
}

/* The first hit of a kind says where to look. */
static const struct scan_hit *first_hit(const struct scan_result *scan, bool assay_only)
{
    for (size_t i = 0; i < scan->n; i++)
        if (scan->hits[i].assay_only == assay_only)
            return &scan->hits[i];
    return NULL;
}

int verify_add_scan(struct findings *f, const char *path, const struct scan_result *scan,
                    bool assay_strict, struct err *e)
{
    const struct scan_hit *secret = first_hit(scan, false);
    const struct scan_hit *assay = first_hit(scan, true);
    bool output = is_under(path, "outputs/");
    char text[PACK_PATH_TEXT];

    pack_path_text(path, strlen(path), text);
    if (secret) {
        const char *form = scan_form_name(secret->form);
        if (findings_add(f, output ? SEVERITY_WARNING : SEVERITY_ERROR,
                         output ? "W_BUNDLE_SECRET" : "E_BUNDLE_SECRET", path, e,
                         output ? "output %s may contain secret/token patterns; review "
                                  "before sharing (%s%s%s in line %llu, %llu in all)"
                                : "forbidden pattern (secret/token) in %s: bundle not "
                                  "safe to share (%s%s%s in line %llu, %llu in all)",
                         text, secret->rule, *form ? " in " : "", form,
                         (unsigned long long)secret->line,
                         (unsigned long long)scan->secrets) < 0)
            return -1;
    }
    if (!assay || strcmp(path, PACK_MANIFEST) == 0) /* their scan leaves it out */
        return 0;
    bool strict = assay_strict && !output;
    return findings_add(f, strict ? SEVERITY_ERROR : SEVERITY_WARNING, "W_ASSAY_SCAN",
                        path, e,
                        "%s: no credential, but Assay's scan takes it for one (%s in "
                        "line %llu, %llu in all)",
                        text, assay->rule, (unsigned long long)assay->line,
                        (unsigned long long)scan->assays);
}

static int end_scan(struct checking *c, const char *path, struct err *e)
{
    struct scan_result result;

    if (!c->scan)
        return 0;
    if (scan_member_end(c->scan, &result, e) < 0)
        return -1;
    return verify_add_scan(&c->v->findings, path, &result, c->o->assay_strict, e);
}

/* ---- the manifest ---- */

static const char *named_path(const struct manifest *m, enum named which)
{
    const char *const paths[NAMED] = {
        [TRACE] = m->trace_path,        [RUN] = m->outputs.run,
        [SUMMARY] = m->outputs.summary, [JUNIT] = m->outputs.junit,
        [SARIF] = m->outputs.sarif,
    };

    return paths[which];
}

static int parse_manifest(struct checking *c, const struct buf *text, struct err *e)
{
    const char *code = NULL;

    if (manifest_read(&c->v->manifest, buf_cstr(text), text->len, c->o->manifest_depth,
                      &code, e) < 0) {
        if (e->code == ERR_NOMEM)
            return -1;
        c->v->refused = true;
        return add_error(c, code, PACK_MANIFEST, e->msg, e);
    }
    c->seen = calloc(c->v->manifest->n_files + 1, sizeof *c->seen);
    if (!c->seen)
        return err_set(e, ERR_NOMEM, "out of memory");
    if (c->scan && (scan_member_begin(c->scan, PACK_MANIFEST, e) < 0 ||
                    scan_member_feed(c->scan, buf_cstr(text), text->len, e) < 0))
        return -1;
    if (end_scan(c, PACK_MANIFEST, e) < 0)
        return -1;
    const struct verify_sink *sink = c->o->sink;
    if (sink && sink->manifest)
        return sink->manifest(sink->arg, c->v->manifest, buf_cstr(text), text->len, e);
    return 0;
}

/* 1 read, 0 the archive was refused, -1 error. */
static int take_manifest(struct checking *c, const struct pack_member *member,
                         struct err *e)
{
    struct buf text = BUF_INIT((size_t)member->size);
    const void *data;
    size_t len;
    int rc;

    while ((rc = pack_reader_read(c->reader, &data, &len, e)) > 0)
        buf_add(&text, data, len);
    if (rc == 0 &&
        (buf_check(&text, PACK_MANIFEST, e) < 0 || parse_manifest(c, &text, e) < 0))
        rc = -1;
    else
        rc = rc == 0 ? 1 : 0;
    buf_free(&text);
    return rc;
}

/* ---- members ---- */

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n > m && strcmp(s + n - m, end) == 0;
}

/* Remember what it is good for. */
static void note_member(struct checking *c, const struct pack_member *member)
{
    const char *path = member->path;

    for (enum named i = TRACE; i < NAMED; i++) {
        const char *named = named_path(c->v->manifest, i);
        c->named[i] |= named && strcmp(named, path) == 0;
    }
    if (is_under(path, "files/")) {
        c->config |= ends_with(path, ".yaml") || ends_with(path, ".yml") ||
                     ends_with(path, ".json");
        c->trace |= ends_with(path, ".jsonl");
    }
    c->trace |= is_under(path, "cassettes/") && member->size > 0;
    c->output |= strcmp(path, "outputs/summary.json") == 0;
    c->v->members++;
}

static int compare(struct checking *c, const struct pack_member *member,
                   const char digest[DIGEST_KEY_TEXT], struct err *e)
{
    const struct manifest *m = c->v->manifest;
    const struct manifest_file *file = manifest_find(m, member->path);
    char text[PACK_PATH_TEXT];

    if (!m->has_files)
        return 0;
    pack_path_text(member->path, strlen(member->path), text);
    if (!file)
        return findings_add(&c->v->findings, SEVERITY_ERROR, "E_BUNDLE_UNLISTED",
                            member->path, e,
                            "%s is in the bundle but not listed in the manifest", text);
    c->seen[file - m->files] = true;
    const char *hex = file->sha256;
    while (is_under(hex, "sha256:"))
        hex += strlen("sha256:");
    if (strcmp(hex, digest + strlen("sha256:")) != 0 &&
        findings_add(&c->v->findings, SEVERITY_ERROR, "E_BUNDLE_HASH", member->path, e,
                     "hash mismatch for %s: it is %s", text, digest) < 0)
        return -1;
    if (file->size == member->size)
        return 0;
    return findings_add(&c->v->findings, SEVERITY_ERROR, "E_BUNDLE_SIZE", member->path, e,
                        "size mismatch for %s: manifest %llu vs actual %llu", text,
                        (unsigned long long)file->size, (unsigned long long)member->size);
}

static int take_bytes(struct checking *c, const void *data, size_t len, struct err *e)
{
    const struct verify_sink *sink = c->o->sink;

    digest_stream_add(c->sha, data, len);
    if (c->scan && scan_member_feed(c->scan, data, len, e) < 0)
        return -1;
    if (sink && sink->bytes && sink->bytes(sink->arg, data, len, e) < 0)
        return -1;
    c->v->unpacked += len;
    if (c->o->progress && c->v->unpacked - c->told >= PROGRESS_STEP) {
        c->told = c->v->unpacked;
        c->o->progress(c->o->progress_arg, c->told);
    }
    return 0;
}

/* 1 read, 0 the archive was refused, -1 error. */
static int take_member(struct checking *c, const struct pack_member *member,
                       struct err *e)
{
    const struct verify_sink *sink = c->o->sink;
    char digest[DIGEST_KEY_TEXT];
    const void *data;
    size_t len;
    int rc;

    note_member(c, member);
    digest_stream_start(c->sha);
    if (c->scan && scan_member_begin(c->scan, member->path, e) < 0)
        return -1;
    if (sink && sink->begin && sink->begin(sink->arg, member, e) < 0)
        return -1;
    while ((rc = pack_reader_read(c->reader, &data, &len, e)) > 0)
        if (take_bytes(c, data, len, e) < 0)
            return -1;
    if (rc < 0)
        return 0;
    digest_stream_text(c->sha, digest);
    if (compare(c, member, digest, e) < 0 || end_scan(c, member->path, e) < 0)
        return -1;
    return sink && sink->end && sink->end(sink->arg, e) < 0 ? -1 : 1;
}

/* ---- when all was read ---- */

static bool can_be_member(const char *path)
{
    char normal[LIMIT_BUNDLE_PATH + 1];
    size_t len = strlen(path);

    return len <= LIMIT_BUNDLE_PATH && pack_path(path, len, normal) == PACK_OK &&
           strcmp(path, normal) == 0;
}

static int check_listed(struct checking *c, struct err *e)
{
    const struct manifest *m = c->v->manifest;
    char text[PACK_PATH_TEXT];

    if (!m->has_files)
        return findings_add(&c->v->findings, SEVERITY_WARNING, "W_NO_FILES", NULL, e,
                            "the manifest lists no files: nothing says what the members "
                            "should be");
    for (size_t i = 0; i < m->n_files; i++) {
        if (c->seen[i])
            continue;
        const char *path = m->files[i].path;
        bool possible = can_be_member(path);
        pack_path_text(path, strlen(path), text);
        if (findings_add(&c->v->findings, SEVERITY_ERROR,
                         possible ? "E_BUNDLE_MISSING" : "E_MANIFEST_FILES", path, e,
                         possible ? "manifest lists %s but file missing in bundle"
                                  : "manifest lists '%s', which no member can be named",
                         text) < 0)
            return -1;
    }
    return 0;
}

static int check_named(struct checking *c, struct err *e)
{
    static const char *const keys[NAMED] = {
        "trace_path", "outputs.run", "outputs.summary", "outputs.junit", "outputs.sarif"};

    for (enum named i = TRACE; i < NAMED; i++) {
        const char *path = named_path(c->v->manifest, i);
        if (!path || c->named[i])
            continue;
        if (findings_add(&c->v->findings, SEVERITY_ERROR,
                         i == TRACE ? "E_BUNDLE_TRACE_PATH" : "E_BUNDLE_OUTPUTS_PATH",
                         path, e, "%s of the manifest names no member of the bundle",
                         keys[i]) < 0)
            return -1;
    }
    return 0;
}

static int check_contents(struct checking *c, struct err *e)
{
    const struct manifest *m = c->v->manifest;

    if (c->config || c->trace || c->output || m->config_digest || m->trace_digest)
        return 0;
    bool error = c->o->lacks_is_error;
    return findings_add(&c->v->findings, error ? SEVERITY_ERROR : SEVERITY_WARNING,
                        error ? "E_BUNDLE_LACKS" : "W_BUNDLE_LACKS", NULL, e,
                        "neither a config nor a trace, cassette or summary: there is "
                        "nothing to replay");
}

/* Read every member. 1 to the end, 0 refused (by the reader or by us), -1 error. */
static int read_members(struct checking *c, struct err *e)
{
    struct pack_member member;
    int rc;

    while ((rc = pack_reader_next(c->reader, &member, e)) > 0) {
        rc = member.manifest ? take_manifest(c, &member, e) : take_member(c, &member, e);
        if (rc <= 0)
            return rc;
        if (c->v->refused)
            return 0;
    }
    return rc == 0;
}

static int refused(struct checking *c, struct err *e)
{
    enum pack_refusal why = pack_reader_why(c->reader);

    if (why == PACK_OK) /* the manifest was, and that is told */
        return 0;
    if (e->code == ERR_IO || e->code == ERR_NOMEM)
        return -1;
    c->v->refused = true;
    c->v->why = why;
    return add_error(c, pack_refusal_code(why), pack_reader_where(c->reader), e->msg, e);
}

static int check_all(struct checking *c, struct err *e)
{
    int rc = read_members(c, e);

    if (rc == 0)
        rc = refused(c, e);
    else if (rc > 0)
        rc = check_listed(c, e) < 0 || check_named(c, e) < 0 || check_contents(c, e) < 0
                 ? -1
                 : 0;
    struct err late;
    if (pack_reader_digests(c->reader, &c->v->digests, &late) < 0 && rc == 0) {
        *e = late;
        rc = refused(c, e);
    }
    if (rc == 0 && !c->v->refused && c->v->digests.trailing > 0)
        rc = findings_add(&c->v->findings, SEVERITY_WARNING, "W_BUNDLE_TRAILING", NULL, e,
                          "%llu bytes behind the archive, which nobody looks at",
                          (unsigned long long)c->v->digests.trailing);
    return rc;
}

int bundle_verify(int fd, const struct verify_options *options, struct verdict *out,
                  struct err *e)
{
    struct checking c = {.o = options, .v = out};
    int rc = -1;

    *out = (struct verdict){0};
    c.sha = digest_stream_new();
    if (!c.sha) {
        err_set(e, ERR_NOMEM, "out of memory");
        goto out;
    }
    if (options->rules && scan_new(&c.scan, options->rules, e) < 0)
        goto out;
    if (pack_reader_open(&c.reader, fd, options->limits, e) < 0)
        goto out;
    rc = check_all(&c, e);
out:
    pack_reader_close(&c.reader);
    scan_free(&c.scan);
    digest_stream_free(&c.sha);
    free(c.seen);
    return rc;
}

int bundle_verify_file(const char *path, const struct verify_options *options,
                       struct verdict *out, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    int rc = -1;

    *out = (struct verdict){0};
    if (fd < 0)
        return err_set(e, errno == ENOENT || errno == ENOTDIR ? ERR_CONFIG : ERR_IO,
                       "%s: %s", path, strerror(errno));
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        err_set(e, ERR_CONFIG, "%s: a folder; a bundle is one .tar.gz file", path);
    else if ((rc = bundle_verify(fd, options, out, e)) < 0)
        err_in(e, "%s", path);
    (void)close(fd);
    return rc;
}

void verdict_fini(struct verdict *v)
{
    findings_fini(&v->findings);
    manifest_free(&v->manifest);
}
