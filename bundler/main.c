/*
 * main.c - `retape-bundle`: find the verb, run it, hand back its exit status.
 */
#include "base/cli.h"
#include "base/digest.h"
#include "base/fsx.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "bundler/verbs.h"
#include "net/fetch.h"
#include "net/httpd.h"
#include "pack/pack.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} verbs[] = {
    {"create", verb_bundle_create, "make a bundle from a run"},
    {"verify", verb_bundle_verify, "check a bundle and look for secrets in it"},
    {"inspect", verb_bundle_inspect, "show what a bundle holds"},
    {"extract", verb_bundle_extract, "unpack a bundle into an empty folder"},
    {"summary", verb_bundle_summary, "tell how to reproduce a bundled run"},
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
    "0  ok", "2  usage, or a bundle or its inputs are not as they must be",
    "3  infrastructure: disk, memory", NULL};
static const struct cli_verb program = {
    .program = "retape-bundle",
    .usage = "VERB [options]",
    .summary =
        "Bundles: a run in one canonical .tar.gz that others can verify and replay.",
    .options = rows,
    .exits = exits,
    .example = "retape-bundle create --run-id run-7\n"
               "retape-bundle verify .assay/bundles/run-7.tar.gz"};

/* A full disk or a closed pipe is not success. */
static int print(struct buf *out)
{
    struct err e;
    int status = 0;

    if (buf_check(out, "output", &e) < 0 ||
        fsx_write_all(STDOUT_FILENO, buf_cstr(out), out->len, &e) < 0) {
        log_error("%s", e.msg);
        status = err_exit_status(e.code);
    }
    buf_free(out);
    return status;
}

static int print_help(void)
{
    struct buf out = BUF_INIT(KIB(16));

    cli_help(&program, &out);
    buf_str(&out, "\nverbs:\n");
    for (size_t i = 0; i < COUNT_OF(verbs); i++)
        buf_fmt(&out, "  %-9s%s\n", verbs[i].name, verbs[i].summary);
    buf_fmt(&out, "  %-9s%s\n", "help", "explain a verb: retape-bundle help VERB");
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
    struct buf out = BUF_INIT(KIB(4));

    buf_str(&out, "retape-bundle " RETAPE_VERSION "\n");
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        buf_fmt(&out, "%s %s\n", parts[i].library, parts[i].version);
    return print(&out);
}

static int unknown_verb(const char *word)
{
    const char *names[COUNT_OF(verbs) + 2] = {[COUNT_OF(verbs)] = "help"};

    for (size_t i = 0; i < COUNT_OF(verbs); i++)
        names[i] = verbs[i].name;
    const char *near = cli_nearest(word, names);
    if (near)
        log_error("unknown verb '%.80s', did you mean '%s'? (see 'retape-bundle --help')",
                  word, near);
    else
        log_error("unknown verb '%.80s' (see 'retape-bundle --help')", word);
    return err_exit_status(ERR_USAGE);
}

/* argv[0] is the verb. */
static int run_verb(int argc, char **argv)
{
    for (size_t i = 0; i < COUNT_OF(verbs); i++)
        if (strcmp(argv[0], verbs[i].name) == 0)
            return verbs[i].run(argc, argv);
    return unknown_verb(argv[0]);
}

/* `retape-bundle help [VERB]`: argv[0] is "help". */
static int run_help(int argc, char **argv)
{
    char dashes[] = "--help";
    char *words[] = {argc > 1 ? argv[1] : NULL, dashes, NULL};

    if (argc > 2) {
        log_error("help explains one verb at a time (see 'retape-bundle --help')");
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
        log_error("no verb given (see 'retape-bundle --help')");
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
    log_init("retape-bundle");
    if (argc < 2 || argv[1][0] == '-')
        return run_program(argc, argv);
    if (strcmp(argv[1], "help") == 0)
        return run_help(argc - 1, argv + 1);
    return run_verb(argc - 1, argv + 1);
}
