/* test-extract.c - a bundle comes out whole into an empty folder, or not at all. */
#include "bundler/verbs.h"

#include "base/log.h"
#include "bundled.h"
#include "bundler/unpack.h"
#include "capture.h"
#include "tap.h"

#include <dirent.h>
#include <sys/stat.h>

static struct buf out;

static int extract(const char *bundle, const char *folder)
{
    return capture(verb_bundle_extract, &out,
                   WORDS("extract", "--output", folder, bundle));
}

static bool holds(const char *folder, const char *name, const char *want)
{
    struct buf text = BUF_INIT(MIB(1));
    struct err e = {0};
    char *path = fsx_join(folder, name);
    bool same = fsx_read_file(path, &text, &e) == 0 && strcmp(buf_cstr(&text), want) == 0;

    free(path);
    buf_free(&text);
    return same;
}

/* Names in a folder; -1 when there is none. */
static int entries(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;

    if (!d)
        return -1;
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n - 2;
}

static void make_good(const char *path)
{
    struct bundled b;

    bundled_init(&b);
    bundled_add(&b, "cassettes/.gitkeep", "");
    bundled_add(&b, "files/deep/nested/a..b.txt", "deep\n");
    bundled_add(&b, "files/trace.jsonl", "[]");
    bundled_add(&b, "outputs/run.json", "{\"run_id\":7}");
    bundled_write(&b, path);
}

/* Listed with another hash than it has. */
static void make_bad(const char *path)
{
    struct bundled b;

    bundled_init(&b);
    bundled_add(&b, "files/a.txt", "one");
    bundled_add(&b, "files/trace.jsonl", "[]");
    b.members[1].text = "{}";
    bundled_write(&b, path);
}

static void check_good(void)
{
    char *bundle = strdup(scratch_file("good.tar.gz"));
    char *folder = strdup(scratch_file("new/deep"));
    struct stat st;
    char *path;

    make_good(bundle);
    ok(extract(bundle, folder) == 0, "into a new folder");
    ok(strstr(buf_cstr(&out), "4 member(s)") != NULL, "says so: %s", buf_cstr(&out));
    ok(holds(folder, "files/deep/nested/a..b.txt", "deep\n") &&
           holds(folder, "files/trace.jsonl", "[]") &&
           holds(folder, "outputs/run.json", "{\"run_id\":7}") &&
           holds(folder, "cassettes/.gitkeep", ""),
       "every member is there");
    ok(entries(folder) == 4, "and the manifest, and nothing else: %d", entries(folder));
    path = fsx_join(folder, "files/trace.jsonl");
    ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0644, "mode 0644");
    free(path);

    ok(extract(bundle, folder) == 2, "not into a folder that holds something");
    ok(entries(folder) == 4, "which stays as it is");
    ok(mkdir(scratch_file("empty"), 0755) == 0 &&
           extract(bundle, scratch_file("empty")) == 0 &&
           entries(scratch_file("empty")) == 4,
       "into an empty folder");
    ok(extract(bundle, bundle) == 2, "not over a file");
    ok(capture(verb_bundle_extract, &out,
               WORDS("extract", "--json", "--output", scratch_file("json"), "--bundle",
                     bundle)) == 0 &&
           strstr(buf_cstr(&out), "\"ok\":true") && strstr(out.data, "\"members\":4"),
       "--json, --bundle");
    free(bundle);
    free(folder);
}

static void check_bad(void)
{
    char *bundle = strdup(scratch_file("bad.tar.gz"));
    char *folder = strdup(scratch_file("bad"));
    struct err e = {0};

    make_bad(bundle);
    ok(extract(bundle, folder) == 2, "a bundle that is not good");
    ok(entries(folder) == -1, "leaves no folder behind");
    ok(mkdir(folder, 0755) == 0 && extract(bundle, folder) == 2 && entries(folder) == 0,
       "and an empty folder as it was");
    bundled_must(fsx_write_file(bundle, "not gzip", 8, 0644, &e), &e);
    ok(extract(bundle, folder) == 2 && entries(folder) == 0, "nor what is no archive");
    ok(extract(scratch_file("nowhere"), folder) == 2 && entries(folder) == 0,
       "nor what is not there");
    ok(capture(verb_bundle_extract, &out, WORDS("extract")) == 2, "no bundle named");
    ok(capture(verb_bundle_extract, &out, WORDS("extract", "--bundle", "a", "b")) == 2,
       "two bundles named");
    ok(capture(verb_bundle_extract, &out, WORDS("extract", "--help")) == 0 &&
           strstr(buf_cstr(&out), "--output"),
       "--help");
    free(bundle);
    free(folder);
}

static void check_default_folder(void)
{
    char *bundle = strdup(scratch_file("good.tar.gz"));

    ok(chdir(scratch_path) == 0 &&
           capture(verb_bundle_extract, &out, WORDS("extract", bundle)) == 0 &&
           entries("good") == 4,
       "without --output: a folder named like the bundle");
    free(bundle);
}

/* What somebody puts in the way meanwhile is neither followed nor overwritten. */
static void check_in_the_way(void)
{
    const char *folder = scratch_file("way"), *elsewhere = scratch_file("elsewhere");
    struct unpack *u = NULL;
    struct err e = {0};

    ok(mkdir(elsewhere, 0755) == 0 && unpack_open(&u, folder, &e) == 0 &&
           unpack_begin(u, "files/x", &e) == 0 && unpack_bytes(u, "x", 1, &e) == 0,
       "a file is written");
    ok(unpack_begin(u, "files/x", &e) == -1, "the same file again is refused");
    char *link = fsx_join(folder, "files");
    ok(symlink(elsewhere, link) == 0 && unpack_keep(u, &e) == -1 &&
           e.code == ERR_EXISTS && entries(elsewhere) == 0,
       "a link under a name we need: refused, not followed");
    unpack_close(&u);
    ok(entries(folder) == 1, "our own folder is gone, theirs is not touched");
    free(link);
}

int main(void)
{
    log_init("test");
    scratch_make();
    out = BUF_INIT(MIB(1));
    check_good();
    check_bad();
    check_default_folder();
    check_in_the_way();
    buf_free(&out);
    return tap_done();
}
