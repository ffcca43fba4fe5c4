/* canon.c - see canon.h. */
#include "tape/canon.h"

#include "base/json.h"
#include "base/limits.h"
#include "tape/jsonrpc.h"
#include "tape/multipart.h"
#include "tape/pairs.h"
#include "tape/pointer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *canon_class_name(enum canon_class c)
{
    static const char *const names[] = {
        [CANON_RAW] = "raw",
        [CANON_JSON] = "json",
        [CANON_FORM] = "form",
        [CANON_MULTIPART] = "multipart",
    };

    must((size_t)c < COUNT_OF(names));
    return names[c];
}

/* ---- rules ---- */

struct ignore {
    struct pointer pointer;
    char *host; /* or NULL: every host */
    char *path; /* or NULL: every path */
};

struct words {
    char **v;
    size_t n;
};

struct canon_rules {
    struct ignore *ignores;
    size_t n_ignores;
    struct words query;   /* names that do not count */
    struct words headers; /* names that count: lower case, sorted, each once */
};

int canon_rules_new(struct canon_rules **out, struct err *e)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : err_set(e, ERR_NOMEM, "out of memory");
}

void canon_rules_free(struct canon_rules **r)
{
    struct canon_rules *old = *r;

    if (!old)
        return;
    for (size_t i = 0; i < old->n_ignores; i++) {
        pointer_fini(&old->ignores[i].pointer);
        free(old->ignores[i].host);
        free(old->ignores[i].path);
    }
    free(old->ignores);
    for (size_t i = 0; i < old->query.n; i++)
        free(old->query.v[i]);
    free(old->query.v);
    for (size_t i = 0; i < old->headers.n; i++)
        free(old->headers.v[i]);
    free(old->headers.v);
    free(old);
    *r = NULL;
}

int canon_rules_ignore(struct canon_rules *r, const struct canon_ignore *rule,
                       struct err *e)
{
    struct ignore *list = realloc(r->ignores, (r->n_ignores + 1) * sizeof *list);

    if (!list)
        return err_set(e, ERR_NOMEM, "out of memory");
    r->ignores = list;
    struct ignore *new = &list[r->n_ignores];
    *new = (struct ignore){0};
    if (pointer_init(&new->pointer, rule->pointer, e) < 0)
        return err_in(e, "ignore `%.100s`", rule->pointer);
    r->n_ignores++; /* from here on canon_rules_free() cleans up */
    new->host = rule->host ? strdup(rule->host) : NULL;
    new->path = rule->path ? strdup(rule->path) : NULL;
    if ((rule->host && !new->host) || (rule->path && !new->path))
        return err_set(e, ERR_NOMEM, "out of memory");
    return 0;
}

/* Insert in order; a word that is there already changes nothing. */
static int add_word(struct words *w, const char *word, struct err *e)
{
    size_t at = 0;

    while (at < w->n && strcmp(w->v[at], word) < 0)
        at++;
    if (at < w->n && strcmp(w->v[at], word) == 0)
        return 0;
    char **v = realloc(w->v, (w->n + 1) * sizeof *v);
    if (!v)
        return err_set(e, ERR_NOMEM, "out of memory");
    w->v = v;
    char *copy = strdup(word);
    if (!copy)
        return err_set(e, ERR_NOMEM, "out of memory");
    memmove(v + at + 1, v + at, (w->n - at) * sizeof *v);
    v[at] = copy;
    w->n++;
    return 0;
}

int canon_rules_ignore_query(struct canon_rules *r, const char *name, struct err *e)
{
    return add_word(&r->query, name, e);
}

int canon_rules_match_header(struct canon_rules *r, const char *name, struct err *e)
{
    struct buf lower = BUF_INIT(KIB(1));
    int rc = -1;

    for (const char *s = name; *s; s++)
        buf_char(&lower, (char)tolower((unsigned char)*s));
    if (lower.len == 0)
        err_set(e, ERR_CONFIG, "match.headers: a header has a name");
    else if (buf_check(&lower, "match.headers: name", e) == 0)
        rc = add_word(&r->headers, lower.data, e);
    buf_free(&lower);
    return rc;
}

bool canon_host_covers(const char *pattern, const char *host)
{
    if (strncmp(pattern, "*.", 2) != 0)
        return strcasecmp(pattern, host) == 0;
    size_t tail = strlen(pattern + 1), n = strlen(host);
    return n > tail && strcasecmp(host + n - tail, pattern + 1) == 0;
}

