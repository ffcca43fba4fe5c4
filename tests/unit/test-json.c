/* test-json.c - strict reading, canonical writing. */
#include "base/digest.h"
#include "base/json.h"
#include "base/limits.h"
#include "tests/unit/tap.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Input, canonical text (NULL: the same) and its SHA-256. Computed by another
 * implementation: a change here is a change of the format. */
static const struct {
    const char *name, *in, *want, *sha256;
} vectors[] = {
    {"H01", "{}", NULL,
     "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},
    {"H02", "null", NULL,
     "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"},
    {"H03", "[]", NULL,
     "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"},
    {"H04", "\"\"", NULL,
     "12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126"},
    {"H05", "\"ok\"", NULL,
     "c48b5b1a9776c84602de2306d7903a7241158a5077e7a8519af75c33441b8334"},
    {"H06", "{\"b\":2,\"a\":1}", "{\"a\":1,\"b\":2}",
     "43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777"},
    {"H07", "{\"a\":1.0,\"b\":2}", NULL,
     "3a5fc11441293773f44e7207ddf4783fdcfc50b78e63e3e484cfcbfe61a8508c"},
    {"H08", "{\"path\":\"src/auth.rs\"}", NULL,
     "2432e75fcdc5b53e0c60fc6d1514682a9eb0c5b5fd4faefba9f8d6fcfef7d5fd"},
    {"H09", "{\"unit\":\"c\",\"location\":\"Paris\"}",
     "{\"location\":\"Paris\",\"unit\":\"c\"}",
     "a1b9b3c7ddeea029412515d78115aba04d9f34928e72e574ef53b72a947d5e53"},
    {"H10", "{\"location\":\"Oslo\",\"unit\":\"c\"}", NULL,
     "88a0cf7abc20f4446485b53f34088543ef36c12caeb0f4edd554da46211403bf"},
    {"H11", "{\"z\":{\"y\":[3,1,2],\"x\":null},\"a\":true}",
     "{\"a\":true,\"z\":{\"x\":null,\"y\":[3,1,2]}}",
     "7890a8c7f09bdf0446c66585f175aff66fc2f159baf8333e8ec9ea7298610a67"},
    {"H12", "{\"q\":\"caf\\u00e9 \\ud83d\\ude00\",\"s\":\"a\\/b\"}",
     "{\"q\":\"caf\xc3\xa9 \xf0\x9f\x98\x80\",\"s\":\"a/b\"}",
     "ef770579a8f31f2772fa636c62ffb3827a50a7abc5720aa913f93a5d399cbd34"},
    {"H13", "{\"k\\\"1\":\"tab\\there\",\"n\":\"line\\nbreak\",\"d\":\"\\u007f\\u0001\"}",
     "{\"d\":\"\x7f\\u0001\",\"k\\\"1\":\"tab\\there\",\"n\":\"line\\nbreak\"}",
     "7d79f8b181ee4fb1be6f3bc7ee3d3b701221b4707e413b7a5f22d8a6f4d09eb1"},
    {"H14",
     "{\"big\":18446744073709551615,\"neg\":-1,\"f\":0.1,\"e\":1e3,\"e16\":1e16,\"m7\":"
     "1e-7,\"z\":-0}",
     "{\"big\":18446744073709551615,\"e\":1000.0,\"e16\":1e+16,\"f\":0.1,\"m7\":1e-7,"
     "\"neg\":-1,\"z\":-0.0}",
     "420b6a88e9c78cf857311e1a5a855018fb31c4c7a2a569fbdb600943a35b9626"},
    {"H15", "{\"\\uffee\":1,\"\\ud83d\\ude00\":2,\"a\":3,\"Z\":4,\"_\":5}",
     "{\"Z\":4,\"_\":5,\"a\":3,\"\xef\xbf\xae\":1,\"\xf0\x9f\x98\x80\":2}",
     "def998c1702444da41e950df7976835d0b2e41fb3ab75bacef952311466057c5"},
    {"H16", "{\"a\":1,\"a\":2}", "{\"a\":2}",
     "7e8059f495589fcd981232cc11d00b00da3802c01d688fa1cf1f6bed6e5bb33c"},
    {"H17", "{\"a\":[1,2]}", NULL,
     "01530d164d479cf08e26d3b1ad9bdba927120d97e2d057a6d792db778780d720"},
    {"H18", "{\"a\":[2,1]}", NULL,
     "439e3fbf35fa867d156db2626f94efbd435852a97bbe16660ee529d9bda0e502"},
    {"H19", "{\"id\":42}", NULL,
     "17b4db064e17f4878e391177e6ca623b798911f34014bc9e78920993d7dd27ad"},
    {"H20", "{\"id\":\"42\"}", NULL,
     "8aa5b6751d68bd72901cea96bbbddca8624efa387d5442a63197d5fedb2b693d"},
    {"H21", "{\"x\":\"\\u2028<&>\"}", "{\"x\":\"\xe2\x80\xa8<&>\"}",
     "6b0d11c1b45844227327fff1fda02c978b1000532f398e87edad364fe22d4021"},
    {"H22", "{\"s\":\"\xc3\xa9\"}", NULL,
     "86028b41ba792eaf82aa26a45b218f6734f7f1096a86f1746c8296e088a0ccb4"},
    {"H23", "{\"s\":\"e\\u0301\"}", "{\"s\":\"e\xcc\x81\"}",
     "1fc0bd7cc93fca8092a2041d7d01842876422aa7e2838acf42c14578e9f2be05"},
    {"H24", "{\"i\":9007199254740993}", NULL,
     "29b714cdd139374645a153f0c2bb935734e9f72c69d677861435756a2e85d7b0"},
    {"H25", "{\"p\":\"C:\\\\tmp\"}", NULL,
     "e8fd479c198681e0735eaaa7a250dd329873fe157fcd0243558591caf80e527f"},
    {"H26", "\"21C\"", NULL,
     "730e8eab6765273aa5c1e537e2cd0a69802d9899387e343ddb13662060220156"},
    {"H27", "\"sunny\"", NULL,
     "1f64de2d5ca7f8c83e49a7a581791d47d039fa582f3168e6a7d639b82cd4ff28"},
    {"H28", "\"rain\"", NULL,
     "aa5a7d6d14969d3d446733dc3f0bb04bec8bf39929b699868b521e5526871df6"},
    {"H29", "[{\"type\":\"text\",\"text\":\"15 degrees\"}]",
     "[{\"text\":\"15 degrees\",\"type\":\"text\"}]",
     "3a1686a2b602228f2b1e045c079aad277f9c86700822bbbb057a5ab5e0183bbe"},
    {"H30", "\"{\\\"location\\\": \\\"Pa\"", NULL,
     "453b9fbbdf7f85be32ff0d9afabaf99426d094560e06a823b7616e7f0aa815f1"},
    {"H31", "{\"success\":true,\"content\":\"fn main() {}\",\"error\":null}",
     "{\"content\":\"fn main() {}\",\"error\":null,\"success\":true}",
     "d3dc390e1bae626f57015719bf8b55035ed13e06285059f466eec8f490971eff"},
    {"H32", "{\"temp\":21.5}", NULL,
     "24c9a02fbe8159aac64bb3a9547663a11bcb40549ed03ff4a96c48827ad96e0b"},
    {"H33", "{\"content\":[{\"type\":\"text\",\"text\":\"72F\"}],\"isError\":false}",
     "{\"content\":[{\"text\":\"72F\",\"type\":\"text\"}],\"isError\":false}",
     "36bde8235b9a0c2ea6b6162507f5f8bb20061be180ceafc473f8021432bbc126"},
    {"H34", "{\"location\":\"Paris\"}", NULL,
     "a3f10aef7acee7cdd19c1cd6e200e4461d28167567106726e462493d98ba90cd"},
};

/* Integers as they are, doubles by the rule of docs/FORMATS.md. */
static const struct {
    const char *in, *want;
} numbers[] = {
    {"0", "0"},
    {"-1", "-1"},
    {"-0", "-0.0"},
    {"-0.0", "-0.0"},
    {"0.0", "0.0"},
    {"0e5", "0.0"},
    {"1e2", "100.0"},
    {"1E+2", "100.0"},
    {"1.0", "1.0"},
    {"1.50", "1.5"},
    {"12.5", "12.5"},
    {"-12.5", "-12.5"},
    {"0.1", "0.1"},
    {"0.00012", "0.00012"},
    {"0.00001", "0.00001"},
    {"0.0000123", "0.0000123"},
    {"0.000001", "1e-6"},
    {"0.0000015", "1.5e-6"},
    {"1e-7", "1e-7"},
    {"1e15", "1000000000000000.0"},
    {"9999999999999998.0", "9999999999999998.0"},
    {"1234567890123456.0", "1234567890123456.0"},
    {"1e16", "1e+16"},
    {"1.2e16", "1.2e+16"},
    {"12345678901234567.0", "1.2345678901234568e+16"},
    {"1e100", "1e+100"},
    {"1.7976931348623157e308", "1.7976931348623157e+308"},
    {"5e-324", "5e-324"},
    {"2.2250738585072014e-308", "2.2250738585072014e-308"},
    {"1e-400", "0.0"},
    {"9223372036854775807", "9223372036854775807"},
    {"9223372036854775808", "9223372036854775808"},
    {"18446744073709551615", "18446744073709551615"},
    {"18446744073709551616", "1.8446744073709552e+19"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"-9223372036854775809", "-9.223372036854776e+18"},
    {"0.800000011920929", "0.800000011920929"},
    {"9007199254740993", "9007199254740993"},
};

/* Not RFC 8259, or not representable. */
static const char *const refused[] = {
    "",
    " ",
    "{",
    "[1,]",
    "{\"a\":1,}",
    "[1] x",
    "// c\n1",
    "{'a':1}",
    "NaN",
    "Infinity",
    "[1e400]",
    "01",
    "+1",
    ".5",
    "1.",
    "\"\\x\"",
    "\"\\ud800\"",
    "\"\\udc00\\ud800\"",
    "\"\xff\"",
    "\"\xc0\x80\"",
    "\"a\nb\"",
    "tru",
    "\xef\xbb\xbf{}",
    "\"\xed\xa0\x80\"",
};

static const struct {
    const char *name, *bytes;
    bool good;
} utf8[] = {
    {"empty", "", true},
    {"ASCII, longer than a word", "abcdefghijklmnop", true},
    {"two bytes", "\xc3\xa9", true},
    {"three bytes", "\xe2\x82\xac", true},
    {"four bytes", "\xf0\x9f\x98\x80", true},
    {"first and last of each form", "\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf", true},
    {"the last code point", "\xf4\x8f\xbf\xbf", true},
    {"below the surrogates", "\xed\x9f\xbf", true},
    {"above the surrogates", "\xee\x80\x80", true},
    {"mixed, across words",
     "aaaaaaa\xc3\xa9"
     "aaaaaaaa\xe2\x82\xac",
     true},
    {"overlong slash", "\xc0\xaf", false},
    {"overlong in two", "\xc1\xbf", false},
    {"overlong in three", "\xe0\x9f\xbf", false},
    {"overlong in four", "\xf0\x8f\xbf\xbf", false},
    {"surrogate", "\xed\xa0\x80", false},
    {"past the last code point", "\xf4\x90\x80\x80", false},
    {"five byte form", "\xf8\x88\x80\x80\x80", false},
    {"lone continuation", "a\x80", false},
    {"cut short", "abcdefgh\xe2\x82", false},
    {"continuation missing",
     "\xe2\x82"
     "a",
     false},
    {"byte ff", "\xff", false},
};

static struct buf canonical_text = {.max = MIB(8)};

/* Canonical text of a text, or NULL when it does not parse. */
static const char *canonical(const char *in, size_t len)
{
    yyjson_doc *doc = NULL;
    struct err e = {0};

    buf_reset(&canonical_text);
    if (json_read(&doc, in, len, &e) < 0)
        return NULL;
    json_canonical(yyjson_doc_get_root(doc), &canonical_text);
    yyjson_doc_free(doc);
    return canonical_text.failed ? NULL : buf_cstr(&canonical_text);
}

static void check_vectors(void)
{
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        const char *want = vectors[i].want ? vectors[i].want : vectors[i].in;
        const char *got = canonical(vectors[i].in, strlen(vectors[i].in));
        char key[DIGEST_KEY_TEXT];
        is(got, want, "%s: canonical text", vectors[i].name);
        digest_key_text(got, got ? strlen(got) : 0, key);
        is(key + 7, vectors[i].sha256, "%s: sha256", vectors[i].name);
    }
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        is(canonical(numbers[i].in, strlen(numbers[i].in)), numbers[i].want, "number %s",
           numbers[i].in);
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        ok(!canonical(refused[i], strlen(refused[i])), "refused: case %zu", i);
    is(canonical("[1]]]", 3), "[1]", "the input need not end in NUL");
    ok(!canonical("{\"a\0\":1}", 8), "NUL inside a string is refused");
    is(canonical("\"\\u0000\"", 8), "\"\\u0000\"", "an escaped NUL is kept");
}

