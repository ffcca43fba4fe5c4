/* test-config.c - retape.json: what is read, what is refused and on which line. */
#include "base/fsx.h"
#include "base/json.h"
#include "base/limits.h"
#include "proxy/config.h"
#include "proxy/place.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <unistd.h>

static const char *srcdir;

/* Load a text as the file "c.json" of the test's folder. */
static int load_bytes(struct config **out, const char *text, size_t len, struct err *e)
{
    int rc = fsx_write_file("c.json", text, len, 0600, e);

    return rc < 0 ? rc : config_load(out, "c.json", e);
}

static int load(struct config **out, const char *text, struct err *e)
{
    return load_bytes(out, text, strlen(text), e);
}

static void test_defaults(void)
{
    struct config *c = NULL;
    struct err e = {0};

    ok(config_load(&c, NULL, &e) == 0 && c, "no file, no error: %s", e.msg);
    ok(!c->path && c->match && c->scrub, "rules of their own");
    ok(c->n_routes == 3, "three routes");
    is(c->routes[0].prefix, "/openai", "the first");
    is(c->routes[2].target, "https://generativelanguage.googleapis.com", "the last");
    is(c->llm_hosts[0], "api.openai.com", "known providers");
    ok(!c->egress_allow && c->tunnel && !c->tunnel[0] && c->n_tools == 0, "all open");
    ok(c->max_request_body == LIMIT_REQUEST_BODY &&
           c->max_response_body == LIMIT_RESPONSE_BODY,
       "limits");
    config_free(&c);
    config_free(&c);
    ok(!c, "freed, twice");
    ok(fsx_write_file("retape.json", "{\"limits\":{\"request_body\":7}}", 29, 0600, &e) ==
               0 &&
           config_load(&c, NULL, &e) == 0,
       "retape.json is found: %s", e.msg);
    is(c->path, "retape.json", "and named");
    ok(c->max_request_body == 7, "and read");
    config_free(&c);
    (void)unlink("retape.json");
}

static const char full[] =
    "// a comment\n"
    "{\n"
    "  \"$schema\": \"docs/retape.schema.json\",\n"
    "  \"match\": {\n"
    "    \"ignore\": [\"/metadata\", {\"pointer\": \"/messages/*/id\",\n"
    "      \"host\": \"API.x.y\", \"path\": \"/v1\"}, {\"pointer\": \"/a~0~1b\"},],\n"
    "    \"ignore_query\": [\"ts\"], \"headers\": [\"X-Tenant\"]\n"
    "  },\n"
    "  \"scrub\": {\"headers\": [\"X-Mine\"], \"fields\": [\"pin\"], \"query\": "
    "[\"k\"],\n"
    "    \"patterns\": [{\"name\": \"badge\", \"regex\": \"badge-[0-9]{4}\"}]},\n"
    "  \"routes\": {\"/search\": \"https://search.x/api/\", \"/openai\": "
    "\"http://localhost:9\", \"/a/b\": \"https://c\"},\n"
    "  \"llm\": {\"hosts\": [\"LLM.local\"]}, /* ours */\n"
    "  \"tools\": [{\"host\": \"[::1]\", \"path\": \"/w\", \"name\": \"weather\"},\n"
    "    {\"host\": \"*.tools.x\", \"name\": \"any\"}],\n"
    "  \"egress\": {\"allow\": [\"api.x.y\", \"*.x\"]},\n"
    "  \"tunnel\": [\"pinned.x\"],\n"
    "  \"limits\": {\"request_body\": 1, \"response_body\": 536870912},\n"
    "}\n";

