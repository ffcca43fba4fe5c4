/*
 * main.c - `retape-bundle`: find the verb, run it, hand back its exit status.
 */
#include "base/digest.h"
#include "base/json.h"
#include "base/program.h"
#include "bundler/verbs.h"
#include "net/fetch.h"
#include "net/httpd.h"
#include "pack/pack.h"

#include <stddef.h>

static const struct program_verb verbs[] = {
    {"create", verb_bundle_create, NULL, "make a bundle from a run"},
    {"verify", verb_bundle_verify, NULL, "check a bundle and look for secrets in it"},
    {"inspect", verb_bundle_inspect, NULL, "show what a bundle holds"},
    {"extract", verb_bundle_extract, NULL, "unpack a bundle into an empty folder"},
    {"summary", verb_bundle_summary, NULL, "tell how to reproduce a bundled run"},
    {0},
};

static const struct program_part parts[] = {
    {"libmicrohttpd", httpd_library_version}, {"libcurl", fetch_library_version},
    {"mbedTLS", digest_library_version},      {"libarchive", pack_library_version},
    {"yyjson", json_library_version},         {0},
};

static const char *const exits[] = {
    "0  ok", "2  usage, or a bundle or its inputs are not as they must be",
    "3  infrastructure: disk, memory", NULL};

static const struct program program = {
    .name = "retape-bundle",
    .summary =
        "Bundles: a run in one canonical .tar.gz that others can verify and replay.",
    .exits = exits,
    .example = "retape-bundle create --run-id run-7\n"
               "retape-bundle verify .assay/bundles/run-7.tar.gz",
    .verbs = verbs,
    .parts = parts};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
