/*
 * trust.c - see trust.h.
 *
 * Only whole certificates are copied, each once: a private key that shares a file with
 * one does not travel, and merging into a bundle that was merged before changes nothing.
 */
#include "certs/trust.h"

#include "base/digest.h"
#include "base/fsx.h"
#include "base/limits.h"

#include <mbedtls/asn1.h>
#include <mbedtls/base64.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PEM_BEGIN "-----BEGIN CERTIFICATE-----"
#define PEM_END "-----END CERTIFICATE-----"

static const char *const places[] = {
    "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Arch, Gentoo */
    "/etc/pki/tls/certs/ca-bundle.crt",                  /* Fedora, RHEL */
    "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* newer Fedora, RHEL */
    "/etc/ssl/cert.pem",                                 /* Alpine */
    "/etc/ca-certificates/extracted/tls-ca-bundle.pem",  /* Arch */
    "/var/lib/ca-certificates/ca-bundle.pem",            /* newer openSUSE */
    "/etc/ssl/certs/ca-bundle.crt",                      /* NixOS */
    "/etc/pki/tls/cacert.pem",                           /* older RHEL */
};

/* The bundle being put together, and what it holds already. */
struct merge {
    struct buf out;
    struct buf seen; /* SHA-256 of each certificate, one after the other */
};

static const char *known_place(void)
{
    for (size_t i = 0; i < COUNT_OF(places); i++)
        if (access(places[i], R_OK) == 0)
            return places[i];
    return NULL;
}

const char *trust_system_file(void)
{
    const char *chosen = getenv("SSL_CERT_FILE");

    if (chosen && *chosen && access(chosen, R_OK) == 0)
        return chosen;
    return known_place();
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat sa, sb;

    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino;
}

static bool was_seen(const struct merge *m, const uint8_t sha[DIGEST_SHA256])
{
    for (size_t at = 0; at < m->seen.len; at += DIGEST_SHA256)
        if (memcmp(m->seen.data + at, sha, DIGEST_SHA256) == 0)
            return true;
    return false;
}

/* One SEQUENCE and nothing behind it: the outer shape of any certificate. */
static bool looks_like_der(unsigned char *der, size_t len)
{
    unsigned char *p = der, *end = der + len;
    size_t inner = 0;

    return mbedtls_asn1_get_tag(&p, end, &inner,
                                MBEDTLS_ASN1_CONSTRUCTED | MBEDTLS_ASN1_SEQUENCE) == 0 &&
           p + inner == end && inner > 0;
}

/* Add the block of text (BEGIN to END line) unless it is there. -1: damaged. */
static int add_block(struct merge *m, const char *text, size_t len)
{
    const char *body = text + strlen(PEM_BEGIN);
    size_t body_len = len - strlen(PEM_BEGIN) - strlen(PEM_END);
    size_t room = body_len / 4 * 3 + 3, der_len = 0;
    uint8_t sha[DIGEST_SHA256];
    unsigned char *der = malloc(room);
    int rc = -1;

    if (der &&
        mbedtls_base64_decode(der, room, &der_len, (const unsigned char *)body,
                              body_len) == 0 &&
        looks_like_der(der, der_len)) {
        rc = 0;
        digest_sha256(der, der_len, sha);
        if (!was_seen(m, sha)) {
            buf_add(&m->seen, sha, sizeof sha);
            buf_add(&m->out, text, len);
            buf_char(&m->out, '\n');
        }
    }
    free(der);
    return rc;
}

struct counts {
    size_t all;
    size_t damaged; /* the first damaged one, counted from 1 */
};

static struct counts add_text(struct merge *m, const char *text, size_t len)
{
    struct counts n = {0};
    const char *end = text + len;
    const char *at = memmem(text, len, PEM_BEGIN, strlen(PEM_BEGIN));

    while (at && !m->seen.failed) {
        const char *body = at + strlen(PEM_BEGIN);
        const char *next =
            memmem(body, (size_t)(end - body), PEM_BEGIN, strlen(PEM_BEGIN));
        size_t span = (size_t)((next ? next : end) - body);
        const char *stop = memmem(body, span, PEM_END, strlen(PEM_END));
        n.all++;
        if ((!stop || add_block(m, at, (size_t)(stop - at) + strlen(PEM_END)) < 0) &&
            !n.damaged)
            n.damaged = n.all;
        at = next;
    }
    return n;
}

static int add_file(struct merge *m, const char *path, struct counts *n, struct err *e)
{
    struct buf text = BUF_INIT(LIMIT_PEM_FILE);
    int rc = fsx_read_file(path, &text, e);

    if (rc == 0)
        *n = add_text(m, buf_cstr(&text), text.len);
    buf_free(&text);
    return rc;
}

/* A file somebody named must be right; a damaged block in the system's is its affair. */
static int add_extra(struct merge *m, const char *path, struct err *e)
{
    struct counts n = {0};

    if (add_file(m, path, &n, e) < 0) {
        e->code = ERR_CONFIG;
        return -1;
    }
    if (n.damaged > 0)
        return err_set(e, ERR_CONFIG, "%s: certificate %zu of the file is damaged", path,
                       n.damaged);
    if (n.all == 0)
        return err_set(e, ERR_CONFIG,
                       "%s: no PEM certificate in it (convert a DER file with: openssl "
                       "x509 -inform der -in FILE)",
                       path);
    return 0;
}

int trust_write_merged(const char *path, const struct ca *ca, const char *const *extra,
                       struct err *e)
{
    struct merge m = {.out = BUF_INIT(LIMIT_PEM_FILE),
                      .seen = BUF_INIT(LIMIT_PEM_CERTS * DIGEST_SHA256)};
    const char *system_file = trust_system_file();
    struct counts n = {0};
    int rc = -1;

    /* `retape env` run in a shell that has its result: its own bundle is no source */
    if (system_file && is_same_file(system_file, path))
        system_file = known_place();
    if (system_file && add_file(&m, system_file, &n, e) < 0)
        goto out;
    for (; extra && *extra; extra++)
        if (add_extra(&m, *extra, e) < 0)
            goto out;
    if (ca)
        (void)add_text(&m, ca_cert_pem(ca), strlen(ca_cert_pem(ca)));
    if (buf_check(&m.out, path, e) < 0 || buf_check(&m.seen, path, e) < 0)
        goto out;
    rc = fsx_write_file(path, buf_cstr(&m.out), m.out.len, 0644, e);
out:
    buf_free(&m.out);
    buf_free(&m.seen);
    return rc;
}
