/* record.c - see record.h. */
#include "proxy/record.h"

#include "base/limits.h"
#include "dialect/dialect.h"
#include "tape/decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Undo the response's Content-Encoding piece by piece, so that the boundaries are known
 * in decoded bytes. False: unknown or broken, the raw bytes are kept with their header.
 */
static bool decode_pieces(const struct record_response *res, const char *coding,
                          bool complete, struct buf *out, uint64_t *lens)
{
    struct decode *d = NULL;
    struct err e;
    size_t at = 0;
    bool ok = false;

    if (decode_new(&d, coding, &e) < 0)
        return false;
    for (size_t i = 0; i < res->n_chunks; i++) {
        size_t before = out->len;
        if (decode_feed(d, res->body + at, (size_t)res->chunks[i].len, out, &e) < 0)
            goto out;
        at += (size_t)res->chunks[i].len;
        lens[i] = out->len - before;
    }
    ok = !complete || decode_end(d, &e) == 0;
out:
    decode_free(&d);
    return ok;
}

/* A length that no longer fits the stored body would be a lie. */
static int fix_length(struct exchange *x, bool known, struct err *e)
{
    char text[24];

    for (size_t i = 0; i < x->res_headers.n; i++) {
        if (strcasecmp(x->res_headers.v[i].name, "Content-Length") != 0)
            continue;
        (void)snprintf(text, sizeof text, "%zu", x->res_body.len);
        if (known && headers_set_value(&x->res_headers, i, text, e) < 0)
            return -1;
    }
    return 0;
}

static int put_chunks(struct exchange *x, const struct record_response *res,
                      const uint64_t *lens, struct err *e)
{
    for (size_t i = 0; i < res->n_chunks; i++)
        if (lens[i] > 0 && exchange_add_chunk(x, res->chunks[i].ms, lens[i], e) < 0)
            return -1;
    return 0;
}

/* Body, chunks and headers of the response, decoded and scrubbed. */
static int take_response(const struct config *config, struct exchange *x,
                         const struct record_response *res, struct scrub_counts *counts,
                         struct err *e)
{
    struct buf decoded = BUF_INIT(LIMIT_DECODED_BODY);
    struct buf scrubbed = BUF_INIT(LIMIT_DECODED_BODY);
    uint64_t *lens = calloc(res->n_chunks + 1, sizeof *lens);
    const char *coding = headers_find(res->headers, "Content-Encoding");
    const char *body = res->body;
    size_t len = res->body_len;
    int rc = -1;

    if (!lens) {
        err_set(e, ERR_NOMEM, "recording: out of memory");
        goto out;
    }
    for (size_t i = 0; i < res->n_chunks; i++)
        lens[i] = res->chunks[i].len;
    if (headers_copy(&x->res_headers, res->headers, e) < 0)
        goto out;
    headers_remove_hop_by_hop(&x->res_headers);
    bool complete = x->outcome == OUTCOME_COMPLETE;
    bool changed = false;
    if (coding && len > 0 && decode_knows(coding)) {
        if (decode_pieces(res, coding, complete, &decoded, lens)) {
            headers_remove(&x->res_headers, "Content-Encoding");
            body = decoded.data ? decoded.data : "";
            len = decoded.len;
            changed = true;
        } else {
            for (size_t i = 0; i < res->n_chunks; i++)
                lens[i] = res->chunks[i].len;
        }
    }
    struct scrub_pieces pieces = {lens, res->n_chunks};
    int hit = scrub_body(config->scrub, SCRUB_RESPONSE,
                         headers_find(res->headers, "Content-Type"), body, len, &pieces,
                         &scrubbed, counts, e);
    if (hit < 0)
        goto out;
    if (hit) {
        body = scrubbed.data ? scrubbed.data : "";
        len = scrubbed.len;
        changed = true;
    }
    x->has_res_body = len > 0;
    buf_add(&x->res_body, body, len);
    if (buf_check(&x->res_body, "response body", e) < 0 ||
        (res->streamed && put_chunks(x, res, lens, e) < 0) ||
        (changed && fix_length(x, complete, e) < 0) ||
        scrub_headers(config->scrub, SCRUB_RESPONSE, &x->res_headers, counts, e) < 0)
        goto out;
    rc = 0;
out:
    free(lens);
    buf_free(&decoded);
    buf_free(&scrubbed);
    return rc;
}

