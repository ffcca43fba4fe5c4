/* test-base.c - the small modules everybody stands on. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/fsx.h"
#include "base/headers.h"
#include "base/url.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- buf ---- */

static void check_buf(void)
{
    struct buf b = BUF_INIT(8);
    struct err e = {0};

    is(buf_cstr(&b), "", "buf: empty is \"\"");
    buf_add(&b, NULL, 0);
    buf_str(&b, "abcd");
    buf_char(&b, 'e');
    buf_fmt(&b, "%03d", 7);
    ok(b.len == 8 && buf_check(&b, "b", &e) == 0, "buf: full to the ceiling");
    is(buf_cstr(&b), "abcde007", "buf: bytes in order, NUL after them");
    buf_str(&b, "");
    ok(!b.failed, "buf: nothing more still fits");
    buf_char(&b, 'x');
    ok(b.len == 8 && buf_check(&b, "thing", &e) < 0 && e.code == ERR_LIMIT &&
           strstr(e.msg, "thing") && strstr(e.msg, "8"),
       "buf: one more fails and says so: %s", e.msg);
    buf_eat(&b, 4);
    buf_char(&b, 'y');
    ok(b.len == 4 && !buf_room(&b, 0), "buf: failure is sticky");
    is(buf_cstr(&b), "e007", "buf: eaten at the front");
    ok(!buf_take(&b), "buf: a failed buffer gives nothing away");

    buf_reset(&b);
    buf_fmt(&b, "%s", "123456789");
    ok(b.failed && b.len == 0, "buf: formatted text is never cut");
    buf_reset(&b);
    ok(!b.failed && b.len == 0, "buf: reset forgets");
    ok(!buf_room(&b, (size_t)-1) && b.failed, "buf: a huge wish does not wrap");
    buf_reset(&b);
    char *room = buf_room(&b, 8);
    ok(room != NULL, "buf: room for all of it");
    memcpy(room, "12345678", 8);
    b.len = 8;
    char *taken = buf_take(&b);
    ok(taken && memcmp(taken, "12345678", 8) == 0 && !b.data && b.max == 8,
       "buf: taken, the ceiling stays");
    free(taken);
    taken = buf_take(&b);
    is(taken, "", "buf: an empty buffer gives an empty string");
    free(taken);
    buf_free(&b);
    buf_free(&b);
}

/* ---- err ---- */

static void check_err(void)
{
    struct err e = {0};
    bool round = true, filled = true;

    ok(err_set(&e, ERR_MISS, "%d left", 3) == -1 && e.code == ERR_MISS, "err: set");
    ok(err_in(&e, "tape %s", "a1") == -1 && e.code == ERR_MISS, "err: place, same code");
    is(e.msg, "tape a1: 3 left", "err: message");
    for (int i = 1; i < ERR_COUNT; i++) {
        const char *name = err_name((enum err_code)i);
        int status = err_exit_status((enum err_code)i);
        round &= err_by_name(name) == (enum err_code)i;
        filled &= strncmp(name, "E_", 2) == 0 && (status == 2 || status == 3) &&
                  err_http_status((enum err_code)i) >= 400;
    }
    ok(round, "err: every name finds its code");
    ok(filled, "err: every code has a name, an exit status and an HTTP status");
    is(err_name(ERR_MISS), "E_REPLAY_MISSING_DEPENDENCY", "err: a promised name");
    ok(err_http_status(ERR_MISS) == 424 && err_exit_status(ERR_MISS) == 2, "err: a miss");
    ok(err_by_name("E_NO_SUCH") == ERR_NONE && err_by_name("") == ERR_NONE,
       "err: unknown names");
    for (int i = 0; i < 10; i++)
        (void)err_in(&e, "%0200d", i);
    ok(strlen(e.msg) == sizeof e.msg - 1, "err: long messages stay in their place");
}

/* ---- digest ---- */

