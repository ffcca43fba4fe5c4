/*
 * fuzz-manifest.c - a manifest.json of any bytes: refused with a code, or read; what was
 * read is written so that it reads the same again.
 */
#include "base/limits.h"
#include "bundler/manifest.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_list(const struct manifest *m)
{
    for (size_t i = 0; i < m->n_files; i++) {
        must(m->files[i].path && m->files[i].sha256);
        must(i == 0 || strcmp(m->files[i - 1].path, m->files[i].path) < 0);
        must(manifest_find(m, m->files[i].path) == &m->files[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct manifest *m = NULL, *again = NULL;
    struct buf once = BUF_INIT(MIB(16)), twice = BUF_INIT(MIB(16));
    const char *code = NULL;
    struct err e = {0};
    char *text = malloc(size ? size : 1); /* exactly as long: a sanitizer sees the end */

    must(text);
    memcpy(text, data, size);
    if (manifest_read(&m, text, size, 0, &code, &e) < 0) {
        must(!m && code && strncmp(code, "E_MANIFEST_", 11) == 0 && e.msg[0]);
    } else {
        must(m->schema_version == MANIFEST_SCHEMA && m->assay_version);
        check_list(m);
        manifest_write(m, &once);
        must(!once.failed);
        must(manifest_read(&again, once.data, once.len, 0, &code, &e) == 0);
        manifest_write(again, &twice);
        must(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    }
    manifest_free(&m);
    manifest_free(&again);
    buf_free(&once);
    buf_free(&twice);
    free(text);
    return 0;
}
