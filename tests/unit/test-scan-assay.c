/*
 * test-scan-assay.c - Assay's three patterns: cases of the reference, and the same
 * answers as a slow matcher that follows the patterns letter by letter, however the text
 * is cut into windows.
 */
#include "bundler/scan_assay.h"

#include "base/json.h"
#include "tap.h"

#include <stdlib.h>
#include <strings.h>

static struct secret_filter filter;

/* ---- running it ---- */

#define NONE ((size_t)-1)

struct seen {
    bool matched[ASSAY_RULES];
    size_t first; /* where the first match begins, or NONE */
    size_t base;  /* of the window in the text */
    size_t held[ASSAY_RULES];
};

static void add(struct seen *s, enum scan_assay_rule rule, size_t at)
{
    s->matched[rule] = true;
    if (at < s->first)
        s->first = at;
}

static void on_match(void *arg, enum scan_assay_rule rule, size_t at, size_t end)
{
    struct seen *s = arg;

    (void)end;
    add(s, rule, s->base + at);
}

static void on_hold(void *arg, enum scan_assay_rule rule, size_t at, size_t end)
{
    struct seen *s = arg;

    (void)end;
    s->held[rule] = s->base + at;
}

static void on_confirm(void *arg, enum scan_assay_rule rule)
{
    struct seen *s = arg;

    add(s, rule, s->held[rule]);
}

enum { AHEAD = 32, CONTEXT = 8 };

/* In windows of `width` bytes. */
static struct seen run(const char *text, size_t len, size_t width)
{
    struct scan_assay a;
    struct seen s = {.first = NONE};
    const struct scan_assay_sink sink = {on_match, on_hold, on_confirm, &s};
    size_t from = 0;

    scan_assay_start(&a);
    for (;;) {
        bool last = len - s.base <= width;
        size_t n = last ? len - s.base : width;
        struct scan_assay_window w = {text + s.base, n, from, last ? n : n - AHEAD, last};
        scan_assay_look(&a, &filter, &w, &sink);
        if (last)
            return s;
        size_t keep = w.until - CONTEXT;
        while (((unsigned char)w.text[keep] & 0xc0) == 0x80 &&
               keep > w.until - CONTEXT - 3)
            keep--;
        scan_assay_shift(&a, &w, keep);
        from = w.until - keep;
        s.base += keep;
    }
}

/* ---- the slow matcher ---- */

/* Length of the character at p: 0 at the end, or when it is not UTF-8. */
static size_t one(const char *p, const char *end)
{
    for (size_t n = 1; n <= 4 && n <= (size_t)(end - p); n++)
        if (json_is_utf8(p, n))
            return n;
    return 0;
}

/* Unicode's White_Space. */
static const char *const blanks[] = {"\t",           "\n",           "\v",
                                     "\f",           "\r",           " ",
                                     "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80",
                                     "\xe2\x80\x80", "\xe2\x80\x81", "\xe2\x80\x82",
                                     "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85",
                                     "\xe2\x80\x86", "\xe2\x80\x87", "\xe2\x80\x88",
                                     "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
                                     "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f",
                                     "\xe3\x80\x80"};

static size_t blank(const char *p, const char *end)
{
    for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++)
        if (strlen(blanks[i]) <= (size_t)(end - p) &&
            memcmp(p, blanks[i], strlen(blanks[i])) == 0)
            return strlen(blanks[i]);
    return 0;
}

static bool value_matches(const char *p, const char *end)
{
    const char *q = p;
    size_t n;

    while (q < end && *q != '\n') {
        if ((n = one(q, end)) == 0)
            return false;
        q += n;
    }
    return q > p;
}

/* Authorization blanks : blanks value $, tried in every way. */
static bool name_matches(const char *p, const char *end)
{
    size_t n;

    if (end - p < 13 || strncasecmp(p, "authorization", 13) != 0)
        return false;
    for (p += 13; (n = blank(p, end)) > 0; p += n)
        ;
    if (p == end || *p++ != ':')
        return false;
    for (;;) {
        if (value_matches(p, end))
            return true;
        if ((n = blank(p, end)) == 0)
            return false;
        p += n;
    }
}

static bool bearer_matches(const char *p, const char *end)
{
    size_t n, gap = 0;

    if (end - p < 6 || strncasecmp(p, "bearer", 6) != 0)
        return false;
    for (p += 6; (n = blank(p, end)) > 0; p += n)
        gap++;
    return gap > 0 && one(p, end) > 0;
}

static bool sk_matches(const char *p, const char *end)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";
    size_t n = 0;

    if (end - p < 23 || p[0] != 's' || p[1] != 'k' || (p[2] != '-' && p[2] != '_'))
        return false;
    while (n < 20 && p[3 + n] && strchr(letters, p[3 + n]))
        n++;
    return n == 20;
}

/* ^ blanks up to p. */
static bool starts_line(const char *text, const char *p, const char *end)
{
    for (const char *line = p; line >= text; line--)
        if (line == text || line[-1] == '\n') {
            for (size_t n; line < p && (n = blank(line, end)) > 0;)
                line += n;
            return line == p;
        }
    return false;
}

/* Where the first match of any pattern begins. */
static size_t slow(const char *text, size_t len)
{
    const char *end = text + len;

    for (const char *p = text; p < end; p++)
        if ((starts_line(text, p, end) && name_matches(p, end)) ||
            bearer_matches(p, end) || sk_matches(p, end))
            return (size_t)(p - text);
    return NONE;
}

/* ---- checks ---- */

