/* pack_tar.c - see pack_tar.h. Fields and types: POSIX.1-2017 pax, "ustar". */
#include "pack/pack_tar.h"

#include "base/limits.h"
#include "pack/pack_pax.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Offsets and lengths in a header. */
#define NAME 0
#define NAME_LEN 100
#define SIZE 124
#define SIZE_LEN 12
#define CHECKSUM 148
#define CHECKSUM_LEN 8
#define TYPE 156
#define MAGIC 257
#define PREFIX 345
#define PREFIX_LEN 155
#define GNU_SPARSE 386 /* map, "goes on" and real size of a GNU header */
#define GNU_SPARSE_LEN 109

static const struct {
    char type;
    enum pack_refusal why;
    const char *text;
} refused_types[] = {
    {'1', PACK_TYPE_HARDLINK, "a hard link"},
    {'2', PACK_TYPE_SYMLINK, "a symbolic link"},
    {'3', PACK_TYPE_DEVICE, "a character device"},
    {'4', PACK_TYPE_DEVICE, "a block device"},
    {'5', PACK_TYPE_FOLDER, "a folder"},
    {'6', PACK_TYPE_FIFO, "a FIFO"},
    {'S', PACK_TYPE_SPARSE, "a sparse file"},
    {'g', PACK_TAR_GLOBAL, "a pax global header"},
    {'K', PACK_TAR_EXTENSION, "a GNU long link"},
    {'X', PACK_TAR_EXTENSION, "a Solaris extended header"},
};

uint64_t pack_tar_padded(uint64_t size)
{
    return (size + PACK_TAR_BLOCK - 1) / PACK_TAR_BLOCK * PACK_TAR_BLOCK;
}

int pack_tar_init(struct pack_tar *t, const struct pack_limits *limits, struct err *e)
{
    size_t room = LIMIT_BUNDLE_PATH_ROOM + 1;

    must(limits->path <= LIMIT_BUNDLE_PATH_ROOM);
    *t = (struct pack_tar){.limits = limits};
    t->path = malloc(room);
    t->long_path = malloc(room);
    return t->path && t->long_path ? 0 : err_set(e, ERR_NOMEM, "out of memory");
}

void pack_tar_fini(struct pack_tar *t)
{
    free(t->path);
    free(t->long_path);
    t->path = t->long_path = NULL;
    pack_names_fini(&t->names);
}

/* ---- fields ---- */

/* Octal digits between blanks and up to a NUL or blank, or base 256 when not negative.
 * False when it is neither. */
static bool read_number(const uint8_t *field, size_t len, uint64_t *out)
{
    size_t i = 0, digits = 0;
    uint64_t v = 0;

    if (field[0] == 0x80) {
        for (i = 1; i < len; i++) {
            if (v >> 55)
                return false; /* would not fit 63 bits */
            v = v << 8 | field[i];
        }
        *out = v;
        return true;
    }
    while (i < len && field[i] == ' ')
        i++;
    for (; i < len && field[i] >= '0' && field[i] <= '7'; i++, digits++)
        v = v << 3 | (uint64_t)(field[i] - '0');
    for (; i < len; i++)
        if (field[i] != ' ' && field[i] != '\0')
            return false;
    *out = v;
    return digits > 0;
}

static bool checksum_right(const uint8_t *block)
{
    uint64_t want = 0, sum = 0;

    for (size_t i = 0; i < PACK_TAR_BLOCK; i++)
        sum += i >= CHECKSUM && i < CHECKSUM + CHECKSUM_LEN ? ' ' : block[i];
    return read_number(block + CHECKSUM, CHECKSUM_LEN, &want) && want == sum;
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i])
            return false;
    return true;
}

/* Length of a NUL-padded field, or -1 when something stands behind the first NUL. */
static int field_length(const uint8_t *field, size_t len, struct pack_fault *f)
{
    size_t n = strnlen((const char *)field, len);

    for (size_t i = n; i < len; i++)
        if (field[i])
            return pack_fault_set(f, PACK_PATH_NUL, ERR_FORMAT,
                                  "invalid bundle path: a NUL byte inside the name");
    return (int)n;
}

