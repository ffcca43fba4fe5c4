/* test-canon.c - which requests are the same request. */
#include "base/limits.h"
#include "tape/canon.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

#define FORM "application/x-www-form-urlencoded"
#define MULTIPART "multipart/form-data; boundary="

static struct canon_rules *rules;

static void ignore(const char *pointer, const char *host, const char *path)
{
    struct err e = {0};
    struct canon_ignore rule = {pointer, host, path};

    ok(canon_rules_ignore(rules, &rule, &e) == 0, "ignore %s", pointer);
}

static void fresh_rules(void)
{
    struct err e = {0};

    canon_rules_free(&rules);
    ok(canon_rules_new(&rules, &e) == 0, "new rules");
}

/* A request held together for a check. `headers` is "Name: value" lines. */
struct ask {
    const char *method, *url, *headers, *body;
    size_t len; /* of body, when it holds NULs; else 0 */
};

struct answer {
    struct canon_result key;
    struct digest_xxh3 fingerprint;
    struct buf body;
    enum canon_class body_class;
    int rc;
};

static struct answer canonicalise(const struct ask *a)
{
    struct answer out = {.body = BUF_INIT(MIB(8)), .rc = -1};
    struct url url = {0};
    struct headers headers = {0};
    struct err e = {0};
    const char *at = a->headers ? a->headers : "";
    const char *body = a->body ? a->body : "";
    size_t len = a->len ? a->len : strlen(body);
    const char *method = a->method ? a->method : "POST";

    if (url_parse(&url, a->url ? a->url : "https://api.test/v1/x", &e) < 0)
        return out;
    while (*at) {
        size_t n = strcspn(at, "\n"), colon = strcspn(at, ":");
        if (headers_add_n(&headers, at, colon, at + colon + 2, n - colon - 2, &e) < 0)
            break;
        at += n + (at[n] == '\n');
    }
    struct canon_request req = {method, &url, &headers, body, len};
    out.rc = canon_key(rules, &req, &out.key, &e);
    out.body_class = canon_body(rules, &req, &out.body);
    out.fingerprint =
        canon_fingerprint(rules, method, &url, &headers, digest_xxh3(body, len));
    headers_fini(&headers);
    url_fini(&url);
    return out;
}

static void same_key(struct ask a, struct ask b, bool same, const char *name)
{
    struct answer x = canonicalise(&a), y = canonicalise(&b);
    bool equal = strcmp(x.key.key, y.key.key) == 0;
    bool equal_prints =
        x.fingerprint.lo == y.fingerprint.lo && x.fingerprint.hi == y.fingerprint.hi;

    ok(x.rc == 0 && y.rc == 0 && equal == same, "%s: %s", name,
       same ? "same key" : "different keys");
    ok(!equal_prints || equal, "%s: equal fingerprints mean equal keys", name);
    buf_free(&x.body);
    buf_free(&y.body);
}

/* ---- the key as PRODUCT spells it ---- */

static void check_key_text(void)
{
    struct err e = {0};
    char want[DIGEST_KEY_TEXT];
    static const char text[] =
        "[\"POST\",\"https\",\"api.test\",443,\"/v1/x\","
        "[[\"a\",\"2\"],[\"b\",\" \"],[\"b\",{\"hex\":\"ff\"}]],\"json\","
        "\"43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777\","
        "[[\"x-a\",\"2\"],[\"x-b\",\"1\"],[\"x-b\",\"3\"]]]";

    fresh_rules();
    ok(canon_rules_match_header(rules, "X-B", &e) == 0, "header rule");
    ok(canon_rules_match_header(rules, "x-a", &e) == 0, "header rule");
    ok(canon_rules_match_header(rules, "x-b", &e) == 0, "the same again");
    ok(canon_rules_match_header(rules, "", &e) < 0 && e.code == ERR_CONFIG,
       "a header rule has a name");
    struct answer a = canonicalise(&(struct ask){
        .url = "https://API.test/v1/x?b=%ff&b=+&a=2",
        .headers = "X-B: 1\nX-A: 2\nx-b: 3\nX-C: 4",
        .body = "{\"b\":2, \"a\":1}",
    });
    digest_key_text(text, strlen(text), want);
    is(a.key.key, want, "the key covers what it promises, in that form");
    is(buf_cstr(&a.body), "{\"a\":1,\"b\":2}", "canonical body");
    buf_free(&a.body);
    fresh_rules();
}

