/* scrub_body.c - see scrub_body.h. */
#include "tape/scrub_body.h"
#include "base/json.h"

#include "tape/scrub_stream.h"

#include <string.h>
#include <strings.h>

/* ---- what it is ---- */

/* By the beginning of the media type; the first that fits counts. */
static const struct {
    const char *type;
    enum scrub_kind kind;
} kinds[] = {
    {"image/svg", BODY_TEXT},
    {"image/", BODY_MEDIA},
    {"audio/", BODY_MEDIA},
    {"video/", BODY_MEDIA},
    {"font/", BODY_MEDIA},
    {"application/octet-stream", BODY_MEDIA},
    {"application/zip", BODY_MEDIA},
    {"application/gzip", BODY_MEDIA},
    {"application/x-tar", BODY_MEDIA},
    {"application/pdf", BODY_MEDIA},
    {"application/wasm", BODY_MEDIA},
    {"application/grpc", BODY_MEDIA},
    {"application/x-protobuf", BODY_MEDIA},
    {"application/vnd.amazon.eventstream", BODY_MEDIA},
    {"text/event-stream", BODY_EVENTS},
    {"application/x-ndjson", BODY_LINES},
    {"application/ndjson", BODY_LINES},
    {"application/jsonl", BODY_LINES},
    {"application/x-jsonlines", BODY_LINES},
    {"application/json-seq", BODY_LINES},
    {"application/x-www-form-urlencoded", BODY_FORM},
    {"multipart/", BODY_MULTIPART},
};

static bool begins(const char *body, size_t len, const char *word)
{
    size_t n = strlen(word);

    return len >= n && memcmp(body, word, n) == 0;
}

enum { LOOK_MOST = 4096 };

/* Does it begin like text? No control characters but blanks, and UTF-8. */
static bool looks_like_text(const char *body, size_t len)
{
    size_t n = len < LOOK_MOST ? len : LOOK_MOST;

    for (size_t i = 0; i < n; i++)
        if ((unsigned char)body[i] < ' ' && !strchr("\t\n\r\f", body[i] ? body[i] : 1))
            return false;
    for (size_t cut = 0; cut < 4 && cut <= n; cut++) /* a character may be cut in two */
        if (json_is_utf8(body, n - cut))
            return true;
    return false;
}

/* What the header says, unless the bytes say better: curl sends JSON as a form unless
 * told otherwise, and a key in application/octet-stream is a key. */
enum scrub_kind scrub_body_kind(const char *content_type, const char *body, size_t len)
{
    enum scrub_kind said = BODY_TEXT;
    bool known = false;
    size_t at = 0;

    for (size_t i = 0; content_type && !known && i < COUNT_OF(kinds); i++) {
        known = strncasecmp(content_type, kinds[i].type, strlen(kinds[i].type)) == 0;
        if (known)
            said = kinds[i].kind;
    }
    /* image/, audio/ and video/ are what they say; application/ may be anything */
    bool doubtful =
        !known || said == BODY_FORM ||
        (said == BODY_MEDIA && strncasecmp(content_type, "application/", 12) == 0);
    if (!doubtful)
        return said;
    if (!looks_like_text(body, len))
        return said == BODY_FORM ? BODY_FORM : BODY_MEDIA;
    if (scrub_json_looks_like(body, len, &at))
        return BODY_JSON;
    if (said == BODY_FORM)
        return BODY_FORM;
    if (begins(body, len, "data:") || begins(body, len, "event:"))
        return BODY_EVENTS;
    return BODY_TEXT;
}

bool scrub_body_needs_close_look(enum scrub_kind kind, const char *body, size_t len)
{
    const char *line;
    size_t at = 0;

    if (kind != BODY_JSON)
        return kind != BODY_TEXT;
    if (scrub_json_looks_like(body, len, &at) && body[at] == '[')
        return true;
    line = memchr(body, '\n', len);
    return line && line > body && line + 1 < body + len && line[-1] == '}' &&
           line[1] == '{';
}

