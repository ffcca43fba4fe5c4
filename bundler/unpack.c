/* unpack.c - see unpack.h. */
#include "bundler/unpack.h"

#include "base/clock.h"
#include "base/fsx.h"
#include "base/limits.h"
#include "pack/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct unpack {
    char *folder;
    char staging[40]; /* name of our own folder inside */
    int folder_fd, staging_fd, file_fd;
    bool made; /* the folder was not there before */
    char file[LIMIT_BUNDLE_PATH + 1];
};

/* ---- the folder ---- */

static bool is_itself(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A stream over the folder; the descriptor stays the caller's. */
static DIR *list(int fd)
{
    int again = openat(fd, ".", FOLDER);
    DIR *d = again < 0 ? NULL : fdopendir(again);

    if (!d && again >= 0)
        (void)close(again);
    return d;
}

static int check_empty(struct unpack *u, struct err *e)
{
    DIR *d = list(u->folder_fd);
    struct dirent *entry;
    bool empty = true;

    if (!d)
        return err_set(e, ERR_IO, "%s: %s", u->folder, strerror(errno));
    while (empty && (entry = readdir(d)))
        empty = is_itself(entry->d_name);
    (void)closedir(d);
    return empty ? 0
                 : err_set(e, ERR_EXISTS,
                           "%s is not empty: name an empty folder, or one that does not "
                           "exist",
                           u->folder);
}

static int open_folder(struct unpack *u, struct err *e)
{
    u->made = !fsx_exists(u->folder);
    if (u->made && fsx_mkdirs(u->folder, 0755, e) < 0)
        return -1;
    /* The name itself may be a link: it is the user's. */
    u->folder_fd = open(u->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (u->folder_fd < 0 && errno == ENOTDIR)
        return err_set(e, ERR_EXISTS, "%s is there and is no folder", u->folder);
    if (u->folder_fd < 0)
        return err_set(e, ERR_IO, "%s: %s", u->folder, strerror(errno));
    return check_empty(u, e);
}

static int open_staging(struct unpack *u, struct err *e)
{
    uint64_t number;

    clock_random(&number, sizeof number);
    (void)snprintf(u->staging, sizeof u->staging, ".unpacking-%016" PRIx64, number);
    if (mkdirat(u->folder_fd, u->staging, 0700) < 0) {
        u->staging[0] = '\0';
        return err_set(e, ERR_IO, "make a folder in %s: %s", u->folder, strerror(errno));
    }
    u->staging_fd = openat(u->folder_fd, u->staging, FOLDER);
    if (u->staging_fd < 0)
        return err_set(e, ERR_IO, "%s/%s: %s", u->folder, u->staging, strerror(errno));
    return 0;
}

int unpack_open(struct unpack **out, const char *folder, struct err *e)
{
    struct unpack *u = calloc(1, sizeof *u);

    if (!u)
        return err_set(e, ERR_NOMEM, "out of memory");
    u->folder_fd = u->staging_fd = u->file_fd = -1;
    u->folder = strdup(folder);
    if (!u->folder)
        err_set(e, ERR_NOMEM, "out of memory");
    if (!u->folder || open_folder(u, e) < 0 || open_staging(u, e) < 0) {
        unpack_close(&u);
        return -1;
    }
    *out = u;
    return 0;
}

/* ---- files ---- */

static int fail(const struct unpack *u, const char *what, struct err *e)
{
    char text[PACK_PATH_TEXT];

    pack_path_text(u->file, strlen(u->file), text);
    return err_set(e, ERR_IO, "%s %s: %s", what, text, strerror(errno));
}

/* The folder of that name in another, made if need be. Takes over `in`. */
static int step_into(int in, const char *name)
{
    int fd = -1;

    if (mkdirat(in, name, 0755) == 0 || errno == EEXIST)
        fd = openat(in, name, FOLDER);
    int why = errno;
    (void)close(in);
    errno = why;
    return fd;
}

int unpack_begin(struct unpack *u, const char *path, struct err *e)
{
    size_t n = strlen(path);
    char *name = u->file, *slash;
    int in = -1;

    if (unpack_end(u, e) < 0)
        return -1;
    if (n > LIMIT_BUNDLE_PATH)
        return err_set(e, ERR_LIMIT, "path longer than %d bytes", LIMIT_BUNDLE_PATH);
    memcpy(u->file, path, n + 1);
    in = openat(u->staging_fd, ".", FOLDER);
    while (in >= 0 && (slash = strchr(name, '/'))) {
        *slash = '\0';
        must(*name && !is_itself(name)); /* pack_path() lets none through */
        in = step_into(in, name);
        *slash = '/';
        name = slash + 1;
    }
    must(*name && !is_itself(name));
    if (in >= 0)
        u->file_fd =
            openat(in, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    int rc = u->file_fd < 0 ? fail(u, "make", e) : 0;
    if (in >= 0)
        (void)close(in);
    return rc;
}

int unpack_bytes(struct unpack *u, const void *data, size_t len, struct err *e)
{
    must(u->file_fd >= 0);
    return fsx_write_all(u->file_fd, data, len, e) < 0 ? err_in(e, "%.200s", u->folder)
                                                       : 0;
}

int unpack_end(struct unpack *u, struct err *e)
{
    int fd = u->file_fd;

    u->file_fd = -1;
    return fd >= 0 && close(fd) < 0 ? fail(u, "write", e) : 0;
}

/* ---- keeping, and cleaning up ---- */

int unpack_keep(struct unpack *u, struct err *e)
{
    static const char *const names[] = {PACK_MANIFEST, "cassettes", "files", "outputs"};

    if (unpack_end(u, e) < 0)
        return -1;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (renameat2(u->staging_fd, names[i], u->folder_fd, names[i], RENAME_NOREPLACE) <
                0 &&
            errno != ENOENT)
            return err_set(e, errno == EEXIST ? ERR_EXISTS : ERR_IO, "%s/%s: %s",
                           u->folder, names[i], strerror(errno));
    u->made = false;
    return 0;
}

/* Remove what is below, without following links. As deep as a path has segments. */
static void remove_below(int fd)
{
    DIR *d = list(fd);
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        if (is_itself(entry->d_name) || unlinkat(fd, entry->d_name, 0) == 0)
            continue;
        int below = openat(fd, entry->d_name, FOLDER);
        if (below < 0)
            continue;
        remove_below(below);
        (void)close(below);
        (void)unlinkat(fd, entry->d_name, AT_REMOVEDIR);
    }
    if (d)
        (void)closedir(d);
}

void unpack_close(struct unpack **u)
{
    struct unpack *p = *u;

    if (!p)
        return;
    if (p->file_fd >= 0)
        (void)close(p->file_fd);
    if (p->staging_fd >= 0) {
        remove_below(p->staging_fd);
        (void)close(p->staging_fd);
    }
    if (p->staging[0])
        (void)unlinkat(p->folder_fd, p->staging, AT_REMOVEDIR);
    if (p->folder_fd >= 0)
        (void)close(p->folder_fd);
    if (p->made)
        (void)rmdir(p->folder);
    free(p->folder);
    free(p);
    *u = NULL;
}
