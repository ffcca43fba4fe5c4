/*
 * verify.h - is a bundle whole, what it says it is, and safe to share?
 *
 * bundle_verify() reads one descriptor once. In that pass it checks structure, paths and
 * ceilings (pack.h), the manifest, hash and size of every member, members that are not
 * listed and listed ones that are not there, trace_path, what a bundle must at least
 * hold, and scans everything for secrets. A sink may take the members' bytes in the same
 * pass: what it was given is what was checked, provided the verdict is good.
 *
 * An archive that cannot be read to its end is refused: one error finding with the code
 * of the refusal, and `refused` set. That is a verdict too, not an error of the call.
 *
 * Owns:    verdict_fini() frees all a verdict holds.
 * Threads: the calling one and the reader's.
 * Errors:  -1 only for what is not the bundle's fault (memory, the sink, the disk).
 */
#ifndef BUNDLER_VERIFY_H
#define BUNDLER_VERIFY_H

#include "bundler/findings.h"
#include "bundler/manifest.h"
#include "bundler/scan.h"
#include "pack/pack.h"

/* Takes members as they pass; any function may be NULL. -1 ends the reading. The
 * manifest comes first, whole, and parsed. */
struct verify_sink {
    int (*manifest)(void *arg, const struct manifest *m, const char *text, size_t len,
                    struct err *e);
    int (*begin)(void *arg, const struct pack_member *member, struct err *e);
    int (*bytes)(void *arg, const void *data, size_t len, struct err *e);
    int (*end)(void *arg, struct err *e);
    void *arg;
};

struct verify_options {
    const struct pack_limits *limits; /* NULL: the defaults */
    size_t manifest_depth;            /* 0: LIMIT_BUNDLE_DEPTH */
    const struct scan_rules *rules;   /* NULL: no secret scan */
    bool assay_strict;                /* W_ASSAY_SCAN is an error in files/, cassettes/ */
    bool lacks_is_error;              /* less than the minimum contents is an error */
    const struct verify_sink *sink;   /* NULL: nobody */
    void (*progress)(void *arg, uint64_t unpacked); /* NULL; now and then */
    void *progress_arg;
};

struct verdict {
    struct findings findings;  /* good when findings.errors is 0 */
    bool refused;              /* could not be read to the end */
    enum pack_refusal why;     /* PACK_OK unless the archive itself was refused */
    struct manifest *manifest; /* NULL when it was not reached or not understood */
    struct pack_digests digests;
    size_t members; /* without the manifest */
    uint64_t unpacked;
};

/* The descriptor stays the caller's. `out` is overwritten; fini it in any case. */
int bundle_verify(int fd, const struct verify_options *options, struct verdict *out,
                  struct err *e) MUST_CHECK;
/* Opens the file too; a file that cannot be opened is ERR_IO. */
int bundle_verify_file(const char *path, const struct verify_options *options,
                       struct verdict *out, struct err *e) MUST_CHECK;
void verdict_fini(struct verdict *v);

/* The findings of scanning one member, put into a list by the policy for its place. */
int verify_add_scan(struct findings *f, const char *path, const struct scan_result *scan,
                    bool assay_strict, struct err *e) MUST_CHECK;

#endif