static bool applies(const struct ignore *rule, const struct url *url)
{
    return (!rule->host || canon_host_covers(rule->host, url->host)) &&
           (!rule->path || strncmp(url->path, rule->path, strlen(rule->path)) == 0);
}

/* ---- bodies ---- */

/* Is a Content-Type of this type, whatever its parameters? */
static bool type_is(const char *content_type, const char *type)
{
    size_t n = strlen(type);

    if (!content_type)
        return false;
    content_type += strspn(content_type, " \t");
    return strncasecmp(content_type, type, n) == 0 &&
           (content_type[n] == '\0' || strchr("; \t", content_type[n]));
}

static void pick_ids(yyjson_val *message, struct picks *gone)
{
    size_t i, n;
    yyjson_val *key, *val;

    yyjson_obj_foreach(message, i, n, key, val)
    {
        if (yyjson_equals_str(key, "id"))
            picks_add(gone, key);
    }
}

/* What does not count in a document: declared ignores, and ids of JSON-RPC. */
static void pick_ignored(const struct canon_rules *r, const struct url *url,
                         yyjson_val *root, struct picks *gone)
{
    size_t i, n;
    yyjson_val *message;

    for (i = 0; i < r->n_ignores; i++)
        if (applies(&r->ignores[i], url))
            pointer_pick(&r->ignores[i].pointer, root, gone);
    if (!jsonrpc_is_message(root))
        return;
    pick_ids(root, gone);
    yyjson_arr_foreach(root, i, n, message)
    {
        pick_ids(message, gone);
    }
}

/* Append the canonical text; false when the body is no JSON object or array. */
static bool json_body(const struct canon_rules *r, const struct canon_request *req,
                      struct buf *out)
{
    yyjson_doc *doc = NULL;
    struct picks gone = {0};
    struct err e = {0};
    size_t at = 0;

    while (at < req->body_len && strchr(" \t\r\n", req->body[at]) && req->body[at])
        at++;
    if (at == req->body_len || (req->body[at] != '{' && req->body[at] != '['))
        return false;
    if (json_read(&doc, req->body, req->body_len, &e) < 0) {
        /* Out of memory must not make another key of the same body. */
        out->failed |= e.code == ERR_NOMEM;
        return out->failed;
    }
    yyjson_val *root = yyjson_doc_get_root(doc);
    pick_ignored(r, req->url, root, &gone);
    picks_sort(&gone);
    out->failed |= gone.failed;
    json_canonical_without(root, gone.v, gone.n, out);
    picks_fini(&gone);
    yyjson_doc_free(doc);
    return true;
}

/* The class, and the canonical text appended to out unless it is raw: raw bytes stand
 * for themselves and need no copy. */
static enum canon_class put_body(const struct canon_rules *r,
                                 const struct canon_request *req, struct buf *out)
{
    const char *type = headers_find(req->headers, "Content-Type");

    if (req->body_len == 0)
        return CANON_RAW;
    if (json_body(r, req, out))
        return CANON_JSON;
    if (type_is(type, "application/x-www-form-urlencoded") &&
        pairs_canonical(req->body, req->body_len, NULL, NULL, out))
        return CANON_FORM;
    if (type_is(type, "multipart/form-data") &&
        multipart_canonical(type, req->body, req->body_len, out))
        return CANON_MULTIPART;
    return CANON_RAW;
}

enum canon_class canon_body(const struct canon_rules *r, const struct canon_request *req,
                            struct buf *out)
{
    enum canon_class c = put_body(r, req, out);

    if (c == CANON_RAW)
        buf_add(out, req->body, req->body_len);
    return c;
}

/* ---- the key ---- */

static bool is_ignored_query(void *ctx, const char *name, size_t len)
{
    const struct canon_rules *r = ctx;

    for (size_t i = 0; i < r->query.n; i++)
        if (strlen(r->query.v[i]) == len && memcmp(r->query.v[i], name, len) == 0)
            return true;
    return false;
}

static void put_text(struct buf *out, const char *s)
{
    json_bytes(out, s, strlen(s));
}

/* Sorted by name; several values of one name in the order they were sent. */
static void put_headers(const struct canon_rules *r, const struct headers *h,
                        struct buf *out)
{
    bool some = false;