#define TWENTY "abcdefghijklmnopqrst"
#define CASE(text, name, bearer, sk)                                                     \
    {                                                                                    \
        text, sizeof text - 1,                                                           \
        {                                                                                \
            name, bearer, sk                                                             \
        }                                                                                \
    }

/* A match inside another is not told again. */
static const struct {
    const char *text;
    size_t len;
    bool want[ASSAY_RULES];
} cases[] = {
    CASE("", 0, 0, 0),
    CASE("sk-" TWENTY, 0, 0, 1),
    CASE("sk-bcdefghijklmnopqrst", 0, 0, 0),
    CASE("sk_live_abcdefghij12", 0, 0, 0),
    CASE("sk_live_abcdefghij1234567890", 0, 0, 1),
    CASE("SK-" TWENTY, 0, 0, 0),
    CASE("sk- short", 0, 0, 0),
    CASE("risk-assessment-framework-v2", 0, 0, 1),
    CASE("Content-Type: application/json", 0, 0, 0),
    CASE("authorization: bearer x", 1, 0, 0),
    CASE("Authorization: Bearer SECRET\xff\xfe", 0, 1, 0),
    CASE("\0Authorization: Bearer secret", 0, 1, 0),
    CASE("Authorization:\r\n Bearer sk-proj-abcdef0123456789abcd", 1, 1, 0),
    CASE("x Authorization: y", 0, 0, 0),
    CASE("a\n \t\xc2\xa0"
         "Authorization\xe3\x80\x80: y",
         1, 0, 0),
    CASE("Authorization:", 0, 0, 0),
    CASE("Authorization:\n", 0, 0, 0),
    CASE("Authorization: ", 1, 0, 0),
    CASE("Authorization: \n", 1, 0, 0),
    CASE("Authorization:\r\n", 1, 0, 0),
    CASE("Authorization:\n\n\nx", 1, 0, 0),
    CASE("Authorization: x\xff\n", 0, 0, 0),
    CASE("Authorization: \n\xff", 1, 0, 0),
    CASE("Authorization: x\n\xff", 1, 0, 0),
    CASE("Bearer", 0, 0, 0),
    CASE("Bearer ", 0, 0, 0),
    CASE("Bearer\xe2\x80\x8a"
         "x",
         0, 1, 0),
    CASE("Bearer\xe2\x80\x8b"
         "x",
         0, 0, 0),
    CASE("Bearer \xff", 0, 0, 0),
    CASE("Bearer \xc3\xa9", 0, 1, 0),
    CASE("forbearer\nx", 0, 1, 0),
};

static void check_cases(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct seen s = run(cases[i].text, cases[i].len, 4096);
        bool same = true;
        for (int r = 0; r < ASSAY_RULES; r++)
            same &= s.matched[r] == cases[i].want[r];
        ok(same, "case %zu: %s", i, cases[i].text);
    }
}

static void check_blanks(void)
{
    static const char *const others[] = {"\xc2\x84",     "\xe1\xa0\x8e", "\xe2\x80\x8b",
                                         "\xe2\x81\xa0", "\xef\xbb\xbf", "\x1f",
                                         "\x7f"};
    char text[32];
    bool all = true, none = true;

    for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++) {
        (void)snprintf(text, sizeof text, "Bearer%sx", blanks[i]);
        all &= run(text, strlen(text), 4096).matched[ASSAY_BEARER];
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        (void)snprintf(text, sizeof text, "Bearer%sx", others[i]);
        none &= !run(text, strlen(text), 4096).matched[ASSAY_BEARER];
    }
    ok(all, "every blank of Unicode");
    ok(none, "and nothing that only looks like one");
}

static uint32_t state = 1;

static uint32_t draw(uint32_t n)
{
    state = state * 1664525 + 1013904223;
    return (state >> 16) % n;
}

static size_t random_text(char *out, size_t most)
{
    static const char *const pieces[] = {"Authorization",
                                         "authorization",
                                         "Bearer",
                                         "bEARER",
                                         ":",
                                         " ",
                                         " ",
                                         "\n",
                                         "\n",
                                         "\r\n",
                                         "\t",
                                         "\xc2\xa0",
                                         "\xff",
                                         "\xe2\x80",
                                         "\xe3\x80\x80",
                                         "sk-",
                                         "sk_",
                                         TWENTY,
                                         "abcdefg",
                                         "\xf0\x9f\x98\x80",
                                         "x",
                                         "                                        "};
    size_t len = 0;

    for (;;) {
        const char *p = pieces[draw(sizeof pieces / sizeof pieces[0])];
        if (len + strlen(p) > most)
            return len;
        memcpy(out + len, p, strlen(p));
        len += strlen(p);
    }
}

static void check_random(void)
{
    enum { ROUNDS = 5000, MOST = 300 };
    char text[MOST];
    bool right = true, same = true;
    size_t matches = 0;

    for (int i = 0; i < ROUNDS && right && same; i++) {
        size_t len = random_text(text, draw(MOST)), want = slow(text, len);
        matches += want != NONE;
        right &= run(text, len, MOST).first == want;
        for (size_t width = 48; width < MOST && same; width += 17) {
            same &= run(text, len, width).first == want;
            if (!same)
                printf("# round %d, width %zu\n", i, width);
        }
    }
    ok(matches > ROUNDS / 10 && matches < ROUNDS / 10 * 9, "%zu texts match", matches);
    ok(right, "the same answers and places as the slow matcher");
    ok(same, "the same answers in windows of any width");
}

int main(void)
{
    scan_assay_filter(&filter);
    check_cases();
    check_blanks();
    check_random();
    return tap_done();
}
