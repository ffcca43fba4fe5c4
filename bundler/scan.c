/*
 * scan.c - see scan.h.
 *
 * A member passes through a window. Each filling of it is looked at whole, but only what
 * begins in its middle part counts: what stands before is context (edges of words), what
 * begins in the last part may go on beyond the window and is looked at again in the next.
 */
#include "bundler/scan.h"

#include "base/limits.h"
#include "bundler/scan_assay.h"
#include "bundler/scan_rules.h"
#include "bundler/scan_unwrap.h"
#include "tape/secret_forms.h"
#include "tape/secret_scan.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    WINDOW = 256 * 1024, /* with its tables it stays in the second-level cache */
    AHEAD = 16 * 1024,   /* the longest credentials, wrapped in base64 */
    CONTEXT = 128,       /* rules look back 57 bytes; as base64 that is 76 */
    KNOWN_MOST = 256     /* finds remembered of one window, to tell them once */
};
_Static_assert(WINDOW > 2 * (AHEAD + CONTEXT), "a window moves on by most of itself");

/* One kind of hits. */
struct pile {
    struct scan_hit hits[LIMIT_SCAN_HITS / 2];
    size_t n;
    uint64_t all;
};

struct scan {
    const struct scan_rules *rules;
    struct scan_unwrap *unwrap;
    struct scan_assay assay;
    char *window;
    size_t len;
    size_t from, until; /* what begins here counts */
    uint64_t offset;    /* of the window in the member */
    uint64_t lines;     /* line ends before the window */
    bool manifest;
    struct {
        size_t at, end;
    } known[KNOWN_MOST];
    size_t n_known;
    struct pile secrets, assays;
    struct {
        bool wanted;
        struct scan_hit hit;
    } held[ASSAY_RULES];                    /* Assay's matches that are not complete */
    struct scan_hit shown[LIMIT_SCAN_HITS]; /* what the result points to */
};

const char *scan_form_name(enum scan_form form)
{
    static const char *const names[] = {
        [SCAN_PLAIN] = "", [SCAN_BASE64] = "base64", [SCAN_PERCENT] = "percent-encoding"};

    must((size_t)form < COUNT_OF(names));
    return names[form];
}

int scan_new(struct scan **out, const struct scan_rules *rules, struct err *e)
{
    struct scan *s = calloc(1, sizeof *s);

    if (!s || !(s->window = malloc(WINDOW))) {
        scan_free(&s);
        return err_set(e, ERR_NOMEM, "secret scan: out of memory");
    }
    s->rules = rules;
    if (scan_unwrap_new(&s->unwrap, rules->secrets, WINDOW, e) < 0) {
        scan_free(&s);
        return -1;
    }
    *out = s;
    return 0;
}

void scan_free(struct scan **s)
{
    if (!*s)
        return;
    scan_unwrap_free(&(*s)->unwrap);
    free((*s)->window);
    free(*s);
    *s = NULL;
}

/* ---- hits ---- */

static uint64_t count_lines(const char *text, size_t len)
{
    const char *p = text, *end = text + len;
    uint64_t n = 0;

    while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
        p++;
        n++;
    }
    return n;
}

static struct scan_hit hit_at(const struct scan *s, const char *rule, enum scan_form form,
                              size_t at)
{
    return (struct scan_hit){.rule = rule,
                             .at = s->offset + at,
                             .line = s->lines + count_lines(s->window, at) + 1,
                             .form = form};
}

static bool has_room(const struct pile *p)
{
    return p->n < COUNT_OF(p->hits);
}

static bool is_known(const struct scan *s, size_t at, size_t end)
{
    for (size_t i = s->n_known; i-- > 0;)
        if (s->known[i].at < end && at < s->known[i].end)
            return true;
    return false;
}

/* A credential in [at, end) of the window. */
static void note(struct scan *s, const char *rule, enum scan_form form, size_t at,
                 size_t end)
{
    if (at >= s->until)
        return;
    if (s->n_known < KNOWN_MOST) {
        s->known[s->n_known].at = at;
        s->known[s->n_known++].end = end;
    }
    if (at < s->from)
        return;
    s->secrets.all++;
    if (has_room(&s->secrets))
        s->secrets.hits[s->secrets.n++] = hit_at(s, rule, form, at);
}

static void on_unwrapped(void *arg, const char *rule, enum scan_form form, size_t at,
                         size_t end)
{
    struct scan *s = arg;

    if (!is_known(s, at, end))
        note(s, rule, form, at, end);
}

static struct scan_hit assay_hit_at(const struct scan *s, enum scan_assay_rule rule,
                                    size_t at)
{
    struct scan_hit hit = hit_at(s, scan_assay_names[rule], SCAN_PLAIN, at);

    hit.assay_only = true;
    return hit;
}

