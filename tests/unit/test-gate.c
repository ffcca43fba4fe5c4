/* test-gate.c - the three ways to name a session and a token. */
#include "base/err.h"
#include "proxy/gate.h"
#include "tap.h"

#define LONGEST                                                                          \
    "a123456789a123456789a123456789a123456789a123456789a123456789abcd" /* 64 */

static const struct {
    const char *name, *value, *session, *token;
    bool bad;
} basics[] = {
    {"nothing", NULL, "", "", false},
    {"user and password", "Basic cnVuLTc6c2VjcmV0", "run-7", "secret", false},
    {"scheme in lower case", "basic   cnVuLTc6c2VjcmV0", "run-7", "secret", false},
    {"user alone", "Basic cnVuLTc=", "run-7", "", false},
    {"padding left out", "Basic cnVuLTc", "run-7", "", false},
    {"password alone", "Basic OnNlY3JldA==", "", "secret", false},
    {"colon in the password", "Basic YTpiOmM=", "a", "b:c", false},
    {"another scheme", "Bearer abc", "", "", true},
    {"not base64", "Basic c*", "", "", true},
    {"text behind the padding", "Basic cnVuLTc=x", "", "", true},
    {"NUL in the password", "Basic YTpiAGM=", "a", "", true},
    {"a slash in the name", "Basic YS9iOg==", NULL, NULL, true},
    {"a dot first", "Basic Li4vYTo=", NULL, NULL, true},
};

static void check_basic(void)
{
    for (size_t i = 0; i < COUNT_OF(basics); i++) {
        struct gate_claim c = {0};
        gate_basic(basics[i].value, &c);
        ok(c.bad == basics[i].bad, "basic, %s: %s", basics[i].name,
           basics[i].bad ? "refused" : "taken");
        if (basics[i].session)
            is(c.session, basics[i].session, "basic, %s: session", basics[i].name);
        if (basics[i].token)
            is(c.token, basics[i].token, "basic, %s: token", basics[i].name);
    }
}

static const struct {
    const char *path, *rest, *session, *token;
    bool bad;
} prefixes[] = {
    {"/openai/v1", "/openai/v1", "", "", false},
    {"/s", "/s", "", "", false},
    {"/sx/a", "/sx/a", "", "", false},
    {"/s/run-7/openai/v1", "/openai/v1", "run-7", "", false},
    {"/s/run-7:t%2Bk/to/http/h/", "/to/http/h/", "run-7", "t+k", false},
    {"/s/run-7", "/", "run-7", "", false},
    {"/s/run-7?x=/y", "/", "run-7", "", false},
    {"/s/" LONGEST "/x", "/x", LONGEST, "", false},
    {"/s/" LONGEST "e/x", "/x", "", "", true},
    {"/s//x", "/x", "", "", true},
    {"/s/:t/x", "/x", "", "t", true},
    {"/s/a%2Fb/x", "/x", NULL, "", true},
    {"/s/a:%00/x", "/x", "a", "", true},
};

static void check_prefix(void)
{
    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        struct gate_claim c = {0};
        is(gate_prefix(prefixes[i].path, &c), prefixes[i].rest, "%s: rest",
           prefixes[i].path);
        if (prefixes[i].session)
            is(c.session, prefixes[i].session, "%s: session", prefixes[i].path);
        is(c.token, prefixes[i].token, "%s: token", prefixes[i].path);
        ok(c.bad == prefixes[i].bad, "%s: %s", prefixes[i].path,
           prefixes[i].bad ? "refused" : "taken");
    }
}

static void check_headers(void)
{
    struct header v[] = {{(char *)"x-retape-session", (char *)"b"},
                         {(char *)"X-Retape-Token", (char *)"t"}};
    struct headers h = {v, 2, 2};
    struct gate_claim none = {0}, some = {.session = "a"};

    gate_headers(&h, &none);
    ok(strcmp(none.session, "b") == 0 && strcmp(none.token, "t") == 0, "from headers");
    gate_headers(&h, &some);
    is(some.session, "a", "headers do not replace a session");
    is(some.token, "t", "but add the token that is missing");
    v[0].value = (char *)"../x";
    none = (struct gate_claim){0};
    gate_headers(&h, &none);
    ok(none.bad, "a header with a bad name is refused");
}

static const struct {
    const char *given, *expected;
    bool okay;
} tokens[] = {
    {"", NULL, true},      {"x", NULL, true},    {"abc", "abc", true},
    {"", "abc", false},    {"ab", "abc", false}, {"abcd", "abc", false},
    {"abd", "abc", false}, {"aa", "a", false},   {"abcabc", "abc", false},
};

static void check_token(void)
{
    for (size_t i = 0; i < COUNT_OF(tokens); i++) {
        struct gate_claim c = {0};
        (void)snprintf(c.token, sizeof c.token, "%s", tokens[i].given);
        ok(gate_token_ok(&c, tokens[i].expected) == tokens[i].okay,
           "token '%s' where '%s' is wanted: %s", tokens[i].given,
           tokens[i].expected ? tokens[i].expected : "none",
           tokens[i].okay ? "yes" : "no");
    }
}

int main(void)
{
    check_basic();
    check_prefix();
    check_headers();
    check_token();
    return tap_done();
}
