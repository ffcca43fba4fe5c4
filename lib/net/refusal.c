/* refusal.c - see refusal.h. */
#include "net/refusal.h"

#include "base/json.h"
#include "base/limits.h"

#include <string.h>

static const struct {
    int status;
    const char *reason, *code;
} statuses[] = {
    {400, "Bad Request", "E_BAD_REQUEST"},
    {401, "Unauthorized", "E_TOKEN"},
    {403, "Forbidden", "E_EGRESS_BLOCKED"},
    {404, "Not Found", "E_NOT_FOUND"},
    {405, "Method Not Allowed", "E_METHOD"},
    {407, "Proxy Authentication Required", "E_TOKEN"},
    {413, "Content Too Large", "E_BODY_TOO_LARGE"},
    {414, "URI Too Long", "E_TOO_MANY_ARGUMENTS"},
    {421, "Misdirected Request", "E_NOT_OUR_NAME"},
    {431, "Request Header Fields Too Large", "E_HEAD_TOO_LARGE"},
    {501, "Not Implemented", "E_NOT_IMPLEMENTED"},
    {502, "Bad Gateway", "E_UPSTREAM_CONNECT"},
};

const char *refusal_code(int status)
{
    for (size_t i = 0; i < COUNT_OF(statuses); i++)
        if (statuses[i].status == status)
            return statuses[i].code;
    return "E_INTERNAL";
}

void refusal_body(struct buf *out, const char *type, const char *code,
                  const char *message)
{
    if (!type)
        type = "bad_request";
    buf_str(out, "{\"error\":{\"code\":");
    json_string(out, code, strlen(code));
    buf_str(out, ",\"message\":");
    json_string(out, message, strlen(message));
    buf_str(out, ",\"type\":");
    json_string(out, type, strlen(type));
    buf_str(out, "},\"type\":\"error\"}\n");
}

void refusal_response(struct buf *out, int status, const char *extra, const char *message)
{
    struct buf body = BUF_INIT(KIB(4));
    const char *reason = "Error";

    for (size_t i = 0; i < COUNT_OF(statuses); i++)
        if (statuses[i].status == status)
            reason = statuses[i].reason;
    refusal_body(&body, NULL, refusal_code(status), message);
    buf_fmt(out,
            "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n%sConnection: close\r\n"
            "Content-Length: %zu\r\n\r\n",
            status, reason, extra, body.len);
    buf_add(out, body.data, body.len);
    buf_free(&body);
}
