/*
 * pack.h - archives, through libarchive: a canonical writer and a wary reader.
 *
 * An archive is one gzip member around one tar stream (docs/FORMATS.md, "Bundles"):
 * manifest.json first, then regular files under cassettes/, files/ and outputs/.
 *
 * Reading takes one open descriptor from its start to its end, once: a file, or a pipe
 * that is still being written. In that one pass it inflates, keeps the SHA-256 of the
 * archive's bytes and of the tar stream, checks every tar header before libarchive sees
 * it, and hands out members with checked, normalised paths. Whatever is wrong ends the
 * reading with a refusal: a code of its own (pack_refusal) and a sentence; of what the
 * archive chose, at most an escaped and bounded path is repeated.
 *
 * Writing gives the same bytes for the same members: names as given, mode 0644, owner
 * and time zero, gzip level 6 without name and time.
 *
 * Owns:    handles belong to the caller. What a member points to lives until the next
 *          call with its reader.
 * Threads: a handle belongs to one thread at a time. A reader runs one thread of its own
 *          that reads and inflates ahead; it ends in pack_reader_close().
 * Errors:  0 or -1 with *e; ERR_IO and ERR_NOMEM are not the archive's fault.
 */
#ifndef PACK_PACK_H
#define PACK_PACK_H

#include "base/digest.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACK_MANIFEST "manifest.json"
#define PACK_NAME_MAX 100  /* what the writer can put into a tar header */
#define PACK_PATH_TEXT 128 /* an escaped path for messages, with its NUL */

/* "3.6.2", and zlib's "1.2.13", on which the bytes of a bundle depend. */
const char *pack_library_version(void);
const char *pack_zlib_version(void);

/* ---- refusals ---- */

/* Why an archive was refused. pack_refusal_code() gives the name users see. */
enum pack_refusal {
    PACK_OK,
    PACK_UNREADABLE,    /* the descriptor failed; nothing is said of the archive */
    PACK_NOT_GZIP,      /* no gzip header, or a method other than deflate */
    PACK_GZIP_DATA,     /* broken deflate data */
    PACK_GZIP_CHECKSUM, /* CRC or length of the gzip trailer */
    PACK_NESTED_GZIP,   /* gzip inside gzip */
    PACK_TRUNCATED,     /* ends before its end: file, member or end-of-archive */
    PACK_NOT_TAR,       /* no tar header where one must be */
    PACK_TAR_CHECKSUM,  /* tar header checksum */
    PACK_TAR_NUMBER,    /* size field: not octal, negative or absurd */
    PACK_TAR_EXTENSION, /* pax or GNU record: odd, oversized, twice, or dangling */
    PACK_TAR_GLOBAL,    /* pax global header */
    PACK_TAR_TRAILING,  /* bytes other than zero after the end of the archive */
    PACK_TYPE_SYMLINK,
    PACK_TYPE_HARDLINK,
    PACK_TYPE_DEVICE, /* character or block device */
    PACK_TYPE_FIFO,
    PACK_TYPE_FOLDER,
    PACK_TYPE_SPARSE,
    PACK_TYPE_OTHER,
    PACK_PATH_EMPTY,
    PACK_PATH_NUL, /* bytes after a NUL inside a name */
    PACK_PATH_NOT_UTF8,
    PACK_PATH_DRIVE,     /* ':' in the first segment */
    PACK_PATH_SEGMENT,   /* an empty segment */
    PACK_PATH_TRAVERSAL, /* a segment "." or ".." */
    PACK_PATH_ABSOLUTE,  /* begins with '/' and is not ours behind it */
    PACK_PATH_BACKSLASH, /* has '\' and is not ours with them turned */
    PACK_PATH_PREFIX,    /* neither cassettes/ nor files/ nor outputs/ */
    PACK_DUPLICATE_PATH, /* two members, one path */
    PACK_COLLISION,      /* a path that is a file and a folder */
    PACK_DUPLICATE_MANIFEST,
    PACK_MANIFEST_LATE, /* not the first member */
    PACK_MANIFEST_MISSING,
    PACK_LIMIT_SOURCE,  /* bytes of the file */
    PACK_LIMIT_DECODED, /* bytes of the tar stream */
    PACK_LIMIT_MEMBER,  /* bytes of a member, the manifest included */
    PACK_LIMIT_PATH,    /* bytes of a path */
    PACK_LIMIT_ENTRIES, /* members */
    PACK_REFUSALS
};

