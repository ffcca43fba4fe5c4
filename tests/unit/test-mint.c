/* Leaves: what is in them, how long they last, and what the cache promises. */
#include "base/clock.h"
#include "base/fsx.h"
#include "base/limits.h"
#include "certs/issue.h"
#include "certs/mint.h"
#include "scratch.h"
#include "tap.h"

#include <mbedtls/oid.h>
#include <mbedtls/psa_util.h>
#include <mbedtls/x509_crt.h>
#include <pthread.h>
#include <time.h>

#define DAY ((int64_t)86400)
#define THREADS 8
#define ROUNDS 40

static const char host_64[] =
    "a123456789012345678901234567890123456789.1234567890123456789.com";
static const char host_65[] =
    "ab123456789012345678901234567890123456789.1234567890123456789.com";

/* 253 bytes: labels of 63, 63, 63 and 61. */
static char host_253[254];

static int64_t unix_s(const mbedtls_x509_time *t)
{
    struct tm tm = {.tm_year = t->year - 1900,
                    .tm_mon = t->mon - 1,
                    .tm_mday = t->day,
                    .tm_hour = t->hour,
                    .tm_min = t->min,
                    .tm_sec = t->sec};

    return (int64_t)timegm(&tm);
}

static bool has_bytes(const mbedtls_x509_crt *crt, const char *bytes, size_t len)
{
    return memmem(crt->v3_ext.p, crt->v3_ext.len, bytes, len) != NULL;
}

static bool same_san(const mbedtls_x509_crt *crt, int type, const void *want, size_t len)
{
    const mbedtls_x509_buf *san = &crt->subject_alt_names.buf;

    return (san->tag & MBEDTLS_ASN1_TAG_VALUE_MASK) == type && san->len == len &&
           memcmp(san->p, want, len) == 0 && !crt->subject_alt_names.next;
}

static void check_extensions(const mbedtls_x509_crt *leaf, const mbedtls_x509_crt *ca)
{
    const mbedtls_x509_buf *aki = &leaf->authority_key_id.keyIdentifier;

    ok(has_bytes(leaf, "\x55\x1d\x13\x01\x01\xff\x04\x02\x30\x00", 10),
       "basicConstraints: critical, no CA");
    ok(has_bytes(leaf, "\x55\x1d\x0f\x01\x01\xff\x04\x04\x03\x02\x07\x80", 12),
       "keyUsage: critical, digitalSignature only");
    ok(mbedtls_x509_crt_check_extended_key_usage(
           leaf, MBEDTLS_OID_SERVER_AUTH, sizeof MBEDTLS_OID_SERVER_AUTH - 1) == 0 &&
           leaf->ext_key_usage.next == NULL,
       "extendedKeyUsage: serverAuth only");
    ok(has_bytes(leaf, "\x55\x1d\x25\x04", 4), "extendedKeyUsage: not critical");
    ok(has_bytes(leaf, "\x55\x1d\x11\x04", 4), "subjectAltName: not critical");
    ok(leaf->subject_key_id.len == 20, "subjectKeyIdentifier");
    ok(aki->len == ca->subject_key_id.len &&
           memcmp(aki->p, ca->subject_key_id.p, aki->len) == 0,
       "authorityKeyIdentifier is the authority's");
    ok(leaf->serial.len == 16 && leaf->serial.p[0] < 0x80 && leaf->serial.p[0] >= 0x40,
       "serial: 16 bytes, positive");
}

static void check_validity(const mbedtls_x509_crt *leaf)
{
    int64_t now = clock_wall_ms() / 1000;
    int64_t from = unix_s(&leaf->valid_from), to = unix_s(&leaf->valid_to);

    ok(from <= now - DAY + 600 && from >= now - DAY - 600, "valid since a day");
    ok(to - from + 1 <= 197 * DAY && to - from > 196 * DAY, "for at most 197 days");
}

static void test_contents(struct mint *m, const struct ca *authority)
{
    mbedtls_x509_crt *ca = ca_cert(authority);
    struct err e = {0};
    struct mint_leaf leaf;
    uint32_t flags = 0;

    if (!ok(mint_leaf(m, "api.example.com", &leaf, &e) == 0, "minted %s", e.msg))
        return;
    check_extensions(leaf.chain, ca);
    check_validity(leaf.chain);
    ok(mbedtls_x509_crt_verify(leaf.chain, ca, NULL, "api.example.com", &flags, NULL,
                               NULL) == 0,
       "verifies for its host");
    ok(mbedtls_x509_crt_verify(leaf.chain, ca, NULL, "example.com", &flags, NULL, NULL) !=
           0,
       "and for no other");
    ok(leaf.chain->next && leaf.chain->next->raw.len == ca->raw.len &&
           memcmp(leaf.chain->next->raw.p, ca->raw.p, ca->raw.len) == 0 &&
           !leaf.chain->next->next,
       "the chain is the leaf and the authority");
    ok(mbedtls_pk_check_pair(&leaf.chain->pk, leaf.key, mbedtls_psa_get_random,
                             MBEDTLS_PSA_RANDOM_STATE) == 0,
       "the key goes with it");
    mint_release(m, &leaf);
    ok(!leaf.entry && !leaf.chain, "given back");
    mint_release(m, &leaf);
}

