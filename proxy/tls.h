/*
 * tls.h - the server side of TLS that all tunnels share: versions, suites, tickets.
 *
 * TLS 1.2 and 1.3, ALPN http/1.1, AES-128-GCM first. The certificate is chosen during
 * the handshake by the callback given to tls_new().
 *
 * Owns:    tls_new() hands out an immutable setup.
 * Threads: shared by all workers; the ticket context locks itself.
 */
#ifndef PROXY_TLS_H
#define PROXY_TLS_H

#include "base/err.h"

#include <mbedtls/ssl.h>

struct tls;

/* Called in the handshake; picks the certificate with mbedtls_ssl_set_hs_own_cert(). */
typedef int tls_certificate_fn(mbedtls_ssl_context *ssl);

int tls_new(struct tls **out, tls_certificate_fn *certificate, struct err *e) MUST_CHECK;
void tls_free(struct tls **t);
const mbedtls_ssl_config *tls_config(const struct tls *t);

#endif
