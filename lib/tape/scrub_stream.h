/*
 * scrub_stream.h - credentials spread over the events of a stream.
 *
 * A model's answer comes in pieces: {"delta":{"content":"sk-"}}, then "proj-...". The
 * strings that stand at one place of successive events are put together, searched as
 * one text, and a find is taken out of each event it touches: the placeholder goes into
 * the first. No dialect is known here: a place is the path of keys and indexes plus the
 * values of "index" and its kin around it, which tell parallel answers apart.
 *
 * Owns:    scrub_stream_fini() frees.
 * Threads: as its owner. Memory failure is sticky and ends up in the edits.
 */
#ifndef TAPE_SCRUB_STREAM_H
#define TAPE_SCRUB_STREAM_H

#include "tape/scrub_find.h"

struct scrub_stream {
    const struct scrub *s;
    const char *body;
    bool alone; /* one document: nothing to put together */
    struct scrub_stream_piece {
        uint64_t place;
        size_t at, len;
        size_t next; /* the next one at its place, or 0 */
        uint32_t object;
        bool escaped;
    } * pieces; /* from 1 on */
    size_t n, cap;
    struct scrub_stream_place {
        size_t first, last, count; /* first 0: a free slot */
    } * places;                    /* a hash table; `place` is in the pieces */
    size_t n_places, cap_places;
    struct scrub_stream_object {
        uint32_t parent;
        uint64_t marks; /* of "index" and its kin: its own, then with its parents' */
        bool is_root;
    } * objects;
    size_t n_objects, cap_objects;
    size_t settled; /* objects whose marks include their parents' */
    bool failed;
};

void scrub_stream_init(struct scrub_stream *st, const struct scrub *s, const char *body,
                       bool alone);
void scrub_stream_fini(struct scrub_stream *st);

/* Search one event: a JSON document in body[from, to). Its strings are searched on
 * their own and remembered. *at is where reading ended; false when it is not JSON. */
bool scrub_stream_event(struct scrub_stream *st, size_t from, size_t to, size_t *at,
                        struct scrub_edits *edits);
/* Likewise an event that is plain text. */
void scrub_stream_text(struct scrub_stream *st, size_t from, size_t to,
                       struct scrub_edits *edits);
/* At the end: search what was remembered, across events. */
void scrub_stream_end(struct scrub_stream *st, struct scrub_edits *edits);

#endif
