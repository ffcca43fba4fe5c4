/* scrub_names.c - see scrub_names.h. */
#include "tape/scrub_names.h"

#include "tape/secret_forms.h"

#include <stdlib.h>
#include <string.h>

const struct scrub_name scrub_header_names[] = {
    {"authorization", "authorization", NAME_SUFFIX},
    {"cookie", "cookie", NAME_COOKIES},
    {"cookie2", "cookie", NAME_COOKIES},
    {"setcookie", "set-cookie", NAME_COOKIES},
    {"apikey", "api-key", NAME_SUFFIX},
    {"authtoken", "auth-token", NAME_SUFFIX},
    {"accesstoken", "access-token", NAME_SUFFIX},
    {"apitoken", "api-token", NAME_SUFFIX},
    {"sessiontoken", "session-token", NAME_SUFFIX},
    {"securitytoken", "security-token", NAME_SUFFIX},
    {"idtoken", "id-token", 0},
    {"csrftoken", "csrf-token", NAME_SUFFIX},
    {"xsrftoken", "csrf-token", NAME_SUFFIX},
    {"privatetoken", "private-token", NAME_SUFFIX},
    {"jobtoken", "job-token", NAME_SUFFIX},
    {"deploytoken", "deploy-token", NAME_SUFFIX},
    {"gitlabtoken", "gitlab-token-header", NAME_SUFFIX},
    {"vaulttoken", "vault-token-header", NAME_SUFFIX},
    {"figmatoken", "figma-token-header", NAME_SUFFIX},
    {"subscriptiontoken", "subscription-token", NAME_SUFFIX},
    {"subscriptionkey", "subscription-key", NAME_SUFFIX},
    {"metadatatoken", "metadata-token", NAME_SUFFIX},
    {"retapetoken", "retape-token", NAME_SUFFIX},
    {"xauthkey", "auth-key", 0},
    {"xfunctionskey", "functions-key", 0},
    {"secretkey", "secret-key", NAME_SUFFIX},
    {"clientsecret", "client-secret", NAME_SUFFIX},
    {"jwtassertion", "jwt-assertion", NAME_SUFFIX},
    {"authorizationauxiliary", "authorization", NAME_SUFFIX},
    {"password", "password", NAME_SUFFIX},
};
const size_t n_scrub_header_names = COUNT_OF(scrub_header_names);

const struct scrub_name scrub_field_names[] = {
    {"apikey", "api-key", NAME_SUFFIX},
    {"apitoken", "api-token", NAME_SUFFIX},
    {"apisecret", "api-secret", NAME_SUFFIX},
    {"password", "password", NAME_SUFFIX},
    {"passwd", "password", NAME_SUFFIX},
    {"passphrase", "passphrase", NAME_SUFFIX},
    {"clientsecret", "client-secret", NAME_SUFFIX},
    {"appsecret", "app-secret", NAME_SUFFIX},
    {"consumersecret", "consumer-secret", NAME_SUFFIX},
    {"sharedsecret", "shared-secret", NAME_SUFFIX},
    {"signingsecret", "signing-secret", NAME_SUFFIX},
    {"webhooksecret", "webhook-secret", NAME_SUFFIX},
    {"secretkey", "secret-key", NAME_SUFFIX},
    {"secretaccesskey", "secret-access-key", NAME_SUFFIX},
    {"privatekey", "private-key", NAME_SUFFIX},
    {"accesstoken", "access-token", NAME_SUFFIX},
    {"refreshtoken", "refresh-token", NAME_SUFFIX},
    {"authtoken", "auth-token", NAME_SUFFIX},
    {"bearertoken", "bearer-token", NAME_SUFFIX},
    {"sessiontoken", "session-token", NAME_SUFFIX},
    {"securitytoken", "security-token", NAME_SUFFIX},
    {"bottoken", "bot-token", NAME_SUFFIX},
    {"idtoken", "id-token", 0},
    {"authkey", "auth-key", 0},
    {"subscriptionkey", "subscription-key", NAME_SUFFIX},
    {"accountkey", "account-key", NAME_SUFFIX},
    {"authorization", "authorization", 0},
    {"proxyauthorization", "authorization", 0},
    {"cookie", "cookie", NAME_PAIRS},
    {"setcookie", "set-cookie", NAME_PAIRS},
};
const size_t n_scrub_field_names = COUNT_OF(scrub_field_names);

const char *const scrub_name_signs[] = {
    "api[kst_-]",  "pass[wp]", "secret", "token",     "privat",
    "auth[kot_-]", "cookie",   "subscr", "ount[k_-]",
};
const size_t n_scrub_name_signs = COUNT_OF(scrub_name_signs);

const struct scrub_name scrub_query_names[] = {
    {"apikey", "api-key", NAME_SUFFIX},
    {"accesstoken", "access-token", NAME_SUFFIX},
    {"refreshtoken", "refresh-token", NAME_SUFFIX},
    {"authtoken", "auth-token", NAME_SUFFIX},
    {"apitoken", "api-token", NAME_SUFFIX},
    {"sessiontoken", "session-token", NAME_SUFFIX},
    {"securitytoken", "security-token", NAME_SUFFIX},
    {"idtoken", "id-token", 0},
    {"clientsecret", "client-secret", NAME_SUFFIX},
    {"apisecret", "api-secret", NAME_SUFFIX},
    {"secretkey", "secret-key", NAME_SUFFIX},
    {"password", "password", NAME_SUFFIX},
    {"passwd", "password", NAME_SUFFIX},
    {"sig", "signature", 0},
    {"signature", "signature", 0},
    {"xamzsignature", "signature", 0},
    {"xamzcredential", "credential", 0},
    {"xgoogsignature", "signature", 0},
    {"xgoogcredential", "credential", 0},
    {"awsaccesskeyid", "credential", 0},
    {"subscriptionkey", "subscription-key", NAME_SUFFIX},
    /* Plain words elsewhere: ?key=user:7 of a store must go on telling requests apart. */
    {"key", "key", NAME_RANDOM},
    {"token", "token", NAME_RANDOM},
    {"secret", "secret", NAME_RANDOM},
    {"appid", "appid", NAME_RANDOM},
};
const size_t n_scrub_query_names = COUNT_OF(scrub_query_names);

