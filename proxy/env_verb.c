/* env_verb.c - `retape env`: the child's environment for a proxy started by hand. */
#include "base/cli.h"
#include "base/fsx.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/url.h"
#include "certs/trust.h"
#include "proxy/child.h"
#include "proxy/verbs.h"
#include "tape/cassette.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUNDLE_FILE "trust.pem"

enum shell { SHELL_SH, SHELL_FISH, SHELL_JSON };
static const char *const shells[] = {"sh", "fish", "json", NULL};

struct flags {
    int shell;
    const char *listen, *session, *token;
    bool base_urls, unset;
};

static const struct cli_option options[] = {
    {"--shell", "SHELL", CLI_CHOICE, offsetof(struct flags, shell), shells, NULL, "sh",
     "how to print: sh, fish or json"},
    {"--listen", "ADDR", CLI_TEXT, offsetof(struct flags, listen), NULL, "RETAPE_LISTEN",
     "127.0.0.1:8080", "where the proxy listens"},
    {"--session", "NAME", CLI_TEXT, offsetof(struct flags, session), NULL,
     "RETAPE_SESSION", "default", "session the requests belong to"},
    {"--token", "T", CLI_TEXT, offsetof(struct flags, token), NULL, "RETAPE_TOKEN", NULL,
     "token the proxy asks for"},
    {"--base-urls", NULL, CLI_FLAG, offsetof(struct flags, base_urls), NULL,
     "RETAPE_BASE_URLS", NULL,
     "also OPENAI_BASE_URL and its like, for clients that ignore proxies"},
    {"--unset", NULL, CLI_FLAG, offsetof(struct flags, unset), NULL, NULL, NULL,
     "print how to unset these variables"},
    {0},
};

static const char *const exits[] = {
    "0  ok",
    "2  usage, or an authority that cannot be used (the message says what to do)",
    "3  files could not be read or written",
    NULL,
};

static const struct cli_verb verb = {
    .program = "retape",
    .name = "env",
    .usage = "[options]",
    .summary = "Prints the variables that send a shell's programs through a proxy "
               "started by hand and have them trust it: what `retape record -- COMMAND` "
               "sets for COMMAND, without its run id.",
    .options = options,
    .exits = exits,
    .example = "eval \"$(retape env --listen 127.0.0.1:8080 --session run-7)\"",
};

/* The three addresses and two files the variables are made from. */
struct places {
    struct buf origin, proxy_url;
    char *bundle, *ca;
};

static void add_escaped(struct buf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (isascii(c) && (isalnum(c) || strchr("-._~", c)))
            buf_char(out, (char)c);
        else
            buf_fmt(out, "%%%02X", (unsigned)c);
    }
}

static int fill_urls(struct places *p, const struct flags *f, struct err *e)
{
    char *host = NULL;
    uint16_t port = 0;
    struct buf address = BUF_INIT(KIB(1));
    bool named = f->token || strcmp(f->session, "default") != 0;
    int rc = url_host_port(f->listen, &host, &port, e);

    if (rc < 0) {
        e->code = ERR_USAGE;
        return err_in(e, "--listen %.100s", f->listen);
    }
    /* a proxy that listens everywhere is reached here */
    const char *to = strcmp(host, "0.0.0.0") == 0 ? "127.0.0.1"
                     : strcmp(host, "::") == 0    ? "::1"
                                                  : host;
    buf_fmt(&address, strchr(to, ':') ? "[%s]:%u" : "%s:%u", to, (unsigned)port);
    buf_fmt(&p->origin, "http://%s", buf_cstr(&address));
    buf_str(&p->proxy_url, "http://");
    if (named)
        buf_str(&p->proxy_url, f->session);
    if (f->token) {
        buf_char(&p->proxy_url, ':');
        add_escaped(&p->proxy_url, f->token);
    }
    buf_fmt(&p->proxy_url, "%s%s", named ? "@" : "", buf_cstr(&address));
    if (port == 0)
        rc = err_set(e, ERR_USAGE, "--listen %.100s: the port is missing", f->listen);
    if (rc == 0)
        rc = buf_check(&p->proxy_url, "proxy URL", e);
    buf_free(&address);
    free(host);
    return rc;
}

/* Make the authority and the merged bundle, so that what we print exists. */
static int fill_files(struct places *p, struct err *e)
{
    struct ca *ca = NULL;
    char *dir = NULL;
    int rc = -1;

    if (ca_dir(&dir, e) < 0 || ca_open(&ca, dir, e) < 0)
        goto out;
    p->bundle = fsx_join(dir, BUNDLE_FILE);
    p->ca = strdup(ca_cert_path(ca));
    if (!p->bundle || !p->ca) {
        err_set(e, ERR_NOMEM, "out of memory");
        goto out;
    }
    rc = trust_write_merged(p->bundle, ca, NULL, e);
out:
    ca_close(&ca);
    free(dir);
    return rc;
}

