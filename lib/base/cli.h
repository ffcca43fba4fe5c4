/*
 * cli.h - command lines from tables: parsing, help and near words from one source.
 *
 * A verb is described by a constant table; the same table parses the arguments, prints
 * --help and is what the man pages are checked against. Values land in the caller's
 * struct by offset; a member whose option is not given keeps what the caller put there.
 * Options may stand as "--name VALUE" or "--name=VALUE", in any order, up to "--"; the
 * last of a repeated one wins; what is left are positional arguments. --help (and -h)
 * belong to every verb and stand in no table.
 *
 * Owns:    nothing; texts point into argv or the environment. CLI_LIST members start
 *          zeroed and are malloc'ed arrays, freed by cli_fini().
 * Threads: main only. The library never prints: --help is returned as text.
 */
#ifndef BASE_CLI_H
#define BASE_CLI_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_kind {
    CLI_FLAG,    /* bool; "--no-x" is its own row */
    CLI_TEXT,    /* const char * */
    CLI_NUMBER,  /* struct cli_number */
    CLI_DECIMAL, /* double, not negative */
    CLI_CHOICE,  /* int: index into choices */
    CLI_LIST     /* struct cli_list, repeatable */
};

struct cli_number {
    bool given;
    uint64_t value;
};

struct cli_list {
    const char **v; /* NULL-terminated, or NULL when empty */
    size_t n;
};

struct cli_option {
    const char *name; /* "--cassettes" */
    const char *arg;  /* "DIR"; NULL for a flag */
    enum cli_kind kind;
    size_t offset;              /* of the member in the caller's struct */
    const char *const *choices; /* CLI_CHOICE: NULL-terminated */
    const char *env;            /* environment variable read when not given, or NULL */
    const char *fallback;       /* the default as help shows it, or NULL */
    const char *help;
};

struct cli_verb {
    const char *program; /* "retape" */
    const char *name;    /* "record"; NULL when the program itself is meant */
    const char *usage;   /* "[options] [-- COMMAND...]" */
    const char *summary; /* a sentence or two */
    const struct cli_option *options; /* ends with a NULL name; may be NULL */
    const char *const *exits;         /* "0  ok", ... NULL-terminated; may be NULL */
    const char *example;              /* one command line; may be NULL */
    size_t least, most;               /* positional arguments before "--" */
    bool takes_command;               /* "-- COMMAND..." allowed */
};

struct cli_rest {
    const char **v; /* positional arguments, into argv; freed by cli_fini() */
    size_t n;
    char **command; /* after "--", NULL-terminated, into argv; NULL when absent */
    bool help;      /* --help was asked for: print cli_help() and exit 0 */
};

/* Fill `into` and `rest`; argv[0] is skipped. ERR_USAGE names the word and the nearest
 * valid one; ERR_CONFIG the environment variable that holds nonsense. After an error
 * everything is freed already (cli_fini() again does no harm). */
int cli_parse(const struct cli_verb *verb, int argc, char **argv, void *into,
              struct cli_rest *rest, struct err *e) MUST_CHECK;
void cli_fini(const struct cli_verb *verb, void *into, struct cli_rest *rest);

void cli_help(const struct cli_verb *verb, struct buf *out);

/* The nearest of the words within a small edit distance, or NULL. */
const char *cli_nearest(const char *word, const char *const *words);

#endif