static void check_digest(void)
{
    uint8_t bytes[4];
    char text[33], key[DIGEST_KEY_TEXT], hex[9];
    struct digest_xxh3 h = digest_xxh3("abc", 3), back = {0};

    digest_key_text("abc", 3, key);
    is(key, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
       "digest: sha256 of abc");
    ok(digest_unhex("00fFa0", 6, bytes, 3) == 0 && memcmp(bytes, "\0\xff\xa0", 3) == 0,
       "digest: unhex, either case");
    ok(digest_unhex("00fFa", 5, bytes, 3) < 0 &&
           digest_unhex("00fFa0b1", 8, bytes, 3) < 0,
       "digest: unhex wants the exact length");
    ok(digest_unhex("00fg", 4, bytes, 2) < 0 && digest_unhex("0/00", 4, bytes, 2) < 0 &&
           digest_unhex("0:00", 4, bytes, 2) < 0 && digest_unhex("@000", 4, bytes, 2) < 0,
       "digest: unhex wants hex digits");
    digest_hex((const uint8_t *)"\x01\xab\xcd\xef", 4, hex);
    is(hex, "01abcdef", "digest: hex");
    digest_xxh3_text(h, text);
    is(text, "06b05ab6733a618578af5f94892f3950", "digest: xxh3 of abc, canonical order");
    ok(digest_xxh3_parse(text, 32, &back) == 0 && back.lo == h.lo && back.hi == h.hi,
       "digest: xxh3 text round trip");
    ok(digest_xxh3_parse(text, 31, &back) < 0, "digest: xxh3 text of the wrong length");
}

/* ---- url ---- */

static const struct {
    const char *in;
    bool tls;
    const char *host;
    unsigned port;
    const char *path, *query;
    const char *again; /* url_text(); NULL: as it was */
} urls[] = {
    {"http://h", false, "h", 80, "/", NULL, "http://h/"},
    {"HTTPS://API.Example.com/V1?Q=A%20b", true, "api.example.com", 443, "/V1", "Q=A%20b",
     "https://api.example.com/V1?Q=A%20b"},
    {"http://h:80/", false, "h", 80, "/", NULL, "http://h/"},
    {"https://h:80/", true, "h", 80, "/", NULL, NULL},
    {"https://h:65535/a/../b//", true, "h", 65535, "/a/../b//", NULL, NULL},
    {"http://h?x=1?y", false, "h", 80, "/", "x=1?y", "http://h/?x=1?y"},
    {"http://h/?", false, "h", 80, "/", "", NULL},
    {"http://[::1]/x", false, "::1", 80, "/x", NULL, NULL},
    {"https://[2001:DB8::1]:8443/", true, "2001:db8::1", 8443, "/", NULL,
     "https://[2001:db8::1]:8443/"},
    {"http://127.0.0.1:8080/@x", false, "127.0.0.1", 8080, "/@x", NULL, NULL},
    {"http://a_b-c.d/", false, "a_b-c.d", 80, "/", NULL, NULL},
};

static const char *const bad_urls[] = {
    "",
    "h",
    "/path",
    "ftp://h/",
    "http:/h/",
    "http://",
    "http:///x",
    "http://?x",
    "http://h:/",
    "http://h:0/",
    "http://h:65536/",
    "http://h:123456/",
    "http://h:8a/",
    "http://h:-1/",
    "http://user@h/",
    "http://user:pass@h/",
    "http://h/#top",
    "http://h#top",
    "http://a b/",
    "http://a\rb/",
    "http://a%62/",
    "http://\xc3\xa9/",
    "http://::1/",
    "http://[::1/",
    "http://[::1]x/",
    "http://[::g]/",
    "http://[h]/",
    "http://[]/",
};

