/*
 * options.h - the command line of record, replay and auto, as values.
 *
 * Flags beat the environment (RETAPE_*), which beats retape.json.
 *
 * Owns:    options_parse() fills it; options_fini() frees it. Texts point into argv or
 *          the environment.
 * Threads: read-only once parsed.
 */
#ifndef PROXY_OPTIONS_H
#define PROXY_OPTIONS_H

#include "base/cli.h"
#include "proxy/config.h"
#include "tape/match.h"

enum options_mode { MODE_RECORD, MODE_REPLAY, MODE_AUTO };

struct options {
    enum options_mode mode;
    const char *listen;    /* NULL: 127.0.0.1:0 with a command, 127.0.0.1:8080 without */
    const char *cassettes; /* folder */
    const char *session;
    const char *config_file;
    const char *output; /* folder for run.json, summary.json (replay) */
    char run_id[80];    /* given, or run-<UTC time>-<6 hex> */
    const char *run_id_given;
    struct cli_number seed;
    const char *ready_file, *summary_file;
    const char *token; /* NULL: none */
    struct cli_list upstream_ca, resolve, tunnel;
    const char *upstream_proxy;
    double speed;              /* 0 at once, 1 recorded pace, N times faster */
    int repeat;                /* enum deck_repeat */
    struct cli_number workers; /* default: cores */
    bool overwrite, append, allow_empty, fail_unused, base_urls, json;
    bool sandbox, no_sandbox;
    const char *bundle; /* replay from this bundle, or NULL */
    bool live, compare; /* replay */
    struct config *config;
    struct cli_rest rest; /* rest.command: the child */
};

extern const struct cli_verb options_record, options_replay, options_auto;

/* ERR_USAGE / ERR_CONFIG on anything wrong, also combinations. rest.help may be set. */
int options_parse(struct options *o, enum options_mode mode, int argc, char **argv,
                  struct err *e) MUST_CHECK;
void options_fini(struct options *o);

#endif
