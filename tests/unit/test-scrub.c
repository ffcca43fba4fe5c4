/* test-scrub.c - credentials go, everything else stays byte for byte. */
#include "tape/scrub.h"

#include "base/json.h"
#include "base/limits.h"
#include "fake_secret.h"
#include "tap.h"
#include "tape/exchange.h"
#include "tape/secrets.h"

#include <ctype.h>
#include <strings.h>

static struct scrub *rules;

/* ---- Assay's three patterns (its bundle verifier), written anew ---- */

static bool assay_authorization(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && s[i - 1] != '\n')
            continue;
        size_t k = i;
        while (k < n && isspace((unsigned char)s[k]))
            k++;
        if (n - k < 13 || strncasecmp(s + k, "authorization", 13) != 0)
            continue;
        for (k += 13; k < n && isspace((unsigned char)s[k]);)
            k++;
        if (k >= n || s[k] != ':')
            continue;
        for (k++; k < n && isspace((unsigned char)s[k]);)
            k++;
        if (k < n)
            return true;
    }
    return false;
}

static bool assay_bearer(const char *s, size_t n)
{
    for (size_t i = 0; i + 6 < n; i++) {
        size_t k = i + 6;
        if (strncasecmp(s + i, "bearer", 6) != 0 || !isspace((unsigned char)s[k]))
            continue;
        while (k < n && isspace((unsigned char)s[k]))
            k++;
        if (k < n)
            return true;
    }
    return false;
}

static bool assay_sk(const char *s, size_t n)
{
    for (size_t i = 0; i + 3 < n; i++) {
        size_t k = i + 3;
        if (s[i] != 's' || s[i + 1] != 'k' || (s[i + 2] != '-' && s[i + 2] != '_'))
            continue;
        while (k < n && secret_shape_in_class('u', (unsigned char)s[k]))
            k++;
        if (k - i - 3 >= 20)
            return true;
    }
    return false;
}

static bool trips_assay(const char *s, size_t n)
{
    return assay_authorization(s, n) || assay_bearer(s, n) || assay_sk(s, n);
}

/* ---- helpers ---- */

static const char *made(struct buf *b, const char *template, uint32_t seed)
{
    buf_reset(b);
    fake_secret(b, template, seed);
    return buf_cstr(b);
}

static bool is_json(const char *text, size_t len)
{
    yyjson_doc *doc = NULL;
    struct err e;
    bool good = json_read(&doc, text, len, &e) == 0;

    yyjson_doc_free(doc);
    return good;
}

/* Scrub; the result is what is stored: the new text, or the old one when clean. */
static int scrubbed(const char *type, const char *body, size_t len, struct buf *out)
{
    struct err e = {0};
    int rc = scrub_body(rules, SCRUB_REQUEST, type, body, len, NULL, out, NULL, &e);

    if (rc == 0) {
        buf_reset(out);
        buf_add(out, body, len);
    }
    return rc;
}

/* ---- bodies ---- */