    buf_char(out, '[');
    for (size_t i = 0; i < r->headers.n; i++)
        for (size_t k = 0; k < h->n; k++) {
            if (strcasecmp(h->v[k].name, r->headers.v[i]) != 0)
                continue;
            buf_str(out, some ? ",[" : "[");
            put_text(out, r->headers.v[i]);
            buf_char(out, ',');
            put_text(out, h->v[k].value);
            buf_char(out, ']');
            some = true;
        }
    buf_char(out, ']');
}

static int put_query(const struct canon_rules *r, const struct url *url, struct buf *out,
                     struct err *e)
{
    const char *query = url->query ? url->query : "";

    if (!pairs_canonical(query, strlen(query), is_ignored_query, (void *)r, out))
        return err_set(e, ERR_LIMIT, "the URL has more than %d query parameters",
                       LIMIT_PAIRS);
    return 0;
}

int canon_key(const struct canon_rules *r, const struct canon_request *req,
              struct canon_result *out, struct err *e)
{
    struct buf body = BUF_INIT(LIMIT_DECODED_BODY), key = BUF_INIT(LIMIT_DECODED_BODY);
    uint8_t sum[DIGEST_SHA256];
    char hex[2 * DIGEST_SHA256 + 1];
    int rc = -1;

    out->body_class = put_body(r, req, &body);
    if (buf_check(&body, "canonical body", e) < 0)
        goto out;
    if (out->body_class == CANON_RAW)
        digest_sha256(req->body_len ? req->body : "", req->body_len, sum);
    else
        digest_sha256(body.data, body.len, sum);
    digest_hex(sum, sizeof sum, hex);

    buf_char(&key, '[');
    put_text(&key, req->method);
    buf_fmt(&key, ",\"%s\",", req->url->tls ? "https" : "http");
    put_text(&key, req->url->host);
    buf_fmt(&key, ",%u,", req->url->port);
    put_text(&key, req->url->path);
    buf_char(&key, ',');
    if (put_query(r, req->url, &key, e) < 0)
        goto out;
    buf_fmt(&key, ",\"%s\",\"%s\",", canon_class_name(out->body_class), hex);
    put_headers(r, req->headers, &key);
    buf_char(&key, ']');
    if (buf_check(&key, "request key", e) < 0)
        goto out;
    digest_key_text(key.data, key.len, out->key);
    rc = 0;
out:
    buf_free(&body);
    buf_free(&key);
    return rc;
}

/* ---- the fingerprint ---- */

/* A hash over (so far, next piece): no memory, and no two splits of the same bytes look
 * alike. NULL differs from "". */
static void mix(struct digest_xxh3 *h, const void *piece, size_t len)
{
    struct {
        struct digest_xxh3 so_far, piece;
    } both = {*h, piece ? digest_xxh3(piece, len) : (struct digest_xxh3){0}};

    *h = digest_xxh3(&both, sizeof both);
}

static void mix_text(struct digest_xxh3 *h, const char *s)
{
    mix(h, s, s ? strlen(s) : 0);
}

struct digest_xxh3 canon_fingerprint(const struct canon_rules *r, const char *method,
                                     const struct url *url, const struct headers *headers,
                                     struct digest_xxh3 body)
{
    struct digest_xxh3 h = body;
    uint8_t origin[3] = {url->tls, (uint8_t)(url->port >> 8), (uint8_t)url->port};

    mix_text(&h, method);
    mix(&h, origin, sizeof origin);
    mix_text(&h, url->host);
    mix_text(&h, url->path);
    mix_text(&h, url->query);
    mix_text(&h, headers_find(headers, "Content-Type"));
    for (size_t i = 0; i < r->headers.n; i++)
        for (size_t k = 0; k < headers->n; k++)
            if (strcasecmp(headers->v[k].name, r->headers.v[i]) == 0) {
                mix_text(&h, r->headers.v[i]);
                mix_text(&h, headers->v[k].value);
            }
    return h;
}

/* ---- what the rules say ---- */

bool canon_rules_is_default(const struct canon_rules *r)
{
    return r->n_ignores == 0 && r->query.n == 0 && r->headers.n == 0;
}

bool canon_rules_ignores_query(const struct canon_rules *r, const char *name)
{
    return is_ignored_query((void *)r, name, strlen(name));
}

bool canon_rules_counts_header(const struct canon_rules *r, const char *name)
{
    for (size_t i = 0; i < r->headers.n; i++)
        if (strcasecmp(r->headers.v[i], name) == 0)
            return true;
    return false;
}
