/* test-target.c - what a request is for, by every way in. */
#include "base/err.h"
#include "proxy/target.h"
#include "tap.h"

#include <stdlib.h>

static const struct own_address own = {"127.0.0.1:8080", "127.0.0.1", 8080};
static const struct config_route routes[] = {
    {(char *)"/openai", (char *)"https://api.openai.test/v1"},
    {(char *)"/back", (char *)"http://localhost:8080/"},
};

/* want: the upstream URL, "own PATH", or NULL for a refusal. */
static const struct {
    enum conn_via via;
    const char *conn_host;
    uint16_t conn_port;
    const char *line, *host, *want;
    bool named_us, keep_host;
} cases[] = {
    /* absolute-form: the URL counts, the Host field does not */
    {VIA_PLAIN, "", 0, "http://a.test/x?y=1", "b.test", "http://a.test/x?y=1", 0, 0},
    {VIA_PLAIN, "", 0, "HTTP://A.test:81", NULL, "http://a.test:81/", 0, 0},
    {VIA_PLAIN, "", 0, "https://a.test/", "a.test", "https://a.test/", 0, 0},
    {VIA_PLAIN, "", 0, "http://u:p@a.test/", "a.test", NULL, 0, 0},
    {VIA_PLAIN, "", 0, "http://a.test/#f", "a.test", NULL, 0, 0},
    {VIA_PLAIN, "", 0, "ftp://a.test/", "a.test", NULL, 0, 0},
    {VIA_PLAIN, "", 0, "*", "a.test", NULL, 0, 0},
    {VIA_PLAIN, "", 0, "a.test:443", "a.test", NULL, 0, 0},
    /* all spellings of ourselves */
    {VIA_PLAIN, "", 0, "http://127.0.0.1:8080/p?q", "x", "own /p?q", 1, 0},
    {VIA_PLAIN, "", 0, "http://localhost:8080", "x", "own /", 1, 0},
    {VIA_PLAIN, "", 0, "http://127.9.9.9:8080/", "x", "own /", 1, 0},
    {VIA_PLAIN, "", 0, "http://[::1]:8080/", "x", "own /", 1, 0},
    {VIA_PLAIN, "", 0, "http://[0:0:0:0:0:0:0:1]:8080/", "x", "own /", 1, 0},
    {VIA_PLAIN, "", 0, "http://[::ffff:127.0.0.1]:8080/", "x", "own /", 1, 0},
    {VIA_PLAIN, "", 0, "http://0.0.0.0:8080/", "x", "own /", 1, 0},
    {VIA_PLAIN, "", 0, "http://[::]:8080/", "x", "own /", 1, 0},
    {VIA_PLAIN, "", 0, "https://retape.local/x", "x", "own /x", 1, 0},
    {VIA_PLAIN, "", 0, "http://127.0.0.1:8081/", "x", "http://127.0.0.1:8081/", 0, 0},
    {VIA_PLAIN, "", 0, "http://127.test:8080/", "x", "http://127.test:8080/", 0, 0},
    {VIA_PLAIN, "", 0, "http://10.0.0.5:8080/", "x", "own /", 1, 0}, /* .local below */
    /* our own origin: who asks under another name is not named_us */
    {VIA_PLAIN, "", 0, "/x", "127.0.0.1:8080", "own /x", 1, 0},
    {VIA_PLAIN, "", 0, "/x", "LocalHost:9", "own /x", 1, 0},
    {VIA_PLAIN, "", 0, "/x", "evil.test:8080", "own /x", 0, 0},
    {VIA_PLAIN, "", 0, "/x", "0.0.0.0:9", "own /x", 0, 0},
    {VIA_PLAIN, "", 0, "/x", NULL, "own /x", 0, 0},
    {VIA_PLAIN, "", 0, "/openai/chat?a=b", "localhost",
     "https://api.openai.test/v1/chat?a=b", 1, 0},
    {VIA_PLAIN, "", 0, "/openai", "evil.test", "https://api.openai.test/v1", 0, 0},
    {VIA_PLAIN, "", 0, "/openaix", "localhost", "own /openaix", 1, 0},
    {VIA_PLAIN, "", 0, "/s/r:t/to/https/a.test:444/p", "localhost",
     "https://a.test:444/p", 1, 0},
    {VIA_PLAIN, "", 0, "/to/http/a.test", "evil.test", "http://a.test/", 0, 0},
    {VIA_PLAIN, "", 0, "/to/http/a.test?q", "localhost", "http://a.test/?q", 1, 0},
    {VIA_PLAIN, "", 0, "/to/ftp/a.test/", "localhost", NULL, 0, 0},
    {VIA_PLAIN, "", 0, "/to/http/", "localhost", NULL, 0, 0},
    {VIA_PLAIN, "", 0, "/to/http/u@a.test/", "localhost", NULL, 0, 0},
    /* a route never leads back */
    {VIA_PLAIN, "", 0, "/to/http/127.0.0.1:8080/__retape/health", "localhost", NULL, 0,
     0},
    {VIA_PLAIN, "", 0, "/to/http/0.0.0.0:8080/", "localhost", NULL, 0, 0},
    {VIA_PLAIN, "", 0, "/to/https/retape.local/", "localhost", NULL, 0, 0},
    {VIA_PLAIN, "", 0, "/back/x", "localhost", NULL, 0, 0},
    /* tunnels: the CONNECT target counts, the Host field goes along */
    {VIA_CONNECT_TLS, "a.test", 443, "/p", "b.test", "https://a.test/p", 0, 1},
    {VIA_CONNECT_TLS, "a.test", 8443, "/p", NULL, "https://a.test:8443/p", 0, 1},
    {VIA_CONNECT_PLAIN, "a.test", 80, "/p", "a.test", "http://a.test/p", 0, 1},
    {VIA_CONNECT_TLS, "127.0.0.1", 8080, "/p", "x", "own /p", 1, 0},
    {VIA_CONNECT_PLAIN, "retape.local", 80, "/p", "x", "own /p", 1, 0},
    {VIA_CONNECT_TLS, "a.test", 443, "/p#f", "a.test", NULL, 0, 1},
    /* TLS straight to us: the server name, else the Host field */
    {VIA_TLS, "a.test", 0, "/p", "a.test", "https://a.test/p", 0, 1},
    {VIA_TLS, "", 0, "/p", "b.test:444", "https://b.test:444/p", 0, 1},
    {VIA_TLS, "", 0, "/p", NULL, NULL, 0, 0},
    {VIA_TLS, "localhost", 0, "/p", "localhost:8080", "own /p", 1, 0},
    {VIA_TLS, "", 0, "/p", "127.0.0.1:8080", "own /p", 1, 0},
};

