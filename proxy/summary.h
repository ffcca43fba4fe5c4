/*
 * summary.h - how a run went, in one line per session, as JSON and as metrics.
 *
 * Threads: any.
 */
#ifndef PROXY_SUMMARY_H
#define PROXY_SUMMARY_H

#include "base/buf.h"
#include "proxy/session.h"
#include "proxy/shared.h"

/* All sessions together. */
void summary_total(struct sessions *s, struct session_counts *out);

/* {"exact":…,"failed":…,…,"session":…,"unused":…} */
void summary_session_json(const struct session *x, struct buf *out);
/* "session NAME: exact=… normalised=… miss=… unused=… recorded=… failed=…\n" each. */
void summary_text(const struct shared *s, struct buf *out);
/* The whole summary as one JSON object and LF. */
void summary_json(const struct shared *s, int exit_code, const char *reason_code,
                  struct buf *out);
/* Prometheus text of the totals. */
void summary_metrics(struct sessions *s, struct buf *out);

#endif