static void test_hosts(struct mint *m)
{
    static const struct {
        const char *host;
        int type;
        const char *san;
        size_t san_len;
        const char *subject;
    } cases[] = {
        {"Example.COM", 2, "example.com", 11, "CN=example.com"},
        {"example.com.", 2, "example.com", 11, "CN=example.com"},
        {"my_host-1", 2, "my_host-1", 9, "CN=my_host-1"},
        {"xn--bcher-kva.example", 2, "xn--bcher-kva.example", 21,
         "CN=xn--bcher-kva.example"},
        {"127.0.0.1", 7, "\x7f\0\0\1", 4, "CN=127.0.0.1"},
        {"::1", 7, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16, "CN=::1"},
        {"2001:DB8:0::1", 7, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16,
         "CN=2001:db8::1"},
        {host_64, 2, host_64, 64, NULL},
        {host_65, 2, host_65, 65, "O=retape"},
        {host_253, 2, host_253, 253, "O=retape"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct err e = {0};
        struct mint_leaf leaf;
        char subject[128] = "", want[128];
        if (!ok(mint_leaf(m, cases[i].host, &leaf, &e) == 0, "%s: minted %s",
                cases[i].host, e.msg))
            continue;
        ok(same_san(leaf.chain, cases[i].type, cases[i].san, cases[i].san_len),
           "%s: subjectAltName", cases[i].host);
        (void)mbedtls_x509_dn_gets(subject, sizeof subject, &leaf.chain->subject);
        (void)snprintf(want, sizeof want, "CN=%.100s", cases[i].host);
        is(subject, cases[i].subject ? cases[i].subject : want, "%s: subject",
           cases[i].host);
        mint_release(m, &leaf);
    }
}

static void test_refused(struct mint *m)
{
    char host_254[255];
    const char *const hosts[] = {
        "",          ".",      "a..b",    ".a",           "a..",
        "a b",       "a,CN=b", "*.a.com", "a\nb",         "a/b",
        "b\xc3\xbc", "[::1]",  "1::2::3", "fe80::1%eth0", host_254};

    memset(host_254, 'a', sizeof host_254 - 1);
    host_254[254] = '\0';
    for (size_t i = 0; i < COUNT_OF(hosts); i++) {
        struct err e = {0};
        struct mint_leaf leaf;
        ok(mint_leaf(m, hosts[i], &leaf, &e) == -1 && e.code == ERR_FORMAT && !leaf.entry,
           "no certificate for bad host %zu", i);
    }
}

/* The cached leaf of a host; its serial tells leaves apart. */
static void serial_of(struct mint *m, const char *host, char out[33])
{
    struct err e = {0};
    struct mint_leaf leaf;

    out[0] = '\0';
    if (mint_leaf(m, host, &leaf, &e) < 0)
        return;
    for (size_t i = 0; i < 16; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", (unsigned)leaf.chain->serial.p[i]);
    mint_release(m, &leaf);
}

static void test_eviction(const struct ca *ca)
{
    struct err e = {0};
    struct mint *m = NULL;
    struct mint_leaf held;
    char zero[33], one[33], again[33];

    if (mint_new(&m, ca, &e) < 0 || mint_leaf(m, "held.test", &held, &e) < 0)
        exit(99);
    for (int i = 0; i < LIMIT_LEAVES; i++) {
        char host[32];
        (void)snprintf(host, sizeof host, "h%d.test", i);
        serial_of(m, host, i == 0 ? zero : i == 1 ? one : again);
    }
    serial_of(m, "h0.test", again);
    is(again, zero, "%d leaves fit", LIMIT_LEAVES);
    serial_of(m, "one-more.test", again);
    serial_of(m, "h0.test", again);
    is(again, zero, "the one asked for again stays");
    serial_of(m, "h1.test", again);
    ok(strcmp(again, one) != 0, "the least recently used one went");
    ok(same_san(held.chain, 2, "held.test", 9), "one in use outlives its place");
    struct mint_leaf fresh;
    ok(mint_leaf(m, "held.test", &fresh, &e) == 0 && fresh.entry != held.entry,
       "which a new one takes");
    mint_release(m, &fresh);
    mint_release(m, &held);
    mint_free(&m);
    mint_free(&m);
}

static void test_renewal(const struct ca *ca)
{
    struct err e = {0};
    struct mint *m = NULL;
    struct mint_leaf leaf;
    char first[33], again[33];

    if (mint_new(&m, ca, &e) < 0 || mint_leaf(m, "old.test", &leaf, &e) < 0)
        exit(99);
    int64_t to = unix_s(&leaf.chain->valid_to);
    mint_release(m, &leaf);
    serial_of(m, "old.test", first);
    clock_pin_wall((to - DAY) * 1000);
    serial_of(m, "old.test", again);
    is(again, first, "kept while a day is left");
    clock_pin_wall((to - DAY + 1) * 1000);
    serial_of(m, "old.test", again);
    ok(strcmp(again, first) != 0, "made anew when less is left");

    clock_pin_wall((ca_facts(ca)->to_s - DAY / 2) * 1000);
    ok(mint_leaf(m, "last.test", &leaf, &e) == 0, "on the authority's last day");
    ok(leaf.chain && unix_s(&leaf.chain->valid_to) == ca_facts(ca)->to_s,
       "no leaf outlives the authority");
    mint_release(m, &leaf);
    serial_of(m, "last.test", first);
    serial_of(m, "last.test", again);
    is(again, first, "nor is it made over and over");
    clock_pin_wall(-1);
    mint_free(&m);
}

static void *ask(void *arg)
{
    struct mint *m = arg;
    struct err e = {0};
    size_t good = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct mint_leaf leaf;
        char host[32];
        int n = snprintf(host, sizeof host, "t%d.test", i % (ROUNDS / 2));
        if (mint_leaf(m, host, &leaf, &e) < 0)
            continue;
        good += same_san(leaf.chain, 2, host, (size_t)n);
        mint_release(m, &leaf);
    }
    return (void *)good;
}

static void test_threads(const struct ca *ca)
{
    struct err e = {0};
    struct mint *m = NULL;
    pthread_t threads[THREADS];
    size_t good = 0;

    if (mint_new(&m, ca, &e) < 0)
        exit(99);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, ask, m) != 0)
            exit(99);
    for (int i = 0; i < THREADS; i++) {
        void *n = NULL;
        (void)pthread_join(threads[i], &n);
        good += (size_t)n;
    }
    ok(good == (size_t)THREADS * ROUNDS, "%d threads: every leaf is right", THREADS);
    mint_free(&m);
}

