/*
 * options.c - see options.h.
 *
 * The rows are grouped by what they are about; each verb takes the groups that mean
 * something to it, so an option that would do nothing is an unknown option.
 */
#include "proxy/options.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/limits.h"
#include "base/url.h"
#include "proxy/textcheck.h"
#include "tape/cassette.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define AT(member) offsetof(struct options, member)

static const char *const repeats[] = {
    [REPEAT_NONE] = "none", [REPEAT_LAST] = "last", [REPEAT_CYCLE] = "cycle", NULL};

/* One option, two lines: clang-format would make eight of them. */
/* clang-format off */
#define ROWS_PLACES                                                                      \
    {"--cassettes", "DIR", CLI_TEXT, AT(cassettes), NULL, "RETAPE_CASSETTES",            \
     "cassettes", "folder of the cassettes"},                                            \
    {"--session", "NAME", CLI_TEXT, AT(session), NULL, "RETAPE_SESSION",                 \
     "default", "session of requests that name none; its cassette is NAME.jsonl"},       \
    {"--config", "FILE", CLI_TEXT, AT(config_file), NULL, "RETAPE_CONFIG",               \
     "retape.json if present", "configuration file"},                                    \
    {"--output", "DIR", CLI_TEXT, AT(output), NULL, "RETAPE_OUTPUT",                     \
     "outputs", "folder for run.json and summary.json, which replay writes"},            \
    {"--run-id", "ID", CLI_TEXT, AT(run_id_given), NULL, "RETAPE_RUN_ID",                \
     "run-<UTC time>-<6 hex>", "name of this run"},                                      \
    {"--seed", "N", CLI_NUMBER, AT(seed), NULL, "RETAPE_SEED",                           \
     NULL, "reported, and passed to the command as RETAPE_SEED"}

#define ROWS_LISTENER                                                                    \
    {"--listen", "ADDR:PORT", CLI_TEXT, AT(listen), NULL, "RETAPE_LISTEN",               \
     "127.0.0.1:8080, or a free port with a COMMAND",                                    \
     "where to accept connections; port 0 picks one, IPv6 stands in brackets"},          \
    {"--token", "T", CLI_TEXT, AT(token), NULL, "RETAPE_TOKEN",                          \
     NULL, "password clients must send; needed to listen beyond loopback"},              \
    {"--ready-file", "FILE", CLI_TEXT, AT(ready_file), NULL, NULL,                       \
     NULL, "write the address to FILE once connections are accepted"},                   \
    {"--workers", "N", CLI_NUMBER, AT(workers), NULL, "RETAPE_WORKERS",                  \
     "one per core", "number of threads"}

#define ROWS_RESULT                                                                      \
    {"--base-urls", NULL, CLI_FLAG, AT(base_urls), NULL, "RETAPE_BASE_URLS",             \
     NULL, "also set OPENAI_BASE_URL, ANTHROPIC_BASE_URL and GOOGLE_GEMINI_BASE_URL "    \
     "for the command"},                                                                 \
    {"--summary-file", "FILE", CLI_TEXT, AT(summary_file), NULL, NULL,                   \
     NULL, "write the summary to FILE as JSON"},                                         \
    {"--json", NULL, CLI_FLAG, AT(json), NULL, NULL,                                     \
     NULL, "print the summary as JSON (with a COMMAND on stderr)"},                      \
    {"--sandbox", NULL, CLI_FLAG, AT(sandbox), NULL, NULL,                               \
     NULL, "refused: this version has no sandbox"},                                      \
    {"--no-sandbox", NULL, CLI_FLAG, AT(no_sandbox), NULL, NULL,                         \
     NULL, "run the command without a sandbox, as always in this version"}

#define ROWS_REACH                                                                       \
    {"--upstream-ca", "FILE", CLI_LIST, AT(upstream_ca), NULL, "RETAPE_UPSTREAM_CA",     \
     NULL, "trust these certificates for upstream too (repeatable)"},                    \
    {"--resolve", "HOST:PORT:ADDR[:PORT]", CLI_LIST, AT(resolve), NULL,                  \
     "RETAPE_RESOLVE", NULL,                                                             \
     "connect to ADDR instead of HOST:PORT; TLS name and cassette keep HOST "            \
     "(repeatable)"},                                                                    \
    {"--upstream-proxy", "URL", CLI_TEXT, AT(upstream_proxy), NULL,                      \
     "RETAPE_UPSTREAM_PROXY", NULL, "reach upstream through this HTTP proxy"}

