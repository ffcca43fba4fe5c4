/* secret_shape.c - see secret_shape.h. */
#include "tape/secret_shape.h"

#include "base/must.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum item_kind { ITEM_END, ITEM_BYTE, ITEM_CLASS, ITEM_SET, ITEM_MARK };

struct item {
    enum item_kind kind;
    char letter;     /* the byte, or the class */
    const char *set; /* the set's bytes */
    size_t set_len;
    size_t least, most;
};

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool is_upper(unsigned char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(unsigned char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_alnum(unsigned char c)
{
    return is_digit(c) || is_upper(c) || is_lower(c);
}

static unsigned char lower(unsigned char c)
{
    return is_upper(c) ? (unsigned char)(c + 32) : c;
}

static bool among(const char *set, unsigned char c)
{
    return c && strchr(set, c);
}

bool secret_shape_in_class(char class, unsigned char c)
{
    switch (class) {
    case 'd':
        return is_digit(c);
    case 'x':
        return is_digit(c) || (c >= 'a' && c <= 'f');
    case 'X':
        return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
    case 'a':
        return is_alnum(c);
    case 'l':
        return is_digit(c) || is_lower(c);
    case 'U':
        return is_digit(c) || is_upper(c);
    case 'B':
        return is_upper(c) || (c >= '2' && c <= '7');
    case 'u':
        return is_alnum(c) || c == '-' || c == '_';
    case 'v':
        return is_alnum(c) || c == '-' || c == '_' || c == '.';
    case 'b':
        return is_alnum(c) || c == '+' || c == '/' || c == '=';
    case 's':
        return is_alnum(c) || c == '+' || c == '/';
    case 't':
        return is_alnum(c) || among("-._~+/=", c);
    case 'q':
        return is_alnum(c) || c == '/';
    case 'p':
        return is_alnum(c) || among("%+/=-_.~", c);
    case 'g':
        return among(" \t\"'\\:=>", c);
    }
    must(!"class of the shape language");
    return false;
}

static const char *read_number(const char *p, size_t *out)
{
    *out = 0;
    while (is_digit((unsigned char)*p))
        *out = *out * 10 + (size_t)(*p++ - '0');
    return p;
}

static const char *read_count(const char *p, struct item *it)
{
    if (*p != '{')
        return p;
    p = read_number(p + 1, &it->least);
    it->most = it->least;
    if (*p == ',') {
        it->most = SIZE_MAX;
        if (p[1] != '}')
            p = read_number(p + 1, &it->most);
        else
            p++;
    }
    must(*p == '}');
    return p + 1;
}

/* Take one item off the shape; returns where the next one begins. */
static const char *read_item(const char *p, struct item *it)
{
    *it = (struct item){.least = 1, .most = 1};
    switch (*p) {
    case '\0':
        return p;
    case '^':
        it->kind = ITEM_MARK;
        return p + 1;
    case '%':
        it->kind = ITEM_CLASS;
        it->letter = p[1];
        return read_count(p + 2, it);
    case '[':
        it->kind = ITEM_SET;
        it->set = p + 1;
        it->set_len = strcspn(p + 1, "]");
        return read_count(p + it->set_len + 2, it);
    }
    it->kind = ITEM_BYTE;
    it->letter = *p;
    return p + 1;
}

static bool item_accepts(const struct item *it, bool nocase, unsigned char c)
{
    if (it->kind == ITEM_CLASS)
        return secret_shape_in_class(it->letter, c);
    if (it->kind == ITEM_BYTE)
        return nocase ? lower(c) == lower((unsigned char)it->letter)
                      : c == (unsigned char)it->letter;
    for (size_t i = 0; i < it->set_len; i++) {
        unsigned char want = (unsigned char)it->set[i];
        if (c == want || (nocase && lower(c) == lower(want)))
            return true;
    }
    return false;
}

/* Eat as much as the item takes; false when that is too little or text goes on. */
static bool eat_item(const struct item *it, bool nocase, const char *text, size_t len,
                     size_t *at)
{
    size_t n = 0, i = *at;

    while (i < len) {
        bool escaped = text[i] == '\\' && i + 1 < len && text[i + 1] == '/' &&
                       !item_accepts(it, nocase, '\\');
        size_t step = escaped ? 2 : 1;
        if (!item_accepts(it, nocase, (unsigned char)text[i + step - 1]))
            break;
        if (n == it->most && n == 1)
            break;
        if (n == it->most)
            return false; /* longer than any credential of this kind */
        n++;
        i += step;
    }
    *at = i;
    return n >= it->least;
}

bool secret_shape_edge_after(const char *text, size_t len, size_t end)
{
    return end >= len || !(is_alnum((unsigned char)text[end]) || text[end] == '_');
}

bool secret_shape_match(const char *shape, bool nocase, const char *text, size_t len,
                        size_t at, struct secret_span *out)
{
    struct item it;

    out->at = at;
    for (shape = read_item(shape, &it); it.kind != ITEM_END;
         shape = read_item(shape, &it)) {
        if (it.kind == ITEM_MARK)
            out->at = at;
        else if (!eat_item(&it, nocase, text, len, &at))
            return false;
    }
    out->end = at;
    return true;
}

bool secret_shape_accepts(const char *shape, bool nocase, unsigned pos, unsigned char c)
{
    struct item it = {.least = 1, .most = 1};
    size_t next = 0;

    while (it.least == it.most) { /* what follows has no fixed place */
        shape = read_item(shape, &it);
        if (it.kind == ITEM_END)
            break;
        if (it.kind == ITEM_MARK)
            continue;
        next += it.least;
        if (pos < next)
            return item_accepts(&it, nocase, c);
    }
    must(pos >= 4); /* every shape of ours has four fixed positions */
    return true;
}

static bool is_hex(unsigned char c)
{
    return secret_shape_in_class('X', c);
}

bool secret_shape_edge_before(const char *text, size_t at)
{
    const char *p = text + at;

    if (at == 0 || !secret_shape_in_class('u', (unsigned char)p[-1]))
        return true;
    if (at >= 2 && p[-2] == '\\' && among("nrtbf", (unsigned char)p[-1]))
        return true;
    if (at >= 3 && p[-3] == '%' && is_hex((unsigned char)p[-2]) &&
        is_hex((unsigned char)p[-1]))
        return true;
    if (at < 6 || p[-6] != '\\' || p[-5] != 'u')
        return false;
    for (int i = -4; i < 0; i++)
        if (!is_hex((unsigned char)p[i]))
            return false;
    return true;
}

void secret_shape_texture(const char *text, size_t len, struct secret_texture *out)
{
    size_t seen[256] = {0}, run = 0;

    *out = (struct secret_texture){0};
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        seen[c]++;
        out->digits += is_digit(c);
        if (is_upper(c) && i > 0 && is_lower((unsigned char)text[i - 1]))
            out->mixed = true;
        run = c == '-' || c == '_' || c == '.' ? 0 : run + 1;
        if (run > out->run)
            out->run = run;
    }
    for (size_t i = 0; i < COUNT_OF(seen); i++)
        if (seen[i]) {
            double share = (double)seen[i] / (double)len;
            out->bits -= share * log2(share);
        }
}
