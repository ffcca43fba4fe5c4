/* mint.c - see mint.h. */
#include "certs/mint.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/limits.h"
#include "certs/issue.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define VALID_DAYS 197 /* Chromium refuses more */
#define COMMON_NAME 64 /* RFC 5280, upper bound of a commonName */
#define HOST_MAX 253   /* RFC 1035, a name as text */
#define BUCKETS 2048   /* twice LIMIT_LEAVES: short chains */
#define OWN_NAME "retape.local"

struct mint_entry {
    LIST_ENTRY(mint_entry) in_bucket;
    TAILQ_ENTRY(mint_entry) in_order;
    mbedtls_x509_crt chain;
    int64_t to_s;
    unsigned refs; /* one is the cache's while it is listed */
    char host[HOST_MAX + 1];
};

LIST_HEAD(bucket, mint_entry);
TAILQ_HEAD(order, mint_entry);

struct mint {
    const struct ca *ca;
    mbedtls_pk_context key;
    pthread_mutex_t lock;
    struct bucket buckets[BUCKETS];
    struct order order; /* least recently used first */
    size_t listed;
    size_t lent; /* leaves handed out and not given back */
};

/* A host as certificates name it: an address in its usual form, or a lower-case name
 * without the root's dot. */
struct subject {
    char text[HOST_MAX + 1];
    unsigned char address[16];
    size_t address_len; /* 0: a name */
};

static int parse_name(struct subject *s, const char *host, struct err *e)
{
    size_t n = strlen(host);

    if (n > 1 && host[n - 1] == '.')
        n--;
    if (n == 0 || n > HOST_MAX)
        return err_set(e, ERR_FORMAT, "no certificate for a host name of %zu bytes", n);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)host[i];
        bool dot = c == '.';
        if (!isascii(c) || (!isalnum(c) && !dot && c != '-' && c != '_'))
            return err_set(e, ERR_FORMAT, "no certificate for this host: not a name");
        if (dot && (i == 0 || i + 1 == n || host[i + 1] == '.'))
            return err_set(e, ERR_FORMAT, "no certificate for this host: empty label");
        s->text[i] = (char)tolower(c);
    }
    s->text[n] = '\0';
    return 0;
}

static int parse_subject(struct subject *s, const char *host, struct err *e)
{
    *s = (struct subject){0};
    if (inet_pton(AF_INET, host, s->address) == 1) {
        s->address_len = 4;
        (void)inet_ntop(AF_INET, s->address, s->text, sizeof s->text);
        return 0;
    }
    if (inet_pton(AF_INET6, host, s->address) == 1) {
        s->address_len = 16;
        (void)inet_ntop(AF_INET6, s->address, s->text, sizeof s->text);
        return 0;
    }
    return parse_name(s, host, e);
}

static bool same_bytes(const mbedtls_x509_buf *a, const mbedtls_x509_buf *b)
{
    return a->len == b->len && memcmp(a->p, b->p, a->len) == 0;
}

static void entry_free(struct mint_entry **entry)
{
    if (!*entry)
        return;
    mbedtls_x509_crt_free(&(*entry)->chain);
    free(*entry);
    *entry = NULL;
}

/* Sign and parse back. A foreign authority whose name or key identifier does not survive
 * the copy would make leaves nobody can verify: refused here. */
static int fill_chain(struct mint_entry *entry, const struct mint *m,
                      const unsigned char *der, size_t len, struct err *e)
{
    const mbedtls_x509_crt *ca = ca_cert(m->ca);
    int rc = mbedtls_x509_crt_parse_der(&entry->chain, der, len);

    if (rc == 0)
        rc = mbedtls_x509_crt_parse_der(&entry->chain, ca->raw.p, ca->raw.len);
    if (rc != 0)
        return issue_error(e, ERR_IO, "read back a leaf certificate", rc);
    if (!same_bytes(&entry->chain.issuer_raw, &ca->subject_raw) ||
        !same_bytes(&entry->chain.authority_key_id.keyIdentifier, &ca->subject_key_id))
        return err_set(e, ERR_CONFIG,
                       "%s: leaves cannot be issued under this authority's name and key "
                       "identifier; delete it and its key to have one made",
                       ca_cert_path(m->ca));
    return 0;
}

static int make_entry(struct mint_entry **out, struct mint *m, const struct subject *s,
                      struct err *e)
{
    const struct ca_facts *ca = ca_facts(m->ca);
    int64_t from = clock_wall_ms() / 1000 - ISSUE_DAY_S;
    unsigned char der[ISSUE_DER];
    char name[COMMON_NAME + 4] = "O=retape"; /* for hosts too long for a commonName */
    size_t len = 0;
    struct mint_entry *entry = calloc(1, sizeof *entry);

    if (!entry)
        return err_set(e, ERR_NOMEM, "out of memory");
    mbedtls_x509_crt_init(&entry->chain);
    memcpy(entry->host, s->text, sizeof entry->host);
    if (from < ca->from_s)
        from = ca->from_s;
    entry->to_s = from + (int64_t)VALID_DAYS * ISSUE_DAY_S - 1;
    if (entry->to_s > ca->to_s)
        entry->to_s = ca->to_s;
    if (strlen(s->text) <= COMMON_NAME)
        (void)snprintf(name, sizeof name, "CN=%.64s", s->text);

