/* packed.c - see packed.h. */
#include "proxy/packed.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "bundler/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct packed {
    struct packed_member *v;
    size_t n, cap;
    struct packed_member *open; /* the member being read, or NULL: not kept */
};

/* --- keeping members as they pass ------------------------------------------------------
 */

static bool is_kept(const char *path)
{
    return strncmp(path, "cassettes/", 10) == 0 || strncmp(path, "outputs/", 8) == 0;
}

static int begin(void *arg, const struct pack_member *member, struct err *e)
{
    struct packed *p = arg;

    p->open = NULL;
    if (member->manifest || !is_kept(member->path))
        return 0;
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 16;
        struct packed_member *v = realloc(p->v, cap * sizeof *v);
        if (!v)
            return err_set(e, ERR_NOMEM, "bundle: out of memory");
        p->v = v;
        p->cap = cap;
    }
    struct packed_member *m = &p->v[p->n];
    *m = (struct packed_member){strdup(member->path), BUF_INIT(LIMIT_BUNDLE_MEMBER)};
    if (!m->path)
        return err_set(e, ERR_NOMEM, "bundle: out of memory");
    p->n++;
    p->open = m;
    return 0;
}

static int bytes(void *arg, const void *data, size_t len, struct err *e)
{
    struct packed *p = arg;

    if (!p->open)
        return 0;
    buf_add(&p->open->bytes, data, len);
    return buf_check(&p->open->bytes, p->open->path, e);
}

/* --- judging
 * ------------------------------------------------------------------------------- */

static const struct packed_member *find(const struct packed *p, const char *path)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->v[i].path, path) == 0)
            return &p->v[i];
    return NULL;
}

/* What the bundled run.json says of its run; `run_id` is a string or an integer. */
static void take_source_run(const struct packed *p, const struct manifest *m,
                            struct packed_origin *origin)
{
    const char *path = m->outputs.run ? m->outputs.run : "outputs/run.json";
    const struct packed_member *run = find(p, path);
    yyjson_doc *doc = NULL;
    struct err e;

    if (!run || json_read(&doc, buf_cstr(&run->bytes), run->bytes.len, &e) < 0)
        return;
    outputs_carry(buf_cstr(&run->bytes), run->bytes.len, &origin->carried);
    yyjson_val *id = json_find(yyjson_doc_get_root(doc), "run_id");
    if (yyjson_is_str(id))
        (void)snprintf(origin->source_run_id, sizeof origin->source_run_id, "%.79s",
                       yyjson_get_str(id));
    else if (yyjson_is_uint(id))
        (void)snprintf(origin->source_run_id, sizeof origin->source_run_id, "%" PRIu64,
                       yyjson_get_uint(id));
    yyjson_doc_free(doc);
}

static void print_findings(const struct findings *f)
{
    for (size_t i = 0; i < f->n; i++)
        log_line(f->v[i].severity == SEVERITY_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARN,
                 "%s: %s", f->v[i].code, f->v[i].message);
}

static const char *first_error(const struct findings *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i].severity == SEVERITY_ERROR)
            return f->v[i].message;
    return "";
}

static const char *reason_for(const struct manifest *m, const char *id)
{
    for (size_t i = 0; i < m->coverage.n_reasons; i++)
        if (strcmp(m->coverage.reasons[i].key, id) == 0)
            return m->coverage.reasons[i].value;
    return "missing dependency";
}

static int judge(const struct verdict *v, bool live, struct packed_origin *origin,
                 struct err *e)
{
    const struct manifest *m = v->manifest;

    print_findings(&v->findings);
    if (v->findings.errors > 0) {
        origin->reason = v->refused && pack_refusal_is_limit(v->why)
                             ? "E_REPLAY_LIMIT_EXCEEDED"
                             : "E_CFG_PARSE";
        return err_set(e, ERR_FORMAT,
                       "replay bundle verification failed (%zu error(s)); first=%.200s",
                       v->findings.errors, first_error(&v->findings));
    }
    if (!live && m->coverage.incomplete.n > 0) {
        const char *first = m->coverage.incomplete.v[0];
        origin->reason = "E_REPLAY_MISSING_DEPENDENCY";
        return err_set(e, ERR_MISS,
                       "offline replay blocked: %zu incomplete test(s); first=%.100s "
                       "reason=%.200s",
                       m->coverage.incomplete.n, first, reason_for(m, first));
    }
    return 0;
}

int packed_open(struct packed **out, const char *path, bool live,
                struct packed_origin *origin, struct err *e)
{
    struct packed *p = calloc(1, sizeof *p);
    struct scan_rules *rules = NULL;
    struct verify_sink sink = {.begin = begin, .bytes = bytes, .arg = p};
    struct verdict v = {0};
    int rc = -1;

    *out = NULL;
    *origin = (struct packed_origin){.digest = "sha256:unknown", .reason = "E_CFG_PARSE"};
    if (!p)
        return err_set(e, ERR_NOMEM, "bundle: out of memory");
    if (scan_rules_new(&rules, NULL, e) < 0)
        goto out;
    struct verify_options options = {.rules = rules, .sink = &sink};
    if (bundle_verify_file(path, &options, &v, e) < 0)
        goto out;
    if (v.digests.has_file)
        (void)snprintf(origin->digest, sizeof origin->digest, "%s", v.digests.file);
    if (v.manifest)
        take_source_run(p, v.manifest, origin);
    if (judge(&v, live, origin, e) < 0) {
        err_in(e, "%s", path);
        goto out;
    }
    origin->reason = NULL;
    *out = p;
    p = NULL;
    rc = 0;
out:
    packed_close(&p);
    verdict_fini(&v);
    scan_rules_free(&rules);
    return rc;
}

void packed_close(struct packed **pp)
{
    struct packed *p = *pp;

    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++) {
        free(p->v[i].path);
        buf_free(&p->v[i].bytes);
    }
    free(p->v);
    free(p);
    *pp = NULL;
}

const struct packed_member *packed_cassette(const struct packed *p, const char *session)
{
    char path[96];

    (void)snprintf(path, sizeof path, "cassettes/%s.jsonl", session);
    return find(p, path);
}

const struct packed_member *packed_next_output(const struct packed *p,
                                               const struct packed_member *after)
{
    for (size_t i = after ? (size_t)(after - p->v) + 1 : 0; i < p->n; i++)
        if (strncmp(p->v[i].path, "outputs/", 8) == 0)
            return &p->v[i];
    return NULL;
}