static void check_urls(void)
{
    struct err e = {0};

    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        struct url u = {0}, copy = {0};
        struct buf text = BUF_INIT(256);
        ok(url_parse(&u, urls[i].in, &e) == 0 && url_copy(&copy, &u, &e) == 0, "url: %s",
           urls[i].in);
        url_fini(&u);
        ok(copy.tls == urls[i].tls && copy.port == urls[i].port, "url: scheme and port");
        is(copy.host, urls[i].host, "url: host");
        is(copy.path, urls[i].path, "url: path");
        is(copy.query, urls[i].query, "url: query");
        url_text(&copy, &text);
        is(buf_cstr(&text), urls[i].again ? urls[i].again : urls[i].in, "url: text");
        buf_free(&text);
        url_fini(&copy);
        url_fini(&copy);
    }
    for (size_t i = 0; i < COUNT_OF(bad_urls); i++) {
        struct url u = {0};
        ok(url_parse(&u, bad_urls[i], &e) < 0 && e.code == ERR_FORMAT && !u.host,
           "url: bad URL %zu is refused: %s", i, e.msg);
    }
    struct buf longest = BUF_INIT(512);
    buf_str(&longest, "http://");
    for (int i = 0; i < 253; i++)
        buf_char(&longest, 'a');
    struct url u = {0};
    ok(url_parse(&u, longest.data, &e) == 0, "url: a host of 253 characters");
    url_fini(&u);
    buf_char(&longest, 'a');
    ok(url_parse(&u, longest.data, &e) < 0, "url: one more is refused");
    buf_free(&longest);
}

static void check_host_port(void)
{
    static const struct {
        const char *in, *host;
        unsigned port;
    } cases[] = {
        {"example.com:443", "example.com", 443},
        {"[::1]:8080", "::1", 8080},
        {"Example.com", "example.com", 0},
        {"[::1]", "::1", 0},
        {"::1", NULL, 0},
        {":80", NULL, 0},
        {"", NULL, 0},
        {"h:", NULL, 0},
        {"h:80x", NULL, 0},
        {"h/", NULL, 0},
    };
    struct err e = {0};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *host = NULL;
        uint16_t port = 9;
        int rc = url_host_port(cases[i].in, &host, &port, &e);
        ok(rc == (cases[i].host ? 0 : -1) && (rc < 0 || port == cases[i].port),
           "host and port: `%s`", cases[i].in);
        is(rc == 0 ? host : NULL, cases[i].host, "host of `%s`", cases[i].in);
        if (rc == 0)
            free(host);
    }
    ok(url_is_ip("127.0.0.1") && url_is_ip("::1") && !url_is_ip("localhost") &&
           !url_is_ip("[::1]") && !url_is_ip("127.1") && !url_is_ip("0x7f000001"),
       "url: what is an address");
}

static void check_decode(void)
{
    static const struct {
        const char *in, *want;
        bool plus;
    } cases[] = {
        {"a%20b+c", "a b c", true},
        {"a%20b+c", "a b+c", false},
        {"%41%4a%4A", "AJJ", true},
        {"%", "%", true},
        {"%4", "%4", true},
        {"%zz%4g", "%zz%4g", true},
        {"%%41", "%A", true},
        {"%2B", "+", true},
        {"", "", true},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct buf out = BUF_INIT(64);
        url_decode(cases[i].in, strlen(cases[i].in), cases[i].plus, &out);
        is(buf_cstr(&out), cases[i].want, "decode `%s`", cases[i].in);
        buf_free(&out);
    }
    struct buf out = BUF_INIT(64);
    url_decode("%00%4", 4, true, &out); /* the bytes after the length do not count */
    ok(out.len == 2 && memcmp(out.data, "\0%", 3) == 0, "decode NUL and a cut escape");
    buf_free(&out);
}

/* ---- headers ---- */