/* ---- streams ---- */

/* Length of the line at body[at], without its end. */
static size_t line_length(const char *body, size_t len, size_t at)
{
    const char *end = memchr(body + at, '\n', len - at);
    size_t n = end ? (size_t)(end - body) - at : len - at;

    return n && body[at + n - 1] == '\r' ? n - 1 : n;
}

static size_t next_line(const char *body, size_t len, size_t at)
{
    const char *end = memchr(body + at, '\n', len - at);

    return end ? (size_t)(end - body) + 1 : len;
}

static void find_in_text(const struct scrub *s, const char *body, size_t from, size_t to,
                         struct scrub_edits *edits)
{
    edits->base = from;
    scrub_find_text(s, body + from, to - from, edits);
    edits->base = 0;
}

/* One line that should hold one JSON document; false when it is text. */
static bool find_document(struct scrub_stream *st, size_t from, size_t to,
                          struct scrub_edits *edits)
{
    size_t at = from;

    return scrub_json_looks_like(st->body, to, &at) &&
           scrub_stream_event(st, at, to, &at, edits) && at == to;
}

static void find_in_lines(const struct scrub *s, const char *body, size_t len,
                          struct scrub_edits *edits)
{
    struct scrub_stream st;

    scrub_stream_init(&st, s, body, false);
    for (size_t at = 0; at < len; at = next_line(body, len, at)) {
        size_t from = at, to = at + line_length(body, len, at);
        from += from < to && body[from] == 0x1e; /* RFC 7464 */
        if (!find_document(&st, from, to, edits))
            find_in_text(s, body, from, to, edits);
    }
    scrub_stream_end(&st, edits);
    scrub_stream_fini(&st);
}

static void find_in_events(const struct scrub *s, const char *body, size_t len,
                           struct scrub_edits *edits)
{
    struct scrub_stream st;

    scrub_stream_init(&st, s, body, false);
    for (size_t at = 0; at < len; at = next_line(body, len, at)) {
        size_t from = at, to = at + line_length(body, len, at);
        if (!begins(body + at, to - at, "data:")) {
            find_in_text(s, body, from, to, edits);
            continue;
        }
        from += at + 5 < to && body[at + 5] == ' ' ? 6 : 5;
        if (!find_document(&st, from, to, edits))
            scrub_stream_text(&st, from, to, edits);
    }
    scrub_stream_end(&st, edits);
    scrub_stream_fini(&st);
}

/* Documents one after the other; from the first that is not JSON on, it is text. */
static void find_in_json(const struct scrub *s, const char *body, size_t len,
                         struct scrub_edits *edits)
{
    struct scrub_stream st;
    size_t at = 0;

    scrub_stream_init(&st, s, body, !scrub_body_needs_close_look(BODY_JSON, body, len));
    while (scrub_json_looks_like(body, len, &at)) {
        size_t from = at;
        if (!scrub_stream_event(&st, from, len, &at, edits)) {
            at = from;
            break;
        }
    }
    find_in_text(s, body, at, len, edits);
    scrub_stream_end(&st, edits);
    scrub_stream_fini(&st);
}

/* ---- multipart ---- */

/* A parameter of a header value: boundary=..., name="...". */
static bool find_parameter(const char *text, size_t len, const char *name,
                           const char **out, size_t *out_len)
{
    size_t n = strlen(name);

    for (size_t i = 1; i + n < len; i++) {
        if (strncasecmp(text + i, name, n) != 0 || text[i + n] != '=' ||
            (text[i - 1] != ' ' && text[i - 1] != ';' && text[i - 1] != '\t'))
            continue;
        size_t at = i + n + 1;
        bool quoted = at < len && text[at] == '"';
        at += quoted;
        *out = text + at;
        for (*out_len = 0; at < len && text[at] != '"'; at++, ++*out_len)
            if (!quoted && (text[at] == ';' || text[at] == ' ' || text[at] == '\r'))
                break;
        return true;
    }
    return false;
}

