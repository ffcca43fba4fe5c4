/*
 * conn.h - what is known of one client connection, from accept to close.
 *
 * The listener learns how the client came in and what it said on CONNECT; the tunnel
 * adds the name of its TLS handshake; requests on the connection read all of it.
 *
 * Owns:    a reference each for the tunnel and the HTTP server; conn_release() by the
 *          last frees it.
 * Threads: one worker's.
 */
#ifndef PROXY_CONN_H
#define PROXY_CONN_H

#include "proxy/gate.h"

#include <stdbool.h>
#include <stdint.h>

struct worker;
struct session;
struct tunnel;

enum conn_via {
    VIA_PLAIN,         /* plain HTTP straight to us: absolute-form or our own origin */
    VIA_CONNECT_PLAIN, /* CONNECT, then plain HTTP */
    VIA_CONNECT_TLS,   /* CONNECT, then TLS */
    VIA_TLS,           /* TLS straight to us (redirected traffic) */
};

/* An address of ours, taken apart once. */
struct own_address {
    char text[72]; /* "127.0.0.1:8080"; "" when unknown */
    char host[48]; /* "127.0.0.1" */
    uint16_t port;
};

struct conn {
    unsigned magic;
    unsigned refs;
    struct worker *worker;
    enum conn_via via;
    char host[256]; /* CONNECT: its host; VIA_TLS: the SNI name; "" when unknown */
    uint16_t port;  /* CONNECT: its port; else 0 */
    struct gate_claim claim;  /* of the CONNECT head */
    struct own_address local; /* ours, that the client connected to */
    struct tunnel *tunnel;    /* that carries it, while it does */
    struct session *session;  /* of the last request, saves a lookup */
};

struct conn *conn_new(struct worker *w); /* one reference; NULL when out of memory */
void conn_hold(struct conn *c);
void conn_release(struct conn *c);
struct conn *conn_check(void *p); /* a void pointer that must be a conn */

#endif
