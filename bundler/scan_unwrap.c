/* scan_unwrap.c - see scan_unwrap.h. */
#include "bundler/scan_unwrap.h"

#include "tape/secret_scan.h"

#include <stdlib.h>
#include <string.h>

enum {
    LAYERS = 2,      /* base64 in a URL, a URL in base64; nobody wraps thrice */
    RUN_LEAST = 20,  /* letters in a row: fifteen bytes, the shortest credentials */
    ASCII_LEAST = 4, /* groups of three bytes in a row */
    AROUND = 8,      /* groups decoded before and after, for the edges of a find */
    BACKSLASHES = 8, /* JSON in JSON in JSON */
    INDENT_MOST = 64 /* blanks at the start of a folded line */
};

/* The text of one layer, and what is needed to unwrap it further. */
struct layer {
    char *text;
    uint32_t *where;  /* offset of every byte in the outermost text */
    uint8_t *letters; /* of a run of base64: their values */
    uint32_t *at;     /* and their offsets in the text they come from */
};

struct scan_unwrap {
    const struct secrets *rules;
    struct layer layers[LAYERS];
    scan_unwrap_fn *fn;
    void *arg;
};

/* A text to unwrap: the outermost, or a layer's. */
struct source {
    const char *text;
    size_t len;
    const uint32_t *where; /* NULL: it is the outermost */
    size_t depth;
    enum scan_form form; /* of depth 1, kept further in */
};

int scan_unwrap_new(struct scan_unwrap **out, const struct secrets *rules, size_t most,
                    struct err *e)
{
    struct scan_unwrap *u = calloc(1, sizeof *u);
    bool whole = u != NULL;

    for (size_t i = 0; u && i < LAYERS; i++) {
        struct layer *l = &u->layers[i];
        l->text = malloc(most);
        l->where = malloc(most * sizeof *l->where);
        l->letters = malloc(most);
        l->at = malloc(most * sizeof *l->at);
        whole = whole && l->text && l->where && l->letters && l->at;
    }
    if (!whole) {
        scan_unwrap_free(&u);
        return err_set(e, ERR_NOMEM, "secret scan: out of memory");
    }
    u->rules = rules;
    *out = u;
    return 0;
}

void scan_unwrap_free(struct scan_unwrap **u)
{
    if (!*u)
        return;
    for (size_t i = 0; i < LAYERS; i++) {
        free((*u)->layers[i].text);
        free((*u)->layers[i].where);
        free((*u)->layers[i].letters);
        free((*u)->layers[i].at);
    }
    free(*u);
    *u = NULL;
}

static uint32_t outermost(const struct source *s, size_t at)
{
    return s->where ? s->where[at] : (uint32_t)at;
}

static void unwrap(struct scan_unwrap *u, const struct source *s);

/* Look at the first `len` bytes of a layer, then unwrap them. */
static void look(struct scan_unwrap *u, const struct source *from, enum scan_form form,
                 size_t len)
{
    const struct layer *l = &u->layers[from->depth];
    struct source s = {l->text, len, l->where, from->depth + 1,
                       from->depth == 0 ? form : from->form};
    struct secret_scan scan;
    struct secret_find find;

    if (len == 0)
        return;
    secret_scan_start(&scan, u->rules, l->text, len, 0);
    while (secret_scan_next(&scan, &find))
        u->fn(u->arg, secrets_name(u->rules, find.rule), s.form, l->where[find.at],
              (size_t)l->where[find.at + find.len - 1] + 1);
    if (s.depth < LAYERS)
        unwrap(u, &s);
}

/* ---- base64 ---- */

#define ESCAPE 65 /* in the table: a backslash, maybe of an escaped letter */
#define ROW4(c, v)                                                                       \
    [c] = (v) + 1, [(c) + 1] = (v) + 2, [(c) + 2] = (v) + 3, [(c) + 3] = (v) + 4
#define ROW2(c, v) [c] = (v) + 1, [(c) + 1] = (v) + 2

/* Value of a letter plus one, in either alphabet (RFC 4648 sections 4 and 5). */
static const uint8_t values[256] = {
    ROW4('A', 0),  ROW4('E', 4),    ROW4('I', 8),  ROW4('M', 12), ROW4('Q', 16),
    ROW4('U', 20), ROW2('Y', 24),   ROW4('a', 26), ROW4('e', 30), ROW4('i', 34),
    ROW4('m', 38), ROW4('q', 42),   ROW4('u', 46), ROW2('y', 50), ROW4('0', 52),
    ROW4('4', 56), ROW2('8', 60),   ['+'] = 63,    ['-'] = 63,    ['/'] = 64,
    ['_'] = 64,    ['\\'] = ESCAPE,
};