/* ---- classes ---- */

static const struct {
    const char *name;
    struct ask ask;
    enum canon_class class;
    const char *want; /* canonical body */
} classes[] = {
    {"no body", {.body = ""}, CANON_RAW, ""},
    {"object", {.body = " {\"b\":1,\"a\":[]} "}, CANON_JSON, "{\"a\":[],\"b\":1}"},
    {"array", {.body = "[2, 1]"}, CANON_JSON, "[2,1]"},
    {"JSON under another type",
     {.headers = "Content-Type: text/plain", .body = "{}"},
     CANON_JSON,
     "{}"},
    {"JSON sent as a form",
     {.headers = "Content-Type: " FORM, .body = "{}"},
     CANON_JSON,
     "{}"},
    {"a lone string", {.body = "\"a\""}, CANON_RAW, "\"a\""},
    {"a lone number", {.body = "1"}, CANON_RAW, "1"},
    {"nearly JSON", {.body = "{\"a\":1,}"}, CANON_RAW, "{\"a\":1,}"},
    {"two documents", {.body = "{}\n{}"}, CANON_RAW, "{}\n{}"},
    {"JSON of bad UTF-8", {.body = "[\"\xff\"]"}, CANON_RAW, "[\"\xff\"]"},
    {"text", {.body = "hello"}, CANON_RAW, "hello"},
    {"form",
     {.headers = "content-type: " FORM "; charset=utf-8", .body = "b=1&a=x+y%21&&a="},
     CANON_FORM,
     "[[\"a\",\"\"],[\"a\",\"x y!\"],[\"b\",\"1\"]]"},
    {"form: bad escapes stay",
     {.headers = "Content-Type: " FORM, .body = "a=%zz&b=%4"},
     CANON_FORM,
     "[[\"a\",\"%zz\"],[\"b\",\"%4\"]]"},
    {"form: escaped & and = belong to the value",
     {.headers = "Content-Type: " FORM, .body = "a=1%262%3D3=4&%00"},
     CANON_FORM,
     "[[\"\\u0000\",\"\"],[\"a\",\"1&2=3=4\"]]"},
    {"form: not UTF-8",
     {.headers = "Content-Type: " FORM, .body = "a=%ff%41"},
     CANON_FORM,
     "[[\"a\",{\"hex\":\"ff41\"}]]"},
    {"only separators",
     {.headers = "Content-Type: " FORM, .body = "&&&"},
     CANON_FORM,
     "[]"},
    {"nearly that type",
     {.headers = "Content-Type: " FORM "x", .body = "b=1&a=2"},
     CANON_RAW,
     "b=1&a=2"},
    {"a form without its type", {.body = "b=1&a=2"}, CANON_RAW, "b=1&a=2"},
    {"multipart",
     {.headers = "Content-Type: " MULTIPART "xx",
      .body = "--xx\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nok\r\n"
              "--xx \r\n\r\n\r\n--xx--\r\n"},
     CANON_MULTIPART,
     "[[[[\"content-disposition\",\"form-data; name=\\\"a\\\"\"]],"
     "\"2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df\"],"
     "[[],\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"]]"},
    {"multipart without parts",
     {.headers = "Content-Type: " MULTIPART "\"x x\"", .body = "--x x--"},
     CANON_MULTIPART,
     "[]"},
};

/* Bodies that say multipart but are not of its shape. */
static const char *const broken_multipart[] = {
    "--x",
    "--x\r\n",
    "--x\r\nA: b\r\n\r\ntext",
    "--x\r\nA: b\r\n\r\ntext\r\n--x",
    "--x\r\nA: b\r\n\r\ntext\r\n--x\r\n",
    "--x\nA: b\n\ntext\n--x--\n",
    "--x\r\n--x--\r\n",
    "--x\r\n\r\n--x--\r\n",
    "--x\r\nno colon\r\n\r\ntext\r\n--x--\r\n",
    "--x\r\n: b\r\n\r\ntext\r\n--x--\r\n",
    "--x\r\nA: b\r\n folded\r\n\r\ntext\r\n--x--\r\n",
    "--x\r\nA: b\r\n\r\ntext\r\n--xy\r\n--x--\r\n",
    "--x\r\nA: b\r\n\r\ntext\r\n--x--\r\nepilogue",
    "preamble\r\n--x\r\nA: b\r\n\r\ntext\r\n--x--\r\n",
    "--y\r\nA: b\r\n\r\ntext\r\n--y--\r\n",
};

