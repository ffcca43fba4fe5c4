/* secret_filter.c - see secret_filter.h. */
#include "tape/secret_filter.h"

#include "tape/secret_shape.h"

#include <string.h>

/* Bits of a table entry: sixteen buckets for each way a pair can stand in a shape. */
enum { BUCKETS = 16, PAIR_12 = 0, PAIR_23 = 16, PAIR_34 = 32, PAIR_45 = 48 };

static uint16_t pair_at(const char *text)
{
    uint16_t v;

    memcpy(&v, text, sizeof v);
    return v;
}

/* Shapes that are alike share a bucket: their halves fit together anyway. Those whose
 * fourth position takes many bytes are kept apart, or every first half would do. */
static unsigned bucket_of(const char *shape, bool nocase)
{
    enum { WIDE_BUCKETS = 4, WIDE = 12 };
    unsigned second = 0, fourth = 0;

    for (unsigned c = 256; c-- > 0;) {
        if (secret_shape_accepts(shape, nocase, 1, (unsigned char)c))
            second = c;
        fourth += secret_shape_accepts(shape, nocase, 3, (unsigned char)c);
    }
    if (fourth > WIDE)
        return BUCKETS - 1 - second % WIDE_BUCKETS;
    return second % (BUCKETS - WIDE_BUCKETS);
}

/* All pairs whose bytes positions `pos` and `pos + 1` accept. */
static void add_pairs(struct secret_filter *f, const char *shape, bool nocase,
                      unsigned pos, uint64_t bit)
{
    for (unsigned a = 0; a < 256; a++) {
        if (!secret_shape_accepts(shape, nocase, pos, (unsigned char)a))
            continue;
        for (unsigned b = 0; b < 256; b++)
            if (pos == 3 ||
                secret_shape_accepts(shape, nocase, pos + 1, (unsigned char)b))
                f->pairs[pair_at((char[]){(char)a, (char)b})] |= bit;
    }
}

void secret_filter_add(struct secret_filter *f, const char *shape, bool nocase)
{
    uint64_t bit = (uint64_t)1 << bucket_of(shape, nocase);

    add_pairs(f, shape, nocase, 0, bit << PAIR_12);
    add_pairs(f, shape, nocase, 1, bit << PAIR_23);
    add_pairs(f, shape, nocase, 2, bit << PAIR_34);
    add_pairs(f, shape, nocase, 3, bit << PAIR_45);
}

/* Buckets that two pairs in a row have in common, for even and for odd places. */
static uint32_t common(uint64_t pair, uint64_t next)
{
    return (uint32_t)(pair & next >> PAIR_34);
}

bool secret_filter_may_begin(const struct secret_filter *f, const char *text, size_t len,
                             size_t at)
{
    return at + 5 <= len &&
           (common(f->pairs[pair_at(text + at)], f->pairs[pair_at(text + at + 2)]) &
            0xffff);
}

size_t secret_filter_next(const struct secret_filter *f, const char *text, size_t len,
                          size_t from)
{
    const uint64_t *pairs = f->pairs;
    size_t p = from;

    if (len < 4 || from > len - 4)
        return len;
    uint64_t now = pairs[pair_at(text + p)];
    /* Four steps, one branch. */
    for (; p + 10 <= len; p += 8) {
        uint64_t a = pairs[pair_at(text + p + 2)], b = pairs[pair_at(text + p + 4)];
        uint64_t c = pairs[pair_at(text + p + 6)], d = pairs[pair_at(text + p + 8)];
        if (common(now, a) | common(a, b) | common(b, c) | common(c, d))
            break;
        now = d;
    }
    for (; p + 4 <= len; p += 2) {
        uint64_t next = pairs[pair_at(text + p + 2)];
        if (common(now, next))
            return p;
        now = next;
    }
    return len;
}
