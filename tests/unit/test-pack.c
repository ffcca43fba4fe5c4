/* test-pack.c - archives: paths, the writer's bytes, and what the reader refuses. */
#include "pack/pack.h"

#include "rawtar.h"
#include "tap.h"

#include <sys/wait.h>

/* ---- paths ---- */

static const struct {
    const char *raw, *normal;
    enum pack_refusal why;
} paths[] = {
    {"files/trace.jsonl", "files/trace.jsonl", PACK_OK},
    {"outputs/run.json", "outputs/run.json", PACK_OK},
    {"cassettes/openai/embed.json", "cassettes/openai/embed.json", PACK_OK},
    {"files/a..b.txt", "files/a..b.txt", PACK_OK},
    {"files/a:b", "files/a:b", PACK_OK},
    {"files/deep/nested/dir/file.json", "files/deep/nested/dir/file.json", PACK_OK},
    {"files\\trace.jsonl", "files/trace.jsonl", PACK_OK},
    {"/files/trace.jsonl", "files/trace.jsonl", PACK_OK},
    {"\\files\\trace.jsonl", "files/trace.jsonl", PACK_OK},
    {"", NULL, PACK_PATH_EMPTY},
    {"//", NULL, PACK_PATH_EMPTY},
    {"files//x.json", NULL, PACK_PATH_SEGMENT},
    {"files/", NULL, PACK_PATH_SEGMENT},
    {"files/./x.json", NULL, PACK_PATH_TRAVERSAL},
    {"files/../x.json", NULL, PACK_PATH_TRAVERSAL},
    {"outputs/..", NULL, PACK_PATH_TRAVERSAL},
    {"../secrets.txt", NULL, PACK_PATH_TRAVERSAL},
    {"..\\x", NULL, PACK_PATH_TRAVERSAL},
    {"files/../../etc/passwd", NULL, PACK_PATH_TRAVERSAL},
    {"C:/foo", NULL, PACK_PATH_DRIVE},
    {"C:\\foo", NULL, PACK_PATH_DRIVE},
    {"D:bar", NULL, PACK_PATH_DRIVE},
    {"evil.txt", NULL, PACK_PATH_PREFIX},
    {"x/y/z", NULL, PACK_PATH_PREFIX},
    {"output/run.json", NULL, PACK_PATH_PREFIX},
    {"file/x.json", NULL, PACK_PATH_PREFIX},
    {"Files/x", NULL, PACK_PATH_PREFIX},
    {"/etc/passwd", NULL, PACK_PATH_ABSOLUTE},
    {"windows\\system", NULL, PACK_PATH_BACKSLASH},
    {"files/\xff", NULL, PACK_PATH_NOT_UTF8},
};

static void test_paths(void)
{
    char out[256], text[PACK_PATH_TEXT];
    struct err e = {0};

    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        enum pack_refusal why = pack_path(paths[i].raw, strlen(paths[i].raw), out);
        ok(why == paths[i].why, "path %zu: %s", i, pack_refusal_code(why));
        if (why == PACK_OK)
            is(out, paths[i].normal, "path %zu: normal form", i);
        else
            ok(pack_path_check(paths[i].raw, strlen(paths[i].raw), out, &e) < 0 &&
                   strstr(e.msg, "invalid bundle path"),
               "path %zu: said so", i);
    }
    ok(pack_path("files/a\0b", 9, out) == PACK_PATH_NUL, "a NUL inside a name");
    pack_path_text("a\033[31m'\"\\\xc3", 10, text);
    is(text, "a\\x1b[31m\\x27\\x22\\x5c\\xc3", "an escaped path");
    char longer[400];
    memset(longer, '\033', sizeof longer);
    pack_path_text(longer, sizeof longer, text);
    ok(strlen(text) < PACK_PATH_TEXT && strcmp(text + strlen(text) - 3, "...") == 0,
       "a long one is cut and says so");
}

/* ---- writing ---- */

