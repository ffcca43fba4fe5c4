/*
 * config.c - see config.h.
 *
 * The shape of retape.json is the tables below ("the shape of the file"): a key, how its
 * value is read, what its texts must look like and where they go.
 */
#include "proxy/config.h"

#include "base/fsx.h"
#include "base/limits.h"
#include "proxy/conffile.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FILE "retape.json"

static const struct config_route built_in_routes[] = {
    {"/openai", "https://api.openai.com"},
    {"/anthropic", "https://api.anthropic.com"},
    {"/gemini", "https://generativelanguage.googleapis.com"},
};

static const char *const built_in_llm_hosts[] = {
    "api.openai.com",     "api.anthropic.com", "generativelanguage.googleapis.com",
    "*.openai.azure.com", "api.mistral.ai",    "api.groq.com",
    "openrouter.ai",      "api.deepseek.com",  "api.x.ai",
    "api.together.xyz",   "api.cohere.com",
};

/* First segments on the proxy's own origin that no route may take. */
static const char *const own_paths[] = {"/__retape", "/oracle", "/to", "/s"};

/* What config_load() hands out: the public part and what keeps it alive. */
struct loaded {
    struct config c; /* first: config_free() comes back with a pointer to it */
    struct conffile_texts owned; /* every text of the file we kept */
    struct conffile_texts llm_hosts, egress_allow, tunnel;
    struct conffile_texts scrub_headers, scrub_fields, scrub_query;
};

/* The texts of one object of a list (an ignore, a pattern, a tool). */
struct item {
    const char *pointer, *host, *path, *name, *regex;
};

struct loader {
    struct conffile f; /* first: the readers come back with a pointer to it */
    struct loaded *out;
    struct item item;
    struct scrub_pattern *patterns; /* ends with a NULL name */
    size_t n_patterns;
};

static struct loader *loader_of(struct conffile *f)
{
    return (struct loader *)f;
}

static struct config *config_of(struct conffile *f)
{
    return &loader_of(f)->out->c;
}

/* An empty list, told apart from none. */
static int start_texts(struct conffile_texts *t, struct err *e)
{
    if (!t->v)
        t->v = calloc(1, sizeof *t->v);
    return t->v ? 0 : err_set(e, ERR_NOMEM, "out of memory");
}

/* Room for one more element and a zeroed one behind it, as an end; NULL, or the list's
 * new place. */
static void *one_more(void *list, size_t n, size_t size, struct err *e)
{
    char *grown = realloc(list, (n + 2) * size);

    if (!grown)
        err_set(e, ERR_NOMEM, "out of memory");
    else
        memset(grown + n * size, 0, 2 * size);
    return grown;
}

static int read_bytes(struct conffile *f, const struct conffile_key *k, yyjson_val *v,
                      struct err *e)
{
    uint64_t n = yyjson_get_uint(v);

    if (!yyjson_is_uint(v) || n == 0 || n > LIMIT_DECODED_BODY)
        return conffile_complain(f, e, "must be a whole number of bytes from 1 to %zu",
                                 LIMIT_DECODED_BODY);
    *(size_t *)(void *)((char *)loader_of(f)->out + k->offset) = (size_t)n;
    return 0;
}

/* Editors look for "$schema"; it means nothing to us. */
static int read_schema(struct conffile *f, const struct conffile_key *k, yyjson_val *v,
                       struct err *e)
{
    const char *text;

    return conffile_text(f, k->check, v, &text, e);
}

static int read_events(struct conffile *f, const struct conffile_key *k, yyjson_val *v,
                       struct err *e)
{
    (void)k;
    (void)v;
    return conffile_complain(f, e, "not available in this version; take the key out");
}

/* ---- routes: {"/prefix": "https://target"} ---- */

