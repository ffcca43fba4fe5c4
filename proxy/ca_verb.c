/* ca_verb.c - `retape ca`: where the certificate authority is, what it is, a copy. */
#include "base/cli.h"
#include "base/clock.h"
#include "base/fsx.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "certs/ca.h"
#include "proxy/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct flags {
    bool overwrite, json;
};

static const struct cli_option options[] = {
    {"--overwrite", NULL, CLI_FLAG, offsetof(struct flags, overwrite), NULL, NULL, NULL,
     "export: replace FILE when it exists"},
    {"--json", NULL, CLI_FLAG, offsetof(struct flags, json), NULL, NULL, NULL,
     "print the result as JSON"},
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
    .name = "ca",
    .usage = "[options] path | show | export FILE",
    .summary = "The local certificate authority that intercepted hosts are signed by, "
               "made on first use. \"path\" prints where its certificate is, \"show\" "
               "what it is and its PEM text, \"export\" copies the certificate.",
    .options = options,
    .exits = exits,
    .example = "retape ca export ./retape-ca.pem",
    .least = 1,
    .most = 2,
};

static void add_member(struct buf *out, const char *name, const char *value)
{
    buf_fmt(out, "%s\"%s\":", out->len ? "," : "{", name);
    json_string(out, value, strlen(value));
}

static int print_path(const struct ca *ca, const char *file, const struct flags *f,
                      struct buf *out, struct err *e)
{
    (void)file;
    (void)e;
    if (f->json) {
        add_member(out, "path", ca_cert_path(ca));
        buf_str(out, "}");
    } else {
        buf_str(out, ca_cert_path(ca));
    }
    buf_char(out, '\n');
    return 0;
}

static int print_description(const struct ca *ca, const char *file, const struct flags *f,
                             struct buf *out, struct err *e)
{
    const struct ca_facts *facts = ca_facts(ca);
    char from[CLOCK_TEXT], to[CLOCK_TEXT];

    (void)file;
    (void)e;
    if (!f->json) {
        ca_describe(ca, out);
        buf_str(out, ca_cert_pem(ca));
        return 0;
    }
    clock_rfc3339(facts->from_s * 1000, from);
    clock_rfc3339(facts->to_s * 1000, to);
    add_member(out, "fingerprint", facts->fingerprint);
    add_member(out, "not_after", to);
    add_member(out, "not_before", from);
    add_member(out, "path", ca_cert_path(ca));
    add_member(out, "pem", ca_cert_pem(ca));
    add_member(out, "subject", facts->subject);
    buf_str(out, "}\n");
    return 0;
}

static int write_new_file(const char *path, const char *text, struct err *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    if (fd < 0 && errno == EEXIST)
        return err_set(e, ERR_EXISTS, "%s exists; --overwrite replaces it", path);
    if (fd < 0)
        return err_set(e, ERR_IO, "create %s: %s", path, strerror(errno));
    int rc = fsx_write_all(fd, text, strlen(text), e);
    if (rc < 0)
        err_in(e, "%s", path);
    if (close(fd) < 0 && rc == 0)
        rc = err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    if (rc < 0)
        (void)unlink(path);
    return rc;
}

static int export_copy(const struct ca *ca, const char *file, const struct flags *f,
                       struct buf *out, struct err *e)
{
    const char *pem = ca_cert_pem(ca);
    int rc = f->overwrite ? fsx_write_file(file, pem, strlen(pem), 0644, e)
                          : write_new_file(file, pem, e);

    if (rc == 0 && f->json) {
        add_member(out, "path", file);
        buf_str(out, "}\n");
    }
    return rc;
}

static const struct {
    const char *name;
    size_t words; /* the name and what follows it */
    int (*run)(const struct ca *ca, const char *file, const struct flags *f,
               struct buf *out, struct err *e);
} actions[] = {
    {"path", 1, print_path},
    {"show", 1, print_description},
    {"export", 2, export_copy},
};

static int find_action(const struct cli_rest *rest, size_t *which, struct err *e)
{
    const char *names[COUNT_OF(actions) + 1] = {NULL};

    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        names[i] = actions[i].name;
        if (strcmp(rest->v[0], names[i]) != 0)
            continue;
        *which = i;
        if (rest->n == actions[i].words)
            return 0;
        return err_set(e, ERR_USAGE, "'ca %s' takes %s; see 'retape ca --help'", names[i],
                       actions[i].words == 2 ? "the FILE to write" : "no argument");
    }
    const char *near = cli_nearest(rest->v[0], names);
    return err_set(e, ERR_USAGE, "'ca %.80s': did you mean %s? See 'retape ca --help'",
                   rest->v[0], near ? near : "path, show or export");
}

static int run(const struct cli_rest *rest, const struct flags *f, struct buf *out,
               struct err *e)
{
    struct ca *ca = NULL;
    char *dir = NULL;
    size_t which = 0;
    int rc = -1;

    if (find_action(rest, &which, e) < 0 || ca_dir(&dir, e) < 0 ||
        ca_open(&ca, dir, e) < 0)
        goto out;
    if (f->json && !json_is_utf8(ca_cert_path(ca), strlen(ca_cert_path(ca)))) {
        err_set(e, ERR_CONFIG, "the config folder's path is not UTF-8: no JSON for it");
        goto out;
    }
    rc = actions[which].run(ca, rest->n > 1 ? rest->v[1] : NULL, f, out, e);
out:
    ca_close(&ca);
    free(dir);
    return rc;
}

int verb_ca(int argc, char **argv)
{
    struct flags f = {0};
    struct cli_rest rest = {0};
    struct buf out = BUF_INIT(KIB(64));
    struct err e = {0};
    int rc = cli_parse(&verb, argc, argv, &f, &rest, &e);

    if (rc == 0 && rest.help)
        cli_help(&verb, &out);
    else if (rc == 0)
        rc = run(&rest, &f, &out, &e);
    if (rc == 0)
        rc = buf_check(&out, "output", &e);
    if (rc == 0)
        rc = fsx_write_all(STDOUT_FILENO, buf_cstr(&out), out.len, &e);
    if (rc < 0)
        log_error("%s", e.msg);
    buf_free(&out);
    cli_fini(&verb, &f, &rest);
    return rc < 0 ? err_exit_status(e.code) : 0;
}
