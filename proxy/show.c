/* show.c - `retape list` and `retape show`: what is on the shelf, and on a tape. */
#include "base/cli.h"
#include "base/clock.h"
#include "base/fsx.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/table.h"
#include "base/url.h"
#include "proxy/exhibit.h"
#include "proxy/page.h"
#include "proxy/shelf.h"
#include "proxy/verbs.h"
#include "tape/cassette.h"
#include "tape/line.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOSTS_SHOWN 3      /* in the table; --json has all */
#define HOSTS_MAX 1000     /* different hosts told apart */
#define HEADER_LINE KIB(4) /* a cassette's first line is about 120 bytes */

/* ---- list ---- */

struct list_flags {
    const char *cassettes;
    bool json;
};

static const struct cli_option list_options[] = {
    {"--cassettes", "DIR", CLI_TEXT, offsetof(struct list_flags, cassettes), NULL,
     "RETAPE_CASSETTES", "cassettes", "folder of the cassettes"},
    {"--json", NULL, CLI_FLAG, offsetof(struct list_flags, json), NULL, NULL, NULL,
     "print a JSON array"},
    {0},
};

static const char *const list_exits[] = {
    "0  ok",
    "2  usage, or a cassette that is not one",
    "3  files could not be read",
    NULL,
};

static const struct cli_verb list_verb = {
    .program = "retape",
    .name = "list",
    .usage = "[options]",
    .summary = "Lists the sessions that have a cassette: how many exchanges of which "
               "kind, with which hosts, how large and since when.",
    .options = list_options,
    .exits = list_exits,
    .example = "retape list --cassettes tests/cassettes",
};

/* What a row of the list says. */
struct overview {
    const char *session;
    char *path;
    struct tape *tape;
    size_t kinds[3];
    char *hosts[HOSTS_MAX];
    size_t n_hosts;
    uint64_t size;
    char created[CLOCK_TEXT];
};

static void overview_fini(struct overview *o)
{
    for (size_t i = 0; i < o->n_hosts; i++)
        free(o->hosts[i]);
    tape_close(&o->tape);
    free(o->path);
}

static void add_host(struct overview *o, const char *url)
{
    struct url u = {0};
    struct err e = {0};
    size_t i = 0;

    if (url_parse(&u, url, &e) == 0) {
        while (i < o->n_hosts && strcmp(o->hosts[i], u.host) != 0)
            i++;
        if (i == o->n_hosts && i < HOSTS_MAX) {
            o->hosts[o->n_hosts++] = u.host;
            u.host = NULL;
        }
    }
    url_fini(&u);
}

