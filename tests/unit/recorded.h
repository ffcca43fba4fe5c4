/*
 * recorded.h - cassettes on disk, for tests of the writer: open, append, read back.
 */
#ifndef TESTS_RECORDED_H
#define TESTS_RECORDED_H

#include "base/fsx.h"
#include "base/limits.h"
#include "tape/cassette.h"
#include "tape/tape.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define PINNED INT64_C(1772366400123) /* 2026-03-01T12:00:00.123Z */
#define URL "https://api.example.com/v1/chat?trace=1"

__attribute__((unused)) static struct cassette *opened(const char *session,
                                                       enum cassette_open_how how)
{
    struct cassette *c = NULL;
    struct err e = {0};

    if (cassette_open(&c, scratch_path, session, how, NULL, &e) < 0) {
        printf("Bail out! open %s: %s\n", session, e.msg);
        exit(99);
    }
    return c;
}

__attribute__((unused)) static void closed(struct cassette **c)
{
    struct err e = {0};

    ok(cassette_close(c, &e) == 0 && !*c, "closes%s", e.msg);
}

__attribute__((unused)) static const char *path_of(const char *session)
{
    char name[100];

    (void)snprintf(name, sizeof name, "%s.jsonl", session);
    return scratch_file(name);
}

__attribute__((unused)) static void make(struct exchange *x, const char *req,
                                         size_t req_len, const char *res)
{
    exchange_init(x);
    x->t_ms = PINNED;
    x->method = strdup("POST");
    x->url = strdup(URL);
    digest_key_text(req ? req : "", req_len, x->key);
    x->has_req_body = req != NULL;
    buf_add(&x->req_body, req ? req : "", req_len);
    x->status = 200;
    x->has_res_body = res != NULL;
    buf_str(&x->res_body, res ? res : "");
}

__attribute__((unused)) static bool append_body(struct cassette *c, const char *req,
                                                size_t len, const char *res)
{
    struct exchange x;
    struct err e = {0};

    make(&x, req, len, res);
    int rc = cassette_append(c, &x, &e);
    if (rc < 0)
        printf("# %s\n", e.msg);
    exchange_fini(&x);
    return rc == 0;
}

__attribute__((unused)) static bool append_text(struct cassette *c, const char *req,
                                                const char *res)
{
    return append_body(c, req, req ? strlen(req) : 0, res);
}

__attribute__((unused)) static struct tape *read_back(const char *session)
{
    struct tape *t = NULL;
    struct err e = {0};
    bool torn = false;

    if (tape_open(&t, path_of(session), &torn, &e) < 0 || torn) {
        printf("Bail out! read %s: %s\n", session, e.msg);
        exit(99);
    }
    return t;
}

__attribute__((unused)) static bool request_is(const struct tape *t, size_t i,
                                               const char *want, size_t len)
{
    struct buf got = BUF_INIT(MIB(64));
    struct err e = {0};
    bool same = tape_load_request_body(t, i, &got, &e) == 0 && got.len == len &&
                (len == 0 || memcmp(got.data, want, len) == 0);

    if (!same)
        printf("# exchange %zu: %zu bytes, %s\n", i, got.len, e.msg);
    buf_free(&got);
    return same && tape_entry(t, i)->req_len == len;
}

__attribute__((unused)) static void file_text(const char *path, struct buf *out)
{
    struct err e = {0};

    buf_reset(out);
    if (fsx_read_file(path, out, &e) < 0)
        buf_reset(out);
}

__attribute__((unused)) static void write_text(const char *path, const char *text,
                                               size_t len)
{
    struct err e = {0};

    if (fsx_write_file(path, text, len, 0644, &e) < 0)
        printf("Bail out! %s\n", e.msg);
}

__attribute__((unused)) static size_t occurrences(const char *text, const char *word)
{
    size_t n = 0;

    while ((text = strstr(text, word))) {
        text++;
        n++;
    }
    return n;
}

#endif
