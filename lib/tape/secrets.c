/* secrets.c - see secrets.h and secret_scan.h. */
#include "tape/secrets.h"

#include "tape/secret_filter.h"
#include "tape/secret_rules.h"
#include "tape/secret_scan.h"

#include <regex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One shape that may begin with a given byte. rule == NULL: a watched shape. */
struct entry {
    const struct secret_rule *rule;
    const char *shape;
    uint64_t next[3][4]; /* sets of bytes for its second to fourth position */
};

struct pattern {
    char name[SECRET_NAME_MAX + 1];
    regex_t regex;
};

struct secrets {
    struct secret_filter filter;
    struct entry *entries; /* grouped by first byte, in the order of the table */
    size_t n_entries, cap_entries;
    size_t first[257]; /* entries of byte c: first[c] up to first[c + 1] */
    struct pattern *patterns;
    size_t n_patterns;
};

/* ---- building ---- */

static int add_entry(struct secrets *s, const struct secret_rule *rule, const char *shape,
                     struct err *e)
{
    bool nocase = !rule || rule->flags & RULE_NOCASE;
    struct entry entry = {.rule = rule, .shape = shape};

    for (unsigned pos = 0; pos < 3; pos++)
        for (unsigned c = 0; c < 256; c++)
            if (secret_shape_accepts(shape, nocase, pos + 1, (unsigned char)c))
                entry.next[pos][c / 64] |= (uint64_t)1 << c % 64;
    if (s->n_entries == s->cap_entries) {
        size_t cap = s->cap_entries ? s->cap_entries * 2 : 512;
        struct entry *v = realloc(s->entries, cap * sizeof *v);
        if (!v)
            return err_set(e, ERR_NOMEM, "secret rules: out of memory");
        s->entries = v;
        s->cap_entries = cap;
    }
    s->entries[s->n_entries++] = entry;
    return 0;
}

static int add_entries_of_byte(struct secrets *s, unsigned char c,
                               const char *const *watch, size_t n_watch, struct err *e)
{
    for (size_t i = 0; i < n_secret_rules; i++) {
        const struct secret_rule *r = &secret_rules[i];
        for (const char *const *shape = r->shapes; *shape; shape++)
            if (secret_shape_accepts(*shape, r->flags & RULE_NOCASE, 0, c) &&
                add_entry(s, r, *shape, e) < 0)
                return -1;
    }
    for (size_t i = 0; i < n_watch; i++)
        if (secret_shape_accepts(watch[i], true, 0, c) &&
            add_entry(s, NULL, watch[i], e) < 0)
            return -1;
    return 0;
}

static int add_shapes(struct secrets *s, const char *const *watch, size_t n_watch,
                      struct err *e)
{
    for (size_t i = 0; i < n_secret_rules; i++)
        for (const char *const *shape = secret_rules[i].shapes; *shape; shape++)
            secret_filter_add(&s->filter, *shape, secret_rules[i].flags & RULE_NOCASE);
    for (size_t i = 0; i < n_watch; i++)
        secret_filter_add(&s->filter, watch[i], true);
    for (unsigned c = 0; c < 256; c++) {
        s->first[c] = s->n_entries;
        if (add_entries_of_byte(s, (unsigned char)c, watch, n_watch, e) < 0)
            return -1;
    }
    s->first[256] = s->n_entries;
    return 0;
}

static int add_pattern(struct secrets *s, const struct secrets_extra *x, struct err *e)
{
    struct pattern *p = &s->patterns[s->n_patterns];
    char why[128];

    if (!secret_form_name_ok(x->name))
        return err_set(e, ERR_CONFIG,
                       "scrub pattern \"%.64s\": a name is 1 to %d of A-Z a-z 0-9 . _ -",
                       x->name, SECRET_NAME_MAX);
    strcpy(p->name, x->name);
    int rc = regcomp(&p->regex, x->regex, REG_EXTENDED | REG_NEWLINE);
    if (rc != 0) {
        regerror(rc, &p->regex, why, sizeof why);
        return err_set(e, ERR_CONFIG, "scrub pattern %s: %s", p->name, why);
    }
    s->n_patterns++;
    if (regexec(&p->regex, "", 0, NULL, 0) == 0)
        return err_set(e, ERR_CONFIG, "scrub pattern %s: it matches empty text", p->name);
    return 0;
}

int secret_scan_new(struct secrets **out, const struct secrets_extra *extra,
                    size_t n_extra, const char *const *watch, size_t n_watch,
                    struct err *e)
{
    struct secrets *s = calloc(1, sizeof *s);
    int rc = -1;

