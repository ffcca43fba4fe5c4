/* The authority: made once, kept private, refused when it is not whole. */
#include "base/clock.h"
#include "base/fsx.h"
#include "base/limits.h"
#include "certs/ca.h"
#include "scratch.h"
#include "tap.h"

#include <mbedtls/x509_crt.h>
#include <sys/wait.h>

#define RACERS 8
#define DAY_MS ((int64_t)86400 * 1000)

static unsigned mode_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (unsigned)st.st_mode & 07777U : 0;
}

static void copy_file(const char *from, const char *to, mode_t mode)
{
    struct buf text = BUF_INIT(LIMIT_PEM_FILE);
    struct err e;

    if (fsx_read_file(from, &text, &e) < 0 ||
        fsx_write_file(to, text.data, text.len, mode, &e) < 0)
        printf("# copy: %s\n", e.msg);
    buf_free(&text);
}

static void put_file(const char *path, const char *text, mode_t mode)
{
    struct err e;

    if (fsx_write_file(path, text, strlen(text), mode, &e) < 0)
        printf("# put: %s\n", e.msg);
}

static void open_fails(const char *dir, enum err_code code, const char *says,
                       const char *name)
{
    struct err e = {0};
    struct ca *ca = NULL;

    ok(ca_open(&ca, dir, &e) == -1 && !ca && e.code == code, "%s: refused", name);
    if (!ok(strstr(e.msg, says) != NULL, "%s: says what to do", name))
        printf("#  message: %s\n", e.msg);
}

static const mbedtls_x509_crt *parsed(const struct ca *ca)
{
    return ca_cert(ca);
}

static bool has_extension(const mbedtls_x509_crt *crt, const char *start, size_t len)
{
    return memmem(crt->v3_ext.p, crt->v3_ext.len, start, len) != NULL;
}

static void test_first_use(const char *dir)
{
    struct err e = {0};
    struct ca *ca = NULL, *again = NULL;
    struct buf text = BUF_INIT(KIB(4));

    ok(ca_open(&ca, dir, &e) == 0, "made on first use %s", e.msg);
    if (!ca)
        return;
    ok(mode_of(dir) == 0700, "the folder is private");
    ok(mode_of(scratch_file("new/deep/ca.key")) == 0600, "so is the key");
    ok(mode_of(scratch_file("new/deep/ca.pem")) == 0644, "the certificate is not");
    is(ca_cert_path(ca), scratch_file("new/deep/ca.pem"), "its path");

    const mbedtls_x509_crt *crt = parsed(ca);
    ok(has_extension(crt, "\x55\x1d\x13\x01\x01\xff\x04\x08\x30\x06\x01\x01\xff\x02\x01",
                     16),
       "basicConstraints: critical, CA, path length 0");
    ok(has_extension(crt, "\x55\x1d\x0f\x01\x01\xff\x04\x04\x03\x02\x01\x06", 12),
       "keyUsage: critical, keyCertSign and cRLSign only");
    ok(crt->subject_key_id.len == 20, "subjectKeyIdentifier");
    ok(crt->authority_key_id.keyIdentifier.len == 20 &&
           memcmp(crt->authority_key_id.keyIdentifier.p, crt->subject_key_id.p, 20) == 0,
       "authorityKeyIdentifier is its own");
    ok(crt->serial.len == 16 && crt->serial.p[0] < 0x80 && crt->serial.p[0] >= 0x40,
       "serial: 16 bytes, positive");
    const struct ca_facts *f = ca_facts(ca);
    ok(strncmp(f->subject, "CN=retape CA ", 13) == 0 && strlen(f->subject) == 21,
       "subject %s", f->subject);
    int64_t now = clock_wall_ms() / 1000;
    ok(f->from_s <= now - 86400 && f->from_s > now - 86400 - 600, "valid since a day");
    ok(f->to_s - f->from_s == (int64_t)3651 * 86400, "and for ten years");

    ca_describe(ca, &text);
    ok(strstr(buf_cstr(&text), f->subject) && strstr(buf_cstr(&text), f->fingerprint),
       "described");
    ok(ca_open(&again, dir, &e) == 0, "opened again");
    is(again ? ca_facts(again)->fingerprint : NULL, f->fingerprint, "it is the same");
    is(again ? ca_cert_pem(again) : NULL, ca_cert_pem(ca), "byte for byte");
    ca_close(&again);
    ca_close(&ca);
    ca_close(&ca);
    ok(ca == NULL, "closing twice is fine");
    buf_free(&text);
}

