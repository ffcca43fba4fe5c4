/* guard.c - see guard.h. */
#include "net/guard.h"

#include "base/limits.h"
#include "base/must.h"

#include <string.h>
#include <strings.h>

#define CHUNKED UINT64_MAX
#define LINE_MOST 256 /* a chunk-size line with its extensions */

static int fail(struct guard_fault *f, int status, const char *why)
{
    *f = (struct guard_fault){status, why};
    return -1;
}

size_t guard_head_length(const char *data, size_t len, size_t from)
{
    size_t at = from > 3 ? from - 3 : 0;

    while (at < len) {
        const char *lf = memchr(data + at, '\n', len - at);
        if (!lf)
            return 0;
        size_t next = (size_t)(lf - data) + 1;
        if (next < len && data[next] == '\n')
            return next + 1;
        if (next + 1 < len && data[next] == '\r' && data[next + 1] == '\n')
            return next + 2;
        at = next;
    }
    return 0;
}

static bool is_token_char(unsigned char c)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c && memchr(others, c, sizeof others - 1) != NULL);
}

bool guard_is_token(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!is_token_char((unsigned char)s[i]))
            return false;
    return len > 0;
}

struct framing {
    bool has_length, chunked;
    uint64_t length;
};

static int take_length(struct framing *fr, const char *v, size_t n, struct guard_fault *f)
{
    uint64_t value = 0;

    if (n == 0 || n > 18)
        return fail(f, 400, "Content-Length is not a number");
    for (size_t i = 0; i < n; i++) {
        if (v[i] < '0' || v[i] > '9')
            return fail(f, 400, "Content-Length is not a number");
        value = value * 10 + (uint64_t)(v[i] - '0');
    }
    if (fr->has_length && fr->length != value)
        return fail(f, 400, "two different Content-Length fields");
    fr->has_length = true;
    fr->length = value;
    return 0;
}

/* One field line without its line end. */
static int check_field(const char *line, size_t len, struct framing *fr,
                       struct guard_fault *f)
{
    if (line[0] == ' ' || line[0] == '\t')
        return fail(f, 400, "a header field is folded over lines");
    const char *colon = memchr(line, ':', len);
    if (!colon || colon == line)
        return fail(f, 400, "a header line is not `name: value`");
    if (!guard_is_token(line, (size_t)(colon - line)))
        return fail(f, 400, "a header name holds a blank or another wrong character");
    if (memchr(line, '\0', len) || memchr(line, '\r', len))
        return fail(f, 400, "a header value holds a control character");
    size_t name = (size_t)(colon - line);
    const char *v = colon + 1;
    size_t n = len - name - 1;
    while (n > 0 && (*v == ' ' || *v == '\t'))
        v++, n--;
    while (n > 0 && (v[n - 1] == ' ' || v[n - 1] == '\t'))
        n--;
    if (name == 14 && strncasecmp(line, "Content-Length", 14) == 0)
        return take_length(fr, v, n, f);
    if (name == 17 && strncasecmp(line, "Transfer-Encoding", 17) == 0) {
        if (fr->chunked || n != 7 || strncasecmp(v, "chunked", 7) != 0)
            return fail(f, 501, "only Transfer-Encoding: chunked is understood");
        fr->chunked = true;
    }
    return 0;
}

static int check_request_line(const char *line, size_t len, struct guard_fault *f)
{
    const char *blank = memchr(line, ' ', len);
    size_t args = 0;

    if (!blank || blank == line)
        return fail(f, 400, "the request line is not `METHOD target HTTP/1.1`");
    if (!guard_is_token(line, (size_t)(blank - line)))
        return fail(f, 400, "the request method is not a token");
    const char *target = blank + 1;
    const char *end = memchr(target, ' ', (size_t)(line + len - target));
    if (!end || end == target || line + len - end != 9 ||
        memcmp(end, " HTTP/1.", 8) != 0 || end[8] < '0' || end[8] > '9')
        return fail(f, 400, "the request line is not `METHOD target HTTP/1.1`");
    for (const char *p = target; p < end; p++) {
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return fail(f, 400, "the request target holds a control character");
        args += *p == '?' || *p == '&';
    }
    if (args > LIMIT_QUERY_ARGS)
        return fail(f, 414, "too many query arguments");
    return 0;
}

