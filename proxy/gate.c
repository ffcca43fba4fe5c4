/* gate.c - see gate.h. */
#include "proxy/gate.h"

#include "base/url.h"
#include "tape/cassette.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

static void put(char *to, size_t room, const char *from, size_t len, bool *bad)
{
    if (len >= room || memchr(from, '\0', len)) {
        *bad = true;
        return;
    }
    memcpy(to, from, len);
    to[len] = '\0';
}

static void put_session(struct gate_claim *claim, const char *name, size_t len)
{
    if (len == 0)
        return;
    put(claim->session, sizeof claim->session, name, len, &claim->bad);
    if (!claim->bad && !cassette_name_ok(claim->session))
        claim->bad = true;
}

static int sextet(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decode base64 (RFC 4648, padding optional); -1 when it is not. */
static long from_base64(const char *in, char *out, size_t room)
{
    uint32_t bits = 0;
    unsigned have = 0;
    size_t n = 0;

    for (; *in && *in != '='; in++) {
        int v = sextet(*in);
        if (v < 0)
            return -1;
        bits = bits << 6 | (uint32_t)v;
        have += 6;
        if (have >= 8) {
            have -= 8;
            if (n == room)
                return -1;
            out[n++] = (char)(bits >> have & 0xff);
        }
    }
    return in[strspn(in, "=")] ? -1 : (long)n;
}

void gate_basic(const char *value, struct gate_claim *out)
{
    char plain[GATE_NAME + GATE_TOKEN];

    if (!value)
        return;
    if (strncasecmp(value, "Basic ", 6) != 0) {
        out->bad = true;
        return;
    }
    value += 6 + strspn(value + 6, " ");
    long n = from_base64(value, plain, sizeof plain);
    if (n < 0) {
        out->bad = true;
        return;
    }
    const char *colon = memchr(plain, ':', (size_t)n);
    size_t user = colon ? (size_t)(colon - plain) : (size_t)n;
    put_session(out, plain, user);
    if (colon)
        put(out->token, sizeof out->token, colon + 1, (size_t)n - user - 1, &out->bad);
}

void gate_headers(const struct headers *h, struct gate_claim *claim)
{
    const char *session = headers_find(h, "X-Retape-Session");
    const char *token = headers_find(h, "X-Retape-Token");

    if (session && !claim->session[0])
        put_session(claim, session, strlen(session));
    if (token && !claim->token[0])
        put(claim->token, sizeof claim->token, token, strlen(token), &claim->bad);
}

const char *gate_prefix(const char *path, struct gate_claim *claim)
{
    if (strncmp(path, "/s/", 3) != 0)
        return path;
    const char *name = path + 3;
    size_t len = strcspn(name, "/?");
    const char *colon = memchr(name, ':', len);
    size_t name_len = colon ? (size_t)(colon - name) : len;

    if (name_len == 0)
        claim->bad = true;
    put_session(claim, name, name_len);
    if (colon) {
        struct buf token = BUF_INIT(GATE_TOKEN);
        url_decode(colon + 1, len - name_len - 1, false, &token);
        put(claim->token, sizeof claim->token, buf_cstr(&token), token.len, &claim->bad);
        claim->bad |= token.failed;
        buf_free(&token);
    }
    return name[len] == '/' ? name + len : "/";
}

bool gate_token_ok(const struct gate_claim *claim, const char *expected)
{
    if (!expected)
        return true;
    size_t a = strlen(claim->token), b = strlen(expected);
    unsigned char differ = (unsigned char)(a != b);
    for (size_t i = 0; i < a; i++)
        differ |= (unsigned char)(claim->token[i] ^ expected[b ? i % b : 0]);
    return !differ;
}
