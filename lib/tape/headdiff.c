/* headdiff.c - see headdiff.h. */
#include "tape/headdiff.h"

#include "base/json.h"
#include "base/limits.h"
#include "tape/excerpt.h"
#include "tape/jsondiff.h"
#include "tape/pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* How much the parts weigh in the distance. */
enum { WEIGHT_HOST = 10, WEIGHT_PATH = 5, WEIGHT_METHOD = 3, WEIGHT_QUERY = 2 };

/* ---- distance ---- */

static bool same_origin(const struct url *a, const struct url *b)
{
    return a->tls == b->tls && a->port == b->port && strcmp(a->host, b->host) == 0;
}

/* Segments that differ, over the longer path's count. */
static double path_distance(const char *a, const char *b)
{
    size_t common = 0, na = 0, nb = 0;

    while (*a || *b) {
        size_t la = *a ? strcspn(a + 1, "/") + 1 : 0;
        size_t lb = *b ? strcspn(b + 1, "/") + 1 : 0;
        common += la && la == lb && memcmp(a, b, la) == 0;
        na += la > 0;
        nb += lb > 0;
        a += la;
        b += lb;
    }
    size_t larger = na > nb ? na : nb;
    return larger ? 1.0 - (double)common / (double)larger : 0.0;
}

/* The parameters of a query: {"name":"value", "twice":["a","b"]}. */
static int query_object(const struct canon_rules *r, const char *query, struct buf *out,
                        struct err *e)
{
    struct buf pairs = BUF_INIT(LIMIT_DECODED_BODY);
    yyjson_doc *doc = NULL;
    yyjson_val *pair, *name = NULL;
    yyjson_arr_iter it;
    bool open = false;
    int rc = -1;

    buf_char(out, '{');
    if (!query || !pairs_canonical(query, strlen(query), NULL, NULL, &pairs)) {
        rc = 0;
        goto out;
    }
    if (buf_check(&pairs, "query", e) < 0 ||
        json_read(&doc, pairs.data, pairs.len, e) < 0)
        goto out;
    it = yyjson_arr_iter_with(yyjson_doc_get_root(doc));
    while ((pair = yyjson_arr_iter_next(&it))) {
        yyjson_val *next = yyjson_arr_get(pair, 0);
        if (r && canon_rules_ignores_query(r, yyjson_get_str(next)))
            continue;
        if (name && yyjson_equals(name, next)) {
            buf_char(out, ',');
        } else {
            buf_str(out, open ? "]," : "");
            json_canonical(next, out);
            buf_str(out, ":[");
            open = true;
        }
        json_canonical(yyjson_arr_get(pair, 1), out);
        name = next;
    }
    buf_str(out, open ? "]" : "");
    rc = 0;
out:
    buf_char(out, '}');
    buf_free(&pairs);
    yyjson_doc_free(doc);
    return rc;
}

static int query_diff(const struct canon_rules *r, const char *a, const char *b,
                      size_t most, struct jsondiff *out, struct err *e)
{
    struct buf qa = BUF_INIT(LIMIT_DECODED_BODY), qb = BUF_INIT(LIMIT_DECODED_BODY);
    int rc = -1;

    *out = (struct jsondiff){0};
    if (query_object(r, a, &qa, e) < 0 || query_object(r, b, &qb, e) < 0 ||
        buf_check(&qa, "query", e) < 0 || buf_check(&qb, "query", e) < 0)
        goto out;
    rc = jsondiff_compare(out, qa.data, qa.len, qb.data, qb.len, most, e);
out:
    buf_free(&qa);
    buf_free(&qb);
    return rc;
}

static double query_distance(const char *a, const char *b)
{
    struct jsondiff d = {0};
    struct err e = {0};
    double distance;

    if (strcmp(a ? a : "", b ? b : "") == 0)
        return 0;
    distance = query_diff(NULL, a, b, 0, &d, &e) < 0 ? 1 : d.distance;
    jsondiff_fini(&d);
    return distance;
}

double headdiff_distance(const struct canon_request *a, const struct canon_request *b)
{
    const struct url *ua = a->url, *ub = b->url;
    double total = WEIGHT_HOST + WEIGHT_PATH + WEIGHT_METHOD;
    double differing = WEIGHT_PATH * path_distance(ua->path, ub->path);

    differing += same_origin(ua, ub) ? 0 : WEIGHT_HOST;
    differing += strcmp(a->method, b->method) == 0 ? 0 : WEIGHT_METHOD;
    if (ua->query || ub->query) {
        total += WEIGHT_QUERY;
        differing += WEIGHT_QUERY * query_distance(ua->query, ub->query);
    }
    return differing / total;
}

/* ---- differences ---- */

/* Where differences go. */
struct list {
    struct miss_difference **v;
    size_t *n, *n_more;
    size_t most;
    struct err *e;
};

