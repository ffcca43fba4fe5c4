/* test-bundle.c - bundles as a whole: the example vectors, verdicts, create. */
#include "base/fsx.h"
#include "bundler/create.h"
#include "bundler/verify.h"

#include "fake_secret.h"
#include "rawtar.h"
#include "scratch.h"
#include "tap.h"
#include "vectors.h"

#include <sys/stat.h>

static const struct verify_options plain = {0};

static bool has_code(const struct findings *f, const char *code)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->v[i].code, code) == 0)
            return true;
    return false;
}

/* ---- the five vectors ---- */

static const char *member_text(const struct vector *v, size_t i, struct buf *lines)
{
    if (v->members[i].text)
        return v->members[i].text;
    vector_lines(lines);
    return buf_cstr(lines);
}

/* As the reference writes the tar; its digest proves that this is right. */
static void test_theirs(const struct vector *v)
{
    struct buf tar = BUF_INIT(MIB(1)), lines = BUF_INIT(MIB(1));
    struct verdict verdict;
    struct err e = {0};

    rawtar_text(&tar, PACK_MANIFEST, v->manifest);
    for (size_t i = 0; v->members[i].path; i++)
        rawtar_text(&tar, v->members[i].path, member_text(v, i, &lines));
    rawtar_end(&tar);
    int fd = rawtar_gzip_fd(&tar);
    ok(bundle_verify(fd, &plain, &verdict, &e) == 0 && verdict.findings.errors == 0,
       "vector %s verifies", v->name);
    is(verdict.digests.content + strlen("sha256:"), v->content,
       "vector %s: content_digest", v->name);
    ok(has_code(&verdict.findings, "W_NO_FILES") == (v->manifest != vector_full),
       "vector %s: a manifest without files is told", v->name);
    ok(has_code(&verdict.findings, "W_BUNDLE_LACKS") == !v->members[0].path,
       "vector %s: so is one with nothing to replay", v->name);
    verdict_fini(&verdict);
    (void)close(fd);
    buf_free(&tar);
    buf_free(&lines);
}

/* Theirs byte for byte, compressed by their compressor. */
static void test_their_files(const struct vector *v)
{
    const char *dir = getenv("srcdir");
    struct verdict verdict = {0};
    struct err e = {0};
    char path[4096];

    (void)snprintf(path, sizeof path, "%s/tests/data/bundle/%c.tar.gz", dir ? dir : ".",
                   v->name[0] | 0x20);
    ok(bundle_verify_file(path, &plain, &verdict, &e) == 0 && !verdict.findings.errors,
       "vector %s as a file verifies: %s", v->name, e.msg);
    is(verdict.digests.file + strlen("sha256:"), v->file, "vector %s: bundle_digest",
       v->name);
    is(verdict.digests.content + strlen("sha256:"), v->content,
       "vector %s: content_digest of the file", v->name);
    verdict_fini(&verdict);
}

/* Ours for the same inputs, pinned: the tar by itself, the file with the zlib it was
 * made with. */
static const struct {
    const char *content, *file;
} ours[] = {
    {"3594dbd4a140df301086f7bbf6fe918b167ec050e6a338533a5dd86761a66817",
     "a7b68daa5ba23b675f55739478be50ada9d93e91a9156209b5c39c3a924ea6af"}, /* A */
    {"9f3b59be0f1f5cc8170ba82f1f8811cb2ee1c91f5b651b184cb3f85fbe38c6f0",
     "a67c029a6afa75d62696a60420fc0a41b7471298cab0e6ca872fa5b5eee14df4"}, /* B */
    {"9b139ec03efa4ebdd3bdb9942b0c6640aa30a82deac4808fd83d0ea5edb30f1a",
     "c3313384f44b8d1a429226604253dcd8bccd2241957b1c6240e58de1a935bc9b"}, /* C */
    {"b66ee4cac67cf8338af8054caf93a660ec945fdc9fe3d003caf4ff6a1cab7a1b",
     "f0a5a38c0da723c7ebab938b21c8bfe526b2ec8b49081481fe574ce0c8c2c387"}, /* D */
    {"b33cea6baea6906817bc40e2f589aba1f0ed1d6f23f2afb4d61055b8928b9911",
     "778c722c6922b20f9e68319b87c648608f5028f87f696c2b64036c84d24f1b83"}, /* E */
};