/* Size and date: the file itself and its first line. */
static int read_label(struct overview *o, struct err *e)
{
    char line[HEADER_LINE];
    struct stat st;
    struct line_header header;
    yyjson_doc *doc = NULL;
    int rc = -1, fd = open(o->path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : pread(fd, line, sizeof line, 0);

    if (n < 0 || fstat(fd, &st) < 0) {
        err_set(e, ERR_IO, "%.300s: %s", o->path, strerror(errno));
        goto out;
    }
    o->size = (uint64_t)st.st_size;
    const char *lf = memchr(line, '\n', (size_t)n);
    if (json_read(&doc, line, lf ? (size_t)(lf - line) : (size_t)n, e) == 0 &&
        line_read_header(&header, yyjson_doc_get_root(doc), e) == 0)
        rc = 0;
    if (rc == 0)
        (void)snprintf(o->created, sizeof o->created, "%s",
                       yyjson_get_str(header.created_at));
out:
    yyjson_doc_free(doc);
    if (fd >= 0)
        (void)close(fd);
    return rc;
}

static int look_at(struct overview *o, const char *dir, const char *session,
                   struct err *e)
{
    *o = (struct overview){.session = session, .path = cassette_path(dir, session)};
    if (!o->path)
        return err_set(e, ERR_NOMEM, "%s: out of memory", session);
    if (shelf_open(&o->tape, dir, session, e) < 0 || read_label(o, e) < 0)
        return -1;
    for (size_t i = 0; i < tape_count(o->tape); i++) {
        struct exchange x;
        if (tape_load_head(o->tape, i, &x, e) < 0)
            return -1;
        add_host(o, x.url);
        o->kinds[tape_entry(o->tape, i)->kind]++;
        exchange_fini(&x);
    }
    return 0;
}

static const struct table_column list_columns[] = {
    {"SESSION", 40, false}, {"EXCHANGES", 0, true}, {"LLM", 0, true},
    {"TOOL", 0, true},      {"HTTP", 0, true},      {"BYTES", 0, true},
    {"CREATED", 0, false},  {"HOSTS", 0, false},    {NULL, 0, false},
};

static void list_row(struct table *t, const struct overview *o)
{
    struct buf hosts = BUF_INIT(KIB(8));

    for (size_t i = 0; i < o->n_hosts && i < HOSTS_SHOWN; i++)
        buf_fmt(&hosts, "%s%s", i ? ", " : "", o->hosts[i]);
    if (o->n_hosts > HOSTS_SHOWN)
        buf_fmt(&hosts, " and %zu more", o->n_hosts - HOSTS_SHOWN);
    table_add(t, o->session);
    table_addf(t, "%zu", tape_count(o->tape));
    table_addf(t, "%zu", o->kinds[KIND_LLM]);
    table_addf(t, "%zu", o->kinds[KIND_TOOL]);
    table_addf(t, "%zu", o->kinds[KIND_HTTP]);
    table_addf(t, "%" PRIu64, o->size);
    table_add(t, o->created);
    table_add(t, buf_cstr(&hosts));
    buf_free(&hosts);
}

static void list_object(yyjson_mut_doc *doc, yyjson_mut_val *list,
                        const struct overview *o, const struct err *why)
{
    yyjson_mut_val *obj = yyjson_mut_arr_add_obj(doc, list), *hosts;

    yyjson_mut_obj_add_strcpy(doc, obj, "session", o->session);
    yyjson_mut_obj_add_strcpy(doc, obj, "path", o->path ? o->path : "");
    if (why) {
        yyjson_mut_obj_add_strcpy(doc, obj, "error", why->msg);
        return;
    }
    yyjson_mut_obj_add_uint(doc, obj, "exchanges", tape_count(o->tape));
    yyjson_mut_obj_add_uint(doc, obj, "llm", o->kinds[KIND_LLM]);
    yyjson_mut_obj_add_uint(doc, obj, "tool", o->kinds[KIND_TOOL]);
    yyjson_mut_obj_add_uint(doc, obj, "http", o->kinds[KIND_HTTP]);
    yyjson_mut_obj_add_uint(doc, obj, "size", o->size);
    yyjson_mut_obj_add_strcpy(doc, obj, "created_at", o->created);
    hosts = yyjson_mut_obj_add_arr(doc, obj, "hosts");
    for (size_t i = 0; i < o->n_hosts; i++)
        yyjson_mut_arr_add_strcpy(doc, hosts, o->hosts[i]);
}

/* A cassette that cannot be read is named and does not hide the others; the first
 * such one decides the exit status. */
static int list_all(const struct list_flags *f, const struct shelf_names *names,
                    struct err *e)
{
    struct table t;
    struct buf out = BUF_INIT(LIMIT_LINE);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    struct err first_bad = {0};
    int rc;

    table_init(&t, list_columns);
    yyjson_mut_doc_set_root(doc, list);
    for (size_t i = 0; i < names->n; i++) {
        struct overview o;
        struct err why = {0};
        bool bad = look_at(&o, f->cassettes, names->v[i], &why) < 0;
        if (f->json)
            list_object(doc, list, &o, bad ? &why : NULL);
        else if (!bad)
            list_row(&t, &o);
        if (bad)
            log_error("%s", why.msg);
        if (bad && first_bad.code == ERR_NONE)
            first_bad = why;
        overview_fini(&o);
    }
    rc = f->json ? page_json(doc, e) : table_print(&t, &out, e);
    if (rc == 0 && !f->json)
        rc = page_flush(&out, e);
    table_fini(&t);
    buf_free(&out);
    yyjson_mut_doc_free(doc);
    if (rc < 0)
        log_error("%s", e->msg);
    else if (first_bad.code != ERR_NONE)
        e->code = first_bad.code; /* said above */
    return e->code == ERR_NONE ? 0 : -1;
}

/* Parse, or print help: true when the verb is to run. *status otherwise. */
static bool started(const struct cli_verb *verb, int argc, char **argv, void *flags,
                    struct cli_rest *rest, int *status)
{
    struct buf out = BUF_INIT(MIB(1));
    struct err e = {0};
    int rc = cli_parse(verb, argc, argv, flags, rest, &e);

    if (rc == 0 && !rest->help)
        return true;
    if (rc == 0) {
        cli_help(verb, &out);
        rc = page_flush(&out, &e);
    }
    if (rc < 0)
        log_error("%s", e.msg);
    buf_free(&out);
    *status = rc < 0 ? err_exit_status(e.code) : 0;
    return false;
}

int verb_list(int argc, char **argv)
{
    struct list_flags f = {.cassettes = "cassettes"};
    struct cli_rest rest = {0};
    struct shelf_names names = {0};
    struct err e = {0};
    int status = 0;

    if (started(&list_verb, argc, argv, &f, &rest, &status)) {
        if (shelf_names(&names, f.cassettes, &e) < 0)
            log_error("%s", e.msg);
        else
            (void)list_all(&f, &names, &e);
        status = err_exit_status(e.code);
        shelf_names_free(&names);
    }
    cli_fini(&list_verb, &f, &rest);
    return status;
}

/* ---- show ---- */

struct show_flags {
    const char *cassettes;
    struct exhibit_parts parts;
    bool json;
};

static const struct cli_option show_options[] = {
    {"--cassettes", "DIR", CLI_TEXT, offsetof(struct show_flags, cassettes), NULL,
     "RETAPE_CASSETTES", "cassettes", "folder of the cassettes"},
    {"--headers", NULL, CLI_FLAG, offsetof(struct show_flags, parts.headers), NULL, NULL,
     NULL, "requests and responses with their headers"},
    {"--body", NULL, CLI_FLAG, offsetof(struct show_flags, parts.body), NULL, NULL, NULL,
     "requests and responses with their bodies"},
    {"--json", NULL, CLI_FLAG, offsetof(struct show_flags, json), NULL, NULL, NULL,
     "print JSON"},
    {0},
};

static const char *const show_exits[] = {
    "0  ok",
    "2  usage, no such session or exchange, or a cassette that is not one",
    "3  files could not be read",
    NULL,
};

static const struct cli_verb show_verb = {
    .program = "retape",
    .name = "show",
    .usage = "[options] CASSETTE|SESSION [N]",
    .summary = "Shows the exchanges of a cassette, a line each; or exchange N in full, "
               "request and response; or with --headers or --body those parts of one or "
               "of all.",
    .options = show_options,
    .exits = show_exits,
    .example = "retape show default 3",
    .least = 1,
    .most = 2,
};

static const struct table_column show_columns[] = {
    {"N", 0, true},        {"TIME", 0, false},  {"KIND", 0, false}, {"METHOD", 8, false},
    {"URL", 80, false},    {"STATUS", 0, true}, {"BYTES", 0, true}, {"MS", 0, true},
    {"OUTCOME", 0, false}, {NULL, 0, false},
};

static void show_row(struct table *t, const struct exchange *x)
{
    char when[CLOCK_TEXT];
    const char *url = strstr(x->url, "://");

    clock_rfc3339(x->t_ms, when);
    table_addf(t, "%" PRIu64, x->n);
    table_addf(t, "%.12s", when + strlen("2026-03-01T"));
    table_add(t, x->dialect[0] ? x->dialect : exchange_kind_name(x->kind));
    table_add(t, x->method);
    table_add(t, url ? url + 3 : x->url);
    table_addf(t, x->status ? "%d" : "-", x->status);
    table_addf(t, "%zu", x->res_body.len);
    table_addf(t, "%" PRIu32, x->total_ms);
    table_add(t, x->error_code[0] ? x->error_code : exchange_outcome_name(x->outcome));
}

/* Where exchange N stands. */
static int find_exchange(const struct tape *t, const char *text, size_t *at,
                         struct err *e)
{
    char *end = NULL;
    size_t n = tape_count(t);

    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*end || errno || text[0] < '0' || text[0] > '9')
        return err_set(e, ERR_USAGE, "`%.40s` is not the number of an exchange", text);
    for (*at = 0; *at < n; ++*at)
        if (tape_entry(t, *at)->n == number)
            return 0;
    if (n == 0)
        return err_set(e, ERR_USAGE, "%.300s holds no exchanges", tape_name(t));
    return err_set(e, ERR_USAGE,
                   "%.300s has no exchange %llu; its exchanges are %" PRIu64
                   " to %" PRIu64,
                   tape_name(t), number, tape_entry(t, 0)->n, tape_entry(t, n - 1)->n);
}

