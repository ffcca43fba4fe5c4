/* fuzz-secrets.c - any bytes: finds lie inside the text, in order, without overlap, and
 * do not depend on what the text is called from. */
#include "tape/secrets.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct secrets *rules;
    struct secret_hit hit;
    struct err e;
    size_t from = 0;

    if (!rules) {
        static const struct secrets_extra extra[] = {{"digits", "[0-9]{9,}"},
                                                     {"any", "x.y|secret"}};
        must(secrets_new(&rules, extra, COUNT_OF(extra), &e) == 0);
    }
    char *text = malloc(size ? size : 1); /* exactly as long: a sanitizer sees the end */
    must(text);
    memcpy(text, data, size);
    while (secrets_next(rules, text, size, from, &hit) == 0) {
        must(hit.at >= from && hit.len > 0 && hit.at + hit.len <= size && hit.rule);
        from = hit.at + hit.len;
    }
    free(text);
    return 0;
}
