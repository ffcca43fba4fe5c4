/* test-inspect.c - `retape-bundle inspect` and `summary`: what they tell of a bundle. */
#include "bundler/verbs.h"

#include "base/json.h"
#include "base/log.h"
#include "bundled.h"
#include "capture.h"
#include "tap.h"
#include "tests/unit/taped.h"

static struct buf out;

/* ---- a bundle with something of everything ---- */

#define CHAT "https://api.openai.example/v1/chat/completions"
#define CLAUDE "https://api.anthropic.example/v1/messages"
#define MCP "https://tools.example/mcp"

/* taped_add() writes kind "http"; put the kind and dialect of this line right. */
static void put_kind(struct buf *line, const char *kind, const char *dialect)
{
    static const char null_dialect[] = "\"dialect\":null", http[] = "\"kind\":\"http\"";
    struct buf made = BUF_INIT(MIB(1));
    char *d = strstr(line->data, null_dialect), *k = strstr(line->data, http);

    buf_add(&made, line->data, (size_t)(d - line->data));
    buf_fmt(&made, "\"dialect\":\"%s\"", dialect);
    d += sizeof null_dialect - 1;
    buf_add(&made, d, (size_t)(k - d));
    buf_fmt(&made, "\"kind\":\"%s\"", kind);
    buf_str(&made, k + sizeof http - 1);
    buf_free(line);
    *line = made;
}

/* The lines of one exchange, with its kind, added to a cassette. */
static void add_call(struct taped *t, const char *kind, const char *dialect,
                     const char *url, const char *body)
{
    struct taped one;

    taped_init(&one, t->rules);
    buf_reset(&one.text);
    one.n = t->n;
    taped_add(&one, "POST", url, "application/json", body, "{\"ok\":true}");
    put_kind(&one.text, kind, dialect);
    buf_add(&t->text, one.text.data, one.text.len);
    t->n = one.n;
    taped_fini(&one);
}

static void make_cassette(struct taped *t)
{
    static const char chat[] =
        "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
        "\"get_weather\"}},{\"function\":{\"name\":\"unused\"}}],\"messages\":[{\"role\":"
        "\"assistant\",\"tool_calls\":[{\"id\":\"c1\",\"function\":{\"name\":"
        "\"get_weather\"}}]}]}";
    static const char claude[] =
        "{\"model\":\"claude\",\"max_tokens\":5,\"messages\":[{\"role\":\"assistant\","
        "\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"search\"}]}]}";

    add_call(t, "llm", "openai.chat", CHAT, chat);
    add_call(t, "llm", "openai.chat", CHAT, chat); /* the same history once more */
    add_call(t, "llm", "anthropic.messages", CLAUDE, claude);
    add_call(t, "tool", "mcp", MCP,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
             "\"name\":\"read_file\"}}");
    taped_add(t, "GET", "https://plain.example/x", NULL, NULL, "hello");
}

static const char run_json[] =
    "{\"run_id\":\"run-7\",\"exit_code\":1,\"reason_code\":\"E_TEST_FAILED\","
    "\"order_seed\":\"17390767342376325021\",\"judge_seed\":null,\"resolution\":{"
    "\"message\":\"1 test(s) failed\\n| <b>\\u001b[31m\"},\"results\":[{\"test_id\":"
    "\"a\",\"status\":\"pass\"},{\"test_id\":\"b\",\"status\":\"fail\"}]}";

static const char vcr[] =
    "{\"schema_version\":2,\"fingerprint\":\"00\",\"method\":\"POST\",\"url\":"
    "\"https://vcr.example/v1/embeddings\",\"request_body\":{\"input\":\"x\",\"model\":"
    "\"embed-3\"},\"status\":200,\"response_body\":{}}";

