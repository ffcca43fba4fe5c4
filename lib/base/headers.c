/* headers.c - see headers.h. */
#include "base/headers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const hop_by_hop[] = {
    "Connection",
    "Keep-Alive",
    "Proxy-Authenticate",
    "Proxy-Authorization",
    "Proxy-Connection",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
};

void headers_fini(struct headers *h)
{
    for (size_t i = 0; i < h->n; i++) {
        free(h->v[i].name);
        free(h->v[i].value);
    }
    free(h->v);
    *h = (struct headers){0};
}

int headers_add_n(struct headers *h, const char *name, size_t name_len, const char *value,
                  size_t value_len, struct err *e)
{
    if (h->n == h->cap) {
        size_t cap = h->cap ? h->cap * 2 : 16;
        struct header *v = realloc(h->v, cap * sizeof *v);
        if (!v)
            return err_set(e, ERR_NOMEM, "headers: out of memory");
        h->v = v;
        h->cap = cap;
    }
    char *n = strndup(name, name_len);
    char *val = strndup(value, value_len);
    if (!n || !val) {
        free(n);
        free(val);
        return err_set(e, ERR_NOMEM, "headers: out of memory");
    }
    h->v[h->n++] = (struct header){n, val};
    return 0;
}

int headers_add(struct headers *h, const char *name, const char *value, struct err *e)
{
    return headers_add_n(h, name, strlen(name), value, strlen(value), e);
}

int headers_copy(struct headers *to, const struct headers *from, struct err *e)
{
    for (size_t i = 0; i < from->n; i++)
        if (headers_add(to, from->v[i].name, from->v[i].value, e) < 0)
            return -1;
    return 0;
}

int headers_set_value(struct headers *h, size_t i, const char *value, struct err *e)
{
    must(i < h->n);
    char *copy = strdup(value);
    if (!copy)
        return err_set(e, ERR_NOMEM, "headers: out of memory");
    free(h->v[i].value);
    h->v[i].value = copy;
    return 0;
}

const char *headers_find(const struct headers *h, const char *name)
{
    for (size_t i = 0; i < h->n; i++)
        if (strcasecmp(h->v[i].name, name) == 0)
            return h->v[i].value;
    return NULL;
}

size_t headers_count(const struct headers *h, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < h->n; i++)
        n += strcasecmp(h->v[i].name, name) == 0;
    return n;
}

static void remove_at(struct headers *h, size_t i)
{
    free(h->v[i].name);
    free(h->v[i].value);
    memmove(&h->v[i], &h->v[i + 1], (h->n - i - 1) * sizeof h->v[0]);
    h->n--;
}

void headers_remove(struct headers *h, const char *name)
{
    for (size_t i = h->n; i-- > 0;)
        if (strcasecmp(h->v[i].name, name) == 0)
            remove_at(h, i);
}

bool headers_is_hop_by_hop(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(hop_by_hop); i++)
        if (strcasecmp(hop_by_hop[i], name) == 0)
            return true;
    return false;
}

static bool list_has_token(const char *list, const char *token)
{
    size_t len = strlen(token);

    while (*list) {
        list += strspn(list, " \t,");
        size_t n = strcspn(list, " \t,;");
        if (n == len && n && strncasecmp(list, token, n) == 0)
            return true;
        list += strcspn(list, ",");
    }
    return false;
}

bool headers_has_token(const struct headers *h, const char *name, const char *token)
{
    for (size_t i = 0; i < h->n; i++)
        if (strcasecmp(h->v[i].name, name) == 0 && list_has_token(h->v[i].value, token))
            return true;
    return false;
}

void headers_remove_hop_by_hop(struct headers *h)
{
    for (size_t i = h->n; i-- > 0;)
        if (strcasecmp(h->v[i].name, "Connection") != 0 &&
            headers_has_token(h, "Connection", h->v[i].name))
            remove_at(h, i);
    for (size_t i = h->n; i-- > 0;)
        if (headers_is_hop_by_hop(h->v[i].name))
            remove_at(h, i);
}
