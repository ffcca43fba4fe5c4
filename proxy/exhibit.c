/* exhibit.c - see exhibit.h. */
#include "proxy/exhibit.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "tape/base64.h"

#include <inttypes.h>
#include <string.h>

/* ---- for people ---- */

static void put_headers(const struct headers *h, struct buf *out)
{
    for (size_t i = 0; i < h->n; i++)
        buf_fmt(out, "%s: %s\n", h->v[i].name, h->v[i].value);
}

static void put_body(const struct buf *body, struct buf *out)
{
    yyjson_doc *doc = NULL;
    struct err not_json = {0};

    if (body->len == 0)
        return;
    buf_char(out, '\n');
    if (json_read(&doc, body->data, body->len, &not_json) == 0) {
        json_pretty(yyjson_doc_get_root(doc), out);
        yyjson_doc_free(doc);
    } else if (json_is_utf8(body->data, body->len)) {
        buf_add(out, body->data, body->len);
    } else {
        buf_fmt(out, "[%zu bytes that are not text; --json shows them as base64]",
                body->len);
    }
    if (out->len && out->data[out->len - 1] != '\n')
        buf_char(out, '\n');
}

static void put_about(const struct exchange *x, struct buf *out)
{
    char when[CLOCK_TEXT];

    clock_rfc3339(x->t_ms, when);
    buf_fmt(out, "exchange %" PRIu64 "  %s  %s%s%s  %s\n", x->n, when,
            exchange_kind_name(x->kind), x->dialect[0] ? " " : "", x->dialect,
            exchange_outcome_name(x->outcome));
    buf_fmt(out, "key %s\n", x->key);
    buf_fmt(out,
            "connected after %" PRIu32 " ms, first byte after %" PRIu32
            " ms, done after %" PRIu32 " ms",
            x->connect_ms, x->first_byte_ms, x->total_ms);
    if (x->n_chunks)
        buf_fmt(out, ", in %zu pieces", x->n_chunks);
    buf_char(out, '\n');
    for (size_t i = 0; i < x->n_scrubbed; i++)
        buf_fmt(out, "scrubbed %s in %s (%" PRIu32 ")\n", x->scrubbed[i].rule,
                x->scrubbed[i].where, x->scrubbed[i].count);
    if (x->error_code[0])
        buf_fmt(out, "failed with %s: %s\n", x->error_code, x->error_message);
    buf_char(out, '\n');
}

void exhibit_text(const struct exchange *x, struct exhibit_parts parts, struct buf *out)
{
    bool all = !parts.headers && !parts.body;

    put_about(x, out);
    buf_fmt(out, "%s %s\n", x->method, x->url);
    if (all || parts.headers)
        put_headers(&x->req_headers, out);
    if (all || parts.body)
        put_body(&x->req_body, out);
    buf_char(out, '\n');
    if (x->status == 0) {
        buf_str(out, "no response\n");
        return;
    }
    buf_fmt(out, "%d\n", x->status);
    if (all || parts.headers)
        put_headers(&x->res_headers, out);
    if (all || parts.body)
        put_body(&x->res_body, out);
}

/* ---- as JSON ---- */

static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name,
                     const char *text)
{
    yyjson_mut_obj_add_val(doc, obj, name,
                           text && text[0] ? yyjson_mut_strcpy(doc, text)
                                           : yyjson_mut_null(doc));
}

static yyjson_mut_val *headers_json(yyjson_mut_doc *doc, const struct headers *h)
{
    yyjson_mut_val *list = yyjson_mut_arr(doc);

    for (size_t i = 0; i < h->n; i++) {
        yyjson_mut_val *pair = yyjson_mut_arr_add_arr(doc, list);
        yyjson_mut_arr_add_strcpy(doc, pair, h->v[i].name);
        yyjson_mut_arr_add_strcpy(doc, pair, h->v[i].value);
    }
    return list;
}

static yyjson_mut_val *body_json(yyjson_mut_doc *doc, const struct buf *body, bool has)
{
    struct buf text = BUF_INIT(LIMIT_LINE);
    yyjson_mut_val *obj;

    if (!has)
        return yyjson_mut_null(doc);
    obj = yyjson_mut_obj(doc);
    if (json_is_utf8(buf_cstr(body), body->len)) {
        yyjson_mut_obj_add_strncpy(doc, obj, "text", buf_cstr(body), body->len);
    } else {
        base64_encode(&text, body->data, body->len);
        yyjson_mut_obj_add_strncpy(doc, obj, "base64", buf_cstr(&text), text.len);
        buf_free(&text);
    }
    return obj;
}

