/* pack_write.c - see pack.h, "writing": tar by libarchive, gzip by zlib.
 *
 * libarchive's own gzip filter leaves no say in the header's OS byte, which would make
 * the same bundle differ between systems. */
#include "base/limits.h"
#include "pack/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LEVEL 6
#define MEMORY 8              /* zlib's default */
#define GZIP_WINDOW (15 + 16) /* the largest window, gzip wrapper */
#define GZIP_OS_UNKNOWN 255   /* RFC 1952, 2.3.1 */
#define FILE_MODE (AE_IFREG | 0644)

struct pack_writer {
    struct archive *archive;
    struct archive_entry *entry;
    pack_sink_fn *sink;
    void *arg;
    bool deflating; /* z is set up */
    z_stream z;
    gz_header head;
    uint64_t left; /* bytes the current member still needs */
    bool failed;
    struct err e; /* why, when failed inside libarchive's callback */
    uint8_t out[KIB(64)];
};

const char *pack_zlib_version(void)
{
    return zlibVersion();
}

/* Push input through deflate to the sink. */
static int deflate_some(struct pack_writer *w, const void *data, size_t len, int flush)
{
    int rc;

    w->z.next_in = (Bytef *)(uintptr_t)data;
    w->z.avail_in = (uInt)len;
    do {
        w->z.next_out = w->out;
        w->z.avail_out = sizeof w->out;
        rc = deflate(&w->z, flush);
        must(rc != Z_STREAM_ERROR);
        size_t n = sizeof w->out - w->z.avail_out;
        if (n && w->sink(w->arg, w->out, n, &w->e) < 0) {
            w->failed = true;
            return -1;
        }
    } while (w->z.avail_out == 0);
    return 0;
}

/* libarchive has tar bytes for us. It never hears of a failure: told of one, it would
 * not free all it holds. Every call of ours looks at `failed` instead. */
static la_ssize_t on_write(struct archive *a, void *arg, const void *data, size_t len)
{
    struct pack_writer *w = arg;

    (void)a;
    if (!w->failed)
        (void)deflate_some(w, data, len, Z_NO_FLUSH);
    return (la_ssize_t)len;
}

static int fail(struct pack_writer *w, struct err *e)
{
    if (!w->failed)
        err_set(&w->e, ERR_IO, "write archive: %s",
                archive_error_string(w->archive) ? archive_error_string(w->archive)
                                                 : "failed");
    w->failed = true;
    *e = w->e;
    return -1;
}

static int start_deflate(struct pack_writer *w)
{
    if (deflateInit2(&w->z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return -1;
    w->deflating = true;
    w->head.os = GZIP_OS_UNKNOWN;
    return deflateSetHeader(&w->z, &w->head) == Z_OK ? 0 : -1;
}

int pack_writer_open(struct pack_writer **out, pack_sink_fn *sink, void *arg,
                     struct err *e)
{
    struct pack_writer *w = calloc(1, sizeof *w);

    *out = w;
    if (!w)
        return err_set(e, ERR_NOMEM, "out of memory");
    w->sink = sink;
    w->arg = arg;
    w->archive = archive_write_new();
    w->entry = archive_entry_new();
    if (w->archive && w->entry && start_deflate(w) == 0 &&
        archive_write_set_format_gnutar(w->archive) == ARCHIVE_OK &&
        archive_write_set_bytes_per_block(w->archive, 0) == ARCHIVE_OK &&
        archive_write_set_bytes_in_last_block(w->archive, 1) == ARCHIVE_OK &&
        archive_write_open(w->archive, w, NULL, on_write, NULL) == ARCHIVE_OK)
        return 0;
    err_set(e, ERR_NOMEM, "cannot set up the archive writer: out of memory");
    pack_writer_close(out);
    return -1;
}

/* Only what the reader gives back unchanged is written. */
static int check_name(const char *path, struct err *e)
{
    char normal[PACK_NAME_MAX + 1], text[PACK_PATH_TEXT];
    size_t len = strlen(path);

    pack_path_text(path, len, text);
    if (len > PACK_NAME_MAX)
        return err_set(
            e, ERR_LIMIT,
            "'%s': %zu bytes of name, a bundle takes at most %d; use a shorter "
            "one",
            text, len, PACK_NAME_MAX);
    if (strcmp(path, PACK_MANIFEST) == 0)
        return 0;
    if (pack_path_check(path, len, normal, e) < 0)
        return -1;
    return strcmp(path, normal) == 0
               ? 0
               : err_set(e, ERR_FORMAT, "'%s' is not a normal path", text);
}

int pack_writer_member(struct pack_writer *w, const char *path, uint64_t size,
                       struct err *e)
{
    if (w->failed)
        return fail(w, e);
    must(w->left == 0);
    if (check_name(path, e) < 0)
        return -1;
    archive_entry_clear(w->entry);
    archive_entry_set_pathname(w->entry, path);
    archive_entry_set_mode(w->entry, FILE_MODE);
    archive_entry_set_size(w->entry, (la_int64_t)size);
    archive_entry_set_mtime(w->entry, 0, 0);
    w->left = size;
    /* A warning is about names in the locale's characters; bytes go out as they are. */
    return archive_write_header(w->archive, w->entry) >= ARCHIVE_WARN && !w->failed
               ? 0
               : fail(w, e);
}

int pack_writer_bytes(struct pack_writer *w, const void *data, size_t len, struct err *e)
{
    if (w->failed)
        return fail(w, e);
    must(len <= w->left);
    w->left -= len;
    return archive_write_data(w->archive, data, len) == (la_ssize_t)len && !w->failed
               ? 0
               : fail(w, e);
}

int pack_writer_finish(struct pack_writer *w, struct err *e)
{
    must(w->left == 0);
    if (w->failed || archive_write_close(w->archive) != ARCHIVE_OK || w->failed ||
        deflate_some(w, NULL, 0, Z_FINISH) < 0)
        return fail(w, e);
    w->failed = true; /* nothing may follow */
    return 0;
}

void pack_writer_close(struct pack_writer **w)
{
    if (!*w)
        return;
    (*w)->failed = true; /* what libarchive still has to say goes nowhere */
    if ((*w)->archive)
        (void)archive_write_free((*w)->archive);
    archive_entry_free((*w)->entry);
    if ((*w)->deflating)
        (void)deflateEnd(&(*w)->z);
    free(*w);
    *w = NULL;
}
