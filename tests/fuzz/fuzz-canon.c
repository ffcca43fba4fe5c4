/*
 * fuzz-canon.c - requests from any bytes: no crash, keys that hold still.
 *
 * Input: a line of Content-Type, a line of path and query, the body.
 */
#include "base/json.h"
#include "base/limits.h"
#include "tape/canon.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct canon_rules *rules(void)
{
    static struct canon_rules *r;
    struct err e = {0};

    if (r)
        return r;
    must(canon_rules_new(&r, &e) == 0);
    must(canon_rules_ignore(r, &(struct canon_ignore){"/a/*/0", NULL, NULL}, &e) == 0);
    must(canon_rules_ignore(r, &(struct canon_ignore){"/*/id", NULL, "/x"}, &e) == 0);
    must(canon_rules_ignore_query(r, "t", &e) == 0);
    must(canon_rules_match_header(r, "content-type", &e) == 0);
    return r;
}

/* Up to the next line end as a malloc'ed string; moves on past it. */
static char *take_line(const char **at, const char *end)
{
    const char *eol = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
    char *line = strndup(*at, (size_t)((eol ? eol : end) - *at));

    must(line);
    *at = eol ? eol + 1 : end;
    return line;
}

static void check(const struct canon_request *req)
{
    struct canon_result once = {0}, twice = {0};
    struct buf body = BUF_INIT(MIB(64)), again = BUF_INIT(MIB(64));
    struct err e = {0};
    yyjson_doc *doc = NULL;

    if (canon_key(rules(), req, &once, &e) < 0) {
        must(e.code == ERR_LIMIT);
        goto out;
    }
    enum canon_class class = canon_body(rules(), req, &body);
    must(class == once.body_class && !body.failed);
    if (class == CANON_RAW)
        must(body.len == req->body_len);
    else
        must(json_read(&doc, body.data, body.len, &e) == 0);
    /* The canonical form of a JSON body asks for the same thing. (With ignores by index
     * that holds only for the second time on: the first may move elements up.) */
    if (class == CANON_JSON && !strstr(buf_cstr(&body), "\"a\"")) {
        struct canon_request next = *req;
        next.body = body.data;
        next.body_len = body.len;
        must(canon_body(rules(), &next, &again) == CANON_JSON);
        must(canon_key(rules(), &next, &twice, &e) == 0);
        must(strcmp(once.key, twice.key) == 0);
    }
out:
    yyjson_doc_free(doc);
    buf_free(&body);
    buf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    char *type = take_line(&at, end), *path = take_line(&at, end);
    struct buf text = BUF_INIT(MIB(64));
    struct headers headers = {0};
    struct url url = {0};
    struct err e = {0};

    buf_fmt(&text, "https://h.test/%s", path);
    if (headers_add(&headers, "Content-Type", type, &e) == 0 &&
        url_parse(&url, buf_cstr(&text), &e) == 0)
        check(&(struct canon_request){"POST", &url, &headers, at, (size_t)(end - at)});
    url_fini(&url);
    headers_fini(&headers);
    buf_free(&text);
    free(type);
    free(path);
    return 0;
}