static int to_buf(void *arg, const void *data, size_t len, struct err *e)
{
    buf_add(arg, data, len);
    return buf_check(arg, "archive", e);
}

struct text_member {
    const char *path, *text;
};

/* An archive of ours; members in the order given. -1 when the writer refused one. */
static int write_archive(const struct text_member *members, size_t n, struct buf *out,
                         struct err *e)
{
    struct pack_writer *w = NULL;
    int rc = pack_writer_open(&w, to_buf, out, e);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = pack_writer_member(w, members[i].path, strlen(members[i].text), e);
        /* In two pieces: the bytes must not depend on how they come. */
        size_t half = strlen(members[i].text) / 2, rest = strlen(members[i].text) - half;
        if (rc == 0)
            rc = pack_writer_bytes(w, members[i].text, half, e);
        if (rc == 0)
            rc = pack_writer_bytes(w, members[i].text + half, rest, e);
    }
    if (rc == 0)
        rc = pack_writer_finish(w, e);
    pack_writer_close(&w);
    return rc;
}

static void test_names(void)
{
    char path[102] = "files/";
    struct text_member one = {path, "x"};
    struct buf out = BUF_INIT(MIB(1));
    struct err e = {0};

    memset(path + 6, 'n', 94);
    ok(write_archive(&one, 1, &out, &e) == 0, "a name of 100 bytes is written");
    path[100] = 'n';
    ok(write_archive(&one, 1, &out, &e) < 0 && e.code == ERR_LIMIT,
       "one of 101 is refused");
    ok(strstr(e.msg, "files/nnn") != NULL, "by its name");
    one.path = "/files/x";
    ok(write_archive(&one, 1, &out, &e) < 0, "a path that is not normal is refused");
    one.path = "evil";
    ok(write_archive(&one, 1, &out, &e) < 0, "one outside the three folders too");
    buf_free(&out);
}

static int failing_sink(void *arg, const void *data, size_t len, struct err *e)
{
    (void)arg;
    (void)data;
    (void)len;
    return err_set(e, ERR_IO, "no space");
}

static void test_sink_fails(void)
{
    struct pack_writer *w = NULL;
    struct err e = {0};

    static const char zeros[4096];
    int rc = pack_writer_open(&w, failing_sink, NULL, &e);

    ok(rc == 0, "opened");
    if (rc == 0)
        rc = pack_writer_member(w, PACK_MANIFEST, sizeof zeros, &e);
    if (rc == 0)
        rc = pack_writer_bytes(w, zeros, sizeof zeros, &e);
    if (rc == 0)
        rc = pack_writer_finish(w, &e);
    ok(rc < 0 && e.code == ERR_IO, "a sink that fails is a writer that fails");
    is(e.msg, "no space", "with its reason");
    pack_writer_close(&w);
}

/* ---- reading ---- */

struct reading {
    enum pack_refusal why;
    struct err e;
    size_t members;
    uint64_t bytes;
    char last[512];
    struct pack_digests digests;
};

static struct reading read_fd(int fd, const struct pack_limits *limits)
{
    struct reading out = {0};
    struct pack_reader *r = NULL;
    struct pack_member m;
    const void *data;
    size_t len;
    int more = 0;

    must(pack_reader_open(&r, fd, limits, &out.e) == 0);
    while (more >= 0 && (more = pack_reader_next(r, &m, &out.e)) > 0) {
        out.members++;
        (void)snprintf(out.last, sizeof out.last, "%s", m.path);
        while ((more = pack_reader_read(r, &data, &len, &out.e)) > 0)
            out.bytes += len;
    }
    if (pack_reader_digests(r, &out.digests, &out.e) < 0)
        more = -1;
    out.why = pack_reader_why(r);
    must((more < 0) == (out.why != PACK_OK));
    pack_reader_close(&r);
    (void)close(fd);
    return out;
}

