/* secret_forms.c - see secret_forms.h. */
#include "tape/secret_forms.h"

#include "base/must.h"

#include <string.h>
#include <strings.h>

static bool in(char class, const char *text, size_t len, size_t at)
{
    return at < len && secret_shape_in_class(class, (unsigned char)text[at]);
}

static bool starts(const char *text, size_t len, size_t at, const char *word)
{
    size_t n = strlen(word);

    return at <= len && len - at >= n && memcmp(text + at, word, n) == 0;
}

bool secret_form_name_ok(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < n; i++)
        if (!in('v', name, n, i))
            return false;
    return n >= 1 && n <= SECRET_NAME_MAX;
}

size_t secret_form_placeholder(const char *text, size_t len, size_t at)
{
    static const char open[] = "[secret:";
    size_t i = at + sizeof open - 1;
    size_t name = i;

    if (!starts(text, len, at, open))
        return 0;
    while (in('v', text, len, i) && i - name < SECRET_NAME_MAX)
        i++;
    return i > name && i < len && text[i] == ']' ? i + 1 - at : 0;
}

static bool is_blank(char c)
{
    return c && strchr(" \t\r\n\f\v", c);
}

/* Length of one blank at text[at]: a byte, or the escape of one, however often JSON was
 * put into JSON; 0 when there is none. */
static size_t blank(const char *text, size_t len, size_t at)
{
    size_t i = at;

    if (i < len && is_blank(text[i]))
        return 1;
    while (i < len && text[i] == '\\')
        i++;
    return i > at && i < len && text[i] && strchr("nrt", text[i]) ? i + 1 - at : 0;
}

static size_t skip_blanks(const char *text, size_t len, size_t at)
{
    for (size_t n; (n = blank(text, len, at)) > 0;)
        at += n;
    return at;
}

/* ---- PEM ---- */

/* Bytes that may stand between BEGIN and END: base64, its headers, line breaks as
 * they are or escaped (once or more). */
static bool in_pem(char c)
{
    return secret_shape_in_class('b', (unsigned char)c) ||
           (c && strchr(" \t\r\n\\:,-.", c));
}

bool secret_form_pem(const char *text, size_t len, size_t at, struct secret_span *out)
{
    enum { BODY_LEAST = 40 }; /* a key has more; "..." in a manual has less */
    static const char begin[] = "-BEGIN ", kind[] = "PRIVATE KEY", end[] = "-----END";
    size_t i = at + sizeof begin - 1;
    size_t label_most = i + 40, solid = 0;

    if (at < 4 || memcmp(text + at - 4, "----", 4) != 0)
        return false;
    while (i < len && i < label_most && !starts(text, len, i, kind)) {
        if (!in('U', text, len, i) && text[i] != ' ')
            return false;
        i++;
    }
    if (!starts(text, len, i, kind))
        return false;
    i += sizeof kind - 1;
    if (starts(text, len, i, " BLOCK"))
        i += 6;
    if (!starts(text, len, i, "-----"))
        return false;
    for (i += 5; i < len && in_pem(text[i]) && !starts(text, len, i, end); i++)
        solid += in('b', text, len, i);
    if (solid < BODY_LEAST)
        return false;
    if (starts(text, len, i, end)) {
        for (i += sizeof end - 1; in('U', text, len, i) || (i < len && text[i] == ' ');)
            i++;
        if (starts(text, len, i, "-----"))
            i += 5;
    } else {
        while (text[i - 1] == '\\') /* never half an escape */
            i--;
    }
    *out = (struct secret_span){at - 4, i};
    return true;
}

/* ---- scheme://user:password@host ---- */

static bool in_userinfo(unsigned char c)
{
    return secret_shape_in_class('u', c) || (c && strchr(".~%!$&*+=;", (char)c));
}

bool secret_form_userinfo(const char *text, size_t len, size_t at,
                          struct secret_span *out)
{
    size_t user, pass, i = at;

    if (at == 0 || !in('a', text, len, at - 1))
        return false;
    for (i++; i < len && (text[i] == '/' || text[i] == '\\');)
        i++;
    user = i;
    while (i < len && in_userinfo((unsigned char)text[i]))
        i++;
    if (i >= len || text[i] != ':')
        return false;
    pass = ++i;
    while (i < len && (in_userinfo((unsigned char)text[i]) || text[i] == ':'))
        i++;
    if (i == pass || i >= len || text[i] != '@' || text[pass] == '$')
        return false;
    if (!in('a', text, len, i + 1) && !starts(text, len, i + 1, "["))
        return false;
    *out = (struct secret_span){user, i};
    return true;
}