static yyjson_mut_val *chunks_json(yyjson_mut_doc *doc, const struct exchange *x)
{
    yyjson_mut_val *list;

    if (!x->chunks)
        return yyjson_mut_null(doc);
    list = yyjson_mut_arr(doc);
    for (size_t i = 0; i < x->n_chunks; i++) {
        yyjson_mut_val *pair = yyjson_mut_arr_add_arr(doc, list);
        yyjson_mut_arr_add_uint(doc, pair, x->chunks[i].ms);
        yyjson_mut_arr_add_uint(doc, pair, x->chunks[i].len);
    }
    return list;
}

static yyjson_mut_val *about_json(yyjson_mut_doc *doc, const struct exchange *x)
{
    yyjson_mut_val *obj = yyjson_mut_obj(doc);
    char when[CLOCK_TEXT];

    clock_rfc3339(x->t_ms, when);
    yyjson_mut_obj_add_uint(doc, obj, "exchange", x->n);
    add_text(doc, obj, "t", when);
    add_text(doc, obj, "kind", exchange_kind_name(x->kind));
    add_text(doc, obj, "dialect", x->dialect);
    add_text(doc, obj, "key", x->key);
    add_text(doc, obj, "outcome", exchange_outcome_name(x->outcome));
    return obj;
}

yyjson_mut_val *exhibit_json_short(yyjson_mut_doc *doc, const struct exchange *x)
{
    yyjson_mut_val *obj = about_json(doc, x);

    add_text(doc, obj, "method", x->method);
    add_text(doc, obj, "url", x->url);
    yyjson_mut_obj_add_uint(doc, obj, "status", (uint64_t)x->status);
    yyjson_mut_obj_add_uint(doc, obj, "request_bytes", x->req_body.len);
    yyjson_mut_obj_add_uint(doc, obj, "response_bytes", x->res_body.len);
    yyjson_mut_obj_add_uint(doc, obj, "total_ms", x->total_ms);
    return obj;
}

static yyjson_mut_val *response_json(yyjson_mut_doc *doc, const struct exchange *x)
{
    yyjson_mut_val *res;

    if (x->status == 0)
        return yyjson_mut_null(doc);
    res = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_uint(doc, res, "status", (uint64_t)x->status);
    yyjson_mut_obj_add_val(doc, res, "headers", headers_json(doc, &x->res_headers));
    yyjson_mut_obj_add_val(doc, res, "body",
                           body_json(doc, &x->res_body, x->has_res_body));
    yyjson_mut_obj_add_val(doc, res, "chunks", chunks_json(doc, x));
    return res;
}

yyjson_mut_val *exhibit_json(yyjson_mut_doc *doc, const struct exchange *x)
{
    yyjson_mut_val *obj = about_json(doc, x), *req, *error, *timing, *scrubbed;

    req = yyjson_mut_obj_add_obj(doc, obj, "request");
    add_text(doc, req, "method", x->method);
    add_text(doc, req, "url", x->url);
    yyjson_mut_obj_add_val(doc, req, "headers", headers_json(doc, &x->req_headers));
    yyjson_mut_obj_add_val(doc, req, "body",
                           body_json(doc, &x->req_body, x->has_req_body));
    yyjson_mut_obj_add_val(doc, obj, "response", response_json(doc, x));
    if (x->error_code[0]) {
        error = yyjson_mut_obj_add_obj(doc, obj, "error");
        add_text(doc, error, "code", x->error_code);
        add_text(doc, error, "message", x->error_message);
    } else {
        yyjson_mut_obj_add_null(doc, obj, "error");
    }
    timing = yyjson_mut_obj_add_obj(doc, obj, "timing");
    yyjson_mut_obj_add_uint(doc, timing, "connect_ms", x->connect_ms);
    yyjson_mut_obj_add_uint(doc, timing, "first_byte_ms", x->first_byte_ms);
    yyjson_mut_obj_add_uint(doc, timing, "total_ms", x->total_ms);
    scrubbed = yyjson_mut_obj_add_arr(doc, obj, "scrubbed");
    for (size_t i = 0; i < x->n_scrubbed; i++) {
        yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, scrubbed);
        add_text(doc, row, "rule", x->scrubbed[i].rule);
        add_text(doc, row, "where", x->scrubbed[i].where);
        yyjson_mut_obj_add_uint(doc, row, "count", x->scrubbed[i].count);
    }
    return obj;
}
