/*
 * digest.h - SHA-256 (what formats promise) and XXH3-128 (what is fast).
 *
 * SHA-256 runs at about 1 GB/s where the CPU has instructions for it (sha256_cpu.h) and
 * at 240 MB/s in Debian's mbedTLS, XXH3 at tens of GB/s, so the replay path looks bodies
 * up by XXH3 and only canonical keys are SHA-256.
 *
 * Threads: any.
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_SHA256 32
#define DIGEST_XXH3 16
#define DIGEST_KEY_TEXT 72 /* "sha256:" + 64 hex digits + NUL */

void digest_sha256(const void *data, size_t len, uint8_t out[DIGEST_SHA256]);
/* Lower-case hex of n bytes; out holds 2n+1. */
void digest_hex(const uint8_t *in, size_t n, char *out);
/* Back again; 0, or -1 unless text is exactly 2n hex digits. */
int digest_unhex(const char *text, size_t text_len, uint8_t *out, size_t n);
/* "sha256:<hex>" of data. */
void digest_key_text(const void *data, size_t len, char out[DIGEST_KEY_TEXT]);

/* SHA-256 of what comes piece by piece; belongs to one thread at a time. */
struct digest_stream;
struct digest_stream *digest_stream_new(void);     /* NULL: out of memory */
void digest_stream_start(struct digest_stream *s); /* forget what was added */
void digest_stream_add(struct digest_stream *s, const void *data, size_t len);
/* "sha256:<hex>" of all that was added; start again before adding more. */
void digest_stream_text(struct digest_stream *s, char out[DIGEST_KEY_TEXT]);
void digest_stream_free(struct digest_stream **s);

struct digest_xxh3 {
    uint64_t lo, hi;
};
struct digest_xxh3 digest_xxh3(const void *data, size_t len);
/* 32 hex digits in XXH3's canonical (big-endian) order, and back (0 or -1). */
void digest_xxh3_text(struct digest_xxh3 h, char out[33]);
int digest_xxh3_parse(const char *text, size_t len, struct digest_xxh3 *out);

/* mbedTLS as loaded, "3.6.6". Main thread only. */
const char *digest_library_version(void);

#endif
