/* pack.c - see pack.h: refusals by name, path rules. */
#include "pack/pack.h"

#include "base/json.h"
#include "base/limits.h"

#include <archive.h>
#include <stdio.h>
#include <string.h>

const char *pack_library_version(void)
{
    const char *text = archive_version_string(); /* "libarchive 3.6.2" */
    const char *blank = strrchr(text, ' ');

    return blank ? blank + 1 : text;
}

const struct pack_limits pack_limits_default = {
    .source = LIMIT_BUNDLE_SOURCE,
    .decoded = LIMIT_BUNDLE_DECODED,
    .member = LIMIT_BUNDLE_MEMBER,
    .manifest = LIMIT_BUNDLE_MANIFEST,
    .path = LIMIT_BUNDLE_PATH,
    .entries = LIMIT_BUNDLE_ENTRIES,
};

static const char *const codes[PACK_REFUSALS] = {
    [PACK_OK] = "",
    [PACK_UNREADABLE] = "E_BUNDLE_UNREADABLE",
    [PACK_NOT_GZIP] = "E_BUNDLE_NOT_GZIP",
    [PACK_GZIP_DATA] = "E_BUNDLE_GZIP_DATA",
    [PACK_GZIP_CHECKSUM] = "E_BUNDLE_GZIP_CHECKSUM",
    [PACK_NESTED_GZIP] = "E_BUNDLE_NESTED_GZIP",
    [PACK_TRUNCATED] = "E_BUNDLE_TRUNCATED",
    [PACK_NOT_TAR] = "E_BUNDLE_NOT_TAR",
    [PACK_TAR_CHECKSUM] = "E_BUNDLE_TAR_CHECKSUM",
    [PACK_TAR_NUMBER] = "E_BUNDLE_TAR_NUMBER",
    [PACK_TAR_EXTENSION] = "E_BUNDLE_TAR_EXTENSION",
    [PACK_TAR_GLOBAL] = "E_BUNDLE_TAR_GLOBAL",
    [PACK_TAR_TRAILING] = "E_BUNDLE_TAR_TRAILING",
    [PACK_TYPE_SYMLINK] = "E_BUNDLE_TYPE_SYMLINK",
    [PACK_TYPE_HARDLINK] = "E_BUNDLE_TYPE_HARDLINK",
    [PACK_TYPE_DEVICE] = "E_BUNDLE_TYPE_DEVICE",
    [PACK_TYPE_FIFO] = "E_BUNDLE_TYPE_FIFO",
    [PACK_TYPE_FOLDER] = "E_BUNDLE_TYPE_FOLDER",
    [PACK_TYPE_SPARSE] = "E_BUNDLE_TYPE_SPARSE",
    [PACK_TYPE_OTHER] = "E_BUNDLE_TYPE_OTHER",
    [PACK_PATH_EMPTY] = "E_BUNDLE_PATH_EMPTY",
    [PACK_PATH_NUL] = "E_BUNDLE_PATH_NUL",
    [PACK_PATH_NOT_UTF8] = "E_BUNDLE_PATH_NOT_UTF8",
    [PACK_PATH_DRIVE] = "E_BUNDLE_PATH_DRIVE",
    [PACK_PATH_SEGMENT] = "E_BUNDLE_PATH_SEGMENT",
    [PACK_PATH_TRAVERSAL] = "E_BUNDLE_PATH_TRAVERSAL",
    [PACK_PATH_ABSOLUTE] = "E_BUNDLE_PATH_ABSOLUTE",
    [PACK_PATH_BACKSLASH] = "E_BUNDLE_PATH_BACKSLASH",
    [PACK_PATH_PREFIX] = "E_BUNDLE_PATH_PREFIX",
    [PACK_DUPLICATE_PATH] = "E_BUNDLE_DUPLICATE_PATH",
    [PACK_COLLISION] = "E_BUNDLE_COLLISION",
    [PACK_DUPLICATE_MANIFEST] = "E_BUNDLE_DUPLICATE_MANIFEST",
    [PACK_MANIFEST_LATE] = "E_BUNDLE_MANIFEST_LATE",
    [PACK_MANIFEST_MISSING] = "E_BUNDLE_MANIFEST_MISSING",
    [PACK_LIMIT_SOURCE] = "E_BUNDLE_LIMIT_SOURCE",
    [PACK_LIMIT_DECODED] = "E_BUNDLE_LIMIT_DECODED",
    [PACK_LIMIT_MEMBER] = "E_BUNDLE_LIMIT_MEMBER",
    [PACK_LIMIT_PATH] = "E_BUNDLE_LIMIT_PATH",
    [PACK_LIMIT_ENTRIES] = "E_BUNDLE_LIMIT_ENTRIES",
};

