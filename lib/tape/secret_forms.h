/*
 * secret_forms.h - credentials that need more than a shape: PEM blocks, user and
 * password of a URL, bearer tokens in running text, Authorization lines.
 *
 * All work on decoded text and on raw JSON text alike (a \n escape counts as a line
 * break), and none reaches over a quotation mark.
 *
 * Threads: any; pure functions.
 */
#ifndef TAPE_SECRET_FORMS_H
#define TAPE_SECRET_FORMS_H

#include "tape/secret_shape.h"

/* The rule's shape matched at text[at]; is it one? Fills *out. */
typedef bool secret_form_fn(const char *text, size_t len, size_t at,
                            struct secret_span *out);

secret_form_fn secret_form_pem;           /* at the last dash of "-----BEGIN " */
secret_form_fn secret_form_userinfo;      /* at "://" */
secret_form_fn secret_form_bearer;        /* at "bearer" in any case */
secret_form_fn secret_form_authorization; /* at "authorization" in any case */

/* Length of a placeholder "[secret:name]" at text[at], or 0. */
size_t secret_form_placeholder(const char *text, size_t len, size_t at);

/* Where a find at text[at] really begins: "Bearer" and the start of an Authorization
 * line right before it go with it, however many. Not before `from`. */
size_t secret_form_lead(const char *text, size_t from, size_t at);

#define SECRET_NAME_MAX 48 /* rule names, ours and users' */
bool secret_form_name_ok(const char *name);

#endif
