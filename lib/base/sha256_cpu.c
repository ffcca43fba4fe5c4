/* sha256_cpu.c - see sha256_cpu.h. */
#include "base/sha256_cpu.h"

#include "base/must.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

/* FIPS 180-4, 4.2.2 */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};

bool sha256_cpu_has(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;

    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1))
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

#define WITH_SHA __attribute__((target("sha,sse4.1,ssse3")))

/* The next four words of the message schedule from the sixteen before them. */
WITH_SHA static inline __m128i next_words(__m128i w0, __m128i w1, __m128i w2, __m128i w3)
{
    __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));

    return _mm_sha256msg2_epu32(sum, w3);
}

/* The instructions keep the eight words as A B E F and C D G H, highest first. */
WITH_SHA void sha256_cpu_blocks(uint32_t state[8], const uint8_t *data, size_t blocks)
{
    const __m128i big_endian =
        _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    __m128i abef =
        _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    __m128i cdgh =
        _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);

    for (; blocks > 0; blocks--, data += SHA256_BLOCK) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[4];

#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) { /* four rounds each */
            if (i < 4)
                w[i] = _mm_shuffle_epi8(
                    _mm_loadu_si128((const __m128i *)(const void *)(data + 16 * i)),
                    big_endian);
            else
                w[i & 3] =
                    next_words(w[i & 3], w[(i + 1) & 3], w[(i + 2) & 3], w[(i + 3) & 3]);
            __m128i k = _mm_add_epi32(
                w[i & 3],
                _mm_loadu_si128((const __m128i *)(const void *)(constants + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    state[0] = (uint32_t)_mm_extract_epi32(abef, 3);
    state[1] = (uint32_t)_mm_extract_epi32(abef, 2);
    state[2] = (uint32_t)_mm_extract_epi32(cdgh, 3);
    state[3] = (uint32_t)_mm_extract_epi32(cdgh, 2);
    state[4] = (uint32_t)_mm_extract_epi32(abef, 1);
    state[5] = (uint32_t)_mm_extract_epi32(abef, 0);
    state[6] = (uint32_t)_mm_extract_epi32(cdgh, 1);
    state[7] = (uint32_t)_mm_extract_epi32(cdgh, 0);
}

#else

bool sha256_cpu_has(void)
{
    return false;
}

void sha256_cpu_blocks(uint32_t state[8], const uint8_t *data, size_t blocks)
{
    (void)state;
    (void)data;
    must(blocks == 0);
}

#endif
