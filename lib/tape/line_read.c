/* line_read.c - the reading half of line.h. */
#include "base/clock.h"
#include "tape/base64.h"
#include "tape/body.h"
#include "tape/line.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables of keys ---- */

enum {
    IS_NULL = 1,
    IS_STRING = 2,
    IS_NUMBER = 4,
    IS_ARRAY = 8,
    IS_OBJECT = 16,
    IS_ABSENT = 32
};

struct field {
    const char *key;
    unsigned allowed; /* IS_... */
    size_t offset;    /* of the yyjson_val * it goes to */
};

static unsigned type_of(yyjson_val *v)
{
    if (!v)
        return IS_ABSENT;
    if (yyjson_is_null(v))
        return IS_NULL;
    if (yyjson_is_str(v))
        return IS_STRING;
    if (yyjson_is_uint(v))
        return IS_NUMBER;
    if (yyjson_is_arr(v))
        return IS_ARRAY;
    return yyjson_is_obj(v) ? IS_OBJECT : 0;
}

static int wrong_type(const struct field *f, bool absent, struct err *e)
{
    static const char *const names[] = {"null", "a string", "a whole number", "an array",
                                        "an object"};
    struct buf want = BUF_INIT(100);

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (f->allowed & 1U << i)
            buf_fmt(&want, "%s%s", want.len ? " or " : "", names[i]);
    err_set(e, ERR_FORMAT, absent ? "%s is missing (%s)" : "%s is not %s", f->key,
            buf_cstr(&want));
    buf_free(&want);
    return -1;
}

static int read_fields(yyjson_val *obj, const struct field *f, size_t n, void *into,
                       struct err *e)
{
    for (; n > 0; n--, f++) {
        yyjson_val *v = yyjson_obj_get(obj, f->key);
        unsigned type = type_of(v);
        if (!(type & f->allowed))
            return wrong_type(f, type == IS_ABSENT, e);
        memcpy((char *)into + f->offset, &v, sizeof v);
    }
    return 0;
}

/* ---- header and blob ---- */

int line_kind(yyjson_val *root, enum line_kind *out, struct err *e)
{
    static const struct {
        const char *key;
        enum line_kind kind;
    } kinds[] = {
        {"exchange", LINE_EXCHANGE}, {"blob", LINE_BLOB}, {"cassette", LINE_HEADER}};

    if (!yyjson_is_obj(root))
        return err_set(e, ERR_FORMAT, "not a JSON object");
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (yyjson_obj_get(root, kinds[i].key)) {
            *out = kinds[i].kind;
            return 0;
        }
    return err_set(e, ERR_FORMAT, "neither a cassette nor a blob nor an exchange line");
}

int line_read_header(struct line_header *out, yyjson_val *root, struct err *e)
{
    static const struct field fields[] = {
        {"created_at", IS_STRING, offsetof(struct line_header, created_at)},
        {"producer", IS_STRING, offsetof(struct line_header, producer)},
        {"session", IS_STRING, offsetof(struct line_header, session)},
    };
    yyjson_val *version = yyjson_obj_get(root, "cassette");

    if (!yyjson_is_uint(version))
        return err_set(e, ERR_FORMAT, "cassette is not a format number");
    if (yyjson_get_uint(version) != LINE_FORMAT)
        return err_set(e, ERR_VERSION, "cassette format %" PRIu64 "; this build reads %d",
                       yyjson_get_uint(version), LINE_FORMAT);
    return read_fields(root, fields, COUNT_OF(fields), out, e);
}

int line_read_blob(struct line_blob *out, yyjson_val *root, struct err *e)
{
    static const struct field fields[] = {
        {"blob", IS_STRING, offsetof(struct line_blob, blob)},
        {"size", IS_NUMBER, offsetof(struct line_blob, size)},
    };

    if (read_fields(root, fields, COUNT_OF(fields), out, e) < 0)
        return -1;
    out->content = yyjson_obj_get(root, "text");
    out->text = out->content != NULL;
    if (!out->content)
        out->content = yyjson_obj_get(root, "base64");
    if (!yyjson_is_str(out->content))
        return err_set(e, ERR_FORMAT, "a blob has text or base64");
    if (!body_hash_parse(out->blob, out->hash))
        return err_set(e, ERR_FORMAT, "blob is not \"sha256:\" and 64 hex digits");
    return 0;
}

/* ---- exchange ---- */

#define AT(member) offsetof(struct line_exchange, member)

