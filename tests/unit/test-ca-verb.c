/* `retape ca`: path, show, export. */
#include "base/json.h"
#include "base/limits.h"
#include "capture.h"
#include "proxy/verbs.h"
#include "tap.h"

static struct buf out = {.max = MIB(1)};

static void test_prints(void)
{
    const char *pem = scratch_file("config/ca.pem");
    struct buf file = BUF_INIT(KIB(8));
    struct err e = {0};
    yyjson_doc *doc = NULL;
    char line[4200];

    ok(!fsx_exists(pem), "no authority yet");
    ok(capture(verb_ca, &out, WORDS("ca", "path")) == 0 && fsx_exists(pem),
       "path makes it");
    (void)snprintf(line, sizeof line, "%s\n", pem);
    is(buf_cstr(&out), line, "path prints its place");
    if (fsx_read_file(pem, &file, &e) < 0)
        exit(99);
    ok(capture(verb_ca, &out, WORDS("ca", "show")) == 0 &&
           strstr(buf_cstr(&out), "CN=retape CA ") &&
           strstr(buf_cstr(&out), buf_cstr(&file)),
       "show describes it and prints it");
    ok(capture(verb_ca, &out, WORDS("ca", "show", "--json")) == 0 &&
           json_read(&doc, buf_cstr(&out), out.len, &e) == 0,
       "show --json is JSON %s", e.msg);
    yyjson_val *root = yyjson_doc_get_root(doc);
    is(yyjson_get_str(yyjson_obj_get(root, "pem")), buf_cstr(&file), "with the text");
    is(yyjson_get_str(yyjson_obj_get(root, "path")), pem, "and the place");
    ok(yyjson_get_len(yyjson_obj_get(root, "fingerprint")) == 95, "and the fingerprint");
    yyjson_doc_free(doc);
    buf_free(&file);
}

static void test_export(void)
{
    const char *copy = scratch_file("copy.pem");
    struct buf a = BUF_INIT(KIB(8)), b = BUF_INIT(KIB(8));
    struct err e = {0};

    ok(capture(verb_ca, &out, WORDS("ca", "export", copy)) == 0, "export");
    ok(fsx_read_file(copy, &a, &e) == 0 &&
           fsx_read_file(scratch_file("config/ca.pem"), &b, &e) == 0,
       "a file is there");
    is(buf_cstr(&a), buf_cstr(&b), "it is the certificate");
    if (fsx_write_file(copy, "mine", 4, 0644, &e) < 0)
        exit(99);
    ok(capture(verb_ca, &out, WORDS("ca", "export", copy)) == 2, "nothing is replaced");
    buf_reset(&a);
    ok(fsx_read_file(copy, &a, &e) == 0 && strcmp(buf_cstr(&a), "mine") == 0,
       "the old file stays");
    ok(capture(verb_ca, &out, WORDS("ca", "export", copy, "--overwrite")) == 0,
       "unless told to");
    buf_reset(&a);
    ok(fsx_read_file(copy, &a, &e) == 0 && strcmp(buf_cstr(&a), buf_cstr(&b)) == 0,
       "then it is replaced");
    ok(capture(verb_ca, &out, WORDS("ca", "export", "/no/such/folder/x")) == 3,
       "no such folder");
    buf_free(&a);
    buf_free(&b);
}

static void test_usage(void)
{
    ok(capture(verb_ca, &out, WORDS("ca")) == 2, "no word");
    ok(capture(verb_ca, &out, WORDS("ca", "pat")) == 2, "an unknown word");
    ok(capture(verb_ca, &out, WORDS("ca", "path", "x")) == 2, "path takes nothing");
    ok(capture(verb_ca, &out, WORDS("ca", "export")) == 2, "export needs a file");
    ok(out.len == 0, "errors are not printed here");
    ok(capture(verb_ca, &out, WORDS("ca", "--help")) == 0 &&
           strstr(buf_cstr(&out), "export FILE"),
       "help");
}

int main(void)
{
    scratch_make();
    (void)setenv("RETAPE_CONFIG_DIR", scratch_file("config"), 1);
    test_prints();
    test_export();
    test_usage();
    buf_free(&out);
    return tap_done();
}
