/* test-delta.c - bodies cost what is new in them, and read back to the byte. */
#include "tape/body.h"
#include "tests/unit/recorded.h"

#define A20 "aaaaaaaaaaaaaaaaaaaa"
#define B20 "bbbbbbbbbbbbbbbbbbbb"
#define A120 A20 A20 A20 A20 A20 A20
#define B120 B20 B20 B20 B20 B20 B20

/* ---- blobs ---- */

static void test_blobs(void)
{
    static char big[BODY_INLINE + 1];
    struct buf text = BUF_INIT(MIB(2));
    struct cassette *c = opened("blobs", CASSETTE_NEW);
    struct exchange x;
    struct err e = {0};

    for (size_t i = 0; i < sizeof big; i++)
        big[i] = (char)('a' + i * i % 23);
    for (int i = 0; i < 3; i++) {
        make(&x, i ? "again" : "once", 5, "");
        buf_add(&x.res_body, big, BODY_INLINE);
        ok(cassette_append(c, &x, &e) == 0, "response of the size of a blob");
        exchange_fini(&x);
    }
    make(&x, "small", 5, "");
    buf_add(&x.res_body, big, BODY_INLINE - 1);
    ok(cassette_append(c, &x, &e) == 0, "response of a byte less");
    exchange_fini(&x);
    closed(&c);
    c = opened("blobs", CASSETTE_APPEND);
    make(&x, big, BODY_INLINE, ""); /* an echo: the same bytes both ways */
    buf_add(&x.res_body, big, BODY_INLINE);
    ok(cassette_append(c, &x, &e) == 0, "the same bytes in a later run");
    exchange_fini(&x);
    closed(&c);
    file_text(path_of("blobs"), &text);
    ok(occurrences(buf_cstr(&text), "\n{\"blob\":") == 1, "are in the file once");
    struct tape *t = read_back("blobs");
    for (size_t i = 0; i < 5; i++) {
        size_t want = i == 3 ? BODY_INLINE - 1 : BODY_INLINE;
        ok(tape_load(t, i, &x, &e) == 0 && x.res_body.len == want &&
               memcmp(x.res_body.data, big, want) == 0,
           "exchange %zu reads back", i + 1);
        exchange_fini(&x);
    }
    ok(request_is(t, 4, big, BODY_INLINE), "request as well");
    tape_close(&t);
    buf_free(&text);
}

static void test_echo(void)
{
    static char big[BODY_INLINE * 2];
    struct buf text = BUF_INIT(MIB(2));
    struct cassette *c = opened("echo", CASSETTE_NEW);
    struct exchange x;
    struct err e = {0};

    for (size_t i = 0; i < sizeof big; i++)
        big[i] = (char)(i * 31 % 251); /* not UTF-8, with NUL bytes */
    make(&x, big, sizeof big, "");
    buf_add(&x.res_body, big, sizeof big);
    ok(cassette_append(c, &x, &e) == 0, "binary both ways");
    exchange_fini(&x);
    closed(&c);
    file_text(path_of("echo"), &text);
    ok(occurrences(buf_cstr(&text), "\n{\"base64\":") == 1, "one blob, in base64");
    struct tape *t = read_back("echo");
    ok(tape_load(t, 0, &x, &e) == 0 && x.res_body.len == sizeof big &&
           memcmp(x.res_body.data, big, sizeof big) == 0 &&
           request_is(t, 0, big, sizeof big),
       "reads back");
    exchange_fini(&x);
    tape_close(&t);
    buf_free(&text);
}

/* ---- differences ---- */

