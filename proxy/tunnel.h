/*
 * tunnel.h - one intercepted TLS connection: decrypts into a socketpair whose other end
 * the HTTP server reads.
 *
 * The certificate is minted for the name the client asks for. Every request head is
 * checked by guard.h before the HTTP server sees it. Backpressure goes both ways: a
 * full pair stops reading from the client, a slow client stops reading from the pair.
 *
 * Owns:    the client's socket and one reference of conn, from tunnel_start() on,
 *          whatever it returns.
 * Threads: its worker's.
 */
#ifndef PROXY_TUNNEL_H
#define PROXY_TUNNEL_H

#include "proxy/conn.h"
#include "proxy/tls.h"

struct tunnel;
struct worker;

/* The certificate callback for tls_new(). */
tls_certificate_fn tunnel_certificate;

/* Takes over a socket whose next byte begins a TLS handshake. */
int tunnel_start(struct worker *w, int fd, struct conn *conn, struct err *e) MUST_CHECK;

/* The HTTP server has closed its end (its on_closed event). */
void tunnel_http_closed(struct tunnel *t);

/* No request is left: send what is unsent and say goodbye. True when all are closed. */
bool tunnel_settle_all(struct worker *w);

/* End all tunnels of a worker. */
void tunnel_end_all(struct worker *w);

#endif
