/*
 * test-scan.c - the secret scan: every rule as it stands, in base64 and in
 * percent-encoding, wherever the blocks and windows of a member are cut.
 */
#include "bundler/scan.h"

#include "base/fsx.h"
#include "base/limits.h"
#include "fake_secret.h"
#include "scratch.h"
#include "tap.h"
#include "tape/base64.h"
#include "tape/secret_rules.h"

#include <inttypes.h>

static struct scan_rules *rules;
static struct scan *scanner;

/* ---- examples of every rule ---- */

/* A template of fake_secret.h for a text that a shape takes: as often as it must be, or
 * as often as it may be. */
static void template_of(const char *shape, struct buf *out)
{
    for (const char *p = shape; *p; p++) {
        if (*p == '^')
            continue;
        if (*p == '[') {
            buf_char(out, p[1]);
            p = strchr(p, ']');
            continue;
        }
        if (*p != '%') {
            buf_char(out, *p);
            continue;
        }
        char *end = NULL;
        unsigned long n = p[2] == '{' ? strtoul(p + 3, &end, 10) : 1;
        if (end && *end == ',' && end[1] != '}')
            n = strtoul(end + 1, NULL, 10);
        if (p[1] == 'g') /* between a name and its value */
            buf_char(out, '=');
        else
            buf_fmt(out, "%%%c%lu", p[1], n);
        p = end ? strchr(p, '}') : p + 1;
    }
}

/* Rules that are more than a shape. */
static const struct {
    const char *rule, *text;
} forms[] = {
    {"private-key", "-----BEGIN PRIV"
                    "ATE KEY-----\n%a64\n%a64\n-----END PRIVATE KEY-----"},
    {"url-userinfo", "postgres://app:%a12@db.example/x"},
    {"bearer-token", "Bearer %a40"},
    {"authorization", "Authorization: Basic %b24"},
};

static void example(const struct secret_rule *r, struct buf *out)
{
    struct buf template = BUF_INIT(4096);

    buf_reset(out);
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        if (strcmp(forms[i].rule, r->name) == 0)
            buf_str(&template, forms[i].text);
    if (template.len == 0) {
        if (r->back.most)
            buf_fmt(&template, "%%%c%u", r->back.class, r->back.most);
        template_of(r->shapes[0], &template);
    }
    fake_secret(out, buf_cstr(&template), 11);
    buf_free(&template);
}

/* ---- running the scanner ---- */

/* In two blocks, cut at `cut`. */
static struct scan_result scan_text(const char *text, size_t len, size_t cut)
{
    struct scan_result got = {0};
    struct err e = {0};

    if (scan_member_begin(scanner, "files/x", &e) < 0 ||
        scan_member_feed(scanner, text, cut, &e) < 0 ||
        scan_member_feed(scanner, text + cut, len - cut, &e) < 0 ||
        scan_member_end(scanner, &got, &e) < 0)
        printf("Bail out! %s\n", e.msg);
    return got;
}

static bool found(const struct scan_result *got, const char *rule, enum scan_form form)
{
    for (size_t i = 0; i < got->n; i++)
        if (got->hits[i].form == form && strcmp(got->hits[i].rule, rule) == 0 &&
            !got->hits[i].assay_only)
            return true;
    return false;
}

/* Found in this text, whatever the place of the cut. */
static bool found_at_every_cut(const struct buf *text, const char *rule,
                               enum scan_form form)
{
    for (size_t cut = 0; cut <= text->len; cut++) {
        struct scan_result got = scan_text(text->data, text->len, cut);
        if (!found(&got, rule, form)) {
            printf("# not when cut at %zu: %s\n", cut, text->data);
            return false;
        }
    }
    return true;
}

static void url_letters(struct buf *text)
{
    for (size_t i = 0; i < text->len; i++)
        text->data[i] = text->data[i] == '+'   ? '-'
                        : text->data[i] == '/' ? '_'
                                               : text->data[i];
    while (text->len > 0 && text->data[text->len - 1] == '=')
        text->len--;
}

/* ---- the forms ---- */

