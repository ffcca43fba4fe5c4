/* `retape env`: every shell gets back exactly what was meant. */
#include "base/json.h"
#include "base/limits.h"
#include "capture.h"
#include "proxy/verbs.h"
#include "tap.h"

#define CONFIG "it's a \\ $folder `x`"

static const char *const read_by_env[] = {
    "RETAPE_LISTEN", "RETAPE_SESSION",  "RETAPE_TOKEN", "RETAPE_BASE_URLS",
    "RETAPE_RUN_ID", "OPENAI_BASE_URL", "NO_PROXY",     "no_proxy",
};

static struct buf out = {.max = MIB(1)};

/* What a shell prints after evaluating what the verb printed. */
static void evaluated(const char *expression, char *got, size_t size)
{
    struct err e;
    struct buf script = BUF_INIT(MIB(1));
    char command[5000];

    buf_add(&script, out.data, out.len);
    buf_fmt(&script, "printf %%s \"%s\"\n", expression);
    if (fsx_write_file(scratch_file("script"), script.data, script.len, 0600, &e) < 0)
        exit(99);
    (void)snprintf(command, sizeof command, "sh '%s'", scratch_file("script"));
    FILE *shell = popen(command, "r");
    size_t n = shell ? fread(got, 1, size - 1, shell) : 0;
    got[n] = '\0';
    if (shell)
        (void)pclose(shell);
    buf_free(&script);
}

static void test_sh(void)
{
    char got[5000];

    ok(capture(verb_env, &out, WORDS("env")) == 0, "printed");
    evaluated("$SSL_CERT_FILE", got, sizeof got);
    is(got, scratch_file(CONFIG "/trust.pem"), "a path of odd bytes survives the shell");
    ok(fsx_exists(got), "and the bundle is there");
    evaluated("$NODE_EXTRA_CA_CERTS", got, sizeof got);
    ok(fsx_exists(got), "and the certificate: %s", got);
    evaluated("$HTTPS_PROXY $RETAPE_URL $RETAPE_SESSION", got, sizeof got);
    is(got, "http://127.0.0.1:8080 http://127.0.0.1:8080 default", "addresses");
    evaluated("${NO_PROXY-unset}${OPENAI_BASE_URL-unset}${RETAPE_RUN_ID-unset}", got,
              sizeof got);
    is(got, "unsetunset", "NO_PROXY is set and empty; no base URLs, no run id");
}

