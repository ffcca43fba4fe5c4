/*
 * place.h - the line on which a member of a JSON text stands.
 *
 * The parser keeps no positions, so an error about a parsed value walks the text once
 * more: a path says which child of which child is meant, children counted from 0 as
 * they stand. Members are found by number, not by name: the second of two equal keys
 * has a line of its own.
 *
 * Threads: any. The text should be one that json_read_config() has taken; of any other
 * the line means nothing.
 */
#ifndef PROXY_PLACE_H
#define PROXY_PLACE_H

#include <stddef.h>

/* The line (from 1) of the key or element at that path; an empty path is the document.
 * A path that leads nowhere gives the last line it reached. */
size_t place_line(const char *text, size_t len, const size_t *path, size_t depth);

#endif
