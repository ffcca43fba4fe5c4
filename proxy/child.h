/*
 * child.h - running the user's command with the environment of PRODUCT 3.1.
 *
 * Threads: the main thread; signals are taken over with a signalfd while a child runs.
 */
#ifndef PROXY_CHILD_H
#define PROXY_CHILD_H

#include "base/buf.h"
#include "base/headers.h"

#include <stdbool.h>

/* What the environment is made from. */
struct child_setup {
    const char *proxy_url; /* http://[session[:token]@]127.0.0.1:PORT */
    const char *origin;    /* http://127.0.0.1:PORT */
    const char *bundle;    /* merged trust bundle */
    const char *ca;        /* our CA alone */
    const char *run_id, *session;
    const char *seed; /* decimal text or NULL */
    bool base_urls;   /* also OPENAI_BASE_URL, ... */
};

/* The variables, in a fixed order, as name/value pairs (`retape env` prints them). */
int child_environment(const struct child_setup *s, struct headers *out,
                      struct err *e) MUST_CHECK;

/* Warn, by name and value, of a NO_PROXY that the command will not see. */
void child_warn_no_proxy(void);

/* Start the command: the current environment with these variables set and NO_PROXY
 * cleared, signals as at login. *pid is the process id. -1 when it cannot be run: *pid is
 * then minus what a shell would exit with (-127 not found, -126 not executable). */
int child_start(char *const *command, const struct headers *env, int *pid,
                struct err *e) MUST_CHECK;

#endif
