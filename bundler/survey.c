/* survey.c - see survey.h. */
#include "bundler/survey.h"

#include "base/fsx.h"
#include "base/limits.h"
#include "tape/scrub.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORKERS_MOST 4
#define BLOCK KIB(256)

/* What is kept of a scan: findings are made in the order of paths, at the end. */
struct scanned {
    struct scan_hit hits[2]; /* the first credential, the first of Assay's */
    size_t n;
    uint64_t secrets, assays;
};

enum job_kind { HASH, SCAN };

struct job {
    size_t input;
    uint64_t size;
    enum job_kind kind;
};

struct work {
    struct inputs *in;
    const struct survey_options *o;
    struct scanned *scanned; /* by input */
    struct job *jobs;        /* largest files first: the last one to end is short */
    size_t n_jobs;

    pthread_mutex_t lock;
    size_t next;   /* job */
    uint64_t done; /* bytes */
    bool failed;
    struct err e;
};

/* A worker's own things. */
struct hand {
    struct work *w;
    struct digest_stream *sha;
    struct scan *scan;
    uint8_t *block;
};

/* ---- one job ---- */

static void keep_hits(struct scanned *out, const struct scan_result *result)
{
    *out = (struct scanned){.secrets = result->secrets, .assays = result->assays};
    for (int assay = 0; assay <= 1; assay++)
        for (size_t i = 0; i < result->n; i++)
            if (result->hits[i].assay_only == (assay == 1)) {
                out->hits[out->n++] = result->hits[i];
                break;
            }
}

static int feed(struct hand *h, const struct job *job, size_t len, struct err *e)
{
    struct work *w = h->w;
    bool failed;

    if (job->kind == HASH)
        digest_stream_add(h->sha, h->block, len);
    else if (scan_member_feed(h->scan, h->block, len, e) < 0)
        return -1;
    pthread_mutex_lock(&w->lock);
    w->done += len;
    if (w->o->progress)
        w->o->progress(w->o->progress_arg, "read", w->done / 2, w->in->bytes);
    failed = w->failed;
    pthread_mutex_unlock(&w->lock);
    return failed ? err_set(e, ERR_GONE, "stopped") : 0;
}

