/* diff.c - `retape diff`: where two recordings part ways. */
#include "base/cli.h"
#include "base/limits.h"
#include "base/log.h"
#include "proxy/config.h"
#include "proxy/page.h"
#include "proxy/pairing.h"
#include "proxy/shelf.h"
#include "proxy/verbs.h"
#include "tape/headdiff.h"
#include "tape/miss.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DETAILED 200 /* changed exchanges shown with their differences */
#define URL_COLUMNS 160

enum { EXIT_SAME = 0, EXIT_DIFFERENT = 1 };

struct flags {
    const char *cassettes, *config;
    bool json;
};

static const struct cli_option options[] = {
    {"--cassettes", "DIR", CLI_TEXT, offsetof(struct flags, cassettes), NULL,
     "RETAPE_CASSETTES", "cassettes", "folder of the cassettes"},
    {"--config", "FILE", CLI_TEXT, offsetof(struct flags, config), NULL, "RETAPE_CONFIG",
     "retape.json if present", "what does not count in a request (match)"},
    {"--json", NULL, CLI_FLAG, offsetof(struct flags, json), NULL, NULL, NULL,
     "print JSON"},
    {0},
};

static const char *const exits[] = {
    "0  same: the same requests with the same answers, in any order",
    "1  different",
    "2  usage, or a cassette that is not one",
    "3  files could not be read",
    NULL,
};

static const struct cli_verb verb = {
    .program = "retape",
    .name = "diff",
    .usage = "[options] A B",
    .summary = "Compares two cassettes (sessions or paths). Requests are paired by their "
               "keys, then by method, host and path; the first divergence comes first, "
               "differences are JSON pointers. Of responses status, outcome and body are "
               "compared, not headers.",
    .options = options,
    .exits = exits,
    .example = "retape diff main candidate",
    .least = 2,
    .most = 2,
};

/* ---- comparing a pair ---- */

struct findings {
    struct miss_difference *v;
    size_t n, more;
};

struct change {
    enum pairing_how how;
    uint64_t a, b; /* exchange numbers, 0 for none */
    char *method, *url;
    struct findings request, response;
};

static void change_fini(struct change *c)
{
    free(c->method);
    free(c->url);
    miss_differences_free(&c->request.v, &c->request.n);
    miss_differences_free(&c->response.v, &c->response.n);
}

static int compare_requests(struct findings *f, const struct exchange *a,
                            const struct exchange *b, const struct canon_rules *r,
                            struct err *e)
{
    struct url ua = {0}, ub = {0};
    struct buf ca = BUF_INIT(LIMIT_DECODED_BODY), cb = BUF_INIT(LIMIT_DECODED_BODY);
    int rc = -1;

    if (url_parse(&ua, a->url, e) < 0 || url_parse(&ub, b->url, e) < 0)
        goto out;
    struct canon_request qa = {a->method, &ua, &a->req_headers, buf_cstr(&a->req_body),
                               a->req_body.len};
    struct canon_request qb = {b->method, &ub, &b->req_headers, buf_cstr(&b->req_body),
                               b->req_body.len};
    (void)canon_body(r, &qa, &ca);
    (void)canon_body(r, &qb, &cb);
    if (buf_check(&ca, "request body", e) < 0 || buf_check(&cb, "request body", e) < 0 ||
        headdiff_compare(r, &qa, &qb, &f->v, &f->n, LIMIT_MISS_DIFFERENCES, &f->more, e) <
            0)
        goto out;
    rc = miss_differences(buf_cstr(&ca), ca.len, buf_cstr(&cb), cb.len, &f->v, &f->n,
                          LIMIT_MISS_DIFFERENCES, &f->more, e);
out:
    url_fini(&ua);
    url_fini(&ub);
    buf_free(&ca);
    buf_free(&cb);
    return rc;
}

/* One value of a response that is not its body. */
static int compare_fact(struct findings *f, const char *at, const char *a, const char *b,
                        struct err *e)
{
    struct miss_difference *v;

