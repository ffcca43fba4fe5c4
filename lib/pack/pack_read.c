/* pack_read.c - see pack.h, "reading": the stream through pack_tar to libarchive. */
#include "pack/pack.h"

#include "base/limits.h"
#include "pack/pack_stream.h"
#include "pack/pack_tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum phase { FRESH, IN_MEMBER, AT_END, REFUSED };

struct pack_reader {
    struct pack_limits limits;
    struct pack_stream *stream; /* NULL: refused before anything was read */
    struct archive *archive;
    struct pack_tar tar;
    enum phase phase;
    bool begun; /* the stream's first bytes were looked at */
    bool whole; /* read to the end of the gzip member */
    struct pack_fault fault;

    const uint8_t *at; /* what is left of the stream's current bytes */
    size_t left;
    uint64_t body_left; /* of the member, padding included */
    uint64_t given;     /* bytes of it handed out */
    uint8_t *piece;     /* a header or an extension, in one piece */
};

/* ---- the stream in pieces that end where headers begin ---- */

/* Some bytes at r->at. 1, 0 at the end, -1 refused. */
static int fill(struct pack_reader *r)
{
    return r->left ? 1 : pack_stream_next(r->stream, &r->at, &r->left, &r->fault);
}

/* Bring the next n bytes together in r->piece. */
static int gather(struct pack_reader *r, size_t n)
{
    for (size_t have = 0; have < n;) {
        int got = fill(r);
        if (got == 0)
            return pack_fault_set(&r->fault, PACK_TRUNCATED, ERR_FORMAT,
                                  "the archive is cut short");
        if (got < 0)
            return -1;
        size_t some = n - have < r->left ? n - have : r->left;
        memcpy(r->piece + have, r->at, some);
        have += some;
        r->at += some;
        r->left -= some;
    }
    return 0;
}

/* Told apart before a whole header is there: a nested archive may be short. */
static int check_nested(struct pack_reader *r)
{
    if (r->begun || fill(r) <= 0)
        return r->fault.why == PACK_OK ? 0 : -1;
    r->begun = true;
    if (r->left >= 3 && memcmp(r->at, "\x1f\x8b\x08", 3) == 0)
        return pack_fault_set(&r->fault, PACK_NESTED_GZIP, ERR_FORMAT,
                              "gzip inside gzip");
    return 0;
}

static la_ssize_t give_header(struct pack_reader *r)
{
    if (check_nested(r) < 0 || gather(r, PACK_TAR_BLOCK) < 0 ||
        pack_tar_header(&r->tar, r->piece, &r->fault) < 0)
        return -1;
    if (r->tar.next == PACK_WANT_BODY)
        r->body_left = pack_tar_padded(r->tar.size);
    return PACK_TAR_BLOCK;
}

static la_ssize_t give_extension(struct pack_reader *r)
{
    size_t n = (size_t)pack_tar_padded(r->tar.size);

    if (gather(r, n) < 0 || pack_tar_extension(&r->tar, r->piece, &r->fault) < 0)
        return -1;
    return (la_ssize_t)n;
}

static la_ssize_t give_body(struct pack_reader *r, const void **out)
{
    int got = fill(r);

    if (got == 0)
        (void)pack_fault_set(&r->fault, PACK_TRUNCATED, ERR_FORMAT,
                             "the archive is cut short");
    if (got <= 0)
        return -1;
    size_t n = r->left < r->body_left ? r->left : (size_t)r->body_left;
    *out = r->at;
    r->at += n;
    r->left -= n;
    r->body_left -= n;
    if (r->body_left == 0)
        r->tar.next = PACK_WANT_HEADER;
    return (la_ssize_t)n;
}