static const struct {
    const char *name, *type, *in, *want; /* in: a template; want NULL: stays */
} bodies[] = {
    {"key in a message", "application/json",
     "{\"messages\":[{\"role\":\"user\",\"content\":\"use sk-proj-%a48 please\"}]}",
     "{\"messages\":[{\"role\":\"user\",\"content\":\"use [secret:openai-key] "
     "please\"}]}"},
    {"blanks and order stay", "application/json",
     "{ \"b\" : 1.50,\r\n\t\"a\":\"ghp_%a36\" , \"z\":[1e3, true,null ] }\n",
     "{ \"b\" : 1.50,\r\n\t\"a\":\"[secret:github-token]\" , \"z\":[1e3, true,null ] "
     "}\n"},
    {"named fields in three spellings", "application/json",
     "{\"api_key\":\"abc\",\"apiKey\":\"d\\\"ef\",\"API-KEY\":\"ghi\"}",
     "{\"api_key\":\"[secret:api-key]\",\"apiKey\":\"[secret:api-key]\","
     "\"API-KEY\":\"[secret:api-key]\"}"},
    {"fields by their end", "application/json",
     "{\"OPENAI_API_KEY\":\"abc\",\"dbPassword\":\"x\"}",
     "{\"OPENAI_API_KEY\":\"[secret:api-key]\",\"dbPassword\":\"[secret:password]\"}"},
    {"token answer", "application/json",
     "{\"access_token\":\"a\",\"refresh_token\":\"b\",\"id_token\":\"c\",\"expires_in\":"
     "3600,"
     "\"token_type\":\"bearer\"}",
     "{\"access_token\":\"[secret:access-token]\",\"refresh_token\":\"[secret:refresh-"
     "token]\","
     "\"id_token\":\"[secret:id-token]\",\"expires_in\":3600,\"token_type\":\"bearer\"}"},
    {"other field names", "application/json",
     "{\"passwd\":\"a\",\"passphrase\":\"b\",\"client_secret\":\"c\",\"secretAccessKey\":"
     "\"d\","
     "\"private_key\":\"e\",\"auth_token\":\"f\",\"Authorization\":\"Basic g\","
     "\"subscription-key\":\"h\",\"account_key\":\"i\",\"Cookie\":\"j=k\"}",
     "{\"passwd\":\"[secret:password]\",\"passphrase\":\"[secret:passphrase]\","
     "\"client_secret\":\"[secret:client-secret]\","
     "\"secretAccessKey\":\"[secret:secret-access-key]\","
     "\"private_key\":\"[secret:private-key]\",\"auth_token\":\"[secret:auth-token]\","
     "\"Authorization\":\"[secret:authorization]\","
     "\"subscription-key\":\"[secret:subscription-key]\","
     "\"account_key\":\"[secret:account-key]\",\"Cookie\":\"[secret:cookie]\"}"},
    {"schemas and counts stay", "application/json",
     "{\"max_tokens\":5,\"usage\":{\"prompt_tokens\":1},\"key\":\"user:1\",\"token\":"
     "\"the\","
     "\"tools\":[{\"parameters\":{\"properties\":{\"password\":{\"type\":\"string\"},"
     "\"api_key\":{\"type\":\"string\"}},\"required\":[\"password\",\"api_key\"]}}],"
     "\"cookie\":\"chocolate\",\"password\":null,\"api_key\":\"\",\"passwords\":\"x\"}",
     NULL},
    {"hidden by an escape", "application/json",
     "{\"a\":\"x \\u0073k-proj-%a48\\u002dz y\"}", "{\"a\":\"x [secret:openai-key] y\"}"},
    {"a key hidden by an escape", "application/json", "{\"api\\u005fkey\":\"abc\"}",
     "{\"api\\u005fkey\":\"[secret:api-key]\"}"},
    {"after a line break", "application/json",
     "{\"a\":\"x\\nsk-ant-%a40\\ny\\u00e9\\t\\\"\"}",
     "{\"a\":\"x\\n[secret:anthropic-key]\\ny\\u00e9\\t\\\"\"}"},
    {"after a foreign letter", "application/json", "{\"a\":\"\\u4e2dsk-ant-%a40\"}",
     "{\"a\":\"\\u4e2d[secret:anthropic-key]\"}"},
    {"escaped slashes", "application/json",
     "{\"u\":\"https:\\/\\/bob:%a9@h.example\\/x\"}",
     "{\"u\":\"https:\\/\\/[secret:url-userinfo]@h.example\\/x\"}"},
    {"arguments of a tool call", "application/json",
     "{\"arguments\":\"{\\\"api_key\\\": \\\"abc\\\", \\\"city\\\":\\\"Ulm\\\"}\"}",
     "{\"arguments\":\"{\\\"api_key\\\": \\\"[secret:api-key]\\\", "
     "\\\"city\\\":\\\"Ulm\\\"}\"}"},
    {"JSON in JSON in JSON", "application/json",
     "{\"a\":\"{\\\"b\\\":\\\"{\\\\\\\"password\\\\\\\":\\\\\\\"x\\\\\\\"}\\\"}\"}",
     "{\"a\":\"{\\\"b\\\":\\\"{\\\\\\\"password\\\\\\\":\\\\\\\"[secret:password]"
     "\\\\\\\"}\\\"}\"}"},
    {"private key with escaped line ends", "application/json",
     "{\"k\":\"a -----BEGIN PRIV"
     "ATE KEY-----\\n%a64\\n%a20=\\n-----END PRIVATE KEY-----\\n b\"}",
     "{\"k\":\"a [secret:private-key]\\n b\"}"},
    {"bearer goes with its word", "application/json", "{\"h\":\"Bearer abc123\",\"k\":1}",
     "{\"h\":\"[secret:bearer-token]\",\"k\":1}"},
    {"a command line", "application/json",
     "{\"c\":\"curl -H \\\"Authorization: Bearer hunter2\\\" https://x.example\"}",
     "{\"c\":\"curl -H \\\"Authorization: [secret:authorization]\\\" "
     "https://x.example\"}"},
    {"protocol ids stay", "application/json",
     "{\"id\":\"call_%a24\",\"tool_use_id\":\"toolu_01%a22\",\"signature\":\"sk-ant-%"
     "u60\","
     "\"thoughtSignature\":\"AKIA%B16\",\"encrypted_content\":\"gAAAAA%u80-AIza%u35\"}",
     NULL},
    {"media stay", "application/json",
     "{\"data\":\"AKIA%B16/%b80/AKIA%B16\",\"url\":\"data:image/png;base64,AKIA%B16/"
     "%b90==\"}",
     NULL},
    {"a key beside media goes", "application/json",
     "{\"data\":\"AKIA%B16/%b80\",\"x\":\"AKIA%B16\"}", ""},
    {"torn JSON", "application/json", "{\"a\":1,\"password\":\"hun",
     "{\"a\":1,\"password\":\"[secret:password]"},
    {"torn JSON with a key", "application/json", "{\"a\":\"x\\nsk-ant-%a40",
     "{\"a\":\"x\\n[secret:anthropic-key]"},
    {"JSON under another name", "text/plain", "{\"password\":\"x\"}",
     "{\"password\":\"[secret:password]\"}"},
    {"not JSON after all", "application/json", "[note] token sk-ant-%a40 \"x\n",
     "[note] token [secret:anthropic-key] \"x\n"},
    {"plain text", "text/plain", "A: b\nAuthorization: Bearer %a20\n\nrest",
     "A: b\n[secret:authorization]\n\nrest"},
    {"folded header in text", "text/plain", "Authorization:\r\n Bearer %a20\r\nC: d",
     "[secret:authorization]\r\nC: d"},
    {"the scheme alone, quoted", "text/plain", "  Authorization: \"Basic %a20=\"\nx",
     "  [secret:authorization]\nx"},
    {"a long lead", "text/plain",
     "Authorization: Bearer\nBearer Bearer Bearer Bearer Bearer Bearer Bearer Bearer "
     "Authorization: Bearer Bearer Authorization: Bearer Bearer ghp_%a36.",
     "[secret:bearer-token]."},
    {"ordinary text", "text/plain",
     "the bearer of news; risk-assessment-framework-v2 task_id_0123456789abcdefgh "
     "disk-usage-percent-threshold",
     NULL},
    {"form", "application/x-www-form-urlencoded",
     "grant_type=x&client_secret=a%%26b&q=1&Password=p&note=ghp_%a36&key=user:1",
     "grant_type=x&client_secret=[secret:client-secret]&q=1&Password=[secret:password]"
     "&note=[secret:github-token]&key=user:1"},
    {"form with an encoded value", "application/x-www-form-urlencoded",
     "t=a+ghp%%5F%a36+b&payload=%%7B%%22api_key%%22%%3A%%22x%%22%%7D",
     "t=a+[secret:github-token]+b&payload=%7B%22api_key%22%3A%22[secret:api-key]%22%7D"},
    {"multipart", "multipart/form-data; boundary=\"b-1\"",
     "--b-1\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\nabc\r\n"
     "--b-1\r\nContent-Disposition: form-data; name=\"f\"; filename=\"k.png\"\r\n"
     "Content-Type: image/png\r\n\r\nAKIA%B16\r\n"
     "--b-1\r\nContent-Disposition: form-data; name=\"j\"\r\n"
     "Content-Type: application/json\r\n\r\n{\"password\":\"x\"}\r\n--b-1--\r\n",
     ""},
    {"image", "image/png", "AKIA%B16", NULL},
    {"text called bytes", "application/octet-stream", "AKIA%B16",
     "[secret:aws-access-key-id]"},
    {"bytes", "application/octet-stream", "\x01\xff AKIA%B16", NULL},
    {"JSON called a form", "application/x-www-form-urlencoded",
     "{\"password\":\"hunter2hunter2\",\"n\":1}",
     "{\"password\":\"[secret:password]\",\"n\":1}"},
    {"JSON called bytes", "application/octet-stream",
     "{\"api_key\":\"zzzz-private-zzzz\"}", "{\"api_key\":\"[secret:api-key]\"}"},
};