/* The three ways to print: a table, exchanges one after the other, JSON. */
struct printer {
    const struct show_flags *flags;
    struct table table;
    struct buf out;
    yyjson_mut_doc *doc;
    yyjson_mut_val *list;
    bool full;
    bool first;
};

static int print_one(struct printer *p, const struct exchange *x, struct err *e)
{
    if (p->flags->json) {
        yyjson_mut_arr_append(p->list, p->full ? exhibit_json(p->doc, x)
                                               : exhibit_json_short(p->doc, x));
        return 0;
    }
    if (!p->full) {
        show_row(&p->table, x);
        return 0;
    }
    buf_str(&p->out, p->first ? "" : "\n----\n\n");
    p->first = false;
    exhibit_text(x, p->flags->parts, &p->out);
    return page_flush(&p->out, e);
}

static int print_end(struct printer *p, bool single, struct err *e)
{
    if (p->flags->json) {
        yyjson_mut_doc_set_root(p->doc,
                                single ? yyjson_mut_arr_get_first(p->list) : p->list);
        return page_json(p->doc, e);
    }
    if (p->full)
        return 0;
    if (table_print(&p->table, &p->out, e) < 0)
        return -1;
    return page_flush(&p->out, e);
}

static int show(const struct show_flags *f, const char *which, const char *number,
                struct err *e)
{
    struct printer p = {.flags = f, .out = BUF_INIT(LIMIT_LINE), .first = true};
    struct tape *t = NULL;
    size_t from = 0, to;
    int rc = -1;

