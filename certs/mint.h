/*
 * mint.h - leaf certificates for intercepted hosts, made on demand and cached.
 *
 * One P-256 leaf key per process; a new host costs one ECDSA signature. Leaves carry
 * the host as SAN (DNS or IP), at most 197 days, key identifiers, critical
 * basicConstraints and keyUsage, serverAuth.
 *
 * Owns:    a struct mint per process; chains it hands out are borrowed, reference
 *          counted, and given back with mint_release().
 * Threads: mint_leaf() from any thread (one lock; signing happens outside of it).
 *          The cache holds LIMIT_LEAVES, the least recently used leaves first.
 */
#ifndef CERTS_MINT_H
#define CERTS_MINT_H

#include "certs/ca.h"

struct mint;
struct mbedtls_x509_crt;
struct mbedtls_pk_context;

int mint_new(struct mint **out, const struct ca *ca, struct err *e) MUST_CHECK;
void mint_free(struct mint **m);

/* A certificate chain for a host name or IP literal, and the key that goes with it. */
struct mint_leaf {
    struct mbedtls_x509_crt *chain; /* leaf, then the CA */
    struct mbedtls_pk_context *key; /* shared by all leaves */
    struct mint_entry *entry;       /* for mint_release() */
};
int mint_leaf(struct mint *m, const char *host, struct mint_leaf *out,
              struct err *e) MUST_CHECK;
void mint_release(struct mint *m, struct mint_leaf *leaf);

#endif
