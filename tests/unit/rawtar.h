/*
 * rawtar.h - archives byte by byte, so that everything about them can be wrong.
 */
#ifndef TESTS_RAWTAR_H
#define TESTS_RAWTAR_H

#include "base/buf.h"
#include "base/limits.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define RAWTAR_MIN                                                                       \
    "{\"schema_version\":1,\"assay_version\":\"2.15.0\",\"scrub_policy\":{"              \
    "\"include_prompts\":false,\"scrub_cassettes\":true,\"name\":\"default\"}}"

/* A header as the reference writes it: GNU magic, seven digits of checksum. */
static inline void rawtar_header(struct buf *tar, const char *name, size_t name_len,
                                 char type, const char *size)
{
    unsigned char h[512] = {0};
    unsigned sum = 0;
    char text[9];

    memcpy(h, name, name_len < 100 ? name_len : 100);
    memcpy(h + 100, "0000644", 7);
    memcpy(h + 108, "0000000", 7);
    memcpy(h + 116, "0000000", 7);
    memcpy(h + 124, size, strlen(size));
    memcpy(h + 136, "00000000000", 11);
    memset(h + 148, ' ', 8);
    h[156] = (unsigned char)type;
    memcpy(h + 257, "ustar  ", 7);
    for (size_t i = 0; i < sizeof h; i++)
        sum += h[i];
    (void)snprintf(text, sizeof text, "%07o", sum);
    memcpy(h + 148, text, 8);
    buf_add(tar, h, sizeof h);
}

static inline void rawtar_body(struct buf *tar, const void *data, size_t len)
{
    static const char zeros[512];

    buf_add(tar, data, len);
    buf_add(tar, zeros, (512 - len % 512) % 512);
}

static inline void rawtar_add(struct buf *tar, const char *name, char type,
                              const void *data, size_t len)
{
    char size[24];

    (void)snprintf(size, sizeof size, "%011zo", len);
    rawtar_header(tar, name, strlen(name), type, size);
    rawtar_body(tar, data, len);
}

static inline void rawtar_text(struct buf *tar, const char *name, const char *text)
{
    rawtar_add(tar, name, '\0', text, strlen(text));
}

static inline void rawtar_end(struct buf *tar)
{
    static const char zeros[1024];

    buf_add(tar, zeros, sizeof zeros);
}

static inline void rawtar_gzip(const struct buf *tar, struct buf *out)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)tar->data, .avail_in = (uInt)tar->len};

    must(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    size_t room = deflateBound(&z, (uLong)tar->len);
    z.next_out = (Bytef *)buf_room(out, room);
    z.avail_out = (uInt)room;
    must(z.next_out && deflate(&z, Z_FINISH) == Z_STREAM_END);
    out->len += z.total_out;
    (void)deflateEnd(&z);
}

/* A descriptor that reads these bytes from their start. */
static inline int rawtar_fd(const void *data, size_t len)
{
    int fd = memfd_create("archive", MFD_CLOEXEC);

    must(fd >= 0 && write(fd, data, len) == (ssize_t)len && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

static inline int rawtar_gzip_fd(const struct buf *tar)
{
    struct buf gz = BUF_INIT(MIB(64));

    rawtar_gzip(tar, &gz);
    int fd = rawtar_fd(gz.data, gz.len);
    buf_free(&gz);
    return fd;
}

#endif
