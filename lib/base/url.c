/* url.c - see url.h. */
#include "base/url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void url_fini(struct url *u)
{
    free(u->host);
    free(u->path);
    free(u->query);
    *u = (struct url){0};
}

/* A host name we are willing to connect to or put in a certificate. */
static bool host_ok(const char *s, size_t n, bool bracketed)
{
    if (n == 0 || n > 253)
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (isalnum(c) || c == '.' || c == '-' || c == '_')
            continue;
        if (bracketed && (c == ':' || c == '%'))
            continue;
        return false;
    }
    return true;
}

static int parse_port(const char *s, size_t n, uint16_t *port, struct err *e)
{
    unsigned long v = 0;

    if (n == 0 || n > 5)
        return err_set(e, ERR_FORMAT, "port is not a number from 1 to 65535");
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return err_set(e, ERR_FORMAT, "port is not a number from 1 to 65535");
        v = v * 10 + (unsigned long)(s[i] - '0');
    }
    if (v == 0 || v > 65535)
        return err_set(e, ERR_FORMAT, "port is not a number from 1 to 65535");
    *port = (uint16_t)v;
    return 0;
}

static int parse_authority(const char *s, size_t n, char **host, uint16_t *port,
                           struct err *e)
{
    const char *name = s;
    size_t name_len;
    bool bracketed = n > 0 && s[0] == '[';
    const char *rest;

    if (bracketed) {
        const char *close = memchr(s, ']', n);
        if (!close)
            return err_set(e, ERR_FORMAT, "IPv6 address without its closing bracket");
        name = s + 1;
        name_len = (size_t)(close - name);
        rest = close + 1;
    } else {
        const char *colon = memchr(s, ':', n);
        rest = colon ? colon : s + n;
        name_len = (size_t)(rest - s);
    }
    if (!host_ok(name, name_len, bracketed))
        return err_set(e, ERR_FORMAT, "not a host name");
    if (rest < s + n) {
        if (*rest != ':')
            return err_set(e, ERR_FORMAT, "not a host and port");
        if (parse_port(rest + 1, (size_t)(s + n - rest - 1), port, e) < 0)
            return -1;
    }
    *host = strndup(name, name_len);
    if (!*host)
        return err_set(e, ERR_NOMEM, "out of memory");
    for (char *p = *host; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    if (bracketed && (!strchr(*host, ':') || !url_is_ip(*host))) {
        free(*host);
        *host = NULL;
        return err_set(e, ERR_FORMAT, "not an IPv6 address");
    }
    return 0;
}

int url_host_port(const char *text, char **host, uint16_t *port, struct err *e)
{
    *port = 0;
    return parse_authority(text, strlen(text), host, port, e);
}

int url_parse(struct url *out, const char *text, struct err *e)
{
    struct url u = {0};
    const char *rest;

    if (strncasecmp(text, "http://", 7) == 0) {
        rest = text + 7;
    } else if (strncasecmp(text, "https://", 8) == 0) {
        rest = text + 8;
        u.tls = true;
    } else {
        return err_set(e, ERR_FORMAT, "not an http:// or https:// URL");
    }
    u.port = u.tls ? 443 : 80;
    if (strchr(rest, '#'))
        return err_set(e, ERR_FORMAT, "a request URL has no fragment");
    size_t authority = strcspn(rest, "/?");
    if (memchr(rest, '@', authority))
        return err_set(e, ERR_FORMAT, "user names in URLs are refused");
    if (parse_authority(rest, authority, &u.host, &u.port, e) < 0)
        return -1;
    rest += authority;
    size_t path = strcspn(rest, "?");
    u.path = path ? strndup(rest, path) : strdup("/");
    if (rest[path] == '?')
        u.query = strdup(rest + path + 1);
    if (!u.path || (rest[path] == '?' && !u.query)) {
        url_fini(&u);
        return err_set(e, ERR_NOMEM, "out of memory");
    }
    *out = u;
    return 0;
}

int url_copy(struct url *to, const struct url *from, struct err *e)
{
    struct url u = {.tls = from->tls, .port = from->port};

    u.host = strdup(from->host);
    u.path = strdup(from->path);
    u.query = from->query ? strdup(from->query) : NULL;
    if (!u.host || !u.path || (from->query && !u.query)) {
        url_fini(&u);
        return err_set(e, ERR_NOMEM, "out of memory");
    }
    *to = u;
    return 0;
}

void url_origin(const struct url *u, struct buf *out)
{
    bool v6 = strchr(u->host, ':') != NULL;

    buf_str(out, u->tls ? "https://" : "http://");
    buf_str(out, v6 ? "[" : "");
    buf_str(out, u->host);
    buf_str(out, v6 ? "]" : "");
    if (u->port != (u->tls ? 443 : 80))
        buf_fmt(out, ":%u", u->port);
}

void url_text(const struct url *u, struct buf *out)
{
    url_origin(u, out);
    buf_str(out, u->path);
    if (u->query) {
        buf_char(out, '?');
        buf_str(out, u->query);
    }
}

bool url_is_ip(const char *host)
{
    unsigned char addr[16];

    return inet_pton(AF_INET, host, addr) == 1 || inet_pton(AF_INET6, host, addr) == 1;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void url_decode(const char *s, size_t len, bool plus_is_space, struct buf *out)
{
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '%' && i + 2 < len && hex_digit(s[i + 1]) >= 0 &&
            hex_digit(s[i + 2]) >= 0) {
            buf_char(out, (char)(hex_digit(s[i + 1]) << 4 | hex_digit(s[i + 2])));
            i += 2;
        } else {
            buf_char(out, s[i] == '+' && plus_is_space ? ' ' : s[i]);
        }
    }
}
