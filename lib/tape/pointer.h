/*
 * pointer.h - JSON pointers (RFC 6901) whose tokens may be `*`, and the values they
 * name in a document.
 *
 * `*` stands for any member or element. "/messages/0/id" takes element 0 of an array or
 * the member "0" of an object. Every one of equal keys is named.
 *
 * Owns:    a pointer its tokens, picks their list; the picked values are the document's.
 * Threads: as their owner; a parsed pointer is constant.
 */
#ifndef TAPE_POINTER_H
#define TAPE_POINTER_H

#include "base/json.h"

struct pointer {
    struct pointer_token {
        char *text; /* unescaped */
        size_t len;
        bool any; /* `*` */
    } * tokens;
    size_t n;
};

/* Refuses the empty pointer (the whole document) and bad `~` escapes. */
int pointer_init(struct pointer *p, const char *text, struct err *e) MUST_CHECK;
void pointer_fini(struct pointer *p);

/* What was named: the keys of members and the elements themselves, as
 * json_canonical_without() wants them once picks_sort() was called. */
struct picks {
    yyjson_val **v;
    size_t n, cap;
    bool failed; /* out of memory */
};

void pointer_pick(const struct pointer *p, yyjson_val *root, struct picks *out);
void picks_add(struct picks *p, yyjson_val *val);
void picks_sort(struct picks *p);
void picks_fini(struct picks *p);

#endif