static int to_buf(void *arg, const void *data, size_t len, struct err *e)
{
    buf_add(arg, data, len);
    return buf_check(arg, "archive", e);
}

static int write_member(struct pack_writer *w, const char *path, const char *text,
                        struct err *e)
{
    return pack_writer_member(w, path, strlen(text), e) < 0 ||
                   pack_writer_bytes(w, text, strlen(text), e) < 0
               ? -1
               : 0;
}

static void test_ours(size_t at)
{
    const struct vector *v = &vectors[at];
    struct buf gz = BUF_INIT(MIB(1)), lines = BUF_INIT(MIB(1));
    struct pack_writer *w = NULL;
    struct verdict verdict;
    struct err e = {0};
    int rc = pack_writer_open(&w, to_buf, &gz, &e);

    if (rc == 0)
        rc = write_member(w, PACK_MANIFEST, v->manifest, &e);
    for (size_t i = 0; rc == 0 && v->members[i].path; i++)
        rc = write_member(w, v->members[i].path, member_text(v, i, &lines), &e);
    if (rc == 0)
        rc = pack_writer_finish(w, &e);
    pack_writer_close(&w);
    ok(rc == 0, "vector %s written by us: %s", v->name, e.msg);
    int fd = rawtar_fd(gz.data, gz.len);
    ok(bundle_verify(fd, &plain, &verdict, &e) == 0 && !verdict.findings.errors,
       "vector %s: ours verifies", v->name);
    is(verdict.digests.content + strlen("sha256:"), ours[at].content,
       "vector %s: our content_digest", v->name);
    if (strcmp(pack_zlib_version(), "1.2.13") == 0)
        is(verdict.digests.file + strlen("sha256:"), ours[at].file,
           "vector %s: our bundle_digest", v->name);
    verdict_fini(&verdict);
    (void)close(fd);
    buf_free(&gz);
    buf_free(&lines);
}

/* ---- verdicts ---- */

/* One member files/x = "[]" and what the manifest says of it. */
static struct verdict verdict_of(const char *manifest_rest, const char *path,
                                 const char *text)
{
    struct buf tar = BUF_INIT(MIB(1)), manifest = BUF_INIT(KIB(64));
    struct verdict verdict;
    struct err e = {0};

    buf_fmt(&manifest, "{\"schema_version\":1,\"assay_version\":\"v\"%s}", manifest_rest);
    rawtar_text(&tar, PACK_MANIFEST, buf_cstr(&manifest));
    rawtar_text(&tar, "files/x.jsonl", "[]");
    if (path)
        rawtar_text(&tar, path, text);
    rawtar_end(&tar);
    int fd = rawtar_gzip_fd(&tar);
    must(bundle_verify(fd, &plain, &verdict, &e) == 0);
    (void)close(fd);
    buf_free(&tar);
    buf_free(&manifest);
    return verdict;
}

#define BRACKETS "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
#define LISTED(sha, size)                                                                \
    ",\"files\":{\"files/x.jsonl\":{\"sha256\":\"" sha "\",\"size\":" size "}"

static const struct {
    const char *name, *manifest, *path, *code; /* code NULL: all is well */
} verdicts[] = {
    {"as it should be", LISTED("sha256:" BRACKETS, "2") "}", NULL, NULL},
    {"a hash without its prefix", LISTED(BRACKETS, "2") "}", NULL, NULL},
    {"a prefix twice", LISTED("sha256:sha256:" BRACKETS, "2") "}", NULL, NULL},
    {"another hash", LISTED("sha256:deadbeef", "2") "}", NULL, "E_BUNDLE_HASH"},
    {"another size", LISTED(BRACKETS, "999") "}", NULL, "E_BUNDLE_SIZE"},
    {"not listed", LISTED(BRACKETS, "2") "}", "outputs/y", "E_BUNDLE_UNLISTED"},
    {"listed, not there",
     LISTED(BRACKETS, "2") ",\"files/y\":{\"sha256\":\"\",\"size\":0}}", NULL,
     "E_BUNDLE_MISSING"},
    {"listed under an impossible name",
     LISTED(BRACKETS, "2") ",\"../y\":{\"sha256\":\"\",\"size\":0}}", NULL,
     "E_MANIFEST_FILES"},
    {"trace_path", LISTED(BRACKETS, "2") "},\"trace_path\":\"files/x.jsonl\"", NULL,
     NULL},
    {"trace_path to nothing", LISTED(BRACKETS, "2") "},\"trace_path\":\"files/z\"", NULL,
     "E_BUNDLE_TRACE_PATH"},
    {"trace_path outside", LISTED(BRACKETS, "2") "},\"trace_path\":\"../../etc\"", NULL,
     "E_BUNDLE_TRACE_PATH"},
    {"outputs to nothing",
     LISTED(BRACKETS, "2") "},\"outputs\":{\"run\":\"outputs/run.json\"}", NULL,
     "E_BUNDLE_OUTPUTS_PATH"},
    {"no manifest to speak of", ",", NULL, "E_MANIFEST_JSON"},
};

