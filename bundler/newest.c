/* newest.c - see newest.h. */
#include "bundler/newest.h"

#include "base/fsx.h"
#include "bundler/inputs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LEVELS 6 /* folders down from where it starts */

struct search {
    char *best;
    struct timespec when;
};

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Takes the path over. */
static void consider(struct search *s, char *path, const struct stat *st)
{
    if (s->best && !is_newer(&st->st_mtim, &s->when)) {
        free(path);
        return;
    }
    free(s->best);
    s->best = path;
    s->when = st->st_mtim;
}

static int look(struct search *s, const char *dir, int levels, struct err *e)
{
    struct dirent **names = NULL;
    struct stat st;
    int n = scandir(dir, &names, NULL, alphasort), rc = 0;

    for (int i = 0; i < n; i++) {
        const char *name = names[i]->d_name;
        char *path = NULL;
        if (rc == 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            path = strcmp(dir, ".") == 0 ? strdup(name) : fsx_join(dir, name);
            if (!path)
                rc = err_set(e, ERR_NOMEM, "out of memory");
        }
        if (path && lstat(path, &st) == 0) {
            if (S_ISREG(st.st_mode) && strcmp(name, "run.json") == 0) {
                consider(s, path, &st);
                path = NULL;
            } else if (S_ISDIR(st.st_mode) && levels > 0 && !inputs_skips(name)) {
                rc = look(s, path, levels - 1, e);
            }
        }
        free(path);
        free(names[i]);
    }
    free(names); /* a folder that cannot be read holds no run for us */
    return rc;
}

int newest_run(const char *dir, char **out, struct err *e)
{
    struct search s = {0};
    int rc = look(&s, dir, LEVELS, e);

    if (rc < 0) {
        free(s.best);
        s.best = NULL;
    }
    *out = s.best;
    return rc;
}