int guard_head(const char *head, size_t len, uint64_t *left, struct guard_fault *f)
{
    struct framing fr = {0};
    const char *p = head, *end = head + len;
    bool first = true;

    while (p < end) {
        const char *lf = memchr(p, '\n', (size_t)(end - p));
        must(lf != NULL);
        size_t n = (size_t)(lf - p);
        if (n > 0 && p[n - 1] == '\r')
            n--;
        if (n == 0 && !first)
            break;
        if (first && n > 0) {
            if (check_request_line(p, n, f) < 0)
                return -1;
            first = false;
        } else if (!first && check_field(p, n, &fr, f) < 0) {
            return -1;
        }
        p = lf + 1;
    }
    if (fr.chunked && fr.has_length)
        return fail(f, 400, "Content-Length together with Transfer-Encoding");
    *left = fr.chunked ? CHUNKED : fr.length;
    return 0;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A chunk-size line; *size is the chunk's length. */
static int parse_size(const char *line, size_t len, uint64_t *size, struct guard_fault *f)
{
    size_t i = 0;

    *size = 0;
    for (; i < len && hex_value(line[i]) >= 0; i++) {
        if (i == 15)
            return fail(f, 400, "a chunk size is too large");
        *size = *size << 4 | (uint64_t)hex_value(line[i]);
    }
    if (i == 0 || (i < len && line[i] != ';' && line[i] != ' ' && line[i] != '\t'))
        return fail(f, 400, "a chunk size is not a hexadecimal number");
    return 0;
}

/* A whole line at the front: its length with the line end, 0 while incomplete. */
static long line_at(struct guard *g, const char *data, size_t len, struct guard_fault *f)
{
    const char *lf = memchr(data + g->scanned, '\n', len - g->scanned);

    if (!lf) {
        g->scanned = len;
        return len > LINE_MOST ? fail(f, 400, "a chunk line never ends") : 0;
    }
    g->scanned = 0;
    return (long)(lf - data) + 1;
}

static long pass_head(struct guard *g, const char *data, size_t len,
                      struct guard_fault *f)
{
    uint64_t left;
    size_t blank = 0; /* empty lines before a request are allowed (RFC 9112 2.2) */

    while (blank < len && (data[blank] == '\r' || data[blank] == '\n'))
        blank++;
    if (blank == len)
        return (long)len;
    size_t n = guard_head_length(data + blank, len - blank,
                                 g->scanned > blank ? g->scanned - blank : 0);
    g->scanned = len;
    if (n > LIMIT_REQUEST_HEAD || (n == 0 && len > LIMIT_REQUEST_HEAD))
        return fail(f, 431, "the request head is larger than 30 KB");
    if (n == 0)
        return 0;
    g->scanned = 0;
    if (guard_head(data + blank, n, &left, f) < 0)
        return -1;
    g->state = left == CHUNKED ? GUARD_SIZE : left ? GUARD_BODY : GUARD_HEAD;
    g->left = left;
    return (long)(blank + n);
}

static long pass_size(struct guard *g, const char *data, size_t len,
                      struct guard_fault *f)
{
    long n = line_at(g, data, len, f);
    uint64_t size;

    if (n <= 0)
        return n;
    size_t text = (size_t)n - 1;
    if (text > 0 && data[text - 1] == '\r')
        text--;
    if (parse_size(data, text, &size, f) < 0)
        return -1;
    g->state = size ? GUARD_CHUNK : GUARD_TRAILERS;
    g->left = size + 2; /* and CRLF */
    return n;
}

static long pass_chunk(struct guard *g, const char *data, size_t len,
                       struct guard_fault *f)
{
    size_t n = len < g->left ? len : (size_t)g->left;

    for (size_t i = n > 2 ? n - 2 : 0; i < n; i++) {
        uint64_t after = g->left - 1 - i;
        if (after < 2 && data[i] != (after ? '\r' : '\n'))
            return fail(f, 400, "a chunk does not end where its size says");
    }
    g->left -= n;
    if (g->left == 0)
        g->state = GUARD_SIZE;
    return (long)n;
}

static long pass_trailers(struct guard *g, const char *data, size_t len,
                          struct guard_fault *f)
{
    struct framing ignored = {0};
    const char *lf = memchr(data + g->scanned, '\n', len - g->scanned);

    if (!lf) {
        g->scanned = len;
        return len > LIMIT_REQUEST_HEAD ? fail(f, 431, "a trailer never ends") : 0;
    }
    g->scanned = 0;
    size_t n = (size_t)(lf - data);
    if (n > 0 && data[n - 1] == '\r')
        n--;
    if (n == 0)
        g->state = GUARD_HEAD;
    else if (check_field(data, n, &ignored, f) < 0)
        return -1;
    return (long)(lf - data) + 1;
}

long guard_pass(struct guard *g, const char *data, size_t len, struct guard_fault *f)
{
    size_t at = 0;

    while (at < len) {
        long n = 0;
        switch (g->state) {
        case GUARD_HEAD:
            n = pass_head(g, data + at, len - at, f);
            break;
        case GUARD_BODY:
            n = (long)(len - at < g->left ? len - at : (size_t)g->left);
            g->left -= (uint64_t)n;
            if (g->left == 0)
                g->state = GUARD_HEAD;
            break;
        case GUARD_SIZE:
            n = pass_size(g, data + at, len - at, f);
            break;
        case GUARD_CHUNK:
            n = pass_chunk(g, data + at, len - at, f);
            break;
        case GUARD_TRAILERS:
            n = pass_trailers(g, data + at, len - at, f);
            break;
        }
        if (n < 0) /* what came before is clean and may go; the fault comes again */
            return at ? (long)at : -1;
        if (n == 0)
            break;
        at += (size_t)n;
    }
    return (long)at;
}
