/* Two bodies from one input, split at its first 0 byte: whatever they are, the texts of
 * a comparison stay short, valid JSON, and its distance between 0 and 1. */
#include "base/json.h"
#include "tape/excerpt.h"
#include "tape/jsondiff.h"
#include "tape/miss.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text)
{
    yyjson_doc *doc = NULL;
    struct err e = {0};

    if (!text)
        return;
    must(strlen(text) <= EXCERPT_MAX);
    must(json_read(&doc, text, strlen(text), &e) == 0);
    yyjson_doc_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *a = (const char *)data;
    const char *zero = size ? memchr(a, 0, size) : NULL;
    size_t a_len = zero ? (size_t)(zero - a) : size;
    const char *b = zero ? zero + 1 : a;
    size_t b_len = zero ? size - a_len - 1 : 0;
    struct jsondiff d;
    struct err e = {0};

    must(jsondiff_compare(&d, a, a_len, b, b_len, 20, &e) == 0);
    must(d.distance >= 0 && d.distance <= 1);
    must((d.n + d.n_more > 0) == (d.distance > 0));
    for (size_t i = 0; i < d.n; i++) {
        must(json_is_utf8(d.list[i].at, strlen(d.list[i].at)));
        check(d.list[i].recorded);
        check(d.list[i].asked);
    }
    jsondiff_fini(&d);
    return 0;
}