static void check_multipart(const struct buf *out)
{
    ok(strstr(out->data, "name=\"api_key\"\r\n\r\n[secret:api-key]\r\n--b-1\r\n") &&
           strstr(out->data, "image/png\r\n\r\nAKIA") &&
           strstr(out->data,
                  "\r\n\r\n{\"password\":\"[secret:password]\"}\r\n--b-1--\r\n"),
       "multipart: fields by name, JSON parts as JSON, media left alone");
}

static void check_bodies(void)
{
    struct buf in = BUF_INIT(65536), out = BUF_INIT(65536), twice = BUF_INIT(65536),
               other = BUF_INIT(65536);

    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        const char *name = bodies[i].name, *want = bodies[i].want;
        made(&in, bodies[i].in, 11);
        int rc = scrubbed(bodies[i].type, buf_cstr(&in), in.len, &out);
        ok(rc == (want ? 1 : 0), "%s: says so", name);
        if (!want || *want)
            is(buf_cstr(&out), want ? want : buf_cstr(&in), "%s", name);
        else if (strncmp(name, "multi", 5) == 0)
            check_multipart(&out);
        else
            ok(strstr(out.data, "\"x\":\"[secret:"), "%s", name);
        ok(scrubbed(bodies[i].type, buf_cstr(&out), out.len, &twice) == 0,
           "%s: nothing left to do", name);
        ok(!is_json(buf_cstr(&in), in.len) || is_json(buf_cstr(&out), out.len),
           "%s: JSON stays JSON", name);
        if (want) {
            made(&in, bodies[i].in, 12345);
            scrubbed(bodies[i].type, buf_cstr(&in), in.len, &other);
            ok(strstr(name, "media") || strncmp(name, "multi", 5) == 0 ||
                   strcmp(buf_cstr(&out), buf_cstr(&other)) == 0,
               "%s: a rotated key gives the same", name);
            ok(!trips_assay(buf_cstr(&out), out.len), "%s: no verifier minds", name);
        }
    }
    buf_free(&in);
    buf_free(&out);
    buf_free(&twice);
    buf_free(&other);
}