    if (strcmp(a, b) == 0)
        return 0;
    v = realloc(f->v, (f->n + 1) * sizeof *v);
    if (!v)
        return err_set(e, ERR_NOMEM, "compare: out of memory");
    f->v = v;
    v[f->n] = (struct miss_difference){strdup(at), strdup(a), strdup(b)};
    f->n++;
    if (!v[f->n - 1].at || !v[f->n - 1].recorded || !v[f->n - 1].asked)
        return err_set(e, ERR_NOMEM, "compare: out of memory");
    return 0;
}

static int compare_responses(struct findings *f, const struct exchange *a,
                             const struct exchange *b, struct err *e)
{
    char sa[16], sb[16], oa[64], ob[64];

    (void)snprintf(sa, sizeof sa, "%d", a->status);
    (void)snprintf(sb, sizeof sb, "%d", b->status);
    (void)snprintf(oa, sizeof oa, "\"%s\"",
                   a->error_code[0] ? a->error_code : exchange_outcome_name(a->outcome));
    (void)snprintf(ob, sizeof ob, "\"%s\"",
                   b->error_code[0] ? b->error_code : exchange_outcome_name(b->outcome));
    if (compare_fact(f, "@status", sa, sb, e) < 0 ||
        compare_fact(f, "@outcome", oa, ob, e) < 0)
        return -1;
    return miss_differences(buf_cstr(&a->res_body), a->res_body.len,
                            buf_cstr(&b->res_body), b->res_body.len, &f->v, &f->n,
                            LIMIT_MISS_DIFFERENCES, &f->more, e);
}

/* ---- printing ---- */

struct counts {
    size_t same, changed, only_a, only_b, moved;
};

/* The run of one diff. */
struct report {
    const struct flags *flags;
    const struct canon_rules *rules;
    struct tape *a, *b;
    struct counts counts;
    size_t detailed;
    struct buf out;
    yyjson_mut_doc *doc;
    yyjson_mut_val *changes;
};

static const char *const how_names[] = {
    [PAIR_SAME] = "response",
    [PAIR_CHANGED] = "request",
    [PAIR_ONLY_A] = "only_a",
    [PAIR_ONLY_B] = "only_b",
};

static const char *const how_words[] = {
    [PAIR_SAME] = "same request, another response",
    [PAIR_CHANGED] = "another request",
    [PAIR_ONLY_A] = "only in A",
    [PAIR_ONLY_B] = "only in B",
};

static void text_findings(const struct findings *f, const char *part, struct buf *out)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct miss_difference *d = &f->v[i];
        buf_fmt(out, "    %s %s\n", part, d->at[0] ? d->at : "(body)");
        if (d->recorded)
            buf_fmt(out, "      - %s\n", d->recorded);
        if (d->asked)
            buf_fmt(out, "      + %s\n", d->asked);
    }
    if (f->more)
        buf_fmt(out, "    %s: and %zu more\n", part, f->more);
}

static void text_change(const struct change *c, bool first, struct buf *out)
{
    if (first)
        buf_str(out, "first divergence:\n");
    if (c->a && c->b)
        buf_fmt(out, "~ A %" PRIu64 ", B %" PRIu64, c->a, c->b);
    else
        buf_fmt(out, c->a ? "- A %" PRIu64 : "+ B %" PRIu64, c->a ? c->a : c->b);
    buf_fmt(out, "  %s %.*s  %s\n", c->method, URL_COLUMNS, c->url, how_words[c->how]);
    text_findings(&c->request, "request", out);
    text_findings(&c->response, "response", out);
}

static yyjson_mut_val *json_findings(yyjson_mut_doc *doc, const struct findings *f)
{
    yyjson_mut_val *list = yyjson_mut_arr(doc);

    for (size_t i = 0; i < f->n; i++) {
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_strcpy(doc, one, "at", f->v[i].at);
        if (f->v[i].recorded)
            yyjson_mut_obj_add_val(doc, one, "a",
                                   yyjson_mut_rawcpy(doc, f->v[i].recorded));
        if (f->v[i].asked)
            yyjson_mut_obj_add_val(doc, one, "b", yyjson_mut_rawcpy(doc, f->v[i].asked));
    }
    return list;
}

