/*
 * pack_tar.h - every tar header looked at before libarchive gets it.
 *
 * libarchive reads what it can make sense of; a bundle's reader must not. This walks the
 * stream block by block: the owner gives it each header and each extension record, and
 * it says what comes next. Accepted are regular files with old, ustar or GNU headers,
 * one GNU long name or one pax header before each, and an end of two zero blocks.
 *
 * Owns:    path texts, freed by pack_tar_fini().
 * Threads: as its owner.
 */
#ifndef PACK_PACK_TAR_H
#define PACK_PACK_TAR_H

#include "pack/pack_names.h"

#define PACK_TAR_BLOCK 512

enum pack_tar_want {
    PACK_WANT_HEADER,    /* a block for pack_tar_header() */
    PACK_WANT_EXTENSION, /* `size` bytes (and padding) for pack_tar_extension() */
    PACK_WANT_BODY,      /* the member's `size` bytes and padding */
    PACK_WANT_END        /* nothing but zeros */
};

struct pack_tar {
    const struct pack_limits *limits;
    enum pack_tar_want next;
    uint64_t size; /* of the extension or member that comes next */

    /* The member whose header was last: */
    char *path; /* normalised */
    bool manifest;
    size_t members; /* so far, this one included */

    bool has_manifest;
    bool late; /* something stood before the manifest */
    bool last; /* the first of the two zero blocks was seen */
    struct pack_names names;
    char kind;       /* of an extension: 'L' or 'x' */
    bool extended;   /* an extension waits for its member */
    bool named;      /* and it names it: */
    char *long_path; /* raw */
    size_t long_len;
    bool sized; /* it tells the size: */
    uint64_t told_size;
};

int pack_tar_init(struct pack_tar *t, const struct pack_limits *limits,
                  struct err *e) MUST_CHECK;
int pack_tar_header(struct pack_tar *t, const uint8_t block[PACK_TAR_BLOCK],
                    struct pack_fault *f) MUST_CHECK;
int pack_tar_extension(struct pack_tar *t, const uint8_t *data,
                       struct pack_fault *f) MUST_CHECK;
void pack_tar_fini(struct pack_tar *t);

/* Bytes that follow a header for so large a body, with its padding. */
uint64_t pack_tar_padded(uint64_t size);

#endif
