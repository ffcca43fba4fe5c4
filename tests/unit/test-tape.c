/* test-tape.c - cassettes are read as the format says, and hostile ones are refused. */
#include "base/fsx.h"
#include "base/limits.h"
#include "tape/tape.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#include <pthread.h>

#define HEAD                                                                             \
    "{\"cassette\":1,\"created_at\":\"2026-03-01T12:00:00.000Z\",\"producer\":\"p/1\","  \
    "\"session\":\"s\"}\n"
#define KEY "\"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\""
#define HELLO "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
#define BLOB "{\"blob\":\"" HELLO "\",\"size\":5,\"text\":\"hello\"}\n"
#define TEXT(t) "{\"text\":\"" t "\"}"
#define PARTS(p) "{\"parts\":[" p "]}"

/* The parts of an exchange line that a case may replace. */
struct parts {
    const char *n, *req, *res, *chunks, *more; /* more: after "request":{..}, */
};

static void put(struct buf *out, struct parts p)
{
    buf_fmt(out,
            "{\"dialect\":null,\"error\":null,\"exchange\":%s,\"key\":" KEY
            ",\"kind\":\"http\",\"outcome\":\"complete\",\"request\":{\"body\":%s,"
            "\"headers\":[[\"A\",\"b\"]],\"method\":\"GET\",\"url\":\"http://h/\"},%s"
            "\"response\":{\"body\":%s,\"chunks\":%s,\"headers\":[],\"status\":200},"
            "\"scrubbed\":[],\"t\":\"2026-03-01T12:00:00.000Z\",\"timing\":{"
            "\"connect_ms\":0,\"first_byte_ms\":0,\"total_ms\":0}}\n",
            p.n ? p.n : "1", p.req ? p.req : "null", p.more ? p.more : "",
            p.res ? p.res : "null", p.chunks ? p.chunks : "null");
}

static struct tape *opens(const struct buf *text, const char *name)
{
    struct tape *t = NULL;
    struct err e = {0};

    ok(tape_open_memory(&t, "mem", text->data, text->len, &e) == 0, "%s: opens %s", name,
       e.msg);
    return t;
}

/* ---- bodies ---- */

static void test_bodies(void)
{
    static const struct {
        const char *name, *body, *want;
        size_t len;
    } cases[] = {
        {"text", TEXT("plain"), "plain", 5},
        {"every escape", TEXT("\\\"\\\\\\/\\b\\f\\n\\r\\t"), "\"\\/\b\f\n\r\t", 8},
        {"unicode escapes", TEXT("\\u0041\\u00e9\\u20AC\\ud83d\\ude00."),
         "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80.", 11},
        {"a NUL", TEXT("a\\u0000b"), "a\0b", 3},
        {"empty text", TEXT(""), "", 0},
        {"base64", "{\"base64\":\"AP/+\"}", "\0\xff\xfe", 3},
        {"base64 of two", "{\"base64\":\"AP8=\"}", "\0\xff", 2},
        {"base64 of one", "{\"base64\":\"AA==\"}", "\0", 1},
        {"base64 of none", "{\"base64\":\"\"}", "", 0},
        {"no parts", PARTS(""), "", 0},
        {"strings", PARTS("\"a\",\"\",\"b\\n\""), "ab\n", 3},
        {"a blob, twice",
         PARTS("{\"blob\":\"" HELLO "\"},\"-\",{\"blob\":\"" HELLO "\"}"), "hello-hello",
         11},
        {"all of another", PARTS("{\"at\":0,\"len\":11,\"of\":1}"),
         "x\xc3\xa9\"y\xf0\x9f\x98\x80z.", 11},
        {"inside characters and escapes", PARTS("{\"at\":2,\"len\":4,\"of\":1}"),
         "\xa9\"y\xf0", 4},
        {"the last byte", PARTS("{\"at\":10,\"len\":1,\"of\":1}"), ".", 1},
        {"nothing at its end", PARTS("{\"at\":11,\"len\":0,\"of\":1}"), "", 0},
        {"through another's parts", PARTS("{\"at\":3,\"len\":8,\"of\":2}"),
         "lo+\xc3\xa9\"y\xf0", 8},
        {"of base64",
         PARTS("{\"at\":1,\"len\":4,\"of\":3},{\"at\":5,\"len\":2,\"of\":3}"),
         "2345\x06\x07", 6},
        {"unknown keys", "{\"text\":\"t\",\"later\":[1]}", "t", 1},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct buf text = BUF_INIT(KIB(64)), got = BUF_INIT(KIB(1));
        struct exchange x;
        struct err e = {0};
        buf_str(&text, HEAD BLOB);
        put(&text,
            (struct parts){.n = "1", .req = TEXT("x\\u00e9\\\"y\\ud83d\\ude00z.")});
        put(&text,
            (struct parts){.n = "2",
                           .req = PARTS("{\"blob\":\"" HELLO
                                        "\"},\"+\",{\"at\":1,\"len\":9,\"of\":1}")});
        put(&text, (struct parts){.n = "3", .req = "{\"base64\":\"MTIzNDUGBw==\"}"});
        put(&text, (struct parts){.n = "9", .req = cases[i].body, .res = cases[i].body});
        struct tape *t = opens(&text, cases[i].name);
        if (!t) {
            buf_free(&text);
            continue;
        }
        const char *want = cases[i].want;
        ok(tape_load(t, 3, &x, &e) == 0 && x.req_body.len == cases[i].len &&
               memcmp(buf_cstr(&x.req_body), want, cases[i].len) == 0 &&
               x.res_body.len == cases[i].len &&
               memcmp(buf_cstr(&x.res_body), want, cases[i].len) == 0,
           "%s: the bytes, both ways %s", cases[i].name, e.msg);
        exchange_fini(&x);
        ok(tape_load_request_body(t, 3, &got, &e) == 0 && got.len == cases[i].len &&
               tape_entry(t, 3)->req_len == cases[i].len,
           "%s: the request alone", cases[i].name);
        tape_close(&t);
        buf_free(&got);
        buf_free(&text);
    }
}

