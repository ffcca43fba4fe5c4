/* test-decode.c - Content-Encoding undone, piece by piece; broken streams refused. */
#include "base/limits.h"
#include "tape/decode.h"
#include "tests/unit/tap.h"

#include <stdint.h>
#include <zlib.h>
#include <zstd.h>

#define TEXT "data: one\n\ndata: two\n\n"

/* "data: one\n\n", flushed, and "data: two\n\n" to the end, by brotli's own encoder. */
static const char br_first[] = "\x0b\x05\x80\x64\x61\x74\x61\x3a\x20\x6f\x6e\x65\x0a\x0a";
static const char br_rest[] =
    "\xa1\x00\x80\x5f\x5a\xe1\x8d\xee\x4e\x11\xa2\x4a\x04\x60\x0b";
/* A million times 'a'. */
static const char br_bomb[] =
    "\xa3\xff\xff\x03\x40\x22\x2c\x1e\x0b\x24\xf7\xfe\xa0\x7e\x84"
    "\x0e\x80\x04\x40\x1c\x16\x80\x7e\xce\x01";

enum { RAW = -15, ZLIB = 15, GZIP = 31 };

static void zip(struct buf *out, int window, const char *data, size_t len)
{
    z_stream z = {0};
    size_t most = len / 500 + len / 10 + 200 + len;

    deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)len;
    z.next_out = (Bytef *)buf_room(out, most);
    z.avail_out = (uInt)most;
    ok(deflate(&z, Z_FINISH) == Z_STREAM_END, "deflate made the input");
    out->len += most - z.avail_out;
    deflateEnd(&z);
}

static void zstd(struct buf *out, const char *data, size_t len)
{
    size_t most = ZSTD_compressBound(len);
    char *at = buf_room(out, most);

    out->len += ZSTD_compress(at, most, data, len, 3);
}

/* Every coding this program undoes, over the same text. */
struct sample {
    const char *name;
    struct buf coded;
};
static struct sample samples[6];

static void make_samples(void)
{
    static const struct {
        const char *name;
        int window;
    } zlibs[] = {{"gzip", GZIP}, {"X-GZip", GZIP}, {"deflate", ZLIB}, {"deflate", RAW}};

    for (size_t i = 0; i < COUNT_OF(zlibs); i++) {
        samples[i] = (struct sample){zlibs[i].name, BUF_INIT(MIB(1))};
        zip(&samples[i].coded, zlibs[i].window, TEXT, strlen(TEXT));
    }
    samples[4] = (struct sample){"br", BUF_INIT(MIB(1))};
    buf_add(&samples[4].coded, br_first, sizeof br_first - 1);
    buf_add(&samples[4].coded, br_rest, sizeof br_rest - 1);
    samples[5] = (struct sample){"zstd", BUF_INIT(MIB(1))};
    zstd(&samples[5].coded, TEXT, strlen(TEXT));
}

static void test_samples(const struct sample *s)
{
    struct buf out = BUF_INIT(KIB(1));
    struct err e = {0};
    struct decode *d = NULL;
    size_t early = 0;

    ok(decode_all(s->name, s->coded.data, s->coded.len, &out, &e) == 0, "%s: decodes",
       s->name);
    is(buf_cstr(&out), TEXT, "%s: the text", s->name);

    buf_reset(&out);
    ok(decode_new(&d, s->name, &e) == 0, "%s: decoder", s->name);
    for (size_t i = 0; i < s->coded.len; i++) {
        early += i > 0 && decode_end(d, &e) == 0;
        if (decode_feed(d, s->coded.data + i, 1, &out, &e) < 0)
            break;
    }
    ok(decode_end(d, &e) == 0 && early == 0, "%s: ends at its last byte, not before",
       s->name);
    is(buf_cstr(&out), TEXT, "%s: the same byte by byte", s->name);
    decode_free(&d);
    ok(d == NULL, "%s: freed", s->name);
    buf_free(&out);
}

