/*
 * shelf.h - finding cassettes on disk: by session name, or by path.
 *
 * Owns:    lists and tapes are the caller's (shelf_names_free, tape_close).
 * Threads: main.
 */
#ifndef PROXY_SHELF_H
#define PROXY_SHELF_H

#include "tape/tape.h"

struct shelf_names {
    char **v; /* sorted, NULL-terminated */
    size_t n;
};

/* The sessions that have a cassette in a folder. */
int shelf_names(struct shelf_names *out, const char *dir, struct err *e) MUST_CHECK;
void shelf_names_free(struct shelf_names *names);

/* Open a cassette: what holds a '/' or ends with ".jsonl" is a path, anything else a
 * session of dir. ERR_USAGE names the nearest session when there is none of that name.
 * A torn last line is left out and warned about. */
int shelf_open(struct tape **out, const char *dir, const char *which,
               struct err *e) MUST_CHECK;

#endif