/* The media type of a part, NUL-terminated. */
static void part_type(const char *head, size_t len, char *out, size_t size)
{
    static const char name[] = "Content-Type:";
    size_t n = 0;

    for (size_t at = 0; at < len; at = next_line(head, len, at)) {
        size_t line = line_length(head, len, at);
        if (line < sizeof name || strncasecmp(head + at, name, sizeof name - 1) != 0)
            continue;
        for (size_t i = at + sizeof name - 1; i < at + line && n + 1 < size; i++)
            if (head[i] != ' ')
                out[n++] = head[i];
    }
    out[n] = '\0';
}

static void find_in_part(const struct scrub *s, const char *part, size_t len,
                         struct scrub_edits *edits)
{
    const char *name = NULL, *end = memmem(part, len, "\r\n\r\n", 4);
    size_t head = end ? (size_t)(end - part) + 4 : len;
    size_t name_len = 0, base = edits->base;
    const struct scrub_name *row = NULL;
    struct scrub_edits inner = {0};
    char type[128];

    scrub_find_text(s, part, head, edits);
    if (find_parameter(part, head, "name", &name, &name_len))
        row = scrub_names_find(&s->fields, name, name_len);
    part_type(part, head, type, sizeof type);
    if (row && scrub_names_fits(row, part + head, len - head)) {
        scrub_edits_add(edits, head, len - head, row->rule);
        return;
    }
    enum scrub_kind kind = scrub_body_kind(*type ? type : NULL, part + head, len - head);
    if (kind != BODY_MULTIPART) /* one level is what forms have */
        scrub_body_find(s, kind, type, part + head, len - head, &inner);
    edits->base = base + head;
    for (size_t i = 0; i < inner.n; i++)
        scrub_edits_add(edits, inner.v[i].at, inner.v[i].len, inner.v[i].rule);
    edits->failed |= inner.failed;
    edits->base = base;
    scrub_edits_free(&inner);
}

static void find_in_multipart(const struct scrub *s, const char *content_type,
                              const char *body, size_t len, struct scrub_edits *edits)
{
    enum { BOUNDARY_MOST = 70 }; /* RFC 2046 section 5.1.1 */
    const char *boundary, *at = body, *end = body + len;
    char mark[BOUNDARY_MOST + 2];
    size_t n;

    if (!content_type ||
        !find_parameter(content_type, strlen(content_type), "boundary", &boundary, &n) ||
        n == 0 || n > BOUNDARY_MOST) {
        scrub_find_text(s, body, len, edits);
        return;
    }
    memcpy(mark, "--", 2);
    memcpy(mark + 2, boundary, n);
    while (at < end) {
        const char *next = memmem(at, (size_t)(end - at), mark, n + 2);
        const char *stop = next ? next : end;
        if (next && stop - at >= 2 && memcmp(stop - 2, "\r\n", 2) == 0)
            stop -= 2;
        edits->base = (size_t)(at - body);
        find_in_part(s, at, (size_t)(stop - at), edits);
        edits->base = 0;
        at = next ? next + n + 2 : end;
    }
}

void scrub_body_find(const struct scrub *s, enum scrub_kind kind,
                     const char *content_type, const char *body, size_t len,
                     struct scrub_edits *edits)
{
    const struct scrub_names *const names[] = {&s->fields, &s->query, NULL};

    switch (kind) {
    case BODY_MEDIA:
        break;
    case BODY_TEXT:
        scrub_find_text(s, body, len, edits);
        break;
    case BODY_JSON:
        find_in_json(s, body, len, edits);
        break;
    case BODY_LINES:
        find_in_lines(s, body, len, edits);
        break;
    case BODY_EVENTS:
        find_in_events(s, body, len, edits);
        break;
    case BODY_FORM:
        scrub_find_pairs(s, names, body, len, edits);
        break;
    case BODY_MULTIPART:
        find_in_multipart(s, content_type, body, len, edits);
        break;
    }
    scrub_edits_settle(edits);
}