    if (!s || !(s->patterns = calloc(n_extra + 1, sizeof *s->patterns))) {
        err_set(e, ERR_NOMEM, "secret rules: out of memory");
        goto out;
    }
    if (n_extra > LIMIT_SCRUB_PATTERNS) {
        err_set(e, ERR_LIMIT, "more than %d scrub patterns", LIMIT_SCRUB_PATTERNS);
        goto out;
    }
    if (add_shapes(s, watch, n_watch, e) < 0)
        goto out;
    for (size_t i = 0; i < n_extra; i++)
        if (add_pattern(s, &extra[i], e) < 0)
            goto out;
    *out = s;
    s = NULL;
    rc = 0;
out:
    secrets_free(&s);
    return rc;
}

int secrets_new(struct secrets **out, const struct secrets_extra *extra, size_t n_extra,
                struct err *e)
{
    return secret_scan_new(out, extra, n_extra, NULL, 0, e);
}

void secrets_free(struct secrets **s)
{
    if (!*s)
        return;
    for (size_t i = 0; (*s)->patterns && i < (*s)->n_patterns; i++)
        regfree(&(*s)->patterns[i].regex);
    free((*s)->patterns);
    free((*s)->entries);
    free(*s);
    *s = NULL;
}

size_t secrets_count(const struct secrets *s)
{
    return n_secret_rules + s->n_patterns;
}

const char *secrets_name(const struct secrets *s, size_t i)
{
    must(i < secrets_count(s));
    return i < n_secret_rules ? secret_rules[i].name
                              : s->patterns[i - n_secret_rules].name;
}

/* ---- built-in rules ---- */

/* Take the bytes before the shape that belong to it. */
static bool take_back(const struct secret_rule *r, const char *text, size_t from,
                      struct secret_span *span)
{
    size_t n = 0;

    while (n < r->back.most && span->at - n > from &&
           secret_shape_in_class(r->back.class, (unsigned char)text[span->at - n - 1]))
        n++;
    span->at -= n;
    return n >= r->back.least &&
           (span->at == 0 ||
            !secret_shape_in_class(r->back.class, (unsigned char)text[span->at - 1]));
}

static bool texture_fits(const struct secret_rule *r, const char *text, size_t len)
{
    struct secret_texture look;

    if (!r->digits && !r->run && r->bits == 0)
        return true;
    secret_shape_texture(text, len, &look);
    return look.digits >= r->digits && look.run >= r->run && look.bits >= r->bits;
}

/* A run without bound ends where its class ends. Refusing it there, because a word byte
 * follows, would mean to try again at every edge inside of it. */
static bool is_open_ended(const char *shape)
{
    size_t n = strlen(shape);

    return n >= 2 && shape[n - 2] == ',';
}

static bool matches(const struct entry *entry, const char *text, size_t len, size_t from,
                    size_t at, struct secret_span *span)
{
    const struct secret_rule *r = entry->rule;

    if (!(r->flags & RULE_NO_EDGE) && !secret_shape_edge_before(text, at))
        return false;
    if (!secret_shape_match(entry->shape, r->flags & RULE_NOCASE, text, len, at, span))
        return false;
    if (r->form)
        return r->form(text, len, at, span) && span->at >= from;
    return (is_open_ended(entry->shape) ||
            secret_shape_edge_after(text, len, span->end)) &&
           (!r->back.most || take_back(r, text, from, span)) && span->at >= from &&
           texture_fits(r, text + span->at, span->end - span->at);
}

/* Do the first four positions fit? There are four bytes: the filter looked at five. */
static bool begins(const struct entry *entry, const char *text)
{
    for (unsigned pos = 0; pos < 3; pos++) {
        unsigned char c = (unsigned char)text[pos + 1];
        if (!(entry->next[pos][c / 64] >> c % 64 & 1))
            return false;
    }
    return true;
}

/* The first rule that matches at text[at]. */
static const struct secret_rule *match_at(const struct secrets *s, const char *text,
                                          size_t len, size_t from, size_t at,
                                          struct secret_span *span)
{
    unsigned char c = (unsigned char)text[at];

    for (size_t i = s->first[c]; i < s->first[c + 1]; i++)
        if (s->entries[i].rule && begins(&s->entries[i], text + at) &&
            matches(&s->entries[i], text, len, from, at, span))
            return s->entries[i].rule;
    return NULL;
}

static bool is_watched_at(const struct secrets *s, const char *text, size_t at)
{
    unsigned char c = (unsigned char)text[at];

    for (size_t i = s->first[c]; i < s->first[c + 1]; i++)
        if (!s->entries[i].rule && begins(&s->entries[i], text + at))
            return true;
    return false;
}

bool secret_scan_glance(const struct secrets *s, const char *text, size_t len,
                        secret_watch_fn *fn, void *arg)
{
    struct secret_span span;

    for (size_t p = 0; (p = secret_filter_next(&s->filter, text, len, p)) < len; p += 2)
        for (size_t at = p > 0 ? p - 1 : p; at <= p; at++)
            if (secret_filter_may_begin(&s->filter, text, len, at) &&
                (match_at(s, text, len, 0, at, &span) ||
                 (is_watched_at(s, text, at) && fn(text, len, at, arg))))
                return true;
    return false;
}

