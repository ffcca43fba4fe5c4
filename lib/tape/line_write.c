/* line_write.c - the writing half of line.h. */
#include "base/clock.h"
#include "tape/base64.h"
#include "tape/body.h"
#include "tape/line.h"

#include <inttypes.h>
#include <string.h>

#ifndef RETAPE_VERSION
#error "the build defines RETAPE_VERSION"
#endif

#define LAST_MS INT64_C(253402300799999) /* 9999-12-31: what four digits can say */

static void put_time(struct buf *out, int64_t ms)
{
    char text[CLOCK_TEXT];

    clock_rfc3339(ms < 0 ? 0 : ms > LAST_MS ? LAST_MS : ms, text);
    json_string(out, text, strlen(text));
}

void line_put_header(struct buf *out, const char *session)
{
    buf_fmt(out, "{\"cassette\":%d,\"created_at\":", LINE_FORMAT);
    put_time(out, clock_wall_ms());
    buf_str(out, ",\"producer\":\"retape/" RETAPE_VERSION "\",\"session\":");
    json_string(out, session, strlen(session));
    buf_str(out, "}\n");
}

void line_put_blob(struct buf *out, const char *name, const char *data, size_t len)
{
    bool text = body_is_text(data, len);

    buf_char(out, '{');
    if (!text) { /* keys in order: base64, blob, size, text */
        body_put(out, false, data, len);
        buf_char(out, ',');
    }
    buf_fmt(out, "\"blob\":\"%s\",\"size\":%zu", name, len);
    if (text) {
        buf_char(out, ',');
        body_put(out, true, data, len);
    }
    buf_str(out, "}\n");
}

/* A text of our own making that may quote a peer or be cut inside a character: bytes
 * beyond ASCII become '?' unless all of it is UTF-8. It never grows. */
static void put_text(struct buf *out, const char *s)
{
    size_t len = strlen(s);
    struct buf clean = BUF_INIT(LIMIT_LINE);

    if (json_is_utf8(s, len)) {
        json_string(out, s, len);
        return;
    }
    for (size_t i = 0; i < len; i++)
        buf_char(&clean, (unsigned char)s[i] < 0x80 ? s[i] : '?');
    json_string(out, buf_cstr(&clean), clean.len);
    out->failed |= clean.failed;
    buf_free(&clean);
}

/* What a URL may not hold as it is (RFC 3986 section 2) is percent-encoded: blanks,
 * control characters, and bytes that are not UTF-8. */
static void put_url(struct buf *out, const char *url)
{
    bool utf8 = json_is_utf8(url, strlen(url));
    struct buf clean = BUF_INIT(LIMIT_LINE);

    for (; *url; url++) {
        unsigned char c = (unsigned char)*url;
        if (c <= 0x20 || c == 0x7f || (c >= 0x80 && !utf8))
            buf_fmt(&clean, "%%%02X", c);
        else
            buf_char(&clean, *url);
    }
    json_string(out, buf_cstr(&clean), clean.len);
    out->failed |= clean.failed;
    buf_free(&clean);
}

/* RFC 9110 section 5.5: a line break inside a value is replaced by a blank, or the
 * message refused; a recorder does the former. Bytes that are not UTF-8 are kept. */
static void put_value(struct buf *out, const char *value)
{
    size_t len = strlen(value);
    struct buf clean = BUF_INIT(LIMIT_LINE);

    buf_add(&clean, value, len);
    for (size_t i = 0; i < clean.len; i++)
        if (clean.data[i] == '\r' || clean.data[i] == '\n')
            clean.data[i] = ' ';
    if (json_is_utf8(value, len)) {
        json_string(out, buf_cstr(&clean), clean.len);
    } else {
        buf_char(out, '{');
        body_put(out, false, clean.data, clean.len);
        buf_char(out, '}');
    }
    out->failed |= clean.failed;
    buf_free(&clean);
}

