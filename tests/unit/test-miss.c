/* A miss says what is nearest, where it differs, and what to do. */
#include "tape/excerpt.h"
#include "tape/miss.h"
#include "tests/unit/taped.h"

#define CHAT "https://api.example.com/v1/chat"
#define JSON "application/json"

static struct canon_rules *defaults;

/* One cassette, one deck over it, and the report of what is asked. */
struct scene {
    struct taped t;
    struct deck *deck;
    struct miss miss;
    struct buf json, text;
};

static void scene_init(struct scene *s)
{
    *s = (struct scene){.json = BUF_INIT(LIMIT_MISS_BODY), .text = BUF_INIT(MIB(1))};
    taped_init(&s->t, defaults);
}

static void scene_start(struct scene *s, const struct canon_rules *rules)
{
    struct err e = {0};

    (void)taped_open(&s->t);
    ok(deck_new(&s->deck, s->t.tape, rules, REPEAT_NONE, &e) == 0, "deck %s", e.msg);
}

static void scene_ask(struct scene *s, const char *method, const char *url,
                      const char *type, const char *body)
{
    struct asked a;
    enum deck_found found = FOUND_NEVER;
    size_t entry = 0;
    struct err e = {0};

    miss_fini(&s->miss);
    buf_reset(&s->json);
    buf_reset(&s->text);
    asked_init(&a, method, url, type, body);
    ok(deck_take(s->deck, &a.req, body_hash(&a.req), &found, &entry, &e) == 0, "asked %s",
       e.msg);
    if (found == FOUND_NEVER || found == FOUND_EXHAUSTED) {
        ok(miss_explain(&s->miss, s->deck, &a.req, found, entry, &e) == 0, "explained %s",
           e.msg);
        miss_json(&s->miss, &s->json);
        miss_text(&s->miss, &s->text);
    }
    asked_fini(&a);
}

static void scene_fini(struct scene *s)
{
    miss_fini(&s->miss);
    deck_free(&s->deck);
    taped_fini(&s->t);
    buf_free(&s->json);
    buf_free(&s->text);
}

/* The differences to recording i as "at ..." */
static const char *ats(const struct miss *m, size_t i)
{
    static char out[512];

    out[0] = '\0';
    for (size_t k = 0; i < m->n_near && k < m->near[i].n_differences; k++)
        (void)snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s", k ? " " : "",
                       m->near[i].differences[k].at);
    return out;
}

static bool says(const struct scene *s, const char *words)
{
    return strstr(s->miss.message, words) && strstr(s->text.data, words);
}

static void one_difference(void)
{
    struct scene s;
    struct err e = {0};
    yyjson_doc *doc = NULL;

    scene_init(&s);
    taped_add(
        &s.t, "POST", CHAT, JSON,
        "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"model\":\"m\"}",
        "1");
    taped_add(&s.t, "POST", CHAT, JSON, "{\"something\":\"else\"}", "2");
    taped_add(&s.t, "GET", "https://api.example.com/models", NULL, NULL, "3");
    scene_start(&s, defaults);
    scene_ask(
        &s, "POST", CHAT, JSON,
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hallo\"}]}");
    ok(s.miss.n_near == 2, "same method, host and path only");
    ok(s.miss.near[0].exchange == 1 && s.miss.near[0].distance < 0.5 &&
           s.miss.near[1].distance > s.miss.near[0].distance,
       "nearest first");
    is(ats(&s.miss, 0), "/messages/0/content", "the difference by pointer");
    ok(says(&s, "was never recorded") && says(&s, "exchange 1 with 1 difference") &&
           says(&s, "run it once with `retape auto`") && !says(&s, "to match.ignore"),
       "message: %s", s.miss.message);

    ok(json_read(&doc, s.json.data, s.json.len, &e) == 0, "the report is JSON %s", e.msg);
    yyjson_val *root = yyjson_doc_get_root(doc);
    is(yyjson_get_str(yyjson_obj_get(root, "type")), "error", "type");
    yyjson_val *error = yyjson_obj_get(root, "error");
    is(yyjson_get_str(yyjson_obj_get(error, "type")), "replay_missing_dependency",
       "error.type");
    is(yyjson_get_str(yyjson_obj_get(error, "code")), "E_REPLAY_MISSING_DEPENDENCY",
       "error.code");
    is(yyjson_get_str(yyjson_obj_get(error, "reason")), "never_recorded", "error.reason");
    is(yyjson_get_str(yyjson_obj_get(error, "message")), s.miss.message, "error.message");
    is(yyjson_get_str(yyjson_ptr_get(error, "/request/method")), "POST", "method");
    is(yyjson_get_str(yyjson_ptr_get(error, "/request/url")), CHAT, "url");
    ok(yyjson_get_uint(yyjson_ptr_get(error, "/nearest/0/exchange")) == 1, "exchange");
    ok(yyjson_is_real(yyjson_ptr_get(error, "/nearest/0/distance")), "distance");
    is(yyjson_get_str(yyjson_ptr_get(error, "/nearest/0/differences/0/at")),
       "/messages/0/content", "at");
    is(yyjson_get_str(yyjson_ptr_get(error, "/nearest/0/differences/0/recorded")),
       "hello", "recorded");
    is(yyjson_get_str(yyjson_ptr_get(error, "/nearest/0/differences/0/asked")), "hallo",
       "asked");
    yyjson_doc_free(doc);
    scene_fini(&s);
}

