/*
 * trust.h - trust bundles: the system's CAs, and the system's plus ours for children.
 *
 * Threads: start-up only.
 */
#ifndef CERTS_TRUST_H
#define CERTS_TRUST_H

#include "certs/ca.h"

/* The system's CA file: $SSL_CERT_FILE if set and readable, else the first of the well
 * known places (Debian, Fedora, Alpine, Arch, ...). NULL when there is none. */
const char *trust_system_file(void);

/* Write system CAs + each extra PEM file + (when ca is given) ours into `path`,
 * atomically. Every extra file must hold at least one certificate, else ERR_CONFIG. */
int trust_write_merged(const char *path, const struct ca *ca, const char *const *extra,
                       struct err *e) MUST_CHECK;

#endif
