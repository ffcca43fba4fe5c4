/*
 * ca.h - the local certificate authority: made on first use, kept by the user.
 *
 * ECDSA P-256 under the user's config folder ($RETAPE_CONFIG_DIR, else
 * $XDG_CONFIG_HOME/retape, else ~/.config/retape): ca.pem and ca.key (0600, folder
 * 0700). Two processes that start at once end up with the same authority.
 *
 * Owns:    ca_open() hands out the authority; key material is wiped on ca_close().
 * Threads: immutable once open, shared by all workers; psa_crypto_init() is called
 *          by ca_open().
 */
#ifndef CERTS_CA_H
#define CERTS_CA_H

#include "base/buf.h"

#include <stdint.h>

struct ca;
struct mbedtls_x509_crt;
struct mbedtls_pk_context;

/* The config folder's path; malloc'ed. */
int ca_dir(char **out, struct err *e) MUST_CHECK;
int ca_open(struct ca **out, const char *dir, struct err *e) MUST_CHECK;
void ca_close(struct ca **ca);

const char *ca_cert_path(const struct ca *ca);
const char *ca_cert_pem(const struct ca *ca);

struct ca_facts {
    char subject[256];    /* "CN=retape CA 1a2b3c4d" */
    int64_t from_s, to_s; /* validity, Unix time */
    char fingerprint[96]; /* SHA-256 of the certificate, "AB:CD:..." */
};
const struct ca_facts *ca_facts(const struct ca *ca);
/* A few readable lines: subject, validity, SHA-256 fingerprint. */
void ca_describe(const struct ca *ca, struct buf *out);

/* Borrowed, for signing (mint.c); not to be changed. */
struct mbedtls_x509_crt *ca_cert(const struct ca *ca);
struct mbedtls_pk_context *ca_key(const struct ca *ca);

#endif
