/*
 * verbs.h - the verbs of `retape`, one function each, called by main.
 *
 * Each parses its own arguments (argv[0] is the verb's name) by a table of cli.h,
 * prints results to stdout and diagnostics to stderr, and returns the exit status.
 */
#ifndef PROXY_VERBS_H
#define PROXY_VERBS_H

int verb_record(int argc, char **argv); /* run.c */
int verb_replay(int argc, char **argv); /* run.c */
int verb_auto(int argc, char **argv);   /* run.c */
int verb_list(int argc, char **argv);   /* show.c */
int verb_show(int argc, char **argv);   /* show.c */
int verb_diff(int argc, char **argv);   /* diff.c */
int verb_ca(int argc, char **argv);     /* ca_verb.c */
int verb_env(int argc, char **argv);    /* env_verb.c */
int verb_doctor(int argc, char **argv); /* doctor.c */

#endif
