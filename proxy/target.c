/* target.c - see target.h. */
#include "proxy/target.h"

#include "base/limits.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAGIC_NAME "retape.local"

void target_fini(struct target *t)
{
    url_fini(&t->url);
    free(t->path);
    *t = (struct target){0};
}

static bool is_loopback_name(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (strncmp(host, "127.", 4) == 0 && url_is_ip(host));
}

/* The unspecified address connects to loopback, too. */
static bool leads_to_loopback(const char *host)
{
    struct in6_addr v6;
    struct in_addr v4;

    if (strcmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET6, host, &v6) == 1) {
        if (!IN6_IS_ADDR_V4MAPPED(&v6))
            return IN6_IS_ADDR_LOOPBACK(&v6) || IN6_IS_ADDR_UNSPECIFIED(&v6);
        memcpy(&v4, &v6.s6_addr[12], sizeof v4);
    } else if (inet_pton(AF_INET, host, &v4) != 1) {
        return false;
    }
    return v4.s_addr == 0 || ntohl(v4.s_addr) >> 24 == 127;
}

/* Is host:port this address of ours? Any loopback spelling counts when we are on
 * loopback or on every address. */
static bool is_address(const struct own_address *own, const char *host, uint16_t port)
{
    if (port != own->port || !own->host[0])
        return false;
    if (strcmp(own->host, host) == 0)
        return true;
    bool everywhere = strcmp(own->host, "0.0.0.0") == 0 || strcmp(own->host, "::") == 0;
    return leads_to_loopback(host) && (everywhere || is_loopback_name(own->host));
}

bool target_is_own(const struct own_address *own, const struct own_address *local,
                   const char *host, uint16_t port)
{
    return strcmp(host, MAGIC_NAME) == 0 || is_address(own, host, port) ||
           is_address(local, host, port);
}

static bool is_own(const struct target_request *r, const char *host, uint16_t port)
{
    return target_is_own(r->own, &r->conn->local, host, port);
}

/* An upstream URL from an origin's parts and "path?query" as sent. */
static int set_url(struct target *out, bool tls, const char *host, uint16_t port,
                   const char *base, const char *rest, struct err *e)
{
    size_t path = strcspn(rest, "?"), base_len = strlen(base);
    struct url *u = &out->url;

    out->kind = TARGET_UPSTREAM;
    if (strchr(rest, '#'))
        return err_set(e, ERR_FORMAT, "a request target has no fragment");
    u->tls = tls;
    u->port = port ? port : tls ? 443 : 80;
    u->host = strdup(host);
    u->path = malloc(base_len + path + 2);
    u->query = rest[path] ? strdup(rest + path + 1) : NULL;
    if (!u->host || !u->path || (rest[path] && !u->query))
        return err_set(e, ERR_NOMEM, "out of memory");
    memcpy(u->path, base, base_len);
    memcpy(u->path + base_len, rest, path);
    if (base_len + path == 0)
        u->path[path++] = '/';
    u->path[base_len + path] = '\0';
    return 0;
}

static const char *route_rest(const char *path, const char *prefix)
{
    size_t n = strlen(prefix);

    if (strncmp(path, prefix, n) != 0)
        return NULL;
    return path[n] == '/' || path[n] == '?' || path[n] == '\0' ? path + n : NULL;
}

/* "/to/<scheme>/<host[:port]>/rest" */
static int direct_route(struct target *out, const char *rest, struct err *e)
{
    size_t scheme = strcspn(rest, "/");
    bool tls = scheme == 5 && strncmp(rest, "https", 5) == 0;
    char authority[300];
    char *host = NULL;
    uint16_t port;

    if (!tls && (scheme != 4 || strncmp(rest, "http", 4) != 0))
        return err_set(e, ERR_FORMAT, "want /to/http/HOST/... or /to/https/HOST/...");
    const char *from = rest + scheme + (rest[scheme] == '/');
    size_t len = strcspn(from, "/?");
    if (len >= sizeof authority)
        return err_set(e, ERR_FORMAT, "the host after /to/ is too long");
    memcpy(authority, from, len);
    authority[len] = '\0';
    if (url_host_port(authority, &host, &port, e) < 0)
        return err_in(e, "/to/ route");
    int rc = set_url(out, tls, host, port, "", from + len, e);
    free(host);
    return rc;
}

