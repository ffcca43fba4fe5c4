/* fuzz-decode.c - any bytes as an encoded body; whole or in pieces, the same result. */
#include "base/limits.h"
#include "tape/decode.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte chooses the coding, the second the size of the pieces. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const codings[] = {"gzip", "deflate", "br", "zstd", "gzip, zstd"};
    struct buf whole = BUF_INIT(MIB(1)), pieces = BUF_INIT(MIB(1));
    struct decode *d = NULL;
    struct err e;

    if (size < 2)
        return 0;
    const char *coding = codings[data[0] % COUNT_OF(codings)];
    size_t step = (size_t)data[1] + 1;
    data += 2;
    size -= 2;
    int rc = decode_all(coding, data, size, &whole, &e);
    must(decode_new(&d, coding, &e) == 0);
    int again = 0;
    for (size_t at = 0; at < size && again == 0; at += step)
        again =
            decode_feed(d, data + at, size - at < step ? size - at : step, &pieces, &e);
    if (again == 0)
        again = decode_end(d, &e);
    must(rc == again);
    if (rc == 0)
        must(whole.len == pieces.len &&
             (whole.len == 0 || memcmp(whole.data, pieces.data, whole.len) == 0));
    decode_free(&d);
    buf_free(&whole);
    buf_free(&pieces);
    return 0;
}