static void json_number(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name,
                        uint64_t n)
{
    if (n)
        yyjson_mut_obj_add_uint(doc, obj, name, n);
    else
        yyjson_mut_obj_add_null(doc, obj, name);
}

static void json_change(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct change *c)
{
    yyjson_mut_val *obj = yyjson_mut_arr_add_obj(doc, list);

    yyjson_mut_obj_add_str(doc, obj, "what", how_names[c->how]);
    json_number(doc, obj, "a", c->a);
    json_number(doc, obj, "b", c->b);
    yyjson_mut_obj_add_strcpy(doc, obj, "method", c->method);
    yyjson_mut_obj_add_strcpy(doc, obj, "url", c->url);
    yyjson_mut_obj_add_val(doc, obj, "request", json_findings(doc, &c->request));
    yyjson_mut_obj_add_val(doc, obj, "response", json_findings(doc, &c->response));
    if (c->request.more + c->response.more)
        yyjson_mut_obj_add_uint(doc, obj, "more", c->request.more + c->response.more);
}

static int print_change(struct report *r, const struct change *c, struct err *e)
{
    size_t *const counters[] = {
        [PAIR_SAME] = &r->counts.changed,
        [PAIR_CHANGED] = &r->counts.changed,
        [PAIR_ONLY_A] = &r->counts.only_a,
        [PAIR_ONLY_B] = &r->counts.only_b,
    };
    bool first = r->counts.changed + r->counts.only_a + r->counts.only_b == 0;

    *counters[c->how] += 1;
    if (r->flags->json) {
        json_change(r->doc, r->changes, c);
        return 0;
    }
    text_change(c, first, &r->out);
    return page_flush(&r->out, e);
}

/* ---- the rows ---- */

/* Differences beyond the first DETAILED changed exchanges are looked for, not kept. */
static void forget_details(struct report *r, struct change *c)
{
    if (r->detailed++ < DETAILED)
        return;
    c->request.more += c->request.n;
    c->response.more += c->response.n;
    miss_differences_free(&c->request.v, &c->request.n);
    miss_differences_free(&c->response.v, &c->response.n);
}

static int compare_row(struct report *r, const struct pairing_row *row, struct err *e)
{
    struct exchange a, b;
    struct change c = {.how = row->how};
    int rc = -1;

    exchange_init(&a);
    exchange_init(&b);
    if (row->a != PAIRING_NONE && tape_load(r->a, row->a, &a, e) < 0)
        goto out;
    if (row->b != PAIRING_NONE && tape_load(r->b, row->b, &b, e) < 0)
        goto out;
    c.a = row->a == PAIRING_NONE ? 0 : a.n;
    c.b = row->b == PAIRING_NONE ? 0 : b.n;
    const struct exchange *named = c.b ? &b : &a;
    c.method = strdup(named->method);
    c.url = strdup(named->url);
    if (!c.method || !c.url) {
        err_set(e, ERR_NOMEM, "compare: out of memory");
        goto out;
    }
    if (c.how == PAIR_CHANGED && compare_requests(&c.request, &a, &b, r->rules, e) < 0)
        goto out;
    if (c.a && c.b && compare_responses(&c.response, &a, &b, e) < 0)
        goto out;
    if (c.how == PAIR_SAME && c.response.n == 0) {
        r->counts.same++;
        rc = 0;
        goto out;
    }
    forget_details(r, &c);
    rc = print_change(r, &c, e);
out:
    change_fini(&c);
    exchange_fini(&a);
    exchange_fini(&b);
    return rc;
}

