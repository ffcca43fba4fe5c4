/*
 * findings.h - what is wrong with a bundle: a list of errors and warnings.
 *
 * A finding has a code for machines, the member it is about and a sentence for people.
 * Paths are escaped when they are put in; messages never quote contents. The list holds
 * at most LIMIT_FINDINGS; what comes later is only counted, by severity.
 *
 * Owns:    findings_fini() frees the texts. Codes are constants.
 * Threads: as its owner.
 */
#ifndef BUNDLER_FINDINGS_H
#define BUNDLER_FINDINGS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum severity { SEVERITY_WARNING, SEVERITY_ERROR };

struct finding {
    enum severity severity;
    const char *code; /* "E_BUNDLE_HASH", "W_NO_FILES" */
    char *path;       /* escaped; NULL when it is about the whole bundle */
    char *message;
};

struct findings {
    struct finding *v;
    size_t n;
    size_t errors, warnings; /* all, also those not kept in v */
};

/* path may be NULL. ERR_NOMEM only. */
int findings_add(struct findings *f, enum severity severity, const char *code,
                 const char *path, struct err *e, const char *fmt, ...)
    PRINTF_LIKE(6, 7) MUST_CHECK;
/* Move all of `from` behind what is there; `from` is empty then. ERR_NOMEM only. */
int findings_take(struct findings *f, struct findings *from, struct err *e) MUST_CHECK;
void findings_fini(struct findings *f);

const char *severity_name(enum severity severity); /* "warning", "error" */

/* [{"severity":…,"code":…,"path":…,"message":…},…], path null for the whole bundle. */
void findings_json(const struct findings *f, struct buf *out);
/* One line each: "error: E_…: message"; messages name the path. */
void findings_text(const struct findings *f, struct buf *out);

#endif
