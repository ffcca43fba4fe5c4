/*
 * main.c - `retape`: find the verb, run it, hand back its exit status.
 *
 * Verbs of this program are functions (verbs.h); `bundle` and `oracle` are programs of
 * their own that are installed beside it.
 */
#include "base/cli.h"
#include "base/digest.h"
#include "base/fsx.h"
#include "base/json.h"
#include "base/log.h"
#include "net/fetch.h"
#include "net/httpd.h"
#include "pack/pack.h"
#include "proxy/page.h"
#include "proxy/verbs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv); /* NULL: a sibling program */
    const char *sibling;
    const char *summary;
} verbs[] = {
    {"record", verb_record, NULL, "forward every request and record it"},
    {"replay", verb_replay, NULL, "answer every request from the cassette"},
    {"auto", verb_auto, NULL, "answer what is recorded, record the rest"},
    {"list", verb_list, NULL, "list the cassettes and what they hold"},
    {"show", verb_show, NULL, "show recorded exchanges"},
    {"diff", verb_diff, NULL, "compare two cassettes"},
    {"ca", verb_ca, NULL, "show or export the proxy's certificate authority"},
    {"env", verb_env, NULL, "print the environment for a proxy started by hand"},
    {"doctor", verb_doctor, NULL, "check that this machine is ready"},
    {"bundle", NULL, "retape-bundle", "make, check and convert bundles"},
    {"oracle", NULL, "retape-oracle", "answer tool calls from recordings"},
};

struct asked {
    bool version;
};

static const struct cli_option rows[] = {
    {"--version", NULL, CLI_FLAG, offsetof(struct asked, version), NULL, NULL, NULL,
     "print the version and those of the libraries"},
    {.name = NULL},
};
static const char *const exits[] = {
    "0  ok", "1  the command failed (replay), or a difference was found",
    "2  usage, configuration, integrity or missing recordings",
    "3  infrastructure: disk, memory, network", NULL};
static const struct cli_verb program = {
    .program = "retape",
    .usage = "VERB [options]",
    .summary = "A recording HTTP proxy for LLM agents: run an agent once, then replay "
               "the run offline, for free and the same every time.",
    .options = rows,
    .exits = exits,
    .example = "retape record -- python agent.py\nretape replay -- python agent.py"};

/* A full disk or a closed pipe is not success. */
static int print(struct buf *out)
{
    struct err e;
    int status = 0;

    if (page_flush(out, &e) < 0) {
        log_error("%s", e.msg);
        status = err_exit_status(e.code);
    }
    buf_free(out);
    return status;
}

static void put_help(struct buf *out)
{
    cli_help(&program, out);
    buf_str(out, "\nverbs:\n");
    for (size_t i = 0; i < COUNT_OF(verbs); i++)
        buf_fmt(out, "  %-8s%s\n", verbs[i].name, verbs[i].summary);
    buf_fmt(out, "  %-8s%s\n", "help", "explain a verb: retape help VERB");
}

static int print_help(void)
{
    struct buf out = BUF_INIT(16384);

    put_help(&out);
    return print(&out);
}

static int print_version(void)
{
    const struct {
        const char *library, *version;
    } parts[] = {
        {"libmicrohttpd", httpd_library_version()},
        {"libcurl", fetch_library_version()},
        {"mbedTLS", digest_library_version()},
        {"libarchive", pack_library_version()},
        {"yyjson", json_library_version()},
    };
    struct buf out = BUF_INIT(4096);

    buf_str(&out, "retape " RETAPE_VERSION "\n");
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        buf_fmt(&out, "%s %s\n", parts[i].library, parts[i].version);
    return print(&out);
}

/* Become the program beside our own executable; returns only when that fails. */
static int run_sibling(const char *name, char **argv)
{
    struct buf path = BUF_INIT(8192);
    struct err e;

    if (fsx_self_dir(&path, &e) < 0) {
        log_error("%s", e.msg);
        buf_free(&path);
        return err_exit_status(e.code);
    }
    buf_fmt(&path, "/%s", name);
    argv[0] = strrchr(buf_cstr(&path), '/') + 1;
    (void)execv(buf_cstr(&path), argv);
    log_error(errno == ENOENT ? "%s: not installed; it belongs beside retape"
                              : "%s: cannot be run",
              buf_cstr(&path));
    buf_free(&path);
    return err_exit_status(ERR_IO);
}

static int unknown_verb(const char *word)
{
    const char *names[COUNT_OF(verbs) + 2] = {[COUNT_OF(verbs)] = "help"};

    for (size_t i = 0; i < COUNT_OF(verbs); i++)
        names[i] = verbs[i].name;
    const char *near = cli_nearest(word, names);
    if (near)
        log_error("unknown verb '%.80s', did you mean '%s'? (see 'retape --help')", word,
                  near);
    else
        log_error("unknown verb '%.80s' (see 'retape --help')", word);
    return err_exit_status(ERR_USAGE);
}

/* argv[0] is the verb. */
static int run_verb(int argc, char **argv)
{
    for (size_t i = 0; i < COUNT_OF(verbs); i++) {
        if (strcmp(argv[0], verbs[i].name) != 0)
            continue;
        return verbs[i].run ? verbs[i].run(argc, argv)
                            : run_sibling(verbs[i].sibling, argv);
    }
    return unknown_verb(argv[0]);
}

/* `retape help [VERB]`: argv[0] is "help". */
static int run_help(int argc, char **argv)
{
    char dashes[] = "--help";
    char *words[] = {argc > 1 ? argv[1] : NULL, dashes, NULL};

    if (argc > 2) {
        log_error("help explains one verb at a time (see 'retape --help')");
        return err_exit_status(ERR_USAGE);
    }
    return words[0] && words[0][0] != '-' ? run_verb(2, words) : print_help();
}

/* Options before a verb, or no word at all. */
static int run_program(int argc, char **argv)
{
    struct asked asked = {false};
    struct cli_rest rest = {0};
    struct err e;

    if (argc < 2) {
        log_error("no verb given (see 'retape --help')");
        return err_exit_status(ERR_USAGE);
    }
    if (cli_parse(&program, argc, argv, &asked, &rest, &e) < 0) {
        log_error("%s", e.msg);
        return err_exit_status(e.code);
    }
    int status = asked.version && !rest.help ? print_version() : print_help();
    cli_fini(&program, &asked, &rest);
    return status;
}

int main(int argc, char **argv)
{
    log_init("retape");
    if (argc < 2 || argv[1][0] == '-')
        return run_program(argc, argv);
    if (strcmp(argv[1], "help") == 0)
        return run_help(argc - 1, argv + 1);
    return run_verb(argc - 1, argv + 1);
}