/* ---- user patterns ---- */

/* Does a find touch a placeholder? Those are ours; replacing them again would never
 * come to rest. */
static bool touches_placeholder(const char *text, size_t len, size_t at, size_t n)
{
    size_t reach = SECRET_NAME_MAX + sizeof "[secret:]";
    size_t from = at > reach ? at - reach : 0;

    for (size_t i = from; i < at + n; i++)
        if (text[i] == '[' && i + secret_form_placeholder(text, len, i) > at &&
            secret_form_placeholder(text, len, i))
            return true;
    return false;
}

/* Whole UTF-8 characters only: a byte-wise pattern may end inside one. */
static void widen(const char *text, size_t len, size_t *at, size_t *end)
{
    while (*at > 0 && ((unsigned char)text[*at] & 0xc0) == 0x80)
        --*at;
    while (*end < len && ((unsigned char)text[*end] & 0xc0) == 0x80)
        ++*end;
}

/* glibc's own interface: the text has a length, not an end, and places are those of the
 * whole text. It locks the pattern, so threads may share it. */
static bool search(const struct pattern *p, const char *text, size_t len, size_t from,
                   size_t *at, size_t *end)
{
    struct re_pattern_buffer *re = (struct re_pattern_buffer *)&p->regex;
    regoff_t n = (regoff_t)len, start, length;

    if (len > INT32_MAX)
        return false;
    start = re_search(re, text, n, (regoff_t)from, n - (regoff_t)from, NULL);
    if (start < 0)
        return false;
    length = re_match(re, text, n, start, NULL);
    *at = (size_t)start;
    *end = *at + (length > 0 ? (size_t)length : 0);
    return true;
}

static void next_of_pattern(const struct pattern *p, const char *text, size_t len,
                            size_t from, struct secret_find *out)
{
    size_t at, end;

    while (from < len && search(p, text, len, from, &at, &end)) {
        if (end == at) {
            from = end + 1;
            continue;
        }
        widen(text, len, &at, &end);
        if (at >= from && !touches_placeholder(text, len, at, end - at)) {
            out->at = at;
            out->len = end - at;
            return;
        }
        from = end;
    }
    out->at = len;
    out->len = 0;
}

/* ---- the cursor ---- */

/* The next find of the built-in rules from scan->from on; at == len for none. */
static void next_built_in(struct secret_scan *scan)
{
    const struct secrets *s = scan->s;
    struct secret_span span;
    size_t from = scan->from, len = scan->len;

    for (size_t p = from; (p = secret_filter_next(&s->filter, scan->text, len, p)) < len;
         p += 2)
        for (size_t at = p > from ? p - 1 : p; at <= p; at++) {
            const struct secret_rule *r = NULL;
            if (secret_filter_may_begin(&s->filter, scan->text, len, at))
                r = match_at(s, scan->text, len, from, at, &span);
            if (r) {
                scan->built_in = (struct secret_find){span.at, span.end - span.at,
                                                      (size_t)(r - secret_rules)};
                return;
            }
        }
    scan->built_in = (struct secret_find){len, 0, 0};
}

void secret_scan_start(struct secret_scan *scan, const struct secrets *s,
                       const char *text, size_t len, size_t from)
{
    scan->s = s;
    scan->text = text;
    scan->len = len;
    scan->from = from;
    next_built_in(scan);
    for (size_t i = 0; i < s->n_patterns; i++) {
        scan->extra[i].rule = n_secret_rules + i;
        next_of_pattern(&s->patterns[i], text, len, from, &scan->extra[i]);
    }
}

bool secret_scan_next(struct secret_scan *scan, struct secret_find *out)
{
    const struct secrets *s = scan->s;

    if (scan->built_in.at < scan->from)
        next_built_in(scan);
    *out = scan->built_in;
    for (size_t i = 0; i < s->n_patterns; i++) {
        struct secret_find *x = &scan->extra[i];
        if (x->at < scan->from)
            next_of_pattern(&s->patterns[i], scan->text, scan->len, scan->from, x);
        if (x->len && x->at < out->at)
            *out = *x;
    }
    if (out->len == 0)
        return false;
    size_t end = out->at + out->len;
    out->at = secret_form_lead(scan->text, scan->from, out->at);
    out->len = end - out->at;
    scan->from = end;
    return true;
}

int secrets_next(const struct secrets *s, const char *text, size_t len, size_t from,
                 struct secret_hit *hit)
{
    struct secret_scan scan;
    struct secret_find find;

    if (from >= len)
        return -1;
    secret_scan_start(&scan, s, text, len, from);
    if (!secret_scan_next(&scan, &find))
        return -1;
    *hit = (struct secret_hit){find.at, find.len, secrets_name(s, find.rule)};
    return 0;
}
