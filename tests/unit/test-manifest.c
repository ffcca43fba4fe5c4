/* test-manifest.c - manifest.json: exact bytes out, strict reading in. */
#include "bundler/manifest.h"

#include "base/limits.h"
#include "rawtar.h"
#include "tap.h"
#include "vectors.h"

/* Every key there is, with every kind of value. */
static const char every[] =
    "{\"schema_version\":1,\"assay_version\":\"v\",\"created_at\":\"t\","
    "\"source_run_path\":\"p\",\"selection_method\":\"m\",\"git_sha\":\"g\","
    "\"git_dirty\":true,\"workflow_run_id\":\"w\",\"config_digest\":\"c\","
    "\"policy_digest\":\"o\",\"baseline_digest\":\"b\",\"trace_digest\":\"d\","
    "\"trace_path\":\"files/t\",\"outputs\":{\"run\":\"r\",\"summary\":\"s\",\"junit\":"
    "\"j\",\"sarif\":\"f\"},\"toolchain\":{\"rustc\":\"1\",\"cargo\":\"2\","
    "\"cargo_lock_hash\":\"3\",\"retape\":\"0.1\",\"runner\":{\"os\":\"linux\",\"arch\":"
    "\"x86_64\",\"container_image_digest\":\"i\",\"ci\":true}},\"seeds\":{"
    "\"seed_version\":1,\"order_seed\":\"1\",\"judge_seed\":\"2\"},\"replay_coverage\":{"
    "\"complete_tests\":[\"a\"],\"incomplete_tests\":[\"b\",\"c\"],\"reason\":{\"b\":"
    "\"x\","
    "\"c\":\"y\"}},\"scrub_policy\":{\"include_prompts\":true,\"scrub_cassettes\":false,"
    "\"name\":\"n\"},\"files\":{},\"env\":{\"A\":\"1\",\"B\":{\"x\":[1,2.5,null]}},"
    "\"run_id\":\"r1\"}";

static void test_round_trip(const char *name, const char *text)
{
    struct manifest *m = NULL;
    struct buf out = BUF_INIT(KIB(64));
    const char *code = NULL;
    struct err e = {0};

    ok(manifest_read(&m, text, strlen(text), 0, &code, &e) == 0, "%s: read %s", name,
       e.msg);
    if (m)
        manifest_write(m, &out);
    is(buf_cstr(&out), text, "%s: written as it was", name);
    manifest_free(&m);
    buf_free(&out);
}

/* The same manifest put together by hand. */
static void test_building(void)
{
    static const struct {
        const char *path, *digest;
        uint64_t size;
    } files[] = {
        {"outputs/run.json",
         "c9ac2472fb64d1d50f395611f3597ba1dba723a24e6898d250dfe01545cc8e71", 12},
        {"files/trace.jsonl",
         "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945", 2},
        {"files/eval.yaml",
         "4ed350aad61f5e157b8d6c9cb8622e2a47ee4a30aa3ec5ee11a0aa44408ae2e3", 9},
        {"cassettes/openai/judge/0123456789abcdef.json",
         "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", 2},
    };
    struct manifest *m = NULL;
    struct buf out = BUF_INIT(KIB(64));
    struct err e = {0};
    char digest[80];
    int rc = manifest_new(&m, &e);

    must(rc == 0);
    rc |= manifest_set(&m->assay_version, "5.4.0", &e);
    rc |= manifest_set(&m->created_at, "2026-02-06T10:11:12.123456789+00:00", &e);
    rc |= manifest_set(&m->source_run_path, "/w", &e);
    rc |= manifest_set(&m->selection_method, "explicit-from", &e);
    rc |= manifest_set(&m->trace_path, "files/trace.jsonl", &e);
    m->outputs.present = true;
    rc |= manifest_set(&m->outputs.run, "outputs/run.json", &e);
    m->seeds =
        (struct manifest_seeds){.present = true, .has_version = true, .version = 1};
    rc |= manifest_set(&m->seeds.order_seed, "42", &e);
    m->coverage.present = true;
    rc |= manifest_add_test(&m->coverage.complete, "t1", &e);
    m->scrub = (struct manifest_scrub){.present = true,
                                       .has_include_prompts = true,
                                       .has_scrub_cassettes = true,
                                       .scrub_cassettes = true};
    rc |= manifest_set(&m->scrub.name, "default", &e);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        (void)snprintf(digest, sizeof digest, "sha256:%s", files[i].digest);
        rc |= manifest_add_file(m, files[i].path, digest, files[i].size, &e);
    }
    ok(rc == 0, "put together");
    manifest_write(m, &out);
    is(buf_cstr(&out), vector_full,
       "the example of the format, whatever the order of its files");
    ok(manifest_find(m, "files/trace.jsonl")->size == 2 &&
           !manifest_find(m, "files/none"),
       "files are found by path");
    manifest_free(&m);
    buf_free(&out);
}