/* Pairs of bodies of which the second is written as a difference, or is not. */
static void test_deltas(void)
{
    static const struct {
        const char *name, *first, *second, *expect;
    } cases[] = {
        {"grown in the middle", A120 B120, A120 "new" B120,
         "[{\"at\":0,\"len\":120,\"of\":1},\"new\",{\"at\":120,\"len\":120,\"of\":1}]"},
        {"the same again", A120, A120, "[{\"at\":0,\"len\":120,\"of\":1}]"},
        {"cut at its end", A120 B120, A120, "[{\"at\":0,\"len\":120,\"of\":1}]"},
        {"cut at its start", A120 B120, B120, "[{\"at\":120,\"len\":120,\"of\":1}]"},
        {"a new start", A120, "new" A120, "[\"new\",{\"at\":0,\"len\":120,\"of\":1}]"},
        {"a new end", A120, A120 "new", "[{\"at\":0,\"len\":120,\"of\":1},\"new\"]"},
        {"a piece taken out", A120 "old" B120, A120 B120,
         "[{\"at\":0,\"len\":120,\"of\":1},{\"at\":123,\"len\":120,\"of\":1}]"},
        {"inside a character, before", A120 "\xc3\xa9" B120, A120 "\xc3\xa8" B120,
         "[{\"at\":0,\"len\":120,\"of\":1},\"\xc3\xa8\",{\"at\":122,\"len\":120,\"of\":1}"
         "]"},
        {"inside a character, after", A120 "\xf0\x9f\x98\x80" B120,
         A120 "\xf0\x9f\x99\x80" B120,
         "[{\"at\":0,\"len\":120,\"of\":1},\"\xf0\x9f\x99\x80\",{\"at\":124,\"len\":120,"
         "\"of\":1}]"},
        {"too little in common", A20 A20 A20 A20, A20 A20 A20 A20 "x", "{\"text\":"},
        {"just enough in common", A20 A20 A20 A20 A20 "aaaa", A20 A20 A20 A20 A20 "aaaax",
         "[{\"at\":0,\"len\":104,\"of\":1},\"x\"]"},
        {"a byte less", A20 A20 A20 A20 A20 "aaaab", A20 A20 A20 A20 A20 "aaax",
         "{\"text\":"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct buf text = BUF_INIT(MIB(1));
        struct cassette *c = opened("delta", CASSETTE_OVERWRITE);
        ok(append_text(c, cases[i].first, "a") && append_text(c, cases[i].second, "b"),
           "%s: written", cases[i].name);
        closed(&c);
        file_text(path_of("delta"), &text);
        ok(strstr(strstr(buf_cstr(&text), "\"exchange\":2"), cases[i].expect) != NULL,
           "%s: as expected", cases[i].name);
        struct tape *t = read_back("delta");
        ok(request_is(t, 1, cases[i].second, strlen(cases[i].second)), "%s: reads back",
           cases[i].name);
        tape_close(&t);
        buf_free(&text);
    }
}

/* Other methods and places do not share; a query does not part. */
static void test_scopes(void)
{
    static const struct {
        const char *method, *url;
        bool shares;
    } cases[] = {
        {"POST", "https://api.example.com/v1/chat?other=2", true},
        {"POST", "https://api.example.com/v1/chat", true},
        {"PUT", "https://api.example.com/v1/chat", false},
        {"POST", "https://api.example.com/v1/chats", false},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct buf text = BUF_INIT(MIB(1));
        struct cassette *c = opened("scope", CASSETTE_OVERWRITE);
        struct exchange x;
        struct err e = {0};
        ok(append_text(c, A120, "a"), "first");
        make(&x, A120, 120, "b");
        free(x.method);
        free(x.url);
        x.method = strdup(cases[i].method);
        x.url = strdup(cases[i].url);
        ok(cassette_append(c, &x, &e) == 0, "second");
        exchange_fini(&x);
        closed(&c);
        file_text(path_of("scope"), &text);
        ok((strstr(buf_cstr(&text), "\"of\":1") != NULL) == cases[i].shares, "%s %s: %s",
           cases[i].method, cases[i].url, cases[i].shares ? "shares" : "does not share");
        buf_free(&text);
    }
}

/* Bodies that change at random read back, whatever their bytes. */
static void test_random_edits(void)
{
    enum { ROUNDS = 120, MOST = 3000 };
    static char bodies[ROUNDS][MOST];
    static size_t lens[ROUNDS];
    struct cassette *c = opened("random", CASSETTE_NEW);
    uint32_t r = 12345;
    size_t bad = 0;

#define NEXT ((r = r * 1664525 + 1013904223) >> 8)
    lens[0] = 600;
    for (size_t i = 0; i < lens[0]; i++)
        bodies[0][i] = (char)NEXT;
    for (size_t k = 1; k < ROUNDS; k++) {
        const char *from = bodies[NEXT % k];
        size_t len = lens[(size_t)((const char(*)[MOST])from - bodies)];
        size_t cut = NEXT % (len + 1), gone = NEXT % (len - cut + 1) % 60,
               grow = NEXT % 50;
        if (len - gone + grow > MOST || len - gone < 200)
            gone = grow = 0;
        char *to = bodies[k];
        memcpy(to, from, cut);
        for (size_t i = 0; i < grow; i++)
            to[cut + i] = k % 3 ? (char)('a' + NEXT % 26) : (char)NEXT;
        memcpy(to + cut + grow, from + cut + gone, len - cut - gone);
        lens[k] = len - gone + grow;
    }
    for (size_t k = 0; k < ROUNDS; k++)
        bad += !append_body(c, bodies[k], lens[k], "a");
    closed(&c);
    struct tape *t = read_back("random");
    for (size_t k = 0; k < ROUNDS; k++)
        bad += !request_is(t, k, bodies[k], lens[k]);
    ok(bad == 0, "%d bodies cut and grown at random read back", ROUNDS);
    tape_close(&t);
}

/* ---- conversations ---- */

struct chat {
    struct buf history;
    size_t new_bytes; /* what users and models said, each once */
    uint32_t random;
};

static void words(struct chat *chat, struct buf *out, size_t n)
{
    static const char *const list[] = {"the ",         "run ",  "of ",    "tape ",
                                       "\\\"x\\\" ",   "model", "\\n- a", "is ",
                                       "caf\xc3\xa9 ", "9, "};
    size_t start = out->len;

    while (out->len - start < n) {
        chat->random = chat->random * 1664525 + 1013904223;
        buf_str(out, list[(chat->random >> 16) % COUNT_OF(list)]);
    }
}

/* One turn: 1 KB from the user, an answer that the next turn repeats. */
static bool turn(struct cassette *c, struct chat *chat, struct buf *body)
{
    struct buf answer = BUF_INIT(KIB(16));
    size_t before = chat->history.len;

    buf_str(&chat->history, before ? "," : "");
    buf_str(&chat->history, "{\"role\":\"user\",\"content\":\"");
    words(chat, &chat->history, 1000);
    buf_str(&chat->history, "\"}");
    buf_reset(body);
    buf_fmt(body, "{\"model\":\"gpt\",\"messages\":[%s],\"stream\":false,\"tools\":[]}",
            chat->history.data);
    buf_str(&answer, "{\"role\":\"assistant\",\"content\":\"");
    words(chat, &answer, 600);
    buf_str(&answer, "\"}");
    chat->new_bytes += chat->history.len - before + answer.len;
    bool rc = append_body(c, body->data, body->len, answer.data);
    buf_fmt(&chat->history, ",%s", answer.data);
    buf_free(&answer);
    return rc;
}

static size_t size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (size_t)st.st_size : 0;
}

