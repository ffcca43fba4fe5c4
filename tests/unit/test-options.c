/* test-options.c - the command lines of record, replay and auto. */
#include "base/clock.h"
#include "proxy/options.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const mode_names[] = {"record", "replay", "auto"};
static const struct cli_verb *const tables[] = {&options_record, &options_replay,
                                                &options_auto};

static int parse(struct options *o, enum options_mode mode, const char *words,
                 struct err *e)
{
    static char line[1024];
    static char *argv[40];
    int n = 0;

    (void)snprintf(line, sizeof line, "%s %s", mode_names[mode], words);
    for (char *w = strtok(line, " "); w && n < 39; w = strtok(NULL, " "))
        argv[n++] = w;
    argv[n] = NULL;
    return options_parse(o, mode, n, argv, e);
}

static void test_defaults(void)
{
    struct options o;
    struct err e = {0};

    clock_pin_wall(1772366400123); /* 2026-03-01T12:00:00.123Z */
    ok(parse(&o, MODE_REPLAY, "", &e) == 0, "nothing given: %s", e.msg);
    is(o.cassettes, "cassettes", "cassettes");
    is(o.session, "default", "session");
    is(o.output, "outputs", "output");
    ok(!o.listen && !o.token && !o.seed.given && !o.workers.given, "no others");
    ok(o.speed == 0 && o.repeat == REPEAT_NONE && o.mode == MODE_REPLAY, "playback");
    ok(o.config && !o.config->path && !o.rest.command, "built-in configuration");
    ok(strncmp(o.run_id, "run-20260301T120000Z-", 21) == 0 && strlen(o.run_id) == 27 &&
           strspn(o.run_id + 21, "0123456789abcdef") == 6,
       "run id of the time: %s", o.run_id);
    options_fini(&o);
    options_fini(&o);
    ok(!o.config, "freed, twice");
    clock_pin_wall(-1);
}

static void test_everything(void)
{
    struct options o;
    struct err e = {0};

    ok(parse(&o, MODE_RECORD,
             "--cassettes c --session run-7 --output out --run-id r.1 --seed 42 --append "
             "--listen [::1]:0 --token s3cret --ready-file rf --workers 2 --summary-file "
             "sf --json --no-sandbox --base-urls --allow-empty --upstream-ca /dev/null "
             "--resolve api.x:443:127.0.0.1:9 --resolve [::1]:80:[::2] --tunnel *.x.y "
             "--upstream-proxy http://u:p@proxy:3128 -- sh -c true",
             &e) == 0,
       "all of record: %s", e.msg);
    is(o.run_id, "r.1", "run id as given");
    ok(o.seed.given && o.seed.value == 42 && o.append && !o.overwrite, "seed, append");
    ok(o.resolve.n == 2 && o.tunnel.n == 1 && o.upstream_ca.n == 1, "lists");
    ok(o.json && o.base_urls && o.allow_empty && o.workers.value == 2, "flags");
    is(o.rest.command[0], "sh", "the command");
    options_fini(&o);

    ok(parse(&o, MODE_REPLAY, "--speed 2.5 --repeat last --fail-unused", &e) == 0,
       "playback");
    ok(o.speed == 2.5 && o.repeat == REPEAT_LAST && o.fail_unused, "its values");
    options_fini(&o);
    ok(parse(&o, MODE_AUTO, "--repeat cycle --resolve a:1:b --fail-unused", &e) == 0 &&
           o.repeat == REPEAT_CYCLE,
       "auto has both sides");
    options_fini(&o);
    ok(parse(&o, MODE_AUTO, "--help", &e) == 0 && o.rest.help && !o.config,
       "help looks at nothing else");
    options_fini(&o);
}