static void check_classes(void)
{
    for (size_t i = 0; i < COUNT_OF(classes); i++) {
        struct answer a = canonicalise(&classes[i].ask);
        ok(a.rc == 0 && a.body_class == classes[i].class &&
               a.key.body_class == classes[i].class,
           "%s: %s", classes[i].name, canon_class_name(a.body_class));
        is(buf_cstr(&a.body), classes[i].want, "%s: canonical body", classes[i].name);
        buf_free(&a.body);
    }
    for (size_t i = 0; i < COUNT_OF(broken_multipart); i++) {
        struct answer a = canonicalise(&(struct ask){
            .headers = "Content-Type: " MULTIPART "x", .body = broken_multipart[i]});
        ok(a.rc == 0 && a.body_class == CANON_RAW, "broken multipart %zu is raw", i);
        is(buf_cstr(&a.body), broken_multipart[i], "broken multipart %zu: as sent", i);
        buf_free(&a.body);
    }
}

/* Nesting at the limit is JSON, one deeper is raw; so are forms of too many pairs. */
static void check_limits(void)
{
    for (int over = 0; over < 2; over++) {
        size_t depth = LIMIT_JSON_DEPTH + (size_t)over;
        struct buf b = BUF_INIT(MIB(2));
        for (size_t i = 0; i < 2 * depth; i++)
            buf_char(&b, i < depth ? '[' : ']');
        struct answer a = canonicalise(&(struct ask){.body = b.data});
        ok(a.body_class == (over ? CANON_RAW : CANON_JSON), "depth %zu", depth);
        buf_free(&a.body);
        buf_reset(&b);
        for (int i = 0; i < LIMIT_PAIRS + over; i++)
            buf_str(&b, "a&");
        a = canonicalise(&(struct ask){.headers = "Content-Type: " FORM, .body = b.data});
        ok(a.body_class == (over ? CANON_RAW : CANON_FORM), "pairs: limit + %d", over);
        buf_free(&a.body);
        struct buf url = BUF_INIT(MIB(2));
        buf_fmt(&url, "http://h/?%s", b.data);
        a = canonicalise(&(struct ask){.url = url.data});
        ok(a.rc == (over ? -1 : 0), "query pairs: limit + %d", over);
        buf_free(&a.body);
        buf_free(&url);
        buf_free(&b);
    }
}

/* ---- same or not ---- */

