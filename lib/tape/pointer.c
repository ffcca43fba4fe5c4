/* pointer.c - see pointer.h. */
#include "tape/pointer.h"

#include "base/limits.h"

#include <stdlib.h>
#include <string.h>

void pointer_fini(struct pointer *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->tokens[i].text);
    free(p->tokens);
    *p = (struct pointer){0};
}

/* Undo ~0 and ~1 in place; the new length, or -1. */
static long unescape(char *s)
{
    char *to = s;

    for (const char *at = s; *at; at++) {
        if (*at == '~') {
            at++;
            if (*at != '0' && *at != '1')
                return -1;
            *to++ = *at == '0' ? '~' : '/';
        } else {
            *to++ = *at;
        }
    }
    *to = '\0';
    return to - s;
}

static int add_token(struct pointer *p, const char *s, size_t len, struct err *e)
{
    struct pointer_token *t = &p->tokens[p->n];

    t->any = len == 1 && s[0] == '*';
    t->text = strndup(s, len);
    if (!t->text)
        return err_set(e, ERR_NOMEM, "out of memory");
    p->n++;
    long n = unescape(t->text);
    if (n < 0)
        return err_set(e, ERR_CONFIG, "in a JSON pointer `~` is written ~0 and `/` ~1");
    t->len = (size_t)n;
    return 0;
}

int pointer_init(struct pointer *p, const char *text, struct err *e)
{
    size_t n = 0;

    *p = (struct pointer){0};
    if (text[0] != '/')
        return err_set(e, ERR_CONFIG,
                       "a JSON pointer starts with `/` and names a part of the body");
    for (const char *s = text; *s; s++)
        n += *s == '/';
    if (n > LIMIT_JSON_DEPTH)
        return err_set(e, ERR_LIMIT, "a JSON pointer has at most %d tokens",
                       LIMIT_JSON_DEPTH);
    p->tokens = calloc(n, sizeof p->tokens[0]);
    if (!p->tokens)
        return err_set(e, ERR_NOMEM, "out of memory");
    while (*text) {
        size_t len = strcspn(++text, "/");
        if (add_token(p, text, len, e) < 0) {
            pointer_fini(p);
            return -1;
        }
        text += len;
    }
    return 0;
}

void picks_add(struct picks *p, yyjson_val *val)
{
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 16;
        yyjson_val **v = realloc(p->v, cap * sizeof(yyjson_val *));
        if (!v) {
            p->failed = true;
            return;
        }
        p->v = v;
        p->cap = cap;
    }
    p->v[p->n++] = val;
}

static int compare_addresses(const void *a, const void *b)
{
    const yyjson_val *x = *(yyjson_val *const *)a, *y = *(yyjson_val *const *)b;

    return (x > y) - (x < y);
}

void picks_sort(struct picks *p)
{
    if (p->n > 1)
        qsort(p->v, p->n, sizeof p->v[0], compare_addresses);
}

void picks_fini(struct picks *p)
{
    free(p->v);
    *p = (struct picks){0};
}

/* Does a token name element i? RFC 6901 section 4: digits without leading zeros. */
static bool names_element(const struct pointer_token *t, size_t i)
{
    size_t v = 0;

    if (t->any)
        return true;
    if (t->len == 0 || t->len > 18 || (t->text[0] == '0' && t->len > 1))
        return false;
    for (size_t k = 0; k < t->len; k++) {
        if (t->text[k] < '0' || t->text[k] > '9')
            return false;
        v = v * 10 + (size_t)(t->text[k] - '0');
    }
    return v == i;
}

static void pick_from(const struct pointer *p, size_t depth, yyjson_val *val,
                      struct picks *out)
{
    const struct pointer_token *t = &p->tokens[depth];
    bool last = depth + 1 == p->n;
    size_t i, n;
    yyjson_val *key, *at;

    if (yyjson_is_obj(val)) {
        yyjson_obj_foreach(val, i, n, key, at)
        {
            if (!t->any && !yyjson_equals_strn(key, t->text, t->len))
                continue;
            if (last)
                picks_add(out, key);
            else
                pick_from(p, depth + 1, at, out);
        }
    } else if (yyjson_is_arr(val)) {
        yyjson_arr_foreach(val, i, n, at)
        {
            if (!names_element(t, i))
                continue;
            if (last)
                picks_add(out, at);
            else
                pick_from(p, depth + 1, at, out);
        }
    }
}

void pointer_pick(const struct pointer *p, yyjson_val *root, struct picks *out)
{
    pick_from(p, 0, root, out);
}
