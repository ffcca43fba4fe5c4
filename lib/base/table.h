/*
 * table.h - rows and columns for people.
 *
 * Cells are copied; widths are those of the longest cell up to the column's most, where
 * longer cells are cut with an ellipsis. Widths count characters, not bytes.
 *
 * Owns:    table_fini() frees the cells. The columns are borrowed.
 * Threads: main.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include "base/buf.h"

struct table_column {
    const char *name;
    size_t most; /* characters; 0: as long as it takes */
    bool right;  /* numbers stand to the right */
};

struct table {
    const struct table_column *columns; /* ends with a NULL name */
    size_t n_columns;
    char **cells;
    size_t n_cells, cap;
    bool failed; /* out of memory */
};

void table_init(struct table *t, const struct table_column *columns);
void table_fini(struct table *t);
/* The next cell, row by row. */
void table_add(struct table *t, const char *text);
void table_addf(struct table *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Append the heading and all rows. */
int table_print(const struct table *t, struct buf *out, struct err *e) MUST_CHECK;

#endif
