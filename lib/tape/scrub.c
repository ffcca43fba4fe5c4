/* scrub.c - see scrub.h. Finding is in scrub_find.c and scrub_body.c. */
#include "tape/scrub.h"

#include "tape/exchange.h"
#include "tape/scrub_body.h"
#include "tape/secret_rules.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Replacing may bring to light what stood behind: search again until nothing is left.
 * Two rounds are usual; rules never find a placeholder, so it comes to rest. */
#define ROUNDS_MOST 8

enum place {
    PLACE_REQUEST_URL,
    PLACE_REQUEST_HEADERS,
    PLACE_REQUEST_BODY,
    PLACE_RESPONSE_HEADERS,
    PLACE_RESPONSE_BODY,
    PLACE_TEXT,
    PLACE_COUNT
};

static const char *const place_names[PLACE_COUNT] = {
    [PLACE_REQUEST_URL] = "request.url",
    [PLACE_REQUEST_HEADERS] = "request.headers",
    [PLACE_REQUEST_BODY] = "request.body",
    [PLACE_RESPONSE_HEADERS] = "response.headers",
    [PLACE_RESPONSE_BODY] = "response.body",
    [PLACE_TEXT] = "text",
};

struct scrub_counts {
    const struct scrub *s;
    uint32_t *n[PLACE_COUNT]; /* by rule, in the order of s->rules */
};

/* ---- rules ---- */

static void add_rule(struct scrub *s, const char *name)
{
    for (size_t i = 0; i < s->n_rules; i++)
        if (strcmp(s->rules[i], name) == 0)
            return;
    s->rules[s->n_rules++] = name;
}

/* Every name a placeholder can carry, once. */
static int list_rules(struct scrub *s, struct err *e)
{
    const struct scrub_names *lists[] = {&s->headers, &s->fields, &s->query,
                                         &s->google_query};
    size_t n = secrets_count(s->secrets);

    for (size_t i = 0; i < COUNT_OF(lists); i++)
        n += lists[i]->n;
    s->rules = calloc(n, sizeof *s->rules);
    if (!s->rules)
        return err_set(e, ERR_NOMEM, "scrub rules: out of memory");
    for (size_t i = 0; i < secrets_count(s->secrets); i++)
        add_rule(s, secrets_name(s->secrets, i));
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        for (size_t k = 0; k < lists[i]->n; k++)
            add_rule(s, lists[i]->v[k].rule);
    return 0;
}

static int init_names(struct scrub *s, const struct scrub_config *config, struct err *e)
{
    if (scrub_names_init(&s->headers, scrub_header_names, n_scrub_header_names,
                         config->headers, e) < 0 ||
        scrub_names_init(&s->fields, scrub_field_names, n_scrub_field_names,
                         config->fields, e) < 0 ||
        scrub_names_init(&s->query, scrub_query_names, n_scrub_query_names, config->query,
                         e) < 0 ||
        scrub_names_init(&s->google_query, scrub_google_query_names,
                         n_scrub_google_query_names, NULL, e) < 0)
        return -1;
    return scrub_names_init(&s->exempt, scrub_exempt_names, n_scrub_exempt_names, NULL,
                            e);
}

static int init_secrets(struct scrub *s, const struct scrub_config *config, struct err *e)
{
    struct secrets_extra extra[LIMIT_SCRUB_PATTERNS];
    const char *watch[16] = {"\\u00"};
    size_t n = 0;

    must(n_scrub_name_signs < COUNT_OF(watch));
    memcpy(watch + 1, scrub_name_signs, n_scrub_name_signs * sizeof *watch);
    for (; config->patterns && config->patterns[n].name; n++) {
        if (n == COUNT_OF(extra))
            return err_set(e, ERR_LIMIT, "more than %d scrub patterns",
                           LIMIT_SCRUB_PATTERNS);
        extra[n] =
            (struct secrets_extra){config->patterns[n].name, config->patterns[n].regex};
    }
    return secret_scan_new(&s->secrets, extra, n, watch, n_scrub_name_signs + 1, e);
}