static const struct {
    const char *name;
    struct ask a, b;
    bool same;
} twins[] = {
    {"key order and blanks",
     {.body = "{\"a\":1,\"b\":2}"},
     {.body = "{ \"b\" : 2, \"a\":1 }"},
     true},
    {"1 and 1.0", {.body = "[1]"}, {.body = "[1.0]"}, false},
    {"array order", {.body = "[1,2]"}, {.body = "[2,1]"}, false},
    {"method", {.method = "PUT"}, {.method = "POST"}, false},
    {"scheme", {.url = "http://h:1/"}, {.url = "https://h:1/"}, false},
    {"default port", {.url = "https://h/"}, {.url = "https://h:443/"}, true},
    {"port", {.url = "https://h:444/"}, {.url = "https://h/"}, false},
    {"host case", {.url = "https://H.x/"}, {.url = "https://h.X/"}, true},
    {"path is as sent", {.url = "https://h/%41"}, {.url = "https://h/A"}, false},
    {"path not UTF-8", {.url = "https://h/\xff"}, {.url = "https://h/\xfe"}, false},
    {"query order", {.url = "https://h/?a=1&b=2"}, {.url = "https://h/?b=2&a=1"}, true},
    {"query escapes",
     {.url = "https://h/?a=%41+b"},
     {.url = "https://h/?%61=A%20b"},
     true},
    {"query twice", {.url = "https://h/?a=1"}, {.url = "https://h/?a=1&a=1"}, false},
    {"empty query", {.url = "https://h/?"}, {.url = "https://h/"}, true},
    {"no value", {.url = "https://h/?a"}, {.url = "https://h/?a="}, true},
    {"query value not UTF-8 and its rendering",
     {.url = "https://h/?a=%ff"},
     {.url = "https://h/?a=%7B%22hex%22:%22ff%22%7D"},
     false},
    {"body moved into the query",
     {.url = "https://h/?a=b", .body = ""},
     {.url = "https://h/", .headers = "Content-Type: " FORM, .body = "a=b"},
     false},
    {"raw and form of the same bytes",
     {.headers = "Content-Type: " FORM, .body = "a=b"},
     {.headers = "Content-Type: text/plain", .body = "a=b"},
     false},
    {"credentials do not count",
     {.headers = "Authorization: Bearer a"},
     {.headers = "Authorization: Bearer b\nUser-Agent: x"},
     true},
    {"random boundaries",
     {.headers = "Content-Type: " MULTIPART "aaa",
      .body = "--aaa\r\nA: b\r\n\r\nx\r\n--aaa--\r\n"},
     {.headers = "Content-Type: Multipart/Form-Data; charset=x; Boundary=\"b\"",
      .body = "--b\r\na:  b\r\n\r\nx\r\n--b--"},
     true},
    {"multipart bytes",
     {.headers = "Content-Type: " MULTIPART "a", .body = "--a\r\n\r\nx\r\n--a--"},
     {.headers = "Content-Type: " MULTIPART "a", .body = "--a\r\n\r\ny\r\n--a--"},
     false},
    {"multipart headers",
     {.headers = "Content-Type: " MULTIPART "a", .body = "--a\r\nA: 1\r\n\r\nx\r\n--a--"},
     {.headers = "Content-Type: " MULTIPART "a", .body = "--a\r\nA: 2\r\n\r\nx\r\n--a--"},
     false},
    {"NULs in a raw body", {.body = "a\0b", .len = 3}, {.body = "a\0c", .len = 3}, false},
    {"JSON-RPC ids",
     {.body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}"},
     {.body = "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"m\"}"},
     true},
    {"JSON-RPC parameters",
     {.body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"id\":1}}"},
     {.body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"id\":2}}"},
     false},
    {"a batch's ids",
     {.body = "[{\"jsonrpc\":\"2.0\",\"id\":1},{\"jsonrpc\":\"2.0\",\"id\":2}]"},
     {.body = "[{\"jsonrpc\":\"2.0\",\"id\":3},{\"jsonrpc\":\"2.0\",\"id\":4}]"},
     true},
    {"an array that is only partly JSON-RPC",
     {.body = "[{\"jsonrpc\":\"2.0\",\"id\":1},{\"id\":2}]"},
     {.body = "[{\"jsonrpc\":\"2.0\",\"id\":3},{\"id\":2}]"},
     false},
    {"JSON-RPC 1.0 keeps its id",
     {.body = "{\"jsonrpc\":\"1.0\",\"id\":1}"},
     {.body = "{\"jsonrpc\":\"1.0\",\"id\":2}"},
     false},
};

/* ---- ignores ---- */

static const struct {
    const char *name, *pointer, *body, *want;
} ignores[] = {
    {"a member", "/b", "{\"a\":1,\"b\":{\"c\":2}}", "{\"a\":1}"},
    {"deeper", "/a/b", "{\"a\":{\"b\":1,\"c\":2},\"b\":3}", "{\"a\":{\"c\":2},\"b\":3}"},
    {"not there", "/x/y", "{\"x\":1}", "{\"x\":1}"},
    {"every element's member", "/m/*/id", "{\"m\":[{\"id\":1,\"t\":2},{\"id\":3},4]}",
     "{\"m\":[{\"t\":2},{},4]}"},
    {"an element", "/1", "[1,2,3]", "[1,3]"},
    {"every element", "/*", "[1,[2]]", "[]"},
    {"every member", "/a/*", "{\"a\":{\"x\":1,\"y\":2}}", "{\"a\":{}}"},
    {"a digit names a member too", "/0", "{\"0\":1,\"1\":2}", "{\"1\":2}"},
    {"no leading zero", "/01", "[1,2]", "[1,2]"},
    {"past the end", "/2", "[1,2]", "[1,2]"},
    {"an index too large", "/18446744073709551616", "[1]", "[1]"},
    {"a minus is no index", "/-", "[1]", "[1]"},
    {"escapes", "/a~1b~0c", "{\"a/b~c\":1,\"a\":2}", "{\"a\":2}"},
    {"an empty name", "/", "{\"\":1,\"a\":2}", "{\"a\":2}"},
    {"every one of equal keys", "/a", "{\"a\":1,\"b\":2,\"a\":3}", "{\"b\":2}"},
};