static void test_full(void)
{
    struct config *c = NULL;
    struct err e = {0};

    ok(load(&c, full, &e) == 0, "every key: %s", e.msg);
    if (!c)
        return;
    is(c->path, "c.json", "path");
    ok(c->n_routes == 6, "built-in routes stay");
    is(c->routes[0].prefix, "/search", "those of the file come first");
    is(c->routes[0].target, "https://search.x/api", "no '/' at the end of a target");
    is(c->routes[1].target, "http://localhost:9", "and may hide built-in ones");
    is(c->llm_hosts[0], "llm.local", "hosts in lower case, before the known ones");
    is(c->llm_hosts[1], "api.openai.com", "which stay");
    ok(c->n_tools == 2, "tools");
    is(c->tools[0].host, "::1", "IPv6 as in parsed URLs");
    is(c->tools[0].path, "/w", "path");
    is(c->tools[1].host, "*.tools.x", "a pattern");
    is(c->tools[1].path, NULL, "no path");
    is(c->tools[1].name, "any", "name");
    is(c->egress_allow[1], "*.x", "egress");
    is(c->tunnel[0], "pinned.x", "tunnel");
    ok(c->max_request_body == 1 && c->max_response_body == 536870912, "limits");
    config_free(&c);
    ok(load(&c, "{\"egress\":{\"allow\":[]}}", &e) == 0 && c->egress_allow &&
           !c->egress_allow[0],
       "an empty egress.allow is not the same as none");
    config_free(&c);
}

/* The ignores reach the canonicaliser: the same key with and without them. */
static void test_ignore_works(void)
{
    const char *bodies[] = {"{\"a\":1,\"id\":\"x\"}", "{\"a\":1,\"id\":\"y\"}"};
    struct canon_result got[2] = {0};
    struct headers none = {0};
    struct config *c = NULL;
    struct url u = {0};
    struct err e = {0};

    ok(load(&c, "{\"match\":{\"ignore\":[\"/id\"]}}", &e) == 0 &&
           url_parse(&u, "http://h/p", &e) == 0,
       "an ignore");
    for (size_t i = 0; i < 2; i++) {
        struct canon_request r = {"POST", &u, &none, bodies[i], strlen(bodies[i])};
        ok(canon_key(c->match, &r, &got[i], &e) == 0, "key %zu", i);
    }
    is(got[0].key, got[1].key, "does its work");
    url_fini(&u);
    config_free(&c);
}