    bool address = s->address_len > 0;
    struct issue_request r = {
        .subject = name,
        .issuer = ca->subject,
        .subject_key = &m->key,
        .issuer_key = ca_key(m->ca),
        .from_s = from,
        .to_s = entry->to_s,
        .san_type = address ? MBEDTLS_X509_SAN_IP_ADDRESS : MBEDTLS_X509_SAN_DNS_NAME,
        .san = address ? s->address : (const unsigned char *)s->text,
        .san_len = address ? s->address_len : strlen(s->text)};
    if (issue_cert(&r, der, &len, e) < 0 || fill_chain(entry, m, der, len, e) < 0) {
        entry_free(&entry);
        return -1;
    }
    *out = entry;
    return 0;
}

static struct bucket *bucket_of(struct mint *m, const char *host)
{
    return &m->buckets[digest_xxh3(host, strlen(host)).lo % BUCKETS];
}

static void drop_ref(struct mint_entry *entry)
{
    must(entry->refs > 0);
    if (--entry->refs == 0)
        entry_free(&entry);
}

static void unlist(struct mint *m, struct mint_entry *entry)
{
    LIST_REMOVE(entry, in_bucket);
    TAILQ_REMOVE(&m->order, entry, in_order);
    m->listed--;
    drop_ref(entry);
}

/* A day must be left, unless the authority itself ends and a new leaf would not help. */
static bool is_fresh(const struct mint *m, const struct mint_entry *entry)
{
    int64_t now = clock_wall_ms() / 1000;

    return entry->to_s - now >= ISSUE_DAY_S || entry->to_s >= ca_facts(m->ca)->to_s;
}

static struct mint_entry *find_listed(struct mint *m, const char *host)
{
    struct mint_entry *entry = LIST_FIRST(bucket_of(m, host));

    while (entry && strcmp(entry->host, host) != 0)
        entry = LIST_NEXT(entry, in_bucket);
    return entry;
}

/* The cached leaf, now the most recently used, or NULL. Under the lock. */
static struct mint_entry *find_fresh(struct mint *m, const char *host)
{
    struct mint_entry *entry = find_listed(m, host);

    if (entry && !is_fresh(m, entry)) {
        unlist(m, entry);
        entry = NULL;
    }
    if (entry) {
        TAILQ_REMOVE(&m->order, entry, in_order);
        TAILQ_INSERT_TAIL(&m->order, entry, in_order);
    }
    return entry;
}

static void list(struct mint *m, struct mint_entry *entry)
{
    entry->refs++;
    LIST_INSERT_HEAD(bucket_of(m, entry->host), entry, in_bucket);
    TAILQ_INSERT_TAIL(&m->order, entry, in_order);
    m->listed++;
    if (m->listed > LIMIT_LEAVES)
        unlist(m, TAILQ_FIRST(&m->order));
}

static void lend(struct mint *m, struct mint_entry *entry, struct mint_leaf *out)
{
    entry->refs++;
    m->lent++;
    *out = (struct mint_leaf){&entry->chain, &m->key, entry};
}

int mint_leaf(struct mint *m, const char *host, struct mint_leaf *out, struct err *e)
{
    struct subject s;
    struct mint_entry *made = NULL;

    *out = (struct mint_leaf){0};
    if (parse_subject(&s, host, e) < 0)
        return -1;
    (void)pthread_mutex_lock(&m->lock);
    struct mint_entry *entry = find_fresh(m, s.text);
    if (entry)
        lend(m, entry, out);
    (void)pthread_mutex_unlock(&m->lock);
    if (entry)
        return 0;

    if (make_entry(&made, m, &s, e) < 0)
        return -1;
    (void)pthread_mutex_lock(&m->lock);
    entry = find_fresh(m, s.text); /* another thread may have been quicker */
    if (!entry) {
        entry = made;
        made = NULL;
        list(m, entry);
    }
    lend(m, entry, out);
    (void)pthread_mutex_unlock(&m->lock);
    entry_free(&made);
    return 0;
}

void mint_release(struct mint *m, struct mint_leaf *leaf)
{
    if (!leaf->entry)
        return;
    (void)pthread_mutex_lock(&m->lock);
    must(m->lent > 0);
    m->lent--;
    drop_ref(leaf->entry);
    (void)pthread_mutex_unlock(&m->lock);
    *leaf = (struct mint_leaf){0};
}

int mint_new(struct mint **out, const struct ca *ca, struct err *e)
{
    struct mint *m = calloc(1, sizeof *m);
    struct mint_leaf probe = {0};

    *out = NULL;
    if (!m)
        return err_set(e, ERR_NOMEM, "out of memory");
    m->ca = ca;
    mbedtls_pk_init(&m->key);
    (void)pthread_mutex_init(&m->lock, NULL);
    TAILQ_INIT(&m->order);
    /* a leaf for our own name: an authority we cannot sign under is found now, not at
     * the first client */
    if (issue_new_key(&m->key, e) < 0 || mint_leaf(m, OWN_NAME, &probe, e) < 0) {
        mint_free(&m);
        return -1;
    }
    mint_release(m, &probe);
    *out = m;
    return 0;
}

void mint_free(struct mint **m)
{
    if (!*m)
        return;
    must((*m)->lent == 0);
    while (!TAILQ_EMPTY(&(*m)->order))
        unlist(*m, TAILQ_FIRST(&(*m)->order));
    mbedtls_pk_free(&(*m)->key);
    (void)pthread_mutex_destroy(&(*m)->lock);
    free(*m);
    *m = NULL;
}
