/* fuzz-tape.c - any bytes as a cassette: opened, and every exchange decoded. */
#include "base/limits.h"
#include "tape/tape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tape *t = NULL;
    struct err e;

    if (tape_open_memory(&t, "fuzz", (const char *)data, size, &e) < 0)
        return 0;
    for (size_t i = 0; i < tape_count(t); i++) {
        struct buf body = BUF_INIT(MIB(1));
        struct exchange x;
        /* Large bodies are legal; they only make the fuzzer slow. */
        if (tape_entry(t, i)->req_len > MIB(1))
            continue;
        if (tape_load_request_body(t, i, &body, &e) == 0)
            must(body.len == tape_entry(t, i)->req_len);
        buf_free(&body);
        if (tape_load(t, i, &x, &e) == 0)
            exchange_fini(&x);
        if (tape_load_head(t, i, &x, &e) == 0)
            exchange_fini(&x);
    }
    tape_close(&t);
    return 0;
}