static const struct {
    const char *text, *want;
} refused[] = {
    {"{\n\n\"mtach\": {}}", "c.json:3: mtach: unknown key, did you mean 'match'?"},
    {"{\"match\": {\n\"ingore\": []}}",
     "c.json:2: match.ingore: unknown key, did you mean 'ignore'?"},
    {"{\"zzzzzz\": 1}",
     "c.json:1: zzzzzz: unknown key; see docs/CONFIG.md for those there are"},
    {"{\"match\": {},\n\n\"match\": {}}", "c.json:3: match: stands here a second time"},
    {"{\"match\": {\"ignore\":\n[], \n\"ignore\": []}}",
     "c.json:3: match.ignore: stands here a second time"},
    {"{\"tools\": [\n{\"host\": \"a\", \"name\": \"b\",\n\"host\": \"c\"}]}",
     "c.json:3: tools[0].host: stands here a second time"},
    {"[]", "c.json:1: must be an object, not a list"},
    {"\n\n7", "c.json:3: must be an object, not a number"},
    {"{\"match\": []}", "c.json:1: match: must be an object, not a list"},
    {"{\"match\": null}", "c.json:1: match: must be an object, not null"},
    {"{\"match\": {\"ignore\": \"/a\"}}",
     "c.json:1: match.ignore: must be a list, not a text"},
    {"{\"match\": {\"ignore\": [\"/a\",\n// \"no\", [\n7]}}",
     "c.json:3: match.ignore[1]: must be a text, not a number"},
    {"{\"match\": {\"ignore\": [\"a\"]}}",
     "c.json:1: match.ignore[0]: must be a JSON pointer such as /messages/*/id (~0 for "
     "~, ~1 for /)"},
    {"{\"match\": {\"ignore\": [\"\"]}}",
     "c.json:1: match.ignore[0]: must be a JSON pointer such as /messages/*/id (~0 for "
     "~, ~1 for /)"},
    {"{\"match\": {\"ignore\": [{\"pointer\": \"/a~\"}]}}",
     "c.json:1: match.ignore[0].pointer: must be a JSON pointer such as /messages/*/id "
     "(~0 for ~, ~1 for /)"},
    {"{\"match\": {\"ignore\": [{\"host\": \"a\"}]}}",
     "c.json:1: match.ignore[0]: needs a 'pointer'"},
    {"{\"match\": {\"ignore\": [{\"pointer\": \"/a\",\n\"hots\": \"a\"}]}}",
     "c.json:2: match.ignore[0].hots: unknown key, did you mean 'host'?"},
    {"{\"match\": {\"ignore\": [{\"pointer\": \"/a\", \"path\": \"v1\"}]}}",
     "c.json:1: match.ignore[0].path: must be a path that starts with '/'"},
    {"{\"match\": {\"ignore_query\": [\"\"]}}",
     "c.json:1: match.ignore_query[0]: must be a text that is not empty"},
    {"{\"match\": {\"headers\": [\"X Y\"]}}",
     "c.json:1: match.headers[0]: must be a header name"},
    {"{\"scrub\": {\"headers\": [\"X:\"]}}",
     "c.json:1: scrub.headers[0]: must be a header name"},
    {"{\"scrub\": {\"fields\": [\"a\\u0000b\"]}}",
     "c.json:1: scrub.fields[0]: must not hold a NUL character"},
    {"{\"scrub\": {\"query\": [true]}}",
     "c.json:1: scrub.query[0]: must be a text, not a boolean"},
    {"{\"scrub\": {\"patterns\": [\"a\"]}}",
     "c.json:1: scrub.patterns[0]: must be an object, not a text"},
    {"{\"scrub\": {\"patterns\": [{\"name\": \"a\"}]}}",
     "c.json:1: scrub.patterns[0]: needs a 'name' and a 'regex'"},
    {"{\"scrub\": {\"patterns\": [{\"name\": \"a b\", \"regex\": \"x\"}]}}",
     "c.json:1: scrub.patterns[0].name: must be a name of at most 64 letters, digits, "
     "'.', '_' and '-'"},
    {"{\"scrub\": {\"patterns\": [\n{\"name\": \"a\", \"regex\": \"(x\"}]}}",
     "c.json:2: scrub.patterns[0]: 'regex' is not a POSIX extended expression: "
     "Unmatched ( or \\("},
    {"{\"scrub\": {\"patterns\": [{\"name\": \"a\", \"regex\": \"x*\"}]}}",
     "c.json:1: scrub.patterns[0]: 'regex' matches the empty text"},
    {"{\"routes\": {\"search\": \"https://x\"}}",
     "c.json:1: routes.search: a route is a path such as /search: it starts with '/' and "
     "does not end with one"},
    {"{\"routes\": {\"/search/\": \"https://x\"}}",
     "c.json:1: routes./search/: a route is a path such as /search: it starts with '/' "
     "and does not end with one"},
    {"{\"routes\": {\"/__retape/x\": \"https://x\"}}",
     "c.json:1: routes./__retape/x: /__retape is a path of retape's own; choose another"},
    {"{\"routes\": {\"/s\": \"https://x\"}}",
     "c.json:1: routes./s: /s is a path of retape's own; choose another"},
    {"{\"routes\": {\"/a\": \"https://x\",\n\"/a\": \"https://y\"}}",
     "c.json:2: routes./a: stands here a second time"},
    {"{\"routes\": {\"/a\": \"ftp://x\"}}",
     "c.json:1: routes./a: must be an http:// or https:// URL without user name, query "
     "and fragment"},
    {"{\"routes\": {\"/a\": \"https://x/?q\"}}",
     "c.json:1: routes./a: must be an http:// or https:// URL without user name, query "
     "and fragment"},
    {"{\"routes\": {\"/a\": 1}}", "c.json:1: routes./a: must be a text, not a number"},
    {"{\"routes\": []}", "c.json:1: routes: must be an object, not a list"},
    {"{\"llm\": {\"hosts\": [\"a:443\"]}}",
     "c.json:1: llm.hosts[0]: must be a host name without a port, or *.DOMAIN"},
    {"{\"llm\": {\"hosts\": [\"*.1.2.3.4\"]}}",
     "c.json:1: llm.hosts[0]: must be a host name without a port, or *.DOMAIN"},
    {"{\"tools\": {}}", "c.json:1: tools: must be a list, not an object"},
    {"{\"tools\": [{\"host\": \"a\"}]}",
     "c.json:1: tools[0]: needs a 'host' and a 'name'"},
    {"{\"egress\": {\"allow\": [\"https://a\"]}}",
     "c.json:1: egress.allow[0]: must be a host name without a port, or *.DOMAIN"},
    {"{\"tunnel\": \"a\"}", "c.json:1: tunnel: must be a list, not a text"},
    {"{\"limits\": {\"request_body\": 0}}",
     "c.json:1: limits.request_body: must be a whole number of bytes from 1 to "
     "536870912"},
    {"{\"limits\": {\"response_body\": 536870913}}",
     "c.json:1: limits.response_body: must be a whole number of bytes from 1 to "
     "536870912"},
    {"{\"limits\": {\"request_body\": 1.5}}",
     "c.json:1: limits.request_body: must be a whole number of bytes from 1 to "
     "536870912"},
    {"{\"limits\": {\"request_body\": -1}}",
     "c.json:1: limits.request_body: must be a whole number of bytes from 1 to "
     "536870912"},
    {"{\n\"events\": {}}",
     "c.json:2: events: not available in this version; take the key out"},
    {"{\"$schema\": 1}", "c.json:1: $schema: must be a text, not a number"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct config *c = NULL;
        struct err e = {0};
        ok(load(&c, refused[i].text, &e) == -1 && !c && e.code == ERR_CONFIG,
           "refused: %s", refused[i].want);
        is(e.msg, refused[i].want, "and said so");
    }
}