/* Random doubles: the text reads back as the same number and is the shortest that does.
 */
static void check_round_trip(void)
{
    uint64_t x = 88172645463325252u;
    bool same = true, shortest = true;
    struct buf out = BUF_INIT(64);

    for (int i = 0; i < 20000; i++) {
        double v;
        char shorter[40];
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        memcpy(&v, &x, sizeof v);
        if (!isfinite(v))
            continue;
        buf_reset(&out);
        json_double(&out, v);
        same &= strtod(buf_cstr(&out), NULL) == v;
        int digits = 0;
        for (const char *s = buf_cstr(&out); *s && *s != 'e'; s++)
            digits += *s >= (digits ? '0' : '1') && *s <= '9';
        (void)snprintf(shorter, sizeof shorter, "%.*e", digits > 2 ? digits - 2 : 0, v);
        shortest &=
            strtod(shorter, NULL) != v || strstr(buf_cstr(&out), ".0") || digits == 1;
    }
    ok(same, "doubles read back as they were");
    ok(shortest, "no digit too many");
    buf_free(&out);
}

static void check_double(double v, const char *want)
{
    struct buf out = BUF_INIT(64);

    json_double(&out, v);
    is(buf_cstr(&out), want, "double %s", want);
    buf_free(&out);
}

static char *nested(int depth, char open, char close)
{
    char *text = malloc((size_t)depth * 2 + 1);

    memset(text, open, (size_t)depth);
    memset(text + depth, close, (size_t)depth);
    text[depth * 2] = '\0';
    return text;
}

