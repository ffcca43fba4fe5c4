/*
 * contents.h - what the cassettes of a bundle hold: model calls, tools, hosts.
 *
 * Cassettes are retape's (*.jsonl) or Assay's VCR files (*.json); anything else is only
 * counted. Tools are those that models were offered or called, and those called through
 * MCP; a call that later requests repeat as history counts once.
 *
 * Cassettes come from strangers: at most CONTENTS_ROWS of a kind are told apart, and when
 * CONTENTS_WORK bytes of bodies have been looked at the rest is counted by its head.
 *
 * Owns:    texts of the rows; contents_fini() frees them.
 * Threads: as its owner.
 */
#ifndef BUNDLER_CONTENTS_H
#define BUNDLER_CONTENTS_H

#include "base/buf.h"

#include <stdint.h>

#define CONTENTS_ROWS 1000
#define CONTENTS_WORK MIB(1024)

struct contents_row {
    char *name;   /* dialect, tool, host or cassette */
    char *detail; /* model, how a tool is reached, session; "" for none */
    uint64_t calls, failed;
    uint64_t sent, received; /* bytes of bodies */
};

struct contents_rows {
    struct contents_row *v;
    size_t n, cap;
    uint64_t more; /* calls of rows beyond CONTENTS_ROWS */
};

struct contents {
    struct contents_rows models, tools, hosts, cassettes;
    uint64_t exchanges, llm, tool, http;
    uint64_t work;     /* bytes looked at so far */
    bool partial;      /* bodies beyond CONTENTS_WORK were not looked at */
    size_t unreadable; /* cassettes that are neither */
};

/* One member of cassettes/. A cassette that cannot be read is counted, not an error. */
int contents_add(struct contents *c, const char *path, const char *data, size_t len,
                 struct err *e) MUST_CHECK;
void contents_fini(struct contents *c);

#endif