/* Every kind, in the places a credential is met. */
static void check_every_kind(void)
{
    static const char *const keys[] = {
        "sk-ant-api03-%u93",
        "sk-proj-%u120",
        "AIza%u35",
        "ghp_%a36",
        "AKIA%B16",
        "hf_%a34",
        "xoxb-%d12-%d12-%a24",
        "gsk_%a52",
        "eyJ%u30.eyJ%u60.%u43",
        "SG.%u22.%u43",
        "r8_%a37",
        "Bearer %a40",
        "sk-%l32",
        "%d9:AA%u33",
        "npm_%a36",
        "glpat-%u20",
    };
    static const char *const frames[] = {
        "{\"a\":\"@\"}",
        "{\"a\":[\"x @ y\"]}",
        "{\"a\":\"\\n@\\n\"}",
        "text @.",
        "@",
        "{\"@\":1}",
        "data: {\"t\":\"@\"}\n\n",
        "{\"a\":\"@\"}\n{\"a\":\"@\"}\n",
    };
    struct buf in = BUF_INIT(8192), template = BUF_INIT(8192), out = BUF_INIT(8192),
               twice = BUF_INIT(8192);

    for (size_t k = 0; k < COUNT_OF(keys); k++) {
        bool gone = true, stable = true, valid = true, quiet = true;
        for (size_t f = 0; f < COUNT_OF(frames); f++) {
            buf_reset(&template);
            for (const char *p = frames[f]; *p; p++)
                if (*p == '@')
                    buf_str(&template, keys[k]);
                else
                    buf_char(&template, *p);
            made(&in, buf_cstr(&template), 3);
            gone &= scrubbed(NULL, in.data, in.len, &out) == 1 &&
                    strstr(out.data, "[secret:");
            stable &= scrubbed(NULL, out.data, out.len, &twice) == 0;
            valid &= frames[f][0] != '{' || strchr(frames[f], '\n') ||
                     is_json(out.data, out.len);
            quiet &= !trips_assay(out.data, out.len);
        }
        ok(gone && stable && valid && quiet, "%s in %zu places: %d%d%d%d", keys[k],
           COUNT_OF(frames), gone, stable, valid, quiet);
    }
    buf_free(&in);
    buf_free(&template);
    buf_free(&out);
    buf_free(&twice);
}

/* ---- pieces of streams ---- */

static void check_pieces(void)
{
    struct buf in = BUF_INIT(4096), out = BUF_INIT(4096);
    const char *key = "[secret:github-token]";
    struct err e = {0};
    bool all = true;

    made(&in, "{\"a\":\"xx ghp_%a36 yy\"}", 5);
    size_t at = (size_t)(strstr(in.data, "ghp_") - in.data), end = at + 40;
    for (size_t cut = 0; cut <= in.len; cut++) {
        uint64_t lens[3] = {cut, in.len - cut, 0};
        struct scrub_pieces pieces = {lens, 3};
        int rc = scrub_body(rules, SCRUB_RESPONSE, "application/json", in.data, in.len,
                            &pieces, &out, NULL, &e);
        uint64_t want = cut <= at   ? cut
                        : cut < end ? at + strlen(key)
                                    : cut - 40 + strlen(key);
        all &= rc == 1 && lens[0] == want && lens[0] + lens[1] + lens[2] == out.len;
    }
    ok(all, "a piece boundary at every offset of a body with a credential");

    uint64_t bytes[512];
    for (size_t i = 0; i < in.len; i++)
        bytes[i] = 1;
    struct scrub_pieces one = {bytes, in.len};
    uint64_t sum = 0;
    ok(scrub_body(rules, SCRUB_RESPONSE, NULL, in.data, in.len, &one, &out, NULL, &e) ==
           1,
       "byte by byte");
    for (size_t i = 0; i < in.len; i++)
        sum += bytes[i];
    ok(sum == out.len && bytes[at] == strlen(key) && bytes[at + 1] == 0 &&
           bytes[end] == 1,
       "byte by byte: lengths follow");
    buf_free(&in);
    buf_free(&out);
}

