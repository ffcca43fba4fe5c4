/*
 * pack_names.h - the paths of an archive so far: is a new one taken?
 *
 * Taken are the same path, a path that is a folder of another one (or the other way
 * round), and one that differs only in the case of ASCII letters: on many laptops those
 * are one file. Only hashes are kept, so memory does not depend on how long paths are.
 *
 * Owns:    pack_names_fini() frees the table.
 * Threads: as its owner.
 */
#ifndef PACK_PACK_NAMES_H
#define PACK_PACK_NAMES_H

#include "pack/pack_fault.h"

struct pack_names {
    struct pack_name *table; /* open addressing; a power of two, or none yet */
    size_t room, used;
};

/* Put in a normalised path and its folders. */
int pack_names_add(struct pack_names *n, const char *path,
                   struct pack_fault *f) MUST_CHECK;
void pack_names_fini(struct pack_names *n);

#endif
