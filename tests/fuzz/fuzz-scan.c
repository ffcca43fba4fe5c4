/*
 * fuzz-scan.c - the scan finds the same whatever pieces a member arrives in.
 *
 * The first byte is the length of a piece; the rest is the member.
 */
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

/* Feed pieces of so many bytes, each from memory of its own. */
static void feed(struct scan *s, const uint8_t *data, size_t size, size_t piece,
                 struct scan_result *out)
{
    struct err e = {0};

    must(scan_member_begin(s, "files/any.txt", &e) == 0);
    for (size_t at = 0; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        char *copy = malloc(n);
        must(copy);
        memcpy(copy, data + at, n);
        must(scan_member_feed(s, copy, n, &e) == 0);
        free(copy);
    }
    must(scan_member_end(s, out, &e) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct scan *whole, *pieces;
    struct scan_result a = {0}, b = {0};

    if (size == 0)
        return 0;
    if (!whole) {
        whole = scanner();
        pieces = scanner();
    }
    feed(whole, data + 1, size - 1, size, &a);
    feed(pieces, data + 1, size - 1, (size_t)*data + 1, &b);
    must(a.secrets == b.secrets && a.assays == b.assays && a.n == b.n);
    must(a.n <= a.secrets + a.assays && (a.n > 0) == (a.secrets + a.assays > 0));
    for (size_t i = 0; i < a.n; i++) {
        const struct scan_hit *x = &a.hits[i], *y = &b.hits[i];
        must(x->rule && strcmp(x->rule, y->rule) == 0 && x->at < size - 1);
        must(x->at == y->at && x->form == y->form && x->assay_only == y->assay_only);
    }
    return 0;
}