/* ---- Bearer tokens ---- */

/* End of the token68 at text[at], without the full stop of a sentence. */
static size_t token_end(const char *text, size_t len, size_t at)
{
    size_t i = at;

    while (in('t', text, len, i) || (starts(text, len, i, "\\/")))
        i += text[i] == '\\' ? 2 : 1;
    while (i > at && text[i - 1] == '.')
        i--;
    return i;
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

/* Words that follow "Bearer" or "Authorization: Basic" in manuals, not in requests. */
static bool is_manual_word(const char *text, size_t len)
{
    static const char *const words[] = {
        "token",         "tokens",       "auth",         "authentication",
        "authorization", "access_token", "access-token", "credentials",
        "header",        "scheme",       "required",
    };

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (len == strlen(words[i]) && strncasecmp(text, words[i], len) == 0)
            return true;
    return len >= 4 && strncasecmp(text, "your", 4) == 0;
}

bool secret_form_bearer(const char *text, size_t len, size_t at, struct secret_span *out)
{
    size_t word_end = at + strlen("bearer");
    size_t token = skip_blanks(text, len, word_end);
    size_t end, placeholder = secret_form_placeholder(text, len, token);
    struct secret_texture look;
    bool whole;

    if (token == word_end)
        return false;
    if (placeholder) {
        /* "Bearer" before a placeholder still looks like a credential to others. */
        *out = (struct secret_span){at, token + placeholder};
        return true;
    }
    end = token_end(text, len, token);
    if (end == token || !in('a', text, len, token))
        return false;
    secret_shape_texture(text + token, end - token, &look);
    whole = end - token >= 4 && (at == 0 || is_quote(text[at - 1])) &&
            (end == len || is_quote(text[end]) || text[end] == '\\');
    if (!(look.digits && (whole || end - token >= 16)) && look.run < 24)
        return false;
    *out = (struct secret_span){at, end};
    return true;
}

/* ---- Authorization lines ---- */

static bool is_line_start(const char *text, size_t at)
{
    while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t'))
        at--;
    return at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r' ||
           (at >= 2 && text[at - 2] == '\\' && (text[at - 1] == 'n'));
}

/* Does a header value end here: the line, a quotation mark, an escape, a byte that no
 * text has? */
static bool ends_value(const char *text, size_t len, size_t at)
{
    return at >= len || !text[at] || (unsigned char)text[at] >= 0xf8 ||
           strchr("\r\n\"'`\\", text[at]);
}

static size_t value_end(const char *text, size_t len, size_t at)
{
    while (!ends_value(text, len, at))
        at++;
    return at;
}

/* Over closing quotes (escaped or not) and blanks. */
static size_t skip_quotes(const char *text, size_t len, size_t at)
{
    while (at < len && (text[at] == '\\' || text[at] == '"' || text[at] == '\''))
        at++;
    return at;
}

static const char *const schemes[] = {
    "Bearer",
    "Basic",
    "Token",
    "Digest",
    "Bot",
    "Negotiate",
    "NTLM",
    "ApiKey",
    "Api-Key",
    "Key",
    "OAuth",
    "HMAC",
    "AWS4-HMAC-SHA256",
    "Splunk",
    "GenieKey",
    "SharedKey",
    "Hawk",
    "DPoP",
    "GoogleLogin",
};

/* End of "Scheme " at text[at], or `at` when no scheme we know stands there. */
static size_t after_scheme(const char *text, size_t len, size_t at)
{
    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        size_t n = strlen(schemes[i]);
        if (len - at > n && strncasecmp(text + at, schemes[i], n) == 0 &&
            blank(text, len, at + n))
            return skip_blanks(text, len, at + n);
    }
    return at;
}

/* Is text[at..] a credential rather than a sentence? *token is where it begins, behind
 * its scheme. The first bytes tell; what is none must not cost more. */