static void make_bundle(const char *path, const char *incomplete)
{
    struct canon_rules *rules = NULL;
    struct taped t;
    struct bundled b;
    struct err e = {0};

    bundled_must(canon_rules_new(&rules, &e), &e);
    taped_init(&t, rules);
    make_cassette(&t);
    bundled_init(&b);
    bundled_add(&b, "cassettes/broken.jsonl", "{}\n");
    bundled_add(&b, "cassettes/default.jsonl", t.text.data);
    bundled_add(&b, "cassettes/openai/embeddings/00.json", vcr);
    bundled_add(&b, "files/eval.yaml", "suite: s\n");
    bundled_add(&b, "outputs/run.json", run_json);
    bundled_must(manifest_set(&b.m->created_at, "2026-03-01T12:00:00Z", &e), &e);
    bundled_must(manifest_set(&b.m->outputs.run, "outputs/run.json", &e), &e);
    b.m->outputs.present = true;
    b.m->coverage.present = true;
    bundled_must(manifest_add_test(&b.m->coverage.complete, "a", &e), &e);
    if (incomplete) {
        bundled_must(manifest_add_test(&b.m->coverage.incomplete, incomplete, &e), &e);
        bundled_must(manifest_add_reason(b.m, incomplete, "trace missing", &e), &e);
    }
    bundled_write(&b, path);
    taped_fini(&t);
    canon_rules_free(&rules);
}

/* ---- inspect ---- */

static bool says(const char *words)
{
    bool found = strstr(buf_cstr(&out), words) != NULL;

    if (!found)
        printf("# not there: %s\n", words);
    return found;
}

static void check_text(const char *bundle)
{
    ok(capture(verb_bundle_inspect, &out, WORDS("inspect", bundle)) == 0, "inspect");
    ok(says("good") && says("bundle     sha256:") && says("content    sha256:"),
       "verdict and digests");
    ok(says("run-7, exit 1 E_TEST_FAILED, 1 passed, 1 failed of 2") &&
           says("1 test(s) failed | <b> [31m\n"),
       "the run");
    ok(!strchr(out.data, '\x1b'), "no control character reaches the terminal");
    ok(says("2026-03-01T12:00:00Z") && says("order 17390767342376325021, judge not"),
       "when, and the seeds");
    ok(says("1 test(s) complete, 1 incomplete") && says("t1: trace missing"), "coverage");
    ok(says("6 exchange(s): 4 with models, 1 with tools, 1 other"), "exchanges");
    ok(says("openai.chat") && says("gpt-5") && says("anthropic.messages") &&
           says("embed-3"),
       "model calls");
    ok(says("get_weather") && says("search") && says("read_file"), "tools");
    ok(says("tools.example") && says("vcr.example") && says("plain.example"), "hosts");
    ok(says("files/eval.yaml") && says("9 B"), "members and sizes");
    ok(says("1 cassette(s) of a format"), "a broken cassette");
}

static uint64_t calls_of(yyjson_val *root, const char *list, const char *key,
                         const char *name)
{
    size_t i, n;
    yyjson_val *row;

    yyjson_arr_foreach(json_find(root, list), i, n, row)
    {
        if (yyjson_equals_str(json_find(row, key), name))
            return yyjson_get_uint(json_find(row, "calls"));
    }
    return UINT64_MAX;
}

static void check_json(const char *bundle)
{
    yyjson_doc *doc = NULL;
    struct err e = {0};

    ok(capture(verb_bundle_inspect, &out, WORDS("inspect", "--json", bundle)) == 0 &&
           json_read(&doc, buf_cstr(&out), out.len, &e) == 0,
       "inspect --json is JSON%s", e.msg);
    yyjson_val *root = yyjson_doc_get_root(doc);
    ok(yyjson_is_true(json_find(root, "ok")) &&
           yyjson_get_uint(json_find(root, "exchanges")) == 6 &&
           yyjson_arr_size(json_find(root, "members")) == 5,
       "counts");
    ok(calls_of(root, "models", "dialect", "openai.chat") == 2 &&
           calls_of(root, "models", "model", "claude") == 1,
       "model calls");
    ok(calls_of(root, "tools", "name", "get_weather") == 1 &&
           calls_of(root, "tools", "name", "unused") == 0 &&
           calls_of(root, "tools", "name", "search") == 1 &&
           calls_of(root, "tools", "name", "read_file") == 1,
       "a call that history repeats counts once, a tool on offer not at all");
    ok(calls_of(root, "hosts", "host", "api.openai.example") == 2, "hosts");
    ok(yyjson_get_uint(json_find(json_find(root, "manifest"), "schema_version")) == 1,
       "the manifest");
    ok(yyjson_equals_str(json_find(json_find(root, "run"), "order_seed"),
                         "17390767342376325021"),
       "a seed of 64 bits survives");
    yyjson_doc_free(doc);
}