/* A frame per event; '@' is where the piece of text goes. */
static const struct {
    const char *name, *type, *frame;
} streams[] = {
    {"OpenAI chat", "text/event-stream",
     "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"@\"}}]}\n\n"},
    {"OpenAI responses", "text/event-stream",
     "event: d\ndata: {\"type\":\"d\",\"output_index\":0,\"delta\":\"@\"}\n\n"},
    {"Anthropic text", "text/event-stream",
     "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
     "\"delta\":{\"type\":\"text_delta\",\"text\":\"@\"}}\n\n"},
    {"Anthropic tool input", "text/event-stream",
     "data: {\"index\":1,\"delta\":{\"partial_json\":\"@\"}}\r\n\r\n"},
    {"Gemini", "text/event-stream",
     "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"@\"}]}}]}\n\n"},
    {"JSON lines", "application/x-ndjson",
     "{\"message\":{\"content\":\"@\"},\"done\":false}\n"},
    {"plain text events", "text/event-stream", "data: @\n\n"},
};

static void put_event(struct buf *out, const char *frame, const char *text, size_t len)
{
    for (; *frame; frame++)
        if (*frame == '@')
            buf_add(out, text, len);
        else
            buf_char(out, *frame);
}

/* Join what stands at '@' of each event again. */
static void join_events(const char *body, const char *frame, struct buf *out)
{
    size_t head = strcspn(frame, "@");

    buf_reset(out);
    while (strncmp(body, frame, head) == 0) {
        const char *from = body + head, *end = strstr(from, frame + head + 1);
        if (!end)
            return;
        buf_add(out, from, (size_t)(end - from));
        body = end + strlen(frame + head + 1);
    }
}

static void check_split(const char *name, const char *type, const char *frame,
                        const char *template, const char *want, size_t step)
{
    struct buf text = BUF_INIT(4096), body = BUF_INIT(KIB(1024)),
               out = BUF_INIT(KIB(1024)), joined = BUF_INIT(4096),
               twice = BUF_INIT(KIB(1024));

    made(&text, template, 21);
    for (size_t at = 0; at < text.len; at += step)
        put_event(&body, frame, text.data + at,
                  text.len - at < step ? text.len - at : step);
    ok(scrubbed(type, body.data, body.len, &out) == 1, "%s, %zu at a time: found", name,
       step);
    join_events(buf_cstr(&out), frame, &joined);
    is(buf_cstr(&joined), want, "%s, %zu at a time: events stay whole", name, step);
    ok(scrubbed(type, out.data, out.len, &twice) == 0, "%s, %zu: nothing left", name,
       step);
    buf_free(&text);
    buf_free(&body);
    buf_free(&out);
    buf_free(&joined);
    buf_free(&twice);
}

