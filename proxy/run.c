/*
 * run.c - the verbs record, replay and auto: start the proxy, run the command (or wait
 * for a signal), say how it went.
 *
 * The exit status of a replay is a verdict (PRODUCT 8): 3 infrastructure, 2 a request
 * without a recording or a broken file, 2 unused recordings with --fail-unused, 1 the
 * command failed, 0. Record and auto pass the command's own status on.
 */
#include "base/fsx.h"
#include "base/limits.h"
#include "base/log.h"
#include "bundler/outputs.h"
#include "proxy/child.h"
#include "proxy/compare.h"
#include "proxy/packed.h"
#include "proxy/serve.h"
#include "proxy/session.h"
#include "proxy/summary.h"
#include "proxy/verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "certs/ca.h"

/* How the run ended, before it is judged. */
struct ending {
    const struct packed *packed;
    struct packed_origin origin; /* of the bundle, if one was given */
    size_t differences;          /* --compare */
    bool ran;                    /* there was a command and it was started */
    int child_exit;              /* its status, 128+n for signals */
    struct err failure;          /* ours: code ERR_NONE when there was none */
};

struct verdict {
    int exit_code;
    const char *reason; /* "" or E_... */
    char message[256];
    const char *next_step;
};

/* --- the command
 * ------------------------------------------------------------------------------ */

static int exit_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Wait for the command, or (pid 0) for SIGINT or SIGTERM. */
static int wait_for_end(int signals, pid_t pid)
{
    for (;;) {
        struct signalfd_siginfo si;
        if (read(signals, &si, sizeof si) != (ssize_t)sizeof si)
            continue;
        if (si.ssi_signo == SIGCHLD) {
            int status;
            if (pid > 0 && waitpid(pid, &status, WNOHANG) == pid)
                return exit_status(status);
            continue;
        }
        if (pid <= 0)
            return 0;
        /* A terminal's Ctrl-C has reached the command already; it is of our group. */
        if (si.ssi_code != SI_KERNEL)
            (void)kill(pid, (int)si.ssi_signo);
    }
}

static int take_signals(struct err *e)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGHUP);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_IO, "signalfd: %s", strerror(errno));
    return fd;
}

/* From now on a second Ctrl-C ends the program at once; cassettes are whole anyway. */
static void release_signals(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void percent_encode(const char *s, struct buf *out)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789-._~";

    for (; *s; s++) {
        if (strchr(plain, *s))
            buf_char(out, *s);
        else
            buf_fmt(out, "%%%02X", (unsigned char)*s);
    }
}

static int start_command(const struct options *o, const struct serve *serve, int *pid,
                         struct err *e)
{
    const struct shared *s = serve_shared(serve);
    struct buf origin = BUF_INIT(256), proxy = BUF_INIT(2048);
    struct headers env = {0};
    char seed[24];
    int rc = -1;

    *pid = -1;
    (void)snprintf(seed, sizeof seed, "%" PRIu64, o->seed.value);
    buf_fmt(&origin, "http://%s", s->own.text);
    buf_str(&proxy, "http://");
    if (o->token) { /* without one, --session is the listener's default already */
        buf_fmt(&proxy, "%s:", o->session);
        percent_encode(o->token, &proxy);
        buf_char(&proxy, '@');
    }
    buf_str(&proxy, s->own.text);
    struct child_setup setup = {.proxy_url = buf_cstr(&proxy),
                                .origin = buf_cstr(&origin),
                                .bundle = serve_trust_file(serve),
                                .ca = ca_cert_path(s->ca),
                                .run_id = o->run_id,
                                .session = o->session,
                                .seed = o->seed.given ? seed : NULL,
                                .base_urls = o->base_urls};
    if (buf_check(&proxy, "proxy URL", e) == 0 && child_environment(&setup, &env, e) == 0)
        rc = child_start(o->rest.command, &env, pid, e);
    headers_fini(&env);
    buf_free(&origin);
    buf_free(&proxy);
    return rc;
}

