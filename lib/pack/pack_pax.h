/*
 * pack_pax.h - the records of one pax extended header.
 *
 * "LENGTH KEY=VALUE\n", one after the other. Path and size are handed out; times, owners
 * and the like do not matter to a bundle; what would change how its bytes are read
 * (sparse maps, links, character sets) is refused.
 *
 * Threads: any. What it hands out points into the text.
 */
#ifndef PACK_PACK_PAX_H
#define PACK_PACK_PAX_H

#include "pack/pack_fault.h"

struct pack_pax {
    const char *path; /* NULL: not told */
    size_t path_len;
    bool has_size;
    uint64_t size;
};

int pack_pax_read(const char *text, size_t len, struct pack_pax *out,
                  struct pack_fault *f) MUST_CHECK;

#endif
