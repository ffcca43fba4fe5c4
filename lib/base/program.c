/* program.c - see program.h. */
#include "base/program.h"

#include "base/cli.h"
#include "base/fsx.h"
#include "base/limits.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct asked {
    bool version;
};

static const struct cli_option rows[] = {
    {"--version", NULL, CLI_FLAG, offsetof(struct asked, version), NULL, NULL, NULL,
     "print the version and those of the libraries"},
    {.name = NULL},
};

static int usage_error(const struct program *p, const char *what)
{
    log_error("%s (see '%s --help')", what, p->name);
    return err_exit_status(ERR_USAGE);
}

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

static struct cli_verb table_of(const struct program *p)
{
    return (struct cli_verb){.program = p->name,
                             .usage = "VERB [options]",
                             .summary = p->summary,
                             .options = rows,
                             .exits = p->exits,
                             .example = p->example};
}

static int print_help(const struct program *p)
{
    struct cli_verb table = table_of(p);
    struct buf out = BUF_INIT(KIB(16));
    size_t width = strlen("help");

    for (const struct program_verb *v = p->verbs; v->name; v++)
        if (strlen(v->name) > width)
            width = strlen(v->name);
    cli_help(&table, &out);
    buf_str(&out, "\nverbs:\n");
    for (const struct program_verb *v = p->verbs; v->name; v++)
        buf_fmt(&out, "  %-*s  %s\n", (int)width, v->name, v->summary);
    buf_fmt(&out, "  %-*s  explain a verb: %s help VERB\n", (int)width, "help", p->name);
    return print(&out);
}

static int print_version(const struct program *p)
{
    struct buf out = BUF_INIT(KIB(4));

    buf_fmt(&out, "%s " RETAPE_VERSION "\n", p->name);
    for (const struct program_part *part = p->parts; part->library; part++)
        buf_fmt(&out, "%s %s\n", part->library, part->version());
    return print(&out);
}

/* Become the program beside our own executable; returns only when that fails. */
static int run_sibling(const char *name, char **argv)
{
    struct buf path = BUF_INIT(KIB(8));
    struct err e;

    if (fsx_self_dir(&path, &e) < 0) {
        log_error("%s", e.msg);
        buf_free(&path);
        return err_exit_status(e.code);
    }
    buf_fmt(&path, "/%s", name);
    argv[0] = strrchr(buf_cstr(&path), '/') + 1;
    (void)execv(buf_cstr(&path), argv);
    log_error(errno == ENOENT ? "%s: not installed; it belongs beside this program"
                              : "%s: cannot be run",
              buf_cstr(&path));
    buf_free(&path);
    return err_exit_status(ERR_IO);
}

static int unknown_verb(const struct program *p, const char *word)
{
    struct buf text = BUF_INIT(512);
    size_t n = 0;

    while (p->verbs[n].name)
        n++;
    const char **names = calloc(n + 2, sizeof *names);
    for (size_t i = 0; names && i < n; i++)
        names[i] = p->verbs[i].name;
    if (names)
        names[n] = "help";
    const char *near = names ? cli_nearest(word, names) : NULL;
    buf_fmt(&text, "unknown verb '%.80s'", word);
    if (near)
        buf_fmt(&text, ", did you mean '%s'?", near);
    int status = usage_error(p, buf_cstr(&text));
    buf_free(&text);
    free(names);
    return status;
}

/* argv[0] is the verb. */
static int run_verb(const struct program *p, int argc, char **argv)
{
    for (const struct program_verb *v = p->verbs; v->name; v++)
        if (strcmp(argv[0], v->name) == 0)
            return v->run ? v->run(argc, argv) : run_sibling(v->sibling, argv);
    return unknown_verb(p, argv[0]);
}

/* argv[0] is "help". */
static int run_help(const struct program *p, int argc, char **argv)
{
    char dashes[] = "--help";
    char *words[] = {argc > 1 ? argv[1] : NULL, dashes, NULL};

    if (argc > 2)
        return usage_error(p, "help explains one verb at a time");
    return words[0] && words[0][0] != '-' ? run_verb(p, 2, words) : print_help(p);
}

/* Options before a verb. */
static int run_options(const struct program *p, int argc, char **argv)
{
    struct cli_verb table = table_of(p);
    struct asked asked = {false};
    struct cli_rest rest = {0};
    struct err e;

    if (cli_parse(&table, argc, argv, &asked, &rest, &e) < 0) {
        log_error("%s", e.msg);
        return err_exit_status(e.code);
    }
    int status = asked.version && !rest.help ? print_version(p) : print_help(p);
    cli_fini(&table, &asked, &rest);
    return status;
}

int program_main(const struct program *p, int argc, char **argv)
{
    log_init(p->name);
    if (argc < 2)
        return usage_error(p, "no verb given");
    if (argv[1][0] == '-')
        return run_options(p, argc, argv);
    if (strcmp(argv[1], "help") == 0)
        return run_help(p, argc - 1, argv + 1);
    return run_verb(p, argc - 1, argv + 1);
}