const char *pack_refusal_code(enum pack_refusal why)
{
    must(why < PACK_REFUSALS);
    return codes[why];
}

bool pack_refusal_is_limit(enum pack_refusal why)
{
    return why >= PACK_LIMIT_SOURCE && why <= PACK_LIMIT_ENTRIES;
}

/* ---- paths ---- */

static const struct {
    enum pack_refusal why;
    const char *text;
} path_words[] = {
    {PACK_PATH_EMPTY, "invalid bundle path: empty path"},
    {PACK_PATH_NUL, "invalid bundle path: a NUL byte inside the name"},
    {PACK_PATH_NOT_UTF8, "invalid bundle path: not UTF-8"},
    {PACK_PATH_DRIVE, "invalid bundle path: drive-letter or ':' in the first segment"},
    {PACK_PATH_SEGMENT, "invalid bundle path: empty segment"},
    {PACK_PATH_TRAVERSAL, "invalid bundle path: traversal segment"},
    {PACK_PATH_ABSOLUTE, "invalid bundle path prefix: an absolute path"},
    {PACK_PATH_BACKSLASH, "invalid bundle path prefix: a path with backslashes"},
    {PACK_PATH_PREFIX,
     "invalid bundle path prefix: neither cassettes/ nor files/ nor outputs/"},
};

static bool has_prefix(const char *path)
{
    static const char *const prefixes[] = {"files/", "outputs/", "cassettes/"};

    for (size_t i = 0; i < COUNT_OF(prefixes); i++)
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Segments of a path with slashes only, not empty, no leading slash. */
static enum pack_refusal check_segments(const char *path)
{
    enum pack_refusal why = PACK_OK;

    if (memchr(path, ':', strcspn(path, "/")))
        return PACK_PATH_DRIVE;
    for (const char *p = path;; p++) {
        size_t n = strcspn(p, "/");
        bool dots = (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.');
        if (n == 0)
            return PACK_PATH_SEGMENT; /* before a later "..": as the format orders them */
        if (dots)
            why = PACK_PATH_TRAVERSAL;
        p += n;
        if (!*p)
            return why;
    }
}

enum pack_refusal pack_path(const char *raw, size_t len, char *out)
{
    bool absolute = false, backslash = false;
    size_t n = 0;

    if (memchr(raw, '\0', len))
        return PACK_PATH_NUL;
    if (!json_is_utf8(raw, len))
        return PACK_PATH_NOT_UTF8;
    for (size_t i = 0; i < len; i++) {
        char c = raw[i] == '\\' ? '/' : raw[i];
        backslash |= raw[i] == '\\';
        if (n == 0 && c == '/')
            absolute = true;
        else
            out[n++] = c;
    }
    out[n] = '\0';
    if (n == 0)
        return PACK_PATH_EMPTY;
    enum pack_refusal why = check_segments(out);
    if (why != PACK_OK || has_prefix(out))
        return why;
    return backslash  ? PACK_PATH_BACKSLASH
           : absolute ? PACK_PATH_ABSOLUTE
                      : PACK_PATH_PREFIX;
}

int pack_path_check(const char *raw, size_t len, char *out, struct err *e)
{
    enum pack_refusal why = pack_path(raw, len, out);
    char text[PACK_PATH_TEXT];

    if (why == PACK_OK)
        return 0;
    pack_path_text(raw, len, text);
    for (size_t i = 0; i < COUNT_OF(path_words); i++)
        if (path_words[i].why == why)
            return err_set(e, ERR_FORMAT, "%s: '%s'", path_words[i].text, text);
    must(!"a path refusal without words");
    return -1;
}

void pack_path_text(const char *path, size_t len, char out[PACK_PATH_TEXT])
{
    const size_t room = PACK_PATH_TEXT - sizeof "\\xNN...";
    size_t n = 0, i = 0;

    for (; i < len && n < room; i++) {
        unsigned char c = (unsigned char)path[i];
        if (c >= 0x20 && c < 0x7f && c != '\'' && c != '"' && c != '\\')
            out[n++] = (char)c;
        else
            n += (size_t)snprintf(out + n, PACK_PATH_TEXT - n, "\\x%02x", c);
    }
    (void)snprintf(out + n, PACK_PATH_TEXT - n, "%s", i < len ? "..." : "");
}