static void test_broken(const struct sample *s)
{
    struct buf out = BUF_INIT(KIB(1)), longer = BUF_INIT(KIB(1));
    struct err e = {0};
    struct decode *d = NULL;

    ok(decode_all(s->name, s->coded.data, s->coded.len - 1, &out, &e) < 0 &&
           e.code == ERR_FORMAT,
       "%s: cut short is broken", s->name);
    buf_add(&longer, s->coded.data, s->coded.len);
    buf_str(&longer, "garbage!");
    buf_reset(&out);
    ok(decode_all(s->name, longer.data, longer.len, &out, &e) < 0 && e.code == ERR_FORMAT,
       "%s: garbage after its end is broken", s->name);
    buf_reset(&out);
    ok(decode_new(&d, s->name, &e) == 0 &&
           decode_feed(d, s->coded.data, s->coded.len, &out, &e) == 0 &&
           (decode_feed(d, "g", 1, &out, &e) < 0 || decode_end(d, &e) < 0),
       "%s: garbage in a piece of its own as well", s->name);
    decode_free(&d);
    buf_reset(&out);
    ok(decode_all(s->name, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, &out, &e) < 0 &&
           e.code == ERR_FORMAT,
       "%s: not such a stream", s->name);
    buf_reset(&out);
    ok(decode_all(s->name, "", 0, &out, &e) == 0 && out.len == 0,
       "%s: no body at all is whole", s->name);
    buf_free(&out);
    buf_free(&longer);
}

static void test_ceiling(const struct sample *s)
{
    struct err e = {0};
    struct buf fits = BUF_INIT(strlen(TEXT)), over = BUF_INIT(strlen(TEXT) - 1);

    ok(decode_all(s->name, s->coded.data, s->coded.len, &fits, &e) == 0,
       "%s: at the ceiling", s->name);
    ok(decode_all(s->name, s->coded.data, s->coded.len, &over, &e) < 0 &&
           e.code == ERR_LIMIT,
       "%s: one byte over the ceiling", s->name);
    buf_free(&fits);
    buf_free(&over);
}

static void test_names(void)
{
    static const struct {
        const char *list;
        bool known;
    } cases[] = {
        {NULL, true},
        {"", true},
        {"identity", true},
        {"gzip", true},
        {"GZIP , br", true},
        {",gzip,", true},
        {"zstd,identity,deflate", true},
        {"compress", false},
        {"gzip, aws-chunked", false},
        {"gzi", false},
        {"gzipp", false},
        {"gzip,gzip,gzip,gzip", true},
        {"gzip,gzip,gzip,gzip,gzip", false},
    };
    struct decode *d = NULL;
    struct err e = {0};

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        ok(decode_knows(cases[i].list) == cases[i].known, "knows %s: %s",
           cases[i].list ? cases[i].list : "(null)", cases[i].known ? "yes" : "no");
    ok(decode_new(&d, "compress", &e) < 0 && e.code == ERR_FORMAT && !d,
       "no decoder for an unknown coding");
}

static void test_pieces(void)
{
    struct buf out = BUF_INIT(KIB(1));
    struct err e = {0};
    struct decode *d = NULL;

    ok(decode_new(&d, "br", &e) == 0, "decoder");
    ok(decode_feed(d, br_first, sizeof br_first - 1, &out, &e) == 0, "first piece");
    is(buf_cstr(&out), "data: one\n\n", "all of a flushed piece is out at once");
    ok(decode_feed(d, br_rest, sizeof br_rest - 1, &out, &e) == 0, "last piece");
    is(buf_cstr(&out), TEXT, "and the rest");
    decode_free(&d);
    buf_free(&out);
}

static void test_members(void)
{
    struct buf gz = BUF_INIT(KIB(4)), zs = BUF_INIT(KIB(4)), out = BUF_INIT(KIB(4));
    struct err e = {0};

    zip(&gz, GZIP, "one ", 4);
    zip(&gz, GZIP, "", 0);
    zip(&gz, GZIP, "two", 3);
    ok(decode_all("gzip", gz.data, gz.len, &out, &e) == 0, "gzip: three members");
    is(buf_cstr(&out), "one two", "gzip: joined");
    buf_reset(&out);
    zstd(&zs, "one ", 4);
    zstd(&zs, "two", 3);
    ok(decode_all("zstd", zs.data, zs.len, &out, &e) == 0, "zstd: two frames");
    is(buf_cstr(&out), "one two", "zstd: joined");
    buf_free(&gz);
    buf_free(&zs);
    buf_free(&out);
}

