/*
 * pack_fault.h - why reading an archive ended: the refusal and the sentence to it.
 *
 * The parts of the reader hand it upwards; the first one stays.
 */
#ifndef PACK_PACK_FAULT_H
#define PACK_PACK_FAULT_H

#include "base/limits.h"
#include "pack/pack.h"

struct pack_fault {
    enum pack_refusal why;
    struct err e;
    char where[LIMIT_BUNDLE_PATH + 1]; /* the member's path, maybe cut; "" for none */
};

/* Fill it in unless it is already. Always -1. The sentence comes from the format string;
 * nothing else of an archive than an escaped path may go into it. */
int pack_fault_set(struct pack_fault *f, enum pack_refusal why, enum err_code code,
                   const char *fmt, ...) PRINTF_LIKE(4, 5);
/* The same about a member. */
int pack_fault_at(struct pack_fault *f, const char *path, size_t len,
                  enum pack_refusal why, enum err_code code, const char *text);

#endif