/* An authority made elsewhere, with a key identifier that is no SHA-1 of its key. */
static int put_foreign(void)
{
    static const unsigned char identifier[] = "\x04\x04"
                                              "abcd";
    unsigned char pem[4096];
    mbedtls_x509write_cert w;
    mbedtls_pk_context key;
    struct err e = {0};

    mbedtls_x509write_crt_init(&w);
    mbedtls_pk_init(&key);
    int rc = issue_new_key(&key, &e);
    mbedtls_x509write_crt_set_md_alg(&w, MBEDTLS_MD_SHA256);
    mbedtls_x509write_crt_set_subject_key(&w, &key);
    mbedtls_x509write_crt_set_issuer_key(&w, &key);
    rc |= mbedtls_x509write_crt_set_serial_raw(&w, (unsigned char[]){1}, 1);
    rc |= mbedtls_x509write_crt_set_validity(&w, "20200101000000", "20991231000000");
    rc |= mbedtls_x509write_crt_set_subject_name(&w, "CN=elsewhere");
    rc |= mbedtls_x509write_crt_set_issuer_name(&w, "CN=elsewhere");
    rc |= mbedtls_x509write_crt_set_basic_constraints(&w, 1, 0);
    rc |= mbedtls_x509write_crt_set_extension(&w, MBEDTLS_OID_SUBJECT_KEY_IDENTIFIER, 3,
                                              0, identifier, sizeof identifier - 1);
    rc |= mkdir(scratch_file("foreign"), 0700);
    rc |= mbedtls_x509write_crt_pem(&w, pem, sizeof pem, mbedtls_psa_get_random, NULL);
    rc |= fsx_write_file(scratch_file("foreign/ca.pem"), pem, strlen((char *)pem), 0644,
                         &e);
    rc |= mbedtls_pk_write_key_pem(&key, pem, sizeof pem);
    rc |= fsx_write_file(scratch_file("foreign/ca.key"), pem, strlen((char *)pem), 0600,
                         &e);
    mbedtls_x509write_crt_free(&w);
    mbedtls_pk_free(&key);
    return rc;
}

static void test_foreign(void)
{
    struct err e = {0};
    struct ca *ca = NULL;
    struct mint *m = NULL;

    ok(put_foreign() == 0 && ca_open(&ca, scratch_file("foreign"), &e) == 0,
       "an authority made elsewhere %s", e.msg);
    ok(ca && mint_new(&m, ca, &e) == -1 && !m && e.code == ERR_CONFIG,
       "one whose leaves would not verify is refused at the start");
    ca_close(&ca);
}

int main(void)
{
    struct err e = {0};
    struct ca *ca = NULL;
    struct mint *m = NULL;

    scratch_make();
    memset(host_253, 'a', 253);
    host_253[63] = host_253[127] = host_253[191] = '.';
    if (ca_open(&ca, scratch_file("ca"), &e) < 0 || mint_new(&m, ca, &e) < 0) {
        printf("# %s\n", e.msg);
        return 99;
    }
    test_contents(m, ca);
    test_hosts(m);
    test_refused(m);
    mint_free(&m);
    test_eviction(ca);
    test_renewal(ca);
    test_threads(ca);
    test_foreign();
    ca_close(&ca);
    return tap_done();
}