static void check_base64(const char *rule, const struct buf *secret)
{
    struct buf inner = BUF_INIT(8192), text = BUF_INIT(8192);
    bool all = true;

    for (size_t pad = 0; pad < 3; pad++)
        for (size_t shift = 0; shift < 4; shift++)
            for (int url = 0; url < 2; url++) {
                buf_reset(&inner);
                buf_reset(&text);
                buf_add(&inner, "\n\n\n", pad);
                buf_add(&inner, secret->data, secret->len);
                base64_encode(&text, inner.data, inner.len);
                if (url)
                    url_letters(&text);
                buf_reset(&inner);
                buf_str(&inner, "{\"v\":\"");
                buf_add(&inner, "n/a", shift); /* letters that do not belong to it */
                buf_add(&inner, text.data, text.len);
                buf_str(&inner, "\"}");
                struct scan_result got = scan_text(inner.data, inner.len, 0);
                all &= found(&got, rule, SCAN_BASE64) && got.secrets == 1;
            }
    ok(all, "%s: in base64, both alphabets, however it is grouped", rule);
    ok(found_at_every_cut(&inner, rule, SCAN_BASE64), "%s: in base64, at every cut",
       rule);
    buf_free(&inner);
    buf_free(&text);
}

static void check_percent(const char *rule, const struct buf *secret)
{
    struct buf text = BUF_INIT(16384);

    buf_str(&text, "https://a.example/?q=");
    for (size_t i = 0; i < secret->len; i++)
        buf_fmt(&text, i % 2 ? "%%%02x" : "%%%02X", (unsigned char)secret->data[i]);
    buf_str(&text, "&r=1\n");
    ok(found_at_every_cut(&text, rule, SCAN_PERCENT),
       "%s: in percent-encoding, at every cut", rule);
    buf_free(&text);
}

static void check_rules(void)
{
    struct buf secret = BUF_INIT(4096), text = BUF_INIT(4096);

    for (size_t i = 0; i < n_secret_rules; i++) {
        const char *rule = secret_rules[i].name;
        example(&secret_rules[i], &secret);
        buf_reset(&text);
        buf_str(&text, "one\ntwo ");
        if (strcmp(rule, "authorization") == 0)
            buf_char(&text, '\n');
        buf_add(&text, secret.data, secret.len);
        buf_str(&text, "\nend");
        struct scan_result got = scan_text(text.data, text.len, 0);
        ok(found(&got, rule, SCAN_PLAIN) && got.secrets == 1, "%s: as it stands", rule);
        ok(found_at_every_cut(&text, rule, SCAN_PLAIN), "%s: at every cut", rule);
        check_base64(rule, &secret);
        check_percent(rule, &secret);
    }
    buf_free(&secret);
    buf_free(&text);
}

/* ---- ways to wrap ---- */

static void put_base64(struct buf *out, const char *text, size_t line, const char *end)
{
    struct buf all = BUF_INIT(8192);

    base64_encode(&all, text, strlen(text));
    for (size_t i = 0; i < all.len; i++) {
        if (i > 0 && line > 0 && i % line == 0)
            buf_str(out, end);
        buf_char(out, all.data[i]);
    }
    buf_free(&all);
}

static void put_percent(struct buf *out, const char *text)
{
    for (; *text; text++)
        buf_fmt(out, strchr("+/=: %&", *text) ? "%%%02X" : "%c", (unsigned char)*text);
}

static void check_wrappings(void)
{
    static const char *const breaks[] = {"\n",     "\r\n", "\\n",       "\\r\\n",
                                         "\n    ", "\n\t", "\\\\r\\\\n"};
    struct buf secret = BUF_INIT(4096), text = BUF_INIT(16384), inner = BUF_INIT(16384);
    struct scan_result got;

    fake_secret(&secret, "some words of text and more of them?o? sk-proj-%u60 ?>?>?o?",
                3);
    for (size_t i = 0; i < COUNT_OF(breaks); i++)
        for (size_t line = 20; line <= 76; line += 19) {
            buf_reset(&text);
            put_base64(&text, secret.data, line, breaks[i]);
            got = scan_text(text.data, text.len, text.len / 2);
            ok(found(&got, "openai-key", SCAN_BASE64), "lines of %zu, break %zu", line,
               i);
        }
    buf_reset(&text);
    put_base64(&text, secret.data, 0, "");
    for (size_t i = 0; i < text.len; i++)
        buf_fmt(&inner, text.data[i] == '/' ? (i % 2 ? "\\/" : "\\u002F") : "%c",
                text.data[i]);
    got = scan_text(inner.data, inner.len, 0);
    ok(found(&got, "openai-key", SCAN_BASE64), "escaped slashes");

    buf_reset(&inner);
    put_percent(&inner, text.data);
    got = scan_text(inner.data, inner.len, 0);
    ok(got.secrets == 1, "base64 in percent-encoding");
    buf_reset(&inner);
    put_base64(&inner, text.data, 0, "");
    got = scan_text(inner.data, inner.len, 0);
    ok(found(&got, "openai-key", SCAN_BASE64), "base64 in base64");
    buf_reset(&text);
    put_percent(&text, secret.data);
    buf_reset(&inner);
    put_percent(&inner, text.data);
    buf_str(&inner, "%41");
    got = scan_text(inner.data, inner.len, 0);
    ok(got.secrets == 1, "percent-encoded twice: told once");

    buf_reset(&text);
    fake_secret(&text, "x=%%20&h=Bearer+%a40", 3);
    got = scan_text(text.data, text.len, 0);
    ok(found(&got, "bearer-token", SCAN_PERCENT), "a form writes blanks as +");
    buf_free(&secret);
    buf_free(&text);
    buf_free(&inner);
}