/* Takes over the three texts; a and b may be NULL (absent). */
static int put(struct list *l, char *at, char *a, char *b)
{
    struct miss_difference *v = NULL;

    if (*l->n == l->most) {
        *l->n_more += 1;
    } else if (at) {
        v = realloc(*l->v, (*l->n + 1) * sizeof *v);
        if (v) {
            v[*l->n] = (struct miss_difference){at, a, b};
            *l->v = v;
            *l->n += 1;
            return 0;
        }
    }
    free(at);
    free(a);
    free(b);
    if (*l->n == l->most)
        return 0;
    return err_set(l->e, ERR_NOMEM, "compare: out of memory");
}

static char *quoted(const char *s, size_t first)
{
    struct buf out = BUF_INIT(EXCERPT_MAX);

    if (!s)
        return NULL;
    excerpt_json(&out, s, strlen(s), first);
    return buf_take(&out);
}

/* Name a part when it differs; NULL is absent. */
static int part(struct list *l, const char *at, const char *a, const char *b)
{
    size_t first = 0;

    if (a == b || (a && b && strcmp(a, b) == 0))
        return 0;
    if (a && b)
        first = excerpt_common(a, strlen(a), b, strlen(b));
    return put(l, strdup(at), quoted(a, first), quoted(b, first));
}

static int origin_part(struct list *l, const struct url *a, const struct url *b)
{
    struct buf ta = BUF_INIT(KIB(1)), tb = BUF_INIT(KIB(1));
    int rc;

    url_origin(a, &ta);
    url_origin(b, &tb);
    rc = part(l, "@host", buf_cstr(&ta), buf_cstr(&tb));
    buf_free(&ta);
    buf_free(&tb);
    return rc;
}

/* The pointer "/name/0" of the query object is parameter "?name"; a parameter given
 * several times keeps the number of the value: "?name/1". */
static char *parameter_name(const char *pointer)
{
    size_t len = strlen(pointer);
    char *at = strdup(pointer);

    if (at && len > 2 && strcmp(at + len - 2, "/0") == 0)
        at[len - 2] = '\0';
    if (at)
        at[0] = '?';
    return at;
}

/* A parameter that one side lacks is a list of one or more values there. */
static char *parameter_value(char *text)
{
    size_t len = text ? strlen(text) : 0;

    if (len >= 4 && memcmp(text, "[\"", 2) == 0 && !strstr(text, "\",\"")) {
        memmove(text, text + 1, len - 2);
        text[len - 2] = '\0';
    }
    return text;
}

static int query_parts(struct list *l, const struct canon_rules *r, const char *a,
                       const char *b)
{
    struct jsondiff d = {0};
    int rc = query_diff(r, a, b, l->most - *l->n, &d, l->e);

    for (size_t i = 0; i < d.n && rc == 0; i++) {
        struct miss_difference *x = &d.list[i];
        rc = put(l, parameter_name(x->at), parameter_value(x->recorded),
                 parameter_value(x->asked));
        x->recorded = x->asked = NULL;
    }
    *l->n_more += d.n_more;
    jsondiff_fini(&d);
    return rc;
}

static int header_part(struct list *l, const char *name, const struct headers *a,
                       const struct headers *b)
{
    struct buf at = BUF_INIT(KIB(1));
    int rc;

    buf_str(&at, "@header ");
    excerpt_head(&at, name, strlen(name), 128);
    rc = part(l, buf_cstr(&at), headers_find(a, name), headers_find(b, name));
    buf_free(&at);
    return rc;
}

static bool seen_before(const struct headers *h, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcasecmp(h->v[k].name, h->v[i].name) == 0)
            return true;
    return false;
}

static int header_parts(struct list *l, const struct canon_rules *r,
                        const struct headers *a, const struct headers *b)
{
    for (size_t i = 0; i < a->n; i++)
        if (canon_rules_counts_header(r, a->v[i].name) && !seen_before(a, i) &&
            header_part(l, a->v[i].name, a, b) < 0)
            return -1;
    for (size_t i = 0; i < b->n; i++)
        if (canon_rules_counts_header(r, b->v[i].name) && !seen_before(b, i) &&
            !headers_find(a, b->v[i].name) && header_part(l, b->v[i].name, a, b) < 0)
            return -1;
    return 0;
}

int headdiff_compare(const struct canon_rules *r, const struct canon_request *a,
                     const struct canon_request *b, struct miss_difference **list,
                     size_t *n, size_t most, size_t *n_more, struct err *e)
{
    struct list l = {list, n, n_more, most, e};

    if (origin_part(&l, a->url, b->url) < 0 ||
        part(&l, "@method", a->method, b->method) < 0 ||
        part(&l, "@path", a->url->path, b->url->path) < 0 ||
        query_parts(&l, r, a->url->query, b->url->query) < 0)
        return -1;
    return header_parts(&l, r, a->headers, b->headers);
}