static void test_conversation(void)
{
    enum { TURNS = 200, EARLY = 10 };
    struct chat chat = {.history = BUF_INIT(MIB(4)), .random = 7};
    struct buf body = BUF_INIT(MIB(4));
    struct cassette *c = opened("chat", CASSETTE_NEW);
    size_t early = 0, early_new = 0, bad = 0;

    for (int i = 1; i <= TURNS; i++) {
        bad += !turn(c, &chat, &body);
        if (i == EARLY) {
            early = size_of(path_of("chat"));
            early_new = chat.new_bytes;
        }
    }
    closed(&c);
    size_t all = size_of(path_of("chat"));
    printf("# %d turns: %zu bytes on disk, %zu new; the last body alone has %zu\n", TURNS,
           all, chat.new_bytes, body.len);
    ok(bad == 0 && all * 2 <= chat.new_bytes * 5, "at most 2.5 times what is new");
    ok(early * 2 <= early_new * 5, "after ten turns as well");
    ok((all - early) * (EARLY) <= early * (TURNS - EARLY) * 11 / 10,
       "linear from ten turns to two hundred");
    struct tape *t = read_back("chat");
    ok(request_is(t, TURNS - 1, body.data, body.len), "the last body reads back");
    tape_close(&t);
    buf_free(&body);
    buf_free(&chat.history);
}

/* Conversations that take turns each keep their place, and chains end. */
static void test_parallel_and_long(void)
{
    enum { CHATS = 4, TURNS = LIMIT_CHAIN + 20 };
    struct chat chats[CHATS];
    struct buf body = BUF_INIT(MIB(4));
    struct cassette *c = opened("chats", CASSETTE_NEW);
    size_t new_bytes = 0, bad = 0;
    uint32_t deepest = 0;

    for (unsigned k = 0; k < CHATS; k++)
        chats[k] = (struct chat){.history = BUF_INIT(MIB(4)), .random = k};
    for (int i = 0; i < 40; i++)
        for (unsigned k = 0; k < CHATS; k++)
            bad += !turn(c, &chats[k], &body);
    for (unsigned k = 0; k < CHATS; k++)
        new_bytes += chats[k].new_bytes;
    ok(bad == 0 && size_of(path_of("chats")) * 2 <= new_bytes * 5,
       "four conversations at once cost what is new in them");
    for (int i = 40; i < TURNS; i++)
        bad += !turn(c, &chats[0], &body);
    closed(&c);
    struct tape *t = read_back("chats");
    size_t n = tape_count(t);
    for (size_t i = 0; i < n; i++)
        if (tape_bodies(t)->own[i].depth > deepest)
            deepest = tape_bodies(t)->own[i].depth;
    ok(bad == 0 && deepest == LIMIT_CHAIN,
       "chains grow to their limit and not beyond: %u", deepest);
    ok(request_is(t, n - 1, body.data, body.len), "what comes after reads back");
    tape_close(&t);
    for (unsigned k = 0; k < CHATS; k++)
        buf_free(&chats[k].history);
    buf_free(&body);
}

/* Asking the same again and again does not make a chain. */
static void test_polling(void)
{
    struct cassette *c = opened("poll", CASSETTE_NEW);
    size_t bad = 0;

    for (int i = 0; i < LIMIT_CHAIN + 20; i++)
        bad += !append_text(c, A120 B120, "a");
    closed(&c);
    struct tape *t = read_back("poll");
    size_t n = tape_count(t);
    ok(bad == 0 && tape_bodies(t)->own[n - 1].depth == 1, "a repeated body is one step");
    tape_close(&t);
}

int main(void)
{
    scratch_make();
    test_blobs();
    test_echo();
    test_deltas();
    test_scopes();
    test_random_edits();
    test_conversation();
    test_parallel_and_long();
    test_polling();
    return tap_done();
}