static void test_texts(void)
{
    struct manifest *m = NULL;
    struct buf out = BUF_INIT(KIB(64));
    struct err e = {0};

    must(manifest_new(&m, &e) == 0 &&
         manifest_set(&m->assay_version, "\"\\\b\f\n\r\t\x01/\x7f\xc3\xa9", &e) == 0);
    ok(manifest_add_env(m, "B", "2", &e) == 0 && manifest_add_env(m, "A", "1\n", &e) == 0,
       "env");
    ok(manifest_add_env(m, "A", "2", &e) < 0 && e.code == ERR_USAGE, "a name twice");
    manifest_write(m, &out);
    is(buf_cstr(&out),
       "{\"schema_version\":1,\"assay_version\":\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001/\x7f\xc3"
       "\xa9\",\"env\":{\"A\":\"1\\n\",\"B\":\"2\"}}",
       "only what must be is escaped, maps are sorted");
    manifest_free(&m);
    buf_free(&out);
}

static const struct {
    const char *name, *text, *code;
} bad[] = {
    {"empty", "", "E_MANIFEST_JSON"},
    {"cut", "{\"schema_version\":1", "E_MANIFEST_JSON"},
    {"trailing", RAWTAR_MIN "x", "E_MANIFEST_JSON"},
    {"array", "[]", "E_MANIFEST_TYPE"},
    {"no schema", "{\"assay_version\":\"v\"}", "E_MANIFEST_MISSING_KEY"},
    {"no assay_version", "{\"schema_version\":1}", "E_MANIFEST_MISSING_KEY"},
    {"schema 2", "{\"schema_version\":2,\"assay_version\":\"v\"}", "E_MANIFEST_VERSION"},
    {"schema text", "{\"schema_version\":\"1\",\"assay_version\":\"v\"}",
     "E_MANIFEST_TYPE"},
    {"schema null", "{\"schema_version\":null,\"assay_version\":\"v\"}",
     "E_MANIFEST_TYPE"},
    {"schema 1.0", "{\"schema_version\":1.0,\"assay_version\":\"v\"}",
     "E_MANIFEST_NUMBER"},
    {"schema -1", "{\"schema_version\":-1,\"assay_version\":\"v\"}", "E_MANIFEST_NUMBER"},
    {"schema 2^32", "{\"schema_version\":4294967296,\"assay_version\":\"v\"}",
     "E_MANIFEST_NUMBER"},
    {"schema 1e999", "{\"schema_version\":1e999,\"assay_version\":\"v\"}",
     "E_MANIFEST_NUMBER"},
    {"a key twice", "{\"schema_version\":1,\"schema_version\":1,\"assay_version\":\"v\"}",
     "E_MANIFEST_DUPLICATE_KEY"},
    {"a key twice, escaped",
     "{\"schema_version\":1,\"assay_version\":\"v\",\"\\u0065nv\":{},\"env\":{}}",
     "E_MANIFEST_DUPLICATE_KEY"},
    {"NUL in a text", "{\"schema_version\":1,\"assay_version\":\"v\\u0000w\"}",
     "E_MANIFEST_TYPE"},
    {"coverage without tests",
     "{\"schema_version\":1,\"assay_version\":\"v\",\"replay_coverage\":{}}",
     "E_MANIFEST_MISSING_KEY"},
    {"file without size",
     "{\"schema_version\":1,\"assay_version\":\"v\",\"files\":{\"files/"
     "x\":{\"sha256\":\"\"}}}",
     "E_MANIFEST_MISSING_KEY"},
    {"file of negative size",
     "{\"schema_version\":1,\"assay_version\":\"v\",\"files\":{\"files/"
     "x\":{\"sha256\":\"\","
     "\"size\":-1}}}",
     "E_MANIFEST_NUMBER"},
    {"file twice",
     "{\"schema_version\":1,\"assay_version\":\"v\",\"files\":{\"f\":{\"sha256\":\"\","
     "\"size\":1},\"f\":{\"sha256\":\"\",\"size\":1}}}",
     "E_MANIFEST_DUPLICATE_KEY"},
    {"seed number",
     "{\"schema_version\":1,\"assay_version\":\"v\",\"seeds\":{\"order_seed\":1}}",
     "E_MANIFEST_TYPE"},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct manifest *m = NULL;
        const char *code = NULL;
        struct err e = {0};

        ok(manifest_read(&m, bad[i].text, strlen(bad[i].text), 0, &code, &e) < 0 && !m &&
               e.msg[0],
           "%s: refused, %s", bad[i].name, e.msg);
        is(code, bad[i].code, "%s: code", bad[i].name);
        manifest_free(&m);
    }
}