static void test_verdicts(void)
{
    for (size_t i = 0; i < COUNT_OF(verdicts); i++) {
        struct verdict v = verdict_of(verdicts[i].manifest, verdicts[i].path, "");
        ok(v.digests.has_file, "%s: the digest is known", verdicts[i].name);
        if (verdicts[i].code)
            is(v.findings.n ? v.findings.v[0].code : NULL, verdicts[i].code, "%s",
               verdicts[i].name);
        else
            ok(v.findings.n == 0, "%s: no findings", verdicts[i].name);
        ok((v.findings.errors > 0) == (verdicts[i].code != NULL), "%s: error or not",
           verdicts[i].name);
        verdict_fini(&v);
    }
}

/* ---- create ---- */

static void put_file(const char *name, const char *text)
{
    char path[512];
    struct err e = {0};

    (void)snprintf(path, sizeof path, "%s", name);
    char *slash = strrchr(path, '/');
    if (slash) {
        *slash = '\0';
        must(fsx_mkdirs(path, 0755, &e) == 0);
    }
    must(fsx_write_file(name, text, strlen(text), 0644, &e) == 0);
}

static int create(const struct bundle_plan *plan, struct bundle_made *made, struct err *e)
{
    *e = (struct err){0};
    return bundle_create(plan, made, e);
}

static void test_create(void)
{
    struct bundle_plan plan = {
        .from = "run", .output = "one.tar.gz", .reproducible = true};
    struct bundle_made made, again;
    struct verdict verdict = {0};
    struct err e = {0};

    put_file("run/eval.yaml", "suite: s\n");
    put_file("run/trace.jsonl", "[]");
    put_file("run/run.json",
             "{\"run_id\":7,\"order_seed\":17390767342376325021,\"results\":["
             "{\"test_id\":\"t2\",\"status\":\"fail\"},{\"test_id\":\"t1\",\"status\":"
             "\"ERROR\",\"message\":\" timeout \"},{\"status\":\"pass\"}]}");
    put_file("run/cassettes/openai/a.json", "{}");
    put_file("run/cassettes/.gitkeep", "");
    ok(create(&plan, &made, &e) == 0 && made.written, "created: %s", e.msg);
    is(made.run_id, "7", "named after the run");
    ok(strstr(buf_cstr(&made.manifest),
              "\"seeds\":{\"order_seed\":\"17390767342376325021\"}"),
       "a seed of 64 bits survives");
    ok(strstr(buf_cstr(&made.manifest),
              "\"complete_tests\":[\"t2\"],\"incomplete_tests\":[\"t1\"],\"reason\":{"
              "\"t1\":\"timeout\"}"),
       "coverage from the rows");
    ok(!strstr(buf_cstr(&made.manifest), "created_at") &&
           !strstr(buf_cstr(&made.manifest), "toolchain") &&
           !strstr(buf_cstr(&made.manifest), "git_"),
       "nothing of the machine");
    plan.output = "two.tar.gz";
    ok(create(&plan, &again, &e) == 0, "created again");
    is(again.verdict.digests.file, made.verdict.digests.file, "the same bytes");
    ok(bundle_verify_file("one.tar.gz", &plain, &verdict, &e) == 0 &&
           verdict.findings.n == 0 && verdict.members == 5,
       "it verifies: %zu members", verdict.members);
    is(verdict.digests.file, made.verdict.digests.file, "bundle_digest is the file's");
    is(verdict.digests.content, made.verdict.digests.content, "content_digest too");
    verdict_fini(&verdict);
    bundle_made_fini(&made);
    bundle_made_fini(&again);
}

