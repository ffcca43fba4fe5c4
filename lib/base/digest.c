/* digest.c - see digest.h. */
#include "base/digest.h"

#include "base/must.h"

#include <mbedtls/sha256.h>
#include <mbedtls/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h> /* picks AVX2 and better at run time */
#endif

void digest_sha256(const void *data, size_t len, uint8_t out[DIGEST_SHA256])
{
    must(mbedtls_sha256(data, len, out, 0) == 0);
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

struct digest_stream {
    mbedtls_sha256_context state;
};

struct digest_stream *digest_stream_new(void)
{
    struct digest_stream *s = calloc(1, sizeof *s);

    if (s) {
        mbedtls_sha256_init(&s->state);
        digest_stream_start(s);
    }
    return s;
}

void digest_stream_start(struct digest_stream *s)
{
    must(mbedtls_sha256_starts(&s->state, 0) == 0);
}

void digest_stream_add(struct digest_stream *s, const void *data, size_t len)
{
    must(mbedtls_sha256_update(&s->state, data, len) == 0);
}

void digest_stream_text(struct digest_stream *s, char out[DIGEST_KEY_TEXT])
{
    uint8_t sum[DIGEST_SHA256];

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
