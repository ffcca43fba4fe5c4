/*
 * url.h - taking absolute http(s) URLs and host:port pairs apart.
 *
 * Path and query stay exactly as sent; only scheme and host are lowered (RFC 3986
 * section 6.2.2.1). Nothing is unescaped here.
 *
 * Owns:    the strings of a struct url, freed by url_fini().
 * Threads: any.
 */
#ifndef BASE_URL_H
#define BASE_URL_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct url {
    bool tls;      /* https */
    char *host;    /* lower case; an IPv6 literal without its brackets */
    uint16_t port; /* always set: 80 or 443 when the URL names none */
    char *path;    /* starts with '/', up to '?', as sent */
    char *query;   /* after '?', as sent; NULL when there is no '?' */
};

/* Fragments and userinfo are refused. */
int url_parse(struct url *out, const char *text, struct err *e) MUST_CHECK;
int url_copy(struct url *to, const struct url *from, struct err *e) MUST_CHECK;
void url_fini(struct url *u);

/* "https://host[:port]" with the default port left out and IPv6 in brackets. */
void url_origin(const struct url *u, struct buf *out);
/* The whole URL again. */
void url_text(const struct url *u, struct buf *out);

/* "example.com:443", "[::1]:8080", "example.com" (port 0). Host is malloc'ed. */
int url_host_port(const char *text, char **host, uint16_t *port,
                  struct err *e) MUST_CHECK;

bool url_is_ip(const char *host); /* a literal IPv4 or IPv6 address, no brackets */

/* %XX and, where plus_is_space, '+'. Bad escapes stay as they are. */
void url_decode(const char *s, size_t len, bool plus_is_space, struct buf *out);

#endif
