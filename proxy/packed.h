/*
 * packed.h - a verified bundle held in memory, to replay from.
 *
 * One open file is read once: digested, verified, and its cassettes and outputs kept.
 * Nothing is unpacked to disk. A bundle that fails verification is refused; so is an
 * offline replay of one whose own coverage says that tests are incomplete.
 *
 * Owns:    packed_open() hands out the bundle; what it returns lives as long.
 * Threads: immutable once open.
 */
#ifndef PROXY_PACKED_H
#define PROXY_PACKED_H

#include "base/buf.h"
#include "bundler/outputs.h"

#include <stdbool.h>
#include <stddef.h>

struct packed;

/* A member kept: "cassettes/default.jsonl", "outputs/run.json". */
struct packed_member {
    char *path;
    struct buf bytes;
};

/* What is known even when opening fails, for the provenance of run.json. */
struct packed_origin {
    char digest[72];                /* "sha256:…", or "sha256:unknown" */
    char source_run_id[80];         /* "" when the bundle names none */
    const char *reason;             /* reason code of a refusal, else NULL */
    struct outputs_carried carried; /* of its run.json */
};

int packed_open(struct packed **out, const char *path, bool live,
                struct packed_origin *origin, struct err *e) MUST_CHECK;
void packed_close(struct packed **p);

/* The cassette of a session, or NULL. */
const struct packed_member *packed_cassette(const struct packed *p, const char *session);
/* Members under outputs/, in archive order. */
const struct packed_member *packed_next_output(const struct packed *p,
                                               const struct packed_member *after);

#endif
