/* describe.c - see describe.h. */
#include "bundler/describe.h"

#include "base/clock.h"
#include "base/json.h"
#include "bundler/git.h"
#include "bundler/mined.h"
#include "net/fetch.h"
#include "net/httpd.h"
#include "pack/pack.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

bool describe_run_id_ok(const char *id)
{
    size_t n = strlen(id);

    if (n == 0 || n > 128 || id[0] == '.' || id[0] == '-')
        return false;
    for (; *id; id++)
        if (!isalnum((unsigned char)*id) && !strchr("._-", *id))
            return false;
    return true;
}

/* ---- when ---- */

/* The format's times end with an offset, not with Z. */
static int set_time(struct manifest *m, const char *text, struct err *e)
{
    struct buf out = BUF_INIT(128);
    size_t n = strlen(text);
    bool z = n > 0 && (text[n - 1] == 'Z' || text[n - 1] == 'z');

    buf_add(&out, text, z ? n - 1 : n);
    if (z)
        buf_str(&out, "+00:00");
    int rc = buf_check(&out, "created_at", e);
    if (rc == 0)
        rc = manifest_set(&m->created_at, buf_cstr(&out), e);
    buf_free(&out);
    return rc;
}

static int set_epoch(struct manifest *m, const char *seconds, struct err *e)
{
    char *end = NULL;
    long long value = strtoll(seconds, &end, 10);
    char text[CLOCK_TEXT];

    if (!isdigit((unsigned char)*seconds) || *end || value > 253402300799) /* year 9999 */
        return err_set(e, ERR_CONFIG,
                       "SOURCE_DATE_EPOCH is not a number of seconds since 1970");
    clock_rfc3339((int64_t)value * 1000, text);
    memcpy(strchr(text, '.'), "Z", 2); /* whole seconds */
    return set_time(m, text, e);
}

static int describe_time(struct manifest *m, const struct bundle_plan *plan,
                         struct err *e)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    char now[CLOCK_TEXT];

    if (plan->created_at && clock_parse_rfc3339(plan->created_at) < 0)
        return err_set(e, ERR_USAGE,
                       "--created-at: not a time like 2026-02-06T10:11:12Z");
    if (plan->reproducible)
        return 0;
    if (plan->created_at)
        return set_time(m, plan->created_at, e);
    if (epoch && *epoch)
        return set_epoch(m, epoch, e);
    clock_rfc3339(clock_wall_ms(), now);
    return set_time(m, now, e);
}

/* ---- where ---- */

static int describe_tools(struct manifest *m, struct err *e)
{
    const struct {
        const char *name, *version;
    } tools[] = {
        {"retape", RETAPE_VERSION},
        {"libarchive", pack_library_version()},
        {"libcurl", fetch_library_version()},
        {"libmicrohttpd", httpd_library_version()},
        {"mbedtls", digest_library_version()},
        {"yyjson", json_library_version()},
        {"zlib", pack_zlib_version()},
    };
    struct utsname name;

    for (size_t i = 0; i < COUNT_OF(tools); i++)
        if (manifest_add_tool(m, tools[i].name, tools[i].version, e) < 0)
            return -1;
    m->toolchain.has_runner = true;
    m->toolchain.has_ci = m->toolchain.ci = getenv("CI") != NULL;
    if (uname(&name) < 0)
        return 0;
    return manifest_set(&m->toolchain.os, "linux", e) < 0 ||
                   manifest_set(&m->toolchain.arch, name.machine, e) < 0
               ? -1
               : 0;
}

static int describe_git(struct manifest *m, const struct source *s, struct err *e)
{
    char sha[GIT_SHA_TEXT];
    bool dirty = false;

    if (!git_look(s->root, sha, &dirty))
        return 0;
    m->has_git_dirty = true;
    m->git_dirty = dirty;
    return manifest_set(&m->git_sha, sha, e);
}

