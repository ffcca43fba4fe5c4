/*
 * textcheck.h - what names, paths and hosts from the user must look like.
 *
 * A rule is a predicate and the words an error uses for it, so that the command line
 * and retape.json refuse the same things in the same way.
 *
 * Threads: any.
 */
#ifndef PROXY_TEXTCHECK_H
#define PROXY_TEXTCHECK_H

#include <stdbool.h>

struct textcheck {
    bool (*holds)(const char *text);
    const char *wanted; /* "a header name"; goes after "must be" */
};

extern const struct textcheck textcheck_host;    /* api.example.com, *.example.com */
extern const struct textcheck textcheck_header;  /* RFC 9110 token */
extern const struct textcheck textcheck_path;    /* starts with '/', no query */
extern const struct textcheck textcheck_pointer; /* RFC 6901, not the empty one */
extern const struct textcheck textcheck_name;    /* [A-Za-z0-9][A-Za-z0-9._-]{0,63} */
extern const struct textcheck textcheck_word;    /* anything but nothing */
extern const struct textcheck textcheck_target;  /* http(s) URL, no user, no query */

#endif
