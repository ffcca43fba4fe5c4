/*
 * doctor.c - `retape doctor`: does it work on this machine? It tries, it does not ask.
 *
 * A check is a function that does the thing: makes the authority, binds a port, and
 * for interception records an HTTPS request of this very program to itself, then
 * replays it with the other side gone.
 */
#include "base/cli.h"
#include "base/fsx.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "certs/ca.h"
#include "certs/trust.h"
#include "net/fetch_once.h"
#include "proxy/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the checks share: a private folder, and texts found on the way. */
struct doctor {
    char dir[64];
    char self[512];
    char *ca_dir;
    struct ca *ca;
};

enum grade { GOOD, NOTE, BAD };
typedef enum grade check_fn(struct doctor *d, struct buf *say);

static enum grade check_authority(struct doctor *d, struct buf *say)
{
    struct err e = {0};

    if (ca_dir(&d->ca_dir, &e) < 0 || ca_open(&d->ca, d->ca_dir, &e) < 0) {
        buf_str(say, e.msg);
        return BAD;
    }
    buf_fmt(say, "%s", ca_cert_path(d->ca));
    return GOOD;
}

static enum grade check_trust(struct doctor *d, struct buf *say)
{
    const char *file = trust_system_file();

    (void)d;
    if (!file) {
        buf_str(say, "no system CA file found: HTTPS upstreams need --upstream-ca FILE "
                     "(Debian: install ca-certificates)");
        return NOTE;
    }
    buf_str(say, file);
    return GOOD;
}

static enum grade check_descriptors(struct doctor *d, struct buf *say)
{
    struct rlimit lim;

    (void)d;
    if (getrlimit(RLIMIT_NOFILE, &lim) < 0) {
        buf_str(say, strerror(errno));
        return BAD;
    }
    buf_fmt(say, "%llu, enough for about %llu clients at once",
            (unsigned long long)lim.rlim_max,
            (unsigned long long)(lim.rlim_max > LIMIT_FDS_SPARE
                                     ? (lim.rlim_max - LIMIT_FDS_SPARE) / 4
                                     : 0));
    return lim.rlim_max < 1024 ? NOTE : GOOD;
}

static enum grade check_environment(struct doctor *d, struct buf *say)
{
    static const char *const names[] = {"NO_PROXY",    "no_proxy",   "HTTPS_PROXY",
                                        "https_proxy", "HTTP_PROXY", "http_proxy"};
    (void)d;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *v = getenv(names[i]);
        if (v && *v)
            buf_fmt(say, "%s%s", say->len ? ", " : "", names[i]);
    }
    if (say->len == 0) {
        buf_str(say, "no proxy variables in the way");
        return GOOD;
    }
    buf_str(say, " set here; `retape record -- CMD` replaces them for CMD and reaches "
                 "upstream without them (--upstream-proxy URL goes through a proxy)");
    return NOTE;
}

/* --- the round trip
 * --------------------------------------------------------------------------- */

