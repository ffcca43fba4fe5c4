/*
 * fuzz-jsonrpc.c - answers from any bytes: no crash, and the pieces still add up.
 *
 * Input: the recorded request, NUL, the asked request, NUL, the response.
 */
#include "base/limits.h"
#include "tape/jsonrpc.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Length up to the next NUL or the end. */
static size_t piece(const char *at, const char *end)
{
    const char *stop = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;

    return (size_t)((stop ? stop : end) - at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *recorded = (const char *)data, *end = recorded + size;
    size_t n_recorded = piece(recorded, end);
    const char *asked = recorded + n_recorded + (recorded + n_recorded < end);
    size_t n_asked = piece(asked, end);
    const char *response = asked + n_asked + (asked + n_asked < end);
    size_t n_response = (size_t)(end - response);
    uint64_t lens[3] = {n_response / 3, n_response / 2};
    struct buf out = BUF_INIT(MIB(64));

    lens[2] = n_response - lens[0] - lens[1];
    if (jsonrpc_answer(recorded, n_recorded, asked, n_asked, response, n_response, lens,
                       COUNT_OF(lens), &out)) {
        must(!out.failed && lens[0] + lens[1] + lens[2] == out.len);
        /* JSON stays JSON. */
        must(jsonrpc_is(response, n_response) == jsonrpc_is(out.data, out.len));
    } else {
        must(out.len == 0);
    }
    buf_free(&out);
    return 0;
}