/* ---- places ---- */

/* One credential at `at` in a text of `len` bytes with a line end every 100 bytes. */
static bool found_in_filler(struct buf *text, const struct buf *secret, size_t len,
                            size_t at, const char *rule, enum scan_form form)
{
    buf_reset(text);
    char *p = buf_room(text, len);

    if (!p)
        return false;
    for (size_t i = 0; i < len; i++)
        p[i] = i % 100 == 99 ? '\n' : i % 7 ? '.' : ' ';
    memcpy(p + at, secret->data, secret->len);
    p[at - 1] = ' ';
    text->len = len;
    uint64_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += p[i] == '\n';
    struct scan_result got = scan_text(p, len, len / 3);
    bool good = got.secrets == 1 && got.n == 1 && got.hits[0].at >= at &&
                got.hits[0].at < at + secret->len && got.hits[0].line == line &&
                found(&got, rule, form);
    if (!good)
        printf("# at %zu: %" PRIu64 " found, %" PRIu64 " at %" PRIu64 "\n", at,
               got.secrets, got.assays, got.n ? got.hits[0].at : 0);
    return good;
}

/* Around the places where a window of 256 KB with 16 KB ahead can begin and end. */
static void check_windows(void)
{
    static const size_t ends[] = {240 * 1024, 256 * 1024, 480 * 1024 - 128, 496 * 1024};
    struct buf text = BUF_INIT(MIB(1)), secret = BUF_INIT(4096), packed = BUF_INIT(8192);
    struct buf header = BUF_INIT(4096);

    fake_secret(&secret, "ghp_%a36", 5);
    fake_secret(&header, "Authorization: Bearer %a40", 5);
    base64_encode(&packed, "a line of text ", 15);
    base64_encode(&packed, secret.data, secret.len / 3 * 3 + 3);
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        bool plain = true, wrapped = true, once = true;
        for (size_t back = 0; back < 220; back += 3) {
            plain &= found_in_filler(&text, &secret, KIB(600), ends[i] - back,
                                     "github-token", SCAN_PLAIN);
            wrapped &= found_in_filler(&text, &packed, KIB(600), ends[i] - back,
                                       "github-token", SCAN_BASE64);
            once &= found_in_filler(&text, &header, KIB(600), ends[i] - back,
                                    "authorization", SCAN_PLAIN);
        }
        ok(plain, "told once, with its place, around byte %zu", ends[i]);
        ok(wrapped, "the same in base64, around byte %zu", ends[i]);
        ok(once, "what two rules and Assay would take, around byte %zu", ends[i]);
    }
    buf_free(&text);
    buf_free(&secret);
    buf_free(&packed);
    buf_free(&header);
}

/* ---- what is no credential ---- */

static void check_harmless(void)
{
    static const struct {
        const char *text;
        uint64_t assays;
    } rows[] = {
        {"the bearer of news", 1},
        {"risk-assessment-framework-v2", 1},
        {"task_id_0123456789abcdefgh", 1},
        {"disk-usage-percent-threshold", 1},
        {"authorization: bearer x", 1},
        {"Authorization: [secret:authorization]", 1},
        {"{\"h\":\"Bearer [secret:bearer-token]\"}", 1},
        {"Bearer [REDACTED]", 1},
        {"[REDACTED]\n\n", 0},
        {"sha256:%x64", 0},
        {"data:image/png;base64,iVBORw0KGgo%b600", 0},
        {"%%E2%%82%%AC+100%%, see a%%20b", 0},
        {"call_%a24 toolu_01%a22 chatcmpl-%a29", 0},
        {"", 0},
    };
    struct buf text = BUF_INIT(4096);

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        buf_reset(&text);
        fake_secret(&text, rows[i].text, 9);
        struct scan_result got = scan_text(buf_cstr(&text), text.len, text.len / 2);
        ok(got.secrets == 0 && got.assays == rows[i].assays, "no credential: %s",
           rows[i].text);
        ok(got.n == rows[i].assays && (!got.n || got.hits[0].assay_only),
           "told apart: %s", rows[i].text);
    }
    buf_reset(&text);
    fake_secret(&text, "\nAuthorization: Bearer %a40 [secret:x]\n", 9);
    struct scan_result got = scan_text(text.data, text.len, 0);
    ok(got.secrets == 1 && got.assays == 0,
       "a placeholder beside a credential does not excuse it; told once");
    buf_free(&text);
}

