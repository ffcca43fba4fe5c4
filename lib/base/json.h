/*
 * json.h - strict JSON in, canonical JSON out, on top of yyjson.
 *
 * Reading is RFC 8259 and nothing more: no comments, no trailing commas, no BOM, no
 * NaN, no lone surrogates, UTF-8 checked, nesting bounded by LIMIT_JSON_DEPTH.
 * (json_read_config() is the one lenient reader, for retape.json.)
 *
 * Writing is canonical (docs/FORMATS.md, "Canonical JSON"): keys in order of their
 * UTF-8 bytes, the last of equal keys wins, no blanks, integers as they are, doubles
 * in their shortest form with ".0" when integral, only what must be is escaped.
 *
 * Owns:    documents are yyjson's; free with yyjson_doc_free().
 * Threads: any; a document belongs to one thread at a time.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

/* Parse. The error names the byte offset. The input need not be NUL-terminated. */
int json_read(yyjson_doc **out, const char *text, size_t len, struct err *e) MUST_CHECK;
/* With comments and trailing commas; the error begins with "LINE:COLUMN: ". */
int json_read_config(yyjson_doc **out, const char *text, size_t len,
                     struct err *e) MUST_CHECK;

/* The member of that name, the last of equal keys; NULL when there is none or the value
 * is no object. (yyjson_obj_get() takes the first.) */
yyjson_val *json_find(yyjson_val *obj, const char *key);

/* Append the canonical text of a value. */
void json_canonical(yyjson_val *val, struct buf *out);
/* The same as if some members (named by their keys) and elements were not there; `gone`
 * is in ascending order of address. */
void json_canonical_without(yyjson_val *val, yyjson_val *const *gone, size_t n_gone,
                            struct buf *out);
/* Append a canonical JSON string of these bytes; they must be UTF-8. */
void json_string(struct buf *out, const char *s, size_t len);
/* Append any bytes: a JSON string when they are UTF-8, else {"hex":"..."}. No two byte
 * strings come out alike. */
void json_bytes(struct buf *out, const char *s, size_t len);
/* Append a double by the canonical rules. */
void json_double(struct buf *out, double v);

bool json_is_utf8(const char *s, size_t len);

/* Append val at two-space indentation, keys in the order they stand (for people). */
void json_pretty(yyjson_val *val, struct buf *out);

/* yyjson as built against, "0.10.0". */
const char *json_library_version(void);

#endif
