/* fuzz-scrub.c - the first byte picks a content type; then: scrubbing twice is scrubbing
 * once, JSON stays JSON, pieces add up, and headers and URLs hold out. */
#include "base/json.h"
#include "base/limits.h"
#include "tape/scrub.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const types[] = {
    NULL,
    "application/json",
    "text/event-stream",
    "application/x-ndjson",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=b",
    "text/plain",
};

static struct scrub *rules;

static bool is_json(const char *text, size_t len)
{
    yyjson_doc *doc = NULL;
    struct err e;
    bool good = json_read(&doc, text, len, &e) == 0;

    yyjson_doc_free(doc);
    return good;
}

static void check_body(const char *type, const char *body, size_t len)
{
    struct buf once = BUF_INIT(MIB(64)), twice = BUF_INIT(MIB(64));
    uint64_t lens[3] = {len / 3, len / 3, len - len / 3 * 2};
    struct scrub_pieces pieces = {lens, 3};
    struct err e;
    int rc = scrub_body(rules, SCRUB_REQUEST, type, body, len, &pieces, &once, NULL, &e);

    must(rc >= 0);
    if (rc == 1) {
        must(lens[0] + lens[1] + lens[2] == once.len);
        must(scrub_body(rules, SCRUB_REQUEST, type, once.data, once.len, NULL, &twice,
                        NULL, &e) == 0);
        must(!is_json(body, len) || is_json(once.data, once.len));
    } else {
        must(lens[0] + lens[1] + lens[2] == len);
    }
    buf_free(&once);
    buf_free(&twice);
}

static void check_header(const char *text)
{
    static const char *const names[] = {"X-Any", "Cookie", "Set-Cookie", "Location"};
    struct headers h = {0};
    struct err e;

    for (size_t i = 0; i < COUNT_OF(names); i++)
        must(headers_add(&h, names[i], text, &e) == 0);
    must(scrub_headers(rules, SCRUB_RESPONSE, &h, NULL, &e) == 0);
    headers_fini(&h);
}

static void check_url(const char *text)
{
    struct buf once = BUF_INIT(MIB(1)), twice = BUF_INIT(MIB(1));
    struct url u = {0};
    struct err e;

    if (url_parse(&u, text, &e) == 0) {
        must(scrub_url(rules, &u, NULL, &e) == 0);
        url_text(&u, &once);
        must(scrub_url(rules, &u, NULL, &e) == 0);
        url_text(&u, &twice);
        must(strcmp(buf_cstr(&once), buf_cstr(&twice)) == 0);
    }
    url_fini(&u);
    buf_free(&once);
    buf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e;

    if (size < 1)
        return 0;
    if (!rules)
        must(scrub_new(&rules, NULL, &e) == 0);
    char *body = malloc(size); /* exactly as long: a sanitizer sees the end */
    char *text = strndup((const char *)data + 1, size - 1);
    must(body && text);
    memcpy(body, data, size);
    check_body(types[data[0] % COUNT_OF(types)], body + 1, size - 1);
    check_header(text);
    check_url(text);
    free(body);
    free(text);
    return 0;
}