static uint8_t value(const struct source *s, size_t at)
{
    return at < s->len ? values[(unsigned char)s->text[at]] : 0;
}

static bool is_letter(const struct source *s, size_t at)
{
    return value(s, at) - 1u < ESCAPE - 1u;
}

/* The next place, from `from` on, with RUN_LEAST letters or backslashes in a row; the
 * end of the text when there is none. Looks at the last of them first, so that most
 * bytes of ordinary text are never looked at. */
static size_t next_run(const struct source *s, size_t from)
{
    while (from + RUN_LEAST <= s->len) {
        size_t at = from + RUN_LEAST;
        while (at > from && values[(unsigned char)s->text[at - 1]])
            at--;
        if (at == from)
            return from;
        from = at;
    }
    return s->len;
}

/* Backslashes at text[at], how many. */
static size_t backslashes(const struct source *s, size_t at)
{
    size_t n = 0;

    while (n <= BACKSLASHES && value(s, at + n) == ESCAPE)
        n++;
    return n;
}

/* Bytes of an escaped '/' or '+' at text[at], or 0: some writers of JSON escape them. */
static size_t escaped_letter(const struct source *s, size_t at, uint8_t *out)
{
    size_t n = backslashes(s, at);
    const char *p = s->text + at + n;

    if (n == 0 || n > BACKSLASHES)
        return 0;
    *out = 64;
    if (s->len - at - n >= 1 && p[0] == '/')
        return n + 1;
    if (s->len - at - n < 5 || memcmp(p, "u002", 4) != 0)
        return 0;
    if ((p[4] | 0x20) == 'b')
        *out = 63;
    return (p[4] | 0x20) == 'b' || (p[4] | 0x20) == 'f' ? n + 5 : 0;
}

/* Bytes of a line break at text[at] (as it is or escaped) and the indentation behind it,
 * if a letter follows; else 0. */
static size_t fold(const struct source *s, size_t at)
{
    size_t i = at, indent;

    for (unsigned ends = 0; ends < 2; ends++) {
        size_t n = backslashes(s, i);
        char c = i + n < s->len ? s->text[i + n] : '\0';
        if (n == 0 ? c != '\r' && c != '\n' : c != 'r' && c != 'n')
            break;
        i += n + 1;
    }
    if (i == at)
        return 0;
    for (indent = i; i < s->len && (s->text[i] == ' ' || s->text[i] == '\t');)
        i++;
    return i - indent <= INDENT_MOST && is_letter(s, i) ? i - at : 0;
}

/* Take the letters from text[at] on into the layer, which holds `n`; the new count. */
static size_t take_letters(const struct source *s, struct layer *l, size_t at, size_t n)
{
    for (uint8_t v; (v = value(s, at)) - 1u < ESCAPE - 1u; at++) {
        l->letters[n] = (uint8_t)(v - 1);
        l->at[n++] = (uint32_t)at;
    }
    return n;
}

/* Read the run at text[*at] and step over it; how many letters it has. A line must be
 * long to be taken for a folded one. */
static size_t read_run(const struct source *s, struct layer *l, size_t *at)
{
    size_t i = *at, n = 0, line = 0; /* letters before this line */

    for (size_t step = 1; step > 0; i += step) {
        size_t more = take_letters(s, l, i, n);
        uint8_t v = 0;
        i += more - n;
        n = more;
        step = escaped_letter(s, i, &v);
        if (step > 0) {
            l->letters[n] = (uint8_t)(v - 1);
            l->at[n++] = (uint32_t)i;
        } else if (n - line >= RUN_LEAST) {
            step = fold(s, i);
            line = n;
        }
    }
    *at = i > *at ? i : i + 1;
    return n;
}

/* Are the three bytes of these four letters ASCII? */
static bool is_ascii(const uint8_t *four)
{
    return ((four[0] & 0x20) | (four[1] & 0x08) | (four[2] & 0x02)) == 0;
}

/* The next stretch of ASCII in groups [from, n); its end in *end, n when none. */
static size_t next_ascii(const uint8_t *letters, size_t n, size_t from, size_t *end)
{
    while (from + ASCII_LEAST <= n) {
        size_t g = from + ASCII_LEAST;
        while (g > from && is_ascii(letters + 4 * (g - 1)))
            g--;
        if (g == from) {
            for (g += ASCII_LEAST; g < n && is_ascii(letters + 4 * g);)
                g++;
            *end = g;
            return from;
        }
        from = g;
    }
    return n;
}

