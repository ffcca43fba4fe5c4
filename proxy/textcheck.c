/* textcheck.c - see textcheck.h. */
#include "proxy/textcheck.h"

#include "base/url.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_anything(const char *text)
{
    return *text != '\0';
}

static bool is_host_pattern(const char *text)
{
    struct err why;
    char *host = NULL;
    uint16_t port = 0;
    const char *name = strncmp(text, "*.", 2) == 0 ? text + 2 : text;

    if (url_host_port(name, &host, &port, &why) < 0)
        return false;
    bool fine = port == 0 && !(name != text && url_is_ip(host));
    free(host);
    return fine;
}

/* RFC 9110 section 5.6.2, token. */
static bool is_header_name(const char *text)
{
    for (const char *p = text; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("!#$%&'*+-.^_`|~", *p))
            return false;
    return *text != '\0';
}

static bool is_path(const char *text)
{
    for (const char *p = text; *p; p++)
        if (*p <= ' ' || *p == 0x7f || *p == '?' || *p == '#')
            return false;
    return text[0] == '/';
}

/* RFC 6901 section 3; the empty pointer would ignore the whole body. */
static bool is_pointer(const char *text)
{
    for (const char *p = text; *p; p++)
        if (*p == '~' && p[1] != '0' && p[1] != '1')
            return false;
    return text[0] == '/';
}

static bool is_name(const char *text)
{
    size_t len = strlen(text);

    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && (i == 0 || !strchr("._-", text[i])))
            return false;
    return len > 0 && len <= 64;
}

static bool is_target(const char *text)
{
    struct url u = {0};
    struct err why;

    if (url_parse(&u, text, &why) < 0)
        return false;
    bool fine = !u.query && is_path(u.path);
    url_fini(&u);
    return fine;
}

const struct textcheck textcheck_host = {is_host_pattern,
                                         "a host name without a port, or *.DOMAIN"};
const struct textcheck textcheck_header = {is_header_name, "a header name"};
const struct textcheck textcheck_path = {is_path, "a path that starts with '/'"};
const struct textcheck textcheck_pointer = {
    is_pointer, "a JSON pointer such as /messages/*/id (~0 for ~, ~1 for /)"};
const struct textcheck textcheck_name = {
    is_name, "a name of at most 64 letters, digits, '.', '_' and '-'"};
const struct textcheck textcheck_word = {is_anything, "a text that is not empty"};
const struct textcheck textcheck_target = {
    is_target, "an http:// or https:// URL without user name, query and fragment"};