static void check_streams(void)
{
    static const size_t steps[] = {1, 3, 4, 7, 50};
    struct buf body = BUF_INIT(65536), out = BUF_INIT(65536);

    for (size_t i = 0; i < COUNT_OF(streams); i++)
        for (size_t k = 0; k < COUNT_OF(steps); k++)
            check_split(streams[i].name, streams[i].type, streams[i].frame,
                        "The key is sk-proj-%a48, keep it.",
                        "The key is [secret:openai-key], keep it.", steps[k]);

    made(&body,
         "data: {\"delta\":{\"partial_json\":\"\"}}\n\n"
         "data: {\"delta\":{\"partial_json\":\"{\\\"api_\"}}\n\n"
         "data: {\"delta\":{\"partial_json\":\"key\\\": \\\"hun\"}}\n\n"
         "data: {\"delta\":{\"partial_json\":\"t\\u0065r\"}}\n\n"
         "data: {\"delta\":{\"partial_json\":\"2\\\"}\"}}\n\n",
         4);
    scrubbed("text/event-stream", body.data, body.len, &out);
    is(out.data,
       "data: {\"delta\":{\"partial_json\":\"\"}}\n\n"
       "data: {\"delta\":{\"partial_json\":\"{\\\"api_\"}}\n\n"
       "data: {\"delta\":{\"partial_json\":\"key\\\": \\\"[secret:api-key]\"}}\n\n"
       "data: {\"delta\":{\"partial_json\":\"\"}}\n\n"
       "data: {\"delta\":{\"partial_json\":\"\\\"}\"}}\n\n",
       "a named field in tool arguments that come in pieces");

    /* Two answers at once: each is read on its own. */
    made(
        &body,
        "data: {\"choices\":[{\"delta\":{\"content\":\"sk-proj-%a20\"},\"index\":0}]}\n\n"
        "data: {\"choices\":[{\"delta\":{\"content\":\" and \"},\"index\":1}]}\n\n"
        "data: {\"choices\":[{\"delta\":{\"content\":\"%a30 done\"},\"index\":0}]}\n\n"
        "data: [DONE]\n\n",
        4);
    scrubbed("text/event-stream", body.data, body.len, &out);
    is(out.data,
       "data: "
       "{\"choices\":[{\"delta\":{\"content\":\"[secret:openai-key]\"},\"index\":0}]}\n\n"
       "data: {\"choices\":[{\"delta\":{\"content\":\" and \"},\"index\":1}]}\n\n"
       "data: {\"choices\":[{\"delta\":{\"content\":\" done\"},\"index\":0}]}\n\n"
       "data: [DONE]\n\n",
       "interleaved answers");

    made(&body, "[{\"t\":\"a ghp_%a10\"},\n{\"t\":\"%a26 b\"}]", 4);
    scrubbed("application/json", body.data, body.len, &out);
    is(out.data, "[{\"t\":\"a [secret:github-token]\"},\n{\"t\":\" b\"}]",
       "a stream that is one JSON array");

    made(&body, "{\"t\":\"a\"}\n{\"t\":\"sk-ant-%a40\"}\n{\"t\":\"b\"}\n", 4);
    scrubbed("application/x-ndjson", body.data, body.len, &out);
    is(out.data, "{\"t\":\"a\"}\n{\"t\":\"[secret:anthropic-key]\"}\n{\"t\":\"b\"}\n",
       "lines that are no stream");
    buf_free(&body);
    buf_free(&out);
}

/* ---- headers and URLs ---- */

static const struct {
    const char *name, *in, *want; /* in: a template; want NULL: stays */
} fields[] = {
    {"Authorization", "Bearer x", "[secret:authorization]"},
    {"Proxy-Authorization", "Basic x", "[secret:authorization]"},
    {"Cookie", "a=1; b=2", "a=[secret:cookie]; b=[secret:cookie]"},
    {"Set-Cookie", "sid=abc; Path=/; HttpOnly",
     "sid=[secret:set-cookie]; Path=/; HttpOnly"},
    {"X-Api-Key", "x", "[secret:api-key]"},
    {"Api-Key", "x", "[secret:api-key]"},
    {"x-goog-api-key", "x", "[secret:api-key]"},
    {"X-Amz-Security-Token", "x", "[secret:security-token]"},
    {"Private-Token", "x", "[secret:private-token]"},
    {"Ocp-Apim-Subscription-Key", "x", "[secret:subscription-key]"},
    {"X-Retape-Token", "x", "[secret:retape-token]"},
    {"X-Custom", "v sk-ant-%a40;w", "v [secret:anthropic-key];w"},
    {"Location", "https://x.example/cb?access_token=abc&q=1",
     "https://x.example/cb?access_token=[secret:access-token]&q=1"},
    {"Content-Type", "application/json", NULL},
    {"X-Request-Id", "req_%a24", NULL},
    {"X-Ratelimit-Remaining-Tokens", "4999", NULL},
    {"WWW-Authenticate", "Bearer realm=\"x\"", NULL},
};

static void check_headers(void)
{
    struct buf in = BUF_INIT(4096);
    struct headers h = {0};
    struct err e = {0};
    bool same = true;

    for (size_t i = 0; i < COUNT_OF(fields); i++)
        ok(headers_add(&h, fields[i].name, made(&in, fields[i].in, 9), &e) == 0, "add %s",
           fields[i].name);
    ok(scrub_headers(rules, SCRUB_REQUEST, &h, NULL, &e) == 0, "headers");
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        is(h.v[i].value, fields[i].want ? fields[i].want : made(&in, fields[i].in, 9),
           "%s", fields[i].name);
    ok(scrub_headers(rules, SCRUB_REQUEST, &h, NULL, &e) == 0, "headers again");
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        same &= !fields[i].want || strcmp(h.v[i].value, fields[i].want) == 0;
    ok(same, "headers: nothing left to do");
    headers_fini(&h);
    buf_free(&in);
}

