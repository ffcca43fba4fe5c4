/*
 * ca.c - see ca.h.
 *
 * The key is written before the certificate, both by rename and under a lock: where
 * ca.pem exists its key exists too, and readers need no lock (the folder may be
 * read-only). A key that a crash left alone gets its certificate on the next start.
 */
#include "certs/ca.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/fsx.h"
#include "base/limits.h"
#include "certs/issue.h"

#include <errno.h>
#include <fcntl.h>
#include <mbedtls/pem.h>
#include <mbedtls/platform_util.h>
#include <mbedtls/psa_util.h>
#include <psa/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CERT_FILE "ca.pem"
#define KEY_FILE "ca.key"
#define LOCK_FILE "ca.lock"
#define VALID_DAYS 3650
#define START_OVER "delete " CERT_FILE " and " KEY_FILE " there to make a new authority"

struct ca {
    char *cert_path;
    char *key_path;
    char *pem;
    mbedtls_x509_crt cert;
    mbedtls_pk_context key;
    struct ca_facts facts;
};

static int join_dir(char **out, const char *dir, const char *name, struct err *e)
{
    *out = fsx_join(dir, name);
    return *out ? 0 : err_set(e, ERR_NOMEM, "out of memory");
}

int ca_dir(char **out, struct err *e)
{
    const char *own = getenv("RETAPE_CONFIG_DIR");
    const char *xdg = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");

    *out = NULL;
    if (own && *own) {
        /* children get paths below it and may change folder: always absolute */
        char *here = *own == '/' ? NULL : getcwd(NULL, 0);
        if (*own != '/' && !here)
            return err_set(e, ERR_IO, "current folder: %s", strerror(errno));
        *out = here ? fsx_join(here, own) : strdup(own);
        free(here);
        return *out ? 0 : err_set(e, ERR_NOMEM, "out of memory");
    }
    /* the XDG base directory specification has relative values ignored */
    if (xdg && *xdg == '/')
        return join_dir(out, xdg, "retape", e);
    if (home && *home == '/')
        return join_dir(out, home, ".config/retape", e);
    return err_set(e, ERR_CONFIG,
                   "no place for the certificate authority: set HOME or "
                   "RETAPE_CONFIG_DIR to a folder of yours");
}

/* Whoever can write here can swap the authority that children trust. */
static int check_folder(const char *dir, struct err *e)
{
    struct stat st;

    if (stat(dir, &st) < 0)
        return err_set(e, ERR_IO, "%s: %s", dir, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return err_set(e, ERR_CONFIG, "%s: not a folder", dir);
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return err_set(e, ERR_CONFIG,
                       "%s: others can write to this folder (mode %04o): run chmod 700 "
                       "on it, or set RETAPE_CONFIG_DIR to a folder of your own",
                       dir, (unsigned)st.st_mode & 07777U);
    return 0;
}

/* The key's text into a buffer that the caller wipes; *len without the NUL. */
static int read_key_text(const char *path, char text[LIMIT_KEY_FILE + 1], size_t *len,
                         struct err *e)
{
    struct stat st;
    int rc = -1;
    /* O_NONBLOCK: a pipe of that name must not hold us up */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 && errno == ENOENT)
        return err_set(e, ERR_CONFIG,
                       "%s: the key of the authority is missing; put it back, "
                       "or " START_OVER,
                       path);
    if (fd < 0 || fstat(fd, &st) < 0) {
        err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
        goto out;
    }
    if (!S_ISREG(st.st_mode)) {
        err_set(e, ERR_CONFIG, "%s: not a regular file", path);
        goto out;
    }
    if (st.st_mode & 077) {
        err_set(e, ERR_CONFIG,
                "%s: others can get at the private key (mode %04o): run chmod 600 on it",
                path, (unsigned)st.st_mode & 07777U);
        goto out;
    }
    for (*len = 0; *len <= LIMIT_KEY_FILE;) {
        ssize_t n = read(fd, text + *len, LIMIT_KEY_FILE + 1 - *len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
            goto out;
        }
        if (n == 0)
            break;
        *len += (size_t)n;
    }
    if (*len > LIMIT_KEY_FILE) {
        err_set(e, ERR_LIMIT, "%s: larger than %zu bytes", path, LIMIT_KEY_FILE);
        goto out;
    }
    text[*len] = '\0';
    rc = 0;
out:
    if (fd >= 0)
        (void)close(fd);
    return rc;
}

static int load_key(struct ca *ca, struct err *e)
{
    char text[LIMIT_KEY_FILE + 1];
    size_t len = 0;
    int rc = read_key_text(ca->key_path, text, &len, e);

    if (rc == 0) {
        int parsed =
            mbedtls_pk_parse_key(&ca->key, (unsigned char *)text, len + 1, NULL, 0,
                                 mbedtls_psa_get_random, MBEDTLS_PSA_RANDOM_STATE);
        if (parsed != 0) {
            issue_error(e, ERR_FORMAT, "not a readable private key", parsed);
            rc = err_in(e, "%s: " START_OVER, ca->key_path);
        }
    }
    mbedtls_platform_zeroize(text, sizeof text);
    return rc;
}