static void test_round_trip(void)
{
    static const struct text_member members[] = {
        {PACK_MANIFEST, RAWTAR_MIN},
        {"cassettes/.gitkeep", ""},
        {"files/\xc3\xa9.jsonl", "[]"},
        {"outputs/run.json", "{}"},
    };
    struct buf one = BUF_INIT(MIB(1)), two = BUF_INIT(MIB(1));
    struct err e = {0};
    char digest[DIGEST_KEY_TEXT];

    ok(write_archive(members, COUNT_OF(members), &one, &e) == 0, "written");
    ok(write_archive(members, COUNT_OF(members), &two, &e) == 0 && one.len == two.len &&
           memcmp(one.data, two.data, one.len) == 0,
       "twice the same bytes");
    ok(memcmp(one.data, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10) == 0,
       "gzip without name, time and system");
    struct reading r = read_fd(rawtar_fd(one.data, one.len), NULL);
    ok(r.why == PACK_OK && r.members == 4 && r.bytes == strlen(RAWTAR_MIN) + 4,
       "read again: %zu members", r.members);
    digest_key_text(one.data, one.len, digest);
    is(r.digests.file, digest, "the digest of the file");
    ok(r.digests.content_size == 512 * 7 + 1024, "no padding behind the end: %llu bytes",
       (unsigned long long)r.digests.content_size);
    buf_add(&one, "junk", 4);
    r = read_fd(rawtar_fd(one.data, one.len), NULL);
    ok(r.why == PACK_OK && r.digests.trailing == 4, "bytes behind the gzip member pass");
    digest_key_text(one.data, one.len, digest);
    is(r.digests.file, digest, "and count for the digest");
    buf_free(&one);
    buf_free(&two);
}

/* A pipe cannot be sought in and comes in small pieces. */
static void test_pipe(void)
{
    static const struct text_member members[] = {{PACK_MANIFEST, RAWTAR_MIN},
                                                 {"files/x", "abc"}};
    struct buf gz = BUF_INIT(MIB(1));
    struct err e = {0};
    int ends[2];

    must(write_archive(members, 2, &gz, &e) == 0 && pipe(ends) == 0);
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        for (size_t i = 0; i < gz.len; i++)
            if (write(ends[1], gz.data + i, 1) != 1)
                _exit(1);
        _exit(0);
    }
    (void)close(ends[1]);
    struct reading r = read_fd(ends[0], NULL);
    ok(r.why == PACK_OK && r.members == 2, "read from a pipe, byte by byte");
    (void)waitpid(pid, NULL, 0);
    buf_free(&gz);
}

/* ---- refusals ---- */

static void good_start(struct buf *tar)
{
    rawtar_text(tar, PACK_MANIFEST, RAWTAR_MIN);
}

static void make_type(struct buf *tar, char type)
{
    good_start(tar);
    rawtar_add(tar, "files/x", type, "", 0);
    rawtar_end(tar);
}

static void symlink_member(struct buf *tar)
{
    make_type(tar, '2');
}
static void hardlink_member(struct buf *tar)
{
    make_type(tar, '1');
}
static void device_member(struct buf *tar)
{
    make_type(tar, '3');
}
static void fifo_member(struct buf *tar)
{
    make_type(tar, '6');
}
static void folder_member(struct buf *tar)
{
    make_type(tar, '5');
}
static void sparse_member(struct buf *tar)
{
    make_type(tar, 'S');
}
static void odd_member(struct buf *tar)
{
    make_type(tar, '7');
}
static void global_header(struct buf *tar)
{
    make_type(tar, 'g');
}

static void make_two(struct buf *tar, const char *a, const char *b)
{
    good_start(tar);
    rawtar_text(tar, a, "x");
    rawtar_text(tar, b, "x");
    rawtar_end(tar);
}

static void same_path(struct buf *tar)
{
    make_two(tar, "files/x", "files/x");
}
static void same_normal_path(struct buf *tar)
{
    make_two(tar, "files/x", "/files/x");
}
static void file_and_folder(struct buf *tar)
{
    make_two(tar, "files/x/y", "files/x");
}
static void other_case(struct buf *tar)
{
    make_two(tar, "files/X", "files/x");
}
static void two_manifests(struct buf *tar)
{
    make_two(tar, "files/x", PACK_MANIFEST);
}
static void traversal(struct buf *tar)
{
    make_two(tar, "files/x", "files/../../y");
}