static const struct {
    const char *in, *want; /* templates; want NULL: stays */
} urls[] = {
    {"https://generativelanguage.googleapis.com/v1/m?key=abc&alt=sse",
     "https://generativelanguage.googleapis.com/v1/m?key=[secret:key]&alt=sse"},
    {"https://x.example/?key=%a24", "https://x.example/?key=[secret:key]"},
    {"https://x.example/?key=user:1&token=next", NULL},
    {"https://x.example/?api_key=a&apikey=b&API-Key=c&v=1",
     "https://x.example/?api_key=[secret:api-key]&apikey=[secret:api-key]"
     "&API-Key=[secret:api-key]&v=1"},
    {"https://b.example/o?X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-Date=c",
     "https://b.example/o?X-Amz-Credential=[secret:credential]"
     "&X-Amz-Signature=[secret:signature]&X-Amz-Date=c"},
    {"https://x.example/?sig=a&x_goog_signature=b&access%%5Ftoken=c",
     "https://x.example/?sig=[secret:signature]&x_goog_signature=[secret:signature]"
     "&access%%5Ftoken=[secret:access-token]"},
    {"https://api.telegram.org/bot%d9:AA%u33/sendMessage",
     "https://api.telegram.org/bot[secret:telegram-token]/sendMessage"},
    {"https://hooks.slack.com/services/T%U10/B%U10/%a24",
     "https://hooks.slack.com/services/[secret:slack-webhook]"},
    {"https://x.example/a/ghp_%a36/b?q=z",
     "https://x.example/a/[secret:github-token]/b?q=z"},
    {"https://x.example/v1/chat?", NULL},
    {"https://x.example/threads/thread_%a24?limit=20&after=msg_%a24", NULL},
};

static void check_urls(void)
{
    struct buf in = BUF_INIT(4096), out = BUF_INIT(4096), want = BUF_INIT(4096);
    struct err e = {0};

    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        struct url u = {0};
        ok(url_parse(&u, made(&in, urls[i].in, 2), &e) == 0, "%s", urls[i].in);
        for (int round = 0; round < 2; round++) {
            ok(scrub_url(rules, &u, NULL, &e) == 0, "round %d", round);
            buf_reset(&out);
            url_text(&u, &out);
            is(buf_cstr(&out), made(&want, urls[i].want ? urls[i].want : urls[i].in, 2),
               "the same whether once or twice");
        }
        url_fini(&u);
        ok(url_parse(&u, buf_cstr(&out), &e) == 0, "still a URL");
        url_fini(&u);
    }
    buf_free(&in);
    buf_free(&out);
    buf_free(&want);
}

/* ---- counts, configuration, limits ---- */

static void check_counts(void)
{
    struct buf in = BUF_INIT(4096), out = BUF_INIT(4096);
    struct scrub_counts *c = NULL;
    struct headers h = {0};
    struct exchange x;
    struct err e = {0};

    exchange_init(&x);
    ok(scrub_counts_new(&c, rules, &e) == 0, "counts");
    made(&in, "{\"a\":\"ghp_%a36 ghp_%a36\",\"password\":\"x\"}", 1);
    ok(scrub_body(rules, SCRUB_REQUEST, NULL, in.data, in.len, NULL, &out, c, &e) == 1 &&
           headers_add(&h, "Authorization", "x", &e) == 0 &&
           scrub_headers(rules, SCRUB_RESPONSE, &h, c, &e) == 0 &&
           scrub_counts_put(c, &x, &e) == 0,
       "a request and a response");
    ok(x.n_scrubbed == 3, "three rules were used: %zu", x.n_scrubbed);
    for (size_t i = 0; i < x.n_scrubbed; i++) {
        const struct exchange_scrub *s = &x.scrubbed[i];
        bool good = (strcmp(s->rule, "github-token") == 0 && s->count == 2 &&
                     strcmp(s->where, "request.body") == 0) ||
                    (strcmp(s->rule, "password") == 0 && s->count == 1 &&
                     strcmp(s->where, "request.body") == 0) ||
                    (strcmp(s->rule, "authorization") == 0 && s->count == 1 &&
                     strcmp(s->where, "response.headers") == 0);
        ok(good, "%s in %s: %u", s->rule, s->where, s->count);
    }
    exchange_fini(&x);
    exchange_init(&x);
    scrub_counts_reset(c);
    ok(scrub_counts_put(c, &x, &e) == 0 && x.n_scrubbed == 0, "reset");
    exchange_fini(&x);
    headers_fini(&h);
    scrub_counts_free(&c);
    buf_free(&in);
    buf_free(&out);
}