static void check_manifest(void)
{
    static const char text[] = "{\"reason\":{\"t\":\"the bearer of news\"}}";
    struct scan_result got = {0};
    struct err e = {0};

    ok(scan_member_begin(scanner, "manifest.json", &e) == 0 &&
           scan_member_feed(scanner, text, sizeof text - 1, &e) == 0 &&
           scan_member_end(scanner, &got, &e) == 0 && got.assays == 0,
       "manifest.json: Assay does not scan it");
}

static void check_ceiling(void)
{
    struct buf text = BUF_INIT(MIB(1));
    size_t half = LIMIT_SCAN_HITS / 2;

    for (size_t n = half; n <= half + 1; n++) {
        buf_reset(&text);
        for (size_t i = 0; i < n; i++)
            fake_secret(&text, "the bearer of ghp_%a36\n", (uint32_t)i);
        struct scan_result got = scan_text(text.data, text.len, 0);
        ok(got.secrets == n && got.assays == n && got.n == 2 * half, "%zu of each kind",
           n);
        ok(!got.hits[half - 1].assay_only && got.hits[half].assay_only &&
               got.hits[half - 1].line == half,
           "credentials first, in their order");
    }
    buf_free(&text);
}

/* ---- rules of the user's own ---- */

static int load(const char *text, struct scan_rules **out, struct err *e)
{
    const char *path = scratch_file("rules.json");

    if (fsx_write_file(path, text, strlen(text), 0600, e) < 0)
        printf("Bail out! %s\n", e->msg);
    return scan_rules_new(out, path, e);
}

static void check_rules_file(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"{}", "array"},
        {"[1]", "rule 1"},
        {"[{\"name\":\"a\"}]", "\"regex\""},
        {"[{\"name\":\"a\",\"regex\":\"x\"},{\"name\":7,\"regex\":\"x\"}]", "rule 2"},
        {"[{\"name\":\"a\",\"regex\":\"x\",\"colour\":1}]", "colour"},
        {"[{\"name\":\"a\",\"regex\":\"(x\"}]", "a: "},
        {"[{\"name\":\"a\",\"regex\":\"x*\"}]", "empty"},
        {"[{\"name\":\"a\",\"regex\":\"x\"},{\"name\":\"a\",\"regex\":\"y\"}]", "rule 1"},
        {"[{\"name\":\"a\",\"regex\":\"x\"}", "rules.json"},
        {"[{\"name\":\"a\\u0000b\",\"regex\":\"x\"}]", "\"name\""},
    };
    struct scan_rules *own = NULL;
    struct scan *s = NULL;
    struct scan_result got = {0};
    struct err e = {0};

    ok(load("[{\"name\":\"badge\",\"regex\":\"EMP-[0-9]{4}\"}, // ours\n]", &own, &e) ==
           0,
       "a rules file%s", e.msg);
    ok(scan_new(&s, own, &e) == 0 && scan_member_begin(s, "files/x", &e) == 0 &&
           scan_member_feed(s, "a EMP-12", 8, &e) == 0 &&
           scan_member_feed(s, "34 b", 4, &e) == 0 && scan_member_end(s, &got, &e) == 0 &&
           got.n == 1 && strcmp(got.hits[0].rule, "badge") == 0 && got.hits[0].at == 2,
       "its rule finds, over a block's end");
    scan_free(&s);
    scan_rules_free(&own);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        ok(load(bad[i].text, &own, &e) == -1 && strstr(e.msg, bad[i].says) && !own,
           "refused: %s (%s)", bad[i].text, e.msg);
    ok(scan_rules_new(&own, scratch_file("nowhere"), &e) == -1 && e.code == ERR_IO,
       "a file that is not there");
}

int main(void)
{
    struct err e = {0};

    scratch_make();
    ok(scan_rules_new(&rules, NULL, &e) == 0 && scan_new(&scanner, rules, &e) == 0,
       "a scanner");
    ok(n_secret_rules >= 40, "at least forty kinds: %zu", n_secret_rules);
    check_rules();
    check_wrappings();
    check_windows();
    check_harmless();
    check_manifest();
    check_ceiling();
    check_rules_file();
    scan_free(&scanner);
    scan_free(&scanner);
    scan_rules_free(&rules);
    return tap_done();
}
