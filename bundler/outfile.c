/* outfile.c - see outfile.h. */
#include "bundler/outfile.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/fsx.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct outfile {
    char *path, *folder;
    char *temporary; /* its name until it is kept */
    bool named;      /* it has that name now */
    int fd;
};

/* "folder/.name.<8 hex>.part" */
static char *temporary_name(const char *folder, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct buf name = BUF_INIT(PATH_MAX);
    uint8_t random[4];
    char hex[2 * sizeof random + 1];

    clock_random(random, sizeof random);
    digest_hex(random, sizeof random, hex);
    buf_fmt(&name, "%s/.%s.%s.part", folder, slash ? slash + 1 : path, hex);
    char *taken = buf_take(&name);
    buf_free(&name);
    return taken;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

int outfile_open(struct outfile **out, const char *path, struct err *e)
{
    struct outfile *t = calloc(1, sizeof *t);
    struct stat st;

    *out = t;
    if (!t)
        return err_set(e, ERR_NOMEM, "out of memory");
    t->fd = -1;
    t->path = strdup(path);
    t->folder = folder_of(path);
    t->temporary = t->folder ? temporary_name(t->folder, path) : NULL;
    if (!t->path || !t->temporary) {
        err_set(e, ERR_NOMEM, "out of memory");
        goto fail;
    }
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        err_set(e, ERR_CONFIG, "%s is a folder; name the file to write", path);
        goto fail;
    }
    if (fsx_mkdirs(t->folder, 0777, e) < 0)
        goto fail;
    t->fd = open(t->folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (t->fd < 0) {
        t->fd = open(t->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        t->named = t->fd >= 0;
    }
    if (t->fd >= 0)
        return 0;
    err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
fail:
    outfile_drop(out);
    return -1;
}

int outfile_write(struct outfile *t, const void *data, size_t len, struct err *e)
{
    return fsx_write_all(t->fd, data, len, e) < 0 ? err_in(e, "%s", t->path) : 0;
}

/* A file without a name gets the temporary one: linking cannot replace an old file. */
static int name_it(struct outfile *t)
{
    char fd_path[64];

    if (t->named)
        return 0;
    (void)snprintf(fd_path, sizeof fd_path, "/proc/self/fd/%d", t->fd);
    if (linkat(AT_FDCWD, fd_path, AT_FDCWD, t->temporary, AT_SYMLINK_FOLLOW) < 0)
        return -1;
    t->named = true;
    return 0;
}

/* The name itself is on the disk when its folder is. */
static void sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
}

int outfile_keep(struct outfile *t, struct err *e)
{
    if (fsync(t->fd) < 0 || name_it(t) < 0 || rename(t->temporary, t->path) < 0)
        return err_set(e, ERR_IO, "keep %s: %s", t->path, strerror(errno));
    t->named = false;
    sync_folder(t->folder);
    return 0;
}

void outfile_drop(struct outfile **t)
{
    if (!*t)
        return;
    if ((*t)->named)
        (void)unlink((*t)->temporary);
    if ((*t)->fd >= 0)
        (void)close((*t)->fd);
    free((*t)->path);
    free((*t)->folder);
    free((*t)->temporary);
    free(*t);
    *t = NULL;
}