/* At Google's own hosts `key` is always the API key. */
const struct scrub_name scrub_google_query_names[] = {{"key", "key", 0}};
const size_t n_scrub_google_query_names = COUNT_OF(scrub_google_query_names);

/* JSON values the protocol needs back as they were: opaque, and no one's credential. */
const struct scrub_name scrub_exempt_names[] = {
    {"signature", "", 0},       {"thoughtsignature", "", 0}, {"encryptedcontent", "", 0},
    {"b64json", "", 0},         {"encryptedindex", "", 0},   {"encryptedstdout", "", 0},
    {"partialimageb64", "", 0},
};
const size_t n_scrub_exempt_names = COUNT_OF(scrub_exempt_names);

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool is_ignored(char c)
{
    return c == '-' || c == '_';
}

/* A set with one bit for a pair of bytes; pairs may share. */
static uint64_t pair_bit(char last, char before)
{
    return (uint64_t)1 << ((unsigned char)last * 7u + (unsigned char)before) % 64;
}

/* The user's name becomes a row: folded for comparing, cleaned for the placeholder. */
static int own_row(struct scrub_name *row, const char *name, struct err *e)
{
    size_t len = strlen(name), n = 0;
    char *folded = malloc(len + 1), *rule = strndup(name, SECRET_NAME_MAX);

    *row = (struct scrub_name){folded, rule, 0};
    if (!folded || !rule)
        return err_set(e, ERR_NOMEM, "scrub names: out of memory");
    for (size_t i = 0; i < len; i++)
        if (!is_ignored(name[i]))
            folded[n++] = lower(name[i]);
    folded[n] = '\0';
    for (char *p = rule; *p; p++)
        *p = secret_shape_in_class('v', (unsigned char)*p) ? lower(*p) : '-';
    if (n == 0)
        return err_set(e, ERR_CONFIG, "scrub: \"%.64s\" is no name", name);
    return 0;
}

int scrub_names_init(struct scrub_names *out, const struct scrub_name *rows, size_t n,
                     const char *const *user, struct err *e)
{
    size_t n_user = 0;

    while (user && user[n_user])
        n_user++;
    *out = (struct scrub_names){.v = calloc(n + n_user + 1, sizeof *out->v)};
    if (!out->v)
        return err_set(e, ERR_NOMEM, "scrub names: out of memory");
    memcpy(out->v, rows, n * sizeof *rows);
    out->n = n;
    for (size_t i = 0; i < n_user; i++) {
        out->n++;
        out->n_own++;
        if (own_row(&out->v[n + i], user[i], e) < 0)
            return -1;
    }
    for (size_t i = 0; i < out->n; i++) {
        size_t len = strlen(out->v[i].name);
        out->ends |= len == 1
                         ? UINT64_MAX
                         : pair_bit(out->v[i].name[len - 1], out->v[i].name[len - 2]);
    }
    return 0;
}

void scrub_names_fini(struct scrub_names *t)
{
    for (size_t i = t->n - t->n_own; i < t->n; i++) {
        free((char *)t->v[i].name);
        free((char *)t->v[i].rule);
    }
    free(t->v);
    *t = (struct scrub_names){0};
}

/* Does the folded name equal the row's, or end with it where the row says so? */
static bool row_matches(const struct scrub_name *row, const char *name, size_t len)
{
    size_t i = strlen(row->name);

    while (len > 0) {
        char c = name[--len];
        if (is_ignored(c))
            continue;
        if (i == 0)
            return row->flags & NAME_SUFFIX;
        if (lower(c) != row->name[--i])
            return false;
    }
    return i == 0;
}

/* Most names end like none of ours. */
static bool may_match(const struct scrub_names *t, const char *name, size_t len)
{
    char last[2] = {0};
    size_t n = 0;

    while (len > 0 && n < 2)
        if (!is_ignored(name[--len]))
            last[n++] = lower(name[len]);
    return n > 0 && t->ends & pair_bit(last[0], last[1]);
}

const struct scrub_name *scrub_names_find(const struct scrub_names *t, const char *name,
                                          size_t len)
{
    if (!may_match(t, name, len))
        return NULL;
    for (size_t i = 0; i < t->n; i++)
        if (row_matches(&t->v[i], name, len))
            return &t->v[i];
    return NULL;
}

bool scrub_names_fits(const struct scrub_name *row, const char *value, size_t len)
{
    struct secret_texture look;

    if (len == 0 || secret_form_placeholder(value, len, 0) == len)
        return false;
    if (row->flags & NAME_PAIRS)
        return memchr(value, '=', len);
    if (!(row->flags & NAME_RANDOM))
        return true;
    secret_shape_texture(value, len, &look);
    return len >= 16 && look.digits >= 1 && look.run >= 12;
}