static void json_counts(struct report *r, yyjson_mut_val *root)
{
    yyjson_mut_doc *doc = r->doc;
    yyjson_mut_val *counts = yyjson_mut_obj_add_obj(doc, root, "counts");

    yyjson_mut_obj_add_uint(doc, counts, "same", r->counts.same);
    yyjson_mut_obj_add_uint(doc, counts, "changed", r->counts.changed);
    yyjson_mut_obj_add_uint(doc, counts, "only_a", r->counts.only_a);
    yyjson_mut_obj_add_uint(doc, counts, "only_b", r->counts.only_b);
    yyjson_mut_obj_add_uint(doc, counts, "moved", r->counts.moved);
}

static int print_end(struct report *r, bool same, struct err *e)
{
    const struct counts *c = &r->counts;

    if (r->flags->json) {
        yyjson_mut_val *root = yyjson_mut_obj(r->doc);
        yyjson_mut_doc_set_root(r->doc, root);
        yyjson_mut_obj_add_strcpy(r->doc, root, "a", tape_name(r->a));
        yyjson_mut_obj_add_strcpy(r->doc, root, "b", tape_name(r->b));
        yyjson_mut_obj_add_bool(r->doc, root, "same", same);
        json_counts(r, root);
        yyjson_mut_obj_add_val(
            r->doc, root, "first_divergence",
            same ? yyjson_mut_null(r->doc)
                 : yyjson_mut_val_mut_copy(r->doc, yyjson_mut_arr_get_first(r->changes)));
        yyjson_mut_obj_add_val(r->doc, root, "changes", r->changes);
        return page_json(r->doc, e);
    }
    buf_fmt(&r->out, "%s: %zu same, %zu changed, %zu only in A, %zu only in B",
            same ? "same" : "different", c->same, c->changed, c->only_a, c->only_b);
    if (c->moved)
        buf_fmt(&r->out, ", %zu in another order", c->moved);
    buf_char(&r->out, '\n');
    return page_flush(&r->out, e);
}

static int diff(const struct flags *f, const char *a, const char *b, bool *same,
                struct err *e)
{
    struct report r = {.flags = f, .out = BUF_INIT(LIMIT_LINE)};
    struct config *config = NULL;
    struct pairing *pairs = NULL;
    int rc = -1;

    r.doc = yyjson_mut_doc_new(NULL);
    r.changes = yyjson_mut_arr(r.doc);
    if (config_load(&config, f->config, e) < 0 ||
        shelf_open(&r.a, f->cassettes, a, e) < 0 ||
        shelf_open(&r.b, f->cassettes, b, e) < 0)
        goto out;
    r.rules = config->match;
    if (pairing_new(&pairs, r.a, r.b, r.rules, e) < 0)
        goto out;
    r.counts.moved = pairs->moved;
    for (size_t i = 0; i < pairs->n; i++)
        if (compare_row(&r, &pairs->rows[i], e) < 0)
            goto out;
    *same = r.counts.changed + r.counts.only_a + r.counts.only_b == 0;
    rc = print_end(&r, *same, e);
out:
    pairing_free(&pairs);
    tape_close(&r.a);
    tape_close(&r.b);
    config_free(&config);
    yyjson_mut_doc_free(r.doc);
    buf_free(&r.out);
    return rc;
}

int verb_diff(int argc, char **argv)
{
    struct flags f = {.cassettes = "cassettes"};
    struct cli_rest rest = {0};
    struct buf out = BUF_INIT(MIB(1));
    struct err e = {0};
    bool same = true;
    int rc = cli_parse(&verb, argc, argv, &f, &rest, &e);

    if (rc == 0 && rest.help) {
        cli_help(&verb, &out);
        rc = page_flush(&out, &e);
    } else if (rc == 0) {
        rc = diff(&f, rest.v[0], rest.v[1], &same, &e);
    }
    if (rc < 0)
        log_error("%s", e.msg);
    buf_free(&out);
    cli_fini(&verb, &f, &rest);
    return rc < 0 ? err_exit_status(e.code) : same ? EXIT_SAME : EXIT_DIFFERENT;
}