int scrub_new(struct scrub **out, const struct scrub_config *config, struct err *e)
{
    static const struct scrub_config none;
    struct scrub *s = calloc(1, sizeof *s);
    int rc = -1;

    if (!config)
        config = &none;
    if (!s) {
        err_set(e, ERR_NOMEM, "scrub rules: out of memory");
        goto out;
    }
    if (init_names(s, config, e) < 0 || init_secrets(s, config, e) < 0 ||
        list_rules(s, e) < 0)
        goto out;
    s->always_close = s->fields.n_own || secrets_count(s->secrets) > n_secret_rules;
    *out = s;
    s = NULL;
    rc = 0;
out:
    scrub_free(&s);
    return rc;
}

void scrub_free(struct scrub **s)
{
    if (!*s)
        return;
    secrets_free(&(*s)->secrets);
    scrub_names_fini(&(*s)->headers);
    scrub_names_fini(&(*s)->fields);
    scrub_names_fini(&(*s)->query);
    scrub_names_fini(&(*s)->google_query);
    scrub_names_fini(&(*s)->exempt);
    free((*s)->rules);
    free(*s);
    *s = NULL;
}

/* ---- counts ---- */

int scrub_counts_new(struct scrub_counts **out, const struct scrub *s, struct err *e)
{
    struct scrub_counts *c = calloc(1, sizeof *c);
    uint32_t *n = calloc(PLACE_COUNT * s->n_rules, sizeof *n);

    if (!c || !n) {
        free(c);
        free(n);
        return err_set(e, ERR_NOMEM, "scrub counts: out of memory");
    }
    c->s = s;
    for (size_t i = 0; i < PLACE_COUNT; i++)
        c->n[i] = n + i * s->n_rules;
    *out = c;
    return 0;
}

void scrub_counts_free(struct scrub_counts **c)
{
    if (!*c)
        return;
    free((*c)->n[0]);
    free(*c);
    *c = NULL;
}

void scrub_counts_reset(struct scrub_counts *c)
{
    memset(c->n[0], 0, PLACE_COUNT * c->s->n_rules * sizeof *c->n[0]);
}

int scrub_counts_put(const struct scrub_counts *c, struct exchange *x, struct err *e)
{
    for (size_t place = 0; place < PLACE_COUNT; place++)
        for (size_t i = 0; i < c->s->n_rules; i++)
            if (c->n[place][i] &&
                exchange_add_scrub(x, c->s->rules[i], place_names[place], c->n[place][i],
                                   e) < 0)
                return -1;
    return 0;
}

static void count(struct scrub_counts *c, enum place place,
                  const struct scrub_edits *edits)
{
    for (size_t k = 0; c && k < edits->n; k++)
        for (size_t i = 0; edits->v[k].rule && i < c->s->n_rules; i++)
            if (strcmp(c->s->rules[i], edits->v[k].rule) == 0) {
                c->n[place][i]++;
                break;
            }
}

/* ---- bodies and texts ---- */

/* One text on its way: how to search it, and where finds are counted. */
struct job {
    const struct scrub *s;
    enum scrub_kind kind;
    const char *content_type;
    enum place place;
    struct scrub_counts *counts;
};

/* Search and replace until nothing is found. *edits are the finds of the first round;
 * the last round leaves none. */
static int replace(const struct job *job, const char *body, size_t len,
                   struct scrub_edits *edits, struct scrub_pieces *pieces,
                   struct buf *out, struct err *e)
{
    struct buf now = BUF_INIT(out->max);
    int rc = -1;

    for (int round = 0; edits->n && round < ROUNDS_MOST; round++) {
        struct buf next = BUF_INIT(out->max);
        scrub_edits_apply(edits, body, len, pieces, &next);
        count(job->counts, job->place, edits);
        buf_free(&now);
        now = next;
        if (buf_check(&now, "scrubbed text", e) < 0)
            goto out;
        body = buf_cstr(&now);
        len = now.len;
        edits->n = 0;
        scrub_body_find(job->s, job->kind, job->content_type, body, len, edits);
        if (scrub_edits_check(edits, e) < 0)
            goto out;
    }
    buf_free(out);
    *out = now;
    now = BUF_INIT(0);
    rc = 1;
out:
    buf_free(&now);
    return rc;
}