static void test_two_differ(const char *one)
{
    struct err e = {0};
    struct ca *a = NULL, *b = NULL;

    ok(ca_open(&a, one, &e) == 0 && ca_open(&b, scratch_file("other"), &e) == 0,
       "two folders");
    if (a && b)
        ok(strcmp(ca_facts(a)->subject, ca_facts(b)->subject) != 0, "two names");
    ca_close(&a);
    ca_close(&b);
}

/* All wait for the same end of file, then open; the parent reads fingerprints. */
static void racer(const char *dir, const int gate[2], int out)
{
    struct err e = {0};
    struct ca *ca = NULL;
    char byte, line[96] = "failed";

    (void)close(gate[1]);
    (void)!read(gate[0], &byte, 1);
    if (ca_open(&ca, dir, &e) == 0)
        memcpy(line, ca_facts(ca)->fingerprint, sizeof line);
    ca_close(&ca);
    (void)!write(out, line, sizeof line);
    _exit(0);
}

static void test_race(void)
{
    int gate[2], out[2], same = 0;
    char lines[RACERS][96];
    const char *dir = scratch_file("race/folder");

    if (pipe(gate) < 0 || pipe(out) < 0)
        exit(99);
    (void)fflush(stdout);
    for (int i = 0; i < RACERS; i++)
        if (fork() == 0)
            racer(dir, gate, out[1]);
    (void)close(gate[0]);
    (void)close(gate[1]);
    for (int i = 0; i < RACERS; i++)
        if (read(out[0], lines[i], sizeof lines[i]) == (ssize_t)sizeof lines[i])
            same += strlen(lines[i]) == 95 && strcmp(lines[i], lines[0]) == 0;
    while (wait(NULL) > 0)
        ;
    (void)close(out[0]);
    (void)close(out[1]);
    ok(same == RACERS, "%d of %d processes at once got one authority", same, RACERS);
}