/* --- the verdict
 * --------------------------------------------------------------------------------- */

static const char *failure_step(enum err_code code)
{
    switch (code) {
    case ERR_MISS:
        return "record what is missing, or replay with --live";
    case ERR_CONFIG:
        return "mend the configuration file, or name another with --config";
    case ERR_EXISTS:
        return "give --append or --overwrite, or another --session";
    case ERR_BUSY:
        return "wait for the other recorder, or use another --session";
    case ERR_FORMAT:
    case ERR_VERSION:
    case ERR_LIMIT:
        return "take the file from where it was made again, or record anew";
    default:
        return "`retape doctor` tries everything on this machine";
    }
}

static void judge(const struct options *o, const struct ending *end,
                  const struct session_counts *c, struct verdict *v)
{
    *v = (struct verdict){.reason = ""};
    if (end->failure.code) {
        v->exit_code = err_exit_status(end->failure.code);
        v->reason = end->origin.reason ? end->origin.reason : err_name(end->failure.code);
        (void)snprintf(v->message, sizeof v->message, "%.250s", end->failure.msg);
        v->next_step = end->origin.reason &&
                               strcmp(end->origin.reason, "E_REPLAY_LIMIT_EXCEEDED") == 0
                           ? "the bundle is over a ceiling of docs/FORMATS.md: make a "
                             "smaller bundle"
                           : failure_step(end->failure.code);
    } else if (c->failed > 0) {
        v->exit_code = 3;
        v->reason = "E_RECORD_INCOMPLETE";
        (void)snprintf(v->message, sizeof v->message,
                       "%" PRIu64 " exchange(s) could not be recorded", c->failed);
        v->next_step =
            "see the errors above; free disk space or raise limits.response_body";
    } else if (o->mode == MODE_REPLAY && c->miss > 0) {
        v->exit_code = 2;
        v->reason = "E_REPLAY_MISSING_DEPENDENCY";
        (void)snprintf(v->message, sizeof v->message,
                       "%" PRIu64 " request(s) had no recording", c->miss);
        v->next_step = "run it once with `retape auto` to record them";
    } else if (o->fail_unused && c->unused > 0) {
        v->exit_code = 2;
        v->reason = "E_REPLAY_UNUSED";
        (void)snprintf(v->message, sizeof v->message,
                       "%" PRIu64 " recording(s) were never asked for", c->unused);
        v->next_step = "record the run again, or leave out --fail-unused";
    } else if (end->differences > 0) {
        v->exit_code = 1;
        v->reason = "E_OUTPUTS_DIFFER";
        (void)snprintf(v->message, sizeof v->message,
                       "%zu output(s) differ from the bundle's", end->differences);
        v->next_step = "see the differences above";
    } else if (end->ran && end->child_exit != 0) {
        v->exit_code = o->mode == MODE_REPLAY ? 1 : end->child_exit;
        v->reason = "E_TEST_FAILED";
        (void)snprintf(v->message, sizeof v->message,
                       end->child_exit > 128 ? "the command was ended by signal %d"
                                             : "the command exited with %d",
                       end->child_exit > 128 ? end->child_exit - 128 : end->child_exit);
        v->next_step = "read the command's own output; `retape show` lists what it was "
                       "answered with";
    } else if (o->mode == MODE_RECORD && c->recorded == 0 && !o->allow_empty) {
        v->exit_code = 2;
        v->reason = "E_RECORD_EMPTY";
        (void)snprintf(v->message, sizeof v->message, "nothing was recorded");
        v->next_step = "does the client honour HTTPS_PROXY? try --base-urls; "
                       "--allow-empty if this is right";
    } else {
        (void)snprintf(v->message, sizeof v->message, "All tests passed");
    }
}