static void check_headers(void)
{
    struct headers h = {0}, copy = {0};
    struct err e = {0};
    static const char *const fields[][2] = {
        {"Content-Type", "text/plain"},
        {"X-A", "1"},
        {"x-a", "2"},
        {"Connection", "keep-alive, X-Hop;q=1"},
        {"CONNECTION", "x-other"},
        {"X-Hop", "gone"},
        {"X-Other", "gone"},
        {"Keep-Alive", "timeout=5"},
        {"transfer-encoding", "gzip, Chunked"},
        {"Proxy-Authorization", "Basic x"},
        {"Upgrade", "h2c"},
        {"X-Hopper", "stays"},
    };

    for (size_t i = 0; i < COUNT_OF(fields); i++)
        ok(headers_add(&h, fields[i][0], fields[i][1], &e) == 0, "headers: add %s",
           fields[i][0]);
    for (int i = 0; i < 20; i++)
        ok(headers_add_n(&h, "Many!", 4, "valued", 5, &e) == 0, "headers: add many");
    is(headers_find(&h, "X-a"), "1", "headers: the first, without case");
    is(headers_find(&h, "many"), "value", "headers: lengths are respected");
    ok(headers_count(&h, "X-A") == 2 && headers_count(&h, "X-B") == 0, "headers: count");
    ok(!headers_find(&h, "X"), "headers: no prefix match");
    ok(headers_has_token(&h, "Transfer-Encoding", "chunked") &&
           headers_has_token(&h, "connection", "x-hop") &&
           headers_has_token(&h, "connection", "X-OTHER") &&
           !headers_has_token(&h, "connection", "keep") &&
           !headers_has_token(&h, "connection", "") &&
           !headers_has_token(&h, "connection", "q=1"),
       "headers: tokens");
    ok(headers_set_value(&h, 1, "one", &e) == 0, "headers: set a value");
    ok(headers_copy(&copy, &h, &e) == 0 && copy.n == h.n, "headers: copy");
    headers_fini(&h);
    headers_remove(&copy, "MANY");
    headers_remove_hop_by_hop(&copy);
    ok(copy.n == 4, "headers: four fields outlive the hop");
    is(copy.v[0].name, "Content-Type", "headers: end-to-end field");
    is(copy.v[1].value, "one", "headers: order and value kept");
    is(copy.v[2].name, "x-a", "headers: case kept");
    is(copy.v[3].name, "X-Hopper", "headers: a near miss stays");
    ok(headers_is_hop_by_hop("te") && headers_is_hop_by_hop("Trailer") &&
           !headers_is_hop_by_hop("Trailers") && !headers_is_hop_by_hop("Authorization"),
       "headers: hop-by-hop names");
    headers_fini(&copy);
    headers_fini(&copy);
}

/* ---- clock ---- */

static void check_clock(void)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"1970-01-01T00:00:00.000Z", 0},
        {"2026-03-01T12:00:00.123Z", 1772366400123},
        {"2024-02-29T23:59:59.999Z", 1709251199999},
        {"9999-12-31T23:59:59.999Z", 253402300799999},
    };
    static const struct {
        const char *text;
        int64_t ms;
    } others[] = {
        {"2026-03-01T12:00:00Z", 1772366400000},
        {"2026-03-01T12:00:00.5Z", 1772366400500},
        {"2026-03-01T12:00:00.123456789Z", 1772366400123},
        {"2026-03-01T12:00:00+00:00", 1772366400000},
        {"2026-03-01T14:30:00.001+02:30", 1772366400001},
        {"2026-03-01T07:00:00-05:00", 1772366400000},
        {"2026-03-01", -1},
        {"2026-03-01T12:00:00", -1},
        {"2026-03-01T12:00:00z1", -1},
        {"2026-13-01T12:00:00Z", -1},
        {"2026-03-01T12:00:00+0", -1},
        {"2026-03-01T12:00:00+00:00x", -1},
        {"yesterday", -1},
        {"", -1},
    };
    char text[CLOCK_TEXT];
    uint8_t a[32] = {0}, b[32] = {0};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        clock_rfc3339(cases[i].ms, text);
        is(text, cases[i].text, "clock: text of %lld", (long long)cases[i].ms);
        ok(clock_parse_rfc3339(text) == cases[i].ms, "clock: and back");
    }
    for (size_t i = 0; i < COUNT_OF(others); i++)
        ok(clock_parse_rfc3339(others[i].text) == others[i].ms, "clock: read `%s`",
           others[i].text);
    clock_pin_wall(1234);
    ok(clock_wall_ms() == 1234, "clock: pinned");
    clock_pin_wall(-1);
    ok(clock_wall_ms() > 1700000000000, "clock: unpinned");
    uint64_t before = clock_mono_ns();
    ok(clock_mono_ns() >= before, "clock: monotonic");
    clock_random(a, sizeof a);
    clock_random(b, sizeof b);
    ok(memcmp(a, b, sizeof a) != 0, "clock: random bytes differ");
}