#define ROWS_UPSTREAM                                                                    \
    ROWS_REACH,                                                                          \
    {"--tunnel", "HOST", CLI_LIST, AT(tunnel), NULL, "RETAPE_TUNNEL",                    \
     NULL, "pass HOST (or *.DOMAIN) through unread and unrecorded (repeatable)"}

#define ROWS_PLAYBACK                                                                    \
    {"--speed", "N", CLI_DECIMAL, AT(speed), NULL, "RETAPE_SPEED",                       \
     "0", "play streams at once (0), at recorded pace (1) or N times faster"},           \
    {"--repeat", "none|last|cycle", CLI_CHOICE, AT(repeat), repeats, "RETAPE_REPEAT",    \
     "none", "how to answer a request asked more often than recorded"},                  \
    {"--fail-unused", NULL, CLI_FLAG, AT(fail_unused), NULL, "RETAPE_FAIL_UNUSED",       \
     NULL, "recordings that were never asked for are an error"}

#define ROW_END {.name = NULL}
/* clang-format on */

static const struct cli_option record_rows[] = {
    ROWS_PLACES,
    {"--overwrite", NULL, CLI_FLAG, AT(overwrite), NULL, NULL, NULL,
     "replace an existing cassette"},
    {"--append", NULL, CLI_FLAG, AT(append), NULL, NULL, NULL,
     "add to an existing cassette"},
    {"--allow-empty", NULL, CLI_FLAG, AT(allow_empty), NULL, "RETAPE_ALLOW_EMPTY", NULL,
     "a run that records nothing is no error"},
    ROWS_UPSTREAM,
    ROWS_LISTENER,
    ROWS_RESULT,
    ROW_END,
};
static const struct cli_option replay_rows[] = {
    {"--bundle", "FILE", CLI_TEXT, AT(bundle), NULL, "RETAPE_BUNDLE", NULL,
     "verify this bundle and replay its cassettes, without unpacking it"},
    {"--compare", NULL, CLI_FLAG, AT(compare), NULL, NULL, NULL,
     "with --bundle: outputs that differ from the bundled ones are an error"},
    {"--live", NULL, CLI_FLAG, AT(live), NULL, NULL, NULL,
     "forward what is not recorded to hosts the cassette knows, and no others; nothing "
     "is recorded (--upstream-ca, --resolve and --upstream-proxy are for this)"},
    ROWS_PLACES,
    ROWS_PLAYBACK,
    ROWS_REACH,
    ROWS_LISTENER,
    ROWS_RESULT,
    ROW_END,
};
static const struct cli_option auto_rows[] = {
    ROWS_PLACES, ROWS_PLAYBACK, ROWS_UPSTREAM, ROWS_LISTENER, ROWS_RESULT, ROW_END,
};

static const char *const live_exits[] = {
    "0  ok, or the command's own exit status (128+n after signal n)",
    "2  usage, configuration or cassette; E_RECORD_EMPTY when nothing was recorded",
    "3  infrastructure: disk, memory, address in use", NULL};
static const char *const auto_exits[] = {
    "0  ok, or the command's own exit status (128+n after signal n)",
    "2  usage, configuration or cassette; E_REPLAY_UNUSED with --fail-unused",
    "3  infrastructure: disk, memory, address in use", NULL};
static const char *const replay_exits[] = {
    "0  ok", "1  the command failed (E_TEST_FAILED)",
    "2  usage, configuration or cassette; a request that was not recorded "
    "(E_REPLAY_MISSING_DEPENDENCY); E_REPLAY_UNUSED with --fail-unused; "
    "E_OUTPUTS_DIFFER with --compare",
    "3  infrastructure: disk, memory, address in use", NULL};

#define USAGE "[options] [-- COMMAND...]"

const struct cli_verb options_record = {
    .program = "retape",
    .name = "record",
    .usage = USAGE,
    .summary = "Forward every request and record it. With a COMMAND, run it behind the "
               "proxy and end when it ends; without, serve until SIGINT or SIGTERM.",
    .options = record_rows,
    .exits = live_exits,
    .example = "retape record -- python agent.py",
    .takes_command = true};

const struct cli_verb options_replay = {
    .program = "retape",
    .name = "replay",
    .usage = USAGE,
    .summary = "Answer every request from the cassette and open no outbound connection. "
               "A request that was not recorded is answered 424 and fails the run.",
    .options = replay_rows,
    .exits = replay_exits,
    .example = "retape replay --fail-unused -- make test",
    .takes_command = true};