/* Start ourselves with these arguments; returns the pid once the ready file is there. */
static pid_t start(struct doctor *d, const char *ready, const char *const *argv)
{
    pid_t pid = fork();

    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        sigset_t none;
        (void)sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        (void)dup2(null, 1);
        (void)dup2(null, 2);
        (void)setenv("RETAPE_LOG", "error", 1);
        execv(d->self, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    for (int i = 0; pid > 0 && i < 500; i++) {
        int status;
        if (fsx_exists(ready))
            return pid;
        if (waitpid(pid, &status, WNOHANG) == pid)
            return -1;
        (void)usleep(10000);
    }
    return pid;
}

static void stop(pid_t pid)
{
    int status;

    if (pid <= 0)
        return;
    (void)kill(pid, SIGTERM);
    (void)waitpid(pid, &status, 0);
}

static int read_address(const char *ready, char out[72], struct err *e)
{
    struct buf text = BUF_INIT(128);
    int rc = fsx_read_file(ready, &text, e);

    if (rc == 0)
        (void)snprintf(out, 72, "%.*s", (int)strcspn(text.data, "\n"), text.data);
    buf_free(&text);
    return rc;
}

/* Ask for one page of the far side through the proxy; the answer goes to out. */
static int ask(struct doctor *d, const char *ready, const char *url, struct buf *out,
               struct err *e)
{
    char address[72];

    if (read_address(ready, address, e) < 0)
        return -1;
    return fetch_once(url, address, ca_cert_path(d->ca), out, e);
}

static enum grade check_round_trip(struct doctor *d, struct buf *say)
{
    char far_ready[96], ready[96], again[96], cassettes[96], url[128], address[72];
    struct buf live = BUF_INIT(MIB(1)), replayed = BUF_INIT(MIB(1));
    struct err e = {0};
    enum grade grade = BAD;
    pid_t far_side = -1, near_side = -1;

    if (!d->ca) {
        buf_str(say, "not tried without an authority");
        return BAD;
    }
    (void)snprintf(far_ready, sizeof far_ready, "%s/far", d->dir);
    (void)snprintf(ready, sizeof ready, "%s/ready", d->dir);
    (void)snprintf(again, sizeof again, "%s/again", d->dir);
    (void)snprintf(cassettes, sizeof cassettes, "%s/cassettes", d->dir);
    const char *far_argv[] = {d->self,        "replay",  "--listen",    "127.0.0.1:0",
                              "--ready-file", far_ready, "--cassettes", d->dir,
                              "--output",     d->dir,    NULL};
    far_side = start(d, far_ready, far_argv);
    if (far_side < 0 || read_address(far_ready, address, &e) < 0) {
        buf_str(say, "cannot start a proxy on 127.0.0.1");
        goto out;
    }
    (void)snprintf(url, sizeof url, "https://%s/__retape/ca.pem", address);
    const char *record_argv[] = {
        d->self, "record",      "--listen", "127.0.0.1:0",   "--ready-file",
        ready,   "--cassettes", cassettes,  "--upstream-ca", ca_cert_path(d->ca),
        NULL};
    near_side = start(d, ready, record_argv);
    if (near_side < 0 || ask(d, ready, url, &live, &e) < 0) {
        buf_fmt(say, "recording through the proxy failed: %s", e.msg);
        goto out;
    }
    stop(near_side);
    stop(far_side);
    far_side = near_side = -1;
    const char *replay_argv[] = {d->self,        "replay", "--listen",    "127.0.0.1:0",
                                 "--ready-file", again,    "--cassettes", cassettes,
                                 "--output",     d->dir,   NULL};
    near_side = start(d, again, replay_argv);
    if (near_side < 0 || ask(d, again, url, &replayed, &e) < 0) {
        buf_fmt(say, "replaying failed: %s", e.msg);
        goto out;
    }
    if (live.len == 0 || live.len != replayed.len ||
        memcmp(live.data, replayed.data, live.len) != 0) {
        buf_str(say, "the replayed bytes differ from the recorded ones");
        goto out;
    }
    buf_fmt(say, "%zu bytes recorded over intercepted HTTPS and replayed equal",
            live.len);
    grade = GOOD;
out:
    stop(near_side);
    stop(far_side);
    buf_free(&live);
    buf_free(&replayed);
    return grade;
}

/* --- the verb
 * -------------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    check_fn *check;
} checks[] = {
    {"authority", check_authority},          {"system trust", check_trust},
    {"descriptors", check_descriptors},      {"environment", check_environment},
    {"record and replay", check_round_trip},
};

struct doctor_options {
    bool json;
};

static const struct cli_option options[] = {
    {"--json", NULL, CLI_FLAG, offsetof(struct doctor_options, json), NULL, NULL, NULL,
     "print the findings as JSON"},
    {0},
};

static const char *const exits[] = {"0  everything works", "2  usage error",
                                    "3  something does not work", NULL};

static const struct cli_verb verb = {
    .program = "retape",
    .name = "doctor",
    .usage = "[--json]",
    .summary = "Try everything on this machine: the certificate authority, the system's "
               "trust, descriptors, and a real HTTPS request recorded and replayed.",
    .options = options,
    .exits = exits,
    .example = "retape doctor",
};

static const char *const grade_names[] = {"ok", "note", "failed"};

static void print_finding(bool json, bool first, const char *name, enum grade g,
                          const struct buf *say)
{
    if (!json) {
        (void)printf("%-7s %-18s %s\n", grade_names[g], name, buf_cstr(say));
        return;
    }
    struct buf line = BUF_INIT(KIB(64));
    buf_str(&line, first ? "" : ",");
    buf_str(&line, "{\"check\":");
    json_string(&line, name, strlen(name));
    buf_fmt(&line, ",\"grade\":\"%s\",\"text\":", grade_names[g]);
    json_string(&line, buf_cstr(say), say->len);
    (void)printf("%s}", buf_cstr(&line));
    buf_free(&line);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
    (void)st;
    (void)type;
    (void)f;
    return remove(path);
}

static int examine(bool json)
{
    struct doctor d = {.dir = "/tmp/retape-doctor-XXXXXX"};
    ssize_t n = readlink("/proc/self/exe", d.self, sizeof d.self - 1);
    enum grade worst = GOOD;

    if (n < 0 || !mkdtemp(d.dir)) {
        log_error("doctor: %s", strerror(errno));
        return 3;
    }
    if (json)
        (void)printf("{\"checks\":[");
    for (size_t i = 0; i < COUNT_OF(checks); i++) {
        struct buf say = BUF_INIT(KIB(8));
        enum grade g = checks[i].check(&d, &say);
        print_finding(json, i == 0, checks[i].name, g, &say);
        worst = g > worst ? g : worst;
        buf_free(&say);
    }
    if (json)
        (void)printf("],\"grade\":\"%s\"}\n", grade_names[worst]);
    (void)nftw(d.dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    ca_close(&d.ca);
    free(d.ca_dir);
    if (fflush(stdout) != 0) {
        log_error("standard output: %s", strerror(errno));
        return 3;
    }
    return worst == BAD ? 3 : 0;
}

int verb_doctor(int argc, char **argv)
{
    struct doctor_options o = {0};
    struct cli_rest rest = {0};
    struct err e = {0};
    int rc;

    if (cli_parse(&verb, argc, argv, &o, &rest, &e) < 0) {
        log_error("%s", e.msg);
        rc = err_exit_status(e.code);
    } else if (rest.help) {
        struct buf text = BUF_INIT(KIB(64));
        cli_help(&verb, &text);
        (void)fputs(buf_cstr(&text), stdout);
        buf_free(&text);
        rc = 0;
    } else {
        rc = examine(o.json);
    }
    cli_fini(&verb, &o, &rest);
    return rc;
}