static void exhausted(void)
{
    struct scene s;

    scene_init(&s);
    taped_add(&s.t, "POST", CHAT, JSON, "{\"a\":1}", "1");
    taped_add(&s.t, "POST", CHAT, JSON, "{\"a\":1}", "2");
    taped_add(&s.t, "POST", CHAT, JSON, "{\"a\":2}", "3");
    scene_start(&s, defaults);
    for (int i = 0; i < 3; i++)
        scene_ask(&s, "POST", CHAT, JSON, "{\"a\":1}");
    ok(s.miss.found == FOUND_EXHAUSTED && strstr(s.json.data, "\"reason\":\"exhausted\""),
       "told apart from never recorded");
    ok(says(&s, "more often than it was recorded (2 times, last as exchange 2)") &&
           says(&s, "--repeat last") && says(&s, "--repeat cycle"),
       "message: %s", s.miss.message);
    ok(s.miss.n_near == 2 && s.miss.near[0].exchange == 2 &&
           s.miss.near[0].n_differences == 0 && s.miss.near[0].distance == 0 &&
           s.miss.near[0].used,
       "the used up recording stands first, once");
    ok(s.miss.near[1].exchange == 3 && !s.miss.near[1].used, "then what is near");
    scene_fini(&s);
}

static const struct {
    const char *name, *recorded, *asked, *pointer; /* NULL: nothing suggested */
} suggestions[] = {
    {"an id by name", "{\"user_id\":\"ann\"}", "{\"user_id\":\"bob\"}", "/user_id"},
    {"a UUID", "{\"k\":\"6f1e2c1a-0b5e-4b7e-9d0c-5a1b2c3d4e5f\"}",
     "{\"k\":\"7f1e2c1a-0b5e-4b7e-9d0c-5a1b2c3d4e5f\"}", "/k"},
    {"a time", "{\"k\":\"2026-03-01T12:00:00Z\"}", "{\"k\":\"2026-03-02T12:00:00Z\"}",
     "/k"},
    {"Unix seconds", "{\"k\":1772366400}", "{\"k\":1772366401}", "/k"},
    {"a small number is meant", "{\"k\":100}", "{\"k\":200}", NULL},
    {"a text is meant", "{\"content\":\"deadbeef\"}", "{\"content\":\"face\"}", NULL},
    {"two differences", "{\"user_id\":1,\"b\":1}", "{\"user_id\":2,\"b\":2}", NULL},
    {"a new member", "{\"a\":1}", "{\"a\":1,\"user_id\":2}", NULL},
};

static void what_to_ignore(void)
{
    for (size_t i = 0; i < COUNT_OF(suggestions); i++) {
        struct scene s;
        char words[128];

        scene_init(&s);
        taped_add(&s.t, "POST", CHAT, JSON, suggestions[i].recorded, "1");
        scene_start(&s, defaults);
        scene_ask(&s, "POST", CHAT, JSON, suggestions[i].asked);
        (void)snprintf(words, sizeof words, "add \"%s\" to match.ignore",
                       suggestions[i].pointer ? suggestions[i].pointer : "");
        ok(suggestions[i].pointer ? says(&s, words) : !strstr(s.miss.message, "add \""),
           "%s: %s", suggestions[i].name, s.miss.message);
        scene_fini(&s);
    }
}