static void check_limits(void)
{
    yyjson_doc *doc = NULL;
    struct err e = {0};
    char *fits = nested(LIMIT_JSON_DEPTH, '[', ']');
    char *deep = nested(LIMIT_JSON_DEPTH + 1, '[', ']');
    char *bomb = nested(1000000, '[', ']');
    struct buf wide = BUF_INIT(MIB(1)), out = BUF_INIT(MIB(1));

    ok(canonical(fits, strlen(fits)) != NULL, "nesting at the limit is read");
    ok(json_read(&doc, deep, strlen(deep), &e) < 0 && e.code == ERR_LIMIT && !doc,
       "nesting above the limit is ERR_LIMIT");
    ok(json_read(&doc, bomb, strlen(bomb), &e) < 0 && e.code == ERR_LIMIT,
       "a million levels are ERR_LIMIT, not a crash");
    for (int i = 0; i < 2000; i++)
        buf_str(&wide, i ? ",[[]]" : "[[[]]");
    buf_char(&wide, ']');
    ok(canonical(wide.data, wide.len) != NULL, "siblings do not count as depth");

    buf_reset(&wide);
    for (int i = 0; i < 3000; i++) /* descending, each twice, in one object */
        buf_fmt(&wide, "%c\"k%04d\":%d,\"k%04d\":{\"b\":1,\"a\":2}", i ? ',' : '{',
                2999 - i, i, 2999 - i);
    buf_char(&wide, '}');
    const char *got = canonical(wide.data, wide.len);
    buf_str(&out, "{");
    for (int i = 0; i < 3000; i++)
        buf_fmt(&out, "%s\"k%04d\":{\"a\":2,\"b\":1}", i ? "," : "", i);
    buf_str(&out, "}");
    is(got, buf_cstr(&out), "thousands of keys are sorted, the last of equal ones wins");

    struct buf exact = BUF_INIT(9), small = BUF_INIT(8);
    ok(json_read(&doc, "{\"ab\": 12}", 9, &e) < 0, "a cut text does not parse");
    ok(json_read(&doc, "{\"ab\": 12}", 10, &e) == 0, "the whole one does");
    json_canonical(yyjson_doc_get_root(doc), &exact);
    json_canonical(yyjson_doc_get_root(doc), &small);
    is(buf_cstr(&exact), "{\"ab\":12}", "output at the ceiling");
    ok(buf_check(&small, "text", &e) < 0 && e.code == ERR_LIMIT,
       "output above the ceiling is refused, never cut");
    yyjson_doc_free(doc);
    buf_free(&exact);
    buf_free(&small);
    buf_free(&wide);
    buf_free(&out);
    free(fits);
    free(deep);
    free(bomb);
}