const struct cli_verb options_auto = {
    .program = "retape",
    .name = "auto",
    .usage = USAGE,
    .summary = "Answer what is recorded from the cassette; forward and record the rest.",
    .options = auto_rows,
    .exits = auto_exits,
    .example = "retape auto --session smoke -- npm test",
    .takes_command = true};

static const struct cli_verb *const verbs[] = {
    [MODE_RECORD] = &options_record,
    [MODE_REPLAY] = &options_replay,
    [MODE_AUTO] = &options_auto,
};

static int check_names(struct options *o, struct err *e)
{
    static const char rule[] =
        "must start with a letter or digit, go on with letters, digits, '.', '_' or '-' "
        "and be at most 64 characters long";

    if (!cassette_name_ok(o->session))
        return err_set(e, ERR_USAGE, "--session '%.64s': a name %s", o->session, rule);
    if (!o->run_id_given)
        return 0;
    if (!cassette_name_ok(o->run_id_given))
        return err_set(e, ERR_USAGE, "--run-id '%.64s': an id %s", o->run_id_given, rule);
    (void)snprintf(o->run_id, sizeof o->run_id, "%s", o->run_id_given);
    return 0;
}

/* run-20260301T120000Z-1f2e3d */
static void make_run_id(char *out, size_t size)
{
    char now[CLOCK_TEXT], hex[7];
    uint8_t random[3];

    clock_rfc3339(clock_wall_ms(), now);
    clock_random(random, sizeof random);
    digest_hex(random, sizeof random, hex);
    (void)snprintf(out, size, "run-%.4s%.2s%.5s%.2s%.2sZ-%s", now, now + 5, now + 8,
                   now + 14, now + 17, hex);
}

/* 0..65535 in at most five digits. */
static bool is_port(const char *text)
{
    size_t n = strspn(text, "0123456789");

    return n > 0 && n <= 5 && !text[n] && strtoul(text, NULL, 10) <= 65535;
}

static bool is_loopback(int family, const void *addr)
{
    const struct in6_addr *six = addr;
    const uint8_t *four = addr;

    if (family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(six))
        return IN6_IS_ADDR_LOOPBACK(six);
    return four[family == AF_INET6 ? 12 : 0] == 127;
}

static int check_listen(const struct options *o, struct err *e)
{
    char host[INET6_ADDRSTRLEN + 1];
    struct in6_addr addr; /* the larger of the two */
    const char *text = o->listen;
    const char *colon = text ? strrchr(text, ':') : NULL;

    if (!text)
        return 0;
    bool bracketed = colon && text[0] == '[' && colon > text + 1 && colon[-1] == ']';
    size_t len = colon ? (size_t)(colon - text) - (bracketed ? 2 : 0) : sizeof host;
    if (len >= sizeof host || !is_port(colon + 1))
        return err_set(e, ERR_USAGE,
                       "--listen '%.80s': give an address and a port, such as "
                       "127.0.0.1:8080 or [::1]:8080",
                       text);
    (void)snprintf(host, sizeof host, "%.*s", (int)len, text + bracketed);
    if (!bracketed && strcasecmp(host, "localhost") == 0)
        return 0;
    int family = bracketed ? AF_INET6 : AF_INET;
    if (inet_pton(family, host, &addr) != 1)
        return err_set(e, ERR_USAGE,
                       "--listen '%.80s': '%s' is not an address (127.0.0.1, localhost, "
                       "or [::1] in brackets)",
                       text, host);
    if (!is_loopback(family, &addr) && !o->token)
        return err_set(e, ERR_USAGE,
                       "--listen %s reaches beyond this machine, which needs --token (or "
                       "RETAPE_TOKEN)",
                       text);
    return 0;
}

/* The token stands in URLs, so it keeps to what needs no escaping there. */
static int check_token(const struct options *o, struct err *e)
{
    size_t len = 0;

    if (!o->token)
        return 0;
    while (isalnum((unsigned char)o->token[len]) ||
           (o->token[len] && strchr("._~+=-", o->token[len])))
        len++;
    if (o->token[len] || len > LIMIT_TOKEN)
        return err_set(e, ERR_USAGE,
                       "--token: use at most %d letters, digits and . _ ~ + = -, it "
                       "stands in URLs",
                       LIMIT_TOKEN);
    return 0;
}

/* The end of "host" or "[v6]" at text: its ':' or its NUL. */
static const char *end_of_host(const char *text)
{
    if (*text == '[')
        text += strcspn(text, "]");
    return text + strcspn(text, ":");
}

