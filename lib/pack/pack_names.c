/* pack_names.c - see pack_names.h. */
#include "pack/pack_names.h"

#include "base/limits.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256

/* Equal hashes are taken for equal paths: who makes them collide gets a refusal. */
struct pack_name {
    struct digest_xxh3 folded; /* of the path in lower case */
    uint64_t exact;            /* of the path as it is; 0 marks a free place */
    bool folder;
};

static struct pack_name name_of(const char *path, size_t len, bool folder)
{
    struct pack_name name = {.folder = folder};
    char small[LIMIT_BUNDLE_PATH_ROOM];

    must(len <= sizeof small);
    for (size_t i = 0; i < len; i++)
        small[i] = path[i] >= 'A' && path[i] <= 'Z' ? (char)(path[i] | 0x20) : path[i];
    name.folded = digest_xxh3(small, len);
    name.exact = digest_xxh3(path, len).lo | 1;
    return name;
}

/* The place of a name, or the free one where it belongs. */
static struct pack_name *find_place(struct pack_name *table, size_t room,
                                    const struct pack_name *name)
{
    size_t at = (size_t)name->folded.lo & (room - 1);

    while (table[at].exact && (table[at].folded.lo != name->folded.lo ||
                               table[at].folded.hi != name->folded.hi))
        at = (at + 1) & (room - 1);
    return &table[at];
}

static int grow(struct pack_names *n, struct pack_fault *f)
{
    size_t room = n->room ? n->room * 2 : FIRST_ROOM;
    struct pack_name *table = calloc(room, sizeof *table);

    if (!table)
        return pack_fault_set(f, PACK_UNREADABLE, ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < n->room; i++)
        if (n->table[i].exact)
            *find_place(table, room, &n->table[i]) = n->table[i];
    free(n->table);
    n->table = table;
    n->room = room;
    return 0;
}

static int put(struct pack_names *n, const char *path, size_t len, bool folder,
               struct pack_fault *f)
{
    struct pack_name name = name_of(path, len, folder);

    if (n->used * 2 >= n->room && grow(n, f) < 0)
        return -1;
    struct pack_name *place = find_place(n->table, n->room, &name);
    if (!place->exact) {
        *place = name;
        if (++n->used > 2 * (size_t)LIMIT_BUNDLE_ENTRIES)
            return pack_fault_set(f, PACK_LIMIT_ENTRIES, ERR_LIMIT,
                                  "replay bundle has too many folders");
        return 0;
    }
    if (place->exact != name.exact)
        return pack_fault_set(f, PACK_COLLISION, ERR_FORMAT,
                              "replay bundle has paths that differ only in case");
    if (place->folder != folder)
        return pack_fault_set(f, PACK_COLLISION, ERR_FORMAT,
                              "replay bundle has a path that is a file and a folder");
    if (!folder)
        return pack_fault_set(f, PACK_DUPLICATE_PATH, ERR_FORMAT,
                              "replay bundle contains duplicate entry paths");
    return 0;
}

int pack_names_add(struct pack_names *n, const char *path, struct pack_fault *f)
{
    for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/'))
        if (put(n, path, (size_t)(p - path), true, f) < 0)
            return -1;
    return put(n, path, strlen(path), false, f);
}

void pack_names_fini(struct pack_names *n)
{
    free(n->table);
    *n = (struct pack_names){0};
}
