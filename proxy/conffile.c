/* conffile.c - see conffile.h. */
#include "proxy/conffile.h"

#include "base/cli.h"
#include "base/fsx.h"
#include "base/limits.h"
#include "proxy/place.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void conffile_enter(struct conffile *f, size_t child, const char *key)
{
    size_t at = f->depth ? f->ends[f->depth - 1] : 0;
    size_t room = sizeof f->label - at;

    must(f->depth < CONFFILE_DEPTH);
    if (key)
        (void)snprintf(f->label + at, room, "%s%.60s", at ? "." : "", key);
    else
        (void)snprintf(f->label + at, room, "[%zu]", child);
    for (char *p = f->label + at; *p; p++)
        if (iscntrl((unsigned char)*p))
            *p = '?';
    f->path[f->depth] = child;
    f->ends[f->depth++] = strlen(f->label);
}

void conffile_leave(struct conffile *f)
{
    f->depth--;
    f->label[f->depth ? f->ends[f->depth - 1] : 0] = '\0';
}

/* "retape.json:7: match.ignore[0]: ..." in front of what *e says. Always -1. */
int conffile_in_place(struct conffile *f, struct err *e)
{
    size_t line = place_line(f->text, f->len, f->path, f->depth);

    if (e->code != ERR_NOMEM)
        e->code = ERR_CONFIG;
    if (f->depth == 0)
        return err_in(e, "%.160s:%zu", f->file, line);
    return err_in(e, "%.100s:%zu: %s", f->file, line, f->label);
}

int conffile_complain(struct conffile *f, struct err *e, const char *fmt, ...)
{
    char why[256];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    err_set(e, ERR_CONFIG, "%s", why);
    return conffile_in_place(f, e);
}

int conffile_wrong_type(struct conffile *f, yyjson_val *v, const char *wanted,
                        struct err *e)
{
    return conffile_complain(f, e, "must be %s, not %s", wanted,
                             yyjson_is_null(v)   ? "null"
                             : yyjson_is_bool(v) ? "a boolean"
                             : yyjson_is_num(v)  ? "a number"
                             : yyjson_is_str(v)  ? "a text"
                             : yyjson_is_arr(v)  ? "a list"
                                                 : "an object");
}

int conffile_texts_add(struct conffile_texts *t, const char *text, struct err *e)
{
    const char **v = realloc(t->v, (t->n + 2) * sizeof *v);

    if (!v)
        return err_set(e, ERR_NOMEM, "out of memory");
    v[t->n++] = text;
    v[t->n] = NULL;
    t->v = v;
    return 0;
}

char *conffile_keep(struct conffile *f, const char *text, size_t len, struct err *e)
{
    char *copy = strndup(text, len);

    if (!copy) {
        err_set(e, ERR_NOMEM, "out of memory");
        return NULL;
    }
    if (conffile_texts_add(f->owned, copy, e) < 0) {
        free(copy);
        return NULL;
    }
    return copy;
}

/* As hosts stand in parsed URLs: lower case, IPv6 without brackets. */
static void fold_host(char *host)
{
    size_t n = strlen(host);

    if (host[0] == '[') {
        memmove(host, host + 1, n - 2);
        host[n - 2] = '\0';
    }
    for (char *p = host; *p; p++)
        *p = (char)tolower((unsigned char)*p);
}

int conffile_text(struct conffile *f, const struct textcheck *check, yyjson_val *v,
                  const char **out, struct err *e)
{
    const char *text = yyjson_get_str(v);

    if (!text)
        return conffile_wrong_type(f, v, "a text", e);
    if (strlen(text) != yyjson_get_len(v))
        return conffile_complain(f, e, "must not hold a NUL character");
    if (!check->holds(text))
        return conffile_complain(f, e, "must be %s", check->wanted);
    char *copy = conffile_keep(f, text, strlen(text), e);
    if (!copy)
        return -1;
    if (check == &textcheck_host)
        fold_host(copy);
    *out = copy;
    return 0;
}

int conffile_size(struct conffile *f, yyjson_val *v, struct err *e)
{
    if (unsafe_yyjson_get_len(v) <= LIMIT_CONFIG_ENTRIES)
        return 0;
    return conffile_complain(f, e, "has more than %d entries", LIMIT_CONFIG_ENTRIES);
}