static void check_config(void)
{
    static const char *const headers[] = {"X-Team", NULL},
                             *const names[] = {"pin_code", NULL},
                             *const query[] = {"sid", NULL},
                             *const nameless[] = {"--", NULL};
    static const struct scrub_pattern patterns[] = {{"badge", "EMP-[0-9]{4}"}, {0}};
    static const struct scrub_pattern broken[] = {{"badge", "(x"}, {0}};
    struct scrub_config config = {headers, names, query, patterns};
    struct scrub_config bad[] = {{.patterns = broken}, {.fields = nameless}};
    static const char body[] = "{\"pinCode\":\"1234\",\"n\":\"I am EMP-1234\\u00e9\"}";
    struct scrub *s = NULL;
    struct buf out = BUF_INIT(4096);
    struct headers h = {0};
    struct url u = {0};
    struct err e = {0};

    ok(scrub_new(&s, &config, &e) == 0, "user rules");
    ok(scrub_body(s, SCRUB_REQUEST, NULL, body, sizeof body - 1, NULL, &out, NULL, &e) ==
           1,
       "user rules find");
    is(buf_cstr(&out),
       "{\"pinCode\":\"[secret:pin_code]\",\"n\":\"I am [secret:badge]\\u00e9\"}",
       "user fields and patterns");
    ok(scrub_body(s, SCRUB_REQUEST, NULL, out.data, out.len, NULL, &out, NULL, &e) == 0,
       "user rules: nothing left to do");
    ok(headers_add(&h, "x-team", "red", &e) == 0 &&
           scrub_headers(s, SCRUB_REQUEST, &h, NULL, &e) == 0,
       "user header");
    is(h.v[0].value, "[secret:x-team]", "user header");
    ok(url_parse(&u, "http://x.example/?sid=1&a=2", &e) == 0 &&
           scrub_url(s, &u, NULL, &e) == 0,
       "user query");
    is(u.query, "sid=[secret:sid]&a=2", "user query");
    url_fini(&u);
    headers_fini(&h);
    buf_free(&out);
    scrub_free(&s);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        ok(scrub_new(&s, &bad[i], &e) == -1 && e.code == ERR_CONFIG && !s, "refused %zu",
           i);
}

static void check_limits(void)
{
    struct buf tiny = BUF_INIT(22), enough = BUF_INIT(23), deep = BUF_INIT(65536);
    struct err e = {0};
    static const char text[] = "{\"password\":\"hunter2\"}";
    struct buf out = BUF_INIT(65536);

    ok(scrub_body(rules, SCRUB_REQUEST, NULL, text, sizeof text - 1, NULL, &tiny, NULL,
                  &e) == -1 &&
           e.code == ERR_LIMIT,
       "output above its ceiling is refused, never cut");
    enough.max = strlen("{\"password\":\"[secret:password]\"}");
    ok(scrub_body(rules, SCRUB_REQUEST, NULL, text, sizeof text - 1, NULL, &enough, NULL,
                  &e) == 1,
       "output at its ceiling is fine");
    for (int i = 0; i < 600; i++)
        buf_char(&deep, '[');
    fake_secret(&deep, "\"ghp_%a36\"", 1);
    ok(scrub_body(rules, SCRUB_REQUEST, NULL, deep.data, deep.len, NULL, &out, NULL,
                  &e) == 1 &&
           strstr(out.data, "\"[secret:github-token]\""),
       "deeper than we follow: read as text");
    ok(scrub_body(rules, SCRUB_REQUEST, NULL, NULL, 0, NULL, &out, NULL, &e) == 0,
       "an empty body is clean");
    buf_free(&tiny);
    buf_free(&enough);
    buf_free(&deep);
    buf_free(&out);
}

static void check_text(void)
{
    struct buf in = BUF_INIT(4096), out = BUF_INIT(4096);
    struct err e = {0};

    made(&in, "asked with Bearer %a30 twice", 1);
    ok(scrub_text(rules, in.data, in.len, &out, NULL, &e) == 1, "text");
    is(buf_cstr(&out), "asked with [secret:bearer-token] twice", "text");
    ok(scrub_text(rules, out.data, out.len, &in, NULL, &e) == 0, "text again");
    buf_free(&in);
    buf_free(&out);
}

int main(void)
{
    struct err e = {0};

    ok(scrub_new(&rules, NULL, &e) == 0, "rules");
    ok(trips_assay("a\n Authorization : x", 20) && trips_assay("my Bearer x", 11) &&
           trips_assay("risk-assessment-framework-v2", 28) &&
           !trips_assay("[secret:bearer]", 15),
       "the verifier in this file works");
    check_bodies();
    check_every_kind();
    check_pieces();
    check_streams();
    check_headers();
    check_urls();
    check_counts();
    check_config();
    check_limits();
    check_text();
    scrub_free(&rules);
    return tap_done();
}