static void test_described(void)
{
    struct bundle_plan plan = {.from = "run",
                               .output = "d.tar.gz",
                               .created_at = "2026-02-06T10:11:12Z",
                               .assay_version = "9.9",
                               .env = (const char *const[]){"K=V", NULL}};
    struct bundle_made made;
    struct err e = {0};

    ok(create(&plan, &made, &e) == 0, "created: %s", e.msg);
    const char *text = buf_cstr(&made.manifest);
    ok(strncmp(text,
               "{\"schema_version\":1,\"assay_version\":\"9.9\",\"created_at\":"
               "\"2026-02-06T10:11:12+00:00\",\"source_run_path\":\"run\","
               "\"selection_method\":\"explicit-from\"",
               120) == 0,
       "it begins in the order of the format");
    ok(strstr(text, "\"toolchain\":{\"retape\":\"") &&
           strstr(text, "\"runner\":{\"os\":"),
       "toolchain");
    ok(strstr(text, "\"env\":{\"K\":\"V\"}"), "env");
    ok(!strstr(text, scratch_path), "no absolute path");
    bundle_made_fini(&made);
    plan.audit_paths = true;
    ok(create(&plan, &made, &e) == 0 && strstr(buf_cstr(&made.manifest), scratch_path),
       "unless asked for");
    bundle_made_fini(&made);
}

/* A folder without a bundle, and what is in it. */
static size_t files_in(const char *dir)
{
    char command[600];
    char count[32] = "";

    (void)snprintf(command, sizeof command, "find %s -type f | wc -l", dir);
    FILE *f = popen(command, "r");
    must(f && fgets(count, sizeof count, f));
    (void)pclose(f);
    return strtoul(count, NULL, 10);
}

static void test_create_refuses(void)
{
    struct buf secret = BUF_INIT(256);
    struct bundle_plan plan = {.from = "leak", .output = "out/leak.tar.gz"};
    struct bundle_made made;
    struct err e = {0};

    buf_str(&secret, "key: ");
    fake_secret(&secret, "sk-ant-api03-%a93AA", 5);
    put_file("leak/eval.yaml", buf_cstr(&secret));
    put_file("leak/trace.jsonl", "[]");
    ok(create(&plan, &made, &e) == 0 && !made.written &&
           made.verdict.findings.errors == 1,
       "a secret in the config: no bundle");
    is(made.verdict.findings.v[0].path, "files/eval.yaml", "it says where");
    ok(!strstr(made.verdict.findings.v[0].message, buf_cstr(&secret) + 5),
       "and does not repeat it");
    ok(files_in(".") && !fsx_exists("out/leak.tar.gz"), "nothing under its name");
    bundle_made_fini(&made);

    put_file("empty/other", "");
    plan = (struct bundle_plan){.from = "empty", .output = "out/empty.tar.gz"};
    ok(create(&plan, &made, &e) == 0 && !made.written &&
           has_code(&made.verdict.findings, "E_BUNDLE_LACKS"),
       "nothing to replay: no bundle");
    ok(fsx_exists("out") && files_in("out") == 0, "and nothing left beside it");
    bundle_made_fini(&made);
    buf_free(&secret);
}

static void test_dry_run(void)
{
    struct bundle_plan plan = {.from = "run",
                               .output = "dry/none.tar.gz",
                               .reproducible = true,
                               .dry_run = true};
    struct bundle_made made;
    struct err e = {0};

    ok(create(&plan, &made, &e) == 0 && !made.written && !fsx_exists("dry"),
       "a dry run writes nothing");
    ok(made.verdict.digests.has_file && made.verdict.members == 5,
       "but tells what would be");
    bundle_made_fini(&made);
}

/* A cassette of another tool loses its credentials on the way in. */
static void test_scrubbed(void)
{
    struct bundle_plan plan = {.from = "vcr", .output = "vcr.tar.gz"};
    struct verdict verdict = {0};
    struct bundle_made made;
    struct buf text = BUF_INIT(512);
    struct err e = {0};

    buf_str(&text, "{\"h\":\"Bearer ");
    fake_secret(&text, "sk-ant-api03-%a93AA", 6);
    buf_str(&text, "\",\"k\":1}");
    put_file("vcr/cassettes/a.json", buf_cstr(&text));
    put_file("vcr/trace.jsonl", "[]");
    ok(create(&plan, &made, &e) == 0 && made.written, "created: %s", e.msg);
    struct scan_rules *rules = NULL;
    must(scan_rules_new(&rules, NULL, &e) == 0);
    const struct verify_options scanning = {.rules = rules};
    ok(bundle_verify_file("vcr.tar.gz", &scanning, &verdict, &e) == 0 &&
           verdict.findings.n == 0,
       "and clean");
    scan_rules_free(&rules);
    verdict_fini(&verdict);
    bundle_made_fini(&made);
    buf_free(&text);
}