static bool is_credential(const char *text, size_t len, size_t at, size_t *token)
{
    enum { JUDGE_MOST = 512 };
    size_t most = len - at > JUDGE_MOST ? at + JUDGE_MOST : len, stop, n;
    struct secret_texture look;

    *token = after_scheme(text, most, at);
    stop = token_end(text, most, *token);
    n = stop - *token;
    if (n == 0 || !in('a', text, len, *token))
        return false;
    secret_shape_texture(text + *token, n, &look);
    if (*token == at)
        return n >= 16 && look.digits && look.run >= 8;
    if (look.run >= 24 || (n >= 4 && (look.digits || look.mixed)))
        return true;
    return ends_value(text, len, stop) && n >= 4 && !is_manual_word(text + *token, n);
}

/* From the end of the name to the first byte of the value; 0 when there is none. */
static size_t find_value(const char *text, size_t len, size_t i, bool *colon)
{
    i = skip_quotes(text, len, i);
    while (i < len && (text[i] == ' ' || text[i] == '\t'))
        i++;
    if (i >= len || (text[i] != ':' && text[i] != '='))
        return 0;
    *colon = text[i] == ':';
    return skip_quotes(text, len, skip_blanks(text, len, i + 1));
}

bool secret_form_authorization(const char *text, size_t len, size_t at,
                               struct secret_span *out)
{
    bool colon = false;
    size_t i = find_value(text, len, at + strlen("authorization"), &colon);
    size_t token = i, end, stop;
    /* Others take any line that begins so for a credential: the name goes too. */
    bool line = colon && is_line_start(text, at);
    bool replaced = line && secret_form_placeholder(text, len, i);

    if (i == 0 || i >= len || (!replaced && !is_credential(text, len, i, &token)))
        return false;
    if (!line) {
        stop = token_end(text, len, token);
        end = stop < len && text[stop] == ',' ? value_end(text, len, stop) : stop;
        *out = (struct secret_span){i, end};
        return true;
    }
    end = value_end(text, len, token_end(text, len, token));
    while (text[end - 1] == ' ' || text[end - 1] == '\t')
        end--;
    if (end < len && is_quote(text[end]) && text[end] == text[i - 1])
        end++;
    *out = (struct secret_span){at, end};
    return true;
}

/* ---- what leads up to a find ---- */

static size_t back_over_blanks(const char *text, size_t from, size_t at)
{
    while (at > from) {
        size_t i = at - 1;
        if (!is_blank(text[i])) {
            while (i > from && text[i - 1] == '\\')
                i--;
            if (i == at - 1 || !text[at - 1] || !strchr("nrt", text[at - 1]))
                break;
        }
        at = i;
    }
    return at;
}

static bool ends_with(const char *text, size_t from, size_t at, const char *word)
{
    size_t n = strlen(word);

    return at - from >= n && strncasecmp(text + at - n, word, n) == 0;
}

/* Back over the name, colon and quotes of an Authorization field, or `at`. */
static size_t back_over_name(const char *text, size_t from, size_t at)
{
    static const char name[] = "authorization";
    size_t i = at;

    while (i > from && (is_quote(text[i - 1]) || text[i - 1] == '\\'))
        i--;
    i = back_over_blanks(text, from, i);
    if (i == from || text[i - 1] != ':')
        return at;
    for (i--; i > from && (text[i - 1] == ' ' || text[i - 1] == '\t');)
        i--;
    while (i > from && (is_quote(text[i - 1]) || text[i - 1] == '\\'))
        i--;
    return ends_with(text, from, i, name) ? i - strlen(name) : at;
}

/* Back over "Bearer" and the blanks behind it, or `at`. */
static size_t back_over_bearer(const char *text, size_t from, size_t at)
{
    static const char word[] = "bearer";
    size_t i = back_over_blanks(text, from, at);

    if (i == at || !ends_with(text, from, i, word) ||
        !secret_shape_edge_before(text, i - strlen(word)))
        return at;
    return i - strlen(word);
}

size_t secret_form_lead(const char *text, size_t from, size_t at)
{
    size_t before;

    do {
        before = at;
        at = back_over_bearer(text, from, at);
        size_t name = back_over_name(text, from, at);
        /* Inside of a line the name may stay, unless "Bearer" before it would take the
         * placeholder behind it for a token. */
        if (name < at &&
            (is_line_start(text, name) || back_over_bearer(text, from, name) < name))
            at = name;
    } while (at < before);
    return at;
}