/* The name a header itself gives: ustar has room for folders in a second field. */
static int read_name(const uint8_t *block, char out[NAME_LEN + PREFIX_LEN + 2],
                     size_t *len, struct pack_fault *f)
{
    int name = field_length(block + NAME, NAME_LEN, f), prefix = 0;
    size_t n = 0;

    if (memcmp(block + MAGIC, "ustar\0", 6) == 0)
        prefix = field_length(block + PREFIX, PREFIX_LEN, f);
    if (name < 0 || prefix < 0)
        return -1;
    if (prefix > 0) {
        memcpy(out, block + PREFIX, (size_t)prefix);
        n = (size_t)prefix;
        if (out[n - 1] != '/')
            out[n++] = '/';
    }
    memcpy(out + n, block + NAME, (size_t)name);
    *len = n + (size_t)name;
    return 0;
}

/* ---- members ---- */

static int take_manifest(struct pack_tar *t, struct pack_fault *f)
{
    if (t->has_manifest)
        return pack_fault_set(f, PACK_DUPLICATE_MANIFEST, ERR_FORMAT,
                              "replay bundle contains more than one manifest");
    if (t->late)
        return pack_fault_set(f, PACK_MANIFEST_LATE, ERR_FORMAT,
                              "manifest.json is not the first member");
    t->has_manifest = t->manifest = true;
    (void)strcpy(t->path, PACK_MANIFEST);
    return 0;
}

/* Check the member's name and leave the normalised one in t->path. */
static int take_path(struct pack_tar *t, const char *raw, size_t len,
                     struct pack_fault *f)
{
    struct err e;

    t->manifest = false;
    if (++t->members > t->limits->entries)
        return pack_fault_set(f, PACK_LIMIT_ENTRIES, ERR_LIMIT,
                              "replay bundle entry count exceeds limit %zu",
                              t->limits->entries);
    if (len > t->limits->path)
        return pack_fault_set(f, PACK_LIMIT_PATH, ERR_LIMIT,
                              "replay bundle entry path exceeds the configured maximum "
                              "length of %zu",
                              t->limits->path);
    if (len == strlen(PACK_MANIFEST) && memcmp(raw, PACK_MANIFEST, len) == 0)
        return take_manifest(t, f);
    t->late |= !t->has_manifest;
    enum pack_refusal why = pack_path(raw, len, t->path);
    if (why == PACK_OK)
        return pack_names_add(&t->names, t->path, f);
    if (why == PACK_PATH_SEGMENT && raw[len - 1] == '/') /* how old tars told a folder */
        return pack_fault_at(f, raw, len, PACK_TYPE_FOLDER, ERR_FORMAT,
                             "a member is a folder: only regular files are allowed");
    if (pack_path_check(raw, len, t->path, &e) < 0)
        (void)pack_fault_at(f, raw, len, why, e.code, e.msg);
    return -1;
}

static int refuse_type(char type, struct pack_fault *f)
{
    for (size_t i = 0; i < COUNT_OF(refused_types); i++)
        if (refused_types[i].type == type)
            return pack_fault_set(f, refused_types[i].why, ERR_FORMAT,
                                  "a member is %s: only regular files are allowed",
                                  refused_types[i].text);
    return pack_fault_set(f, PACK_TYPE_OTHER, ERR_FORMAT,
                          "a member is of an unknown type: only regular files are "
                          "allowed");
}

static int take_member(struct pack_tar *t, const uint8_t *block, uint64_t size,
                       struct pack_fault *f)
{
    char name[NAME_LEN + PREFIX_LEN + 2];
    size_t len = 0;

    /* libarchive follows such a map whatever the type says. */
    if (memcmp(block + MAGIC, "ustar ", 6) == 0 &&
        !is_zero(block + GNU_SPARSE, GNU_SPARSE_LEN))
        return refuse_type('S', f);
    if (t->sized && t->told_size != size)
        return pack_fault_set(f, PACK_TAR_EXTENSION, ERR_FORMAT,
                              "a pax header and its member disagree on the size");
    if (t->named ? take_path(t, t->long_path, t->long_len, f) < 0
                 : read_name(block, name, &len, f) < 0 || take_path(t, name, len, f) < 0)
        return -1;
    uint64_t limit = t->manifest ? t->limits->manifest : t->limits->member;
    if (size > limit) {
        char text[128];
        (void)snprintf(text, sizeof text,
                       "replay bundle member exceeded member bytes limit of %llu",
                       (unsigned long long)limit);
        return pack_fault_at(f, t->path, strlen(t->path), PACK_LIMIT_MEMBER, ERR_LIMIT,
                             text);
    }
    t->extended = t->named = t->sized = false;
    t->size = size;
    t->next = size ? PACK_WANT_BODY : PACK_WANT_HEADER;
    return 0;
}

