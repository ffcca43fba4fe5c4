/* scan_assay.c - see scan_assay.h. */
#include "bundler/scan_assay.h"

#include "tape/secret_shape.h"

#include <string.h>
#include <strings.h>

static const char name_word[] = "authorization", bearer_word[] = "bearer";

const char *const scan_assay_names[ASSAY_RULES] = {
    [ASSAY_AUTHORIZATION] = "assay-authorization",
    [ASSAY_BEARER] = "assay-bearer",
    [ASSAY_SK_KEY] = "assay-sk-key",
};

enum { NAME = sizeof name_word - 1, BEARER = sizeof bearer_word - 1 };
enum { SK_HEAD = 3, SK_LEAST = 20 };

void scan_assay_filter(struct secret_filter *f)
{
    secret_filter_add(f, name_word, true);
    secret_filter_add(f, bearer_word, true);
    secret_filter_add(f, "sk-%u", false);
    secret_filter_add(f, "sk_%u", false);
}

void scan_assay_start(struct scan_assay *a)
{
    *a = (struct scan_assay){.starts_line = true};
}

/* ---- characters ---- */

enum { CHAR_BAD = -1, CHAR_CUT = -2 }; /* not UTF-8; goes on beyond the window */

/* One UTF-8 character (RFC 3629) at text[at], and how many bytes it has. */
static int32_t character(const struct scan_assay_window *w, size_t at, size_t *n)
{
    static const struct {
        unsigned char mask, lead, more;
        int32_t least;
    } kinds[] = {{0xe0, 0xc0, 1, 0x80}, {0xf0, 0xe0, 2, 0x800}, {0xf8, 0xf0, 3, 0x10000}};
    const unsigned char *p = (const unsigned char *)w->text + at;
    size_t kind = 0;

    *n = 1;
    if (p[0] < 0x80)
        return p[0];
    while (kind < 3 && (p[0] & kinds[kind].mask) != kinds[kind].lead)
        kind++;
    if (kind == 3)
        return CHAR_BAD;
    int32_t c = p[0] & (unsigned char)~kinds[kind].mask;
    for (size_t i = 1; i <= kinds[kind].more; i++) {
        if (at + i >= w->len)
            return w->last ? CHAR_BAD : CHAR_CUT;
        if ((p[i] & 0xc0) != 0x80)
            return CHAR_BAD;
        c = c << 6 | (p[i] & 0x3f);
    }
    *n = kinds[kind].more + 1u;
    return c < kinds[kind].least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)
               ? CHAR_BAD
               : c;
}