static void manifest_last(struct buf *tar)
{
    rawtar_text(tar, "files/x", "x");
    rawtar_text(tar, PACK_MANIFEST, RAWTAR_MIN);
    rawtar_end(tar);
}

static void no_manifest(struct buf *tar)
{
    rawtar_text(tar, "files/x", "x");
    rawtar_end(tar);
}

static void no_end(struct buf *tar)
{
    good_start(tar);
}

static void half_an_end(struct buf *tar)
{
    good_start(tar);
    rawtar_end(tar);
    tar->len -= 512;
}

static void body_cut(struct buf *tar)
{
    good_start(tar);
    rawtar_header(tar, "files/x", 7, '0', "00000002000");
    rawtar_body(tar, "x", 1);
}

static void after_the_end(struct buf *tar)
{
    good_start(tar);
    rawtar_end(tar);
    rawtar_text(tar, "files/x", "hidden");
}

static void bad_checksum(struct buf *tar)
{
    good_start(tar);
    rawtar_end(tar);
    tar->data[0] = 'M';
}

static void bad_size(struct buf *tar)
{
    good_start(tar);
    rawtar_header(tar, "files/x", 7, '0', "12345678zzz");
    rawtar_end(tar);
}

static void no_tar(struct buf *tar)
{
    for (int i = 0; i < 100; i++)
        buf_str(tar, "this is no tar archive\n");
}

static void nested(struct buf *tar)
{
    buf_add(tar, "\x1f\x8b\x08", 3);
}

static void long_name_nul(struct buf *tar)
{
    good_start(tar);
    rawtar_add(tar, "././@LongLink", 'L', "files/x\0y", 10);
    rawtar_text(tar, "files/x", "x");
    rawtar_end(tar);
}

static void dangling_name(struct buf *tar)
{
    good_start(tar);
    rawtar_add(tar, "././@LongLink", 'L', "files/x", 8);
    rawtar_end(tar);
}

static void pax_size(struct buf *tar)
{
    good_start(tar);
    rawtar_add(tar, "pax", 'x', "11 size=99\n", 11);
    rawtar_text(tar, "files/x", "x");
    rawtar_end(tar);
}

static const struct {
    const char *name;
    void (*make)(struct buf *tar);
    enum pack_refusal why;
} refusals[] = {
    {"symbolic link", symlink_member, PACK_TYPE_SYMLINK},
    {"hard link", hardlink_member, PACK_TYPE_HARDLINK},
    {"device", device_member, PACK_TYPE_DEVICE},
    {"FIFO", fifo_member, PACK_TYPE_FIFO},
    {"folder", folder_member, PACK_TYPE_FOLDER},
    {"sparse file", sparse_member, PACK_TYPE_SPARSE},
    {"contiguous file", odd_member, PACK_TYPE_OTHER},
    {"pax global header", global_header, PACK_TAR_GLOBAL},
    {"the same path twice", same_path, PACK_DUPLICATE_PATH},
    {"the same path in two forms", same_normal_path, PACK_DUPLICATE_PATH},
    {"a file and a folder", file_and_folder, PACK_COLLISION},
    {"names that differ in case", other_case, PACK_COLLISION},
    {"two manifests", two_manifests, PACK_DUPLICATE_MANIFEST},
    {"traversal", traversal, PACK_PATH_TRAVERSAL},
    {"manifest last", manifest_last, PACK_MANIFEST_LATE},
    {"no manifest", no_manifest, PACK_MANIFEST_MISSING},
    {"no end", no_end, PACK_TRUNCATED},
    {"half an end", half_an_end, PACK_TRUNCATED},
    {"a body cut short", body_cut, PACK_TRUNCATED},
    {"members after the end", after_the_end, PACK_TAR_TRAILING},
    {"bad checksum", bad_checksum, PACK_TAR_CHECKSUM},
    {"bad size", bad_size, PACK_TAR_NUMBER},
    {"no tar", no_tar, PACK_NOT_TAR},
    {"nested gzip", nested, PACK_NESTED_GZIP},
    {"NUL in a long name", long_name_nul, PACK_PATH_NUL},
    {"a long name for nobody", dangling_name, PACK_TAR_EXTENSION},
    {"pax says another size", pax_size, PACK_TAR_EXTENSION},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        struct buf tar = BUF_INIT(MIB(1));
        refusals[i].make(&tar);
        struct reading r = read_fd(rawtar_gzip_fd(&tar), NULL);
        ok(r.why == refusals[i].why, "%s: %s", refusals[i].name,
           pack_refusal_code(r.why));
        ok(r.digests.has_file &&
               !r.digests.has_content == (r.why != PACK_MANIFEST_MISSING),
           "%s: the digest of the file is known", refusals[i].name);
        ok(!strstr(r.e.msg, "hidden") && r.e.msg[0], "%s: %s", refusals[i].name, r.e.msg);
        buf_free(&tar);
    }
    for (int i = PACK_OK + 1; i < PACK_REFUSALS; i++)
        ok(strncmp(pack_refusal_code((enum pack_refusal)i), "E_BUNDLE_", 9) == 0,
           "refusal %d has a code", i);
}