static int take_request(const struct config *config, struct exchange *x,
                        const struct record_request *req, struct err *e)
{
    struct buf url = BUF_INIT(LIMIT_REQUEST_HEAD + KIB(2));

    x->t_ms = req->t_ms;
    url_text(req->url, &url);
    x->method = strdup(req->method);
    x->url = buf_take(&url);
    if (!x->method || !x->url)
        return err_set(e, ERR_NOMEM, "recording: out of memory");
    if (headers_copy(&x->req_headers, req->headers, e) < 0)
        return -1;
    headers_remove_hop_by_hop(&x->req_headers);
    headers_remove(&x->req_headers, "X-Retape-Session");
    headers_remove(&x->req_headers, "X-Retape-Token");
    if (scrub_headers(config->scrub, SCRUB_REQUEST, &x->req_headers, req->counts, e) < 0)
        return -1;
    x->has_req_body = req->has_body;
    buf_add(&x->req_body, req->body, req->body_len);
    x->req_xxh3 = digest_xxh3(req->body, req->body_len);
    return buf_check(&x->req_body, "request body", e);
}

static const char *tool_name(const struct config *config, const struct url *u)
{
    for (size_t i = 0; i < config->n_tools; i++) {
        const struct config_tool *t = &config->tools[i];
        if (canon_host_covers(t->host, u->host) &&
            (!t->path || strncmp(u->path, t->path, strlen(t->path)) == 0))
            return t->name;
    }
    return NULL;
}

static void classify(const struct config *config, struct exchange *x, const struct url *u)
{
    dialect_classify(x);
    if (x->kind != KIND_HTTP)
        return;
    if (tool_name(config, u)) {
        x->kind = KIND_TOOL;
        return;
    }
    for (const char *const *p = config->llm_hosts; *p; p++)
        if (canon_host_covers(*p, u->host))
            x->kind = KIND_LLM;
}

int record_exchange(const struct config *config, struct session *s,
                    const struct record_request *req, const struct record_response *res,
                    const struct err *failure, struct err *e)
{
    struct exchange x;
    struct canon_result key;
    int rc = -1;

    exchange_init(&x);
    if (failure) {
        x.outcome =
            failure->code == ERR_GONE || res->status ? OUTCOME_ABORTED : OUTCOME_ERROR;
        (void)snprintf(x.error_code, sizeof x.error_code, "%s", err_name(failure->code));
        (void)snprintf(x.error_message, sizeof x.error_message, "%.250s", failure->msg);
    }
    if (take_request(config, &x, req, e) < 0)
        goto out;
    x.status = res->status;
    if (res->status && take_response(config, &x, res, req->counts, e) < 0)
        goto out;
    x.connect_ms = res->timing.connect_ms;
    x.first_byte_ms = res->timing.first_byte_ms;
    x.total_ms = res->timing.total_ms;
    struct canon_request canon = {req->method, req->url, &x.req_headers, req->body,
                                  req->body_len};
    if (canon_key(config->match, &canon, &key, e) < 0)
        goto out;
    memcpy(x.key, key.key, sizeof x.key);
    classify(config, &x, req->url);
    if (scrub_counts_put(req->counts, &x, e) < 0)
        goto out;
    rc = cassette_append(s->cassette, &x, e);
out:
    exchange_fini(&x);
    (void)atomic_fetch_add(rc == 0 ? &s->recorded : &s->failed, 1);
    return rc;
}