static void put_headers(struct buf *out, const struct headers *h)
{
    bool some = false;

    buf_char(out, '[');
    for (size_t i = 0; i < h->n; i++) {
        const char *name = h->v[i].name;
        if (!line_is_token(name, strlen(name)))
            continue; /* no peer would take it from us either */
        buf_str(out, some ? ",[" : "[");
        json_string(out, name, strlen(name));
        buf_char(out, ',');
        put_value(out, h->v[i].value);
        buf_char(out, ']');
        some = true;
    }
    buf_char(out, ']');
}

static void put_request(struct buf *out, const struct exchange *x, const struct buf *body)
{
    char xxh3[33];

    digest_xxh3_text(x->req_xxh3, xxh3);
    buf_str(out, "{\"body\":");
    buf_add(out, body->data, body->len);
    buf_str(out, ",\"headers\":");
    put_headers(out, &x->req_headers);
    buf_str(out, ",\"method\":");
    put_text(out, x->method);
    buf_str(out, ",\"url\":");
    put_url(out, x->url);
    buf_fmt(out, ",\"xxh3\":\"%s\"}", xxh3);
}

static void put_chunks(struct buf *out, const struct exchange *x)
{
    if (!x->chunks) {
        buf_str(out, "null");
        return;
    }
    buf_char(out, '[');
    for (size_t i = 0; i < x->n_chunks; i++)
        buf_fmt(out, "%s[%" PRIu32 ",%" PRIu64 "]", i ? "," : "", x->chunks[i].ms,
                x->chunks[i].len);
    buf_char(out, ']');
}

static void put_response(struct buf *out, const struct exchange *x,
                         const struct buf *body)
{
    if (x->status == 0) {
        buf_str(out, "null");
        return;
    }
    buf_str(out, "{\"body\":");
    buf_add(out, body->data, body->len);
    buf_str(out, ",\"chunks\":");
    put_chunks(out, x);
    buf_str(out, ",\"headers\":");
    put_headers(out, &x->res_headers);
    buf_fmt(out, ",\"status\":%d}", x->status);
}

static void put_error(struct buf *out, const struct exchange *x)
{
    if (!x->error_code[0]) {
        buf_str(out, "null");
        return;
    }
    buf_str(out, "{\"code\":");
    put_text(out, x->error_code);
    buf_str(out, ",\"message\":");
    put_text(out, x->error_message);
    buf_char(out, '}');
}

static void put_scrubbed(struct buf *out, const struct exchange *x)
{
    buf_char(out, '[');
    for (size_t i = 0; i < x->n_scrubbed; i++) {
        buf_fmt(out, "%s{\"count\":%" PRIu32 ",\"rule\":", i ? "," : "",
                x->scrubbed[i].count);
        put_text(out, x->scrubbed[i].rule);
        buf_str(out, ",\"where\":");
        put_text(out, x->scrubbed[i].where);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

void line_put_exchange(struct buf *out, const struct exchange *x, uint64_t n,
                       const struct buf *req_body, const struct buf *res_body)
{
    buf_str(out, "{\"dialect\":");
    if (x->dialect[0])
        put_text(out, x->dialect);
    else
        buf_str(out, "null");
    buf_str(out, ",\"error\":");
    put_error(out, x);
    buf_fmt(out, ",\"exchange\":%" PRIu64 ",\"key\":\"%s\",\"kind\":\"%s\"", n, x->key,
            exchange_kind_name(x->kind));
    buf_fmt(out, ",\"outcome\":\"%s\",\"request\":", exchange_outcome_name(x->outcome));
    put_request(out, x, req_body);
    buf_str(out, ",\"response\":");
    put_response(out, x, res_body);
    buf_str(out, ",\"scrubbed\":");
    put_scrubbed(out, x);
    buf_str(out, ",\"t\":");
    put_time(out, x->t_ms);
    buf_fmt(out,
            ",\"timing\":{\"connect_ms\":%" PRIu32 ",\"first_byte_ms\":%" PRIu32
            ",\"total_ms\":%" PRIu32 "}}\n",
            x->connect_ms, x->first_byte_ms, x->total_ms);
}
