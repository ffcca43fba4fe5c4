/* inputs.c - see inputs.h. */
#include "bundler/inputs.h"

#include "base/fsx.h"
#include "base/limits.h"
#include "pack/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TREE_DEPTH 32 /* paths of 100 bytes are not deeper than this in practice */

bool inputs_skips(const char *folder_name)
{
    static const char *const names[] = {".git", "target",      "node_modules", ".venv",
                                        "venv", "__pycache__", "dist",         "build"};

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(folder_name, names[i]) == 0)
            return true;
    return false;
}

static int check_dest(const char *raw, char out[PACK_NAME_MAX + 1], struct err *e)
{
    char text[PACK_PATH_TEXT];
    size_t len = strlen(raw);

    if (len <= PACK_NAME_MAX)
        return pack_path_check(raw, len, out, e);
    pack_path_text(raw, len, text);
    return err_set(e, ERR_LIMIT,
                   "'%s' is %zu bytes long, a name in a bundle at most %d; give it a "
                   "shorter one",
                   text, len, PACK_NAME_MAX);
}

/* Room for one more. */
static bool reserve(struct inputs *in)
{
    size_t cap = in->cap ? in->cap * 2 : 64;

    if (in->n < in->cap)
        return true;
    struct input *v = reallocarray(in->v, cap, sizeof *v);
    if (!v)
        return false;
    in->v = v;
    in->cap = cap;
    return true;
}

static int append(struct inputs *in, const char *source, const char *dest,
                  const struct stat *st, struct err *e)
{
    struct input one = {.source = strdup(source),
                        .dest = strdup(dest),
                        .size = (uint64_t)st->st_size,
                        .dev = st->st_dev,
                        .ino = st->st_ino};

    if (!one.source || !one.dest || !reserve(in)) {
        free(one.source);
        free(one.dest);
        return err_set(e, ERR_NOMEM, "out of memory");
    }
    in->v[in->n++] = one;
    in->bytes += one.size;
    return 0;
}

int inputs_add(struct inputs *in, const char *source, const char *dest, struct err *e)
{
    char normal[PACK_NAME_MAX + 1];
    struct stat st;

    if (stat(source, &st) < 0)
        return err_set(e, errno == ENOENT || errno == ENOTDIR ? ERR_CONFIG : ERR_IO,
                       "%s: %s", source, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_CONFIG, "%s: not a regular file", source);
    if (check_dest(dest, normal, e) < 0)
        return -1;
    if ((uint64_t)st.st_size > LIMIT_BUNDLE_MEMBER)
        return err_set(e, ERR_LIMIT, "%s: larger than %zu bytes, the most of one member",
                       source, LIMIT_BUNDLE_MEMBER);
    return append(in, source, normal, &st, e);
}

int inputs_add_into(struct inputs *in, const char *source, const char *folder,
                    struct err *e)
{
    const char *slash = strrchr(source, '/');
    char *dest = fsx_join(folder, slash ? slash + 1 : source);
    int rc =
        dest ? inputs_add(in, source, dest, e) : err_set(e, ERR_NOMEM, "out of memory");

    free(dest);
    return rc;
}

/* ---- folders ---- */

struct tree {
    struct inputs *in;
    size_t before; /* inputs that were there when it began: their names are taken */
    int depth;
};

static int add_tree(struct tree *t, const char *dir, const char *dest, struct err *e);

static bool is_taken(const struct tree *t, const char *dest)
{
    for (size_t i = 0; i < t->before; i++)
        if (strcmp(t->in->v[i].dest, dest) == 0)
            return true;
    return false;
}

static int add_entry(struct tree *t, const char *dir, const char *dest, const char *name,
                     struct err *e)
{
    char *path = fsx_join(dir, name), *inside = fsx_join(dest, name);
    struct stat st;
    int rc = 0;

    if (!path || !inside)
        rc = err_set(e, ERR_NOMEM, "out of memory");
    else if (lstat(path, &st) < 0)
        rc = err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    else if (S_ISDIR(st.st_mode) && !inputs_skips(name))
        rc = add_tree(t, path, inside, e);
    else if (S_ISREG(st.st_mode) && !is_taken(t, inside))
        rc = inputs_add(t->in, path, inside, e);
    free(path);
    free(inside);
    return rc;
}

static int add_tree(struct tree *t, const char *dir, const char *dest, struct err *e)
{
    DIR *d = opendir(dir);
    struct dirent *entry;
    int rc = 0;

    if (!d)
        return err_set(e, errno == ENOENT || errno == ENOTDIR ? ERR_CONFIG : ERR_IO,
                       "%s: %s", dir, strerror(errno));
    if (++t->depth > TREE_DEPTH)
        rc = err_set(e, ERR_LIMIT, "%s: folders nested deeper than %d", dir, TREE_DEPTH);
    while (rc == 0 && (entry = readdir(d)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = add_entry(t, dir, dest, entry->d_name, e);
    t->depth--;
    (void)closedir(d);
    return rc;
}

int inputs_add_tree(struct inputs *in, const char *dir, const char *folder, struct err *e)
{
    struct tree t = {.in = in, .before = in->n};

    return add_tree(&t, dir, folder, e);
}

/* ---- the whole ---- */

static int by_dest(const void *a, const void *b)
{
    const struct input *x = a, *y = b;

    return strcmp(x->dest, y->dest);
}

static void free_input(struct input *one)
{
    free(one->source);
    free(one->dest);
}

int inputs_settle(struct inputs *in, struct err *e)
{
    uint64_t unpacked = 0;
    size_t kept = 0;

    if (in->n)
        qsort(in->v, in->n, sizeof *in->v, by_dest);
    for (size_t i = 0; i < in->n; i++) {
        struct input *one = &in->v[i], *last = kept ? &in->v[kept - 1] : NULL;
        if (!last || strcmp(one->dest, last->dest) != 0) {
            in->v[kept++] = *one;
            unpacked += one->size + 512;
            continue;
        }
        if (one->dev != last->dev || one->ino != last->ino) {
            memmove(in->v + kept, one, (in->n - i) * sizeof *one);
            in->n = kept + (in->n - i);
            return err_set(e, ERR_CONFIG, "%s and %s would both be %s; name one of them",
                           last->source, one->source, one->dest);
        }
        in->bytes -= one->size;
        free_input(one);
    }
    in->n = kept;
    if (in->n >= LIMIT_BUNDLE_ENTRIES)
        return err_set(e, ERR_LIMIT, "%zu files, a bundle holds at most %d", in->n,
                       LIMIT_BUNDLE_ENTRIES - 1);
    if (unpacked > LIMIT_BUNDLE_DECODED)
        return err_set(e, ERR_LIMIT, "%llu bytes in all, a bundle holds at most %zu",
                       (unsigned long long)unpacked, LIMIT_BUNDLE_DECODED);
    return 0;
}

const struct input *inputs_find(const struct inputs *in, const char *dest)
{
    for (size_t i = 0; i < in->n; i++)
        if (strcmp(in->v[i].dest, dest) == 0)
            return &in->v[i];
    return NULL;
}

void inputs_fini(struct inputs *in)
{
    for (size_t i = 0; i < in->n; i++)
        free_input(&in->v[i]);
    free(in->v);
    *in = (struct inputs){0};
}
