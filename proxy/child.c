/* child.c - see child.h. */
#include "proxy/child.h"

#include "base/fsx.h"
#include "base/limits.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define VALUE_MAX KIB(16) /* a path or URL and a suffix */

enum value_source {
    FROM_NOTHING,
    FROM_PROXY_URL,
    FROM_ORIGIN,
    FROM_BASE, /* the origin and, where one is needed, the session's path */
    FROM_BUNDLE,
    FROM_CA,
    FROM_RUN_ID,
    FROM_SESSION,
    FROM_SEED
};

/* PRODUCT 3.1. A row whose source was not given is left out. */
static const struct {
    const char *name;
    enum value_source from;
    const char *suffix;
} variables[] = {
    {"HTTP_PROXY", FROM_PROXY_URL, ""},
    {"HTTPS_PROXY", FROM_PROXY_URL, ""},
    {"ALL_PROXY", FROM_PROXY_URL, ""},
    {"http_proxy", FROM_PROXY_URL, ""},
    {"https_proxy", FROM_PROXY_URL, ""},
    {"all_proxy", FROM_PROXY_URL, ""},
    {"NO_PROXY", FROM_NOTHING, ""},
    {"no_proxy", FROM_NOTHING, ""},
    {"SSL_CERT_FILE", FROM_BUNDLE, ""},
    {"REQUESTS_CA_BUNDLE", FROM_BUNDLE, ""},
    {"CURL_CA_BUNDLE", FROM_BUNDLE, ""},
    {"GIT_SSL_CAINFO", FROM_BUNDLE, ""},
    {"AWS_CA_BUNDLE", FROM_BUNDLE, ""},
    {"CARGO_HTTP_CAINFO", FROM_BUNDLE, ""},
    {"PIP_CERT", FROM_BUNDLE, ""},
    {"npm_config_cafile", FROM_BUNDLE, ""},
    {"DENO_CERT", FROM_BUNDLE, ""},
    {"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", FROM_BUNDLE, ""},
    {"NODE_EXTRA_CA_CERTS", FROM_CA, ""},
    {"NODE_USE_ENV_PROXY", FROM_NOTHING, "1"},
    {"RETAPE_URL", FROM_ORIGIN, ""},
    {"RETAPE_ORACLE_URL", FROM_ORIGIN, "/oracle"},
    {"RETAPE_RUN_ID", FROM_RUN_ID, ""},
    {"RETAPE_SESSION", FROM_SESSION, ""},
    {"RETAPE_SEED", FROM_SEED, ""},
    {"OPENAI_BASE_URL", FROM_BASE, "/openai/v1"},
    {"ANTHROPIC_BASE_URL", FROM_BASE, "/anthropic"},
    {"GOOGLE_GEMINI_BASE_URL", FROM_BASE, "/gemini"},
};

static const char *source_text(const struct child_setup *s, enum value_source from)
{
    switch (from) {
    case FROM_PROXY_URL:
        return s->proxy_url;
    case FROM_ORIGIN:
        return s->origin;
    case FROM_BASE:
        return s->base_urls ? s->origin : NULL;
    case FROM_BUNDLE:
        return s->bundle;
    case FROM_CA:
        return s->ca;
    case FROM_RUN_ID:
        return s->run_id;
    case FROM_SESSION:
        return s->session;
    case FROM_SEED:
        return s->seed;
    case FROM_NOTHING:
        break;
    }
    return "";
}

/* "/s/<session>[:<token>]" (PRODUCT 3.2), for clients that send no proxy credentials:
 * the user part of the proxy URL holds both, escaped already. */
static void add_session_path(const struct child_setup *s, struct buf *out)
{
    const char *scheme = s->proxy_url ? strstr(s->proxy_url, "://") : NULL;
    const char *user = scheme ? scheme + 3 : "";
    const char *at = strchr(user, '@');

    if (at && memchr(user, ':', (size_t)(at - user)))
        buf_fmt(out, "/s/%.*s", (int)(at - user), user);
    else if (s->session && strcmp(s->session, "default") != 0)
        buf_fmt(out, "/s/%s", s->session);
}

int child_environment(const struct child_setup *s, struct headers *out, struct err *e)
{
    struct buf value = BUF_INIT(VALUE_MAX);
    int rc = 0;

    for (size_t i = 0; i < COUNT_OF(variables) && rc == 0; i++) {
        const char *text = source_text(s, variables[i].from);
        if (!text)
            continue;
        buf_reset(&value);
        buf_str(&value, text);
        if (variables[i].from == FROM_BASE)
            add_session_path(s, &value);
        buf_str(&value, variables[i].suffix);
        rc = buf_check(&value, variables[i].name, e);
        if (rc == 0)
            rc = headers_add(out, variables[i].name, buf_cstr(&value), e);
    }
    buf_free(&value);
    return rc;
}

