/*
 * git.h - which commit a folder is at, asked of the git program.
 *
 * No git, no work tree, or a repository git will not touch: nothing is known, which is
 * not an error. The repository's own hooks and monitors are not run.
 *
 * Threads: main (it starts a child).
 */
#ifndef BUNDLER_GIT_H
#define BUNDLER_GIT_H

#include <stdbool.h>

#define GIT_SHA_TEXT 65 /* 64 hex digits of a SHA-256 repository and a NUL */

/* True with the commit's id and whether tracked files differ from it. */
bool git_look(const char *dir, char sha[GIT_SHA_TEXT], bool *dirty);

#endif
