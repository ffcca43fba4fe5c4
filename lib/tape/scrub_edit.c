/* scrub_edit.c - see scrub_edit.h. */
#include "tape/scrub_edit.h"

#include <stdlib.h>
#include <string.h>

void scrub_edits_free(struct scrub_edits *x)
{
    free(x->v);
    *x = (struct scrub_edits){0};
}

void scrub_edits_add(struct scrub_edits *x, size_t at, size_t len, const char *rule)
{
    if (x->failed || len == 0)
        return;
    if (x->n == x->cap) {
        size_t cap = x->cap ? x->cap * 2 : 16;
        struct scrub_edit *v = realloc(x->v, cap * sizeof *v);
        if (!v) {
            x->failed = true;
            return;
        }
        x->v = v;
        x->cap = cap;
    }
    x->v[x->n++] = (struct scrub_edit){x->base + at, len, rule};
}

/* By place; of two at one place the longer first; bare deletions before names: they are
 * the rest of something that is named already. */
static int compare(const void *a, const void *b)
{
    const struct scrub_edit *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->len != y->len)
        return x->len > y->len ? -1 : 1;
    if (!x->rule || !y->rule)
        return !y->rule - !x->rule;
    return strcmp(x->rule, y->rule);
}

void scrub_edits_settle(struct scrub_edits *x)
{
    size_t kept = 0;

    if (x->n == 0)
        return;
    qsort(x->v, x->n, sizeof *x->v, compare);
    for (size_t i = 1; i < x->n; i++) {
        struct scrub_edit *last = &x->v[kept], *next = &x->v[i];
        size_t end = last->at + last->len;
        if (next->at >= end) {
            x->v[++kept] = *next;
            continue;
        }
        if (next->at + next->len > end)
            last->len = next->at + next->len - last->at;
    }
    x->n = kept + 1;
}

int scrub_edits_check(const struct scrub_edits *x, struct err *e)
{
    return x->failed ? err_set(e, ERR_NOMEM, "scrub: out of memory") : 0;
}

static size_t new_length(const struct scrub_edit *edit)
{
    return edit->rule ? strlen(edit->rule) + sizeof "[secret:]" - 1 : 0;
}

/* Where each piece ends in the new text: a boundary inside an edit moves to its end. */
static void move_pieces(const struct scrub_edits *x, struct scrub_pieces *pieces)
{
    uint64_t end = 0, before = 0, gone = 0, come = 0;
    size_t i = 0;

    for (size_t k = 0; k < pieces->n; k++) {
        end += pieces->lens[k];
        while (i < x->n && x->v[i].at + x->v[i].len <= end) {
            gone += x->v[i].len;
            come += new_length(&x->v[i++]);
        }
        uint64_t moved = end - gone + come;
        if (i < x->n && x->v[i].at < end)
            moved = x->v[i].at - gone + come + new_length(&x->v[i]);
        pieces->lens[k] = moved - before;
        before = moved;
    }
}

void scrub_edits_apply(const struct scrub_edits *x, const char *text, size_t len,
                       struct scrub_pieces *pieces, struct buf *out)
{
    size_t at = 0;

    for (size_t i = 0; i < x->n; i++) {
        const struct scrub_edit *edit = &x->v[i];
        buf_add(out, text + at, edit->at - at);
        if (edit->rule) {
            buf_str(out, "[secret:");
            buf_str(out, edit->rule);
            buf_char(out, ']');
        }
        at = edit->at + edit->len;
    }
    buf_add(out, text + at, len - at);
    if (pieces)
        move_pieces(x, pieces);
}
