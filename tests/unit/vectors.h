/*
 * vectors.h - the inputs of the format's five example bundles, A to E.
 */
#ifndef TESTS_VECTORS_H
#define TESTS_VECTORS_H

#include "base/buf.h"
#include "rawtar.h"

#include <stdint.h>

/* The full example of the format, as its own writer puts it. */
__attribute__((unused)) static const char vector_full[] =
    "{\"schema_version\":1,\"assay_version\":\"5.4.0\",\"created_at\":"
    "\"2026-02-06T10:11:12.123456789+00:00\",\"source_run_path\":\"/w\","
    "\"selection_method\":\"explicit-from\",\"trace_path\":\"files/trace.jsonl\","
    "\"outputs\":{\"run\":\"outputs/run.json\"},\"seeds\":{\"seed_version\":1,"
    "\"order_seed\":\"42\"},\"replay_coverage\":{\"complete_tests\":[\"t1\"],"
    "\"incomplete_tests\":[]},\"scrub_policy\":{\"include_prompts\":false,"
    "\"scrub_cassettes\":true,\"name\":\"default\"},\"files\":{"
    "\"cassettes/openai/judge/0123456789abcdef.json\":{\"sha256\":\"sha256:"
    "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\",\"size\":2,"
    "\"mode\":420,\"content_type\":\"application/json\"},\"files/eval.yaml\":{\"sha256\":"
    "\"sha256:4ed350aad61f5e157b8d6c9cb8622e2a47ee4a30aa3ec5ee11a0aa44408ae2e3\","
    "\"size\":9,\"mode\":420,\"content_type\":\"application/x-yaml\"},"
    "\"files/trace.jsonl\":{\"sha256\":\"sha256:"
    "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945\",\"size\":2,"
    "\"mode\":420,\"content_type\":\"application/x-ndjson\"},\"outputs/run.json\":{"
    "\"sha256\":\"sha256:"
    "c9ac2472fb64d1d50f395611f3597ba1dba723a24e6898d250dfe01545cc8e71\",\"size\":12,"
    "\"mode\":420,\"content_type\":\"application/json\"}}}";

struct vector {
    const char *name, *manifest;
    struct {
        const char *path, *text;
    } members[5];        /* sorted */
    const char *content; /* sha256 of the tar stream as the reference writes it */
    const char *file;    /* and of its .tar.gz */
};

/* E: 5000 lines, made when they are asked for. */
__attribute__((unused)) static void vector_lines(struct buf *out)
{
    for (uint64_t i = 0; i < 5000; i++)
        buf_fmt(out, "{\"i\":%llu,\"v\":%llu}\n", (unsigned long long)i,
                (unsigned long long)(i * 2654435761u % 4294967296u));
}

__attribute__((unused)) static const struct vector vectors[] = {
    {"A",
     RAWTAR_MIN,
     {{"files/trace.jsonl", "[]"}},
     "ac15f205e0b40d299934febe78549abbfbe5156cadb31e2bb31d8b4fe51da5a5",
     "e982d2dd1d7cf56df6b417c7af1bc3f7f334ecfc47298bf5d240f4485f3b7a7c"},
    {"B",
     RAWTAR_MIN,
     {{NULL, NULL}},
     "0668bbc7243bd54325ba999371bf55f3c6166377b2d0b43a6cca70f1171b6ed0",
     "f8d09d4a2bf208169befb7534c47436d14f20c1bfeac19b40c4696f2b712d036"},
    {"C",
     RAWTAR_MIN,
     {{"cassettes/m.json", "{}"}, {"files/a.jsonl", "[]"}, {"outputs/z.json", "{}"}},
     "505695105a5696252a48d9138603f16da62dc053977f611a7eb90f258689aa31",
     "c96805cf616e9bf4e74add66662e2d6f583ebf830870021cf14fa274cdead6f1"},
    {"D",
     vector_full,
     {{"cassettes/openai/judge/0123456789abcdef.json", "{}"},
      {"files/eval.yaml", "suite: s\n"},
      {"files/trace.jsonl", "[]"},
      {"outputs/run.json", "{\"run_id\":7}"}},
     "76111809cf93f39108629cbc0f2a78320fc3518ef0c628091fd94a27eae84357",
     "b3f2ba114dfa4d8af4bd92a8b8ca6c338b1525b22dfcc9fc830f1b5ed7294e76"},
    {"E",
     RAWTAR_MIN,
     {{"files/trace.jsonl", NULL}}, /* vector_lines() */
     "2572dfe29fd3aa2a15617c42d642144bc0bc47871b7229ee36325dc3cd318ad8",
     "11af93c986af4196dbee99c08434565c56aeb603b7d0cd92bafd27c21a5f5296"},
};

#endif
