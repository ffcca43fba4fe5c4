/* multipart.c - see multipart.h. */
#include "tape/multipart.h"

#include "base/digest.h"
#include "base/json.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* CR LF and two dashes, then the boundary: at most 70 characters (RFC 2046 section
 * 5.1.1), but some clients draw longer ones. */
struct delimiter {
    char text[4 + 200];
    size_t len;
};

/* The value of a quoted or plain parameter; the place after it, or NULL. */
static const char *parameter_value(const char *s, struct delimiter *d)
{
    bool quoted = *s == '"';

    if (quoted)
        s++;
    while (*s && (quoted ? *s != '"' : !strchr("; \t", *s))) {
        if (quoted && *s == '\\' && s[1])
            s++;
        if (d->len == sizeof d->text)
            return NULL;
        d->text[d->len++] = *s++;
    }
    if (quoted && *s++ != '"')
        return NULL;
    return s;
}

/* Find `boundary` among the parameters of a Content-Type. */
static bool find_boundary(const char *content_type, struct delimiter *d)
{
    static const char name[] = "boundary=";
    const char *s = strchr(content_type, ';');

    while (s && *s == ';') {
        s += 1 + strspn(s + 1, " \t");
        bool ours = strncasecmp(s, name, sizeof name - 1) == 0;
        memcpy(d->text, "\r\n--", 4);
        d->len = 4;
        s += strcspn(s, "=;");
        if (*s == '=')
            s = parameter_value(s + 1, d);
        if (ours)
            return s && d->len > 4;
        if (s)
            s += strspn(s, " \t");
    }
    return false;
}

/* What follows a delimiter: blanks and CR LF, or "--" and at most one line end. */
enum line_end { END_BAD, END_PART, END_LAST };

static enum line_end delimiter_end(const char **at, const char *end)
{
    const char *s = *at;
    bool last = end - s >= 2 && memcmp(s, "--", 2) == 0;

    if (last)
        s += 2;
    while (s < end && (*s == ' ' || *s == '\t'))
        s++;
    bool line = end - s >= 2 && memcmp(s, "\r\n", 2) == 0;
    *at = line ? s + 2 : s;
    if (last)
        return *at == end ? END_LAST : END_BAD;
    return line ? END_PART : END_BAD;
}

/* One header line [s, eol) as ["name","value"]. */
static bool put_header(const char *s, const char *eol, struct buf *out)
{
    const char *colon = memchr(s, ':', (size_t)(eol - s));
    char name[128];
    size_t n = colon ? (size_t)(colon - s) : 0;

    if (n == 0 || n > sizeof name || *s == ' ' || *s == '\t')
        return false;
    for (size_t i = 0; i < n; i++)
        name[i] = (char)tolower((unsigned char)s[i]);
    for (s = colon + 1; s < eol && (*s == ' ' || *s == '\t');)
        s++;
    while (eol > s && (eol[-1] == ' ' || eol[-1] == '\t'))
        eol--;
    buf_char(out, '[');
    json_bytes(out, name, n);
    buf_char(out, ',');
    json_bytes(out, s, (size_t)(eol - s));
    buf_char(out, ']');
    return true;
}

/* One part: header lines, an empty line, bytes. */
static bool put_part(const char *s, const char *end, struct buf *out)
{
    uint8_t sum[DIGEST_SHA256];
    char hex[2 * DIGEST_SHA256 + 1];

    buf_str(out, "[[");
    for (bool some = false;; some = true) {
        const char *eol = memmem(s, (size_t)(end - s), "\r\n", 2);
        if (!eol)
            return false;
        if (eol == s)
            break;
        if (some)
            buf_char(out, ',');
        if (!put_header(s, eol, out))
            return false;
        s = eol + 2;
    }
    s += 2;
    digest_sha256(s, (size_t)(end - s), sum);
    digest_hex(sum, sizeof sum, hex);
    buf_fmt(out, "],\"%s\"]", hex);
    return true;
}

static bool put_parts(const struct delimiter *d, const char *at, const char *end,
                      struct buf *out)
{
    buf_char(out, '[');
    for (bool some = false;; some = true) {
        enum line_end what = delimiter_end(&at, end);
        if (what == END_LAST)
            break;
        if (what == END_BAD)
            return false;
        /* Looked for from the line end before `at` on: a delimiter right there leaves
         * a part without the empty line that every part has. */
        const char *next = memmem(at - 2, (size_t)(end - at) + 2, d->text, d->len);
        if (!next)
            return false;
        if (some)
            buf_char(out, ',');
        if (next < at || !put_part(at, next, out))
            return false;
        at = next + d->len;
    }
    buf_char(out, ']');
    return true;
}

bool multipart_canonical(const char *content_type, const char *body, size_t len,
                         struct buf *out)
{
    struct delimiter d;
    size_t start = out->len;

    /* The first delimiter has no line end before it. */
    if (!find_boundary(content_type, &d) || len < d.len - 2 ||
        memcmp(body, d.text + 2, d.len - 2) != 0)
        return false;
    if (put_parts(&d, body + d.len - 2, body + len, out) || out->failed)
        return true;
    out->len = start;
    if (out->data)
        out->data[start] = '\0';
    return false;
}