static bool is_host_port(const char *text, bool need_port)
{
    struct err why;
    char *host = NULL;
    uint16_t port = 0;

    if (url_host_port(text, &host, &port, &why) < 0)
        return false;
    free(host);
    return port != 0 || !need_port;
}

/* HOST:PORT:ADDR[:PORT] is two host:port pairs, the second port being optional. */
static bool is_resolve(const char *text)
{
    const char *port = end_of_host(text);
    const char *second = *port ? port + 1 + strcspn(port + 1, ":") : port;

    if (!*second)
        return false;
    char *first = strndup(text, (size_t)(second - text));
    bool fine = first && is_host_port(first, true) && is_host_port(second + 1, false);
    free(first);
    return fine;
}

/* An HTTP proxy: scheme, host, port; a user name is fine and never printed. */
static bool is_proxy_url(const char *text)
{
    struct err why;
    struct url u = {0};
    char bare[600];
    const char *slashes = strstr(text, "://");
    const char *at = strrchr(text, '@');

    if (!slashes || (at && at < slashes))
        return false;
    int n = snprintf(bare, sizeof bare, "%.*s%s", (int)(slashes + 3 - text), text,
                     at ? at + 1 : slashes + 3);
    if (n < 0 || (size_t)n >= sizeof bare || url_parse(&u, bare, &why) < 0)
        return false;
    bool fine = !u.query && strcmp(u.path, "/") == 0;
    url_fini(&u);
    return fine;
}

static int check_upstream(const struct options *o, struct err *e)
{
    for (size_t i = 0; i < o->resolve.n; i++)
        if (!is_resolve(o->resolve.v[i]))
            return err_set(e, ERR_USAGE,
                           "--resolve '%.120s': give HOST:PORT:ADDR or "
                           "HOST:PORT:ADDR:PORT, IPv6 in brackets",
                           o->resolve.v[i]);
    for (size_t i = 0; i < o->tunnel.n; i++)
        if (!textcheck_host.holds(o->tunnel.v[i]))
            return err_set(e, ERR_USAGE, "--tunnel '%.80s' must be %s", o->tunnel.v[i],
                           textcheck_host.wanted);
    for (size_t i = 0; i < o->upstream_ca.n; i++)
        if (access(o->upstream_ca.v[i], R_OK) < 0)
            return err_set(e, ERR_USAGE, "--upstream-ca %.200s: %s", o->upstream_ca.v[i],
                           strerror(errno));
    if (o->upstream_proxy && !is_proxy_url(o->upstream_proxy))
        return err_set(e, ERR_USAGE,
                       "--upstream-proxy: give a URL such as http://proxy.example:3128");
    return 0;
}

static int check_combinations(const struct options *o, struct err *e)
{
    if (o->sandbox)
        return err_set(e, ERR_USAGE,
                       "--sandbox: this version has no sandbox; leave the option out");
    if (o->overwrite && o->append)
        return err_set(e, ERR_USAGE,
                       "--overwrite and --append contradict each other; give one");
    if (o->workers.given && (o->workers.value < 1 || o->workers.value > LIMIT_WORKERS))
        return err_set(e, ERR_USAGE, "--workers: give a number from 1 to %d",
                       LIMIT_WORKERS);
    if (o->compare && !o->bundle)
        return err_set(e, ERR_USAGE, "--compare needs --bundle FILE");
    return 0;
}

static int check(struct options *o, struct err *e)
{
    if (check_combinations(o, e) == 0 && check_names(o, e) == 0 &&
        check_token(o, e) == 0 && check_listen(o, e) == 0 && check_upstream(o, e) == 0)
        return 0;
    struct err inner = *e;
    return err_set(e, inner.code, "%s (see 'retape %s --help')", inner.msg,
                   verbs[o->mode]->name);
}

int options_parse(struct options *o, enum options_mode mode, int argc, char **argv,
                  struct err *e)
{
    *o = (struct options){.mode = mode,
                          .cassettes = "cassettes",
                          .session = "default",
                          .output = "outputs",
                          .repeat = REPEAT_NONE};
    make_run_id(o->run_id, sizeof o->run_id);
    if (cli_parse(verbs[mode], argc, argv, o, &o->rest, e) < 0)
        return -1;
    if (o->rest.help)
        return 0;
    if (check(o, e) < 0 || config_load(&o->config, o->config_file, e) < 0) {
        options_fini(o);
        return -1;
    }
    return 0;
}

void options_fini(struct options *o)
{
    config_free(&o->config);
    cli_fini(verbs[o->mode], o, &o->rest);
}
