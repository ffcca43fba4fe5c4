/*
 * main.c - `retape`: find the verb, run it, hand back its exit status.
 *
 * Verbs of this program are functions (verbs.h); `bundle` and `oracle` are programs of
 * their own that are installed beside it.
 */
#include "base/digest.h"
#include "base/json.h"
#include "base/program.h"
#include "net/fetch.h"
#include "net/httpd.h"
#include "pack/pack.h"
#include "proxy/verbs.h"

#include <stddef.h>

static const struct program_verb verbs[] = {
    {"record", verb_record, NULL, "forward every request and record it"},
    {"replay", verb_replay, NULL, "answer every request from the cassette"},
    {"auto", verb_auto, NULL, "answer what is recorded, record the rest"},
    {"list", verb_list, NULL, "list the cassettes and what they hold"},
    {"show", verb_show, NULL, "show recorded exchanges"},
    {"diff", verb_diff, NULL, "compare two cassettes"},
    {"ca", verb_ca, NULL, "show or export the proxy's certificate authority"},
    {"env", verb_env, NULL, "print the environment for a proxy started by hand"},
    {"doctor", verb_doctor, NULL, "check that this machine is ready"},
    {"bundle", NULL, "retape-bundle", "make, check and convert bundles"},
    {"oracle", NULL, "retape-oracle", "answer tool calls from recordings"},
    {0},
};

static const struct program_part parts[] = {
    {"libmicrohttpd", httpd_library_version}, {"libcurl", fetch_library_version},
    {"mbedTLS", digest_library_version},      {"libarchive", pack_library_version},
    {"yyjson", json_library_version},         {0},
};

static const char *const exits[] = {
    "0  ok", "1  the command failed (replay), or a difference was found",
    "2  usage, configuration, integrity or missing recordings",
    "3  infrastructure: disk, memory, network", NULL};

static const struct program program = {
    .name = "retape",
    .summary = "A recording HTTP proxy for LLM agents: run an agent once, then replay "
               "the run offline, for free and the same every time.",
    .exits = exits,
    .example = "retape record -- python agent.py\nretape replay -- python agent.py",
    .verbs = verbs,
    .parts = parts};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