static void check_config(void)
{
    static const char good[] =
        "{ // comment\n \"a\": [1, 2,], /* more */ \"b\": {},\n}\n";
    static const char bad[] = "{\n  \"a\": 1,\n  \"b\" 2\n}";
    yyjson_doc *doc = NULL;
    struct err e = {0};
    char *deep = nested(LIMIT_JSON_DEPTH + 1, '[', ']');

    ok(json_read_config(&doc, good, strlen(good), &e) == 0,
       "comments and trailing commas are fine in a config");
    yyjson_doc_free(doc);
    ok(json_read_config(&doc, bad, strlen(bad), &e) < 0 && e.code == ERR_FORMAT &&
           strstr(e.msg, "3:7: "),
       "a config error names line and column: %s", e.msg);
    ok(json_read_config(&doc, NULL, 0, &e) < 0 && strstr(e.msg, "1:1: "),
       "an empty config is an error at its start");
    ok(json_read_config(&doc, deep, strlen(deep), &e) < 0 && e.code == ERR_LIMIT,
       "a config has the same depth limit");
    ok(json_read(&doc, "[1, x]", 6, &e) < 0 && e.code == ERR_FORMAT &&
           strstr(e.msg, "byte 4"),
       "a strict error names the byte: %s", e.msg);
    free(deep);
}