static int check_prefix(struct conffile *f, yyjson_val *name, struct err *e)
{
    const char *prefix = yyjson_get_str(name);
    size_t n = strlen(prefix);

    if (n != yyjson_get_len(name) || !textcheck_path.holds(prefix) ||
        prefix[n - 1] == '/' || strstr(prefix, "//"))
        return conffile_complain(
            f, e,
            "a route is a path such as /search: it starts with '/' and does "
            "not end with one");
    for (size_t i = 0; i < COUNT_OF(own_paths); i++) {
        size_t own = strlen(own_paths[i]);
        if (strncmp(prefix, own_paths[i], own) == 0 && strchr("/", prefix[own]))
            return conffile_complain(f, e, "%s is a path of retape's own; choose another",
                                     own_paths[i]);
    }
    for (size_t i = 0; i < config_of(f)->n_routes; i++)
        if (strcmp(config_of(f)->routes[i].prefix, prefix) == 0)
            return conffile_complain(f, e, "stands here a second time");
    return 0;
}

static int add_route(struct config *c, const char *prefix, const char *target,
                     struct err *e)
{
    struct config_route *grown = one_more(c->routes, c->n_routes, sizeof *c->routes, e);

    if (!grown)
        return -1;
    c->routes = grown;
    c->routes[c->n_routes++] = (struct config_route){prefix, target};
    return 0;
}

static int read_route(struct conffile *f, yyjson_val *name, struct err *e)
{
    const char *prefix, *target;

    if (check_prefix(f, name, e) < 0 ||
        conffile_text(f, &textcheck_target, yyjson_obj_iter_get_val(name), &target, e) <
            0)
        return -1;
    size_t n = strlen(target);
    while (target[n - 1] == '/')
        n--;
    target = conffile_keep(f, target, n, e);
    prefix = conffile_keep(f, yyjson_get_str(name), yyjson_get_len(name), e);
    if (!target || !prefix)
        return -1;
    return add_route(config_of(f), prefix, target, e);
}

static int read_routes(struct conffile *f, const struct conffile_key *k, yyjson_val *v,
                       struct err *e)
{
    yyjson_obj_iter it;
    yyjson_val *name;

    (void)k;
    if (!yyjson_is_obj(v))
        return conffile_wrong_type(f, v, "an object", e);
    if (conffile_size(f, v, e) < 0)
        return -1;
    yyjson_obj_iter_init(v, &it);
    for (size_t i = 0; (name = yyjson_obj_iter_next(&it)); i++) {
        conffile_enter(f, i, yyjson_get_str(name));
        if (read_route(f, name, e) < 0)
            return -1;
        conffile_leave(f);
    }
    return 0;
}

/* ---- what happens to what was read ---- */

static int add_to_list(struct conffile *f, const struct conffile_key *k, const char *text,
                       struct err *e)
{
    void *list = (char *)loader_of(f)->out + k->offset;

    return conffile_texts_add(list, text, e);
}

static int add_ignore(struct conffile *f, const struct conffile_key *k, const char *text,
                      struct err *e)
{
    const struct item *item = &loader_of(f)->item;
    const struct canon_ignore rule = {text ? text : item->pointer, item->host,
                                      item->path};

    (void)k;
    if (!rule.pointer)
        return conffile_complain(f, e, "needs a 'pointer'");
    if (canon_rules_ignore(config_of(f)->match, &rule, e) < 0)
        return conffile_in_place(f, e);
    return 0;
}

static int add_ignore_query(struct conffile *f, const struct conffile_key *k,
                            const char *text, struct err *e)
{
    (void)k;
    if (canon_rules_ignore_query(config_of(f)->match, text, e) < 0)
        return conffile_in_place(f, e);
    return 0;
}

static int add_match_header(struct conffile *f, const struct conffile_key *k,
                            const char *text, struct err *e)
{
    (void)k;
    if (canon_rules_match_header(config_of(f)->match, text, e) < 0)
        return conffile_in_place(f, e);
    return 0;
}

/* The scrubber compiles it again; here a mistake still has its line. */
static int check_regex(struct conffile *f, const char *regex, struct err *e)
{
    regex_t re;
    char why[128];

    if (strlen(regex) > LIMIT_REGEX)
        return conffile_complain(f, e, "'regex' is longer than %d characters",
                                 LIMIT_REGEX);
    int rc = regcomp(&re, regex, REG_EXTENDED | REG_NOSUB);
    if (rc != 0) {
        (void)regerror(rc, &re, why, sizeof why);
        return conffile_complain(f, e, "'regex' is not a POSIX extended expression: %s",
                                 why);
    }
    bool empty = regexec(&re, "", 0, NULL, 0) == 0;
    regfree(&re);
    return empty ? conffile_complain(f, e, "'regex' matches the empty text") : 0;
}