/* ---- refused lines ---- */

static void refused(const char *name, const struct buf *text, enum err_code code,
                    const char *says)
{
    struct tape *t = NULL;
    struct err e = {0};

    ok(tape_open_memory(&t, "mem", text->data, text->len, &e) < 0 && !t &&
           e.code == code && strstr(e.msg, says),
       "%s: %s", name, e.msg);
    tape_close(&t);
}

static void test_bad_bodies(void)
{
    static const struct {
        const char *name, *body, *says;
    } cases[] = {
        {"forward", PARTS("{\"at\":0,\"len\":1,\"of\":3}"), "exchange 3"},
        {"itself", PARTS("{\"at\":0,\"len\":1,\"of\":2}"), "exchange 2"},
        {"exchange zero", PARTS("{\"at\":0,\"len\":0,\"of\":0}"), "exchange 0"},
        {"one byte too long", PARTS("{\"at\":0,\"len\":4,\"of\":1}"), "beyond"},
        {"starts beyond", PARTS("{\"at\":4,\"len\":0,\"of\":1}"), "beyond"},
        {"overflowing", PARTS("{\"at\":1,\"len\":18446744073709551615,\"of\":1}"),
         "beyond"},
        {"negative", PARTS("{\"at\":-1,\"len\":1,\"of\":1}"), "part 1"},
        {"a fraction", PARTS("{\"at\":0,\"len\":1.0,\"of\":1}"), "part 1"},
        {"without len", PARTS("\"a\",{\"at\":0,\"of\":1}"), "part 2"},
        {"an unknown blob", PARTS("{\"blob\":" KEY "}"), "blob"},
        {"a blob's name cut", PARTS("{\"blob\":\"sha256:00\"}"), "hex"},
        {"a number as part", PARTS("7"), "part 1"},
        {"a list as part", PARTS("[]"), "part 1"},
        {"letters that are none", "{\"base64\":\"A?==\"}", "base64"},
        {"no padding", "{\"base64\":\"AAA\"}", "base64"},
        {"padding inside", "{\"base64\":\"AA==AAAA\"}", "base64"},
        {"spare bits", "{\"base64\":\"AB==\"}", "base64"},
        {"base64 with escapes", "{\"base64\":\"AP\\/+\"}", "escapes"},
        {"a string", "\"text\"", "body"},
        {"an empty object", "{}", "body"},
        {"text that is a number", "{\"text\":1}", "body"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int response = 0; response < 2; response++) {
            struct buf text = BUF_INIT(KIB(64));
            const char *body = cases[i].body;
            buf_str(&text, HEAD);
            put(&text, (struct parts){.n = "1", .req = TEXT("abc")});
            put(&text, response ? (struct parts){.n = "2", .res = body}
                                : (struct parts){.n = "2", .req = body});
            put(&text, (struct parts){.n = "3", .req = TEXT("abc")});
            refused(cases[i].name, &text, ERR_FORMAT, cases[i].says);
            refused(cases[i].name, &text, ERR_FORMAT, "mem: line 3: ");
            buf_free(&text);
        }
}

/* One word of a good line replaced. */
static void test_bad_fields(void)
{
    static const struct {
        const char *name, *old, *new, *says;
    } cases[] = {
        {"no key", "\"key\":" KEY ",", "", "key is missing"},
        {"key in md5", "sha256:00", "md5:0000", "key is not"},
        {"key too short", "eeff\"", "ee\"", "key is not"},
        {"kind", "\"http\"", "\"ftp\"", "kind"},
        {"outcome", "\"complete\"", "\"done\"", "outcome"},
        {"dialect a number", "\"dialect\":null", "\"dialect\":4", "dialect is not"},
        {"dialect too long", "\"dialect\":null",
         "\"dialect\":\"abcdefghijklmnopqrstuvwxyz012345\"", "dialect"},
        {"time without ms", "00:00.000Z\",\"timing", "00:00Z\",\"timing", "t is not"},
        {"time elsewhere", "00.000Z\",\"timing", "00.000+\",\"timing", "t is not"},
        {"method with a blank", "\"GET\"", "\"GE T\"", "method"},
        {"method empty", "\"GET\"", "\"\"", "method"},
        {"url with a line break", "http://h/", "http://h/\\n", "url"},
        {"xxh3 short", "\"url\":", "\"xxh3\":\"00\",\"url\":", "xxh3"},
        {"no headers", "\"headers\":[[\"A\",\"b\"]],", "", "headers is missing"},
        {"header of three", "[\"A\",\"b\"]", "[\"A\",\"b\",\"c\"]", "field 1"},
        {"header name empty", "[\"A\",\"b\"]", "[\"\",\"b\"]", "field 1"},
        {"header name with colon", "[\"A\",\"b\"]", "[\"A:\",\"b\"]", "field 1"},
        {"header splits", "[\"A\",\"b\"]", "[\"A\",\"b\\r\\nSet-Cookie: x\"]", "field 1"},
        {"header with NUL", "[\"A\",\"b\"]", "[\"A\",\"b\\u0000\"]", "field 1"},
        {"header splits in base64", "[\"A\",\"b\"]", "[\"A\",{\"base64\":\"DQo=\"}]",
         "field 1"},
        {"header value a number", "[\"A\",\"b\"]", "[\"A\",1]", "field 1"},
        {"status 99", "\"status\":200", "\"status\":99", "status"},
        {"status 1000", "\"status\":200", "\"status\":1000", "status"},
        {"chunks short", "\"chunks\":null", "\"chunks\":[[0,2]]", "chunks"},
        {"chunks long", "\"chunks\":null", "\"chunks\":[[0,3],[1,1]]", "chunks"},
        {"chunks overflow", "\"chunks\":null",
         "\"chunks\":[[0,18446744073709551615],[0,4]]", "chunks"},
        {"chunk of one", "\"chunks\":null", "\"chunks\":[[3]]", "chunks"},
        {"chunk late", "\"chunks\":null", "\"chunks\":[[4294967296,3]]", "chunks"},
        {"error without code", "\"error\":null", "\"error\":{\"message\":\"m\"}",
         "error: code"},
        {"timing a text", "\"total_ms\":0", "\"total_ms\":\"0\"", "timing: total_ms"},
        {"timing too long", "\"total_ms\":0", "\"total_ms\":4294967296", "timing"},
        {"scrubbed an object", "\"scrubbed\":[]", "\"scrubbed\":{}", "scrubbed"},
        {"scrubbed rows", "\"scrubbed\":[]", "\"scrubbed\":[{\"rule\":\"r\"}]",
         "scrubbed"},
        {"exchange zero", "\"exchange\":1", "\"exchange\":0", "exchange 0"},
        {"exchange a text", "\"exchange\":1", "\"exchange\":\"1\"", "exchange is not"},
        {"not UTF-8", "\"GET\"", "\"G\xff\"", "not JSON"},
        {"a lone surrogate", "http://h/", "http://h/\\ud800", "not JSON"},
        {"a trailing comma", "}}\n", "},}\n", "not JSON"},
        {"two objects", "}}\n", "}}{}\n", "not JSON"},
        {"a list", "{\"dialect\"", "[{\"dialect\"", "not JSON"},
    };
    struct buf good = BUF_INIT(KIB(64));

    buf_str(&good, HEAD);
    put(&good, (struct parts){.res = TEXT("abc")});
    struct tape *t = opens(&good, "the line before");
    tape_close(&t);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct buf text = BUF_INIT(KIB(64));
        const char *line = good.data + strlen(HEAD), *at = strstr(line, cases[i].old);
        ok(at != NULL, "%s: replaces something", cases[i].name);
        buf_add(&text, good.data, (size_t)(at - good.data));
        buf_str(&text, cases[i].new);
        buf_str(&text, at + strlen(cases[i].old));
        refused(cases[i].name, &text, ERR_FORMAT, cases[i].says);
        refused(cases[i].name, &text, ERR_FORMAT, "line 2");
        buf_free(&text);
    }
    buf_free(&good);
}

