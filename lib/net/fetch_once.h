/*
 * fetch_once.h - one blocking GET, as an ordinary client behind a proxy would make it.
 *
 * For `retape doctor`, which wants to see what a client sees.
 *
 * Threads: any; blocks for at most ten seconds.
 */
#ifndef NET_FETCH_ONCE_H
#define NET_FETCH_ONCE_H

#include "base/buf.h"

/* The body of a 200 answer. proxy is "host:port"; ca_file is what the client trusts. */
int fetch_once(const char *url, const char *proxy, const char *ca_file, struct buf *out,
               struct err *e) MUST_CHECK;

#endif