const char *pack_refusal_code(enum pack_refusal why); /* "E_BUNDLE_PATH_TRAVERSAL" */
/* Is it a ceiling (run outputs then say E_REPLAY_LIMIT_EXCEEDED)? */
bool pack_refusal_is_limit(enum pack_refusal why);

/* ---- paths ---- */

/*
 * The rules for a path inside an archive (manifest.json is not subject to them):
 * backslashes turn into slashes, leading slashes go, and what is left must lie under
 * files/, outputs/ or cassettes/ without empty, "." or ".." segments and without ':' in
 * its first one. PACK_OK with the normalised path in `out` (at least len + 1 bytes), or
 * why not.
 */
enum pack_refusal pack_path(const char *raw, size_t len, char *out);
/* pack_path() with a sentence in *e. */
int pack_path_check(const char *raw, size_t len, char *out, struct err *e) MUST_CHECK;

/* A path for people: control characters, quotes and bytes beyond ASCII as \xNN, cut with
 * "..." when long. */
void pack_path_text(const char *path, size_t len, char out[PACK_PATH_TEXT]);

/* ---- reading ---- */

struct pack_limits {
    uint64_t source, decoded, member, manifest; /* bytes */
    size_t path, entries;
};
extern const struct pack_limits pack_limits_default; /* limits.h, LIMIT_BUNDLE_... */

struct pack_member {
    const char *path; /* normalised */
    uint64_t size;
    bool manifest; /* it is manifest.json */
};

struct pack_digests {
    bool has_file, has_content;
    char file[DIGEST_KEY_TEXT];    /* of all bytes of the archive, trailing ones too */
    char content[DIGEST_KEY_TEXT]; /* of the tar stream, up to its end in the gzip member
                                    */
    uint64_t file_size, content_size;
    uint64_t trailing; /* bytes behind the gzip member, counted in the two above */
};

struct pack_reader;

/* The descriptor stays the caller's and is read from where it stands. limits may be NULL
 * for the defaults. A regular file over the source limit is refused without reading. */
int pack_reader_open(struct pack_reader **out, int fd, const struct pack_limits *limits,
                     struct err *e) MUST_CHECK;
/* 1 with the next member, 0 after the last (all of the gzip member was then checked),
 * -1 refused. What was not read of the member before is skipped. */
int pack_reader_next(struct pack_reader *r, struct pack_member *out,
                     struct err *e) MUST_CHECK;
/* 1 with the next bytes of the member (never none), 0 at its end, -1 refused. The bytes
 * live until the next call. */
int pack_reader_read(struct pack_reader *r, const void **data, size_t *len,
                     struct err *e) MUST_CHECK;
/* Why the last call said -1. */
enum pack_refusal pack_reader_why(const struct pack_reader *r);
/* The path of the member it was about, as the archive has it; NULL for none. */
const char *pack_reader_where(const struct pack_reader *r);
/* Read what is left of the file, also after a refusal, and fill in what is known: no
 * file digest when the source limit was passed or reading failed, no content digest
 * unless pack_reader_next() came to the end. -1 when all was well until the bytes behind
 * the archive: too many of them, or they cannot be read. */
int pack_reader_digests(struct pack_reader *r, struct pack_digests *out, struct err *e);
void pack_reader_close(struct pack_reader **r);

/* ---- writing ---- */

struct pack_writer;

/* Where compressed bytes go. */
typedef int pack_sink_fn(void *arg, const void *data, size_t len, struct err *e);

int pack_writer_open(struct pack_writer **out, pack_sink_fn *sink, void *arg,
                     struct err *e) MUST_CHECK;
/* Begin a member: manifest.json or a path that is normal already and at most
 * PACK_NAME_MAX bytes. Its `size` bytes follow through pack_writer_bytes(). */
int pack_writer_member(struct pack_writer *w, const char *path, uint64_t size,
                       struct err *e) MUST_CHECK;
int pack_writer_bytes(struct pack_writer *w, const void *data, size_t len,
                      struct err *e) MUST_CHECK;
/* End of archive; everything has gone to the sink when this returns 0. */
int pack_writer_finish(struct pack_writer *w, struct err *e) MUST_CHECK;
void pack_writer_close(struct pack_writer **w);

#endif
