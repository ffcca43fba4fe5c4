/* excerpt.c - see excerpt.h. */
#include "tape/excerpt.h"

#include "base/json.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6"
#define REPLACEMENT "\xef\xbf\xbd"
#define BEFORE 40 /* bytes shown in front of the place that matters */

/* The length of the UTF-8 character at s, or 0 when there is none. */
static size_t character(const char *s, size_t len)
{
    unsigned char c = (unsigned char)s[0];
    size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

    return n <= len && (n == 1 || json_is_utf8(s, n)) ? n : 0;
}

/* One character as it stands inside a JSON string; returns the bytes eaten. */
static size_t escape(const char *s, size_t len, char out[8])
{
    size_t n = character(s, len);
    unsigned char c = (unsigned char)s[0];

    if (n == 0) {
        (void)strcpy(out, REPLACEMENT);
        return 1;
    }
    if (c == '"' || c == '\\') {
        (void)snprintf(out, 8, "\\%c", c);
    } else if (c == '\n' || c == '\t' || c == '\r') {
        (void)snprintf(out, 8, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    } else if (c < 0x20 || c == 0x7f) {
        (void)snprintf(out, 8, "\\u%04x", (unsigned)c);
    } else {
        memcpy(out, s, n);
        out[n] = '\0';
    }
    return n;
}

/* Fill from byte `at` on, with an ellipsis where the room ends. */
static void fill(struct buf *out, const char *s, size_t len, size_t at, size_t room)
{
    char piece[8];

    while (at < len) {
        size_t eaten = escape(s + at, len - at, piece);
        size_t n = strlen(piece);
        size_t reserve = at + eaten < len ? strlen(ELLIPSIS) : 0;
        if (n + reserve > room) {
            buf_str(out, ELLIPSIS);
            return;
        }
        buf_add(out, piece, n);
        room -= n;
        at += eaten;
    }
}

static bool fits(const char *s, size_t len, size_t room)
{
    char piece[8];
    size_t used = 0;

    for (size_t at = 0; at < len && used <= room;) {
        at += escape(s + at, len - at, piece);
        used += strlen(piece);
    }
    return used <= room;
}

/* Step back to the first byte of the character that covers `at`. */
static size_t character_start(const char *s, size_t at)
{
    size_t back = 0;

    while (back < 3 && at - back > 0 && ((unsigned char)s[at - back] & 0xc0) == 0x80)
        back++;
    return at - back;
}

void excerpt_json(struct buf *out, const char *s, size_t len, size_t at)
{
    size_t room = EXCERPT_MAX - 2;
    size_t start = 0;

    buf_char(out, '"');
    if (fits(s, len, room)) {
        room = SIZE_MAX;
    } else if (at > BEFORE) {
        start = at - BEFORE < len ? character_start(s, at - BEFORE) : len;
        buf_str(out, ELLIPSIS);
        room -= strlen(ELLIPSIS);
    }
    fill(out, s, len, start, room);
    buf_char(out, '"');
}

void excerpt_head(struct buf *out, const char *s, size_t len, size_t most)
{
    size_t at = 0, used = 0;

    while (at < len) {
        size_t n = character(s + at, len - at);
        size_t bytes = n ? n : strlen(REPLACEMENT);
        if (used + bytes > most) {
            buf_str(out, ELLIPSIS);
            return;
        }
        buf_add(out, n ? s + at : REPLACEMENT, bytes);
        used += bytes;
        at += n ? n : 1;
    }
}

/* C0, DEL and C1 (as UTF-8: C2 80 .. C2 9F) steer terminals. */
static bool steers(const char *s, size_t n)
{
    unsigned char c = (unsigned char)s[0];

    if (n == 2)
        return c == 0xc2 && (unsigned char)s[1] < 0xa0;
    return n == 1 && (c < 0x20 || c == 0x7f) && c != '\n' && c != '\t';
}

void excerpt_plain(struct buf *out, const char *s, size_t len)
{
    size_t at = 0, clean = 0;

    while (at < len) {
        size_t n = character(s + at, len - at);
        if (n && !steers(s + at, n)) {
            at += n;
            continue;
        }
        buf_add(out, s + clean, at - clean);
        for (size_t i = 0; i < (n ? n : 1); i++)
            buf_fmt(out, "\\x%02x", (unsigned)(unsigned char)s[at + i]);
        at += n ? n : 1;
        clean = at;
    }
    buf_add(out, s + clean, at - clean);
}

size_t excerpt_common(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t n = a_len < b_len ? a_len : b_len;
    size_t i = 0;

    /* Whole blocks by memcmp: bodies of megabytes are compared here. */
    while (n - i >= 4096 && memcmp(a + i, b + i, 4096) == 0)
        i += 4096;
    while (i < n && a[i] == b[i])
        i++;
    return i;
}
