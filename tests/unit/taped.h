/*
 * taped.h - cassettes made in memory, for tests of what reads them.
 *
 * taped_add() writes an exchange line; taped_open() opens what was written so far.
 */
#ifndef TESTS_TAPED_H
#define TESTS_TAPED_H

#include "base/json.h"
#include "base/limits.h"
#include "tape/match.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

struct taped {
    struct buf text;
    struct tape *tape;
    const struct canon_rules *rules; /* keys are made with these */
    unsigned n;
    bool no_xxh3; /* leave the hash out of the lines */
};

/* A request as a client would send it. */
struct asked {
    struct url url;
    struct headers headers;
    struct canon_request req;
};

__attribute__((unused)) static void asked_init(struct asked *a, const char *method,
                                               const char *url, const char *type,
                                               const char *body)
{
    struct err e = {0};

    *a = (struct asked){0};
    if (url_parse(&a->url, url, &e) < 0 ||
        (type && headers_add(&a->headers, "Content-Type", type, &e) < 0))
        printf("Bail out! %s: %s\n", url, e.msg);
    a->req = (struct canon_request){method, &a->url, &a->headers, body ? body : "",
                                    body ? strlen(body) : 0};
}

__attribute__((unused)) static void asked_fini(struct asked *a)
{
    url_fini(&a->url);
    headers_fini(&a->headers);
}

__attribute__((unused)) static void taped_init(struct taped *t,
                                               const struct canon_rules *rules)
{
    *t = (struct taped){.text = BUF_INIT(MIB(512)), .rules = rules};
    buf_str(&t->text, "{\"cassette\":1,\"created_at\":\"2026-03-01T12:00:00.000Z\","
                      "\"producer\":\"retape/0\",\"session\":\"s\"}\n");
}

__attribute__((unused)) static void taped_fini(struct taped *t)
{
    tape_close(&t->tape);
    buf_free(&t->text);
}

__attribute__((unused)) static void taped_add(struct taped *t, const char *method,
                                              const char *url, const char *type,
                                              const char *body, const char *answer)
{
    struct asked a;
    struct canon_result canon;
    struct err e = {0};
    char xxh3[33];

    asked_init(&a, method, url, type, body);
    if (canon_key(t->rules, &a.req, &canon, &e) < 0)
        printf("Bail out! %s: %s\n", url, e.msg);
    digest_xxh3_text(digest_xxh3(a.req.body, a.req.body_len), xxh3);
    buf_fmt(&t->text,
            "{\"dialect\":null,\"error\":null,\"exchange\":%u,\"key\":\"%s\",\"kind\":"
            "\"http\",\"outcome\":\"complete\",\"request\":{\"body\":",
            ++t->n, canon.key);
    if (body) {
        buf_str(&t->text, "{\"text\":");
        json_string(&t->text, body, strlen(body));
        buf_char(&t->text, '}');
    } else {
        buf_str(&t->text, "null");
    }
    buf_str(&t->text, ",\"headers\":[");
    if (type)
        buf_fmt(&t->text, "[\"Content-Type\",\"%s\"]", type);
    buf_fmt(&t->text, "],\"method\":\"%s\",\"url\":\"%s\"", method, url);
    if (!t->no_xxh3)
        buf_fmt(&t->text, ",\"xxh3\":\"%s\"", xxh3);
    buf_str(&t->text, "},\"response\":{\"body\":{\"text\":");
    json_string(&t->text, answer, strlen(answer));
    buf_str(&t->text, "},\"chunks\":null,\"headers\":[],\"status\":200},\"scrubbed\":[],"
                      "\"t\":\"2026-03-01T12:00:00.000Z\",\"timing\":{\"connect_ms\":0,"
                      "\"first_byte_ms\":0,\"total_ms\":0}}\n");
    asked_fini(&a);
}

__attribute__((unused)) static bool taped_open(struct taped *t)
{
    struct err e = {0};

    tape_close(&t->tape);
    return ok(tape_open_memory(&t->tape, "s.jsonl", t->text.data, t->text.len, &e) == 0,
              "cassette opens%s%s", e.msg[0] ? ": " : "", e.msg);
}

static inline struct digest_xxh3 body_hash(const struct canon_request *req)
{
    return digest_xxh3(req->body, req->body_len);
}

#endif