static const struct {
    enum options_mode mode;
    const char *words, *want; /* want: part of the message */
} refused[] = {
    {MODE_RECORD, "--sandbox", "this version has no sandbox"},
    {MODE_REPLAY, "--sandbox --no-sandbox", "this version has no sandbox"},
    {MODE_AUTO, "--sandbox", "this version has no sandbox"},
    {MODE_RECORD, "--overwrite --append", "contradict each other"},
    {MODE_REPLAY, "--overwrite", "unknown option '--overwrite'"},
    {MODE_AUTO, "--append", "unknown option '--append'"},
    {MODE_RECORD, "--speed 1", "unknown option '--speed'"},
    {MODE_RECORD, "--fail-unused", "unknown option '--fail-unused'"},
    {MODE_REPLAY, "--compare", "--compare needs --bundle FILE"},
    {MODE_REPLAY, "--tunnel a", "unknown option '--tunnel'"},
    {MODE_REPLAY, "--allow-empty", "unknown option '--allow-empty'"},
    {MODE_REPLAY, "--casettes x", "did you mean '--cassettes'?"},
    {MODE_REPLAY, "--session a/b", "--session 'a/b': a name must start"},
    {MODE_REPLAY, "--session .a", "--session '.a': a name must start"},
    {MODE_REPLAY, "--run-id a/b", "--run-id 'a/b': an id must start"},
    {MODE_REPLAY,
     "--run-id 01234567890123456789012345678901234567890123456789012345678901234",
     "an id must start"},
    {MODE_REPLAY, "--seed -1", "--seed: '-1' is not a whole number"},
    {MODE_REPLAY, "--workers 0", "--workers: give a number from 1 to 256"},
    {MODE_REPLAY, "--workers 257", "--workers: give a number from 1 to 256"},
    {MODE_REPLAY, "--listen 8080", "give an address and a port"},
    {MODE_REPLAY, "--listen 127.0.0.1", "give an address and a port"},
    {MODE_REPLAY, "--listen 127.0.0.1:", "give an address and a port"},
    {MODE_REPLAY, "--listen 127.0.0.1:65536", "give an address and a port"},
    {MODE_REPLAY, "--listen 127.0.0.1:8o", "give an address and a port"},
    {MODE_REPLAY, "--listen :8080", "'' is not an address"},
    {MODE_REPLAY, "--listen example.com:8080", "'example.com' is not an address"},
    {MODE_REPLAY, "--listen [localhost]:8080", "'localhost' is not an address"},
    {MODE_REPLAY, "--listen ::1:8080", "is not an address"},
    {MODE_REPLAY, "--listen [127.0.0.1]:8080", "is not an address"},
    {MODE_REPLAY, "--listen [::1:8080", "is not an address"},
    {MODE_REPLAY, "--listen 0.0.0.0:8080", "needs --token"},
    {MODE_REPLAY, "--listen 128.0.0.1:8080", "needs --token"},
    {MODE_REPLAY, "--listen [::]:8080", "needs --token"},
    {MODE_REPLAY, "--listen [::ffff:10.0.0.1]:8080", "needs --token"},
    {MODE_REPLAY, "--token a/b", "--token: use at most 256 letters"},
    {MODE_REPLAY, "--token a:b", "--token: use at most 256 letters"},
    {MODE_RECORD, "--resolve a", "--resolve 'a': give HOST:PORT:ADDR"},
    {MODE_RECORD, "--resolve a:443", "give HOST:PORT:ADDR"},
    {MODE_RECORD, "--resolve a:443:", "give HOST:PORT:ADDR"},
    {MODE_RECORD, "--resolve :443:b", "give HOST:PORT:ADDR"},
    {MODE_RECORD, "--resolve a::b", "give HOST:PORT:ADDR"},
    {MODE_RECORD, "--resolve a:0:b", "give HOST:PORT:ADDR"},
    {MODE_RECORD, "--resolve a:443:b:65536", "give HOST:PORT:ADDR"},
    {MODE_RECORD, "--resolve a:443:b:1:2", "give HOST:PORT:ADDR"},
    {MODE_RECORD, "--resolve a:443:::1", "give HOST:PORT:ADDR"},
    {MODE_RECORD, "--resolve [::1:443:b", "give HOST:PORT:ADDR"},
    {MODE_RECORD, "--tunnel a:443", "--tunnel 'a:443' must be a host name"},
    {MODE_RECORD, "--tunnel *", "--tunnel '*' must be a host name"},
    {MODE_RECORD, "--upstream-ca /nowhere/ca.pem", "--upstream-ca /nowhere/ca.pem: No"},
    {MODE_RECORD, "--upstream-proxy proxy:3128", "--upstream-proxy: give a URL"},
    {MODE_RECORD, "--upstream-proxy socks5://proxy:1", "--upstream-proxy: give a URL"},
    {MODE_RECORD, "--upstream-proxy http://proxy/x", "--upstream-proxy: give a URL"},
    {MODE_REPLAY, "make test", "a command to run goes after '--'"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct options o;
        struct err e = {0};
        char see[64];
        (void)snprintf(see, sizeof see, " (see 'retape %s --help')",
                       mode_names[refused[i].mode]);
        ok(parse(&o, refused[i].mode, refused[i].words, &e) == -1 &&
               e.code == ERR_USAGE && err_exit_status(e.code) == 2,
           "%s %s is refused", mode_names[refused[i].mode], refused[i].words);
        ok(strstr(e.msg, refused[i].want) && strstr(e.msg, see), "says: %s", e.msg);
    }
}