/* ---- fsx ---- */

static void check_map(const char *path)
{
    struct fsx_map map = {0};
    struct err e = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    ok(fsx_map(&map, fd, path, &e) == 0 && map.len == 3 &&
           memcmp(map.data, "new", 3) == 0,
       "fsx: map");
    fsx_unmap(&map);
    fsx_unmap(&map);
    (void)close(fd);
    ok(fsx_write_file(path, "", 0, 0600, &e) == 0, "fsx: write an empty file");
    fd = open(path, O_RDONLY | O_CLOEXEC);
    ok(fsx_map(&map, fd, path, &e) == 0 && map.len == 0 && !map.data, "fsx: map nothing");
    (void)close(fd);
    fd = open("/", O_RDONLY | O_CLOEXEC);
    ok(fsx_map(&map, fd, "/", &e) < 0 && e.code == ERR_FORMAT, "fsx: map a folder");
    (void)close(fd);
}

static void check_files(const char *dir)
{
    struct err e = {0};
    struct stat st;
    struct buf in = BUF_INIT(8);
    char *deep = fsx_join(dir, "a/b/c"), *path = fsx_join(deep, "file");
    char *missing = fsx_join(dir, "none/file");

    ok(fsx_mkdirs(deep, 0700, &e) == 0 && fsx_mkdirs(deep, 0700, &e) == 0,
       "fsx: folders, and again");
    ok(!fsx_exists(path), "fsx: not there yet");
    ok(fsx_write_file(path, "12345678", 8, 0600, &e) == 0 && fsx_exists(path),
       "fsx: write");
    ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600, "fsx: with that mode");
    ok(fsx_read_file(path, &in, &e) == 0, "fsx: read a file as large as the ceiling");
    is(buf_cstr(&in), "12345678", "fsx: its bytes");
    buf_reset(&in);
    ok(fsx_write_file(path, "123456789", 9, 0600, &e) == 0, "fsx: replace");
    ok(fsx_read_file(path, &in, &e) < 0 && e.code == ERR_LIMIT && strstr(e.msg, path),
       "fsx: one byte more is refused, naming the file");
    buf_reset(&in);
    ok(fsx_write_file(path, "new", 3, 0600, &e) == 0 && fsx_read_file(path, &in, &e) == 0,
       "fsx: replace again");
    is(buf_cstr(&in), "new", "fsx: the new bytes alone");
    check_map(path);
    ok(fsx_write_file(missing, "x", 1, 0600, &e) < 0 && e.code == ERR_IO,
       "fsx: no folder, no file: %s", e.msg);
    ok(fsx_read_file(missing, &in, &e) < 0 && e.code == ERR_IO && strstr(e.msg, missing),
       "fsx: read what is not there");
    ok(fsx_write_file(deep, "x", 1, 0600, &e) < 0, "fsx: a folder is not replaced");
    ok(fsx_write_all(-1, "x", 1, &e) < 0 && e.code == ERR_IO, "fsx: a bad descriptor");
    buf_free(&in);

    /* Nothing but the file is left behind. */
    ok(unlink(path) == 0 && rmdir(deep) == 0, "fsx: no temporary file stays");
    free(deep);
    free(path);
    free(missing);
}

static void check_fsx(void)
{
    char dir[] = "/tmp/retape-base-XXXXXX";
    struct buf self = BUF_INIT(4096);
    struct err e = {0};

    if (!ok(mkdtemp(dir) != NULL, "fsx: a folder of our own"))
        return;
    check_files(dir);
    char *b = fsx_join(dir, "a/b"), *a = fsx_join(dir, "a");
    ok(rmdir(b) == 0 && rmdir(a) == 0 && rmdir(dir) == 0, "fsx: cleaned up");
    free(a);
    free(b);
    ok(fsx_self_dir(&self, &e) == 0 && self.len > 0 && self.data[0] == '/',
       "fsx: where we are");
    buf_free(&self);
}

int main(void)
{
    check_buf();
    check_err();
    check_digest();
    check_urls();
    check_host_port();
    check_decode();
    check_headers();
    check_clock();
    check_fsx();
    return tap_done();
}
