/* exchange.c - see exchange.h. */
#include "tape/exchange.h"

#include "base/limits.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
    [KIND_HTTP] = "http",
    [KIND_LLM] = "llm",
    [KIND_TOOL] = "tool",
};

static const char *const outcome_names[] = {
    [OUTCOME_COMPLETE] = "complete",
    [OUTCOME_ABORTED] = "aborted",
    [OUTCOME_ERROR] = "error",
};

void exchange_init(struct exchange *x)
{
    *x = (struct exchange){
        .req_body = BUF_INIT(LIMIT_DECODED_BODY),
        .res_body = BUF_INIT(LIMIT_DECODED_BODY),
    };
}

void exchange_fini(struct exchange *x)
{
    free(x->method);
    free(x->url);
    headers_fini(&x->req_headers);
    buf_free(&x->req_body);
    headers_fini(&x->res_headers);
    buf_free(&x->res_body);
    free(x->chunks);
    free(x->scrubbed);
    exchange_init(x);
}

/* Lists grow at powers of two, so they carry no capacity. */
static bool is_full(size_t n)
{
    return (n & (n - 1)) == 0;
}

int exchange_add_chunk(struct exchange *x, uint32_t ms, uint64_t len, struct err *e)
{
    if (is_full(x->n_chunks)) {
        size_t cap = x->n_chunks ? x->n_chunks * 2 : 1;
        struct exchange_chunk *v = realloc(x->chunks, cap * sizeof *v);
        if (!v)
            return err_set(e, ERR_NOMEM, "chunks: out of memory");
        x->chunks = v;
    }
    x->chunks[x->n_chunks++] = (struct exchange_chunk){ms, len};
    return 0;
}

int exchange_add_scrub(struct exchange *x, const char *rule, const char *where,
                       uint32_t count, struct err *e)
{
    for (size_t i = 0; i < x->n_scrubbed; i++) {
        struct exchange_scrub *s = &x->scrubbed[i];
        if (strcmp(s->rule, rule) == 0 && strcmp(s->where, where) == 0) {
            s->count += count;
            return 0;
        }
    }
    if (is_full(x->n_scrubbed)) {
        size_t cap = x->n_scrubbed ? x->n_scrubbed * 2 : 1;
        struct exchange_scrub *v = realloc(x->scrubbed, cap * sizeof *v);
        if (!v)
            return err_set(e, ERR_NOMEM, "scrubbed: out of memory");
        x->scrubbed = v;
    }
    x->scrubbed[x->n_scrubbed++] = (struct exchange_scrub){rule, where, count};
    return 0;
}

const char *exchange_kind_name(enum exchange_kind k)
{
    must((size_t)k < COUNT_OF(kind_names));
    return kind_names[k];
}

const char *exchange_outcome_name(enum exchange_outcome o)
{
    must((size_t)o < COUNT_OF(outcome_names));
    return outcome_names[o];
}
