/* tls.c - see tls.h. */
#include "proxy/tls.h"

#include <mbedtls/psa_util.h>
#include <mbedtls/ssl_ticket.h>
#include <stdlib.h>

#define TICKET_LIFETIME_S 86400

struct tls {
    mbedtls_ssl_config config;
    mbedtls_ssl_ticket_context tickets;
};

static const char *const alpn[] = {"http/1.1", NULL};

/* Leaves are ECDSA, so are the TLS 1.2 suites. */
static const int suites[] = {
    MBEDTLS_TLS1_3_AES_128_GCM_SHA256,
    MBEDTLS_TLS1_3_AES_256_GCM_SHA384,
    MBEDTLS_TLS1_3_CHACHA20_POLY1305_SHA256,
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    0,
};

int tls_new(struct tls **out, tls_certificate_fn *certificate, struct err *e)
{
    struct tls *t = calloc(1, sizeof *t);

    if (!t)
        return err_set(e, ERR_NOMEM, "TLS: out of memory");
    mbedtls_ssl_config_init(&t->config);
    mbedtls_ssl_ticket_init(&t->tickets);
    int rc = mbedtls_ssl_config_defaults(&t->config, MBEDTLS_SSL_IS_SERVER,
                                         MBEDTLS_SSL_TRANSPORT_STREAM,
                                         MBEDTLS_SSL_PRESET_DEFAULT);
    if (rc == 0)
        rc = mbedtls_ssl_ticket_setup(&t->tickets, mbedtls_psa_get_random,
                                      MBEDTLS_PSA_RANDOM_STATE,
                                      MBEDTLS_CIPHER_AES_256_GCM, TICKET_LIFETIME_S);
    if (rc == 0)
        rc = mbedtls_ssl_conf_alpn_protocols(&t->config, (const char **)(uintptr_t)alpn);
    if (rc != 0) {
        tls_free(&t);
        return err_set(e, ERR_IO, "cannot set up TLS (mbedTLS error -0x%04x)",
                       (unsigned)-rc);
    }
    mbedtls_ssl_conf_rng(&t->config, mbedtls_psa_get_random, MBEDTLS_PSA_RANDOM_STATE);
    mbedtls_ssl_conf_ciphersuites(&t->config, suites);
    mbedtls_ssl_conf_session_tickets_cb(&t->config, mbedtls_ssl_ticket_write,
                                        mbedtls_ssl_ticket_parse, &t->tickets);
    mbedtls_ssl_conf_new_session_tickets(&t->config, 1);
    mbedtls_ssl_conf_cert_cb(&t->config, certificate);
    *out = t;
    return 0;
}

void tls_free(struct tls **t)
{
    if (!*t)
        return;
    mbedtls_ssl_config_free(&(*t)->config);
    mbedtls_ssl_ticket_free(&(*t)->tickets);
    free(*t);
    *t = NULL;
}

const mbedtls_ssl_config *tls_config(const struct tls *t)
{
    return &t->config;
}
