/*
 * scrub_body.h - how a whole body is searched: by what it is.
 *
 * JSON by its strings; event streams and JSON lines the same, and in addition across
 * events, since models send a credential token by token; forms and multipart bodies by
 * field; other text by pattern; media not at all.
 *
 * Threads: any; rules are read-only.
 */
#ifndef TAPE_SCRUB_BODY_H
#define TAPE_SCRUB_BODY_H

#include "tape/scrub_find.h"

enum scrub_kind {
    BODY_MEDIA, /* images, archives, anything with zero bytes: left alone */
    BODY_TEXT,
    BODY_JSON,      /* one document, or several one after the other */
    BODY_LINES,     /* JSON lines */
    BODY_EVENTS,    /* text/event-stream */
    BODY_FORM,      /* application/x-www-form-urlencoded */
    BODY_MULTIPART, /* multipart/form-data and its kin */
};

enum scrub_kind scrub_body_kind(const char *content_type, const char *body, size_t len);

/* Could a credential be there that no single look at the bytes shows, because it is
 * spread over several values, or needs decoding? */
bool scrub_body_needs_close_look(enum scrub_kind kind, const char *body, size_t len);

/* Collect (settled) edits. */
void scrub_body_find(const struct scrub *s, enum scrub_kind kind,
                     const char *content_type, const char *body, size_t len,
                     struct scrub_edits *edits);

#endif