static void outside_the_body(void)
{
    struct scene s;

    scene_init(&s);
    taped_add(&s.t, "GET", "https://h.example/a/b?x=1&y=2", NULL, NULL, "1");
    scene_start(&s, defaults);
    scene_ask(&s, "GET", "https://h.example/a/b?x=1&y=3&z", NULL, NULL);
    is(ats(&s.miss, 0), "?y ?z", "query parameters by name");
    ok(says(&s, "match.ignore_query"), "and by the right key: %s", s.miss.message);
    is(s.miss.near[0].differences[0].recorded, "\"2\"", "recorded value");
    is(s.miss.near[0].differences[0].asked, "\"3\"", "asked value");
    is(s.miss.near[0].differences[1].recorded, NULL, "absent");
    is(s.miss.near[0].differences[1].asked, "\"\"", "an empty value");
    scene_ask(&s, "PUT", "https://h.example/a/c?x=1&y=2", NULL, NULL);
    is(ats(&s.miss, 0), "@method @path", "same host");
    scene_ask(&s, "GET", "http://h.example:8080/a/b?x=1&y=2", NULL, NULL);
    is(ats(&s.miss, 0), "@host", "same method and path");
    is(s.miss.near[0].differences[0].asked, "\"http://h.example:8080\"", "the origin");
    ok(s.miss.near[0].distance > 0.4, "far (%g)", s.miss.near[0].distance);
    scene_ask(&s, "PUT", "https://other.example/z", NULL, NULL);
    ok(s.miss.n_near == 0 && says(&s, "was never recorded. If"), "nothing alike: %s",
       s.miss.message);
    scene_fini(&s);
}

/* Only what counts in matching is reported. */
static void by_the_rules(void)
{
    struct scene s;
    struct canon_rules *rules = NULL;
    struct canon_ignore id = {.pointer = "/id"};
    struct err e = {0};

    ok(canon_rules_new(&rules, &e) == 0 && canon_rules_ignore(rules, &id, &e) == 0 &&
           canon_rules_ignore_query(rules, "ts", &e) == 0 &&
           canon_rules_match_header(rules, "X-Mode", &e) == 0 &&
           canon_rules_match_header(rules, "Content-Type", &e) == 0,
       "rules");
    scene_init(&s);
    taped_add(&s.t, "POST", CHAT "?ts=1&q=a", JSON, "{\"id\":1,\"v\":1}", "1");
    taped_add(&s.t, "POST", "https://h.example/rpc", JSON,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}", "2");
    scene_start(&s, rules);
    scene_ask(&s, "POST", CHAT "?ts=2&q=b", "text/json", "{\"id\":2,\"v\":2}");
    is(ats(&s.miss, 0), "?q @header Content-Type /v", "ignored parts are not named");
    scene_ask(&s, "POST", "https://h.example/rpc", JSON,
              "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"b\"}");
    is(ats(&s.miss, 0), "/method", "JSON-RPC ids neither");
    scene_fini(&s);
    canon_rules_free(&rules);

    scene_init(&s);
    taped_add(&s.t, "POST", CHAT, "application/x-www-form-urlencoded", "a=1&b=2", "1");
    scene_start(&s, defaults);
    scene_ask(&s, "POST", CHAT, "text/plain", "[[\"a\",\"1\"],[\"b\",\"2\"]]");
    is(ats(&s.miss, 0), "@header Content-Type",
       "when nothing else differs, the type of the body does");
    scene_fini(&s);
}

/* A long conversation: the turn that is nearest is found among many. */
static void conversation(void)
{
    struct scene s;
    struct buf body = BUF_INIT(MIB(1)), last = BUF_INIT(MIB(1));

    scene_init(&s);
    buf_str(&body, "{\"messages\":[{\"content\":\"You are a careful engineer.\"}");
    for (int turn = 0; turn < 150; turn++) {
        buf_fmt(&body, ",{\"content\":\"turn %d of the work\"}", turn);
        buf_reset(&last);
        buf_fmt(&last, "%s]}", body.data);
        taped_add(&s.t, "POST", CHAT, JSON, last.data, "x");
    }
    scene_start(&s, defaults);
    for (int turn = 0; turn < 100; turn++) {
        size_t entry;
        enum deck_found found;
        struct err e = {0};
        struct exchange x;
        struct url url = {0};
        struct buf sent = BUF_INIT(MIB(1));
        if (tape_load_head(s.t.tape, (size_t)turn, &x, &e) < 0 ||
            url_parse(&url, x.url, &e) < 0 ||
            tape_load_request_body(s.t.tape, (size_t)turn, &sent, &e) < 0)
            ok(false, "%s", e.msg);
        struct canon_request req = {x.method, &url, &x.req_headers, sent.data, sent.len};
        if (deck_take(s.deck, &req, body_hash(&req), &found, &entry, &e) < 0 ||
            found != FOUND_EXACT)
            ok(false, "turn %d", turn);
        buf_free(&sent);
        url_fini(&url);
        exchange_fini(&x);
    }
    ok(deck_last(s.deck) == 99, "the run has got to exchange 100");
    buf_reset(&last);
    buf_str(&last, "{\"messages\":[{\"content\":\"You are a careful engineer.\"}");
    for (int turn = 0; turn < 100; turn++)
        buf_fmt(&last, ",{\"content\":\"turn %d of the work\"}", turn);
    buf_str(&last, ",{\"content\":\"something new\"}]}");
    scene_ask(&s, "POST", CHAT, JSON, last.data);
    ok(s.miss.near[0].exchange == 101 && !s.miss.near[0].used,
       "the next turn is nearest (exchange %d)", (int)s.miss.near[0].exchange);
    is(ats(&s.miss, 0), "/messages/101/content", "and differs in its last message");
    ok(s.miss.n_near == 3 && s.miss.near[0].distance < 0.05, "distance %g",
       s.miss.near[0].distance);
    buf_free(&body);
    buf_free(&last);
    scene_fini(&s);
}

