/* target.c - see target.h. */
#include "proxy/target.h"

#include "base/limits.h"

#include <stdio.h>
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

/* Is host:port where we listen? Any loopback spelling counts when we are on loopback
 * or on every address. */
static bool is_own_address(const char *own, const char *host, uint16_t port)
{
    struct err e;
    char *own_host = NULL;
    uint16_t own_port;
    bool same = false;

    if (strcmp(host, MAGIC_NAME) == 0)
        return true;
    if (url_host_port(own, &own_host, &own_port, &e) < 0)
        return false;
    if (port == own_port) {
        bool everywhere = strcmp(own_host, "0.0.0.0") == 0 || strcmp(own_host, "::") == 0;
        same = strcmp(own_host, host) == 0 ||
               (is_loopback_name(host) && (everywhere || is_loopback_name(own_host)));
    }
    free(own_host);
    return same;
}

static bool is_own(const struct target_request *r, const char *host, uint16_t port)
{
    return is_own_address(r->own, host, port) ||
           (r->conn->local[0] && is_own_address(r->conn->local, host, port));
}

static int set_url(struct target *out, const char *origin, const char *path,
                   struct err *e)
{
    struct buf text = BUF_INIT(LIMIT_REQUEST_HEAD + KIB(2));
    int rc = -1;

    buf_str(&text, origin);
    buf_str(&text, path);
    if (buf_check(&text, "request URL", e) == 0)
        rc = url_parse(&out->url, buf_cstr(&text), e);
    buf_free(&text);
    out->kind = TARGET_UPSTREAM;
    return rc;
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
    struct buf origin = BUF_INIT(512);
    int rc = -1;
    size_t scheme = strcspn(rest, "/");

    if ((scheme != 4 || strncmp(rest, "http", 4) != 0) &&
        (scheme != 5 || strncmp(rest, "https", 5) != 0))
        return err_set(e, ERR_FORMAT, "want /to/http/HOST/... or /to/https/HOST/...");
    const char *host = rest + scheme + (rest[scheme] == '/');
    size_t len = strcspn(host, "/?");
    buf_fmt(&origin, "%.*s://%.*s", (int)scheme, rest, (int)len, host);
    if (buf_check(&origin, "route", e) == 0)
        rc = set_url(out, buf_cstr(&origin), host + len, e);
    buf_free(&origin);
    return rc;
}

static int own_path(struct target *out, const struct target_request *r, const char *path,
                    struct gate_claim *claim, struct err *e)
{
    const char *rest;

    out->own_origin = true;
    path = gate_prefix(path, claim);
    if ((rest = route_rest(path, "/to")) && *rest == '/')
        return direct_route(out, rest + 1, e);
    for (size_t i = 0; i < r->n_routes; i++)
        if ((rest = route_rest(path, r->routes[i].prefix)))
            return set_url(out, r->routes[i].target, rest, e);
    out->kind = TARGET_OWN;
    out->path = strdup(path);
    return out->path ? 0 : err_set(e, ERR_NOMEM, "out of memory");
}

/* Does the Host field name us? Browsers cannot be made to say so by a foreign page. */
static bool host_names_us(const struct target_request *r)
{
    struct err e;
    char *host = NULL;
    uint16_t port;
    bool ours;

    if (!r->host || url_host_port(r->host, &host, &port, &e) < 0)
        return false;
    ours = is_loopback_name(host) || strcmp(host, MAGIC_NAME) == 0 || is_own(r, host, port);
    free(host);
    return ours;
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
        out->named_us = true;
        rc = own_path(out, r, buf_cstr(&path), claim, e);
        buf_free(&path);
        url_fini(&u);
        return rc;
    }
    out->kind = TARGET_UPSTREAM;
    out->url = u;
    return rc;
}

/* The origin a connection stands for: its CONNECT target, or the name of its TLS. */
static int connection_origin(const struct target_request *r, struct url *u, struct err *e)
{
    const struct conn *c = r->conn;

    u->tls = c->via != VIA_CONNECT_PLAIN;
    u->port = c->port ? c->port : 443;
    if (c->host[0]) {
        u->host = strdup(c->host);
        return u->host ? 0 : err_set(e, ERR_NOMEM, "out of memory");
    }
    uint16_t port = 0;
    if (!r->host || url_host_port(r->host, &u->host, &port, e) < 0)
        return err_set(e, ERR_FORMAT, "TLS without a server name needs a Host field");
    if (port)
        u->port = port;
    return 0;
}

int target_of(struct target *out, const struct target_request *r,
              struct gate_claim *claim, struct err *e)
{
    struct url u = {0};
    struct buf origin = BUF_INIT(512);
    int rc = -1;

    *out = (struct target){0};
    if (strncasecmp(r->line, "http://", 7) == 0 || strncasecmp(r->line, "https://", 8) == 0)
        return absolute(out, r, claim, e);
    if (r->line[0] != '/')
        return err_set(e, ERR_FORMAT, "the request target is neither a path nor a URL");
    if (r->conn->via == VIA_PLAIN) {
        out->named_us = host_names_us(r);
        return own_path(out, r, r->line, claim, e);
    }
    if (connection_origin(r, &u, e) < 0)
        return -1;
    if (is_own(r, u.host, u.port) ||
        (r->conn->via == VIA_TLS && is_loopback_name(u.host) && host_names_us(r))) {
        out->named_us = true;
        rc = own_path(out, r, r->line, claim, e);
    } else {
        url_origin(&u, &origin);
        if (buf_check(&origin, "host", e) == 0)
            rc = set_url(out, buf_cstr(&origin), r->line, e);
    }
    url_fini(&u);
    buf_free(&origin);
    return rc;
}