/* Cut anywhere, it is refused, as cut short. */
static void test_cuts(void)
{
    struct buf tar = BUF_INIT(MIB(1)), gz = BUF_INIT(MIB(1));
    int wrong = 0;

    make_two(&tar, "files/x", "files/y");
    rawtar_gzip(&tar, &gz);
    for (size_t len = 2; len < gz.len; len++)
        wrong += read_fd(rawtar_fd(gz.data, len), NULL).why != PACK_TRUNCATED;
    ok(wrong == 0, "a file cut at any of %zu places is truncated", gz.len - 2);
    gz.data[gz.len - 1] ^= 1;
    ok(read_fd(rawtar_fd(gz.data, gz.len), NULL).why == PACK_GZIP_CHECKSUM,
       "a wrong length in the trailer");
    gz.data[gz.len - 1] ^= 1;
    gz.data[gz.len - 5] ^= 1;
    ok(read_fd(rawtar_fd(gz.data, gz.len), NULL).why == PACK_GZIP_CHECKSUM,
       "a wrong checksum");
    gz.data[0] = 0;
    ok(read_fd(rawtar_fd(gz.data, gz.len), NULL).why == PACK_NOT_GZIP, "no gzip");
    buf_free(&tar);
    buf_free(&gz);
}

/* ---- ceilings: exactly so much passes, one less is refused ---- */