static void check_pieces(void)
{
    struct buf out = BUF_INIT(KIB(4));
    yyjson_doc *doc = NULL;
    struct err e = {0};

    json_bytes(&out, "caf\xc3\xa9", 5);
    json_bytes(&out, "\xff\"", 2);
    is(buf_cstr(&out), "\"caf\xc3\xa9\"{\"hex\":\"ff22\"}", "bytes: text or hex");
    buf_reset(&out);
    json_string(&out, "\b\f\n\r\t\x1f\x7f/\"\\ and a long plain run", 31);
    is(buf_cstr(&out), "\"\\b\\f\\n\\r\\t\\u001f\x7f/\\\"\\\\ and a long plain run\"",
       "only what must be is escaped");

    static const char sample[] =
        "{\"b\": [1, {}, [], -0], \"a\": {\"x\": null, \"x\": true}}";
    ok(json_read(&doc, sample, strlen(sample), &e) == 0, "sample");
    yyjson_val *root = yyjson_doc_get_root(doc);
    buf_reset(&out);
    json_pretty(root, &out);
    is(buf_cstr(&out),
       "{\n  \"b\": [\n    1,\n    {},\n    [],\n    -0.0\n  ],\n  \"a\": {\n"
       "    \"x\": null,\n    \"x\": true\n  }\n}",
       "for people: as it stands, indented");
    ok(yyjson_is_true(json_find(json_find(root, "a"), "x")), "find: the last one");
    ok(!json_find(root, "x") && !json_find(NULL, "x") &&
           !json_find(json_find(root, "b"), "x"),
       "find: nothing there");

    yyjson_val *gone[2] = {yyjson_arr_get(json_find(root, "b"), 0),
                           yyjson_arr_get(json_find(root, "b"), 3)};
    buf_reset(&out);
    json_canonical_without(root, gone, 2, &out);
    is(buf_cstr(&out), "{\"a\":{\"x\":true},\"b\":[{},[]]}", "without two elements");
    buf_reset(&out);
    yyjson_obj_iter it = yyjson_obj_iter_with(root);
    gone[0] = yyjson_obj_iter_next(&it);
    json_canonical_without(root, gone, 1, &out);
    is(buf_cstr(&out), "{\"a\":{\"x\":true}}", "without a member");
    yyjson_doc_free(doc);
    buf_free(&out);
}

int main(void)
{
    check_vectors();
    check_round_trip();
    check_double(INFINITY, "null");
    check_double(NAN, "null");
    check_double(-DBL_MAX, "-1.7976931348623157e+308");
    check_double((double)0.8f, "0.800000011920929");
    check_double((double)0.92f, "0.9200000166893005");
    check_double((double)-0.4f, "-0.4000000059604645");
    check_limits();
    check_config();
    check_pieces();
    for (size_t i = 0; i < COUNT_OF(utf8); i++)
        ok(json_is_utf8(utf8[i].bytes, strlen(utf8[i].bytes)) == utf8[i].good,
           "UTF-8: %s", utf8[i].name);
    buf_free(&canonical_text);
    return tap_done();
}