static void test_files(void)
{
    struct config *c = NULL;
    struct err e = {0};
    struct buf big = BUF_INIT(MIB(2));

    ok(config_load(&c, "nowhere.json", &e) == -1 && e.code == ERR_CONFIG &&
           strstr(e.msg, "nowhere.json"),
       "a named file must be there: %s", e.msg);
    ok(config_load(&c, ".", &e) == -1 && e.code == ERR_CONFIG, "a folder is none");
    ok(load(&c, "{\n  \"match\": {,}\n}", &e) == -1 && e.code == ERR_CONFIG &&
           strncmp(e.msg, "c.json:2:", 9) == 0,
       "bad JSON names its place: %s", e.msg);
    ok(load(&c, "", &e) == -1 && e.code == ERR_CONFIG, "an empty file: %s", e.msg);
    for (size_t n = LIMIT_CONFIG_ENTRIES; n <= LIMIT_CONFIG_ENTRIES + 1; n++) {
        buf_reset(&big);
        buf_str(&big, "{\"tunnel\": [\"h\"");
        for (size_t i = 1; i < n; i++)
            buf_str(&big, ",\"h\"");
        buf_str(&big, "]}");
        ok((load_bytes(&c, big.data, big.len, &e) == 0) == (n == LIMIT_CONFIG_ENTRIES),
           "%zu entries", n);
        config_free(&c);
    }
    for (size_t n = LIMIT_CONFIG_FILE; n <= LIMIT_CONFIG_FILE + 1; n++) {
        buf_reset(&big);
        buf_str(&big, "{}");
        while (big.len < n)
            buf_char(&big, '\n');
        ok((load_bytes(&c, big.data, big.len, &e) == 0) == (n == LIMIT_CONFIG_FILE),
           "a file of %zu bytes", n);
        config_free(&c);
    }
    for (size_t n = LIMIT_REGEX; n <= LIMIT_REGEX + 1; n++) {
        buf_reset(&big);
        buf_str(&big, "{\"scrub\":{\"patterns\":[{\"name\":\"a\",\"regex\":\"");
        for (size_t i = 0; i < n; i++)
            buf_char(&big, 'a');
        buf_str(&big, "\"}]}}");
        ok((load_bytes(&c, big.data, big.len, &e) == 0) == (n == LIMIT_REGEX),
           "an expression of %zu characters", n);
        config_free(&c);
    }
    buf_free(&big);
}