static const char *const accepted_listens[] = {"127.0.0.1:0", "127.9.9.9:65535",
                                               "localhost:80", "[::1]:8080",
                                               "[::ffff:127.0.0.1]:1"};

static void test_accepted(void)
{
    struct options o;
    struct err e = {0};
    char words[400], token[258];

    for (size_t i = 0; i < COUNT_OF(accepted_listens); i++) {
        (void)snprintf(words, sizeof words, "--listen %s", accepted_listens[i]);
        ok(parse(&o, MODE_REPLAY, words, &e) == 0, "%s needs no token", words);
        options_fini(&o);
    }
    ok(parse(&o, MODE_REPLAY, "--listen 0.0.0.0:80 --token T", &e) == 0,
       "with a token any address will do");
    options_fini(&o);
    memset(token, 'a', 256);
    token[256] = '\0';
    (void)snprintf(words, sizeof words, "--token %s", token);
    ok(parse(&o, MODE_REPLAY, words, &e) == 0, "a token of 256 characters");
    options_fini(&o);
    (void)snprintf(words, sizeof words, "--token %sb", token);
    ok(parse(&o, MODE_REPLAY, words, &e) == -1 && !strstr(e.msg, "aaa"),
       "one of 257 is refused and not repeated");
    ok(parse(&o, MODE_REPLAY, "--workers 256 --speed 0", &e) == 0, "256 workers");
    options_fini(&o);
}

static void test_environment(void)
{
    struct options o;
    struct err e = {0};

    (void)setenv("RETAPE_SESSION", "from-env", 1);
    (void)setenv("RETAPE_TOKEN", "T", 1);
    (void)setenv("RETAPE_LISTEN", "0.0.0.0:80", 1);
    (void)setenv("RETAPE_SPEED", "1", 1);
    ok(parse(&o, MODE_REPLAY, "", &e) == 0 && o.speed == 1, "environment: %s", e.msg);
    is(o.session, "from-env", "session");
    is(o.token, "T", "token");
    options_fini(&o);
    ok(parse(&o, MODE_RECORD, "--session flag", &e) == 0, "RETAPE_SPEED is no record's");
    is(o.session, "flag", "flags beat it");
    options_fini(&o);
    (void)unsetenv("RETAPE_TOKEN");
    ok(parse(&o, MODE_REPLAY, "", &e) == -1 && e.code == ERR_USAGE,
       "the rules hold for it too");
    (void)unsetenv("RETAPE_LISTEN");
    (void)setenv("RETAPE_SPEED", "fast", 1);
    ok(parse(&o, MODE_REPLAY, "", &e) == -1 && e.code == ERR_CONFIG &&
           strstr(e.msg, "RETAPE_SPEED: 'fast'"),
       "nonsense names the variable: %s", e.msg);
    (void)unsetenv("RETAPE_SPEED");
    (void)unsetenv("RETAPE_SESSION");
    (void)setenv("RETAPE_CONFIG", "/nowhere/retape.json", 1);
    ok(parse(&o, MODE_REPLAY, "", &e) == -1 && e.code == ERR_CONFIG &&
           strstr(e.msg, "/nowhere/retape.json"),
       "a configuration that is not there: %s", e.msg);
    (void)unsetenv("RETAPE_CONFIG");
}

/* What every table owes its readers. */
static void test_tables(void)
{
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        struct buf out = BUF_INIT(16384);
        size_t widest = 0;
        cli_help(tables[i], &out);
        for (const char *p = buf_cstr(&out); *p; p += strcspn(p, "\n") + 1)
            if (strcspn(p, "\n") > widest)
                widest = strcspn(p, "\n");
        ok(widest <= 80, "help of %s fits 80 columns (%zu)", tables[i]->name, widest);
        buf_free(&out);
        for (const struct cli_option *a = tables[i]->options; a->name; a++)
            for (const struct cli_option *b = a + 1; b->name; b++)
                if (strcmp(a->name, b->name) == 0)
                    ok(false, "%s: %s twice", tables[i]->name, a->name);
    }
}

int main(void)
{
    /* A retape.json of the folder the tests run in is none of our business. */
    if (chdir(scratch_make()) < 0)
        return 99;
    test_defaults();
    test_everything();
    test_refused();
    test_accepted();
    test_environment();
    test_tables();
    return tap_done();
}
