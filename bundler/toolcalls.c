/* toolcalls.c - see toolcalls.h. */
#include "bundler/toolcalls.h"

#include "base/digest.h"
#include "base/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Ids of calls told already, in a table that stays half empty. A conversation has
 * hundreds; calls beyond are not counted. */
enum { SEEN_SIZE = 1 << 16, SEEN_MOST = SEEN_SIZE / 2 };

struct toolcalls {
    uint64_t seen[SEEN_SIZE]; /* hashes of ids; 0 is free */
    size_t n_seen;
};

struct search {
    struct toolcalls *t;
    toolcalls_fn *fn;
    void *arg;
    struct err *e;
};

int toolcalls_new(struct toolcalls **out, struct err *e)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : err_set(e, ERR_NOMEM, "out of memory");
}

void toolcalls_free(struct toolcalls **t)
{
    free(*t);
    *t = NULL;
}

/* First time this id is seen? A full table has seen everything. */
static bool is_new(struct toolcalls *t, uint64_t hash)
{
    size_t i = hash % SEEN_SIZE;

    hash |= 1;
    while (t->seen[i] && t->seen[i] != hash)
        i = (i + 1) % SEEN_SIZE;
    if (t->seen[i] || t->n_seen == SEEN_MOST)
        return false;
    t->seen[i] = hash;
    t->n_seen++;
    return true;
}

static int tell(struct search *s, yyjson_val *name, bool called)
{
    return yyjson_is_str(name) ? s->fn(s->arg, yyjson_get_str(name), called, s->e) : 0;
}

/* `place`: in the conversation, for calls without an id. */
static int tell_call(struct search *s, yyjson_val *name, yyjson_val *id, uint64_t place)
{
    uint64_t hash = place * UINT64_C(0x9e3779b97f4a7c15);

    if (!yyjson_is_str(name))
        return 0;
    if (yyjson_is_str(id))
        hash = digest_xxh3(yyjson_get_str(id), yyjson_get_len(id)).lo;
    else
        hash ^= digest_xxh3(yyjson_get_str(name), yyjson_get_len(name)).lo;
    return is_new(s->t, hash) ? tell(s, name, true) : 0;
}

/* ---- tools on offer ---- */

static int find_offered(struct search *s, yyjson_val *tools)
{
    size_t i, n, k, m;
    yyjson_val *tool, *one;

    yyjson_arr_foreach(tools, i, n, tool)
    {
        yyjson_val *function = json_find(tool, "function");
        yyjson_val *many = json_find(tool, "functionDeclarations");
        if (tell(s, json_find(function ? function : tool, "name"), false) < 0)
            return -1;
        yyjson_arr_foreach(many ? many : json_find(tool, "function_declarations"), k, m,
                           one)
        {
            if (tell(s, json_find(one, "name"), false) < 0)
                return -1;
        }
    }
    return 0;
}

/* ---- calls in the history ---- */

/* OpenAI chat: {"tool_calls":[{"id","function":{"name"}}]}; Anthropic:
 * {"content":[{"type":"tool_use","id","name"}]}. */
static int find_in_message(struct search *s, yyjson_val *message, uint64_t place)
{
    size_t i, n;
    yyjson_val *part;

    yyjson_arr_foreach(json_find(message, "tool_calls"), i, n, part)
    {
        if (tell_call(s, json_find(json_find(part, "function"), "name"),
                      json_find(part, "id"), place + i) < 0)
            return -1;
    }
    yyjson_arr_foreach(json_find(message, "content"), i, n, part)
    {
        if (yyjson_equals_str(json_find(part, "type"), "tool_use") &&
            tell_call(s, json_find(part, "name"), json_find(part, "id"), place + i) < 0)
            return -1;
    }
    return 0;
}

/* OpenAI responses: {"type":"function_call","call_id","name"}. */
static int find_in_item(struct search *s, yyjson_val *item, uint64_t place)
{
    return yyjson_equals_str(json_find(item, "type"), "function_call")
               ? tell_call(s, json_find(item, "name"), json_find(item, "call_id"), place)
               : 0;
}

/* Gemini: {"parts":[{"functionCall":{"name"}}]}. */
static int find_in_content(struct search *s, yyjson_val *content, uint64_t place)
{
    size_t i, n;
    yyjson_val *part;

    yyjson_arr_foreach(json_find(content, "parts"), i, n, part)
    {
        yyjson_val *call = json_find(part, "functionCall");
        if (tell_call(s, json_find(call, "name"), json_find(call, "id"), place + i) < 0)
            return -1;
    }
    return 0;
}

static const struct {
    const char *key;
    int (*find)(struct search *s, yyjson_val *item, uint64_t place);
} histories[] = {
    {"messages", find_in_message},
    {"input", find_in_item},
    {"contents", find_in_content},
};

/* ---- MCP ---- */

static int find_rpc(struct search *s, yyjson_val *message)
{
    return yyjson_equals_str(json_find(message, "method"), "tools/call")
               ? tell(s, json_find(json_find(message, "params"), "name"), true)
               : 0;
}

int toolcalls_find(struct toolcalls *t, yyjson_val *body, toolcalls_fn *fn, void *arg,
                   struct err *e)
{
    struct search s = {t, fn, arg, e};
    size_t i, n;
    yyjson_val *item;

    yyjson_arr_foreach(body, i, n, item)
    {
        if (find_rpc(&s, item) < 0)
            return -1;
    }
    if (find_rpc(&s, body) < 0 || find_offered(&s, json_find(body, "tools")) < 0)
        return -1;
    for (size_t k = 0; k < COUNT_OF(histories); k++) {
        yyjson_arr_foreach(json_find(body, histories[k].key), i, n, item)
        {
            if (histories[k].find(&s, item, (uint64_t)(i + 1) << 20) < 0)
                return -1;
        }
    }
    return 0;
}
