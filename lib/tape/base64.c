/* base64.c - see base64.h. */
#include "tape/base64.h"

#include <stdint.h>
#include <string.h>

static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#define BAD 0xff
#define ROW(c, n) [c] = (n) + 1

/* Value of a letter plus one; zero is not a letter. */
static const uint8_t values[256] = {
    ROW('A', 0),  ROW('B', 1),  ROW('C', 2),  ROW('D', 3),  ROW('E', 4),  ROW('F', 5),
    ROW('G', 6),  ROW('H', 7),  ROW('I', 8),  ROW('J', 9),  ROW('K', 10), ROW('L', 11),
    ROW('M', 12), ROW('N', 13), ROW('O', 14), ROW('P', 15), ROW('Q', 16), ROW('R', 17),
    ROW('S', 18), ROW('T', 19), ROW('U', 20), ROW('V', 21), ROW('W', 22), ROW('X', 23),
    ROW('Y', 24), ROW('Z', 25), ROW('a', 26), ROW('b', 27), ROW('c', 28), ROW('d', 29),
    ROW('e', 30), ROW('f', 31), ROW('g', 32), ROW('h', 33), ROW('i', 34), ROW('j', 35),
    ROW('k', 36), ROW('l', 37), ROW('m', 38), ROW('n', 39), ROW('o', 40), ROW('p', 41),
    ROW('q', 42), ROW('r', 43), ROW('s', 44), ROW('t', 45), ROW('u', 46), ROW('v', 47),
    ROW('w', 48), ROW('x', 49), ROW('y', 50), ROW('z', 51), ROW('0', 52), ROW('1', 53),
    ROW('2', 54), ROW('3', 55), ROW('4', 56), ROW('5', 57), ROW('6', 58), ROW('7', 59),
    ROW('8', 60), ROW('9', 61), ROW('+', 62), ROW('/', 63),
};

static uint8_t value(char c)
{
    return (uint8_t)(values[(unsigned char)c] - 1); /* BAD for what is no letter */
}

void base64_encode(struct buf *out, const void *data, size_t len)
{
    const uint8_t *p = data;
    char *at = buf_room(out, (len + 2) / 3 * 4);

    if (!at)
        return;
    for (; len >= 3; p += 3, len -= 3) {
        *at++ = letters[p[0] >> 2];
        *at++ = letters[(p[0] & 3) << 4 | p[1] >> 4];
        *at++ = letters[(p[1] & 15) << 2 | p[2] >> 6];
        *at++ = letters[p[2] & 63];
    }
    if (len > 0) {
        uint8_t second = len == 2 ? p[1] : 0;
        *at++ = letters[p[0] >> 2];
        *at++ = letters[(p[0] & 3) << 4 | second >> 4];
        *at++ = len == 2 ? letters[(second & 15) << 2] : '=';
        *at++ = '=';
    }
    *at = '\0';
    out->len = (size_t)(at - out->data);
}

/* The last four letters: how many bytes they are (1 to 3), or 0 when they are wrong. */
static size_t last_group(const char *q)
{
    uint8_t a = value(q[0]), b = value(q[1]), c = value(q[2]), d = value(q[3]);

    if (a == BAD || b == BAD)
        return 0;
    if (q[3] != '=')
        return c != BAD && d != BAD ? 3 : 0;
    if (q[2] != '=')
        return c != BAD && (c & 3) == 0 ? 2 : 0;
    return (b & 15) == 0 ? 1 : 0;
}

bool base64_check(const char *text, size_t len, size_t *size)
{
    unsigned bad = 0;

    *size = 0;
    if (len == 0)
        return true;
    if (len % 4 != 0)
        return false;
    for (size_t i = 0; i + 4 < len; i++)
        bad |= values[(unsigned char)text[i]] == 0;
    size_t last = last_group(text + len - 4);
    *size = len / 4 * 3 - 3 + last;
    return !bad && last > 0;
}

bool base64_decode(const char *text, size_t len, size_t skip, size_t take,
                   struct buf *out)
{
    size_t start = skip / 3, end; /* in groups of four letters */

    if (take == 0)
        return true;
    if (len % 4 != 0 || take > SIZE_MAX - skip - 2)
        return false;
    end = (skip + take + 2) / 3;
    if (end > len / 4)
        return false;
    char *at = buf_room(out, take);
    if (!at)
        return false;
    for (size_t g = start; g < end; g++) {
        const char *q = text + g * 4;
        size_t n = g == len / 4 - 1 ? last_group(q) : 3;
        uint8_t a = value(q[0]), b = value(q[1]), c = value(q[2]), d = value(q[3]);
        if (n == 0 || a == BAD || b == BAD || (n > 1 && c == BAD) || (n > 2 && d == BAD))
            return false;
        const uint8_t three[3] = {(uint8_t)(a << 2 | b >> 4), (uint8_t)(b << 4 | c >> 2),
                                  (uint8_t)(c << 6 | d)};
        for (size_t i = g == start ? skip % 3 : 0; i < 3 && take > 0; i++, take--) {
            if (i >= n)
                return false;
            *at++ = (char)three[i];
        }
    }
    *at = '\0';
    out->len = (size_t)(at - out->data);
    return true;
}