void child_warn_no_proxy(void)
{
    static const char *const names[] = {"NO_PROXY", "no_proxy"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            log_warn("%s is cleared so that nothing passes the proxy by; it was: %.200s",
                     names[i], value);
    }
}

/* Environment names count their case, unlike header names. */
static bool is_set_by(const struct headers *env, const char *assignment)
{
    size_t len = strcspn(assignment, "=");

    for (size_t i = 0; i < env->n; i++)
        if (strlen(env->v[i].name) == len && memcmp(env->v[i].name, assignment, len) == 0)
            return true;
    return false;
}

static void free_environ(char **envp)
{
    for (char **p = envp; p && *p; p++)
        free(*p);
    free(envp);
}

/* What is inherited and not set anew, then what is set. */
static char **merged_environ(const struct headers *env)
{
    size_t inherited = 0, n = 0;

    while (environ[inherited])
        inherited++;
    char **envp = calloc(inherited + env->n + 1, sizeof *envp);
    bool whole = envp != NULL;
    for (size_t i = 0; i < inherited && whole; i++)
        if (!is_set_by(env, environ[i]))
            whole = (envp[n++] = strdup(environ[i])) != NULL;
    for (size_t i = 0; i < env->n && whole; i++) {
        if (asprintf(&envp[n], "%s=%s", env->v[i].name, env->v[i].value) < 0)
            envp[n] = NULL;
        whole = envp[n++] != NULL;
    }
    if (!whole) {
        free_environ(envp);
        envp = NULL;
    }
    return envp;
}

/* In the child, between fork and exec: nothing here may allocate or lock. Signals go
 * back to their defaults (we ignore SIGPIPE; a shell's background job has SIGINT
 * ignored), but a SIGHUP that nohup had ignored stays so. */
static _Noreturn void become(char *const *command, char *const *envp, int report_fd)
{
    struct sigaction now, usual = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int sig = 1; sig < NSIG; sig++) {
        if (sig == SIGHUP && sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_IGN)
            continue;
        (void)sigaction(sig, &usual, NULL);
    }
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execvpe(command[0], command, envp);
    int reason = errno;
    (void)!write(report_fd, &reason, sizeof reason);
    _exit(127);
}

/* 0 once exec worked (the pipe closed empty), else the errno the child sent. */
static int wait_for_exec(int fd)
{
    int reason = 0;
    ssize_t n;

    do {
        n = read(fd, &reason, sizeof reason);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof reason ? reason : 0;
}

static int not_started(const char *name, int reason, int *pid, struct err *e)
{
    bool missing = reason == ENOENT || reason == ENOTDIR;

    *pid = missing ? -127 : -126;
    if (missing && strchr(name, '/') && fsx_exists(name))
        return err_set(e, ERR_USAGE,
                       "cannot run '%s': the interpreter of its first line is missing "
                       "(exit 127)",
                       name);
    if (missing)
        return err_set(e, ERR_USAGE, "command not found: '%s' (exit 127)", name);
    return err_set(e, ERR_USAGE, "cannot run '%s': %s (exit 126)", name,
                   strerror(reason));
}

int child_start(char *const *command, const struct headers *env, int *pid, struct err *e)
{
    int report[2] = {-1, -1}, rc = -1;
    char **envp = merged_environ(env);
    sigset_t all, before;

    *pid = -126;
    if (!envp) {
        err_set(e, ERR_NOMEM, "out of memory");
        goto out;
    }
    if (pipe2(report, O_CLOEXEC) < 0) {
        err_set(e, ERR_IO, "pipe: %s", strerror(errno));
        goto out;
    }
    child_warn_no_proxy();
    /* no handler of ours may run in the child before its signals are reset */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = fork();
    if (child == 0)
        become(command, envp, report[1]);
    int fork_errno = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (child < 0) {
        err_set(e, ERR_IO, "fork: %s", strerror(fork_errno));
        goto out;
    }
    (void)close(report[1]);
    report[1] = -1;
    int reason = wait_for_exec(report[0]);
    if (reason != 0) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
        not_started(command[0], reason, pid, e);
        goto out;
    }
    *pid = child;
    rc = 0;
out:
    for (size_t i = 0; i < COUNT_OF(report); i++)
        if (report[i] >= 0)
            (void)close(report[i]);
    free_environ(envp);
    return rc;
}