static int add_pattern(struct conffile *f, const struct conffile_key *k, const char *text,
                       struct err *e)
{
    struct loader *l = loader_of(f);
    struct scrub_pattern *grown;

    (void)k;
    (void)text;
    if (!l->item.name || !l->item.regex)
        return conffile_complain(f, e, "needs a 'name' and a 'regex'");
    if (check_regex(f, l->item.regex, e) < 0)
        return -1;
    grown = one_more(l->patterns, l->n_patterns, sizeof *l->patterns, e);
    if (!grown)
        return -1;
    l->patterns = grown;
    l->patterns[l->n_patterns++] = (struct scrub_pattern){l->item.name, l->item.regex};
    return 0;
}

static int add_tool(struct conffile *f, const struct conffile_key *k, const char *text,
                    struct err *e)
{
    const struct item *item = &loader_of(f)->item;
    struct config *c = config_of(f);
    struct config_tool *grown;

    (void)k;
    (void)text;
    if (!item->host || !item->name)
        return conffile_complain(f, e, "needs a 'host' and a 'name'");
    grown = one_more(c->tools, c->n_tools, sizeof *c->tools, e);
    if (!grown)
        return -1;
    c->tools = grown;
    c->tools[c->n_tools++] = (struct config_tool){item->host, item->path, item->name};
    return 0;
}

/* An empty egress.allow lets nothing out; none lets everything out. */
static int read_egress(struct conffile *f, const struct conffile_key *k, yyjson_val *v,
                       struct err *e)
{
    if (start_texts(&loader_of(f)->out->egress_allow, e) < 0)
        return -1;
    return conffile_list(f, k, v, e);
}

/* ---- the shape of the file ---- */

#define FIELD(member) offsetof(struct item, member)
#define PART(member) offsetof(struct loaded, member)

static const struct conffile_key ignore_keys[] = {
    {"pointer", conffile_field, .check = &textcheck_pointer, .offset = FIELD(pointer)},
    {"host", conffile_field, .check = &textcheck_host, .offset = FIELD(host)},
    {"path", conffile_field, .check = &textcheck_path, .offset = FIELD(path)},
    {.name = NULL},
};
static const struct conffile_key match_keys[] = {
    {"ignore", conffile_list, ignore_keys, &textcheck_pointer, .add = add_ignore},
    {"ignore_query", conffile_list, .check = &textcheck_word, .add = add_ignore_query},
    {"headers", conffile_list, .check = &textcheck_header, .add = add_match_header},
    {.name = NULL},
};
static const struct conffile_key pattern_keys[] = {
    {"name", conffile_field, .check = &textcheck_name, .offset = FIELD(name)},
    {"regex", conffile_field, .check = &textcheck_word, .offset = FIELD(regex)},
    {.name = NULL},
};
static const struct conffile_key scrub_keys[] = {
    {"headers", conffile_list, NULL, &textcheck_header, add_to_list, PART(scrub_headers)},
    {"fields", conffile_list, NULL, &textcheck_word, add_to_list, PART(scrub_fields)},
    {"query", conffile_list, NULL, &textcheck_word, add_to_list, PART(scrub_query)},
    {"patterns", conffile_list, pattern_keys, .add = add_pattern},
    {.name = NULL},
};
static const struct conffile_key llm_keys[] = {
    {"hosts", conffile_list, NULL, &textcheck_host, add_to_list, PART(llm_hosts)},
    {.name = NULL},
};
static const struct conffile_key tool_keys[] = {
    {"host", conffile_field, .check = &textcheck_host, .offset = FIELD(host)},
    {"path", conffile_field, .check = &textcheck_path, .offset = FIELD(path)},
    {"name", conffile_field, .check = &textcheck_name, .offset = FIELD(name)},
    {.name = NULL},
};
static const struct conffile_key egress_keys[] = {
    {"allow", read_egress, NULL, &textcheck_host, add_to_list, PART(egress_allow)},
    {.name = NULL},
};
static const struct conffile_key limit_keys[] = {
    {"request_body", read_bytes, .offset = PART(c.max_request_body)},
    {"response_body", read_bytes, .offset = PART(c.max_response_body)},
    {.name = NULL},
};
static const struct conffile_key file_keys[] = {
    {"$schema", read_schema, .check = &textcheck_word},
    {"match", conffile_object, .inside = match_keys},
    {"scrub", conffile_object, .inside = scrub_keys},
    {"routes", .read = read_routes},
    {"llm", conffile_object, .inside = llm_keys},
    {"tools", conffile_list, tool_keys, .add = add_tool},
    {"egress", conffile_object, .inside = egress_keys},
    {"tunnel", conffile_list, NULL, &textcheck_host, add_to_list, PART(tunnel)},
    {"limits", conffile_object, .inside = limit_keys},
    {"events", .read = read_events},
    {.name = NULL},
};