static void add_quoted(struct buf *out, const char *text, const char *special,
                       const char *before)
{
    buf_char(out, '\'');
    for (; *text; text++) {
        if (strchr(special, *text))
            buf_str(out, before);
        buf_char(out, *text);
        /* sh has no escapes inside quotes: leave them, escape, enter again */
        if (strchr(special, *text) && before[0] == '\'')
            buf_char(out, '\'');
    }
    buf_char(out, '\'');
}

static void print_sh(struct buf *out, const struct header *v, bool unset, bool first)
{
    (void)first;
    buf_fmt(out, unset ? "unset %s" : "export %s=", v->name);
    if (!unset)
        add_quoted(out, v->value, "'", "'\\");
    buf_char(out, '\n');
}

static void print_fish(struct buf *out, const struct header *v, bool unset, bool first)
{
    (void)first;
    buf_fmt(out, unset ? "set -eg %s" : "set -gx %s ", v->name);
    if (!unset)
        add_quoted(out, v->value, "\\'", "\\");
    buf_char(out, '\n');
}

static void print_json(struct buf *out, const struct header *v, bool unset, bool first)
{
    buf_fmt(out, "%s  \"%s\": ", first ? "{\n" : ",\n", v->name);
    if (unset)
        buf_str(out, "null");
    else
        json_string(out, v->value, strlen(v->value));
}

static const struct {
    void (*variable)(struct buf *out, const struct header *v, bool unset, bool first);
    const char *end;
} printers[] = {
    [SHELL_SH] = {print_sh, ""},
    [SHELL_FISH] = {print_fish, ""},
    [SHELL_JSON] = {print_json, "\n}\n"},
};

static int print_all(const struct headers *env, const struct flags *f, struct buf *out,
                     struct err *e)
{
    for (size_t i = 0; i < env->n; i++) {
        const struct header *v = &env->v[i];
        if (f->shell == SHELL_JSON && !json_is_utf8(v->value, strlen(v->value)))
            return err_set(e, ERR_CONFIG, "%s is not UTF-8: no JSON for it", v->name);
        printers[f->shell].variable(out, v, f->unset, i == 0);
    }
    buf_str(out, printers[f->shell].end);
    return buf_check(out, "output", e);
}

static int run(const struct flags *f, struct buf *out, struct err *e)
{
    struct places p = {.origin = BUF_INIT(KIB(8)), .proxy_url = BUF_INIT(KIB(8))};
    struct headers env = {0};
    int rc = -1;

    if (!cassette_name_ok(f->session)) {
        err_set(e, ERR_USAGE,
                "--session %.80s: a name is 1 to 64 of A-Z a-z 0-9 . _ - and starts with "
                "a letter or digit",
                f->session);
        goto out;
    }
    if (fill_urls(&p, f, e) < 0 || (!f->unset && fill_files(&p, e) < 0))
        goto out;
    struct child_setup setup = {.proxy_url = buf_cstr(&p.proxy_url),
                                .origin = buf_cstr(&p.origin),
                                .bundle = p.bundle ? p.bundle : "",
                                .ca = p.ca ? p.ca : "",
                                .session = f->session,
                                .base_urls = f->base_urls};
    if (child_environment(&setup, &env, e) < 0)
        goto out;
    if (!f->unset)
        child_warn_no_proxy();
    rc = print_all(&env, f, out, e);
out:
    headers_fini(&env);
    buf_free(&p.origin);
    buf_free(&p.proxy_url);
    free(p.bundle);
    free(p.ca);
    return rc;
}

int verb_env(int argc, char **argv)
{
    struct flags f = {.listen = "127.0.0.1:8080", .session = "default"};
    struct cli_rest rest = {0};
    struct buf out = BUF_INIT(MIB(1));
    struct err e = {0};
    int rc = cli_parse(&verb, argc, argv, &f, &rest, &e);

    if (rc == 0 && rest.help)
        cli_help(&verb, &out);
    else if (rc == 0)
        rc = run(&f, &out, &e);
    if (rc == 0)
        rc = fsx_write_all(STDOUT_FILENO, buf_cstr(&out), out.len, &e);
    if (rc < 0)
        log_error("%s", e.msg);
    buf_free(&out);
    cli_fini(&verb, &f, &rest);
    return rc < 0 ? err_exit_status(e.code) : 0;
}
