/*
 * program.h - a program made of verbs: find the verb, run it, hand back its exit status.
 *
 * The programs of this house differ in their tables, not in how they read their command
 * line: `NAME VERB [options]`, `NAME help [VERB]`, `NAME --help`, `NAME --version`, and
 * the nearest verb for a word that is none.
 *
 * Threads: main.
 */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

struct program_verb {
    const char *name;                  /* the table ends with NULL */
    int (*run)(int argc, char **argv); /* argv[0] is the verb; NULL: a sibling program */
    const char *sibling;               /* run from beside our own executable */
    const char *summary;
};

/* A library whose version --version tells. */
struct program_part {
    const char *library; /* the table ends with NULL */
    const char *(*version)(void);
};

struct program {
    const char *name;
    const char *summary;
    const char *const *exits;
    const char *example;
    const struct program_verb *verbs;
    const struct program_part *parts;
};

int program_main(const struct program *p, int argc, char **argv);

#endif