/* A replay that nobody asked anything proves nothing: the command went elsewhere. */
static void warn_unasked(const struct options *o, const struct ending *end,
                         const struct session_counts *c)
{
    if (o->mode == MODE_REPLAY && end->ran && c->unused > 0 &&
        c->exact + c->normalised + c->miss == 0)
        log_warn("no request reached the proxy; does the client honour HTTPS_PROXY? try "
                 "--base-urls (--fail-unused makes this an error)");
}

static void say(const struct options *o, const struct shared *s, const struct verdict *v,
                const struct outputs_run *run)
{
    struct buf text = BUF_INIT(MIB(64));
    FILE *to = o->rest.command ? stderr : stdout;

    if (o->json)
        summary_json(s, v->exit_code, v->reason, &text);
    else
        summary_text(s, &text);
    if (o->mode == MODE_REPLAY && !o->json)
        outputs_footer(run, &text);
    (void)fputs(buf_cstr(&text), to);
    (void)fflush(to);
    buf_free(&text);
    if (v->reason[0])
        log_error("%s: %s%s%s", v->reason, v->message, v->next_step ? "; " : "",
                  v->next_step ? v->next_step : "");
}

static int write_files(const struct options *o, const struct shared *s,
                       const struct verdict *v, const struct outputs_run *run,
                       struct err *e)
{
    struct buf text = BUF_INIT(MIB(64));
    int rc = 0;

    if (o->summary_file) {
        summary_json(s, v->exit_code, v->reason, &text);
        rc = buf_check(&text, "summary", e);
        if (rc == 0)
            rc = fsx_write_file(o->summary_file, text.data, text.len, 0644, e);
        buf_free(&text);
    }
    if (rc == 0 && o->mode == MODE_REPLAY)
        rc = outputs_write(o->output, run, e);
    return rc;
}

/* Hold what the command wrote against the bundle, before our own files are written. */
static void compare(const struct options *o, const struct session_counts *total,
                    struct ending *end)
{
    struct verdict so_far;
    struct buf report = BUF_INIT(MIB(1));
    struct err e = {0};

    judge(o, end, total, &so_far);
    if (compare_outputs(end->packed, o->output, so_far.exit_code, so_far.reason, &report,
                        &end->differences, &e) < 0)
        end->failure = e;
    (void)fputs(buf_cstr(&report), stderr);
    buf_free(&report);
}

static int report(const struct options *o, const struct shared *s, struct ending *end)
{
    struct session_counts total = {0};
    struct verdict v;
    struct err e = {0};
    char seed[24];

    if (s)
        summary_total(s->sessions, &total);
    if (s && o->compare)
        compare(o, &total, end);
    judge(o, end, &total, &v);
    (void)snprintf(seed, sizeof seed, "%" PRIu64, o->seed.value);
    struct outputs_run run = {
        .run_id = o->run_id,
        .exit_code = v.exit_code,
        .reason_code = v.reason,
        .message = v.message,
        .next_step = v.next_step,
        .order_seed = o->seed.given ? seed : NULL,
        .has_child = end->ran,
        .child_exit_code = end->child_exit,
        .replay_mode = o->live ? "live" : "offline",
        .bundle_digest = o->bundle ? end->origin.digest : NULL,
        .source_run_id = end->origin.source_run_id[0] ? end->origin.source_run_id : NULL};
    if (s) {
        warn_unasked(o, end, &total);
        say(o, s, &v, &run);
        if (write_files(o, s, &v, &run, &e) < 0) {
            log_error("%s", e.msg);
            return 3;
        }
        return v.exit_code;
    }
    log_error("%s: %s", v.reason, end->failure.msg);
    if (o->mode == MODE_REPLAY && outputs_write(o->output, &run, &e) < 0)
        log_error("%s", e.msg);
    return v.exit_code;
}

/* --- the run
 * ----------------------------------------------------------------------------------------
 */