static const struct field exchange_fields[] = {
    {"dialect", IS_STRING | IS_NULL, AT(dialect)},
    {"error", IS_OBJECT | IS_NULL, AT(error)},
    {"exchange", IS_NUMBER, AT(exchange)},
    {"key", IS_STRING, AT(key_text)},
    {"kind", IS_STRING, AT(kind_text)},
    {"outcome", IS_STRING, AT(outcome_text)},
    {"request", IS_OBJECT, AT(request)},
    {"response", IS_OBJECT | IS_NULL, AT(response)},
    {"scrubbed", IS_ARRAY, AT(scrubbed)},
    {"t", IS_STRING, AT(t)},
    {"timing", IS_OBJECT, AT(timing)},
};

static const struct field request_fields[] = {
    {"body", IS_OBJECT | IS_NULL, AT(req_body)},
    {"headers", IS_ARRAY, AT(req_headers)},
    {"method", IS_STRING, AT(method)},
    {"url", IS_STRING, AT(url)},
    {"xxh3", IS_STRING | IS_NULL | IS_ABSENT, AT(xxh3_text)},
};

static const struct field response_fields[] = {
    {"body", IS_OBJECT | IS_NULL, AT(res_body)},
    {"chunks", IS_ARRAY | IS_NULL, AT(chunks)},
    {"headers", IS_ARRAY, AT(res_headers)},
    {"status", IS_NUMBER, AT(status)},
};

static const struct field error_fields[] = {
    {"code", IS_STRING, AT(error_code)},
    {"message", IS_STRING, AT(error_message)},
};

static const struct field timing_fields[] = {
    {"connect_ms", IS_NUMBER, AT(connect_ms)},
    {"first_byte_ms", IS_NUMBER, AT(first_byte_ms)},
    {"total_ms", IS_NUMBER, AT(total_ms)},
};

bool line_is_token(const char *name, size_t len)
{
    static const char marks[] = "!#$%&'*+-.^_`|~"; /* RFC 9110 section 5.6.2 */

    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)name[i]) && (!name[i] || !strchr(marks, name[i])))
            return false;
    return len > 0;
}

static bool is_token(yyjson_val *v)
{
    return line_is_token(yyjson_get_str(v), yyjson_get_len(v));
}

static bool is_visible(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)s[i] <= 0x20 || s[i] == 0x7f)
            return false;
    return len > 0;
}

static bool is_field_value(const char *s, size_t len)
{
    return !memchr(s, '\n', len) && !memchr(s, '\r', len) && !memchr(s, '\0', len);
}

/* A header value: a string, or {"base64":...} for bytes that are not UTF-8. Decoded
 * bytes go to `scratch` when the value is not a string. */
static const char *header_value(yyjson_val *v, struct buf *scratch, size_t *len)
{
    yyjson_val *coded = yyjson_obj_get(v, "base64");
    const char *text = yyjson_get_str(coded);
    size_t size;

    *len = yyjson_get_len(v);
    if (yyjson_is_str(v))
        return yyjson_get_str(v);
    buf_reset(scratch);
    if (!text || !base64_check(text, yyjson_get_len(coded), &size) ||
        !base64_decode(text, yyjson_get_len(coded), 0, size, scratch))
        return NULL;
    *len = scratch->len;
    return buf_cstr(scratch);
}

/* Check the fields; with `to`, copy them as well. */
static int read_headers(yyjson_val *list, struct headers *to, struct err *e)
{
    struct buf scratch = BUF_INIT(LIMIT_LINE);
    yyjson_val *pair;
    size_t i, n, len;
    int rc = -1;

    yyjson_arr_foreach(list, i, n, pair)
    {
        yyjson_val *name = yyjson_arr_get(pair, 0);
        const char *value = NULL;
        if (yyjson_arr_size(pair) == 2 && yyjson_is_str(name) && is_token(name))
            value = header_value(yyjson_arr_get(pair, 1), &scratch, &len);
        if (!value || !is_field_value(value, len)) {
            err_set(e, ERR_FORMAT, "headers: field %zu is not a [name, value] of HTTP",
                    i + 1);
            goto out;
        }
        if (to && headers_add_n(to, yyjson_get_str(name), yyjson_get_len(name), value,
                                len, e) < 0)
            goto out;
    }
    rc = 0;
out:
    buf_free(&scratch);
    return rc;
}

static int read_request(struct line_exchange *l, struct err *e)
{
    if (read_fields(l->request, request_fields, COUNT_OF(request_fields), l, e) < 0)
        return -1;
    if (!is_token(l->method))
        return err_set(e, ERR_FORMAT, "method is not an HTTP method");
    if (!is_visible(yyjson_get_str(l->url), yyjson_get_len(l->url)))
        return err_set(e, ERR_FORMAT, "url is empty or has blanks");
    l->has_xxh3 = yyjson_is_str(l->xxh3_text);
    if (l->has_xxh3 && digest_xxh3_parse(yyjson_get_str(l->xxh3_text),
                                         yyjson_get_len(l->xxh3_text), &l->xxh3) < 0)
        return err_set(e, ERR_FORMAT, "xxh3 is not 32 hex digits");
    return read_headers(l->req_headers, NULL, e);
}

