/* digest.c - see digest.h. */
#include "base/digest.h"

#include "base/must.h"
#include "base/sha256_cpu.h"

#include <endian.h>
#include <mbedtls/sha256.h>
#include <mbedtls/version.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h> /* picks AVX2 and better at run time */
#endif

struct digest_stream {
    bool by_cpu; /* else by mbedTLS */
    mbedtls_sha256_context state;
    uint32_t words[8];
    uint64_t len;
    uint8_t rest[SHA256_BLOCK]; /* the bytes that do not fill a block yet */
};

static bool cpu_has;

/* Asked once, before main(): it traps in some virtual machines, which takes long. */
__attribute__((constructor)) static void ask_cpu(void)
{
    cpu_has = sha256_cpu_has();
}

static void cpu_start(struct digest_stream *s)
{
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    memcpy(s->words, first, sizeof first);
    s->len = 0;
}

static void cpu_add(struct digest_stream *s, const uint8_t *data, size_t len)
{
    size_t have = (size_t)(s->len % SHA256_BLOCK);

    s->len += len;
    if (have) {
        size_t some = SHA256_BLOCK - have < len ? SHA256_BLOCK - have : len;
        memcpy(s->rest + have, data, some);
        data += some;
        len -= some;
        if (have + some < SHA256_BLOCK)
            return;
        sha256_cpu_blocks(s->words, s->rest, 1);
    }
    sha256_cpu_blocks(s->words, data, len / SHA256_BLOCK);
    if (len % SHA256_BLOCK)
        memcpy(s->rest, data + len / SHA256_BLOCK * SHA256_BLOCK, len % SHA256_BLOCK);
}

/* Padding, FIPS 180-4, 5.1.1: a one bit, zeros, the length in bits. */
static void cpu_finish(struct digest_stream *s, uint8_t out[DIGEST_SHA256])
{
    uint8_t tail[2 * SHA256_BLOCK] = {0};
    size_t have = (size_t)(s->len % SHA256_BLOCK);
    size_t blocks = have + 9 <= SHA256_BLOCK ? 1 : 2;
    uint64_t bits = htobe64(s->len * 8);

    memcpy(tail, s->rest, have);
    tail[have] = 0x80;
    memcpy(tail + blocks * SHA256_BLOCK - sizeof bits, &bits, sizeof bits);
    sha256_cpu_blocks(s->words, tail, blocks);
    for (int i = 0; i < 8; i++) {
        uint32_t word = htobe32(s->words[i]);
        memcpy(out + 4 * i, &word, sizeof word);
    }
}

void digest_sha256(const void *data, size_t len, uint8_t out[DIGEST_SHA256])
{
    struct digest_stream s;

    if (!cpu_has) {
        must(mbedtls_sha256(data, len, out, 0) == 0);
        return;
    }
    cpu_start(&s);
    cpu_add(&s, data, len);
    cpu_finish(&s, out);
}

void digest_hex(const uint8_t *in, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[in[i] >> 4];
        out[2 * i + 1] = digits[in[i] & 15];
    }
    out[2 * n] = '\0';
}

static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int digest_unhex(const char *text, size_t text_len, uint8_t *out, size_t n)
{
    if (text_len != 2 * n)
        return -1;
    for (size_t i = 0; i < n; i++) {
        int hi = nibble(text[2 * i]), lo = nibble(text[2 * i + 1]);
        if (hi < 0 || lo < 0)
            return -1;
        out[i] = (uint8_t)(hi << 4 | lo);
    }
    return 0;
}

void digest_key_text(const void *data, size_t len, char out[DIGEST_KEY_TEXT])
{
    uint8_t sum[DIGEST_SHA256];

    digest_sha256(data, len, sum);
    memcpy(out, "sha256:", 7);
    digest_hex(sum, sizeof sum, out + 7);
}

struct digest_stream *digest_stream_new(void)
{
    struct digest_stream *s = calloc(1, sizeof *s);

    if (s) {
        s->by_cpu = cpu_has;
        mbedtls_sha256_init(&s->state);
        digest_stream_start(s);
    }
    return s;
}

void digest_stream_start(struct digest_stream *s)
{
    if (s->by_cpu)
        cpu_start(s);
    else
        must(mbedtls_sha256_starts(&s->state, 0) == 0);
}

void digest_stream_add(struct digest_stream *s, const void *data, size_t len)
{
    if (s->by_cpu)
        cpu_add(s, data, len);
    else
        must(mbedtls_sha256_update(&s->state, data, len) == 0);
}

void digest_stream_text(struct digest_stream *s, char out[DIGEST_KEY_TEXT])
{
    uint8_t sum[DIGEST_SHA256];

    if (s->by_cpu)
        cpu_finish(s, sum);
    else
        must(mbedtls_sha256_finish(&s->state, sum) == 0);
    memcpy(out, "sha256:", 7);
    digest_hex(sum, sizeof sum, out + 7);
}

void digest_stream_free(struct digest_stream **s)
{
    if (!*s)
        return;
    mbedtls_sha256_free(&(*s)->state);
    free(*s);
    *s = NULL;
}

struct digest_xxh3 digest_xxh3(const void *data, size_t len)
{
    XXH128_hash_t h = XXH3_128bits(data, len);

    return (struct digest_xxh3){h.low64, h.high64};
}

void digest_xxh3_text(struct digest_xxh3 h, char out[33])
{
    (void)snprintf(out, 33, "%016llx%016llx", (unsigned long long)h.hi,
                   (unsigned long long)h.lo);
}

int digest_xxh3_parse(const char *text, size_t len, struct digest_xxh3 *out)
{
    uint8_t b[DIGEST_XXH3];

    if (digest_unhex(text, len, b, sizeof b) < 0)
        return -1;
    *out = (struct digest_xxh3){0};
    for (int i = 0; i < 8; i++) {
        out->hi = out->hi << 8 | b[i];
        out->lo = out->lo << 8 | b[8 + i];
    }
    return 0;
}

const char *digest_library_version(void)
{
    static char text[16]; /* the library writes at most 9 bytes */

    mbedtls_version_get_string(text);
    return text;
}