static int begin_extension(struct pack_tar *t, char kind, uint64_t size,
                           struct pack_fault *f)
{
    if (t->extended)
        return pack_fault_set(f, PACK_TAR_EXTENSION, ERR_FORMAT,
                              "two extension records before one member");
    if (size == 0 || size > LIMIT_BUNDLE_PAX)
        return pack_fault_set(f, PACK_TAR_EXTENSION, ERR_FORMAT,
                              "an extension record is empty or too large");
    t->extended = true;
    t->kind = kind;
    t->size = size;
    t->next = PACK_WANT_EXTENSION;
    return 0;
}

/* ---- blocks ---- */

static int zero_block(struct pack_tar *t, struct pack_fault *f)
{
    if (t->extended)
        return pack_fault_set(f, PACK_TAR_EXTENSION, ERR_FORMAT,
                              "an extension record without a member");
    if (t->last)
        t->next = PACK_WANT_END;
    t->last = true;
    return 0;
}

static int check_block(struct pack_tar *t, const uint8_t *block, struct pack_fault *f)
{
    if (t->last)
        return pack_fault_set(f, PACK_TAR_TRAILING, ERR_FORMAT,
                              "data after the end of the archive");
    if (checksum_right(block))
        return 0;
    if (memcmp(block + MAGIC, "ustar", 5) == 0)
        return pack_fault_set(f, PACK_TAR_CHECKSUM, ERR_FORMAT,
                              "a tar header's checksum is wrong");
    return pack_fault_set(f, PACK_NOT_TAR, ERR_FORMAT, "no tar header where one must be");
}

int pack_tar_header(struct pack_tar *t, const uint8_t block[PACK_TAR_BLOCK],
                    struct pack_fault *f)
{
    char type = (char)block[TYPE];
    uint64_t size = 0;

    must(t->next == PACK_WANT_HEADER);
    if (is_zero(block, PACK_TAR_BLOCK))
        return zero_block(t, f);
    if (check_block(t, block, f) < 0)
        return -1;
    if (!read_number(block + SIZE, SIZE_LEN, &size))
        return pack_fault_set(f, PACK_TAR_NUMBER, ERR_FORMAT,
                              "a tar header's size is not a number");
    if (type == '\0' || type == '0')
        return take_member(t, block, size, f);
    if (type == 'L' || type == 'x')
        return begin_extension(t, type, size, f);
    return refuse_type(type, f);
}

static int take_long_path(struct pack_tar *t, const char *value, size_t len,
                          struct pack_fault *f)
{
    if (len > t->limits->path)
        return pack_fault_set(f, PACK_LIMIT_PATH, ERR_LIMIT,
                              "replay bundle entry path exceeds the configured maximum "
                              "length of %zu",
                              t->limits->path);
    memcpy(t->long_path, value, len);
    t->long_len = len;
    t->named = true;
    return 0;
}

int pack_tar_extension(struct pack_tar *t, const uint8_t *data, struct pack_fault *f)
{
    const char *text = (const char *)data;
    size_t len = (size_t)t->size;
    struct pack_pax pax = {0};

    must(t->next == PACK_WANT_EXTENSION);
    t->next = PACK_WANT_HEADER;
    if (t->kind == 'L') /* ends with a NUL, which some writers leave out */
        return take_long_path(t, text, text[len - 1] ? len : len - 1, f);
    if (pack_pax_read(text, len, &pax, f) < 0)
        return -1;
    t->sized = pax.has_size;
    t->told_size = pax.size;
    return pax.path ? take_long_path(t, pax.path, pax.path_len, f) : 0;
}