static int describe_env(struct manifest *m, const struct bundle_plan *plan, struct err *e)
{
    for (const char *const *word = plan->env; word && *word; word++) {
        const char *equals = strchr(*word, '=');
        if (!equals || equals == *word || !json_is_utf8(*word, strlen(*word)))
            return err_set(e, ERR_USAGE, "--env %.80s: not NAME=VALUE", *word);
        char *key = strndup(*word, (size_t)(equals - *word));
        int rc = key ? manifest_add_env(m, key, equals + 1, e)
                     : err_set(e, ERR_NOMEM, "out of memory");
        free(key);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int describe_machine(struct manifest *m, const struct bundle_plan *plan,
                            const struct source *s, struct err *e)
{
    const char *workflow = getenv("GITHUB_RUN_ID");
    char *label = NULL;

    if (describe_time(m, plan, e) < 0)
        return -1;
    if (plan->reproducible)
        return 0;
    if (source_label(s, plan->audit_paths, &label, e) < 0)
        return -1;
    int rc = json_is_utf8(label, strlen(label))
                 ? manifest_set(&m->source_run_path, label, e)
                 : 0;
    free(label);
    if (rc == 0 && workflow && *workflow && json_is_utf8(workflow, strlen(workflow)))
        rc = manifest_set(&m->workflow_run_id, workflow, e);
    return rc < 0 || describe_git(m, s, e) < 0 || describe_tools(m, e) < 0 ||
                   describe_env(m, plan, e) < 0
               ? -1
               : 0;
}

/* ---- what ---- */

/* The digest of the input of a role, or NULL. */
static const char *digest_of(const struct source *s, enum source_role role)
{
    const struct input *input = source_input(s, role);

    return input ? input->digest : NULL;
}

static const char *first_of(const char *a, const char *b)
{
    return a ? a : b;
}

static int describe_digests(struct manifest *m, const struct source *s,
                            const struct mined *mined, struct err *e)
{
    const char *config = digest_of(s, SOURCE_CONFIG);
    const char *policy = digest_of(s, SOURCE_POLICY);
    const char *baseline = digest_of(s, SOURCE_BASELINE);
    const char *trace = digest_of(s, SOURCE_TRACE);
    const struct {
        char **to;
        const char *digest;
    } digests[] = {
        {&m->config_digest, config},
        {&m->policy_digest, first_of(first_of(policy, mined->policy_digest), config)},
        {&m->baseline_digest, first_of(baseline, mined->baseline_digest)},
        {&m->trace_digest, first_of(mined->trace_digest, trace)},
    };

    for (size_t i = 0; i < COUNT_OF(digests); i++)
        if (manifest_set(digests[i].to, digests[i].digest, e) < 0)
            return -1;
    return 0;
}

static int describe_outputs(struct manifest *m, const struct source *s, struct err *e)
{
    struct manifest_outputs *o = &m->outputs;
    const struct {
        char **to;
        enum source_role role;
    } places[] = {
        {&o->run, SOURCE_RUN},
        {&o->summary, SOURCE_SUMMARY},
        {&o->junit, SOURCE_JUNIT},
        {&o->sarif, SOURCE_SARIF},
    };

    for (size_t i = 0; i < COUNT_OF(places); i++) {
        if (manifest_set(places[i].to, s->dest[places[i].role], e) < 0)
            return -1;
        o->present |= *places[i].to != NULL;
    }
    return manifest_set(&m->trace_path, s->dest[SOURCE_TRACE], e);
}

static bool has_cassettes(const struct inputs *in)
{
    for (size_t i = 0; i < in->n; i++)
        if (strncmp(in->v[i].dest, "cassettes/", 10) == 0 && in->v[i].size > 0)
            return true;
    return false;
}

/* What a test cannot be replayed without. */
static int describe_coverage(struct manifest *m, const struct source *s, struct err *e)
{
    if (!m->coverage.present)
        return 0;
    if (!s->dest[SOURCE_CONFIG] &&
        mined_block(m, "config snapshot missing from bundle", e) < 0)
        return -1;
    if (s->dest[SOURCE_TRACE] || has_cassettes(&s->inputs))
        return 0;
    return mined_block(m, "trace snapshot missing from bundle", e);
}

static int describe_files(struct manifest *m, const struct inputs *in, struct err *e)
{
    m->has_files = true;
    for (size_t i = 0; i < in->n; i++)
        if (manifest_add_file(m, in->v[i].dest, in->v[i].digest, in->v[i].size, e) < 0)
            return -1;
    m->scrub = (struct manifest_scrub){.present = true,
                                       .has_include_prompts = true,
                                       .has_scrub_cassettes = true,
                                       .scrub_cassettes = true};
    return manifest_set(&m->scrub.name, "default", e);
}

static int describe_run(struct manifest *m, const struct bundle_plan *plan,
                        const struct mined *mined, char **run_id, struct err *e)
{
    const char *id = first_of(plan->run_id, mined->run_id);

    if (manifest_set(&m->run_id, id, e) < 0 ||
        manifest_set(run_id, first_of(id, "latest"), e) < 0)
        return -1;
    return manifest_set(&m->assay_version,
                        plan->assay_version ? plan->assay_version : DESCRIBE_CONTRACT, e);
}

int describe(const struct bundle_plan *plan, const struct source *source,
             struct manifest **out, char **run_id, struct err *e)
{
    const struct input *run = source_input(source, SOURCE_RUN);
    const struct input *summary = source_input(source, SOURCE_SUMMARY);
    struct mined mined = {0};
    int rc = -1;

    *out = NULL;
    *run_id = NULL;
    if (manifest_new(out, e) < 0 ||
        mined_read(&mined, *out, run ? run->source : NULL,
                   summary ? summary->source : NULL, e) < 0 ||
        describe_run(*out, plan, &mined, run_id, e) < 0 ||
        manifest_set(&(*out)->selection_method, source->method, e) < 0 ||
        describe_machine(*out, plan, source, e) < 0 ||
        describe_digests(*out, source, &mined, e) < 0 ||
        describe_outputs(*out, source, e) < 0 || describe_coverage(*out, source, e) < 0 ||
        describe_files(*out, &source->inputs, e) < 0)
        goto out;
    rc = 0;
out:
    mined_fini(&mined);
    if (rc < 0) {
        manifest_free(out);
        free(*run_id);
        *run_id = NULL;
    }
    return rc;
}
