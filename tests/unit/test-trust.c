/* Trust bundles: the system's certificates, named files and ours, each once. */
#include "base/fsx.h"
#include "base/limits.h"
#include "certs/trust.h"
#include "scratch.h"
#include "tap.h"

#define BEGIN "-----BEGIN CERTIFICATE-----\n"
#define END "-----END CERTIFICATE-----\n"
/* a SEQUENCE of one INTEGER: all a bundle looks at */
#define ONE BEGIN "MAMCAQE=\n" END
#define TWO BEGIN "MAMCAQI=\n" END
#define KEY "-----BEGIN PRIVATE KEY-----\nMAMCAQM=\n-----END PRIVATE KEY-----\n"

static struct ca *ca;

static void put(const char *name, const char *text)
{
    struct err e;

    if (fsx_write_file(scratch_file(name), text, strlen(text), 0644, &e) < 0)
        printf("# put: %s\n", e.msg);
}

/* The merged bundle of a system file and (unless NULL) one extra file. */
static int merge(const char *extra, bool with_ca, struct buf *out, struct err *e)
{
    const char *path = scratch_file("merged.pem");
    const char *const extras[] = {extra ? scratch_file(extra) : NULL, NULL};

    (void)unlink(path);
    buf_reset(out);
    if (trust_write_merged(path, with_ca ? ca : NULL, extras, e) < 0)
        return -1;
    return fsx_read_file(path, out, e);
}

static const char *plus_ours(const char *text)
{
    static char joined[KIB(8)];

    (void)snprintf(joined, sizeof joined, "%s%s", text, ca_cert_pem(ca));
    return joined;
}

static void test_merges(void)
{
    static const struct {
        const char *name, *system, *extra, *want;
    } cases[] = {
        {"system and ours", ONE TWO, NULL, ONE TWO},
        {"nothing but ours", "", NULL, ""},
        {"system, extra, ours", ONE, TWO, ONE TWO},
        {"each once", ONE ONE TWO, TWO, ONE TWO},
        {"words and keys stay behind", "# Some Root\n" ONE KEY, "x\n" TWO KEY, ONE TWO},
        {"a damaged system block is left out", BEGIN "MAMC\n" END ONE BEGIN, NULL, ONE},
        {"no newline at the end", ONE, BEGIN "MAMCAQI=\n-----END CERTIFICATE-----",
         ONE TWO},
    };
    struct buf got = BUF_INIT(LIMIT_PEM_FILE);

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct err e = {0};
        put("system.pem", cases[i].system);
        if (cases[i].extra)
            put("extra.pem", cases[i].extra);
        ok(merge(cases[i].extra ? "extra.pem" : NULL, true, &got, &e) == 0, "%s: %s",
           cases[i].name, e.msg);
        is(buf_cstr(&got), plus_ours(cases[i].want), "%s: bundle", cases[i].name);
        ok(merge(cases[i].extra ? "extra.pem" : NULL, false, &got, &e) == 0,
           "%s: without ours", cases[i].name);
        is(buf_cstr(&got), cases[i].want, "%s: bundle without ours", cases[i].name);
    }
    put("system.pem", plus_ours(ONE));
    struct err e = {0};
    ok(merge(NULL, true, &got, &e) == 0, "ours is there already");
    is(buf_cstr(&got), plus_ours(ONE), "it is not added again");
    buf_free(&got);
}

static void test_bad_extras(void)
{
    static const struct {
        const char *name, *text, *says;
    } cases[] = {
        {"empty", "", "no PEM certificate"},
        {"a key alone", KEY, "no PEM certificate"},
        {"words", "hello\n", "no PEM certificate"},
        {"a torn block", ONE BEGIN "MAMCAQE=\n", "certificate 2"},
        {"no base64", ONE BEGIN "M*MCAQE=\n" END TWO, "certificate 2"},
        {"a block of nothing", BEGIN END, "certificate 1"},
        {"not a SEQUENCE", BEGIN "AgEB\n" END, "certificate 1"},
        {"bytes behind it", BEGIN "MAMCAQEA\n" END, "certificate 1"},
        {"a block in a block", BEGIN ONE, "certificate 1"},
    };
    struct buf got = BUF_INIT(LIMIT_PEM_FILE);
    struct err e = {0};

    put("system.pem", ONE);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        put("extra.pem", cases[i].text);
        ok(merge("extra.pem", true, &got, &e) == -1 && e.code == ERR_CONFIG,
           "%s: refused", cases[i].name);
        if (!ok(strstr(e.msg, cases[i].says) && strstr(e.msg, "extra.pem"),
                "%s: says where", cases[i].name))
            printf("#  message: %s\n", e.msg);
        ok(!fsx_exists(scratch_file("merged.pem")), "%s: nothing written", cases[i].name);
    }
    ok(merge("absent.pem", true, &got, &e) == -1 && e.code == ERR_CONFIG &&
           strstr(e.msg, "absent.pem"),
       "a file that is not there: refused");
    buf_free(&got);
}

/* n different certificates in one file. */
static void put_many(const char *name, unsigned n)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct buf text = BUF_INIT(LIMIT_PEM_FILE);
    struct err e;

    for (unsigned i = 0; i < n; i++)
        buf_fmt(&text, BEGIN "MAcCBQAAA%c%c%c\n" END, digits[i >> 12 & 63],
                digits[i >> 6 & 63], digits[i & 63]);
    if (fsx_write_file(scratch_file(name), text.data, text.len, 0644, &e) < 0)
        printf("# put: %s\n", e.msg);
    buf_free(&text);
}

static void test_limit(void)
{
    struct buf got = BUF_INIT(LIMIT_PEM_FILE);
    struct err e = {0};

    put("system.pem", "");
    put_many("extra.pem", LIMIT_PEM_CERTS);
    ok(merge("extra.pem", false, &got, &e) == 0, "%d certificates fit %s",
       LIMIT_PEM_CERTS, e.msg);
    ok(merge("extra.pem", true, &got, &e) == -1 && e.code == ERR_LIMIT,
       "one more is refused, not left out");
    buf_free(&got);
}

static void test_system_file(void)
{
    struct err e = {0};
    struct buf got = BUF_INIT(LIMIT_PEM_FILE);

    put("system.pem", ONE);
    is(trust_system_file(), scratch_file("system.pem"), "SSL_CERT_FILE is taken");
    put("merged.pem", TWO);
    (void)setenv("SSL_CERT_FILE", scratch_file("merged.pem"), 1);
    ok(trust_write_merged(scratch_file("merged.pem"), ca, NULL, &e) == 0 &&
           fsx_read_file(scratch_file("merged.pem"), &got, &e) == 0,
       "the bundle is SSL_CERT_FILE itself");
    ok(!strstr(buf_cstr(&got), "MAMCAQI="), "it is no source of its own");
    (void)setenv("SSL_CERT_FILE", scratch_file("absent.pem"), 1);
    const char *place = trust_system_file();
    ok(!place || strncmp(place, "/", 1) == 0, "one that is not there is not");
    ok(!place || strcmp(place, scratch_file("absent.pem")) != 0, "another place is");
    buf_free(&got);
}

int main(void)
{
    struct err e = {0};

    scratch_make();
    (void)setenv("SSL_CERT_FILE", scratch_file("system.pem"), 1);
    if (ca_open(&ca, scratch_file("ca"), &e) < 0) {
        printf("# %s\n", e.msg);
        return 99;
    }
    test_merges();
    test_bad_extras();
    test_limit();
    test_system_file();
    ca_close(&ca);
    return tap_done();
}