/* libarchive asks for more. It never gets ahead of the header it is at. */
static la_ssize_t on_read(struct archive *a, void *arg, const void **out)
{
    struct pack_reader *r = arg;

    (void)a;
    *out = r->piece;
    if (r->fault.why != PACK_OK)
        return -1;
    switch (r->tar.next) {
    case PACK_WANT_HEADER:
        return give_header(r);
    case PACK_WANT_EXTENSION:
        return give_extension(r);
    case PACK_WANT_BODY:
        return give_body(r, out);
    case PACK_WANT_END:
        break;
    }
    return 0;
}

/* ---- the interface ---- */

static int open_archive(struct pack_reader *r, struct err *e)
{
    r->archive = archive_read_new();
    if (!r->archive || archive_read_support_format_tar(r->archive) != ARCHIVE_OK)
        return err_set(e, ERR_NOMEM, "out of memory");
    return 0;
}

static bool over_source_limit(int fd, const struct pack_limits *limits)
{
    struct stat st;
    off_t at = lseek(fd, 0, SEEK_CUR);

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && at >= 0 && st.st_size > at &&
           (uint64_t)(st.st_size - at) > limits->source;
}

int pack_reader_open(struct pack_reader **out, int fd, const struct pack_limits *limits,
                     struct err *e)
{
    struct pack_reader *r = calloc(1, sizeof *r);

    *out = r;
    if (!r)
        return err_set(e, ERR_NOMEM, "out of memory");
    r->limits = limits ? *limits : pack_limits_default;
    r->piece = malloc(pack_tar_padded(LIMIT_BUNDLE_PAX));
    if (!r->piece) {
        err_set(e, ERR_NOMEM, "out of memory");
        goto fail;
    }
    if (pack_tar_init(&r->tar, &r->limits, e) < 0 || open_archive(r, e) < 0)
        goto fail;
    if (over_source_limit(fd, &r->limits)) { /* without reading it */
        r->phase = REFUSED;
        (void)pack_fault_set(&r->fault, PACK_LIMIT_SOURCE, ERR_LIMIT,
                             "replay bundle exceeded source bytes limit of %llu",
                             (unsigned long long)r->limits.source);
        return 0;
    }
    if (pack_stream_open(&r->stream, fd, r->limits.source, r->limits.decoded, e) == 0)
        return 0;
fail:
    pack_reader_close(out);
    return -1;
}

static int refuse(struct pack_reader *r, struct err *e)
{
    must(r->fault.why != PACK_OK);
    r->phase = REFUSED;
    *e = r->fault.e;
    return -1;
}

/* libarchive said no: our reason if there is one, else its (without its words, which may
 * quote the archive). */
static int refuse_archive(struct pack_reader *r, struct err *e)
{
    (void)pack_fault_set(&r->fault, PACK_NOT_TAR, ERR_FORMAT,
                         "the archive cannot be read as tar");
    return refuse(r, e);
}

/* Behind the two zero blocks of the end there may only be more zeros. */
static int read_padding(struct pack_reader *r)
{
    int got;

    while ((got = fill(r)) > 0) {
        for (size_t i = 0; i < r->left; i++)
            if (r->at[i])
                return pack_fault_set(&r->fault, PACK_TAR_TRAILING, ERR_FORMAT,
                                      "data after the end of the archive");
        r->left = 0;
    }
    return got;
}

static int reach_end(struct pack_reader *r, struct err *e)
{
    const void *ignored;

    /* libarchive is content with one zero block; the format has two. */
    while (r->fault.why == PACK_OK && r->tar.next == PACK_WANT_HEADER && r->tar.last)
        (void)on_read(r->archive, r, &ignored);
    if (r->fault.why == PACK_OK && r->tar.next != PACK_WANT_END)
        return refuse_archive(r, e);
    if (r->fault.why != PACK_OK || read_padding(r) < 0)
        return refuse(r, e);
    r->whole = true;
    if (!r->tar.has_manifest) {
        (void)pack_fault_set(&r->fault, PACK_MANIFEST_MISSING, ERR_FORMAT,
                             "manifest.json missing in the bundle");
        return refuse(r, e);
    }
    r->phase = AT_END;
    return 0;
}

