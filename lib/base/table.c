/* table.c - see table.h. */
#include "base/table.h"

#include "base/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void table_init(struct table *t, const struct table_column *columns)
{
    *t = (struct table){.columns = columns};
    while (columns[t->n_columns].name)
        t->n_columns++;
}

void table_fini(struct table *t)
{
    for (size_t i = 0; i < t->n_cells; i++)
        free(t->cells[i]);
    free(t->cells);
    *t = (struct table){.columns = t->columns, .n_columns = t->n_columns};
}

/* Takes over the text. */
static void put(struct table *t, char *text)
{
    if (text && t->n_cells == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 64;
        char **cells = realloc(t->cells, cap * sizeof *cells);
        if (cells) {
            t->cells = cells;
            t->cap = cap;
        } else {
            free(text);
            text = NULL;
        }
    }
    if (text)
        t->cells[t->n_cells++] = text;
    else
        t->failed = true;
}

void table_add(struct table *t, const char *text)
{
    put(t, strdup(text));
}

void table_addf(struct table *t, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        text = NULL;
    va_end(ap);
    put(t, text);
}

/* UTF-8 characters: bytes that do not continue one. */
static size_t characters(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

/* Append the first n characters. */
static void add_characters(struct buf *out, const char *s, size_t n)
{
    const char *end = s;

    while (*end && (n > 0 || ((unsigned char)*end & 0xc0) == 0x80)) {
        n -= ((unsigned char)*end & 0xc0) != 0x80;
        end++;
    }
    buf_add(out, s, (size_t)(end - s));
}

static void pad(struct buf *out, size_t n)
{
    while (n-- > 0)
        buf_char(out, ' ');
}

static void print_cell(const struct table *t, size_t column, const char *text,
                       size_t width, struct buf *out)
{
    size_t n = characters(text);
    bool last = column + 1 == t->n_columns;
    size_t blank = n < width ? width - n : 0;

    if (t->columns[column].right)
        pad(out, blank);
    if (n > width) {
        add_characters(out, text, width - 1);
        buf_str(out, "\xe2\x80\xa6");
    } else {
        buf_str(out, text);
    }
    if (!t->columns[column].right && !last)
        pad(out, blank);
    buf_str(out, last ? "\n" : "  ");
}

int table_print(const struct table *t, struct buf *out, struct err *e)
{
    size_t n = t->n_columns, *width = calloc(n, sizeof *width);

    if (!width || t->failed) {
        free(width);
        return err_set(e, ERR_NOMEM, "table: out of memory");
    }
    for (size_t c = 0; c < n; c++)
        width[c] = characters(t->columns[c].name);
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t c = i % n, w = characters(t->cells[i]), most = t->columns[c].most;
        if (most && w > most)
            w = most;
        if (w > width[c])
            width[c] = w;
    }
    for (size_t c = 0; c < n; c++)
        print_cell(t, c, t->columns[c].name, width[c], out);
    for (size_t i = 0; i < t->n_cells; i++)
        print_cell(t, i % n, t->cells[i], width[i % n], out);
    free(width);
    return buf_check(out, "table", e);
}