static int unknown_key(struct conffile *f, const struct conffile_key *keys,
                       const char *name, struct err *e)
{
    const char *names[CONFFILE_KEYS + 1] = {NULL};

    for (size_t i = 0; keys[i].name; i++)
        names[i] = keys[i].name;
    const char *near = cli_nearest(name, names);
    if (near)
        return conffile_complain(f, e, "unknown key, did you mean '%s'?", near);
    return conffile_complain(f, e, "unknown key; see docs/CONFIG.md for those there are");
}

int conffile_object(struct conffile *f, const struct conffile_key *k, yyjson_val *v,
                    struct err *e)
{
    const struct conffile_key *keys = k->inside;
    bool seen[CONFFILE_KEYS] = {false};
    yyjson_obj_iter it;
    yyjson_val *name;

    if (!yyjson_is_obj(v))
        return conffile_wrong_type(f, v, "an object", e);
    yyjson_obj_iter_init(v, &it);
    for (size_t child = 0; (name = yyjson_obj_iter_next(&it)); child++) {
        size_t i = 0;
        while (keys[i].name && !yyjson_equals_str(name, keys[i].name))
            i++;
        conffile_enter(f, child, yyjson_get_str(name));
        if (!keys[i].name)
            return unknown_key(f, keys, yyjson_get_str(name), e);
        if (seen[i])
            return conffile_complain(f, e, "stands here a second time");
        seen[i] = true;
        if (keys[i].read(f, &keys[i], yyjson_obj_iter_get_val(name), e) < 0)
            return -1;
        conffile_leave(f);
    }
    return 0;
}

int conffile_field(struct conffile *f, const struct conffile_key *k, yyjson_val *v,
                   struct err *e)
{
    const char *text;

    if (conffile_text(f, k->check, v, &text, e) < 0)
        return -1;
    *(const char **)(void *)((char *)f->item + k->offset) = text;
    return 0;
}

int conffile_list(struct conffile *f, const struct conffile_key *k, yyjson_val *v,
                  struct err *e)
{
    yyjson_arr_iter it;
    yyjson_val *element;

    if (!yyjson_is_arr(v))
        return conffile_wrong_type(f, v, "a list", e);
    if (conffile_size(f, v, e) < 0)
        return -1;
    yyjson_arr_iter_init(v, &it);
    for (size_t i = 0; (element = yyjson_arr_iter_next(&it)); i++) {
        const char *text = NULL;
        conffile_enter(f, i, NULL);
        if (f->item)
            memset(f->item, 0, f->item_size);
        if (k->inside && (yyjson_is_obj(element) || !k->check)) {
            if (conffile_object(f, k, element, e) < 0)
                return -1;
        } else if (conffile_text(f, k->check, element, &text, e) < 0) {
            return -1;
        }
        if (k->add(f, k, text, e) < 0)
            return -1;
        conffile_leave(f);
    }
    return 0;
}

static void put_keys(const struct conffile_key *k, const char *prefix, struct buf *out)
{
    char label[128];

    for (; k->name; k++) {
        buf_fmt(out, "%s%s\n", prefix, k->name);
        if (!k->inside)
            continue;
        (void)snprintf(label, sizeof label, "%s%s%s.", prefix, k->name,
                       k->read == conffile_list ? "[]" : "");
        put_keys(k->inside, label, out);
    }
}

void conffile_known_keys(const struct conffile_key *keys, struct buf *out)
{
    put_keys(keys, "", out);
}

int conffile_load(struct conffile *f, const struct conffile_key *keys, struct err *e)
{
    struct buf text = BUF_INIT(LIMIT_CONFIG_FILE);
    const struct conffile_key whole = {.inside = keys};
    yyjson_doc *doc = NULL;
    int rc = -1;

    if (fsx_read_file(f->file, &text, e) < 0) {
        if (e->code == ERR_IO) /* ours to name, the user's to mend */
            e->code = ERR_CONFIG;
        goto out;
    }
    f->text = buf_cstr(&text);
    f->len = text.len;
    if (json_read_config(&doc, f->text, f->len, e) < 0) {
        if (e->code != ERR_NOMEM)
            e->code = ERR_CONFIG;
        struct err inner = *e; /* "LINE:COLUMN: reason" */
        err_set(e, inner.code, "%.160s:%s", f->file, inner.msg);
        goto out;
    }
    rc = conffile_object(f, &whole, yyjson_doc_get_root(doc), e);
out:
    yyjson_doc_free(doc);
    buf_free(&text);
    f->text = NULL;
    return rc;
}