/* Unicode's White_Space. */
static bool is_blank(int32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

/* Bytes of the blank that ends at text[at], or 0. */
static size_t blank_before(const struct scan_assay_window *w, size_t at)
{
    size_t n;

    for (size_t back = 1; back <= 3 && back <= at; back++)
        if (is_blank(character(w, at - back, &n)) && n == back)
            return back;
    return 0;
}

/* Do only blanks stand between the last line end and text[at]? */
static bool starts_line(const struct scan_assay *a, const struct scan_assay_window *w,
                        size_t at)
{
    size_t n;

    while (at > 0 && w->text[at - 1] != '\n') {
        if ((n = blank_before(w, at)) == 0)
            return false;
        at -= n;
    }
    return at > 0 || a->starts_line;
}

/* ---- what follows the word ---- */

enum step { STEP_ON, STEP_MATCH, STEP_NONE };

static enum step step(struct scan_assay_open *o, int32_t c)
{
    switch (o->wait) {
    case ASSAY_BEFORE_COLON:
        if (c == ':')
            o->wait = ASSAY_BEFORE_VALUE;
        return c == ':' || is_blank(c) ? STEP_ON : STEP_NONE;
    case ASSAY_BEFORE_VALUE:
        /* Blanks alone are a value too, if a line has some. */
        if (c == '\n')
            return o->blank ? STEP_MATCH : STEP_ON;
        o->blank = is_blank(c);
        if (!o->blank)
            o->wait = ASSAY_IN_VALUE;
        return c < 0 ? STEP_NONE : STEP_ON;
    case ASSAY_IN_VALUE:
        return c < 0 ? STEP_NONE : c == '\n' ? STEP_MATCH : STEP_ON;
    case ASSAY_BEFORE_TOKEN:
        return c < 0 ? STEP_NONE : is_blank(c) ? STEP_ON : STEP_MATCH;
    case ASSAY_NOTHING:
        return STEP_MATCH;
    }
    return STEP_NONE;
}

/* The text ends here. */
static enum step step_at_end(const struct scan_assay_open *o)
{
    return o->wait == ASSAY_IN_VALUE || (o->wait == ASSAY_BEFORE_VALUE && o->blank)
               ? STEP_MATCH
               : STEP_NONE;
}

/* Go on from o->next; STEP_ON when the window ends first. */
static enum step go_on(struct scan_assay_open *o, const struct scan_assay_window *w)
{
    enum step s = o->wait == ASSAY_NOTHING ? STEP_MATCH : STEP_ON;
    size_t n;

    while (s == STEP_ON && o->next < w->len) {
        int32_t c = character(w, o->next, &n);
        if (c == CHAR_CUT)
            return STEP_ON;
        s = step(o, c);
        o->next += n;
    }
    return s == STEP_ON && w->last ? step_at_end(o) : s;
}

/* ---- candidates ---- */

/* Which pattern begins at text[at]; ASSAY_RULES for none. */
static enum scan_assay_rule begins(const struct scan_assay *a,
                                   const struct scan_assay_window *w, size_t at,
                                   struct scan_assay_open *o)
{
    const char *p = w->text + at;
    size_t left = w->len - at, n;

    if (left > NAME && strncasecmp(p, name_word, NAME) == 0 && starts_line(a, w, at)) {
        *o = (struct scan_assay_open){ASSAY_BEFORE_COLON, false, at + NAME};
        return ASSAY_AUTHORIZATION;
    }
    if (left > BEARER && strncasecmp(p, bearer_word, BEARER) == 0 &&
        is_blank(character(w, at + BEARER, &n))) {
        *o = (struct scan_assay_open){ASSAY_BEFORE_TOKEN, false, at + BEARER};
        return ASSAY_BEARER;
    }
    if (left < SK_HEAD + SK_LEAST || p[0] != 's' || p[1] != 'k' ||
        (p[2] != '-' && p[2] != '_'))
        return ASSAY_RULES;
    for (n = SK_HEAD; n < left && secret_shape_in_class('u', (unsigned char)p[n]);)
        n++;
    *o = (struct scan_assay_open){ASSAY_NOTHING, false, at + n};
    return n >= SK_HEAD + SK_LEAST ? ASSAY_SK_KEY : ASSAY_RULES;
}

/* Judge text[at]; returns where to look on. */
static size_t judge(struct scan_assay *a, const struct scan_assay_window *w, size_t at,
                    const struct scan_assay_sink *sink)
{
    struct scan_assay_open o;
    enum scan_assay_rule rule = begins(a, w, at, &o);
    size_t word_end = rule == ASSAY_RULES ? at + 1 : o.next;
    enum step s = rule == ASSAY_RULES ? STEP_NONE : go_on(&o, w);

    if (s == STEP_NONE)
        return word_end;
    if (s == STEP_MATCH) {
        sink->match(sink->arg, rule, at, o.next);
        return o.next;
    }
    if (a->open[rule].wait == ASSAY_NOTHING) {
        /* Were one open already, this would be inside it and share its end. */
        a->open[rule] = o;
        sink->hold(sink->arg, rule, at, o.next);
    }
    return word_end; /* it may come to nothing, and another begin inside */
}

void scan_assay_look(struct scan_assay *a, const struct secret_filter *f,
                     const struct scan_assay_window *w,
                     const struct scan_assay_sink *sink)
{
    size_t from = w->from;

    for (unsigned rule = 0; rule < ASSAY_RULES; rule++) {
        struct scan_assay_open *o = &a->open[rule];
        enum step s = o->wait == ASSAY_NOTHING ? STEP_NONE : go_on(o, w);
        if (s == STEP_MATCH)
            sink->confirm(sink->arg, rule);
        if (s != STEP_ON)
            o->wait = ASSAY_NOTHING;
    }
    for (size_t p = from;
         (p = secret_filter_next(f, w->text, w->len, p)) < w->len && p <= w->until;) {
        size_t next = p + 2;
        for (size_t at = p > from ? p - 1 : p; at <= p && at < w->until; at++) {
            if (secret_filter_may_begin(f, w->text, w->len, at))
                from = judge(a, w, at, sink);
            if (from > next)
                break;
        }
        p = from > next ? from : next;
    }
}

void scan_assay_shift(struct scan_assay *a, const struct scan_assay_window *w, size_t n)
{
    a->starts_line = starts_line(a, w, n);
    for (unsigned rule = 0; rule < ASSAY_RULES; rule++)
        if (a->open[rule].wait != ASSAY_NOTHING)
            a->open[rule].next -= n;
}