static int read_chunks(struct line_exchange *l, struct err *e)
{
    yyjson_val *chunk;
    size_t i, n;

    if (yyjson_is_null(l->chunks))
        return 0;
    yyjson_arr_foreach(l->chunks, i, n, chunk)
    {
        yyjson_val *ms = yyjson_arr_get(chunk, 0), *len = yyjson_arr_get(chunk, 1);
        if (yyjson_arr_size(chunk) != 2 || !yyjson_is_uint(ms) || !yyjson_is_uint(len) ||
            yyjson_get_uint(ms) > UINT32_MAX ||
            yyjson_get_uint(len) > UINT64_MAX - l->chunk_bytes)
            return err_set(e, ERR_FORMAT, "chunks: %zu is not [ms, length]", i + 1);
        l->chunk_bytes += yyjson_get_uint(len);
    }
    return 0;
}

static int read_response(struct line_exchange *l, struct err *e)
{
    if (read_fields(l->response, response_fields, COUNT_OF(response_fields), l, e) < 0)
        return -1;
    if (yyjson_get_uint(l->status) < 100 || yyjson_get_uint(l->status) > 999)
        return err_set(e, ERR_FORMAT, "status is not from 100 to 999");
    if (read_chunks(l, e) < 0)
        return -1;
    return read_headers(l->res_headers, NULL, e);
}

static int read_error(struct line_exchange *l, struct err *e)
{
    const struct exchange *x = NULL;

    if (read_fields(l->error, error_fields, COUNT_OF(error_fields), l, e) < 0)
        return -1;
    if (yyjson_get_len(l->error_code) >= sizeof x->error_code ||
        yyjson_get_len(l->error_message) >= sizeof x->error_message)
        return err_set(e, ERR_FORMAT, "code or message too long");
    return 0;
}

static int read_timing(struct line_exchange *l, struct err *e)
{
    if (read_fields(l->timing, timing_fields, COUNT_OF(timing_fields), l, e) < 0)
        return -1;
    if (yyjson_get_uint(l->connect_ms) > UINT32_MAX ||
        yyjson_get_uint(l->first_byte_ms) > UINT32_MAX ||
        yyjson_get_uint(l->total_ms) > UINT32_MAX)
        return err_set(e, ERR_FORMAT, "more milliseconds than 32 bits hold");
    return 0;
}

static int read_scrubbed(struct line_exchange *l, struct err *e)
{
    yyjson_val *row;
    size_t i, n;

    if (yyjson_arr_size(l->scrubbed) > LIMIT_SCRUB_NAMES)
        return err_set(e, ERR_LIMIT, "scrubbed: more than %d rows", LIMIT_SCRUB_NAMES);
    yyjson_arr_foreach(l->scrubbed, i, n, row)
    {
        yyjson_val *count = yyjson_obj_get(row, "count");
        if (!yyjson_is_str(yyjson_obj_get(row, "rule")) ||
            !yyjson_is_str(yyjson_obj_get(row, "where")) || !yyjson_is_uint(count) ||
            yyjson_get_uint(count) > UINT32_MAX)
            return err_set(e, ERR_FORMAT, "scrubbed: %zu is not {count, rule, where}",
                           i + 1);
    }
    return 0;
}

/* "2026-03-01T12:00:00.123Z" */
static bool is_time(yyjson_val *v)
{
    static const char shape[] = "dddd-dd-ddTdd:dd:dd.dddZ";
    const char *s = yyjson_get_str(v);

    if (yyjson_get_len(v) != sizeof shape - 1)
        return false;
    for (size_t i = 0; i < sizeof shape - 1; i++)
        if (shape[i] == 'd' ? s[i] < '0' || s[i] > '9' : s[i] != shape[i])
            return false;
    return true;
}