static int write_ready(const struct options *o, const struct shared *s, struct err *e)
{
    struct buf line = BUF_INIT(128);
    int rc = 0;

    if (o->ready_file) {
        buf_fmt(&line, "%s\n", s->own.text);
        rc = fsx_write_file(o->ready_file, line.data, line.len, 0644, e);
    }
    buf_free(&line);
    return rc;
}

/* Find out before the run, not after it, that its results have no place. */
static int check_output(const struct options *o, struct err *e)
{
    if (o->mode != MODE_REPLAY)
        return 0;
    if (fsx_mkdirs(o->output, 0755, e) < 0)
        return err_in(e, "--output");
    if (access(o->output, W_OK) < 0)
        return err_set(e, ERR_IO, "--output %s: %s", o->output, strerror(errno));
    return 0;
}

static void run_command(const struct options *o, const struct serve *serve, int signals,
                        struct ending *end)
{
    int pid;

    if (start_command(o, serve, &pid, &end->failure) < 0) {
        if (pid < -1) { /* what a shell would say of it */
            log_error("%s", end->failure.msg);
            end->failure.code = ERR_NONE;
            end->ran = true;
            end->child_exit = -pid;
        }
        return;
    }
    end->ran = true;
    end->child_exit = wait_for_end(signals, pid);
}

static int run(const struct options *o)
{
    struct serve *serve = NULL;
    struct packed *packed = NULL;
    struct ending end = {0};
    struct err closing = {0};
    int signals = take_signals(&end.failure);

    if (o->ready_file)
        (void)unlink(o->ready_file); /* of an earlier run: nobody may trust it now */
    if (signals < 0 || check_output(o, &end.failure) < 0 ||
        (o->bundle &&
         packed_open(&packed, o->bundle, o->live, &end.origin, &end.failure) < 0) ||
        serve_start(&serve, o, packed, &end.failure) < 0) {
        int early = report(o, NULL, &end);
        packed_close(&packed);
        return early;
    }
    end.packed = packed;
    const struct shared *s = serve_shared(serve);
    if (write_ready(o, s, &end.failure) == 0) {
        if (o->rest.command) {
            log_debug("listening on http://%s", s->own.text);
            run_command(o, serve, signals, &end);
        } else {
            log_info("listening on http://%s (Ctrl-C ends)", s->own.text);
            (void)wait_for_end(signals, 0);
            release_signals();
        }
    }
    if (o->ready_file)
        (void)unlink(o->ready_file);
    if (serve_stop(serve, &closing) < 0 && !end.failure.code)
        end.failure = closing;
    int rc = report(o, s, &end);
    serve_free(&serve);
    packed_close(&packed);
    (void)close(signals);
    return rc;
}

static int verb(enum options_mode mode, const struct cli_verb *table, int argc,
                char **argv)
{
    struct options o;
    struct err e = {0};
    int rc;

    if (options_parse(&o, mode, argc, argv, &e) < 0) {
        struct ending end = {.failure = e};
        /* a mistake in the file still leaves results for machines; one in the command
         * line does not, for it may be about where they go */
        if (e.code == ERR_CONFIG && mode == MODE_REPLAY)
            return report(&o, NULL, &end);
        log_error("%s", e.msg);
        return err_exit_status(e.code);
    }
    if (o.rest.help) {
        struct buf text = BUF_INIT(KIB(64));
        cli_help(table, &text);
        (void)fputs(buf_cstr(&text), stdout);
        buf_free(&text);
        rc = 0;
    } else {
        rc = run(&o);
    }
    options_fini(&o);
    return rc;
}

int verb_record(int argc, char **argv)
{
    return verb(MODE_RECORD, &options_record, argc, argv);
}

int verb_replay(int argc, char **argv)
{
    return verb(MODE_REPLAY, &options_replay, argc, argv);
}

int verb_auto(int argc, char **argv)
{
    return verb(MODE_AUTO, &options_auto, argc, argv);
}
