/* secret_filter.c - see secret_filter.h. */
#include "tape/secret_filter.h"

#include "tape/secret_shape.h"

#include <string.h>

/* Where three bytes, the low ones of four read from memory, stand in the map: the
 * multiplier has its low byte clear, which drops the fourth. */
static uint32_t slot(uint32_t bytes)
{
    return bytes * 0xa5a5b300u >> (32 - SECRET_FILTER_BITS);
}

static void add_trigram(uint64_t *map, const unsigned char c[3])
{
    uint32_t s = slot((uint32_t)c[0] | (uint32_t)c[1] << 8 | (uint32_t)c[2] << 16);

    map[s / 64] |= (uint64_t)1 << s % 64;
}

/* Every trigram that positions first, first+1, first+2 of the shape accept. */
static void add_trigrams(uint64_t *map, const unsigned char sets[4][256],
                         const size_t n[4], unsigned first)
{
    for (size_t i = 0; i < n[first]; i++)
        for (size_t j = 0; j < n[first + 1]; j++)
            for (size_t k = 0; k < n[first + 2]; k++)
                add_trigram(map, (unsigned char[3]){sets[first][i], sets[first + 1][j],
                                                    sets[first + 2][k]});
}

void secret_filter_add(struct secret_filter *f, const char *shape, bool nocase)
{
    unsigned char sets[4][256];
    size_t n[4] = {0};

    for (unsigned pos = 0; pos < 4; pos++)
        for (unsigned c = 0; c < 256; c++)
            if (secret_shape_accepts(shape, nocase, pos, (unsigned char)c))
                sets[pos][n[pos]++] = (unsigned char)c;
    add_trigrams(f->first, sets, n, 0);
    add_trigrams(f->second, sets, n, 1);
    for (size_t i = 0; i < SECRET_FILTER_WORDS; i++)
        f->any[i] = f->first[i] | f->second[i];
}

/* In the lowest bit of the result; the others are noise. */
static uint64_t look_up(const uint64_t *map, const char *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    v = slot(v);
    return map[v / 64] >> v % 64;
}

bool secret_filter_may_begin(const struct secret_filter *f, const char *text, size_t len,
                             size_t at)
{
    return at + 5 <= len &&
           (look_up(f->first, text + at) & look_up(f->second, text + at + 1) & 1);
}

size_t secret_filter_next(const struct secret_filter *f, const char *text, size_t len,
                          size_t from)
{
    size_t p = from;

    if (len < 4)
        return len;
    /* Eight trigrams a turn, one branch. */
    for (; p + 20 <= len; p += 16) {
        const char *t = text + p;
        if ((look_up(f->any, t) | look_up(f->any, t + 2) | look_up(f->any, t + 4) |
             look_up(f->any, t + 6) | look_up(f->any, t + 8) | look_up(f->any, t + 10) |
             look_up(f->any, t + 12) | look_up(f->any, t + 14)) &
            1)
            break;
    }
    for (; p + 4 <= len; p += 2)
        if (look_up(f->any, text + p) & 1)
            return p;
    return len;
}
