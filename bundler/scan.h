/*
 * scan.h - the secret scan of a bundle's members, a block at a time.
 *
 * Rules are those of tape/secrets.h plus a file of the user's own (--rules). Credentials
 * are found as they stand, inside base64 and inside percent-encoding, also across the
 * blocks they arrive in. Text that only Assay's three patterns dislike (scan_assay.h)
 * is told apart: it is not a credential, but their verifier would refuse the bundle.
 *
 * One scanner takes one member after the other: scan_member_begin(), any number of
 * scan_member_feed(), scan_member_end(). Memory is bounded whatever the size.
 *
 * Owns:    scan_rules are immutable and shared; a scanner keeps a pointer to them. Hits
 *          live until the next scan_member_begin() of the same scanner.
 * Threads: rules any; a scanner one at a time (make one per thread).
 */
#ifndef BUNDLER_SCAN_H
#define BUNDLER_SCAN_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scan_rules;
struct scan;

enum scan_form { SCAN_PLAIN, SCAN_BASE64, SCAN_PERCENT };
const char *scan_form_name(enum scan_form form); /* "", "base64", "percent-encoding" */

struct scan_hit {
    const char *rule; /* name; lives as long as the rules */
    uint64_t at;      /* offset in the member of the (encoded) text it was found in */
    uint64_t line;    /* the line of that offset, from 1 */
    enum scan_form form;
    bool assay_only; /* no credential, but one of Assay's patterns: W_ASSAY_SCAN */
};

/* What a member holds: the first hits, credentials before text that only Assay's
 * patterns dislike, and how many there were in all. */
struct scan_result {
    const struct scan_hit *hits;
    size_t n;                 /* at most LIMIT_SCAN_HITS, half of it for each kind */
    uint64_t secrets, assays; /* counted, beyond n too */
};

/* rules_file: NULL, or a JSON array of {"name", "regex"} (POSIX extended); errors name
 * the file and the rule. */
int scan_rules_new(struct scan_rules **out, const char *rules_file,
                   struct err *e) MUST_CHECK;
void scan_rules_free(struct scan_rules **rules);

int scan_new(struct scan **out, const struct scan_rules *rules, struct err *e) MUST_CHECK;
void scan_free(struct scan **s);

/* The path decides what is looked at: Assay does not scan manifest.json. */
int scan_member_begin(struct scan *s, const char *path, struct err *e) MUST_CHECK;
int scan_member_feed(struct scan *s, const void *data, size_t len,
                     struct err *e) MUST_CHECK;
int scan_member_end(struct scan *s, struct scan_result *out, struct err *e) MUST_CHECK;

#endif