static const struct {
    const char *env;
    size_t depth;
    bool fits;
} depths[] = {
    {"{\"b\":1}", 2, true},
    {"{\"b\":1}", 1, false},
    {"{\"a\":\"{{{{{{{{\"}", 2, true},
    {"{\"a\":\"\\\"{{{\"}", 2, true},
    {"{\"a\":[[[]]]}", 5, true},
    {"{\"a\":[[[]]]}", 4, false},
};

static void test_depth(void)
{
    for (size_t i = 0; i < COUNT_OF(depths); i++) {
        struct buf text = BUF_INIT(KIB(4));
        struct manifest *m = NULL;
        const char *code = NULL;
        struct err e = {0};

        buf_fmt(&text, "{\"schema_version\":1,\"assay_version\":\"v\",\"env\":%s}",
                depths[i].env);
        int rc = manifest_read(&m, buf_cstr(&text), text.len, depths[i].depth, &code, &e);
        ok((rc == 0) == depths[i].fits, "%s at %zu", depths[i].env, depths[i].depth);
        if (rc < 0)
            ok(strcmp(code, "E_MANIFEST_DEPTH") == 0 && strstr(e.msg, "maximum depth"),
               "%s", e.msg);
        manifest_free(&m);
        buf_free(&text);
    }
}

static void test_lenient(void)
{
    static const char text[] =
        "{\"x\":1,\"x\":2,\"schema_version\":1,\"assay_version\":\"v\",\"created_at\":"
        "null,"
        "\"outputs\":{\"run\":null,\"y\":{}},\"seeds\":{},\"files\":null}";
    struct manifest *m = NULL;
    const char *code = NULL;
    struct err e = {0};

    ok(manifest_read(&m, text, strlen(text), 0, &code, &e) == 0,
       "unknown keys are ignored, null is absent: %s", e.msg);
    ok(m && !m->created_at && m->outputs.present && !m->outputs.run && m->seeds.present &&
           !m->has_files,
       "so it says");
    manifest_free(&m);
}

static void test_content_types(void)
{
    static const struct {
        const char *path, *type;
    } types[] = {
        {"files/a.json", "application/json"},
        {"files/a.jsonl", "application/x-ndjson"},
        {"outputs/j.xml", "application/xml"},
        {"files/e.yaml", "application/x-yaml"},
        {"files/e.yml", "application/x-yaml"},
        {"files/e.YML", NULL},
        {"cassettes/.gitkeep", NULL},
        {"cassettes/.json", NULL},
        {"files/a.json/b", NULL},
        {"files/a.txt", NULL},
    };

    for (size_t i = 0; i < COUNT_OF(types); i++)
        is(manifest_content_type(types[i].path), types[i].type, "%s", types[i].path);
}

int main(void)
{
    test_round_trip("the example", vector_full);
    test_round_trip("the least", RAWTAR_MIN);
    test_round_trip("every key", every);
    test_building();
    test_texts();
    test_refusals();
    test_depth();
    test_lenient();
    test_content_types();
    return tap_done();
}
