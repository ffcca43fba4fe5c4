/*
 * secret_rules.h - the built-in credential rules, as data.
 *
 * A rule is a name and one or more shapes (secret_shape.h). Where a shape alone would
 * also fit ordinary words, the rule asks for digits, an unbroken run or entropy. Four
 * kinds need more than a shape (secret_forms.h); their shape is only how they begin.
 *
 * Threads: any; constant.
 */
#ifndef TAPE_SECRET_RULES_H
#define TAPE_SECRET_RULES_H

#include "tape/secret_forms.h"

enum {
    RULE_NOCASE = 1,  /* letters of the shape match in either case */
    RULE_NO_EDGE = 2, /* may begin inside a word */
};

#define SECRET_SHAPES_MAX 6

struct secret_rule {
    const char *name; /* also the text of the placeholder: [secret:name] */
    const char *shapes[SECRET_SHAPES_MAX + 1]; /* ends with NULL */
    unsigned flags;
    unsigned digits, run; /* least ones, of the whole find */
    double bits;          /* least entropy per byte */
    secret_form_fn *form; /* decides when the shape matched, or NULL */
    struct {              /* bytes before the shape that belong to it */
        char class;
        unsigned char least, most;
    } back;
};

extern const struct secret_rule secret_rules[];
extern const size_t n_secret_rules;

#endif
