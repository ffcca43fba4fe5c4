/*
 * scan_rules.h - the rules a scanner works with: ours, the user's, Assay's.
 *
 * Owns:    what scan.h says of struct scan_rules; this is its inside, for scan.c.
 * Threads: any; immutable.
 */
#ifndef BUNDLER_SCAN_RULES_H
#define BUNDLER_SCAN_RULES_H

#include "bundler/scan.h"
#include "tape/secret_filter.h"
#include "tape/secrets.h"

struct scan_rules {
    struct secrets *secrets;
    struct secret_filter assay; /* where one of Assay's patterns may begin */
};

#endif
