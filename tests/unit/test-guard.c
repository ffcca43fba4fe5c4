/* test-guard.c - request framing: what passes, what is refused, and how it is cut. */
#include "base/err.h"
#include "base/limits.h"
#include "net/guard.h"
#include "tap.h"

#include <stdlib.h>

#define H "Host: a\r\n"

static const struct {
    const char *name, *in;
    int status; /* 0: all of it passes */
} streams[] = {
    {"one request", "GET / HTTP/1.1\r\n" H "\r\n", 0},
    {"two requests", "GET / HTTP/1.1\r\n\r\nGET /b HTTP/1.0\r\n\r\n", 0},
    {"bare line feeds", "GET / HTTP/1.1\n" H "\n", 0},
    {"empty lines first", "\r\n\r\nGET / HTTP/1.1\r\n\r\n", 0},
    {"a body by length", "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 0},
    {"the same length twice",
     "POST / HTTP/1.1\r\nContent-Length: 1\r\ncontent-length: 1\r\n\r\na", 0},
    {"chunks",
     "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: v\r\n"
     "\r\nGET / HTTP/1.1\r\n\r\n",
     0},
    {"an empty value", "GET / HTTP/1.1\r\nX:\r\n\r\n", 0},
    {"no version", "GET /\r\n\r\n", 400},
    {"two blanks", "GET  / HTTP/1.1\r\n\r\n", 400},
    {"a blank in the target", "GET /a b HTTP/1.1\r\n\r\n", 400},
    {"HTTP/2", "GET / HTTP/2.0\r\n\r\n", 400},
    {"a version that is no number", "GET / HTTP/1.x\r\n\r\n", 400},
    {"a method that is no token", "G(T / HTTP/1.1\r\n\r\n", 400},
    {"a control character in the target", "GET /\x01 HTTP/1.1\r\n\r\n", 400},
    {"no colon", "GET / HTTP/1.1\r\nX\r\n\r\n", 400},
    {"no name", "GET / HTTP/1.1\r\n: v\r\n\r\n", 400},
    {"a blank before the colon", "GET / HTTP/1.1\r\nX : v\r\n\r\n", 400},
    {"a folded line", "GET / HTTP/1.1\r\nX: v\r\n w\r\n\r\n", 400},
    {"a bare carriage return", "GET / HTTP/1.1\r\nX: v\rY: w\r\n\r\n", 400},
    {"two lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
     400},
    {"a length list", "POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n", 400},
    {"a signed length", "POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400},
    {"an empty length", "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400},
    {"a length beyond 64 bits",
     "POST / HTTP/1.1\r\nContent-Length: 18446744073709551617\r\n\r\n", 400},
    {"length and chunks",
     "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
    {"chunks and length",
     "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400},
    {"another coding", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
    {"chunked twice",
     "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
     "chunked\r\n\r\n",
     501},
    {"a chunk size that is none",
     "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400},
    {"a chunk size beyond 60 bits",
     "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n", 400},
    {"a chunk longer than its size",
     "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400},
    {"a trailer without a name",
     "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx\r\n\r\n", 400},
};

/* Feed a stream in steps of so many bytes. Returns the status of the fault, or 0; *passed
 * is what was let through. */
static int feed(const char *in, size_t len, size_t step, size_t *passed)
{
    struct guard g = {0};
    struct guard_fault fault = {0};

    *passed = 0;
    for (size_t have = 0; have < len;) {
        have = have + step < len ? have + step : len;
        for (;;) {
            long n = guard_pass(&g, in + *passed, have - *passed, &fault);
            if (n < 0)
                return fault.status;
            *passed += (size_t)n;
            if (n == 0 || *passed == have)
                break;
        }
    }
    return 0;
}

static void check_streams(void)
{
    static const size_t steps[] = {1, 2, 3, 7, 4096};

    for (size_t i = 0; i < COUNT_OF(streams); i++) {
        size_t len = strlen(streams[i].in), passed;
        bool held = true;
        for (size_t s = 0; s < COUNT_OF(steps); s++) {
            int status = feed(streams[i].in, len, steps[s], &passed);
            held &= status == streams[i].status && (status || passed == len);
        }
        ok(held, "%s: %d however it is cut", streams[i].name, streams[i].status);
    }
}

/* Nothing of a refused request reaches the parser, all before it does. */
static void check_what_passes(void)
{
    static const char good[] = "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nab";
    static const char bad[] = "GET / HTTP/1.1\r\nX : v\r\n\r\n";
    struct guard g = {0};
    struct guard_fault fault;
    char both[sizeof good + sizeof bad];
    size_t passed;

    (void)snprintf(both, sizeof both, "%s%s", good, bad);
    ok(feed(both, strlen(both), 4096, &passed) == 400 && passed == sizeof good - 1,
       "what comes before a bad head passes, the head does not");
    ok(guard_pass(&g, "GET / HT", 8, &fault) == 0, "a head waits until it is whole");
    ok(feed("GET / HTTP/1.1\r\nX: \0\r\n\r\n", 24, 4096, &passed) == 400,
       "NUL in a value is refused");
}

static void check_limits(void)
{
    char *head = malloc(LIMIT_REQUEST_HEAD + 2);
    static const char start[] = "GET / HTTP/1.1\r\nX: ", end[] = "\r\n\r\n";
    size_t passed;

    memset(head, 'a', LIMIT_REQUEST_HEAD + 2);
    memcpy(head, start, sizeof start - 1);
    memcpy(head + LIMIT_REQUEST_HEAD - 4, end, 4);
    ok(feed(head, LIMIT_REQUEST_HEAD, 1000, &passed) == 0 && passed == LIMIT_REQUEST_HEAD,
       "a head of the largest size passes");
    memset(head + LIMIT_REQUEST_HEAD - 4, 'a', 4);
    memcpy(head + LIMIT_REQUEST_HEAD - 3, end, 4);
    ok(feed(head, LIMIT_REQUEST_HEAD + 1, 1000, &passed) == 431,
       "one byte more does not");
    free(head);

    struct {
        size_t args;
        int status;
    } cases[] = {{LIMIT_QUERY_ARGS, 0}, {LIMIT_QUERY_ARGS + 1, 414}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char line[4096] = "GET /?a";
        for (size_t n = 1; n < cases[i].args; n++)
            strcat(line, "&a");
        strcat(line, " HTTP/1.1\r\n\r\n");
        ok(feed(line, strlen(line), 4096, &passed) == cases[i].status,
           "%zu query arguments: %d", cases[i].args, cases[i].status);
    }
}

static void check_head_length(void)
{
    static const char head[] = "GET / HTTP/1.1\r\nA: b\r\n\r\nrest";

    for (size_t from = 0; from <= 24; from++)
        if (guard_head_length(head, sizeof head - 1, from) != 24)
            ok(false, "head found when %zu bytes were searched before", from);
    ok(guard_head_length(head, 24, 23) == 24, "found however much was searched before");
    ok(guard_head_length(head, 23, 0) == 0, "not before its last byte");
    ok(guard_is_token("X-A", 3) && !guard_is_token("X A", 3) && !guard_is_token("", 0),
       "tokens");
}

int main(void)
{
    check_streams();
    check_what_passes();
    check_limits();
    check_head_length();
    return tap_done();
}
