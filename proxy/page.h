/*
 * page.h - results on stdout.
 *
 * Recorded bytes are other people's: on a terminal their control characters are shown,
 * not sent. Into a file or a pipe everything goes as it is.
 *
 * Threads: main.
 */
#ifndef PROXY_PAGE_H
#define PROXY_PAGE_H

#include "base/buf.h"

#include <yyjson.h>

/* Write out what the buffer holds and empty it. */
int page_flush(struct buf *out, struct err *e) MUST_CHECK;

/* Write a JSON document, indented, with a line end. */
int page_json(const yyjson_mut_doc *doc, struct err *e) MUST_CHECK;

#endif