static int write_new_key(struct ca *ca, struct err *e)
{
    unsigned char text[LIMIT_KEY_FILE];
    int rc = issue_new_key(&ca->key, e);

    if (rc == 0) {
        int written = mbedtls_pk_write_key_pem(&ca->key, text, sizeof text);
        rc = written == 0
                 ? fsx_write_file(ca->key_path, text, strlen((char *)text), 0600, e)
                 : issue_error(e, ERR_IO, ca->key_path, written);
    }
    mbedtls_platform_zeroize(text, sizeof text);
    return rc;
}

/* malloc'ed PEM text of a certificate. */
static char *pem_text(const unsigned char *der, size_t der_len)
{
    static const char begin[] = "-----BEGIN CERTIFICATE-----\n";
    static const char end[] = "-----END CERTIFICATE-----\n";
    size_t len = 0;

    (void)mbedtls_pem_write_buffer(begin, end, der, der_len, NULL, 0, &len);
    unsigned char *text = malloc(len + 1);
    if (text &&
        mbedtls_pem_write_buffer(begin, end, der, der_len, text, len + 1, &len) != 0) {
        free(text);
        text = NULL;
    }
    return (char *)text;
}

static int write_cert(struct ca *ca, struct err *e)
{
    unsigned char der[ISSUE_DER], unique[4];
    char name[40], hex[9];
    size_t len = 0;
    int64_t now = clock_wall_ms() / 1000;

    clock_random(unique, sizeof unique);
    digest_hex(unique, sizeof unique, hex);
    (void)snprintf(name, sizeof name, "CN=retape CA %s", hex);
    /* a day back: clients whose clock is slow must not find it in the future */
    struct issue_request r = {.subject = name,
                              .issuer = name,
                              .subject_key = &ca->key,
                              .issuer_key = &ca->key,
                              .from_s = now - ISSUE_DAY_S,
                              .to_s = now + (int64_t)VALID_DAYS * ISSUE_DAY_S};
    if (issue_cert(&r, der, &len, e) < 0)
        return -1;
    char *pem = pem_text(der, len);
    if (!pem)
        return err_set(e, ERR_NOMEM, "out of memory");
    int rc = fsx_write_file(ca->cert_path, pem, strlen(pem), 0644, e);
    free(pem);
    return rc;
}

/* The first process in makes the pair; the others wait here and find it made. */
static int make_pair(struct ca *ca, const char *dir, struct err *e)
{
    int rc = -1, fd = -1;
    char *lock = NULL;

    if (join_dir(&lock, dir, LOCK_FILE, e) < 0)
        goto out;
    fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        err_set(e, ERR_IO, "create %s: %s", lock, strerror(errno));
        goto out;
    }
    while (flock(fd, LOCK_EX) < 0) {
        if (errno != EINTR) {
            err_set(e, ERR_IO, "lock %s: %s", lock, strerror(errno));
            goto out;
        }
    }
    if (!fsx_exists(ca->cert_path)) {
        if (fsx_exists(ca->key_path) ? load_key(ca, e) < 0 : write_new_key(ca, e) < 0)
            goto out;
        if (write_cert(ca, e) < 0)
            goto out;
        mbedtls_pk_free(&ca->key); /* what counts is what is on disk: read it back */
    }
    rc = 0;
out:
    if (fd >= 0)
        (void)close(fd);
    free(lock);
    return rc;
}

static void fill_fingerprint(struct ca *ca)
{
    uint8_t sha[DIGEST_SHA256];
    char *at = ca->facts.fingerprint;

    digest_sha256(ca->cert.raw.p, ca->cert.raw.len, sha);
    for (size_t i = 0; i < sizeof sha; i++)
        at += sprintf(at, i ? ":%02X" : "%02X", (unsigned)sha[i]);
}

static int load_cert(struct ca *ca, struct err *e)
{
    struct buf text = BUF_INIT(LIMIT_PEM_FILE);
    int rc = fsx_read_file(ca->cert_path, &text, e);

    if (rc == 0) {
        int parsed = mbedtls_x509_crt_parse(
            &ca->cert, (const unsigned char *)buf_cstr(&text), text.len + 1);
        if (parsed == 0)
            parsed = mbedtls_x509_dn_gets(ca->facts.subject, sizeof ca->facts.subject,
                                          &ca->cert.subject);
        if (parsed < 0 || ca->cert.raw.len == 0) {
            issue_error(e, ERR_FORMAT, "not a readable certificate", parsed);
            rc = err_in(e, "%s: " START_OVER, ca->cert_path);
        } else if (!(ca->pem = pem_text(ca->cert.raw.p, ca->cert.raw.len))) {
            rc = err_set(e, ERR_NOMEM, "out of memory");
        }
    }
    buf_free(&text);
    if (rc < 0)
        return -1;
    ca->facts.from_s = issue_unix_time(&ca->cert.valid_from);
    ca->facts.to_s = issue_unix_time(&ca->cert.valid_to);
    fill_fingerprint(ca);
    return 0;
}