/* A format of zstd's library from before it was a content coding. */
static void test_old_zstd(void)
{
    struct buf out = BUF_INIT(KIB(1));
    struct err e = {0};

    ok(decode_all("zstd", "\x26\xb5\x2f\xfd\x00\x20\x00\x00", 8, &out, &e) < 0 &&
           e.code == ERR_FORMAT && strstr(e.msg, "not a zstd frame"),
       "zstd: an old format is refused");
    buf_free(&out);
}

static void test_lists(void)
{
    struct buf inner = BUF_INIT(KIB(4)), outer = BUF_INIT(KIB(4)), out = BUF_INIT(KIB(4));
    struct err e = {0};

    zip(&inner, GZIP, TEXT, strlen(TEXT));
    zstd(&outer, inner.data, inner.len);
    ok(decode_all("gzip, identity, zstd", outer.data, outer.len, &out, &e) == 0,
       "gzip inside zstd");
    is(buf_cstr(&out), TEXT, "the last coding is undone first");
    buf_reset(&out);
    ok(decode_all("zstd, gzip", outer.data, outer.len, &out, &e) < 0,
       "the other way round is broken");
    buf_reset(&out);
    buf_reset(&outer);
    zstd(&outer, inner.data, inner.len - 3);
    ok(decode_all("gzip, zstd", outer.data, outer.len, &out, &e) < 0 &&
           e.code == ERR_FORMAT,
       "an inner stream cut short inside a whole outer one");
    buf_reset(&out);
    buf_reset(&outer);
    zstd(&outer, "", 0);
    ok(decode_all("gzip, zstd", outer.data, outer.len, &out, &e) < 0 &&
           e.code == ERR_FORMAT,
       "an empty inner stream inside a whole outer one");
    buf_reset(&out);
    ok(decode_all(NULL, TEXT, strlen(TEXT), &out, &e) == 0, "no coding");
    is(buf_cstr(&out), TEXT, "passes as it is");
    buf_free(&inner);
    buf_free(&outer);
    buf_free(&out);
}

static void test_bombs(void)
{
    struct buf million = BUF_INIT(MIB(2)), zs = BUF_INIT(MIB(1)), gz = BUF_INIT(MIB(4)),
               small = BUF_INIT(999999), fits = BUF_INIT(1000000);
    struct err e = {0};

    memset(buf_room(&million, 1000000), 'a', 1000000);
    million.len = 1000000;
    ok(decode_all("br", br_bomb, sizeof br_bomb - 1, &fits, &e) == 0 &&
           fits.len == 1000000 && memcmp(fits.data, million.data, 1000000) == 0,
       "25 bytes of br, a million out");
    ok(decode_all("br", br_bomb, sizeof br_bomb - 1, &small, &e) < 0 &&
           e.code == ERR_LIMIT,
       "br: refused over the ceiling");
    zstd(&zs, million.data, million.len);
    buf_reset(&small);
    ok(decode_all("zstd", zs.data, zs.len, &small, &e) < 0 && e.code == ERR_LIMIT,
       "zstd: refused over the ceiling");
    zip(&gz, GZIP, million.data, million.len);
    buf_reset(&zs);
    zstd(&zs, gz.data, gz.len);
    buf_reset(&small);
    ok(decode_all("gzip,zstd", zs.data, zs.len, &small, &e) < 0 && e.code == ERR_LIMIT,
       "nested: refused over the ceiling");
    buf_free(&million);
    buf_free(&zs);
    buf_free(&gz);
    buf_free(&small);
    buf_free(&fits);
}

int main(void)
{
    make_samples();
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        test_samples(&samples[i]);
        test_broken(&samples[i]);
        test_ceiling(&samples[i]);
    }
    test_names();
    test_pieces();
    test_members();
    test_old_zstd();
    test_lists();
    test_bombs();
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        buf_free(&samples[i].coded);
    return tap_done();
}