/* What Assay would take for the config or the trace instead. */
static void test_shadows(void)
{
    struct bundle_plan plan = {
        .from = "run",
        .dry_run = true,
        .policy = "baseline.json",
        .files = (const char *const[]){"baseline.json=files/zz.json", "a.jsonl", NULL}};
    struct bundle_made made;
    struct err e = {0};

    put_file("baseline.json", "{}");
    put_file("a.jsonl", "[]");
    ok(create(&plan, &made, &e) == 0 && made.verdict.findings.n == 1, "created: %s",
       e.msg);
    is(made.verdict.findings.n ? made.verdict.findings.v[0].code : NULL,
       "W_TRACE_SHADOWED", "a trace before the trace is told");
    ok(strstr(buf_cstr(&made.manifest), "\"files/with/baseline.json\""),
       "a policy steps behind the config by itself");
    bundle_made_fini(&made);
    plan.files = (const char *const[]){"baseline.json=files/a.json", NULL};
    ok(create(&plan, &made, &e) == 0 &&
           has_code(&made.verdict.findings, "W_CONFIG_SHADOWED"),
       "a config before the config is told");
    bundle_made_fini(&made);
}

static void test_selection(void)
{
    struct bundle_plan plan = {.dry_run = true};
    struct bundle_made made;
    struct err e = {0};

    put_file("work/outputs/run.json", "{\"run_id\":\"from-retape\"}");
    put_file("work/outputs/summary.json", "{}");
    put_file("work/cassettes/default.jsonl", "{}\n");
    put_file("work/.assay/run_9/trace.jsonl", "[]");
    must(chdir("work") == 0);
    ok(create(&plan, &made, &e) == 0, "the newest run: %s", e.msg);
    is(made.path, ".assay/bundles/from-retape.tar.gz", "names the bundle");
    ok(strstr(buf_cstr(&made.manifest), "\"selection_method\":\"mtime-latest\"") &&
           strstr(buf_cstr(&made.manifest), "cassettes/default.jsonl") &&
           strstr(buf_cstr(&made.manifest), "outputs/summary.json"),
       "with what retape left around it");
    bundle_made_fini(&made);
    plan.run_id = "9";
    ok(create(&plan, &made, &e) == 0 &&
           strstr(buf_cstr(&made.manifest), "\"selection_method\":\"run-id\"") &&
           strstr(buf_cstr(&made.manifest), "\"source_run_path\":\".assay/run_9\""),
       "the folder of a run id");
    bundle_made_fini(&made);
    plan.run_id = "none";
    ok(create(&plan, &made, &e) < 0 && e.code == ERR_CONFIG, "one without: %s", e.msg);
    bundle_made_fini(&made);
    plan.cassettes = "cassettes";
    ok(create(&plan, &made, &e) == 0 &&
           strstr(buf_cstr(&made.manifest), "\"selection_method\":\"cwd-fallback\""),
       "but with inputs it only names the bundle");
    is(made.path, ".assay/bundles/none.tar.gz", "so");
    bundle_made_fini(&made);
    plan.run_id = "../x";
    ok(create(&plan, &made, &e) < 0 && e.code == ERR_USAGE, "a run id is no path");
    bundle_made_fini(&made);
}

int main(void)
{
    must(unsetenv("SOURCE_DATE_EPOCH") == 0 && unsetenv("ASSAY_VCR_DIR") == 0);
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        test_theirs(&vectors[i]);
        test_their_files(&vectors[i]);
        test_ours(i);
    }
    test_verdicts();
    must(chdir(scratch_make()) == 0);
    test_create();
    test_described();
    test_create_refuses();
    test_dry_run();
    test_scrubbed();
    test_shadows();
    test_selection();
    return tap_done();
}