static const struct {
    const char *text;
    size_t path[4], depth, line;
} places[] = {
    {"{}", {0}, 0, 1},
    {"\n\n{}", {0}, 0, 3},
    {"{\"a\":\n1,\n\"b\":2}", {1}, 1, 3},
    {"{\"a\":\"}\\\"\\n\",\n\"b\":2}", {1}, 1, 2},
    {"{\"a\":[{\"x\":[1,\n2]},\n{}],/*\n,\"c\":1*/\n\"b\":2}", {1}, 1, 5},
    {"{\"a\":[1,\n-2.5e3,\ntrue,\n\"t\"]}", {0, 3}, 2, 4},
    {"{\"a\":[1,\n{\"k\":0,\n\"l\":\n1}]}", {0, 1, 1}, 3, 3},
    {"// x\n{ // {\n\"a\" : // [\n[\n7]}", {0, 0}, 2, 5},
    {"{\"a\":1}", {7}, 1, 1},
    {"{\"a\":", {0, 3, 1}, 3, 1},
    {"{\n\"a\": \"b\"", {1, 2, 3}, 3, 2},
    {"", {1, 1, 1}, 3, 1},
};

static void test_places(void)
{
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        size_t got = place_line(places[i].text, strlen(places[i].text), places[i].path,
                                places[i].depth);
        ok(got == places[i].line, "place %zu: line %zu, got %zu", i, places[i].line, got);
    }
}

/* The keys of a schema node in the loader's notation, one a line. */
static void put_schema_keys(yyjson_val *node, const char *prefix, struct buf *out)
{
    yyjson_val *key, *value, *one;
    yyjson_val *items = yyjson_obj_get(node, "items");
    yyjson_val *properties = yyjson_obj_get(node, "properties");
    char label[160];
    size_t i, n;

    (void)snprintf(label, sizeof label, "%s[]", prefix);
    if (items)
        put_schema_keys(items, label, out);
    yyjson_arr_foreach(yyjson_obj_get(node, "oneOf"), i, n, one)
    {
        put_schema_keys(one, prefix, out);
    }
    yyjson_obj_foreach(properties, i, n, key, value)
    {
        (void)snprintf(label, sizeof label, "%s%s%s", prefix, *prefix ? "." : "",
                       yyjson_get_str(key));
        buf_fmt(out, "%s\n", label);
        put_schema_keys(value, label, out);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines in order, joined again. */
static void sort_lines(struct buf *b)
{
    char *lines[100], *copy = strdup(buf_cstr(b));
    size_t n = 0;

    for (char *w = strtok(copy, "\n"); w && n < COUNT_OF(lines); w = strtok(NULL, "\n"))
        lines[n++] = w;
    qsort(lines, n, sizeof *lines, by_text);
    buf_reset(b);
    for (size_t i = 0; i < n; i++)
        buf_fmt(b, "%s\n", lines[i]);
    free(copy);
}

static void test_schema(void)
{
    struct buf text = BUF_INIT(MIB(1)), known = BUF_INIT(8192), said = BUF_INIT(8192);
    struct err e = {0};
    yyjson_doc *doc = NULL;
    char *path = fsx_join(srcdir, "docs/retape.schema.json");

    ok(fsx_read_file(path, &text, &e) == 0 &&
           json_read(&doc, text.data, text.len, &e) == 0,
       "the schema is JSON: %s", e.msg);
    put_schema_keys(yyjson_doc_get_root(doc), "", &said);
    config_known_keys(&known);
    sort_lines(&said);
    sort_lines(&known);
    is(buf_cstr(&said), buf_cstr(&known), "schema and loader know the same keys");
    ok(strstr(buf_cstr(&known), "match.ignore[].pointer\n") != NULL,
       "down to the fields");
    yyjson_doc_free(doc);
    free(path);
    buf_free(&text);
    buf_free(&known);
    buf_free(&said);
}

int main(void)
{
    const char *where = getenv("srcdir");
    char *from = realpath(where ? where : ".", NULL);

    srcdir = from;
    if (!from || chdir(scratch_make()) < 0)
        return 99;
    test_defaults();
    test_full();
    test_ignore_works();
    test_refused();
    test_files();
    test_places();
    test_schema();
    free(from);
    return tap_done();
}
