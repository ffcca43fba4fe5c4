/*
 * issue.h - writing one certificate: what the authority and its leaves have in common.
 *
 * Everything is P-256 and SHA-256. The extensions are those strict verifiers ask for
 * (RFC 5280 section 4.2.1: both key identifiers, critical basicConstraints and
 * keyUsage).
 *
 * Owns:    nothing; keys and texts are borrowed for the call.
 * Threads: any, after psa_crypto_init(). Only certs/ includes this.
 */
#ifndef CERTS_ISSUE_H
#define CERTS_ISSUE_H

#include "base/err.h"

#include <mbedtls/pk.h>
#include <mbedtls/x509_crt.h>
#include <stddef.h>
#include <stdint.h>

#define ISSUE_DER 4096 /* a 253 byte host needs less than 1 KB */
#define ISSUE_DAY_S 86400

struct issue_request {
    const char *subject; /* "CN=..." */
    const char *issuer;
    mbedtls_pk_context *subject_key, *issuer_key;
    int64_t from_s, to_s;     /* Unix time, both inclusive */
    int san_type;             /* MBEDTLS_X509_SAN_DNS_NAME or _IP_ADDRESS */
    const unsigned char *san; /* NULL: this is an authority */
    size_t san_len;
};

/* Write the certificate into der; *len bytes at its start. */
int issue_cert(const struct issue_request *r, unsigned char der[ISSUE_DER], size_t *len,
               struct err *e) MUST_CHECK;

/* A fresh P-256 key into an initialised context. */
int issue_new_key(mbedtls_pk_context *key, struct err *e) MUST_CHECK;

int64_t issue_unix_time(const mbedtls_x509_time *t);

/* Fill *e with what mbedTLS says about its return code. Always -1. */
int issue_error(struct err *e, enum err_code code, const char *what, int rc);

#endif
