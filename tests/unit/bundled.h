/*
 * bundled.h - bundles for tests of what reads them, made member by member.
 */
#ifndef TESTS_BUNDLED_H
#define TESTS_BUNDLED_H

#include "base/fsx.h"
#include "base/limits.h"
#include "bundler/manifest.h"
#include "pack/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bundled {
    struct manifest *m;
    struct {
        const char *path, *text;
    } members[16]; /* in the order of the archive; borrowed */
    size_t n;
};

__attribute__((unused)) static void bundled_must(int rc, const struct err *e)
{
    if (rc == 0)
        return;
    printf("Bail out! %s\n", e->msg);
    exit(99);
}

__attribute__((unused)) static void bundled_init(struct bundled *b)
{
    struct err e = {0};

    *b = (struct bundled){0};
    bundled_must(manifest_new(&b->m, &e), &e);
    bundled_must(manifest_set(&b->m->assay_version, "5.4.0", &e), &e);
}

/* In the order of paths. */
__attribute__((unused)) static void bundled_add(struct bundled *b, const char *path,
                                                const char *text)
{
    char digest[DIGEST_KEY_TEXT];
    struct err e = {0};

    digest_key_text(text, strlen(text), digest);
    bundled_must(manifest_add_file(b->m, path, digest, strlen(text), &e), &e);
    b->members[b->n].path = path;
    b->members[b->n++].text = text;
}

__attribute__((unused)) static int bundled_sink(void *arg, const void *data, size_t len,
                                                struct err *e)
{
    (void)e;
    buf_add(arg, data, len);
    return 0;
}

/* Write the archive and forget it all. */
__attribute__((unused)) static void bundled_write(struct bundled *b, const char *path)
{
    struct buf manifest = BUF_INIT(MIB(1)), archive = BUF_INIT(MIB(16));
    struct pack_writer *w = NULL;
    struct err e = {0};

    manifest_write(b->m, &manifest);
    bundled_must(pack_writer_open(&w, bundled_sink, &archive, &e), &e);
    bundled_must(pack_writer_member(w, PACK_MANIFEST, manifest.len, &e), &e);
    bundled_must(pack_writer_bytes(w, manifest.data, manifest.len, &e), &e);
    for (size_t i = 0; i < b->n; i++) {
        size_t len = strlen(b->members[i].text);
        bundled_must(pack_writer_member(w, b->members[i].path, len, &e), &e);
        if (len > 0)
            bundled_must(pack_writer_bytes(w, b->members[i].text, len, &e), &e);
    }
    bundled_must(pack_writer_finish(w, &e), &e);
    pack_writer_close(&w);
    bundled_must(fsx_write_file(path, archive.data, archive.len, 0644, &e), &e);
    buf_free(&manifest);
    buf_free(&archive);
    manifest_free(&b->m);
}

#endif