static void test_limits(void)
{
    struct buf tar = BUF_INIT(MIB(1)), gz = BUF_INIT(MIB(1));
    static char large[4096];
    struct pack_limits now = pack_limits_default;

    good_start(&tar);
    rawtar_add(&tar, "files/large", '0', large, sizeof large);
    rawtar_end(&tar);
    rawtar_gzip(&tar, &gz);
    buf_add(&gz, "trailing", 8);
    const struct {
        const char *name;
        uint64_t *value;
        uint64_t exact;
        enum pack_refusal why;
        const char *text;
    } limits[] = {
        {"source bytes", &now.source, gz.len, PACK_LIMIT_SOURCE, "source bytes limit of"},
        {"decoded bytes", &now.decoded, tar.len, PACK_LIMIT_DECODED,
         "decoded bytes limit of"},
        {"member bytes", &now.member, sizeof large, PACK_LIMIT_MEMBER,
         "member bytes limit of"},
        {"manifest bytes", &now.manifest, strlen(RAWTAR_MIN), PACK_LIMIT_MEMBER,
         "member bytes limit of"},
    };
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        now = pack_limits_default;
        *limits[i].value = limits[i].exact;
        ok(read_fd(rawtar_fd(gz.data, gz.len), &now).why == PACK_OK, "%s: exactly",
           limits[i].name);
        *limits[i].value = limits[i].exact - 1;
        struct reading r = read_fd(rawtar_fd(gz.data, gz.len), &now);
        ok(r.why == limits[i].why && pack_refusal_is_limit(r.why) &&
               strstr(r.e.msg, limits[i].text),
           "%s: one less: %s", limits[i].name, r.e.msg);
        ok(r.digests.has_file == (r.why != PACK_LIMIT_SOURCE),
           "%s: whether the digest is known", limits[i].name);
    }
    now = pack_limits_default;
    now.path = strlen(PACK_MANIFEST);
    ok(read_fd(rawtar_fd(gz.data, gz.len), &now).why == PACK_OK, "path: exactly");
    now.path--;
    ok(read_fd(rawtar_fd(gz.data, gz.len), &now).why == PACK_LIMIT_PATH,
       "path: one less");
    now = pack_limits_default;
    now.entries = 2;
    ok(read_fd(rawtar_fd(gz.data, gz.len), &now).why == PACK_OK, "entries: exactly");
    now.entries = 1;
    ok(read_fd(rawtar_fd(gz.data, gz.len), &now).why == PACK_LIMIT_ENTRIES,
       "entries: one less");
    buf_free(&tar);
    buf_free(&gz);
}

/* The ceiling on the source also holds where the size is not known beforehand, and no
 * more is taken from it than tells that it was passed. */
static void test_source_limit_of_pipe(void)
{
    struct pack_limits now = pack_limits_default;
    char bytes[4096] = "\x1f\x8b\x08";
    int ends[2], left = 0;

    must(pipe(ends) == 0 && write(ends[1], bytes, sizeof bytes) == sizeof bytes);
    now.source = 64;
    int copy = dup(ends[0]);
    struct reading r = read_fd(ends[0], &now);
    ok(r.why == PACK_LIMIT_SOURCE && !r.digests.has_file,
       "64 bytes of a pipe and no more");
    (void)close(ends[1]);
    for (ssize_t n; (n = read(copy, bytes, sizeof bytes)) > 0;)
        left += (int)n;
    ok(left == (int)sizeof bytes - 65, "65 bytes were taken");
    (void)close(copy);
}

/* Names of up to 256 bytes come in GNU or pax records. */
static void test_long_names(void)
{
    struct buf tar = BUF_INIT(MIB(1));
    char name[300] = "files/", record[320];
    struct reading r;

    memset(name + 6, 'n', 250);
    good_start(&tar);
    rawtar_add(&tar, "././@LongLink", 'L', name, 257);
    rawtar_text(&tar, "files/short", "x");
    name[6] = 'm';
    int n = snprintf(record, sizeof record, "266 path=%s\n", name);
    must(n == 266);
    rawtar_add(&tar, "pax", 'x', record, (size_t)n);
    rawtar_text(&tar, "files/short", "x");
    rawtar_end(&tar);
    r = read_fd(rawtar_gzip_fd(&tar), NULL);
    ok(r.why == PACK_OK && r.members == 3, "names of 256 bytes: %s", r.e.msg);
    is(r.last, name, "as the record has it");
    buf_reset(&tar);
    good_start(&tar);
    name[256] = 'n';
    rawtar_add(&tar, "././@LongLink", 'L', name, 258);
    rawtar_text(&tar, "files/short", "x");
    rawtar_end(&tar);
    ok(read_fd(rawtar_gzip_fd(&tar), NULL).why == PACK_LIMIT_PATH, "257 are refused");
    buf_free(&tar);
}

int main(void)
{
    test_paths();
    test_names();
    test_sink_fails();
    test_round_trip();
    test_pipe();
    test_refusals();
    test_cuts();
    test_limits();
    test_source_limit_of_pipe();
    test_long_names();
    return tap_done();
}