/* Decode letters [from, to) into the layer; how many bytes they are. */
static size_t decode(const struct source *s, struct layer *l, size_t from, size_t to)
{
    const uint8_t *v = l->letters;
    size_t n = 0;

    for (size_t i = from; i + 1 < to; i++) {
        size_t place = (i - from) % 4;
        if (place == 3)
            continue;
        /* Byte 0 is 6+2 bits of letters 0 and 1, byte 1 is 4+4, byte 2 is 2+6. */
        l->text[n] = (char)(v[i] << (2 + 2 * place) | v[i + 1] >> (4 - 2 * place));
        l->where[n++] = outermost(s, l->at[i]);
    }
    return n;
}

/* The letters of a run, grouped from letter `first` on. Stretches that stand close are
 * decoded as one. */
static void look_grouped(struct scan_unwrap *u, const struct source *s, size_t first,
                         size_t n_letters)
{
    struct layer *l = &u->layers[s->depth];
    const uint8_t *letters = l->letters + first;
    size_t n = (n_letters - first) / 4, end = 0, next_end = 0, next;

    for (size_t g = next_ascii(letters, n, 0, &end); g < n; g = next, end = next_end) {
        while ((next = next_ascii(letters, n, end, &next_end)) < n &&
               next - end <= 2 * AROUND)
            end = next_end;
        size_t from = first + 4 * (g > AROUND ? g - AROUND : 0);
        size_t to = first + 4 * (end + AROUND);
        look(u, s, SCAN_BASE64, decode(s, l, from, to < n_letters ? to : n_letters));
    }
}

static void look_for_base64(struct scan_unwrap *u, const struct source *s)
{
    for (size_t at = 0; (at = next_run(s, at)) < s->len;) {
        size_t n = read_run(s, &u->layers[s->depth], &at);
        for (size_t first = 0; first < 4 && first + RUN_LEAST <= n + 4; first++)
            look_grouped(u, s, first, n);
    }
}

/* ---- percent-encoding ---- */

static int hex(const struct source *s, size_t at)
{
    char c = at < s->len ? s->text[at] : '\0';

    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_encoded(const struct source *s, size_t at)
{
    return s->text[at] == '%' && hex(s, at + 1) >= 0 && hex(s, at + 2) >= 0;
}

static bool ends_word(char c)
{
    return (unsigned char)c <= ' ' || c == '"' || c == '\'' || c == '`' || c == '<' ||
           c == '>' || c == '\\' || c == 0x7f;
}

/* Decode text[from, to); forms write a blank as '+'. */
static size_t decode_percent(const struct source *s, struct layer *l, size_t from,
                             size_t to, bool form, bool *plus)
{
    size_t n = 0;

    for (size_t i = from; i < to; n++) {
        bool encoded = is_encoded(s, i);
        char c = encoded ? (char)(hex(s, i + 1) << 4 | hex(s, i + 2)) : s->text[i];
        *plus |= !encoded && c == '+';
        l->text[n] = !encoded && form && c == '+' ? ' ' : c;
        l->where[n] = outermost(s, i);
        i += encoded ? 3 : 1;
    }
    return n;
}

static void look_for_percent(struct scan_unwrap *u, const struct source *s)
{
    struct layer *l = &u->layers[s->depth];
    const char *found;
    size_t from, to, least = 0; /* words before have been looked at */

    for (size_t at = 0; (found = memchr(s->text + at, '%', s->len - at)); at = to) {
        bool plus = false;
        from = (size_t)(found - s->text);
        to = from + 1;
        if (!is_encoded(s, from))
            continue;
        while (from > least && !ends_word(s->text[from - 1]))
            from--;
        while (to < s->len && !ends_word(s->text[to]))
            to++;
        least = to;
        look(u, s, SCAN_PERCENT, decode_percent(s, l, from, to, false, &plus));
        if (plus)
            look(u, s, SCAN_PERCENT, decode_percent(s, l, from, to, true, &plus));
    }
}

static void unwrap(struct scan_unwrap *u, const struct source *s)
{
    look_for_base64(u, s);
    look_for_percent(u, s);
}

void scan_unwrap_look(struct scan_unwrap *u, const char *text, size_t len,
                      scan_unwrap_fn *fn, void *arg)
{
    struct source s = {.text = text, .len = len, .form = SCAN_PLAIN};

    u->fn = fn;
    u->arg = arg;
    if (len > 0)
        unwrap(u, &s);
}