    p.full = number || f->parts.headers || f->parts.body;
    p.doc = yyjson_mut_doc_new(NULL);
    p.list = yyjson_mut_arr(p.doc);
    table_init(&p.table, show_columns);
    if (shelf_open(&t, f->cassettes, which, e) < 0)
        goto out;
    to = tape_count(t);
    if (number) {
        if (find_exchange(t, number, &from, e) < 0)
            goto out;
        to = from + 1;
    }
    for (size_t i = from; i < to; i++) {
        struct exchange x;
        if (tape_load(t, i, &x, e) < 0)
            goto out;
        rc = print_one(&p, &x, e);
        exchange_fini(&x);
        if (rc < 0)
            goto out;
    }
    rc = print_end(&p, number != NULL, e);
out:
    table_fini(&p.table);
    yyjson_mut_doc_free(p.doc);
    buf_free(&p.out);
    tape_close(&t);
    return rc;
}

int verb_show(int argc, char **argv)
{
    struct show_flags f = {.cassettes = "cassettes"};
    struct cli_rest rest = {0};
    struct err e = {0};
    int status = 0;

    if (started(&show_verb, argc, argv, &f, &rest, &status) &&
        show(&f, rest.v[0], rest.n > 1 ? rest.v[1] : NULL, &e) < 0) {
        log_error("%s", e.msg);
        status = err_exit_status(e.code);
    }
    cli_fini(&show_verb, &f, &rest);
    return status;
}
