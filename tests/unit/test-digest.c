/* test-digest.c - SHA-256 in one piece and in many, by the CPU and without. */
#include "base/digest.h"
#include "base/must.h"
#include "base/sha256_cpu.h"

#include "tap.h"

#include <mbedtls/sha256.h>
#include <stdint.h>

#define MOST 300 /* beyond four blocks every length has been at a block's edge */

static const struct {
    const char *text, *hex;
} known[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};

/* In pieces of a size; 0 is all at once. */
static void digest_pieces(struct digest_stream *s, const uint8_t *data, size_t len,
                          size_t piece, char out[DIGEST_KEY_TEXT])
{
    digest_stream_start(s);
    while (len > 0) {
        size_t n = piece && piece < len ? piece : len;
        digest_stream_add(s, data, n);
        data += n;
        len -= n;
    }
    digest_stream_text(s, out);
}

static void test_lengths(struct digest_stream *s)
{
    static const size_t pieces[] = {0, 1, 7, 63, 64, 65};
    uint8_t data[MOST], sum[DIGEST_SHA256], want[DIGEST_SHA256];
    char text[DIGEST_KEY_TEXT], hex[2 * DIGEST_SHA256 + 1];
    int wrong = 0;

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 31 + 7);
    for (size_t len = 0; len <= MOST; len++) {
        must(mbedtls_sha256(data, len, want, 0) == 0);
        digest_sha256(data, len, sum);
        wrong += memcmp(sum, want, sizeof sum) != 0;
        digest_hex(want, sizeof want, hex);
        for (size_t i = 0; i < COUNT_OF(pieces); i++) {
            digest_pieces(s, data, len, pieces[i], text);
            wrong += strcmp(text + strlen("sha256:"), hex) != 0;
        }
    }
    ok(wrong == 0, "every length up to %d, in pieces of six sizes, as mbedTLS has it",
       MOST);
}

int main(void)
{
    struct digest_stream *s = digest_stream_new();
    char text[DIGEST_KEY_TEXT];

    must(s);
    printf("# this CPU %s instructions for SHA-256\n",
           sha256_cpu_has() ? "has" : "has no");
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        digest_key_text(known[i].text, strlen(known[i].text), text);
        is(text + strlen("sha256:"), known[i].hex, "example %zu of FIPS 180-4", i);
    }
    test_lengths(s);
    digest_stream_free(&s);
    ok(!s, "freed");
    digest_stream_free(&s);
    return tap_done();
}