static void test_bad_files(void)
{
    static const struct {
        const char *name, *text;
        enum err_code code;
        const char *says;
    } cases[] = {
        {"empty", "", ERR_FORMAT, "record again"},
        {"format 2", "{\"cassette\":2,\"new\":[]}\n{\"whatever\":1}\n", ERR_VERSION,
         "cassette format 2; this build reads 1"},
        {"format 0", "{\"cassette\":0}\n", ERR_VERSION, "format 0"},
        {"format in text", "{\"cassette\":\"1\"}\n", ERR_FORMAT, "line 1"},
        {"header without session",
         "{\"cassette\":1,\"created_at\":\"t\",\"producer\":\"p\"}\n", ERR_FORMAT,
         "session is missing"},
        {"session that climbs",
         "{\"cassette\":1,\"created_at\":\"t\",\"producer\":\"p\",\"session\":\"../"
         "x\"}\n",
         ERR_FORMAT, "session"},
        {"no header", BLOB HEAD, ERR_FORMAT, "line 1: a cassette starts"},
        {"two headers", HEAD HEAD, ERR_FORMAT, "line 2: a second header"},
        {"a torn header", "{\"cassette\":1,\"crea", ERR_FORMAT, "line 1"},
        {"text", "hello\n", ERR_FORMAT, "line 1"},
        {"a blank line", HEAD "\n" BLOB, ERR_FORMAT, "line 2"},
        {"an unknown line", HEAD "{\"note\":1}\n", ERR_FORMAT, "line 2: neither"},
        {"a list", HEAD "[]\n", ERR_FORMAT, "line 2: not a JSON object"},
        {"whole but wrong, without LF", HEAD "{\"note\":1}", ERR_FORMAT, "line 2"},
        {"a bad line before the end", HEAD "{\"blob\n" BLOB, ERR_FORMAT, "line 2"},
        {"a blob twice", HEAD BLOB BLOB, ERR_FORMAT, "line 3"},
        {"a blob's size", HEAD "{\"blob\":\"" HELLO "\",\"size\":6,\"text\":\"hello\"}\n",
         ERR_FORMAT, "size says 6"},
        {"a blob without content", HEAD "{\"blob\":\"" HELLO "\",\"size\":5}\n",
         ERR_FORMAT, "text or base64"},
        {"a blob in bad base64",
         HEAD "{\"base64\":\"####\",\"blob\":\"" HELLO "\",\"size\":3}\n", ERR_FORMAT,
         "base64"},
        {"a torn line in memory", HEAD "{\"blob", ERR_FORMAT, "cut short"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct buf text = BUF_INIT(KIB(64));
        buf_str(&text, cases[i].text);
        refused(cases[i].name, &text, cases[i].code, cases[i].says);
        buf_free(&text);
    }
    struct tape *t = NULL;
    struct err e = {0};
    bool torn;
    ok(tape_open(&t, scratch_file("none.jsonl"), &torn, &e) < 0 && e.code == ERR_IO &&
           strstr(e.msg, "none.jsonl"),
       "a file that is not there: %s", e.msg);
    ok(tape_open(&t, scratch_path, &torn, &e) < 0 && e.code == ERR_FORMAT, "a folder: %s",
       e.msg);
}

static void test_order(void)
{
    struct buf text = BUF_INIT(KIB(64));

    buf_str(&text, HEAD);
    put(&text, (struct parts){.n = "3"});
    put(&text, (struct parts){.n = "7", .more = "\"later\":{\"a\":[1]},"});
    struct tape *t = opens(&text, "gaps and unknown keys");
    ok(t && tape_count(t) == 2 && tape_entry(t, 1)->n == 7 && tape_entry(t, 1)->line == 3,
       "numbers and lines");
    tape_close(&t);
    put(&text, (struct parts){.n = "7"});
    refused("the same number again", &text, ERR_FORMAT, "line 4");
    buf_free(&text);
}

/* A blob that lies about its bytes opens, and is refused when it is used. */
static void test_false_blob(void)
{
    struct buf text = BUF_INIT(KIB(64)), body = BUF_INIT(KIB(1));
    struct err e = {0};

    buf_str(&text, HEAD "{\"blob\":\"" HELLO "\",\"size\":5,\"text\":\"hallo\"}\n");
    put(&text, (struct parts){.req = PARTS("{\"blob\":\"" HELLO "\"}")});
    struct tape *t = opens(&text, "false blob");
    for (int i = 0; t && i < 2; i++)
        ok(tape_load_request_body(t, 0, &body, &e) < 0 && e.code == ERR_FORMAT &&
               strstr(e.msg, "line 3"),
           "refused each time: %s", e.msg);
    tape_close(&t);
    buf_free(&text);
    buf_free(&body);
}

/* ---- torn ---- */

static void test_torn(void)
{
    struct buf text = BUF_INIT(KIB(64));
    const char *path = scratch_file("torn.jsonl");
    size_t bad = 0;

    buf_str(&text, HEAD BLOB);
    put(&text, (struct parts){.n = "1", .req = TEXT("a")});
    size_t whole = text.len;
    put(&text, (struct parts){.n = "2", .req = TEXT("\xc3\xa9")});
    for (size_t n = whole; n <= text.len; n++) {
        struct tape *t = NULL;
        struct err e = {0};
        bool torn = false, complete = n >= text.len - 1;
        if (fsx_write_file(path, text.data, n, 0644, &e) < 0 ||
            tape_open(&t, path, &torn, &e) < 0) {
            bad++;
            continue;
        }
        bad += torn != (n > whole && !complete);
        bad += tape_count(t) != (complete ? 2 : 1);
        bad += tape_end(t).at != (complete ? n : whole);
        bad += tape_end(t).no_lf != (n == text.len - 1);
        tape_close(&t);
    }
    ok(bad == 0, "cut at every byte of the last line: left out, told, nothing else lost");
    buf_free(&text);
}

/* ---- hostile ---- */

/* Each body twice the one before. */
static void doubling(struct buf *text, const char *seed, uint64_t len, int rounds)
{
    buf_reset(text);
    buf_str(text, HEAD);
    put(text, (struct parts){.n = "1", .req = seed});
    for (int i = 2; i <= rounds; i++, len *= 2) {
        char n[20], body[200];
        (void)snprintf(n, sizeof n, "%d", i);
        (void)snprintf(body, sizeof body,
                       PARTS("{\"at\":0,\"len\":%llu,\"of\":%d},{\"at\":0,\"len\":%llu,"
                             "\"of\":%d}"),
                       (unsigned long long)len, i - 1, (unsigned long long)len, i - 1);
        put(text, (struct parts){.n = n, .req = body});
    }
}

static void test_expansion(void)
{
    struct buf text = BUF_INIT(MIB(1)), out = BUF_INIT(LIMIT_DECODED_BODY);
    struct err e = {0};

    doubling(&text, TEXT("x"), 1, 30); /* exchange 30 has 2^29 bytes: the limit */
    struct tape *t = opens(&text, "doubled to the limit");
    ok(t && tape_entry(t, 29)->req_len == LIMIT_DECODED_BODY, "its size is known");
    ok(t && tape_load_request_body(t, 29, &out, &e) < 0 && e.code == ERR_LIMIT,
       "but not expanded byte by byte: %s", e.msg);
    buf_reset(&out);
    ok(t && tape_load_request_body(t, 16, &out, &e) == 0 && out.len == 65536,
       "a smaller one is");
    tape_close(&t);
    doubling(&text, TEXT("x"), 1, 31);
    refused("doubled over the limit", &text, ERR_LIMIT, "line 32");
    doubling(&text, TEXT(""), 0, 200);
    t = opens(&text, "nothing, doubled 200 times");
    buf_reset(&out);
    ok(t && tape_load_request_body(t, 199, &out, &e) == 0 && out.len == 0,
       "is nothing at once");
    tape_close(&t);
    buf_free(&text);
    buf_free(&out);
}

/* A chain far deeper than any call stack is walked without one. */
static void test_deep(void)
{
    enum { DEPTH = 50000 };
    struct buf text = BUF_INIT(MIB(64)), out = BUF_INIT(KIB(1));
    struct err e = {0};

    buf_str(&text, HEAD);
    put(&text, (struct parts){.n = "1", .req = TEXT("deep")});
    for (int i = 2; i <= DEPTH; i++) {
        char n[20], body[100];
        (void)snprintf(n, sizeof n, "%d", i);
        (void)snprintf(body, sizeof body,
                       PARTS("\"\",{\"at\":0,\"len\":4,\"of\":%d},\"\""), i - 1);
        put(&text, (struct parts){.n = n, .req = body});
    }
    struct tape *t = opens(&text, "a chain of 50000");
    ok(t && tape_load_request_body(t, DEPTH - 1, &out, &e) == 0, "joins %s", e.msg);
    is(buf_cstr(&out), "deep", "to its bytes");
    tape_close(&t);
    buf_free(&text);
    buf_free(&out);
}

/* Nesting in a key nobody reads is no reason to recurse. */
static void test_nesting(void)
{
    enum { DEPTH = 200000 };
    struct buf text = BUF_INIT(MIB(4)), more = BUF_INIT(MIB(2));

    buf_str(&more, "\"later\":");
    for (int i = 0; i < DEPTH; i++)
        buf_char(&more, '[');
    for (int i = 0; i < DEPTH; i++)
        buf_char(&more, ']');
    buf_char(&more, ',');
    buf_str(&text, HEAD);
    put(&text, (struct parts){.more = more.data});
    struct tape *t = opens(&text, "200000 brackets");
    tape_close(&t);
    buf_free(&text);
    buf_free(&more);
}

static void scrub_rows(struct buf *text, int rows)
{
    buf_reset(text);
    buf_str(text, HEAD);
    put(text, (struct parts){0});
    char *at = strstr(text->data, "\"scrubbed\":[") + strlen("\"scrubbed\":[");
    char *rest = strdup(at);
    text->len = (size_t)(at - text->data);
    for (int i = 0; i < rows; i++)
        buf_fmt(text, "%s{\"count\":1,\"rule\":\"r%d\",\"where\":\"r0\"}", i ? "," : "",
                i);
    buf_str(text, rest);
    free(rest);
}

static void test_names(void)
{
    struct buf text = BUF_INIT(MIB(1));
    struct exchange x;
    struct err e = {0};

    scrub_rows(&text, LIMIT_SCRUB_NAMES);
    struct tape *t = opens(&text, "as many names as allowed");
    ok(t && tape_load(t, 0, &x, &e) == 0 && x.n_scrubbed == LIMIT_SCRUB_NAMES, "loads");
    is(x.scrubbed[7].rule, "r7", "names outlive the line");
    exchange_fini(&x);
    tape_close(&t);
    scrub_rows(&text, LIMIT_SCRUB_NAMES + 1);
    refused("one name more", &text, ERR_LIMIT, "line 2");
    buf_free(&text);
}

/* ---- threads ---- */

static void *load_all(void *arg)
{
    const struct tape *t = arg;
    struct err e = {0};

    for (size_t i = 0; i < tape_count(t); i++) {
        struct exchange x;
        if (tape_load(t, i, &x, &e) < 0)
            return arg;
        exchange_fini(&x);
    }
    return NULL;
}

static void test_threads(void)
{
    struct buf text = BUF_INIT(MIB(1));
    pthread_t threads[4];
    bool good = true;
    void *result;

    buf_str(&text, HEAD BLOB);
    for (int i = 1; i <= 50; i++) {
        char n[20];
        (void)snprintf(n, sizeof n, "%d", i);
        put(&text, (struct parts){.n = n, .req = PARTS("{\"blob\":\"" HELLO "\"}")});
    }
    struct tape *t = opens(&text, "shared");
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        good &= pthread_create(&threads[i], NULL, load_all, t) == 0;
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        good &= pthread_join(threads[i], &result) == 0 && !result;
    ok(good, "threads read one tape at once");
    tape_close(&t);
    buf_free(&text);
}

int main(void)
{
    scratch_make();
    test_bodies();
    test_bad_bodies();
    test_bad_fields();
    test_bad_files();
    test_order();
    test_false_blob();
    test_torn();
    test_expansion();
    test_deep();
    test_nesting();
    test_names();
    test_threads();
    return tap_done();
}