/* Reports stay small and harmless whatever is in them. */
static void bounded(void)
{
    struct scene s;
    struct buf a = BUF_INIT(MIB(4)), b = BUF_INIT(MIB(4));
    struct err e = {0};
    yyjson_doc *doc = NULL;

    buf_char(&a, '{');
    buf_char(&b, '{');
    for (int i = 0; i < 200; i++) {
        buf_fmt(&a, "%s\"", i ? "," : "");
        buf_fmt(&b, "%s\"", i ? "," : "");
        for (int k = 0; k < 300; k++) {
            buf_str(&a, "\\u001b");
            buf_str(&b, "\\u001b");
        }
        buf_fmt(&a, "%d\":\"\\u001b[2J%01000d\"", i, i);
        buf_fmt(&b, "%d\":\"\\u001b[2J%01000d\"", i, i + 1);
    }
    buf_char(&a, '}');
    buf_char(&b, '}');
    scene_init(&s);
    for (int i = 0; i < 4; i++)
        taped_add(&s.t, "POST", CHAT, JSON, a.data, "x");
    scene_start(&s, defaults);
    scene_ask(&s, "POST", CHAT, JSON, b.data);
    ok(s.miss.n_near == 3 && s.miss.near[0].n_differences == LIMIT_MISS_DIFFERENCES,
       "%zu differences are shown", s.miss.near[0].n_differences);
    ok(s.miss.near[0].n_more > 0, "the others are counted (%zu)", s.miss.near[0].n_more);
    ok(s.json.len > 0 && s.json.len <= LIMIT_MISS_BODY &&
           json_read(&doc, s.json.data, s.json.len, &e) == 0,
       "the report is JSON of %zu bytes", s.json.len);
    yyjson_doc_free(doc);
    ok(memchr(s.text.data, 0x1b, s.text.len) == NULL, "no escape reaches a terminal");
    ok(strlen(s.miss.near[0].differences[0].recorded) <= EXCERPT_MAX, "values are cut");
    buf_free(&a);
    buf_free(&b);
    scene_fini(&s);
}

static void too_large(void)
{
    struct scene s;
    struct buf a = BUF_INIT(MIB(64));

    buf_str(&a, "[0");
    while (a.len <= LIMIT_MISS_WORK)
        buf_str(&a, ",\"0123456789012345678901234567890123456789\"");
    buf_char(&a, ']');
    scene_init(&s);
    taped_add(&s.t, "POST", CHAT, JSON, "[1]", "x");
    scene_start(&s, defaults);
    scene_ask(&s, "POST", CHAT, JSON, a.data);
    is(ats(&s.miss, 0), "", "a body beyond the work limit is named as a whole");
    ok(s.miss.n_near == 1 && s.miss.near[0].distance == 1, "and is far");
    buf_free(&a);
    scene_fini(&s);
}

static void lists(void)
{
    struct miss_difference *list = NULL;
    size_t n = 0, more = 0;
    struct err e = {0};

    ok(miss_differences("[1,2]", 5, "[3,4]", 5, &list, &n, 3, &more, &e) == 0 && n == 2 &&
           miss_differences("[1,2]", 5, "[3,4]", 5, &list, &n, 3, &more, &e) == 0 &&
           n == 3 && more == 1,
       "lists grow up to their most");
    miss_differences_free(&list, &n);
    ok(!list && n == 0, "freed");
}

int main(void)
{
    struct err e = {0};

    ok(canon_rules_new(&defaults, &e) == 0, "rules");
    one_difference();
    exhausted();
    what_to_ignore();
    outside_the_body();
    by_the_rules();
    conversation();
    bounded();
    too_large();
    lists();
    canon_rules_free(&defaults);
    return tap_done();
}
