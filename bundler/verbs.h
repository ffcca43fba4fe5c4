/*
 * verbs.h - the verbs of `retape-bundle`, one function each, called by main.
 *
 * Each parses its own arguments (argv[0] is the verb's name) by a table of cli.h,
 * prints results to stdout and diagnostics to stderr, and returns the exit status.
 */
#ifndef BUNDLER_VERBS_H
#define BUNDLER_VERBS_H

int verb_bundle_create(int argc, char **argv);  /* create_verb.c */
int verb_bundle_verify(int argc, char **argv);  /* verify_verb.c */
int verb_bundle_inspect(int argc, char **argv); /* inspect.c */
int verb_bundle_extract(int argc, char **argv); /* extract.c */
int verb_bundle_summary(int argc, char **argv); /* summary.c */

#endif