/* Is this an authority that signs today, and is the key its key? */
static int check_pair(const struct ca *ca, struct err *e)
{
    int64_t now = clock_wall_ms() / 1000;
    char when[CLOCK_TEXT];

    if (!mbedtls_x509_crt_get_ca_istrue(&ca->cert) ||
        mbedtls_x509_crt_check_key_usage(&ca->cert, MBEDTLS_X509_KU_KEY_CERT_SIGN) != 0)
        return err_set(e, ERR_CONFIG,
                       "%s: not the certificate of an authority; " START_OVER,
                       ca->cert_path);
    if (mbedtls_pk_check_pair(&ca->cert.pk, &ca->key, mbedtls_psa_get_random,
                              MBEDTLS_PSA_RANDOM_STATE) != 0)
        return err_set(e, ERR_CONFIG,
                       "%s: certificate and key (" KEY_FILE ") do not belong together; "
                       "put the right one back, or " START_OVER,
                       ca->cert_path);
    if (now > ca->facts.to_s) {
        clock_rfc3339(ca->facts.to_s * 1000, when);
        return err_set(e, ERR_CONFIG, "%s: the authority expired on %s; " START_OVER,
                       ca->cert_path, when);
    }
    if (now < ca->facts.from_s) {
        clock_rfc3339(ca->facts.from_s * 1000, when);
        return err_set(e, ERR_CONFIG,
                       "%s: the authority is not valid before %s: check this machine's "
                       "clock",
                       ca->cert_path, when);
    }
    return 0;
}

int ca_open(struct ca **out, const char *dir, struct err *e)
{
    struct ca *ca = calloc(1, sizeof *ca);

    *out = NULL;
    if (!ca)
        return err_set(e, ERR_NOMEM, "out of memory");
    mbedtls_x509_crt_init(&ca->cert);
    mbedtls_pk_init(&ca->key);
    if (psa_crypto_init() != PSA_SUCCESS) {
        err_set(e, ERR_IO, "mbedTLS does not start (no random source?)");
        goto fail;
    }
    if (join_dir(&ca->cert_path, dir, CERT_FILE, e) < 0 ||
        join_dir(&ca->key_path, dir, KEY_FILE, e) < 0 || fsx_mkdirs(dir, 0700, e) < 0 ||
        check_folder(dir, e) < 0)
        goto fail;
    if (!fsx_exists(ca->cert_path) && make_pair(ca, dir, e) < 0)
        goto fail;
    if (load_cert(ca, e) < 0 || load_key(ca, e) < 0 || check_pair(ca, e) < 0)
        goto fail;
    *out = ca;
    return 0;
fail:
    ca_close(&ca);
    return -1;
}

void ca_close(struct ca **ca)
{
    if (!*ca)
        return;
    mbedtls_pk_free(&(*ca)->key); /* wipes */
    mbedtls_x509_crt_free(&(*ca)->cert);
    free((*ca)->cert_path);
    free((*ca)->key_path);
    free((*ca)->pem);
    free(*ca);
    *ca = NULL;
}

const char *ca_cert_path(const struct ca *ca)
{
    return ca->cert_path;
}

const char *ca_cert_pem(const struct ca *ca)
{
    return ca->pem;
}

const struct ca_facts *ca_facts(const struct ca *ca)
{
    return &ca->facts;
}

struct mbedtls_x509_crt *ca_cert(const struct ca *ca)
{
    return (struct mbedtls_x509_crt *)(uintptr_t)&ca->cert;
}

struct mbedtls_pk_context *ca_key(const struct ca *ca)
{
    return (struct mbedtls_pk_context *)(uintptr_t)&ca->key;
}

void ca_describe(const struct ca *ca, struct buf *out)
{
    char from[CLOCK_TEXT], to[CLOCK_TEXT];

    clock_rfc3339(ca->facts.from_s * 1000, from);
    clock_rfc3339(ca->facts.to_s * 1000, to);
    buf_fmt(out, "Subject:      %s\n", ca->facts.subject);
    buf_fmt(out, "Not before:   %s\n", from);
    buf_fmt(out, "Not after:    %s\n", to);
    buf_fmt(out, "SHA-256:      %s\n", ca->facts.fingerprint);
    buf_fmt(out, "Certificate:  %s\n", ca->cert_path);
}
