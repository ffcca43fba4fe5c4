/* test-cli.c - command lines, their errors and their help. */
#include "base/cli.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

struct values {
    bool loud;
    const char *name;
    struct cli_number seed;
    double speed;
    int repeat;
    struct cli_list hosts;
};

static const char *const repeats[] = {"none", "last", "cycle", NULL};

static const struct cli_option rows[] = {
    {"--loud", NULL, CLI_FLAG, offsetof(struct values, loud), NULL, "CLITEST_LOUD", NULL,
     "say more"},
    {"--name", "NAME", CLI_TEXT, offsetof(struct values, name), NULL, "CLITEST_NAME",
     "default", "what it is called, in words long enough to need a second line of help"},
    {"--seed", "N", CLI_NUMBER, offsetof(struct values, seed), NULL, NULL, NULL, "seed"},
    {"--speed", "N", CLI_DECIMAL, offsetof(struct values, speed), NULL, NULL, "0",
     "pace"},
    {"--repeat", "none|last|cycle", CLI_CHOICE, offsetof(struct values, repeat), repeats,
     "CLITEST_REPEAT", "none", "what to do again"},
    {"--a-very-long-option-name-here", "HOST:PORT", CLI_LIST,
     offsetof(struct values, hosts), NULL, "CLITEST_HOSTS", NULL, "where to go"},
    {NULL, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL},
};
static const char *const exits[] = {
    "0  ok",
    "2  configuration, which is a word long enough to make this line wrap around at the "
    "end of it",
    NULL};
static const struct cli_verb takes_two = {
    .program = "prog",
    .name = "verb",
    .usage = "[options] ONE [TWO]",
    .summary =
        "Does a thing. It is described in two sentences so that the text is longer "
        "than a line.",
    .options = rows,
    .exits = exits,
    .example = "prog verb --loud one",
    .least = 1,
    .most = 2};
static const struct cli_verb takes_command = {.program = "prog",
                                              .usage = "[options] [-- COMMAND...]",
                                              .summary = "Runs.",
                                              .options = rows,
                                              .takes_command = true};
static const struct cli_verb bare = {
    .program = "prog", .name = "bare", .usage = "", .summary = "Nothing."};

static int split(char *line, char **argv, int most)
{
    int n = 0;

    for (char *w = strtok(line, " "); w && n < most; w = strtok(NULL, " "))
        argv[n++] = w;
    argv[n] = NULL;
    return n;
}

/* Parse a line of words; 0 or -1 with the error. Caller calls cli_fini(). */
static int parse(const struct cli_verb *verb, const char *words, struct values *v,
                 struct cli_rest *rest, struct err *e)
{
    static char line[512];
    static char *argv[32];

    (void)snprintf(line, sizeof line, "%s", words);
    return cli_parse(verb, split(line, argv, 31), argv, v, rest, e);
}

static void test_values(void)
{
    struct values v = {.speed = 7};
    struct cli_rest rest;
    struct err e = {0};

    ok(parse(&takes_two,
             "verb one --name=a=b --loud --seed 18446744073709551615 --speed=2.5 two "
             "--repeat last --a-very-long-option-name-here h1 --repeat cycle "
             "--a-very-long-option-name-here=h2",
             &v, &rest, &e) == 0,
       "a full line is taken: %s", e.msg);
    ok(v.loud, "flag");
    is(v.name, "a=b", "text after the first =");
    ok(v.seed.given && v.seed.value == UINT64_MAX, "largest number");
    ok(v.speed == 2.5, "decimal");
    ok(v.repeat == 2, "the last of a repeated option wins");
    ok(v.hosts.n == 2 && !v.hosts.v[2], "a list has both");
    is(v.hosts.v[1], "h2", "list order");
    ok(rest.n == 2 && !rest.command && !rest.help, "two positional words");
    is(rest.v[1], "two", "in order");
    cli_fini(&takes_two, &v, &rest);
    ok(!v.hosts.v && !rest.v, "freed");
    cli_fini(&takes_two, &v, &rest);

    v = (struct values){.speed = 7, .name = "kept"};
    ok(parse(&takes_two, "verb - --", &v, &rest, &e) == 0, "a dash alone is a word");
    ok(v.speed == 7 && !v.seed.given && !v.hosts.v, "absent options change nothing");
    is(v.name, "kept", "absent text too");
    cli_fini(&takes_two, &v, &rest);
    ok(parse(&takes_two, "verb -- --loud", &v, &rest, &e) == 0 && rest.n == 1,
       "after -- a word is positional where no command is taken");
    cli_fini(&takes_two, &v, &rest);
    ok(parse(&takes_command, "prog --loud -- run --name x", &v, &rest, &e) == 0,
       "a command");
    is(rest.command[0], "run", "starts after --");
    is(rest.command[2], "x", "and keeps its own options");
    ok(!rest.command[3], "and ends with NULL");
    cli_fini(&takes_command, &v, &rest);
    ok(parse(&takes_two, "verb --help --bogus", &v, &rest, &e) == 0 && rest.help,
       "--help ends the line");
    cli_fini(&takes_two, &v, &rest);
    ok(parse(&bare, "bare -h", &v, &rest, &e) == 0 && rest.help, "-h, no option table");
    cli_fini(&bare, &v, &rest);
}

