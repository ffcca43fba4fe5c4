/*
 * httpd_internal.h - what httpd.c and httpd_request.c share; nobody else includes it.
 *
 * httpd.c owns connections and the daemon, httpd_request.c requests and their answers.
 * A connection knows its current request, a request its connection.
 */
#ifndef NET_HTTPD_INTERNAL_H
#define NET_HTTPD_INTERNAL_H

#include "net/httpd.h"

#include <microhttpd.h>

#define HTTPD_CONN_MAGIC 0x636f6e6eu
#define HTTPD_REQUEST_MAGIC 0x72657175u

struct httpd {
    struct MHD_Daemon *mhd;
    struct loop *loop;
    struct loop_watch watch; /* MHD's own epoll */
    struct loop_timer idle;  /* when MHD wants to close idle connections */
    struct httpd_events events;
    size_t max_body;
    size_t n_conns;
    bool dirty;                   /* MHD_run() is due */
    struct httpd_conn *adding;    /* during MHD_add_connection() */
    struct httpd_conn *half_open; /* FIN seen, waiting for the fresh edge */
    struct httpd_conn *all;
    struct http_request *spare; /* finished requests, memory kept */
    size_t n_spare;
};

struct httpd_conn {
    unsigned magic;
    struct httpd *h;
    void *user;
    int fd;
    bool tcp;
    bool fin;  /* the client will send no more */
    bool gone; /* the client cannot be answered any more */
    bool closed;
    bool listed; /* in half_open */
    struct loop_watch watch;
    struct http_request *current;
    struct httpd_conn *next_half_open;
    struct httpd_conn *next, **link; /* in h->all */
    struct loop_job free_job;
};

enum request_state {
    READING,  /* head and body are coming in */
    ASKED,    /* on_request was called, no answer yet */
    ANSWERED, /* an answer is there, not queued yet */
    SENDING,  /* queued */
};

struct http_request {
    unsigned magic;
    enum request_state state;
    struct httpd_conn *conn;
    struct MHD_Connection *mhd;
    char *target;
    const char *method;
    struct header *more_fields;
    struct headers headers; /* .v points to more_fields or to fields */
    struct buf body;
    bool has_body;
    bool too_large;
    bool suspended;
    bool seen;  /* on_request was called */
    int refuse; /* status to refuse with once the upload is over */
    const char *refuse_why;
    struct MHD_Response *response;
    bool borrowed; /* the response is a canned one's */
    int status;
    http_source_fn *source;
    void *source_arg;
    void *user;
    struct http_request *next_spare;
    struct header fields[64]; /* borrowed from libmicrohttpd's pool; last: not zeroed */
};

/* httpd_request.c: what libmicrohttpd calls for requests (cls is the httpd). */
void *httpd_on_target(void *cls, const char *target, struct MHD_Connection *mhd);
enum MHD_Result httpd_on_access(void *cls, struct MHD_Connection *mhd, const char *url,
                                const char *method, const char *version,
                                const char *upload, size_t *upload_len, void **con_cls);
void httpd_on_completed(void *cls, struct MHD_Connection *mhd, void **con_cls,
                        enum MHD_RequestTerminationCode why);

/* httpd.c: the FIN of this connection may have been swallowed with its last request;
 * have libmicrohttpd look again once nobody works on one. */
void httpd_ask_for_edge(struct httpd_conn *c);

#endif