static void check_refused(void)
{
    const char *path = scratch_file("junk.tar.gz");
    struct err e = {0};

    bundled_must(fsx_write_file(path, "junk", 4, 0644, &e), &e);
    ok(capture(verb_bundle_inspect, &out, WORDS("inspect", path)) == 2 && says("refused"),
       "what is no bundle");
    ok(capture(verb_bundle_inspect, &out, WORDS("inspect", "--json", path)) == 2 &&
           says("\"ok\":false") && says("\"manifest\":null"),
       "the same in JSON");
    ok(capture(verb_bundle_inspect, &out, WORDS("inspect")) == 2, "nothing named");
    ok(capture(verb_bundle_inspect, &out, WORDS("inspect", "--help")) == 0 &&
           says("--json"),
       "--help");
}

/* ---- summary ---- */

static void check_summary(const char *bundle)
{
    char *whole = strdup(scratch_file("whole run.tar.gz"));

    ok(capture(verb_bundle_summary, &out,
               WORDS("summary", "--markdown", "--command", "make test", bundle)) == 0,
       "summary --markdown");
    ok(says("## Run run-7 failed: E\\_TEST\\_FAILED\n"), "headline");
    ok(says("| Message | 1 test(s) failed \\| \\<b\\>"), "text of others is quoted");
    ok(says("### Reproduce locally") &&
           says("retape-bundle verify all.tar.gz\nretape replay --bundle all.tar.gz "
                "--seed 17390767342376325021 --live -- make test\n"),
       "commands; --live because the bundle lacks something");

    make_bundle(whole, NULL);
    ok(capture(verb_bundle_summary, &out, WORDS("summary", whole)) == 0 &&
           says("retape replay --bundle 'whole run.tar.gz' --seed 17390767342376325021 "
                "-- COMMAND\n") &&
           says("no network"),
       "plain, a name with a blank, a complete bundle");
    ok(capture(verb_bundle_summary, &out, WORDS("summary", "--json", bundle)) == 0 &&
           says("\"reproduce\":[\"retape-bundle verify all.tar.gz\",\"retape replay") &&
           says("\"exit_code\":1"),
       "--json");
    free(whole);
}

static void check_summary_of_folder(void)
{
    static const char more[] = "{\"exit_code\":1,\"next_step\":\"look here\"}";
    char *folder = strdup(scratch_file("outputs"));
    struct err e = {0};

    ok(fsx_mkdirs(folder, 0755, &e) == 0 &&
           capture(verb_bundle_summary, &out, WORDS("summary", folder)) == 2,
       "a folder without outputs");
    bundled_must(fsx_write_file(scratch_file("outputs/run.json"), run_json,
                                strlen(run_json), 0644, &e),
                 &e);
    ok(capture(verb_bundle_summary, &out, WORDS("summary", "--markdown", folder)) == 0 &&
           says("run-7 failed") &&
           says("\nretape replay --seed 17390767342376325021 -- COMMAND\n"),
       "a folder with run.json");
    bundled_must(fsx_write_file(scratch_file("outputs/summary.json"), more, strlen(more),
                                0644, &e),
                 &e);
    ok(capture(verb_bundle_summary, &out, WORDS("summary", folder)) == 0 &&
           says("look here"),
       "and a summary.json that says more");
    free(folder);
}

int main(void)
{
    log_init("test");
    scratch_make();
    out = BUF_INIT(MIB(1));
    char *bundle = strdup(scratch_file("all.tar.gz"));
    make_bundle(bundle, "t1");
    check_text(bundle);
    check_json(bundle);
    check_refused();
    check_summary(bundle);
    check_summary_of_folder();
    free(bundle);
    buf_free(&out);
    return tap_done();
}
