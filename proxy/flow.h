/*
 * flow.h - one request, from the client's last byte to its end: the product in a table
 * of steps (flow.c).
 *
 * Owns:    a flow lives from flow_begin() until its request is done and its upstream
 *          call, if any, has ended.
 * Threads: its worker's.
 */
#ifndef PROXY_FLOW_H
#define PROXY_FLOW_H

#include "net/httpd.h"

/* The HTTP server's events (conn is a struct conn). */
void flow_begin(void *conn, struct http_request *r);
void flow_done(struct http_request *r, bool complete);
bool flow_hangup(struct http_request *r);

#endif