int main(void)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct conn conn = {.via = cases[i].via, .port = cases[i].conn_port};
        struct target_request r = {.conn = &conn,
                                   .own = &own,
                                   .routes = routes,
                                   .n_routes = COUNT_OF(routes),
                                   .line = cases[i].line,
                                   .host = cases[i].host};
        struct gate_claim claim = {0};
        struct target t;
        struct err e = {0};
        struct buf got = BUF_INIT(1024);

        (void)snprintf(conn.host, sizeof conn.host, "%s", cases[i].conn_host);
        conn.local = (struct own_address){"10.0.0.5:8080", "10.0.0.5", 8080};
        int rc = target_of(&t, &r, &claim, &e);
        if (rc == 0 && t.kind == TARGET_OWN)
            buf_fmt(&got, "own %s", t.path);
        else if (rc == 0)
            url_text(&t.url, &got);
        is(rc == 0 ? buf_cstr(&got) : NULL, cases[i].want, "%s, Host %s, by %d",
           cases[i].line, cases[i].host ? cases[i].host : "none", cases[i].via);
        if (rc == 0)
            ok(t.named_us == cases[i].named_us && t.keep_host == cases[i].keep_host,
               "%s: %s us, Host is %s", cases[i].line, t.named_us ? "names" : "not for",
               t.keep_host ? "kept" : "dropped");
        else
            ok(e.code == ERR_FORMAT && e.msg[0], "%s: says why", cases[i].line);
        target_fini(&t);
        buf_free(&got);
    }
    return tap_done();
}