void config_known_keys(struct buf *out)
{
    conffile_known_keys(file_keys, out);
}

/* ---- loading ---- */

/* Built-in values come behind those of the file. */
static int add_built_ins(struct loaded *out, struct err *e)
{
    for (size_t i = 0; i < COUNT_OF(built_in_routes); i++)
        if (add_route(&out->c, built_in_routes[i].prefix, built_in_routes[i].target, e) <
            0)
            return -1;
    for (size_t i = 0; i < COUNT_OF(built_in_llm_hosts); i++)
        if (conffile_texts_add(&out->llm_hosts, built_in_llm_hosts[i], e) < 0)
            return -1;
    return start_texts(&out->tunnel, e);
}

static int load(struct loader *l, struct err *e)
{
    struct loaded *out = l->out;
    struct config *c = &out->c;

    c->max_request_body = LIMIT_REQUEST_BODY;
    c->max_response_body = LIMIT_RESPONSE_BODY;
    if (canon_rules_new(&c->match, e) < 0)
        return -1;
    if (l->f.file) {
        c->path = conffile_keep(&l->f, l->f.file, strlen(l->f.file), e);
        if (!c->path || conffile_load(&l->f, file_keys, e) < 0)
            return -1;
    }
    if (add_built_ins(out, e) < 0)
        return -1;
    c->llm_hosts = out->llm_hosts.v;
    c->egress_allow = out->egress_allow.v;
    c->tunnel = out->tunnel.v;
    const struct scrub_config more = {out->scrub_headers.v, out->scrub_fields.v,
                                      out->scrub_query.v, l->patterns};
    if (scrub_new(&c->scrub, &more, e) < 0)
        return c->path ? err_in(e, "%.160s: scrub", c->path) : -1;
    return 0;
}

int config_load(struct config **out, const char *path, struct err *e)
{
    struct loaded *made = calloc(1, sizeof *made);
    struct loader l = {.out = made};

    *out = NULL;
    if (!made)
        return err_set(e, ERR_NOMEM, "out of memory");
    l.f.file = path ? path : fsx_exists(DEFAULT_FILE) ? DEFAULT_FILE : NULL;
    l.f.owned = &made->owned;
    l.f.item = &l.item;
    l.f.item_size = sizeof l.item;
    int rc = load(&l, e);
    free(l.patterns);
    *out = &made->c;
    if (rc < 0)
        config_free(out);
    return rc;
}

void config_free(struct config **c)
{
    struct loaded *l = (struct loaded *)*c;

    if (!l)
        return;
    struct conffile_texts *lists[] = {&l->owned,      &l->llm_hosts,     &l->egress_allow,
                                      &l->tunnel,     &l->scrub_headers, &l->scrub_fields,
                                      &l->scrub_query};
    for (size_t i = 0; i < l->owned.n; i++)
        free((char *)(uintptr_t)l->owned.v[i]);
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        free(lists[i]->v);
    free(l->c.routes);
    free(l->c.tools);
    canon_rules_free(&l->c.match);
    scrub_free(&l->c.scrub);
    free(l);
    *c = NULL;
}
