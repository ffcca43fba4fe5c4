/*
 * inspect.h - everything `retape-bundle inspect` knows of a bundle, and two ways to lay
 * it out.
 *
 * Owns:    inspect_fini() frees it all.
 * Threads: as its owner.
 */
#ifndef BUNDLER_INSPECT_H
#define BUNDLER_INSPECT_H

#include "bundler/contents.h"
#include "bundler/facts.h"
#include "bundler/verify.h"

struct inspect_member {
    char *path;
    uint64_t size;
};

struct inspect {
    const char *path; /* of the bundle; borrowed */
    struct verdict verdict;
    struct facts facts;
    struct contents contents;
    struct inspect_member *members;
    size_t n_members, cap_members;
};

/* Read, verify and look into a bundle in one pass. */
int inspect_bundle(struct inspect *out, const char *path, const struct scan_rules *rules,
                   struct err *e) MUST_CHECK;
void inspect_fini(struct inspect *in);

/* For people: what the bundle chose may hold control characters. */
int inspect_text(const struct inspect *in, struct buf *out, struct err *e) MUST_CHECK;
void inspect_json(const struct inspect *in, struct buf *out);

#endif
