/* Where two bodies differ, and how far apart they are. */
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "tape/excerpt.h"
#include "tape/jsondiff.h"
#include "tape/miss.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

/* Differences as "at recorded > asked; ..." */
static void show(const struct jsondiff *d, struct buf *out)
{
    for (size_t i = 0; i < d->n; i++)
        buf_fmt(out, "%s%s %s > %s", i ? "; " : "", d->list[i].at,
                d->list[i].recorded ? d->list[i].recorded : "-",
                d->list[i].asked ? d->list[i].asked : "-");
}

static const struct {
    const char *name, *a, *b, *want;
} cases[] = {
    {"same bytes", "{\"a\":1}", "{\"a\":1}", ""},
    {"order and blanks do not count", "{\"a\":1,\"b\":[2]}", "{ \"b\":[2], \"a\":1 }",
     ""},
    {"escapes do not count", "{\"a\":\"\\u0041\"}", "{\"a\":\"A\"}", ""},
    {"the last of equal names counts", "{\"a\":1,\"a\":2}", "{\"a\":2}", ""},
    {"a number changed", "{\"a\":1}", "{\"a\":2}", "/a 1 > 2"},
    {"1 is not 1.0", "{\"a\":1}", "{\"a\":1.0}", "/a 1 > 1.0"},
    {"true is not false", "[true]", "[false]", "/0 true > false"},
    {"null is not absent", "{\"a\":null}", "{}", "/a null > -"},
    {"a text changed", "{\"a\":\"x\"}", "{\"a\":\"y\"}", "/a \"x\" > \"y\""},
    {"a type changed", "{\"a\":\"1\"}", "{\"a\":[1]}", "/a \"1\" > [1]"},
    {"a member is new", "{}", "{\"seed\":7}", "/seed - > 7"},
    {"in order of their pointers", "{\"b\":1,\"a\":1}", "{\"a\":2,\"b\":2}",
     "/a 1 > 2; /b 1 > 2"},
    {"names are escaped", "{\"a/b~c\":1}", "{\"a/b~c\":2}", "/a~1b~0c 1 > 2"},
    {"object and array", "{}", "[]", " {} > []"},
    {"an element inserted in front", "[1,2,3]", "[9,1,2,3]", "/0 - > 9"},
    {"an element inserted inside", "{\"m\":[1,2,3]}", "{\"m\":[1,9,2,3]}", "/m/1 - > 9"},
    {"an element appended", "[1]", "[1,2]", "/1 - > 2"},
    {"an element removed", "[1,2,3]", "[1,3]", "/1 2 > -"},
    {"one changed, one appended", "[{\"c\":\"x\"},{\"c\":\"y\"}]",
     "[{\"c\":\"X\"},{\"c\":\"y\"},{\"c\":\"z\"}]",
     "/0/c \"x\" > \"X\"; /2 - > {\"c\":\"z\"}"},
    {"places in the asked body", "[1,2,{\"c\":3}]", "[0,1,2,{\"c\":4}]",
     "/0 - > 0; /3/c 3 > 4"},
    {"lines of text", "one\ntwo\nthree\n", "one\n2\nthree\n", "@line 2 \"two\" > \"2\""},
    {"a line more", "one\nthree\n", "one\ntwo\nthree\n", "@line 2 - > \"two\""},
    {"JSON and text are lines", "{}", "hello", "@line 1 \"{}\" > \"hello\""},
    {"a scalar is text", "1", "2", "@line 1 \"1\" > \"2\""},
    {"the last line end", "one", "one\n", " \"one\" > \"one\\n\""},
    {"nothing recorded", "", "{\"a\":1}", " - > \"{\\\"a\\\":1}\""},
    {"nothing asked", "hello", "", " \"hello\" > -"},
    {"not UTF-8", "\xff\xfe", "\xff\xfd",
     " \"[2 bytes, the first difference at byte 1]\" > \"[2 bytes, the first difference "
     "at byte 1]\""},
};