static int read_words(struct line_exchange *l, struct err *e)
{
    const struct exchange *x = NULL;
    int kind, outcome;

    for (kind = KIND_TOOL; kind >= 0; kind--)
        if (yyjson_equals_str(l->kind_text, exchange_kind_name((enum exchange_kind)kind)))
            break;
    for (outcome = OUTCOME_ERROR; outcome >= 0; outcome--)
        if (yyjson_equals_str(l->outcome_text,
                              exchange_outcome_name((enum exchange_outcome)outcome)))
            break;
    if (kind < 0)
        return err_set(e, ERR_FORMAT, "kind is not http, llm or tool");
    if (outcome < 0)
        return err_set(e, ERR_FORMAT, "outcome is not complete, aborted or error");
    l->kind = (enum exchange_kind)kind;
    l->outcome = (enum exchange_outcome)outcome;
    if (yyjson_is_str(l->dialect) && (yyjson_get_len(l->dialect) >= sizeof x->dialect ||
                                      yyjson_get_len(l->dialect) == 0))
        return err_set(e, ERR_FORMAT, "dialect is empty or too long");
    if (!body_hash_parse(l->key_text, l->key))
        return err_set(e, ERR_FORMAT, "key is not \"sha256:\" and 64 hex digits");
    if (!is_time(l->t))
        return err_set(e, ERR_FORMAT,
                       "t is not a UTC time like 2026-03-01T12:00:00.123Z");
    return 0;
}

int line_read_exchange(struct line_exchange *out, yyjson_val *root, struct err *e)
{
    *out = (struct line_exchange){0};
    if (read_fields(root, exchange_fields, COUNT_OF(exchange_fields), out, e) < 0 ||
        read_words(out, e) < 0 || read_scrubbed(out, e) < 0)
        return -1;
    if (read_request(out, e) < 0)
        return err_in(e, "request");
    if (!yyjson_is_null(out->response) && read_response(out, e) < 0)
        return err_in(e, "response");
    if (!yyjson_is_null(out->error) && read_error(out, e) < 0)
        return err_in(e, "error");
    if (read_timing(out, e) < 0)
        return err_in(e, "timing");
    return 0;
}

/* ---- into an exchange ---- */

int line_fill_head(const struct line_exchange *l, struct exchange *x, struct err *e)
{
    x->method = strdup(yyjson_get_str(l->method));
    x->url = strdup(yyjson_get_str(l->url));
    if (!x->method || !x->url)
        return err_set(e, ERR_NOMEM, "out of memory");
    return read_headers(l->req_headers, &x->req_headers, e);
}

static int fill_chunks(const struct line_exchange *l, struct exchange *x, struct err *e)
{
    yyjson_val *chunk;
    size_t i, n = yyjson_arr_size(l->chunks);

    x->chunks = malloc((n ? n : 1) * sizeof *x->chunks);
    if (!x->chunks)
        return err_set(e, ERR_NOMEM, "chunks: out of memory");
    yyjson_arr_foreach(l->chunks, i, n, chunk)
    {
        x->chunks[i] = (struct exchange_chunk){
            (uint32_t)yyjson_get_uint(yyjson_arr_get(chunk, 0)),
            yyjson_get_uint(yyjson_arr_get(chunk, 1)),
        };
    }
    x->n_chunks = n;
    return 0;
}

/* line_read_exchange() made sure that it fits. */
static void fill_text(char *to, yyjson_val *v)
{
    if (yyjson_is_str(v))
        memcpy(to, yyjson_get_str(v), yyjson_get_len(v) + 1);
}

int line_fill_response(const struct line_exchange *l, struct exchange *x, struct err *e)
{
    x->status = (int)yyjson_get_uint(l->status);
    if (yyjson_is_arr(l->chunks) && fill_chunks(l, x, e) < 0)
        return -1;
    return read_headers(l->res_headers, &x->res_headers, e);
}

int line_read_response(struct line_exchange *out, yyjson_val *response, struct err *e)
{
    *out = (struct line_exchange){.response = response};
    if (!yyjson_is_obj(response))
        return err_set(e, ERR_FORMAT, "response is not an object");
    return read_response(out, e);
}

int line_fill_rest(const struct line_exchange *l, struct exchange *x, struct err *e)
{
    x->n = yyjson_get_uint(l->exchange);
    x->t_ms = clock_parse_rfc3339(yyjson_get_str(l->t));
    if (x->t_ms < 0)
        return err_set(e, ERR_FORMAT, "t is not a time");
    x->kind = l->kind;
    x->outcome = l->outcome;
    x->req_xxh3 = l->xxh3;
    x->connect_ms = (uint32_t)yyjson_get_uint(l->connect_ms);
    x->first_byte_ms = (uint32_t)yyjson_get_uint(l->first_byte_ms);
    x->total_ms = (uint32_t)yyjson_get_uint(l->total_ms);
    fill_text(x->dialect, l->dialect);
    fill_text(x->key, l->key_text);
    fill_text(x->error_code, l->error_code);
    fill_text(x->error_message, l->error_message);
    return yyjson_is_null(l->response) ? 0 : line_fill_response(l, x, e);
}