static int read_all(struct hand *h, const struct job *job, int fd, struct err *e)
{
    const struct input *input = &h->w->in->v[job->input];
    uint64_t total = 0;
    ssize_t n;

    while ((n = read(fd, h->block, BLOCK)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(e, ERR_IO, "%s: %s", input->source, strerror(errno));
        total += (uint64_t)n;
        if (feed(h, job, (size_t)n, e) < 0)
            return -1;
    }
    if (total != input->size)
        return err_set(e, ERR_BUSY,
                       "%s changed while it was read; is it still being "
                       "written?",
                       input->source);
    return 0;
}

static int run_job(struct hand *h, const struct job *job, struct err *e)
{
    struct input *input = &h->w->in->v[job->input];
    struct scan_result result;
    int fd = open(input->source, O_RDONLY | O_CLOEXEC), rc = -1;

    if (fd < 0)
        return err_set(e, ERR_IO, "%s: %s", input->source, strerror(errno));
    digest_stream_start(h->sha);
    if (job->kind == SCAN && scan_member_begin(h->scan, input->dest, e) < 0)
        goto out;
    if (read_all(h, job, fd, e) < 0)
        goto out;
    if (job->kind == HASH)
        digest_stream_text(h->sha, input->digest);
    else if (scan_member_end(h->scan, &result, e) < 0)
        goto out;
    else
        keep_hits(&h->w->scanned[job->input], &result);
    rc = 0;
out:
    (void)close(fd);
    return rc;
}

/* ---- workers ---- */

static void fail(struct work *w, const struct err *e)
{
    pthread_mutex_lock(&w->lock);
    if (!w->failed)
        w->e = *e;
    w->failed = true;
    pthread_mutex_unlock(&w->lock);
}

static const struct job *next_job(struct work *w)
{
    const struct job *job = NULL;

    pthread_mutex_lock(&w->lock);
    if (!w->failed && w->next < w->n_jobs)
        job = &w->jobs[w->next++];
    pthread_mutex_unlock(&w->lock);
    return job;
}

static void *work_on(void *arg)
{
    struct work *w = arg;
    struct hand h = {.w = w, .sha = digest_stream_new(), .block = malloc(BLOCK)};
    const struct job *job;
    struct err e = {0};
    int rc = 0;

    if (!h.sha || !h.block)
        rc = err_set(&e, ERR_NOMEM, "out of memory");
    if (rc == 0)
        rc = scan_new(&h.scan, w->o->rules, &e);
    while (rc == 0 && (job = next_job(w)))
        rc = run_job(&h, job, &e);
    if (rc < 0)
        fail(w, &e);
    scan_free(&h.scan);
    digest_stream_free(&h.sha);
    free(h.block);
    return NULL;
}

static void run_workers(struct work *w)
{
    pthread_t threads[WORKERS_MOST];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t want = cores < 1 ? 1 : cores > WORKERS_MOST ? WORKERS_MOST : (size_t)cores;
    size_t n = 0;

    while (n + 1 < want && n + 1 < w->n_jobs &&
           pthread_create(&threads[n], NULL, work_on, w) == 0)
        n++;
    (void)work_on(w);
    while (n > 0)
        pthread_join(threads[--n], NULL);
}

static int larger_first(const void *a, const void *b)
{
    const struct job *x = a, *y = b;

    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    return x->input != y->input ? (x->input < y->input ? -1 : 1) : 0;
}

static int make_jobs(struct work *w, struct err *e)
{
    w->scanned = calloc(w->in->n + 1, sizeof *w->scanned);
    w->jobs = calloc(2 * w->in->n + 1, sizeof *w->jobs);
    if (!w->scanned || !w->jobs)
        return err_set(e, ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < w->in->n; i++) {
        w->jobs[w->n_jobs++] = (struct job){i, w->in->v[i].size, SCAN};
        w->jobs[w->n_jobs++] = (struct job){i, w->in->v[i].size, HASH};
    }
    qsort(w->jobs, w->n_jobs, sizeof *w->jobs, larger_first);
    return 0;
}

/* ---- scrubbing ---- */

static bool is_ours(const struct buf *text)
{
    static const char start[] = "{\"cassette\":";

    return text->len >= sizeof start - 1 &&
           memcmp(text->data, start, sizeof start - 1) == 0;
}

/* 1 with the scrubbed text, 0 when there is nothing to do about it. */
static int scrub_input(const struct input *input, struct buf *out, struct err *e)
{
    struct buf text = BUF_INIT(LIMIT_SCRUB_FILE);
    const char *type = manifest_content_type(input->dest);
    struct scrub *rules = NULL;
    int rc = fsx_read_file(input->source, &text, e);

    if (rc < 0 || is_ours(&text))
        goto out;
    rc = scrub_new(&rules, NULL, e);
    if (rc == 0)
        rc = scrub_body(rules, SCRUB_RESPONSE, type ? type : "text/plain",
                        buf_cstr(&text), text.len, NULL, out, NULL, e);
out:
    scrub_free(&rules);
    buf_free(&text);
    return rc;
}

int survey_scrubbed(const struct input *input, struct buf *out, struct err *e)
{
    int rc = scrub_input(input, out, e);

    if (rc == 0)
        return err_set(e, ERR_BUSY, "%s changed while it was read", input->source);
    return rc < 0 ? -1 : 0;
}

/* A foreign cassette with credentials in it: see what it is without them. */
static int reconsider(struct work *w, size_t at, struct err *e)
{
    struct input *input = &w->in->v[at];
    struct buf text = BUF_INIT(2 * LIMIT_SCRUB_FILE);
    struct scan_result result;
    struct scan *scan = NULL;
    int rc = scrub_input(input, &text, e);

    if (rc <= 0)
        goto out;
    rc = -1;
    if (scan_new(&scan, w->o->rules, e) < 0 ||
        scan_member_begin(scan, input->dest, e) < 0 ||
        scan_member_feed(scan, buf_cstr(&text), text.len, e) < 0 ||
        scan_member_end(scan, &result, e) < 0)
        goto out;
    rc = 0;
    keep_hits(&w->scanned[at], &result);
    input->scrub = true;
    input->size = text.len;
    digest_key_text(buf_cstr(&text), text.len, input->digest);
out:
    scan_free(&scan);
    buf_free(&text);
    return rc;
}

static int conclude(struct work *w, struct findings *f, struct err *e)
{
    for (size_t i = 0; i < w->in->n; i++) {
        const struct input *input = &w->in->v[i];
        if (w->scanned[i].secrets && input->size <= LIMIT_SCRUB_FILE &&
            strncmp(input->dest, "cassettes/", 10) == 0 && reconsider(w, i, e) < 0)
            return -1;
        struct scan_result result = {.hits = w->scanned[i].hits,
                                     .n = w->scanned[i].n,
                                     .secrets = w->scanned[i].secrets,
                                     .assays = w->scanned[i].assays};
        if (verify_add_scan(f, input->dest, &result, w->o->assay_strict, e) < 0)
            return -1;
    }
    return 0;
}

int survey(struct inputs *in, const struct survey_options *options, struct findings *f,
           struct err *e)
{
    struct work w = {.in = in, .o = options};
    int rc = make_jobs(&w, e);

    pthread_mutex_init(&w.lock, NULL);
    if (rc == 0)
        run_workers(&w);
    if (rc == 0 && w.failed) {
        *e = w.e;
        rc = -1;
    }
    if (rc == 0)
        rc = conclude(&w, f, e);
    pthread_mutex_destroy(&w.lock);
    free(w.scanned);
    free(w.jobs);
    return rc;
}