static void table(void)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct jsondiff d;
        struct err e = {0};
        struct buf got = BUF_INIT(KIB(4));

        ok(jsondiff_compare(&d, cases[i].a, strlen(cases[i].a), cases[i].b,
                            strlen(cases[i].b), 20, &e) == 0,
           "%s: compared", cases[i].name);
        show(&d, &got);
        is(buf_cstr(&got), cases[i].want, "%s", cases[i].name);
        ok((d.distance > 0) == (cases[i].want[0] != '\0') && d.distance <= 1,
           "%s: distance %g", cases[i].name, d.distance);
        buf_free(&got);
        jsondiff_fini(&d);
    }
}

/* A body with one long text and some fields; `id` stands at both its ends. */
static void long_body(struct buf *out, const char *id, bool lines)
{
    buf_fmt(out, "{\"id\":\"%s\",\"system\":\"session %s ", id, id);
    for (int i = 0; i < 4000; i++)
        buf_fmt(out, "rule %d: never touch the file number %d%s", i, i * 7,
                lines ? "\\n" : " ");
    buf_fmt(out, "end of %s\"}", id);
}

static void distances(void)
{
    struct buf a = BUF_INIT(MIB(1)), b = BUF_INIT(MIB(1));
    struct jsondiff d;
    struct err e = {0};

    for (int lines = 0; lines < 2; lines++) {
        buf_reset(&a);
        buf_reset(&b);
        long_body(&a, "0a1b2c3d", lines);
        long_body(&b, "ffee9988", lines);
        ok(jsondiff_compare(&d, a.data, a.len, b.data, b.len, 20, &e) == 0 && d.n == 2,
           "ids at both ends of %zu bytes are two differences", a.len);
        ok(d.distance > 0 && d.distance < 0.01, "and a small distance (%g)", d.distance);
        ok(strlen(d.list[1].asked) <= EXCERPT_MAX &&
               strstr(d.list[1].asked, "session ffee9988"),
           "the excerpt shows the place: %.60s", d.list[1].asked);
        jsondiff_fini(&d);
    }
    ok(jsondiff_compare(&d, "[1,2]", 5, "[3,4]", 5, 20, &e) == 0 && d.distance > 0.5,
       "nothing in common is far (%g)", d.distance);
    jsondiff_fini(&d);
    buf_free(&a);
    buf_free(&b);
}

static void limits(void)
{
    struct buf a = BUF_INIT(MIB(1)), b = BUF_INIT(MIB(1));
    struct jsondiff d;
    struct err e = {0};

    buf_char(&a, '[');
    buf_char(&b, '[');
    for (int i = 0; i < 1000; i++) {
        buf_fmt(&a, "%s%d", i ? "," : "", i);
        buf_fmt(&b, "%s%d", i ? "," : "", i + 5000);
    }
    buf_char(&a, ']');
    buf_char(&b, ']');
    ok(jsondiff_compare(&d, a.data, a.len, b.data, b.len, 20, &e) == 0 && d.n == 20 &&
           d.n_more == 980,
       "20 of 1000 differences are kept, the others counted");
    jsondiff_fini(&d);
    ok(jsondiff_compare(&d, a.data, a.len, b.data, b.len, 1000, &e) == 0 && d.n == 1000 &&
           d.n_more == 0,
       "all when as many are wanted");
    jsondiff_fini(&d);
    ok(jsondiff_compare(&d, a.data, a.len, b.data, b.len, 0, &e) == 0 && d.n == 0 &&
           d.n_more == 1000,
       "none when none is wanted");
    jsondiff_fini(&d);

    buf_reset(&a);
    buf_str(&a, "{\"");
    for (int i = 0; i < 1000; i++)
        buf_str(&a, "\\u001f");
    buf_str(&a, "\":1}");
    ok(jsondiff_compare(&d, a.data, a.len, "{}", 2, 20, &e) == 0 && d.n == 1 &&
           strlen(d.list[0].at) < 200,
       "a long name is cut in the pointer");
    jsondiff_fini(&d);
    buf_free(&a);
    buf_free(&b);
}

