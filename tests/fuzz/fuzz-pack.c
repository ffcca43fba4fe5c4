/*
 * fuzz-pack.c - archives of any bytes: members within the rules, or a refusal with a
 * code; the digest of the file either way.
 *
 * The first byte says what the rest is: an archive as it stands ('0'), a tar to be
 * compressed first ('1'), or one whose header checksums are made right too ('2'), so
 * that neither guards what lies behind it.
 */
#include "base/buf.h"
#include "base/limits.h"
#include "pack/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BLOCK 512

static const struct pack_limits limits = {
    .source = MIB(1),
    .decoded = MIB(4),
    .member = MIB(1),
    .manifest = KIB(64),
    .path = 256,
    .entries = 64,
};

static void mend_checksums(uint8_t *tar, size_t len)
{
    for (size_t at = 0; at + BLOCK <= len; at += BLOCK) {
        uint8_t *h = tar + at;
        unsigned sum = 0;

        if (memcmp(h + 257, "ustar", 5) != 0)
            continue;
        memset(h + 148, ' ', 8);
        for (size_t i = 0; i < BLOCK; i++)
            sum += h[i];
        char text[9];
        (void)snprintf(text, sizeof text, "%07o", sum);
        memcpy(h + 148, text, 8);
    }
}

static void compress_tar(const uint8_t *tar, size_t len, struct buf *out)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)tar, .avail_in = (uInt)len};

    must(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    size_t room = deflateBound(&z, (uLong)len);
    z.next_out = (Bytef *)buf_room(out, room);
    z.avail_out = (uInt)room;
    must(z.next_out && deflate(&z, Z_FINISH) == Z_STREAM_END);
    out->len = z.total_out;
    (void)deflateEnd(&z);
}

/* One member that was handed out keeps every promise of pack.h. */
static int check_member(struct pack_reader *r, const struct pack_member *m, size_t n)
{
    char normal[512];
    uint64_t seen = 0;
    const void *bytes = NULL;
    size_t len = 0;
    struct err e = {0};
    int more = 0;

    must(m->manifest == (n == 0) && m->manifest == !strcmp(m->path, PACK_MANIFEST));
    must(strlen(m->path) <= limits.path && n < limits.entries);
    must(m->size <= (m->manifest ? limits.manifest : limits.member));
    if (!m->manifest) {
        must(pack_path(m->path, strlen(m->path), normal) == PACK_OK);
        must(strcmp(m->path, normal) == 0);
    }
    while ((more = pack_reader_read(r, &bytes, &len, &e)) == 1) {
        must(bytes && len > 0);
        seen += len;
        must(seen <= m->size);
    }
    must(more < 0 || seen == m->size);
    return more;
}

static void check_archive(int fd, const void *data, size_t size)
{
    struct pack_reader *r = NULL;
    struct pack_member m = {0};
    struct pack_digests d = {0};
    struct err e = {0};
    char file[DIGEST_KEY_TEXT];
    int more = 0;

    must(pack_reader_open(&r, fd, &limits, &e) == 0);
    for (size_t n = 0; (more = pack_reader_next(r, &m, &e)) == 1; n++)
        if (check_member(r, &m, n) < 0) {
            more = -1;
            break;
        }
    must((more == 0) == (pack_reader_why(r) == PACK_OK));
    must(more == 0 || strncmp(pack_refusal_code(pack_reader_why(r)), "E_", 2) == 0);
    (void)pack_reader_digests(r, &d, &e);
    digest_key_text(data, size, file);
    must(d.has_file && strcmp(d.file, file) == 0 && d.file_size == size);
    must(d.has_content || more < 0);
    pack_reader_close(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct buf archive = BUF_INIT(MIB(8));

    if (size == 0 || size > MIB(1) / 2)
        return 0;
    if (fd < 0)
        fd = memfd_create("input", MFD_CLOEXEC);
    must(fd >= 0);
    if (*data == '1' || *data == '2') {
        uint8_t *tar = malloc(size);
        must(tar);
        memcpy(tar, data + 1, size - 1);
        if (*data == '2')
            mend_checksums(tar, size - 1);
        compress_tar(tar, size - 1, &archive);
        free(tar);
    } else {
        buf_add(&archive, data + 1, size - 1);
    }
    must(ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
    must(pwrite(fd, archive.data, archive.len, 0) == (ssize_t)archive.len);
    check_archive(fd, archive.data, archive.len);
    buf_free(&archive);
    return 0;
}
