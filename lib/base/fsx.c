/* fsx.c - see fsx.h. */
#include "base/fsx.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int fsx_write_all(int fd, const void *data, size_t len, struct err *e)
{
    const char *p = data;

    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(e, ERR_IO, "write: %s", strerror(errno));
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int fsx_read_file(const char *path, struct buf *out, struct err *e)
{
    int rc = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    for (;;) {
        char chunk[16384];
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
            goto out;
        }
        if (n == 0)
            break;
        buf_add(out, chunk, (size_t)n);
    }
    rc = buf_check(out, path, e);
out:
    (void)close(fd);
    return rc;
}

int fsx_mkdirs(const char *path, mode_t mode, struct err *e)
{
    struct stat st;
    char *copy = strdup(path);
    int rc = 0;

    if (!copy)
        return err_set(e, ERR_NOMEM, "out of memory");
    for (char *p = copy + (*copy != '\0'); rc == 0; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char kept = *p;
        *p = '\0';
        if (mkdir(copy, mode) < 0 && errno != EEXIST)
            rc = err_set(e, ERR_IO, "make folder %s: %s", copy, strerror(errno));
        else if (stat(copy, &st) < 0 || !S_ISDIR(st.st_mode))
            rc = err_set(e, ERR_IO, "make folder %s: it is not a folder", copy);
        *p = kept;
        if (kept == '\0')
            break;
    }
    free(copy);
    return rc;
}

int fsx_write_file(const char *path, const void *data, size_t len, mode_t mode,
                   struct err *e)
{
    struct buf tmp = BUF_INIT(PATH_MAX);
    int fd = -1, rc = -1;

    buf_fmt(&tmp, "%s.%ld.tmp", path, (long)getpid());
    if (buf_check(&tmp, "path", e) < 0)
        goto out;
    fd = open(tmp.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0) {
        err_set(e, ERR_IO, "create %s: %s", path, strerror(errno));
        goto out;
    }
    if (fsx_write_all(fd, data, len, e) < 0) {
        err_in(e, "%s", path);
        goto out;
    }
    if (fsync(fd) < 0 || rename(tmp.data, path) < 0) {
        err_set(e, ERR_IO, "keep %s: %s", path, strerror(errno));
        goto out;
    }
    rc = 0;
out:
    if (fd >= 0) {
        (void)close(fd);
        if (rc < 0)
            (void)unlink(tmp.data);
    }
    buf_free(&tmp);
    return rc;
}

bool fsx_exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

int fsx_map(struct fsx_map *out, int fd, const char *path, struct err *e)
{
    struct stat st;

    *out = (struct fsx_map){0};
    if (fstat(fd, &st) < 0)
        return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_FORMAT, "%s: not a regular file", path);
    if (st.st_size == 0)
        return 0;
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return err_set(e, ERR_IO, "map %s: %s", path, strerror(errno));
    *out = (struct fsx_map){p, (size_t)st.st_size};
    return 0;
}

void fsx_unmap(struct fsx_map *m)
{
    if (m->data)
        (void)munmap((void *)(uintptr_t)m->data, m->len);
    *m = (struct fsx_map){0};
}

char *fsx_join(const char *dir, const char *name)
{
    size_t n = strlen(dir) + strlen(name) + 2;
    char *out = malloc(n);

    if (out)
        (void)snprintf(out, n, "%s/%s", dir, name);
    return out;
}

int fsx_self_dir(struct buf *out, struct err *e)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    if (n < 0)
        return err_set(e, ERR_IO, "/proc/self/exe: %s", strerror(errno));
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    buf_add(out, path, slash ? (size_t)(slash - path) : 0);
    return buf_check(out, "own folder", e);
}