static void deep(void)
{
    struct buf a = BUF_INIT(MIB(1)), b = BUF_INIT(MIB(1));
    struct jsondiff d;
    struct err e = {0};

    for (int i = 0; i < LIMIT_JSON_DEPTH; i++)
        buf_str(&a, "[");
    buf_add(&b, a.data, a.len);
    buf_char(&a, '1');
    buf_char(&b, '2');
    for (int i = 0; i < LIMIT_JSON_DEPTH; i++) {
        buf_str(&a, "]");
        buf_str(&b, "]");
    }
    ok(jsondiff_compare(&d, a.data, a.len, b.data, b.len, 20, &e) == 0 && d.n == 1,
       "the deepest nesting is walked");
    ok(d.n && strlen(d.list[0].at) <= 520, "and its pointer is bounded");
    jsondiff_fini(&d);
    buf_free(&a);
    buf_free(&b);
}

static const struct {
    const char *name, *in, *want;
} plain[] = {
    {"text stays", "a\tb\nc\xc3\xa9", "a\tb\nc\xc3\xa9"},
    {"escape sequences are shown", "\x1b[2J", "\\x1b[2J"},
    {"CR and DEL are shown", "a\r\x7f", "a\\x0d\\x7f"},
    {"C1 controls are shown",
     "\xc2\x9b"
     "31m",
     "\\xc2\\x9b31m"},
    {"broken UTF-8 is shown", "\xc3(", "\\xc3("},
    {"half a character at the end", "a\xe2\x82", "a\\xe2\\x82"},
};

static void excerpts(void)
{
    struct buf long_text = BUF_INIT(KIB(64)), out = BUF_INIT(KIB(1));

    for (size_t i = 0; i < COUNT_OF(plain); i++) {
        buf_reset(&out);
        excerpt_plain(&out, plain[i].in, strlen(plain[i].in));
        is(buf_cstr(&out), plain[i].want, "plain: %s", plain[i].name);
    }
    for (int i = 0; i < 3000; i++)
        buf_str(&long_text, "\xe2\x82\xac");
    for (size_t at = 0; at < 100; at++) {
        struct err e = {0};
        yyjson_doc *doc = NULL;
        buf_reset(&out);
        excerpt_json(&out, long_text.data, long_text.len, at);
        bool good = out.len <= EXCERPT_MAX && json_read(&doc, out.data, out.len, &e) == 0;
        yyjson_doc_free(doc);
        if (!good)
            ok(false, "excerpt at %zu: %s", at, buf_cstr(&out));
    }
    buf_reset(&out);
    for (size_t n = EXCERPT_MAX - 3; n <= EXCERPT_MAX - 1; n++) {
        buf_reset(&long_text);
        buf_reset(&out);
        for (size_t i = 0; i < n; i++)
            buf_char(&long_text, 'x');
        excerpt_json(&out, long_text.data, n, 0);
        ok((strstr(out.data, "\xe2\x80\xa6") == NULL) == (n <= EXCERPT_MAX - 2) &&
               out.len <= EXCERPT_MAX,
           "%zu bytes are %s", n, n <= EXCERPT_MAX - 2 ? "shown whole" : "cut");
    }
    buf_reset(&out);
    excerpt_json(&out, "a\"b\\\n\x01\xff", 7, 0);
    is(buf_cstr(&out), "\"a\\\"b\\\\\\n\\u0001\xef\xbf\xbd\"", "escaped as JSON");
    buf_reset(&out);
    excerpt_head(&out, "ab\xc3\xa9", 4, 3);
    is(buf_cstr(&out), "ab\xe2\x80\xa6", "no half character");
    ok(excerpt_common("abc", 3, "abd", 3) == 2 && excerpt_common("", 0, "x", 1) == 0,
       "common start");
    buf_free(&long_text);
    buf_free(&out);
}

int main(void)
{
    table();
    distances();
    limits();
    deep();
    excerpts();
    return tap_done();
}