static int run(const struct job *job, const char *body, size_t len,
               struct scrub_pieces *pieces, struct buf *out, struct err *e)
{
    struct scrub_edits edits = {0};
    int rc;

    scrub_body_find(job->s, job->kind, job->content_type, body, len, &edits);
    rc = scrub_edits_check(&edits, e);
    if (rc == 0 && edits.n)
        rc = replace(job, body, len, &edits, pieces, out, e);
    scrub_edits_free(&edits);
    return rc;
}

int scrub_body(const struct scrub *s, enum scrub_side side, const char *content_type,
               const char *body, size_t len, struct scrub_pieces *pieces, struct buf *out,
               struct scrub_counts *c, struct err *e)
{
    struct job job = {.s = s, .content_type = content_type, .counts = c};

    if (len == 0)
        return 0;
    job.kind = scrub_body_kind(content_type, body, len);
    job.place = side == SCRUB_REQUEST ? PLACE_REQUEST_BODY : PLACE_RESPONSE_BODY;
    if (job.kind == BODY_MEDIA)
        return 0;
    if (!s->always_close && !scrub_body_needs_close_look(job.kind, body, len) &&
        !secret_scan_glance(s->secrets, body, len, scrub_find_is_field, (void *)s))
        return 0;
    return run(&job, body, len, pieces, out, e);
}

int scrub_text(const struct scrub *s, const char *text, size_t len, struct buf *out,
               struct scrub_counts *c, struct err *e)
{
    struct job job = {.s = s, .kind = BODY_TEXT, .place = PLACE_TEXT, .counts = c};

    return len ? run(&job, text, len, NULL, out, e) : 0;
}

/* ---- headers ---- */

/* Names and attributes stay, so that a client still finds its cookies. */
static void find_cookies(const char *value, const char *rule, struct scrub_edits *edits)
{
    bool only_first = strcmp(rule, "set-cookie") == 0;
    size_t at = 0;

    do {
        at += strspn(value + at, "; \t");
        size_t n = strcspn(value + at, ";");
        const char *eq = memchr(value + at, '=', n);
        size_t from = eq ? (size_t)(eq - value) + 1 : at, len = at + n - from;
        if (secret_form_placeholder(value + from, len, 0) != len)
            scrub_edits_add(edits, from, len, rule);
        at += n;
    } while (value[at] && !only_first);
}

