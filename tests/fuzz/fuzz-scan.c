/*
 * fuzz-scan.c - the scan finds the same whatever pieces a member arrives in, and
 * wherever in a long member the text stands.
 *
 * The first byte is the length of a piece. The second, when large, moves the text down to
 * somewhere around the edges of the scan's window: that takes time, so not every input
 * does it. The rest is the text.
 */
#include "base/limits.h"
#include "bundler/scan.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct scan *scanner(void)
{
    static struct scan_rules *rules;
    struct scan *s = NULL;
    struct err e = {0};

    if (!rules)
        must(scan_rules_new(&rules, NULL, &e) == 0);
    must(scan_new(&s, rules, &e) == 0);
    return s;
}

static void feed(struct scan *s, const uint8_t *data, size_t size, size_t piece)
{
    struct err e = {0};

    for (size_t at = 0; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        char *copy = malloc(n); /* exactly as long: a sanitizer sees the end */
        must(copy);
        memcpy(copy, data + at, n);
        must(scan_member_feed(s, copy, n, &e) == 0);
        free(copy);
    }
}

/* A line of so many dots, then the text in pieces. */
static struct scan_result look(struct scan *s, size_t dots, const uint8_t *data,
                               size_t size, size_t piece)
{
    static uint8_t line[MIB(1)];
    struct scan_result r = {0};
    struct err e = {0};

    must(dots < sizeof line);
    memset(line, '.', dots);
    line[dots] = '\n';
    must(scan_member_begin(s, "files/any.txt", &e) == 0);
    feed(s, line, dots + 1, MIB(1));
    feed(s, data, size, piece);
    must(scan_member_end(s, &r, &e) == 0);
    return r;
}

/* The same finds, further down. */
static void same(const struct scan_result *a, const struct scan_result *b, size_t down)
{
    must(a->secrets == b->secrets && a->assays == b->assays && a->n == b->n);
    for (size_t i = 0; i < a->n; i++) {
        const struct scan_hit *x = &a->hits[i], *y = &b->hits[i];
        must(strcmp(x->rule, y->rule) == 0 && x->at + down == y->at);
        must(x->form == y->form && x->assay_only == y->assay_only);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct scan *whole, *other;
    struct scan_result a, b;

    if (size < 2)
        return 0;
    if (!whole) {
        whole = scanner();
        other = scanner();
    }
    const uint8_t *text = data + 2;
    size_t piece = (size_t)data[0] + 1;
    size_t down = data[1] < 224 ? 0 : KIB(238) + (data[1] - (size_t)224) * 600;

    size -= 2;
    a = look(whole, 0, text, size, size + 1);
    must(a.n <= a.secrets + a.assays && (a.n > 0) == (a.secrets + a.assays > 0));
    for (size_t i = 0; i < a.n; i++)
        must(a.hits[i].rule && a.hits[i].at <= size);
    b = look(other, down, text, size, piece);
    same(&a, &b, down);
    return 0;
}
