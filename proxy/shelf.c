/* shelf.c - see shelf.h. */
#include "proxy/shelf.h"

#include "base/cli.h"
#include "base/fsx.h"
#include "base/limits.h"
#include "base/log.h"
#include "tape/cassette.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".jsonl"

static bool has_suffix(const char *name)
{
    size_t n = strlen(name), tail = strlen(SUFFIX);

    return n > tail && strcmp(name + n - tail, SUFFIX) == 0;
}

static int add_name(struct shelf_names *names, const char *file, struct err *e)
{
    char *name = strndup(file, strlen(file) - strlen(SUFFIX));
    char **v;

    if (!name)
        return err_set(e, ERR_NOMEM, "list of sessions: out of memory");
    if (!cassette_name_ok(name)) {
        free(name); /* some other file */
        return 0;
    }
    if (names->n == LIMIT_SESSIONS) {
        free(name);
        return err_set(e, ERR_LIMIT, "more than %d cassettes in one folder",
                       LIMIT_SESSIONS);
    }
    v = realloc(names->v, (names->n + 2) * sizeof *v);
    if (!v) {
        free(name);
        return err_set(e, ERR_NOMEM, "list of sessions: out of memory");
    }
    names->v = v;
    v[names->n++] = name;
    v[names->n] = NULL;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int shelf_names(struct shelf_names *out, const char *dir, struct err *e)
{
    DIR *d = opendir(dir);
    struct dirent *entry;
    int rc = 0;

    *out = (struct shelf_names){0};
    if (!d && errno == ENOENT)
        return err_set(e, ERR_USAGE,
                       "%.300s: no such folder (record something first, or name the "
                       "folder with --cassettes)",
                       dir);
    if (!d)
        return err_set(e, ERR_IO, "%.300s: %s", dir, strerror(errno));
    while (rc == 0 && (entry = readdir(d)))
        if (has_suffix(entry->d_name))
            rc = add_name(out, entry->d_name, e);
    (void)closedir(d);
    if (rc < 0) {
        shelf_names_free(out);
        return err_in(e, "%.200s", dir);
    }
    if (out->n)
        qsort(out->v, out->n, sizeof *out->v, by_name);
    return 0;
}

void shelf_names_free(struct shelf_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->v[i]);
    free(names->v);
    *names = (struct shelf_names){0};
}

static int no_such_session(const char *dir, const char *which, struct err *e)
{
    struct shelf_names names;
    const char *near = NULL;

    if (shelf_names(&names, dir, e) < 0)
        return -1;
    if (names.n)
        near = cli_nearest(which, (const char *const *)names.v);
    if (near)
        err_set(e, ERR_USAGE, "no session `%.64s` in %.200s; did you mean `%s`?", which,
                dir, near);
    else
        err_set(e, ERR_USAGE, "no session `%.64s` in %.200s; `retape list` shows %zu",
                which, dir, names.n);
    shelf_names_free(&names);
    return -1;
}

int shelf_open(struct tape **out, const char *dir, const char *which, struct err *e)
{
    bool is_path = strchr(which, '/') || has_suffix(which);
    char *path = NULL;
    bool torn = false;
    int rc = -1;

    *out = NULL;
    if (!is_path && !cassette_name_ok(which))
        return err_set(e, ERR_USAGE,
                       "`%.80s` is neither a session name nor a path to a cassette",
                       which);
    path = is_path ? strdup(which) : cassette_path(dir, which);
    if (!path) {
        err_set(e, ERR_NOMEM, "%.64s: out of memory", which);
    } else if (!fsx_exists(path)) {
        rc = is_path ? err_set(e, ERR_USAGE, "%.300s: no such cassette", path)
                     : no_such_session(dir, which, e);
    } else {
        rc = tape_open(out, path, &torn, e);
    }
    if (torn)
        log_warn("%s: the last line is cut short (a crash while recording?) and left out",
                 path);
    free(path);
    return rc;
}
