/* test-dialect.c - API, tool protocol or plain HTTP. */
#include "dialect/dialect.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

#define RPC(method, params)                                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":" params "}"
#define CHAT "{\"model\":\"m\",\"messages\":[]}"

static const struct {
    const char *path, *body, *dialect;
    enum exchange_kind kind;
    const char *method; /* NULL: POST */
} cases[] = {
    {"/v1/chat/completions", CHAT, "openai.chat", KIND_LLM, NULL},
    {"/openai/deployments/d/chat/completions", "{\"messages\":[]}", "openai.chat",
     KIND_LLM, NULL},
    {"/chat/completions", "{\"messages\":\"hi\"}", NULL, KIND_HTTP, NULL},
    {"/v1/chat/completions", CHAT, NULL, KIND_HTTP, "GET"},
    {"/v1/chat/completions", "", NULL, KIND_HTTP, NULL},
    {"/v1/chat/completions", "[]", NULL, KIND_HTTP, NULL},
    {"/v1/chat/completions", "{\"model\":", NULL, KIND_HTTP, NULL},
    {"/v1/chat/completions/x", CHAT, NULL, KIND_HTTP, NULL},
    {"/v1/completions", "{\"model\":\"m\",\"prompt\":\"a\"}", "openai.completions",
     KIND_LLM, NULL},
    {"/v1/completions", "{\"prompt\":1}", NULL, KIND_HTTP, NULL},
    {"/v1/responses", "{\"model\":\"m\",\"input\":\"a\"}", "openai.responses", KIND_LLM,
     NULL},
    {"/v1/responses", "{\"input\":[],\"prompt\":{\"id\":\"p\"}}", "openai.responses",
     KIND_LLM, NULL},
    {"/survey/responses", "{\"answers\":[1]}", NULL, KIND_HTTP, NULL},
    {"/v1/embeddings", "{\"input\":[\"a\"]}", "openai.embeddings", KIND_LLM, NULL},
    {"/v1/embeddings", "{\"model\":\"m\"}", NULL, KIND_HTTP, NULL},
    {"/v1/messages", "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[]}",
     "anthropic.messages", KIND_LLM, NULL},
    {"/proxy/anthropic/v1/messages", "{\"max_tokens\":1,\"messages\":[]}",
     "anthropic.messages", KIND_LLM, NULL},
    {"/foo/messages", CHAT, NULL, KIND_HTTP, NULL},
    {"/v1/messages", "{\"messages\":[]}", NULL, KIND_HTTP, NULL},
    {"/v1/messages", "{\"to\":\"a\",\"text\":\"b\"}", NULL, KIND_HTTP, NULL},
    {"/v1/messages/count_tokens", CHAT, NULL, KIND_HTTP, NULL},
    {"/v1beta/models/g:generateContent", "{\"contents\":[]}", "gemini.generate", KIND_LLM,
     NULL},
    {"/v1beta/models/g:streamGenerateContent", "{\"contents\":[]}", "gemini.generate",
     KIND_LLM, NULL},
    {"/v1beta/models/g:generateContent", "{\"contents\":null}", NULL, KIND_HTTP, NULL},
    {"/v1beta/models/g:countTokens", "{\"contents\":[]}", NULL, KIND_HTTP, NULL},
    {"/mcp", RPC("tools/call", "{}"), "mcp", KIND_TOOL, NULL},
    {"/", RPC("tools/list", "null"), "mcp", KIND_TOOL, NULL},
    {"/mcp", RPC("resources/read", "{}"), "mcp", KIND_TOOL, NULL},
    {"/mcp", RPC("prompts/get", "{}"), "mcp", KIND_TOOL, NULL},
    {"/mcp", RPC("logging/setLevel", "{}"), "mcp", KIND_TOOL, NULL},
    {"/mcp", RPC("completion/complete", "{}"), "mcp", KIND_TOOL, NULL},
    {"/mcp", RPC("ping", "{}"), "mcp", KIND_TOOL, NULL},
    {"/mcp", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", "mcp",
     KIND_TOOL, NULL},
    {"/mcp", RPC("initialize", "{\"protocolVersion\":\"2025-06-18\"}"), "mcp", KIND_TOOL,
     NULL},
    {"/lsp", RPC("initialize", "{\"processId\":1}"), NULL, KIND_HTTP, NULL},
    {"/mcp", RPC("tasks/get", "{\"taskId\":\"t\"}"), "mcp", KIND_TOOL, NULL},
    {"/mcp", "[" RPC("x", "{}") "," RPC("tools/call", "{}") "]", "mcp", KIND_TOOL, NULL},
    {"/mcp", "{\"id\":1,\"method\":\"tools/call\"}", NULL, KIND_HTTP, NULL},
    {"/mcp", RPC("toolshed", "{}"), NULL, KIND_HTTP, NULL},
    {"/mcp", RPC("pingpong", "{}"), NULL, KIND_HTTP, NULL},
    {"/rpc", RPC("eth_call", "[]"), NULL, KIND_HTTP, NULL},
    {"/", RPC("message/send", "{}"), "a2a", KIND_TOOL, NULL},
    {"/", RPC("message/stream", "{}"), "a2a", KIND_TOOL, NULL},
    {"/", RPC("message/other", "{}"), NULL, KIND_HTTP, NULL},
    {"/", RPC("tasks/send", "{\"id\":\"t\"}"), "a2a", KIND_TOOL, NULL},
    {"/", RPC("tasks/sendSubscribe", "{}"), "a2a", KIND_TOOL, NULL},
    {"/", RPC("tasks/get", "{\"id\":\"t\"}"), "a2a", KIND_TOOL, NULL},
    {"/", RPC("tasks/cancel", "{\"id\":\"t\"}"), "a2a", KIND_TOOL, NULL},
    {"/", RPC("tasks/resubscribe", "{\"id\":\"t\"}"), "a2a", KIND_TOOL, NULL},
    {"/", RPC("tasks/pushNotificationConfig/set", "{\"taskId\":\"t\"}"), "a2a", KIND_TOOL,
     NULL},
    {"/", "hello", NULL, KIND_HTTP, NULL},
    {"/", "{}", NULL, KIND_HTTP, NULL},
};

