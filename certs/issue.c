/* issue.c - see issue.h. */
#include "certs/issue.h"

#include <mbedtls/ecp.h>
#include <mbedtls/error.h>
#include <mbedtls/oid.h>
#include <mbedtls/psa_util.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SERIAL_BYTES 16
#define TIME_TEXT 15 /* YYYYMMDDhhmmss and its NUL */

int issue_error(struct err *e, enum err_code code, const char *what, int rc)
{
    char reason[120];

    mbedtls_strerror(rc, reason, sizeof reason);
    return err_set(e, code, "%s: %s", what, reason);
}

int issue_new_key(mbedtls_pk_context *key, struct err *e)
{
    int rc = mbedtls_pk_setup(key, mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY));

    if (rc == 0)
        rc = mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1, mbedtls_pk_ec(*key),
                                 mbedtls_psa_get_random, MBEDTLS_PSA_RANDOM_STATE);
    return rc == 0 ? 0 : issue_error(e, ERR_IO, "make a P-256 key", rc);
}

int64_t issue_unix_time(const mbedtls_x509_time *t)
{
    struct tm tm = {.tm_year = t->year - 1900,
                    .tm_mon = t->mon - 1,
                    .tm_mday = t->day,
                    .tm_hour = t->hour,
                    .tm_min = t->min,
                    .tm_sec = t->sec};

    return (int64_t)timegm(&tm);
}

static void time_text(int64_t unix_s, char out[TIME_TEXT])
{
    time_t s = (time_t)unix_s;
    struct tm tm;

    (void)gmtime_r(&s, &tm);
    (void)strftime(out, TIME_TEXT, "%Y%m%d%H%M%S", &tm);
}

/* Who signs whom, and when. */
static int set_identity(mbedtls_x509write_cert *w, const struct issue_request *r)
{
    unsigned char serial[SERIAL_BYTES] = {0};
    char from[TIME_TEXT], to[TIME_TEXT];
    int rc = mbedtls_psa_get_random(MBEDTLS_PSA_RANDOM_STATE, serial, sizeof serial);

    /* RFC 5280 section 4.1.2.2: positive; and no leading zero byte, so DER is minimal */
    serial[0] = (unsigned char)((serial[0] & 0x3f) | 0x40);
    time_text(r->from_s, from);
    time_text(r->to_s, to);
    mbedtls_x509write_crt_set_version(w, MBEDTLS_X509_CRT_VERSION_3);
    mbedtls_x509write_crt_set_md_alg(w, MBEDTLS_MD_SHA256);
    mbedtls_x509write_crt_set_subject_key(w, r->subject_key);
    mbedtls_x509write_crt_set_issuer_key(w, r->issuer_key);
    if (rc == 0)
        rc = mbedtls_x509write_crt_set_serial_raw(w, serial, sizeof serial);
    if (rc == 0)
        rc = mbedtls_x509write_crt_set_validity(w, from, to);
    if (rc == 0)
        rc = mbedtls_x509write_crt_set_subject_name(w, r->subject);
    if (rc == 0)
        rc = mbedtls_x509write_crt_set_issuer_name(w, r->issuer);
    return rc;
}

static int set_authority(mbedtls_x509write_cert *w)
{
    int rc = mbedtls_x509write_crt_set_basic_constraints(w, 1, 0);

    if (rc == 0)
        rc = mbedtls_x509write_crt_set_key_usage(w, MBEDTLS_X509_KU_KEY_CERT_SIGN |
                                                        MBEDTLS_X509_KU_CRL_SIGN);
    return rc;
}

static int set_leaf(mbedtls_x509write_cert *w, const struct issue_request *r)
{
    /* By hand: mbedTLS's own calls mark CA:FALSE as not critical and the extended usage
     * as critical, the wrong way round (RFC 5280 section 4.2.1.9, CA/B Forum 7.1.2.7). */
    static const unsigned char not_a_ca[] = {0x30, 0x00};
    static const unsigned char server_auth[] = "\x30\x0a\x06\x08" MBEDTLS_OID_SERVER_AUTH;
    mbedtls_x509_san_list names = {
        .node = {.type = r->san_type,
                 .san.unstructured_name = {.tag = r->san_type,
                                           .len = r->san_len,
                                           .p = (unsigned char *)(uintptr_t)r->san}}};
    int rc = mbedtls_x509write_crt_set_extension(w, MBEDTLS_OID_BASIC_CONSTRAINTS,
                                                 sizeof MBEDTLS_OID_BASIC_CONSTRAINTS - 1,
                                                 1, not_a_ca, sizeof not_a_ca);

    if (rc == 0)
        rc = mbedtls_x509write_crt_set_key_usage(w, MBEDTLS_X509_KU_DIGITAL_SIGNATURE);
    if (rc == 0)
        rc = mbedtls_x509write_crt_set_extension(
            w, MBEDTLS_OID_EXTENDED_KEY_USAGE, sizeof MBEDTLS_OID_EXTENDED_KEY_USAGE - 1,
            0, server_auth, sizeof server_auth - 1);
    if (rc == 0)
        rc = mbedtls_x509write_crt_set_subject_alternative_name(w, &names);
    return rc;
}

int issue_cert(const struct issue_request *r, unsigned char der[ISSUE_DER], size_t *len,
               struct err *e)
{
    mbedtls_x509write_cert w;

    mbedtls_x509write_crt_init(&w);
    int rc = set_identity(&w, r);
    if (rc == 0)
        rc = r->san ? set_leaf(&w, r) : set_authority(&w);
    if (rc == 0)
        rc = mbedtls_x509write_crt_set_subject_key_identifier(&w);
    if (rc == 0)
        rc = mbedtls_x509write_crt_set_authority_key_identifier(&w);
    if (rc == 0)
        rc = mbedtls_x509write_crt_der(&w, der, ISSUE_DER, mbedtls_psa_get_random,
                                       MBEDTLS_PSA_RANDOM_STATE);
    mbedtls_x509write_crt_free(&w);
    if (rc < 0)
        return issue_error(e, ERR_IO, "write a certificate", rc);
    /* mbedTLS fills the buffer from its end */
    memmove(der, der + ISSUE_DER - rc, (size_t)rc);
    *len = (size_t)rc;
    return 0;
}
