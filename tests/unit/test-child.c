/* The command's environment, exactly; and a command that really gets it. */
#include "base/fsx.h"
#include "base/limits.h"
#include "proxy/child.h"
#include "scratch.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

#define PROXY "http://run-7@127.0.0.1:9"
#define ORIGIN "http://127.0.0.1:9"

static const struct child_setup usual = {.proxy_url = PROXY,
                                         .origin = ORIGIN,
                                         .bundle = "/b.pem",
                                         .ca = "/ca.pem",
                                         .run_id = "r1",
                                         .session = "run-7",
                                         .seed = "42",
                                         .base_urls = true};

static const struct {
    const char *name, *value;
} want[] = {
    {"HTTP_PROXY", PROXY},
    {"HTTPS_PROXY", PROXY},
    {"ALL_PROXY", PROXY},
    {"http_proxy", PROXY},
    {"https_proxy", PROXY},
    {"all_proxy", PROXY},
    {"NO_PROXY", ""},
    {"no_proxy", ""},
    {"SSL_CERT_FILE", "/b.pem"},
    {"REQUESTS_CA_BUNDLE", "/b.pem"},
    {"CURL_CA_BUNDLE", "/b.pem"},
    {"GIT_SSL_CAINFO", "/b.pem"},
    {"AWS_CA_BUNDLE", "/b.pem"},
    {"CARGO_HTTP_CAINFO", "/b.pem"},
    {"PIP_CERT", "/b.pem"},
    {"npm_config_cafile", "/b.pem"},
    {"DENO_CERT", "/b.pem"},
    {"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "/b.pem"},
    {"NODE_EXTRA_CA_CERTS", "/ca.pem"},
    {"NODE_USE_ENV_PROXY", "1"},
    {"RETAPE_URL", ORIGIN},
    {"RETAPE_ORACLE_URL", ORIGIN "/oracle"},
    {"RETAPE_RUN_ID", "r1"},
    {"RETAPE_SESSION", "run-7"},
    {"RETAPE_SEED", "42"},
    {"OPENAI_BASE_URL", ORIGIN "/s/run-7/openai/v1"},
    {"ANTHROPIC_BASE_URL", ORIGIN "/s/run-7/anthropic"},
    {"GOOGLE_GEMINI_BASE_URL", ORIGIN "/s/run-7/gemini"},
};

static void test_table(void)
{
    struct headers env = {0};
    struct err e = {0};

    ok(child_environment(&usual, &env, &e) == 0, "made %s", e.msg);
    ok(env.n == COUNT_OF(want), "%zu variables", env.n);
    for (size_t i = 0; i < COUNT_OF(want) && i < env.n; i++) {
        is(env.v[i].name, want[i].name, "variable %zu", i);
        is(env.v[i].value, want[i].value, "%s", want[i].name);
    }
    headers_fini(&env);

    struct child_setup bare = usual;
    bare.base_urls = false;
    bare.seed = NULL;
    ok(child_environment(&bare, &env, &e) == 0 && env.n == COUNT_OF(want) - 4 &&
           !headers_find(&env, "RETAPE_SEED") && !headers_find(&env, "OPENAI_BASE_URL"),
       "seed and base URLs only when asked for");
    headers_fini(&env);
}

static void test_base_urls(void)
{
    static const struct {
        const char *proxy_url, *session, *want;
    } cases[] = {
        {"http://127.0.0.1:9", "default", ORIGIN "/anthropic"},
        {"http://default@127.0.0.1:9", "default", ORIGIN "/anthropic"},
        {"http://127.0.0.1:9", "a", ORIGIN "/s/a/anthropic"},
        {"http://default:t%2F@127.0.0.1:9", "default",
         ORIGIN "/s/default:t%2F/anthropic"},
        {"http://a:t@127.0.0.1:9", "a", ORIGIN "/s/a:t/anthropic"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct child_setup s = usual;
        struct headers env = {0};
        struct err e = {0};
        s.proxy_url = cases[i].proxy_url;
        s.session = cases[i].session;
        ok(child_environment(&s, &env, &e) == 0, "%s", cases[i].proxy_url);
        is(headers_find(&env, "ANTHROPIC_BASE_URL"), cases[i].want, "base URL %zu", i);
        headers_fini(&env);
    }
}

/* Run a shell script with the usual environment; its exit status, or -1. */
static int run_script(const char *script, struct err *e)
{
    char *const command[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                             (char *)(uintptr_t)script, NULL};
    struct headers env = {0};
    int pid = 0, status = -1;

    if (child_environment(&usual, &env, e) == 0 &&
        child_start(command, &env, &pid, e) == 0 && waitpid(pid, &status, 0) == pid)
        status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    headers_fini(&env);
    return status;
}

static void test_gets_it(void)
{
    static const struct {
        const char *name, *script;
    } cases[] = {
        {"new variables", "test \"$RETAPE_RUN_ID\" = r1"},
        {"old ones stay", "test \"$KEPT\" = yes"},
        {"new ones win", "test \"$HTTPS_PROXY\" = " PROXY},
        {"once", "test \"$(env | grep -c ^HTTPS_PROXY=)\" = 1"},
        {"NO_PROXY is empty", "test \"${NO_PROXY-unset}${no_proxy-unset}\" = ''"},
        {"names count their case", "test \"$retape_run_id\" = other"},
        {"exit status", "exit 7"},
    };
    struct err e = {0};

    (void)setenv("KEPT", "yes", 1);
    (void)setenv("HTTPS_PROXY", "http://old", 1);
    (void)setenv("NO_PROXY", "localhost", 1);
    (void)setenv("no_proxy", "localhost", 1);
    (void)setenv("retape_run_id", "other", 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        ok(run_script(cases[i].script, &e) == (i + 1 == COUNT_OF(cases) ? 7 : 0),
           "the command: %s %s", cases[i].name, e.msg);
    is(getenv("NO_PROXY"), "localhost", "our own environment stays");
}

/* What the kernel says of a child's signals: one line of /proc/self/status, in hex. The
 * C library's own two (32 and 33) do not count: make leaves them ignored, and nobody
 * but the C library may change them. */
#define MASK_IS_EMPTY(name)                                                              \
    "case \"$(sed -n 's/^" name ":[\\t0]*//p' /proc/self/status)\" in ''|180000000) ;; " \
    "*) exit 1 ;; esac"

static void test_signals(void)
{
    struct err e = {0};
    sigset_t some;

    (void)sigemptyset(&some);
    (void)sigaddset(&some, SIGINT);
    (void)sigaddset(&some, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &some, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGHUP, SIG_DFL);
    ok(run_script(MASK_IS_EMPTY("SigBlk"), &e) == 0, "no signal is blocked");
    ok(run_script(MASK_IS_EMPTY("SigIgn"), &e) == 0, "no signal is ignored");
    ok(run_script("kill -TERM $$", &e) == 128 + SIGTERM, "SIGTERM ends it");
    (void)signal(SIGHUP, SIG_IGN);
    ok(run_script("kill -HUP $$; exit 5", &e) == 5, "nohup is honoured");
    ok(signal(SIGPIPE, SIG_IGN) == SIG_IGN, "our own signals stay");
    sigset_t now;
    (void)sigprocmask(SIG_BLOCK, NULL, &now);
    ok(sigismember(&now, SIGINT) == 1 && sigismember(&now, SIGUSR1) == 0,
       "and our own mask");
}

static int open_descriptors(void)
{
    int n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void test_descriptors(void)
{
    struct err e = {0};
    int before = open_descriptors();
    int ours = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int given = open("/dev/null", O_RDONLY); /* as a shell's <(...) would be */
    char script[128];

    (void)snprintf(script, sizeof script, "test ! -e /dev/fd/%d && test -e /dev/fd/%d",
                   ours, given);
    ok(run_script(script, &e) == 0, "descriptors of ours close, others are inherited");
    (void)snprintf(script, sizeof script,
                   "read -r _ _ _ _ group _ </proc/$$/stat; test $group = %d",
                   (int)getpgrp());
    ok(run_script(script, &e) == 0, "it stays in our process group");
    (void)close(ours);
    (void)close(given);
    ok(open_descriptors() == before, "and nothing is left open here");
}

static void test_cannot_start(void)
{
    static const struct {
        const char *name, *file, *text;
        mode_t mode;
        int pid;
        const char *says;
    } cases[] = {
        {"not in PATH", "no-such-command-anywhere", NULL, 0, -127, "command not found"},
        {"no such file", "./absent", NULL, 0, -127, "command not found"},
        {"empty", "", NULL, 0, -127, "command not found"},
        {"not executable", "./plain", "#!/bin/sh\n", 0644, -126, "Permission denied"},
        {"a folder", ".", NULL, 0, -126, "Permission denied"},
        {"no interpreter", "./script", "#!/no/such/sh\n", 0755, -127, "interpreter"},
        {"behind a file", "./plain/x", NULL, 0, -127, "command not found"},
    };
    struct headers none = {0};

    if (chdir(scratch_path) < 0)
        exit(99);
    int before = open_descriptors();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *const command[] = {(char *)(uintptr_t)cases[i].file, NULL};
        struct err e = {0};
        int pid = 0;
        if (cases[i].text && fsx_write_file(cases[i].file, cases[i].text,
                                            strlen(cases[i].text), cases[i].mode, &e) < 0)
            exit(99);
        ok(child_start(command, &none, &pid, &e) == -1 && e.code == ERR_USAGE,
           "%s: refused", cases[i].name);
        ok(pid == cases[i].pid, "%s: exit status %d", cases[i].name, -pid);
        if (!ok(strstr(e.msg, cases[i].says) != NULL, "%s: says so", cases[i].name))
            printf("#  message: %s\n", e.msg);
    }
    ok(waitpid(-1, NULL, WNOHANG) == -1, "no process is left behind");
    ok(open_descriptors() == before, "no descriptor either");

    char *const bare[] = {(char *)(uintptr_t) "./bare", NULL};
    struct err e = {0};
    int pid = 0, status = 0;
    if (fsx_write_file("./bare", "exit 6\n", 7, 0755, &e) < 0)
        exit(99);
    ok(child_start(bare, &none, &pid, &e) == 0 && waitpid(pid, &status, 0) == pid &&
           WEXITSTATUS(status) == 6,
       "a script without a first line runs as in a shell");
}

int main(void)
{
    (void)umask(022);
    scratch_make();
    test_table();
    test_base_urls();
    test_gets_it();
    test_descriptors();
    test_signals();
    test_cannot_start();
    return tap_done();
}
