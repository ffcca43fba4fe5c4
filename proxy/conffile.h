/*
 * conffile.h - reading a JSON configuration file by tables of keys.
 *
 * A table names the keys of an object, how each value is read and what its texts must
 * look like. Reading walks document and table side by side and keeps the path, so that
 * every complaint names file, line and key: "retape.json:7: match.ignore[0]: ...".
 * Unknown keys get the nearest known one; keys that stand twice are refused.
 *
 * Owns:    conffile_text() copies into the caller's list of owned texts.
 * Threads: one reader, one thread.
 * Errors:  ERR_CONFIG; a reader is left at the place of its first error.
 */
#ifndef PROXY_CONFFILE_H
#define PROXY_CONFFILE_H

#include "base/json.h"
#include "proxy/textcheck.h"

#define CONFFILE_DEPTH 4 /* match, ignore, [n], pointer */
#define CONFFILE_KEYS 16 /* keys of one object */

/* A growing NULL-terminated list. It holds the pointers, not the texts. */
struct conffile_texts {
    const char **v;
    size_t n;
};

struct conffile {
    const char *file, *text;
    size_t len;
    struct conffile_texts *owned; /* copies of texts, kept by the caller */
    void *item;                   /* where conffile_field() puts texts; zeroed ... */
    size_t item_size;             /* ... for each element of a list */
    size_t path[CONFFILE_DEPTH];  /* where we are, for place_line() */
    size_t ends[CONFFILE_DEPTH];  /* lengths of label at each level */
    size_t depth;
    char label[256]; /* the same in words */
};

struct conffile_key;
typedef int conffile_read_fn(struct conffile *f, const struct conffile_key *k,
                             yyjson_val *v, struct err *e);
/* Called for each element of a list: with its text, or NULL when it was an object. */
typedef int conffile_add_fn(struct conffile *f, const struct conffile_key *k,
                            const char *text, struct err *e);

struct conffile_key {
    const char *name;
    conffile_read_fn *read;
    const struct conffile_key *inside; /* of the object, or of the objects of a list */
    const struct textcheck *check;     /* of each text */
    conffile_add_fn *add;
    size_t offset; /* for conffile_field(): into item; else the caller's */
};

/* Readers for tables. An object's keys, each at most once; a list of texts, of objects,
 * or of both where there are a check and keys; one text into the item. */
conffile_read_fn conffile_object, conffile_list, conffile_field;

/* A checked copy of a text. */
int conffile_text(struct conffile *f, const struct textcheck *check, yyjson_val *v,
                  const char **out, struct err *e) MUST_CHECK;
/* A list or object that is no longer than LIMIT_CONFIG_ENTRIES. */
int conffile_size(struct conffile *f, yyjson_val *v, struct err *e) MUST_CHECK;

/* Step into a child (key NULL: an element) and out again. */
void conffile_enter(struct conffile *f, size_t child, const char *key);
void conffile_leave(struct conffile *f);

/* Errors at the place we are. Always -1. in_place() puts it in front of *e. */
int conffile_in_place(struct conffile *f, struct err *e);
int conffile_complain(struct conffile *f, struct err *e, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
int conffile_wrong_type(struct conffile *f, yyjson_val *v, const char *wanted,
                        struct err *e);

int conffile_texts_add(struct conffile_texts *t, const char *text,
                       struct err *e) MUST_CHECK;
/* A copy in f->owned; NULL with *e when out of memory. */
char *conffile_keep(struct conffile *f, const char *text, size_t len, struct err *e);

/* Read the file and the object in it by a table that ends with a NULL name. */
int conffile_load(struct conffile *f, const struct conffile_key *keys,
                  struct err *e) MUST_CHECK;

/* Every key of a table, one a line: "match.ignore", "tools[].name". */
void conffile_known_keys(const struct conffile_key *keys, struct buf *out);

#endif