static void test_broken(const char *good)
{
    const char *dir = scratch_file("broken");
    const char *pem = scratch_file("broken/ca.pem"), *key = scratch_file("broken/ca.key");
    const char *good_pem = scratch_file("new/deep/ca.pem");
    const char *good_key = scratch_file("new/deep/ca.key");
    struct err e = {0};
    struct ca *ca = NULL;

    (void)good;
    (void)mkdir(dir, 0700);
    copy_file(good_pem, pem, 0644);
    open_fails(dir, ERR_CONFIG, "key of the authority is missing", "certificate alone");
    copy_file(scratch_file("other/ca.key"), key, 0600);
    open_fails(dir, ERR_CONFIG, "do not belong together", "somebody else's key");
    copy_file(good_key, key, 0600);
    for (int i = 0; i < 2; i++) {
        static const mode_t loose[] = {0640, 0604};
        (void)chmod(key, loose[i]);
        open_fails(dir, ERR_CONFIG, "chmod 600", "a key others can read");
    }
    put_file(key, "not a key\n", 0600);
    open_fails(dir, ERR_FORMAT, "delete ca.pem and ca.key", "a key of words");
    put_file(key, "", 0600);
    open_fails(dir, ERR_FORMAT, "delete ca.pem and ca.key", "an empty key");
    copy_file(good_key, key, 0600);
    put_file(pem, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", 0644);
    open_fails(dir, ERR_FORMAT, "delete ca.pem and ca.key", "a damaged certificate");
    put_file(pem, "", 0644);
    open_fails(dir, ERR_FORMAT, "delete ca.pem and ca.key", "an empty certificate");
    copy_file(good_pem, pem, 0644);
    (void)chmod(dir, 0770);
    open_fails(dir, ERR_CONFIG, "chmod 700", "a folder others can write to");
    (void)chmod(dir, 0700);
    ok(ca_open(&ca, dir, &e) == 0, "put right again, it opens");
    ca_close(&ca);
    (void)unlink(pem);
    ok(ca_open(&ca, dir, &e) == 0, "a key a crash left alone gets its certificate");
    ca_close(&ca);
    open_fails(scratch_file("other/ca.pem"), ERR_IO, "not a folder", "a file");
}

static void test_key_limit(void)
{
    static char big[LIMIT_KEY_FILE + 2];
    const char *key = scratch_file("broken/ca.key");

    memset(big, '\n', sizeof big - 1);
    put_file(key, big, 0600);
    open_fails(scratch_file("broken"), ERR_LIMIT, "larger than", "a key above the limit");
    big[LIMIT_KEY_FILE] = '\0';
    put_file(key, big, 0600);
    open_fails(scratch_file("broken"), ERR_FORMAT, "delete", "a blank key at the limit");
}

static void test_time(const char *dir)
{
    struct err e = {0};
    struct ca *ca = NULL;

    if (ca_open(&ca, dir, &e) < 0)
        return;
    int64_t from = ca_facts(ca)->from_s, to = ca_facts(ca)->to_s;
    ca_close(&ca);
    clock_pin_wall(to * 1000);
    ok(ca_open(&ca, dir, &e) == 0, "good in its last second");
    ca_close(&ca);
    clock_pin_wall((to + 1) * 1000);
    open_fails(dir, ERR_CONFIG, "expired on", "a second later");
    clock_pin_wall((from - 1) * 1000);
    open_fails(dir, ERR_CONFIG, "clock", "a second before its first");
    clock_pin_wall(-1);
}

static void test_dir(void)
{
    static const struct {
        const char *name, *own, *xdg, *home, *want;
    } cases[] = {
        {"own", "/a/own", "/x", "/h", "/a/own"},
        {"XDG", NULL, "/x", "/h", "/x/retape"},
        {"empty own", "", "/x", "/h", "/x/retape"},
        {"relative XDG", NULL, "x", "/h", "/h/.config/retape"},
        {"home", NULL, NULL, "/h", "/h/.config/retape"},
        {"nothing", NULL, NULL, NULL, NULL},
    };
    static const char *const names[] = {"RETAPE_CONFIG_DIR", "XDG_CONFIG_HOME", "HOME"};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *const values[] = {cases[i].own, cases[i].xdg, cases[i].home};
        struct err e = {0};
        char *dir = NULL;
        for (size_t j = 0; j < COUNT_OF(names); j++)
            (void)(values[j] ? setenv(names[j], values[j], 1) : unsetenv(names[j]));
        int rc = ca_dir(&dir, &e);
        ok((rc == 0) == (cases[i].want != NULL), "%s: %s", cases[i].name, e.msg);
        is(dir, cases[i].want, "%s: folder", cases[i].name);
        free(dir);
    }
    struct err e = {0};
    char *dir = NULL;
    (void)setenv("RETAPE_CONFIG_DIR", "here", 1);
    ok(chdir(scratch_path) == 0 && ca_dir(&dir, &e) == 0, "relative own: %s", e.msg);
    is(dir, scratch_file("here"), "relative own: made absolute");
    free(dir);
}

int main(void)
{
    (void)umask(022);
    scratch_make();
    test_race(); /* first: what forks has started no cryptography yet */
    const char *dir = scratch_file("new/deep");
    char kept[sizeof scratch_path + 16];
    (void)snprintf(kept, sizeof kept, "%s", dir);
    test_first_use(kept);
    test_two_differ(kept);
    test_broken(kept);
    test_key_limit();
    test_time(kept);
    test_dir();
    return tap_done();
}
