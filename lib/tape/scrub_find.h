/*
 * scrub_find.h - find what is to be replaced in texts, JSON, forms and multipart bodies.
 *
 * Inside of scrub: the rule set's parts are open here.
 *
 * Threads: any; rules are read-only.
 */
#ifndef TAPE_SCRUB_FIND_H
#define TAPE_SCRUB_FIND_H

#include "tape/scrub_edit.h"
#include "tape/scrub_json.h"
#include "tape/scrub_names.h"
#include "tape/secret_scan.h"

struct scrub {
    struct secrets *secrets;
    struct scrub_names headers, fields, query, google_query, exempt;
    const char **rules; /* every rule name once, in order */
    size_t n_rules;
    bool always_close; /* user rules: a glance does not tell that a body is clean */
};

/* Places are those of the text plus edits->base. */

/* By pattern only. */
void scrub_find_text(const struct scrub *s, const char *text, size_t len,
                     struct scrub_edits *edits);

/* A string that was decoded: by pattern, and by field name where it holds JSON. */
void scrub_find_inner(const struct scrub *s, const char *text, size_t len, unsigned depth,
                      struct scrub_edits *edits);

/* One key or string value of a JSON text. *opaque tells that the protocol needs it as
 * it is. */
void scrub_find_string(const struct scrub *s, const struct scrub_json *j,
                       enum scrub_json_kind kind, const struct scrub_json_token *t,
                       unsigned depth, bool *opaque, struct scrub_edits *edits);

/* name=value&...: `names` are tried one after the other; NULL ends them. */
void scrub_find_pairs(const struct scrub *s, const struct scrub_names *const *names,
                      const char *text, size_t len, struct scrub_edits *edits);

/* For secret_scan_glance(): does a credential field or a hidden letter stand here? */
secret_watch_fn scrub_find_is_field;

#endif
