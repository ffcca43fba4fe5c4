/* dialect.c - see dialect.h. */
#include "dialect/dialect.h"

#include "base/json.h"
#include "base/url.h"
#include "tape/jsonrpc.h"

#include <stdio.h>
#include <string.h>

/* ---- model APIs: the end of the path, then the shape of the body ---- */

enum member_type { ANY, STRING, NUMBER, LIST, LIST_OR_TEXT };

struct member {
    const char *name; /* NULL ends a list */
    enum member_type type;
};

static const struct {
    const char *dialect;
    const char *suffix;
    struct member all[2]; /* members the body has */
    struct member one[4]; /* and at least one of these, when any are named */
} models[] = {
    /* Azure names the model in the path, so `messages` alone will do. */
    {"openai.chat",
     "/chat/completions",
     {{0}},
     {{"messages", LIST}, {"model", STRING}, {0}}},
    {"openai.completions",
     "/completions",
     {{0}},
     {{"prompt", LIST_OR_TEXT}, {"model", STRING}, {0}}},
    {"openai.responses",
     "/responses",
     {{0}},
     {{"model", STRING}, {"previous_response_id", STRING}, {"input", LIST}, {0}}},
    {"openai.embeddings", "/embeddings", {{"input", LIST_OR_TEXT}, {0}}, {{0}}},
    {"anthropic.messages",
     "/v1/messages",
     {{"messages", LIST}, {0}},
     {{"model", STRING}, {"max_tokens", NUMBER}, {0}}},
    {"gemini.generate", ":generateContent", {{"contents", ANY}, {0}}, {{0}}},
    {"gemini.generate", ":streamGenerateContent", {{"contents", ANY}, {0}}, {{0}}},
};

/* ---- tool protocols: the method of a JSON-RPC body, then a parameter ---- */

static const struct {
    const char *dialect;
    const char *method; /* a family when it ends in '/' */
    const char *param;  /* that tells it from a namesake; or NULL */
} calls[] = {
    {"a2a", "message/send", NULL},
    {"a2a", "message/stream", NULL},
    {"a2a", "agent/getAuthenticatedExtendedCard", NULL},
    {"a2a", "tasks/pushNotificationConfig/", NULL},
    {"a2a", "tasks/pushNotification/", NULL},
    {"a2a", "tasks/send", NULL},
    {"a2a", "tasks/sendSubscribe", NULL},
    {"a2a", "tasks/resubscribe", NULL},
    /* Both have tasks: A2A calls the task `id`, MCP `taskId`. */
    {"mcp", "tasks/", "taskId"},
    {"a2a", "tasks/", "id"},
    {"mcp", "tasks/list", NULL},
    {"mcp", "tools/", NULL},
    {"mcp", "resources/", NULL},
    {"mcp", "prompts/", NULL},
    {"mcp", "notifications/", NULL},
    {"mcp", "logging/", NULL},
    {"mcp", "completion/", NULL},
    {"mcp", "sampling/", NULL},
    {"mcp", "elicitation/", NULL},
    {"mcp", "roots/", NULL},
    {"mcp", "subscriptions/", NULL},
    {"mcp", "server/discover", NULL},
    {"mcp", "ping", NULL},
    /* Language servers have one too, without a protocol version. */
    {"mcp", "initialize", "protocolVersion"},
};

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n >= m && strcmp(s + n - m, end) == 0;
}

static bool has_member(yyjson_val *obj, const struct member *m)
{
    yyjson_val *val = json_find(obj, m->name);

    switch (m->type) {
    case STRING:
        return yyjson_is_str(val);
    case NUMBER:
        return yyjson_is_num(val);
    case LIST:
        return yyjson_is_arr(val);
    case LIST_OR_TEXT:
        return yyjson_is_arr(val) || yyjson_is_str(val);
    case ANY:
        break;
    }
    return val && !yyjson_is_null(val);
}

static bool has_shape(yyjson_val *body, const struct member *all,
                      const struct member *one)
{
    for (; all->name; all++)
        if (!has_member(body, all))
            return false;
    if (!one->name)
        return true;
    for (; one->name; one++)
        if (has_member(body, one))
            return true;
    return false;
}

static const char *model_dialect(const char *path, yyjson_val *body)
{
    for (size_t i = 0; i < COUNT_OF(models); i++)
        if (ends_with(path, models[i].suffix))
            return has_shape(body, models[i].all, models[i].one) ? models[i].dialect
                                                                 : NULL;
    return NULL;
}

static bool is_call(const char *method, const char *pattern)
{
    size_t n = strlen(pattern);

    return pattern[n - 1] == '/' ? strncmp(method, pattern, n) == 0
                                 : strcmp(method, pattern) == 0;
}

static const char *call_dialect(yyjson_val *message)
{
    const char *method = yyjson_get_str(json_find(message, "method"));
    yyjson_val *params = json_find(message, "params");

    for (size_t i = 0; method && i < COUNT_OF(calls); i++)
        if (is_call(method, calls[i].method) &&
            (!calls[i].param || json_find(params, calls[i].param)))
            return calls[i].dialect;
    return NULL;
}

/* A batch speaks what its first call with a known method speaks. */
static const char *tool_dialect(yyjson_val *body)
{
    const char *found = NULL;
    size_t i, n;
    yyjson_val *message;

    if (!jsonrpc_is_message(body))
        return NULL;
    if (yyjson_is_obj(body))
        return call_dialect(body);
    yyjson_arr_foreach(body, i, n, message)
    {
        if (!found)
            found = call_dialect(message);
    }
    return found;
}

const char *dialect_of(const char *method, const char *path, const char *body,
                       size_t body_len, enum exchange_kind *kind)
{
    yyjson_doc *doc = NULL;
    struct err e;
    const char *found;

    *kind = KIND_HTTP;
    if (strcmp(method, "POST") != 0 || body_len == 0 ||
        json_read(&doc, body, body_len, &e) < 0)
        return NULL;
    yyjson_val *root = yyjson_doc_get_root(doc);
    if ((found = model_dialect(path, root)))
        *kind = KIND_LLM;
    else if ((found = tool_dialect(root)))
        *kind = KIND_TOOL;
    yyjson_doc_free(doc);
    return found;
}

void dialect_classify(struct exchange *x)
{
    struct url url = {0};
    struct err e;
    const char *found = NULL;

    x->kind = KIND_HTTP;
    if (x->method && x->url && url_parse(&url, x->url, &e) == 0)
        found =
            dialect_of(x->method, url.path, x->req_body.data, x->req_body.len, &x->kind);
    url_fini(&url);
    /* MCP also opens streams, ends sessions and posts answers, all without a method. */
    if (!found && (headers_find(&x->req_headers, "Mcp-Session-Id") ||
                   headers_find(&x->req_headers, "MCP-Protocol-Version"))) {
        found = "mcp";
        x->kind = KIND_TOOL;
    }
    (void)snprintf(x->dialect, sizeof x->dialect, "%s", found ? found : "");
}