static void test_options(void)
{
    static const struct {
        const char *name, *words[8], *expression, *want;
    } cases[] = {
        {"session",
         {"--session", "run-7", "--base-urls"},
         "$HTTP_PROXY $OPENAI_BASE_URL",
         "http://run-7@127.0.0.1:8080 http://127.0.0.1:8080/s/run-7/openai/v1"},
        {"token",
         {"--token", "a@'/:", "--listen", "10.0.0.1:99"},
         "$http_proxy $RETAPE_URL",
         "http://default:a%40%27%2F%3A@10.0.0.1:99 http://10.0.0.1:99"},
        {"IPv6", {"--listen", "[::1]:99"}, "$ALL_PROXY", "http://[::1]:99"},
        {"all of IPv4", {"--listen", "0.0.0.0:9"}, "$RETAPE_URL", "http://127.0.0.1:9"},
        {"all of IPv6", {"--listen", "[::]:9"}, "$RETAPE_URL", "http://[::1]:9"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *words[10] = {"env"};
        char got[500];
        memcpy(words + 1, cases[i].words, sizeof cases[i].words);
        ok(capture(verb_env, &out, words) == 0, "%s: printed", cases[i].name);
        evaluated(cases[i].expression, got, sizeof got);
        is(got, cases[i].want, "%s: value", cases[i].name);
    }
    char got[500];
    (void)setenv("RETAPE_TOKEN", "t", 1);
    (void)setenv("RETAPE_SESSION", "s", 1);
    (void)setenv("RETAPE_LISTEN", "127.0.0.1:7", 1);
    ok(capture(verb_env, &out, WORDS("env", "--session", "q")) == 0, "environment");
    evaluated("$http_proxy", got, sizeof got);
    is(got, "http://q:t@127.0.0.1:7", "environment: read, and beaten by flags");
    for (size_t i = 0; i < 3; i++)
        (void)unsetenv(read_by_env[i]);
}

static void test_fish(void)
{
    ok(capture(verb_env, &out, WORDS("env", "--shell", "fish")) == 0, "fish");
    ok(strstr(buf_cstr(&out), "\nset -gx SSL_CERT_FILE '") &&
           strstr(buf_cstr(&out), "/it\\'s a \\\\ $folder `x`/trust.pem'\n"),
       "fish: quotes and backslashes are escaped");
    ok(capture(verb_env, &out, WORDS("env", "--shell", "fish", "--unset")) == 0 &&
           strstr(buf_cstr(&out), "\nset -eg SSL_CERT_FILE\n"),
       "fish: undone");
}

static void test_json(void)
{
    struct err e = {0};
    yyjson_doc *doc = NULL;

    ok(capture(verb_env, &out, WORDS("env", "--shell", "json")) == 0 &&
           json_read(&doc, buf_cstr(&out), out.len, &e) == 0,
       "json %s", e.msg);
    is(yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "SSL_CERT_FILE")),
       scratch_file(CONFIG "/trust.pem"), "json: value");
    yyjson_doc_free(doc);
    doc = NULL;
    ok(capture(verb_env, &out, WORDS("env", "--shell", "json", "--unset")) == 0 &&
           json_read(&doc, buf_cstr(&out), out.len, &e) == 0 &&
           yyjson_is_null(yyjson_obj_get(yyjson_doc_get_root(doc), "SSL_CERT_FILE")),
       "json: undone");
    yyjson_doc_free(doc);
}

static void test_unset(void)
{
    char got[100];

    (void)setenv("RETAPE_CONFIG_DIR", scratch_file("untouched"), 1);
    (void)setenv("SSL_CERT_FILE", "/x", 1);
    (void)setenv("OPENAI_BASE_URL", "http://mine", 1);
    ok(capture(verb_env, &out, WORDS("env", "--unset")) == 0, "undo");
    evaluated("${SSL_CERT_FILE-unset}${no_proxy-unset} $OPENAI_BASE_URL", got,
              sizeof got);
    is(got, "unsetunset http://mine", "what it would set is gone, and nothing else");
    ok(capture(verb_env, &out, WORDS("env", "--unset", "--base-urls")) == 0, "undo all");
    evaluated("${OPENAI_BASE_URL-unset}", got, sizeof got);
    is(got, "unset", "base URLs too");
    ok(!fsx_exists(scratch_file("untouched")), "no authority is made for that");
}

static void test_usage(void)
{
    static const char *const bad[][3] = {
        {"--shell", "csh"},        {"--listen", "127.0.0.1"},
        {"--listen", "h:0"},       {"--listen", "h:70000"},
        {"--session", "a/b"},      {"--session", "-a"},
        {"--listen", "[::1:8080"}, {"extra"},
        {"--lisen", "x"},
    };

    for (size_t i = 0; i < COUNT_OF(bad); i++)
        ok(capture(verb_env, &out, WORDS("env", bad[i][0], bad[i][1])) == 2 &&
               out.len == 0,
           "usage error %zu: %s %s", i, bad[i][0], bad[i][1] ? bad[i][1] : "");
}

int main(void)
{
    scratch_make();
    (void)setenv("RETAPE_CONFIG_DIR", scratch_file(CONFIG), 1);
    for (size_t i = 0; i < COUNT_OF(read_by_env); i++)
        (void)unsetenv(read_by_env[i]);
    test_sh();
    test_options();
    test_fish();
    test_json();
    test_unset();
    test_usage();
    buf_free(&out);
    return tap_done();
}