/* Header values that are URLs carry their credentials in the query. */
static bool is_url_header(const char *name)
{
    static const char *const names[] = {"Location", "Content-Location", "Referer",
                                        "Link"};

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

static void find_in_header(const struct scrub *s, const struct header *h,
                           struct scrub_edits *edits)
{
    const struct scrub_names *const names[] = {&s->query, NULL};
    const struct scrub_name *row =
        scrub_names_find(&s->headers, h->name, strlen(h->name));
    size_t len = strlen(h->value), query = strcspn(h->value, "?#");

    if (row && row->flags & NAME_COOKIES) {
        find_cookies(h->value, row->rule, edits);
        return;
    }
    if (row) {
        if (scrub_names_fits(row, h->value, len))
            scrub_edits_add(edits, 0, len, row->rule);
        return;
    }
    scrub_find_text(s, h->value, len, edits);
    if (query < len && is_url_header(h->name)) {
        edits->base = query + 1;
        scrub_find_pairs(s, names, h->value + query + 1, len - query - 1, edits);
        edits->base = 0;
    }
}

static int scrub_header(const struct scrub *s, enum place place, struct headers *h,
                        size_t i, struct scrub_counts *c, struct err *e)
{
    struct scrub_edits edits = {0};
    struct buf value = BUF_INIT(KIB(1024));
    int rc = -1;

    for (int round = 0; round < ROUNDS_MOST; round++) {
        edits.n = 0;
        find_in_header(s, &h->v[i], &edits);
        scrub_edits_settle(&edits);
        if (scrub_edits_check(&edits, e) < 0)
            goto out;
        if (edits.n == 0)
            break;
        buf_reset(&value);
        scrub_edits_apply(&edits, h->v[i].value, strlen(h->v[i].value), NULL, &value);
        count(c, place, &edits);
        if (buf_check(&value, "scrubbed header", e) < 0 ||
            headers_set_value(h, i, buf_cstr(&value), e) < 0)
            goto out;
    }
    rc = 0;
out:
    buf_free(&value);
    scrub_edits_free(&edits);
    return rc;
}

int scrub_headers(const struct scrub *s, enum scrub_side side, struct headers *h,
                  struct scrub_counts *c, struct err *e)
{
    enum place place =
        side == SCRUB_REQUEST ? PLACE_REQUEST_HEADERS : PLACE_RESPONSE_HEADERS;

    for (size_t i = 0; i < h->n; i++)
        if (scrub_header(s, place, h, i, c, e) < 0)
            return -1;
    return 0;
}

/* ---- URLs ---- */

static bool is_google(const char *host)
{
    static const char domain[] = "googleapis.com";
    size_t n = strlen(host), d = sizeof domain - 1;

    return n >= d && strcmp(host + n - d, domain) == 0 &&
           (n == d || host[n - d - 1] == '.');
}

/* Finds in the whole text of a URL, of which the origin stays as it is. */
static void find_in_url(const struct scrub *s, const struct url *u, const char *text,
                        size_t len, size_t origin, struct scrub_edits *edits)
{
    const struct scrub_names *const names[] = {
        &s->query, is_google(u->host) ? &s->google_query : NULL, NULL};
    size_t query = origin + strcspn(text + origin, "?");
    size_t kept = 0;

    scrub_find_text(s, text, len, edits);
    for (size_t i = 0; i < edits->n; i++)
        if (edits->v[i].at >= origin)
            edits->v[kept++] = edits->v[i];
    edits->n = kept;
    if (query < len) {
        edits->base = query + 1;
        scrub_find_pairs(s, names, text + query + 1, len - query - 1, edits);
        edits->base = 0;
    }
    scrub_edits_settle(edits);
}

/* Path and query from the text behind the origin. */
static int set_url(struct url *u, const char *text, struct err *e)
{
    size_t path_len = strcspn(text, "?");
    char *path = strndup(text, path_len);
    char *query = text[path_len] ? strdup(text + path_len + 1) : NULL;

    if (!path || (text[path_len] && !query)) {
        free(path);
        free(query);
        return err_set(e, ERR_NOMEM, "scrub: out of memory");
    }
    free(u->path);
    free(u->query);
    u->path = path;
    u->query = query;
    return 0;
}

int scrub_url(const struct scrub *s, struct url *u, struct scrub_counts *c, struct err *e)
{
    struct buf origin = BUF_INIT(KIB(1)), text = BUF_INIT(KIB(1024)),
               next = BUF_INIT(KIB(1024));
    struct scrub_edits edits = {0};
    int rc = -1;

    url_origin(u, &origin);
    if (buf_check(&origin, "URL", e) < 0)
        goto out;
    for (int round = 0; round < ROUNDS_MOST; round++) {
        buf_reset(&text);
        url_text(u, &text);
        if (buf_check(&text, "URL", e) < 0)
            goto out;
        edits.n = 0;
        find_in_url(s, u, text.data, text.len, origin.len, &edits);
        if (scrub_edits_check(&edits, e) < 0)
            goto out;
        if (edits.n == 0)
            break;
        buf_reset(&next);
        scrub_edits_apply(&edits, text.data, text.len, NULL, &next);
        count(c, PLACE_REQUEST_URL, &edits);
        if (buf_check(&next, "URL", e) < 0 || set_url(u, next.data + origin.len, e) < 0)
            goto out;
    }
    rc = 0;
out:
    buf_free(&origin);
    buf_free(&text);
    buf_free(&next);
    scrub_edits_free(&edits);
    return rc;
}