static void classify(const char *method, const char *url, const char *header,
                     const char *body, const char *dialect, enum exchange_kind kind)
{
    struct exchange x = {.kind = KIND_LLM, .req_body = BUF_INIT(4096)};
    struct err e = {0};

    x.method = strdup(method);
    x.url = strdup(url);
    buf_str(&x.req_body, body);
    if (header)
        ok(headers_add(&x.req_headers, header, "x", &e) == 0, "header %s", header);
    (void)snprintf(x.dialect, sizeof x.dialect, "stale");
    dialect_classify(&x);
    ok(x.kind == kind, "%s %s: kind", method, url);
    is(x.dialect, dialect, "%s %s: dialect", method, url);
    headers_fini(&x.req_headers);
    buf_free(&x.req_body);
    free(x.method);
    free(x.url);
}

int main(void)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        enum exchange_kind kind = KIND_LLM;
        const char *method = cases[i].method ? cases[i].method : "POST";
        const char *got = dialect_of(method, cases[i].path, cases[i].body,
                                     strlen(cases[i].body), &kind);
        is(got, cases[i].dialect, "%s %s %s", method, cases[i].path, cases[i].body);
        ok(kind == cases[i].kind, "kind of it");
    }
    classify("POST", "https://gw.test/x/chat/completions?api-version=1", NULL, CHAT,
             "openai.chat", KIND_LLM);
    classify("GET", "https://h/mcp", "mcp-session-id", "", "mcp", KIND_TOOL);
    classify("DELETE", "https://h/mcp", "MCP-Protocol-Version", "", "mcp", KIND_TOOL);
    classify("GET", "https://h/mcp", "Mcp-Other", "", "", KIND_HTTP);
    classify("POST", "not a url", NULL, CHAT, "", KIND_HTTP);
    return tap_done();
}