/* Do the two readers see the same member? */
static bool agrees(const struct pack_reader *r, struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);
    char path[LIMIT_BUNDLE_PATH_ROOM + 1];

    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) ||
        !archive_entry_size_is_set(entry) ||
        (uint64_t)archive_entry_size(entry) != r->tar.size)
        return false;
    if (!name)
        name = archive_entry_pathname_utf8(entry);
    if (!name)
        return true; /* a name this locale cannot spell */
    if (r->tar.manifest)
        return strcmp(name, PACK_MANIFEST) == 0;
    return strlen(name) < sizeof path && pack_path(name, strlen(name), path) == PACK_OK &&
           strcmp(path, r->tar.path) == 0;
}

/* libarchive looks at the first header while it opens, so that waits for the first call:
 * what is wrong with it is then a refusal like any other. */
static int step(struct pack_reader *r, struct archive_entry **entry)
{
    if (r->phase == FRESH &&
        archive_read_open(r->archive, r, NULL, on_read, NULL) != ARCHIVE_OK)
        return ARCHIVE_FATAL;
    return archive_read_next_header(r->archive, entry);
}

int pack_reader_next(struct pack_reader *r, struct pack_member *out, struct err *e)
{
    struct archive_entry *entry = NULL;

    if (r->phase == REFUSED)
        return refuse(r, e);
    if (r->phase == AT_END)
        return 0;
    do {
        int rc = step(r, &entry);
        r->phase = IN_MEMBER;
        if (r->fault.why != PACK_OK)
            return refuse(r, e);
        if (rc == ARCHIVE_EOF)
            return reach_end(r, e);
        if ((rc != ARCHIVE_OK && rc != ARCHIVE_WARN) || !agrees(r, entry))
            return refuse_archive(r, e);
    } while (!r->tar.has_manifest); /* to tell a late manifest from none */
    r->given = 0;
    *out = (struct pack_member){
        .path = r->tar.path, .size = r->tar.size, .manifest = r->tar.manifest};
    return 1;
}

int pack_reader_read(struct pack_reader *r, const void **data, size_t *len, struct err *e)
{
    la_int64_t offset;

    if (r->phase == REFUSED)
        return refuse(r, e);
    if (r->phase != IN_MEMBER)
        return 0;
    do {
        int rc = archive_read_data_block(r->archive, data, len, &offset);
        if (r->fault.why != PACK_OK)
            return refuse(r, e);
        if (rc == ARCHIVE_EOF && r->given == r->tar.size)
            return 0;
        if (rc != ARCHIVE_OK || (uint64_t)offset != r->given)
            return refuse_archive(r, e);
        r->given += *len;
    } while (*len == 0);
    return r->given <= r->tar.size ? 1 : refuse_archive(r, e);
}

enum pack_refusal pack_reader_why(const struct pack_reader *r)
{
    return r->fault.why;
}

const char *pack_reader_where(const struct pack_reader *r)
{
    return r->fault.where[0] ? r->fault.where : NULL;
}

int pack_reader_digests(struct pack_reader *r, struct pack_digests *out, struct err *e)
{
    bool was_well = r->fault.why == PACK_OK;
    int rc = 0;

    *out = (struct pack_digests){0};
    if (!r->stream)
        return 0;
    if (pack_stream_finish(r->stream, out, &r->fault) < 0 && was_well)
        rc = refuse(r, e);
    out->has_content = r->whole && rc == 0;
    pack_stream_close(&r->stream);
    return rc;
}

void pack_reader_close(struct pack_reader **r)
{
    if (!*r)
        return;
    if ((*r)->archive)
        (void)archive_read_free((*r)->archive);
    pack_stream_close(&(*r)->stream);
    pack_tar_fini(&(*r)->tar);
    free((*r)->piece);
    free(*r);
    *r = NULL;
}