static void check_ignores(void)
{
    struct err e = {0};
    static const char *const bad[] = {"", "a", "/a~", "/a~2"};

    for (size_t i = 0; i < COUNT_OF(ignores); i++) {
        fresh_rules();
        ignore(ignores[i].pointer, NULL, NULL);
        struct answer a = canonicalise(&(struct ask){.body = ignores[i].body});
        is(buf_cstr(&a.body), ignores[i].want, "ignore %s", ignores[i].name);
        buf_free(&a.body);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        ok(canon_rules_ignore(rules, &(struct canon_ignore){.pointer = bad[i]}, &e) < 0 &&
               e.code == ERR_CONFIG,
           "bad pointer `%s` is refused: %s", bad[i], e.msg);

    /* Several rules name places of the original: none shifts another's. */
    fresh_rules();
    ignore("/m/2", NULL, NULL);
    ignore("/m/0", NULL, NULL);
    ignore("/m", "other.test", NULL);
    ignore("/m", "*.api.test", NULL);
    ignore("/m", NULL, "/v2");
    ignore("/n", "*.test", "/v1");
    struct answer a = canonicalise(&(struct ask){.body = "{\"m\":[1,2,3,4],\"n\":5}"});
    is(buf_cstr(&a.body), "{\"m\":[2,4]}", "rules combine, hosts and paths limit them");
    buf_free(&a.body);
    same_key((struct ask){.body = "{\"n\":1}"}, (struct ask){.body = "{}"}, true,
             "as if it were absent");

    fresh_rules();
    ok(canon_rules_ignore_query(rules, "t s", &e) == 0, "ignore a query name");
    same_key((struct ask){.url = "https://h/?a=1&t+s=5"},
             (struct ask){.url = "https://h/?%74%20s&a=1"}, true, "ignored query names");
    same_key((struct ask){.url = "https://h/?t=1"}, (struct ask){.url = "https://h/?t=2"},
             false, "other query names");
}

static void check_headers(void)
{
    struct err e = {0};

    fresh_rules();
    ok(canon_rules_match_header(rules, "X-Tenant", &e) == 0, "match a header");
    same_key((struct ask){.headers = "X-Tenant: a"},
             (struct ask){.headers = "x-tenant: a"}, true, "header name case");
    same_key((struct ask){.headers = "X-Tenant: a"},
             (struct ask){.headers = "X-Tenant: b"}, false, "header value");
    same_key((struct ask){.headers = "X-Tenant: a"}, (struct ask){.headers = "A: a"},
             false, "header absent");
    same_key((struct ask){.headers = "X-Tenant: a\nX-Tenant: b"},
             (struct ask){.headers = "X-Tenant: b\nX-Tenant: a"}, false, "header order");
    same_key((struct ask){.headers = "X-Tenant: \xff"},
             (struct ask){.headers = "X-Tenant: \xfe"}, false, "header not UTF-8");
}

static const struct {
    const char *pattern, *host;
    bool covers;
} hosts[] = {
    {"api.x.y", "api.x.y", true},
    {"API.x.y", "api.X.y", true},
    {"api.x.y", "xapi.x.y", false},
    {"*.x.y", "a.x.y", true},
    {"*.x.y", "a.b.x.y", true},
    {"*.x.y", "x.y", false},
    {"*.github.com", "evilgithub.com", false},
    {"*.x.y", ".x.y", false},
    {"*", "x.y", false},
    {"", "x", false},
};

int main(void)
{
    check_key_text();
    check_classes();
    check_limits();
    for (size_t i = 0; i < COUNT_OF(twins); i++)
        same_key(twins[i].a, twins[i].b, twins[i].same, twins[i].name);
    same_key((struct ask){0}, (struct ask){0}, true, "nothing at all");
    check_ignores();
    check_headers();
    for (size_t i = 0; i < COUNT_OF(hosts); i++)
        ok(canon_host_covers(hosts[i].pattern, hosts[i].host) == hosts[i].covers,
           "host %s, pattern %s", hosts[i].host, hosts[i].pattern);
    canon_rules_free(&rules);
    canon_rules_free(&rules);
    return tap_done();
}
