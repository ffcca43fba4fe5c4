/*
 * exchange.h - one recorded exchange: a request, what came back, how it went.
 *
 * The shape of the `exchange` line of a cassette (docs/FORMATS.md), decoded: bodies
 * are whole, scrubbed and without Content-Encoding. Fields are open; every module of
 * the recorder fills its part.
 *
 * Owns:    everything it points at but the names in `scrubbed`; exchange_fini()
 *          frees it.
 * Threads: as its owner.
 */
#ifndef TAPE_EXCHANGE_H
#define TAPE_EXCHANGE_H

#include "base/buf.h"
#include "base/digest.h"
#include "base/headers.h"

#include <stdbool.h>
#include <stdint.h>

enum exchange_kind { KIND_HTTP, KIND_LLM, KIND_TOOL };
enum exchange_outcome { OUTCOME_COMPLETE, OUTCOME_ABORTED, OUTCOME_ERROR };

/* A piece of a streamed response: `len` bytes that came `ms` after the first byte. */
struct exchange_chunk {
    uint32_t ms;
    uint64_t len;
};

/* What a scrub rule replaced: "openai-key" in "request.body", twice. */
struct exchange_scrub {
    const char *rule;  /* borrowed from the rule table, or interned by the reader */
    const char *where; /* static: request.url request.headers request.body ... */
    uint32_t count;
};

struct exchange {
    uint64_t n;   /* number in its cassette, from 1 */
    int64_t t_ms; /* when the request arrived, Unix ms */
    enum exchange_kind kind;
    char dialect[32]; /* "openai.chat", or "" for none */
    char key[DIGEST_KEY_TEXT];

    char *method;
    char *url; /* scrubbed */
    struct headers req_headers;
    struct buf req_body;
    bool has_req_body; /* false: the request had none (null in the cassette) */
    struct digest_xxh3 req_xxh3;

    int status; /* 0 when no response head came */
    struct headers res_headers;
    struct buf res_body;
    bool has_res_body;
    struct exchange_chunk *chunks; /* NULL when not streamed */
    size_t n_chunks;

    enum exchange_outcome outcome;
    char error_code[48]; /* "" unless outcome is aborted or error */
    char error_message[256];
    uint32_t connect_ms, first_byte_ms, total_ms;
    struct exchange_scrub *scrubbed;
    size_t n_scrubbed;
};

void exchange_init(struct exchange *x);
void exchange_fini(struct exchange *x);
int exchange_add_chunk(struct exchange *x, uint32_t ms, uint64_t len,
                       struct err *e) MUST_CHECK;
/* Count one more replacement by a rule at a place. */
int exchange_add_scrub(struct exchange *x, const char *rule, const char *where,
                       uint32_t count, struct err *e) MUST_CHECK;

const char *exchange_kind_name(enum exchange_kind k);       /* "http" "llm" "tool" */
const char *exchange_outcome_name(enum exchange_outcome o); /* "complete" ... */

#endif
