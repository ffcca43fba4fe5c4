/*
 * miss.h - say why a request has no recording, and what is nearest to it.
 *
 * Looks at recordings of the same method, host and path first, ranks them cheaply
 * (shared message hashes), and compares the best few in full. Bounded: about 50 ms
 * however large the tape. The report is JSON that OpenAI and Anthropic clients can
 * read, and the same for people.
 *
 * Threads: any. Everything in a report is scrubbed: it is made of scrubbed input.
 */
#ifndef TAPE_MISS_H
#define TAPE_MISS_H

#include "tape/match.h"

/* One difference between two JSON values, texts cut for people at 200 bytes. */
struct miss_difference {
    char *at;       /* JSON pointer into the canonical body; "" is the whole body,
                       "@line N" a line of a text, "?name" a query parameter, "@method"
                       "@path" "@host" "@header name" other parts of the request */
    char *recorded; /* JSON text, or NULL when absent; values that are too long are
                       JSON strings of an excerpt */
    char *asked;
};

struct miss_near {
    uint64_t exchange;
    double distance; /* 0 same .. 1 nothing in common */
    bool used;       /* already played in this run */
    struct miss_difference *differences;
    size_t n_differences;
    size_t n_more; /* differences beyond LIMIT_MISS_DIFFERENCES */
};

struct miss {
    enum deck_found found; /* FOUND_NEVER or FOUND_EXHAUSTED */
    char *method, *url;    /* scrubbed */
    char *message;         /* one sentence, and what to do next */
    struct miss_near near[3];
    size_t n_near;
};

int miss_explain(struct miss *out, const struct deck *d, const struct canon_request *req,
                 enum deck_found found, size_t entry, struct err *e) MUST_CHECK;
void miss_fini(struct miss *m);

void miss_json(const struct miss *m, struct buf *out); /* the body of the 424 */
void miss_text(const struct miss *m, struct buf *out); /* for stderr */

/* All differences between two bodies (`retape diff` too): JSON by pointer, else lines.
 * Appends to *list (malloc'ed, caller frees with miss_differences_free). */
int miss_differences(const char *a, size_t a_len, const char *b, size_t b_len,
                     struct miss_difference **list, size_t *n, size_t most,
                     size_t *n_more, struct err *e) MUST_CHECK;
void miss_differences_free(struct miss_difference **list, size_t *n);

#endif