static const struct {
    const struct cli_verb *verb;
    const char *line, *want;
} errors[] = {
    {&takes_two, "verb a --nmae x",
     "unknown option '--nmae', did you mean '--name'? (see 'prog verb --help')"},
    {&takes_two, "verb a --Seed=secret",
     "unknown option '--Seed', did you mean '--seed'? (see 'prog verb --help')"},
    {&takes_two, "verb a --bogusness",
     "unknown option '--bogusness' (see 'prog verb --help')"},
    {&takes_two, "verb a -x", "unknown option '-x' (see 'prog verb --help')"},
    {&takes_two, "verb a --hepl",
     "unknown option '--hepl', did you mean '--help'? (see 'prog verb --help')"},
    {&takes_two, "verb a --loud=1", "--loud takes no value (see 'prog verb --help')"},
    {&takes_two, "verb a --name",
     "--name needs a value: --name NAME (see 'prog verb --help')"},
    {&takes_two, "verb a --name --loud",
     "--name needs a value: --name NAME (see 'prog verb --help')"},
    {&takes_two, "verb a --name=",
     "--name needs a value NAME, not an empty one (see 'prog verb --help')"},
    {&takes_two, "verb a --seed 18446744073709551616",
     "--seed: '18446744073709551616' is not a whole number from 0 to "
     "18446744073709551615 (see 'prog verb --help')"},
    {&takes_two, "verb a --seed 1x",
     "--seed: '1x' is not a whole number from 0 to 18446744073709551615 (see 'prog verb "
     "--help')"},
    {&takes_two, "verb a --speed -1",
     "--speed: '-1' is not a number of 0 or more (see 'prog verb --help')"},
    {&takes_two, "verb a --speed nan",
     "--speed: 'nan' is not a number of 0 or more (see 'prog verb --help')"},
    {&takes_two, "verb a --speed 0x10",
     "--speed: '0x10' is not a number of 0 or more (see 'prog verb --help')"},
    {&takes_two, "verb a --speed 1e999",
     "--speed: '1e999' is not a number of 0 or more (see 'prog verb --help')"},
    {&takes_two, "verb a --repeat lsat",
     "--repeat: 'lsat' is not one of none, last, cycle (did you mean 'last'?) (see 'prog "
     "verb --help')"},
    {&takes_two, "verb",
     "something is missing: prog verb [options] ONE [TWO] (see 'prog verb --help')"},
    {&takes_two, "verb a b c", "unexpected argument 'c' (see 'prog verb --help')"},
    {&takes_command, "prog python",
     "unexpected 'python': a command to run goes after '--' (see 'prog --help')"},
    {&takes_command, "prog --", "no command after '--' (see 'prog --help')"},
    {&bare, "bare --x", "unknown option '--x' (see 'prog bare --help')"},
};

static void test_errors(void)
{
    for (size_t i = 0; i < COUNT_OF(errors); i++) {
        struct values v = {0};
        struct cli_rest rest;
        struct err e = {0};
        ok(parse(errors[i].verb, errors[i].line, &v, &rest, &e) == -1 &&
               e.code == ERR_USAGE,
           "refused: %s", errors[i].line);
        is(e.msg, errors[i].want, "says: %s", errors[i].line);
        ok(!rest.v && !v.hosts.v, "and holds nothing");
    }
}

