/*
 * inputs.h - the files that go into a bundle, and their names in there.
 *
 * Added in any order; inputs_settle() sorts them by path and refuses two files under one
 * name. The same file under the same name twice is one.
 *
 * Owns:    inputs_fini() frees the texts.
 * Threads: as its owner.
 * Errors:  ERR_CONFIG for files that are not there or not regular, ERR_LIMIT above what
 *          a bundle can hold, always with the name.
 */
#ifndef BUNDLER_INPUTS_H
#define BUNDLER_INPUTS_H

#include "base/digest.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct input {
    char *source; /* path on disk */
    char *dest;   /* path in the bundle */
    uint64_t size;
    dev_t dev;
    ino_t ino;
    bool scrub; /* goes in without the credentials that stand in the file */
    char digest[DIGEST_KEY_TEXT]; /* of what goes in */
};

struct inputs {
    struct input *v;
    size_t n, cap;
    uint64_t bytes;
};

/* The destination is checked and normalised. */
int inputs_add(struct inputs *in, const char *source, const char *dest,
               struct err *e) MUST_CHECK;
/* Under "folder/<its own name>". */
int inputs_add_into(struct inputs *in, const char *source, const char *folder,
                    struct err *e) MUST_CHECK;
/* All regular files below dir, under "folder/<relative path>"; links and folders that
 * never hold recordings (.git, node_modules, ...) are left out, and names that are taken
 * already. */
int inputs_add_tree(struct inputs *in, const char *dir, const char *folder,
                    struct err *e) MUST_CHECK;
int inputs_settle(struct inputs *in, struct err *e) MUST_CHECK;
const struct input *inputs_find(const struct inputs *in, const char *dest);
void inputs_fini(struct inputs *in);

/* Folders nobody looks into. */
bool inputs_skips(const char *folder_name);

#endif