static int named_route(struct target *out, const char *origin, const char *rest,
                       struct err *e)
{
    struct url u = {0};

    if (url_parse(&u, origin, e) < 0)
        return -1;
    const char *base = strcmp(u.path, "/") == 0 ? "" : u.path;
    int rc = set_url(out, u.tls, u.host, u.port, base, rest, e);
    url_fini(&u);
    return rc;
}

/* Does the Host field name us? */
static bool host_names_us(const struct target_request *r)
{
    struct err e;
    char *host = NULL;
    uint16_t port;
    bool ours;

    if (!r->host || url_host_port(r->host, &host, &port, &e) < 0)
        return false;
    ours =
        is_loopback_name(host) || strcmp(host, MAGIC_NAME) == 0 || is_own(r, host, port);
    free(host);
    return ours;
}

/* named: the request is addressed to us by name, whatever its Host field says. */
static int own_path(struct target *out, const struct target_request *r, const char *path,
                    bool named, struct gate_claim *claim, struct err *e)
{
    const char *rest;
    int rc = 1; /* no route */

    out->own_origin = true;
    out->named_us = named || host_names_us(r);
    path = gate_prefix(path, claim);
    if ((rest = route_rest(path, "/to")) && *rest == '/')
        rc = direct_route(out, rest + 1, e);
    for (size_t i = 0; rc == 1 && i < r->n_routes; i++)
        if ((rest = route_rest(path, r->routes[i].prefix)))
            rc = named_route(out, r->routes[i].target, rest, e);
    if (rc == 0 && is_own(r, out->url.host, out->url.port))
        return err_set(e, ERR_FORMAT, "this route leads back to the proxy itself");
    if (rc <= 0)
        return rc;
    out->kind = TARGET_OWN;
    out->path = strdup(path);
    return out->path ? 0 : err_set(e, ERR_NOMEM, "out of memory");
}

static int absolute(struct target *out, const struct target_request *r,
                    struct gate_claim *claim, struct err *e)
{
    struct url u = {0};
    int rc = url_parse(&u, r->line, e);

    if (rc == 0 && is_own(r, u.host, u.port)) {
        struct buf path = BUF_INIT(LIMIT_REQUEST_HEAD);
        buf_str(&path, u.path);
        if (u.query)
            buf_fmt(&path, "?%s", u.query);
        rc = own_path(out, r, buf_cstr(&path), true, claim, e);
        buf_free(&path);
        url_fini(&u);
        return rc;
    }
    out->kind = TARGET_UPSTREAM;
    out->url = u;
    return rc;
}

/* The origin a connection stands for: its CONNECT target, or the name of its TLS. A
 * host found in the Host field is malloc'ed into *named. */
static int connection_origin(const struct target_request *r, const char **host,
                             uint16_t *port, char **named, struct err *e)
{
    const struct conn *c = r->conn;

    *host = c->host;
    *port = c->port ? c->port : 443;
    if (c->host[0])
        return 0;
    uint16_t asked = 0;
    if (!r->host || url_host_port(r->host, named, &asked, e) < 0)
        return err_set(e, ERR_FORMAT, "TLS without a server name needs a Host field");
    *host = *named;
    if (asked)
        *port = asked;
    return 0;
}

int target_of(struct target *out, const struct target_request *r,
              struct gate_claim *claim, struct err *e)
{
    const char *host;
    char *named = NULL;
    uint16_t port;
    int rc;

    *out = (struct target){0};
    if (strncasecmp(r->line, "http://", 7) == 0 ||
        strncasecmp(r->line, "https://", 8) == 0)
        return absolute(out, r, claim, e);
    if (r->line[0] != '/')
        return err_set(e, ERR_FORMAT, "the request target is neither a path nor a URL");
    if (r->conn->via == VIA_PLAIN)
        return own_path(out, r, r->line, false, claim, e);
    if (connection_origin(r, &host, &port, &named, e) < 0)
        return -1;
    if (is_own(r, host, port) ||
        (r->conn->via == VIA_TLS && is_loopback_name(host) && host_names_us(r))) {
        rc = own_path(out, r, r->line, true, claim, e);
    } else {
        rc = set_url(out, r->conn->via != VIA_CONNECT_PLAIN, host, port, "", r->line, e);
        out->keep_host = true;
    }
    free(named);
    return rc;
}