static void test_environment(void)
{
    struct values v = {0};
    struct cli_rest rest;
    struct err e = {0};

    (void)setenv("CLITEST_LOUD", "YES", 1);
    (void)setenv("CLITEST_NAME", "from-env", 1);
    (void)setenv("CLITEST_REPEAT", "last", 1);
    (void)setenv("CLITEST_HOSTS", "one,not-split", 1);
    ok(parse(&takes_two, "verb a --repeat cycle", &v, &rest, &e) == 0, "environment");
    ok(v.loud && v.repeat == 2, "flags beat it");
    is(v.name, "from-env", "text");
    ok(v.hosts.n == 1 && strcmp(v.hosts.v[0], "one,not-split") == 0,
       "one item of a list");
    cli_fini(&takes_two, &v, &rest);

    (void)setenv("CLITEST_LOUD", "0", 1);
    (void)setenv("CLITEST_NAME", "", 1);
    v = (struct values){.loud = true, .name = "kept"};
    ok(parse(&takes_two, "verb a", &v, &rest, &e) == 0 && !v.loud, "a flag turned off");
    is(v.name, "kept", "an empty variable is no value");
    cli_fini(&takes_two, &v, &rest);

    (void)setenv("CLITEST_LOUD", "maybe", 1);
    ok(parse(&takes_two, "verb a", &v, &rest, &e) == -1 && e.code == ERR_CONFIG,
       "a variable with nonsense");
    is(e.msg,
       "CLITEST_LOUD: 'maybe' is not one of 1, true, yes, 0, false, no (see 'prog verb "
       "--help')",
       "is named");
    ok(parse(&takes_two, "verb a --loud", &v, &rest, &e) == 0,
       "and not looked at when the flag is given");
    cli_fini(&takes_two, &v, &rest);
    ok(parse(&takes_two, "verb --help", &v, &rest, &e) == 0, "nor for --help");
    cli_fini(&takes_two, &v, &rest);
    (void)unsetenv("CLITEST_LOUD");
    (void)unsetenv("CLITEST_NAME");
    (void)unsetenv("CLITEST_REPEAT");
    (void)unsetenv("CLITEST_HOSTS");
}

static const char help_text[] =
    "usage: prog verb [options] ONE [TWO]\n"
    "\n"
    "Does a thing. It is described in two sentences so that the text is longer than a\n"
    "line.\n"
    "\n"
    "options:\n"
    "  --loud                    say more [CLITEST_LOUD]\n"
    "  --name NAME               what it is called, in words long enough to need a\n"
    "                            second line of help (default: default)\n"
    "                            [CLITEST_NAME]\n"
    "  --seed N                  seed\n"
    "  --speed N                 pace (default: 0)\n"
    "  --repeat none|last|cycle  what to do again (default: none) [CLITEST_REPEAT]\n"
    "  --a-very-long-option-name-here HOST:PORT\n"
    "                            where to go [CLITEST_HOSTS]\n"
    "  --help                    show this text\n"
    "\n"
    "exit status:\n"
    "  0  ok\n"
    "  2  configuration, which is a word long enough to make this line wrap around at\n"
    "     the end of it\n"
    "\n"
    "example:\n"
    "  prog verb --loud one\n";

static void test_help(void)
{
    struct buf out = BUF_INIT(8192);

    cli_help(&takes_two, &out);
    is(buf_cstr(&out), help_text, "help, aligned and wrapped");
    buf_reset(&out);
    cli_help(&bare, &out);
    is(buf_cstr(&out),
       "usage: prog bare\n\nNothing.\n\noptions:\n  --help  show this text\n",
       "the smallest help");
    buf_free(&out);
}

static const struct {
    const char *word, *want;
} near_words[] = {
    {"record", "record"}, {"recrod", "record"},
    {"reply", "replay"},  {"RECORD", "record"},
    {"rekort", "record"}, {"rekorts", NULL},
    {"ca", "ca"},         {"cb", "ca"},
    {"db", NULL},         {"lits", "list"},
    {"", NULL},           {"completely-different", NULL},
    {"replayable", NULL}, {"replayabl", "replay"},
};

static void test_nearest(void)
{
    static const char *const words[] = {"record", "replay", "list", "ca", NULL};
    char longest[200];

    for (size_t i = 0; i < COUNT_OF(near_words); i++)
        is(cli_nearest(near_words[i].word, words), near_words[i].want, "nearest of '%s'",
           near_words[i].word);
    memset(longest, 'r', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    is(cli_nearest(longest, words), NULL, "a word beyond the ceiling is near nothing");
}

int main(void)
{
    test_values();
    test_errors();
    test_environment();
    test_help();
    test_nearest();
    return tap_done();
}