static void on_assay(void *arg, enum scan_assay_rule rule, size_t at, size_t end)
{
    struct scan *s = arg;

    if (is_known(s, at, end))
        return;
    s->assays.all++;
    if (has_room(&s->assays))
        s->assays.hits[s->assays.n++] = assay_hit_at(s, rule, at);
}

static void on_assay_held(void *arg, enum scan_assay_rule rule, size_t at, size_t end)
{
    struct scan *s = arg;

    s->held[rule].wanted = !is_known(s, at, end);
    s->held[rule].hit = assay_hit_at(s, rule, at);
}

static void on_assay_confirmed(void *arg, enum scan_assay_rule rule)
{
    struct scan *s = arg;

    if (!s->held[rule].wanted)
        return;
    s->assays.all++;
    if (has_room(&s->assays))
        s->assays.hits[s->assays.n++] = s->held[rule].hit;
}

/* ---- the window ---- */

/* "Bearer [secret:name]", "Authorization: [secret:name]": the rules take them, for the
 * sake of other scanners, but nothing but the word and the placeholder is there. */
static bool is_scrubbed(const struct scan *s, const struct secret_find *find)
{
    static const char *const words[] = {"Bearer", "Authorization"};
    const char *p = s->window + find->at, *end = p + find->len;
    size_t i = 0;

    while (i < COUNT_OF(words) && (find->len < strlen(words[i]) ||
                                   strncasecmp(p, words[i], strlen(words[i])) != 0))
        i++;
    if (i == COUNT_OF(words))
        return false;
    for (p += strlen(words[i]); p < end && strchr(" \t\r\n:=\"'", *p) && *p;)
        p++;
    return secret_form_placeholder(p, (size_t)(end - p), 0) == (size_t)(end - p);
}

static void look_for_secrets(struct scan *s)
{
    struct secret_scan scan;
    struct secret_find find;

    secret_scan_start(&scan, s->rules->secrets, s->window, s->len, 0);
    while (secret_scan_next(&scan, &find) && find.at < s->until)
        if (!is_scrubbed(s, &find))
            note(s, secrets_name(s->rules->secrets, find.rule), SCAN_PLAIN, find.at,
                 find.at + find.len);
}

static void look(struct scan *s, bool last)
{
    const struct scan_assay_sink sink = {on_assay, on_assay_held, on_assay_confirmed, s};

    s->until = last ? s->len : s->len - AHEAD;
    s->n_known = 0;
    look_for_secrets(s);
    scan_unwrap_look(s->unwrap, s->window, s->len, on_unwrapped, s);
    if (s->manifest)
        return;
    struct scan_assay_window w = {s->window, s->len, s->from, s->until, last};
    scan_assay_look(&s->assay, &s->rules->assay, &w, &sink);
}

/* Drop what has been looked at, but for the context of what is next. */
static void move_on(struct scan *s)
{
    size_t keep = s->until - CONTEXT;

    while (keep > s->until - CONTEXT - 3 &&
           ((unsigned char)s->window[keep] & 0xc0) == 0x80)
        keep--; /* not inside a character */
    struct scan_assay_window w = {s->window, s->len, s->from, s->until, false};
    scan_assay_shift(&s->assay, &w, keep);
    s->lines += count_lines(s->window, keep);
    s->offset += keep;
    s->from = s->until - keep;
    s->len -= keep;
    memmove(s->window, s->window + keep, s->len);
}

/* ---- members ---- */

int scan_member_begin(struct scan *s, const char *path, struct err *e)
{
    (void)e;
    s->len = s->from = s->until = 0;
    s->offset = s->lines = 0;
    s->manifest = strcmp(path, "manifest.json") == 0;
    s->secrets.n = s->assays.n = 0;
    s->secrets.all = s->assays.all = 0;
    scan_assay_start(&s->assay);
    return 0;
}

int scan_member_feed(struct scan *s, const void *data, size_t len, struct err *e)
{
    const char *p = data;

    (void)e;
    while (len > 0) {
        size_t n = WINDOW - s->len < len ? WINDOW - s->len : len;
        if (n == 0) {
            look(s, false);
            move_on(s);
            continue;
        }
        memcpy(s->window + s->len, p, n);
        s->len += n;
        p += n;
        len -= n;
    }
    return 0;
}

int scan_member_end(struct scan *s, struct scan_result *out, struct err *e)
{
    (void)e;
    look(s, true);
    size_t n = s->secrets.n;
    memcpy(s->shown, s->secrets.hits, n * sizeof *s->shown);
    memcpy(s->shown + n, s->assays.hits, s->assays.n * sizeof *s->shown);
    *out = (struct scan_result){s->shown, n + s->assays.n, s->secrets.all, s->assays.all};
    return 0;
}
