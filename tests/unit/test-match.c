/* Recordings are found again: in order, once each, and never by guessing. */
#include "tests/unit/taped.h"

#include <pthread.h>

#define CHAT "https://api.example.com/v1/chat"
#define JSON "application/json"

static const char *const words[] = {"exact", "normalised", "exhausted", "never"};

static struct canon_rules *defaults;

/* Ask and expect "word" or "word N" with N the exchange. */
static void ask(struct deck *d, const char *method, const char *url, const char *type,
                const char *body, const char *want, const char *what)
{
    struct asked a;
    enum deck_found found = FOUND_NEVER;
    size_t entry = 99;
    struct err e = {0};
    char got[64];

    asked_init(&a, method, url, type, body);
    int rc = deck_take(d, &a.req, body_hash(&a.req), &found, &entry, &e);
    if (rc < 0)
        (void)snprintf(got, sizeof got, "error");
    else if (found == FOUND_NEVER)
        (void)snprintf(got, sizeof got, "%s", words[found]);
    else
        (void)snprintf(got, sizeof got, "%s %u", words[found],
                       (unsigned)tape_entry(deck_tape(d), entry)->n);
    is(got, want, "%s", what);
    asked_fini(&a);
}

static struct deck *deal(struct taped *t, const struct canon_rules *r,
                         enum deck_repeat repeat)
{
    struct deck *d = NULL;
    struct err e = {0};

    (void)taped_open(t);
    ok(deck_new(&d, t->tape, r, repeat, &e) == 0, "deck%s%s", e.msg[0] ? ": " : "",
       e.msg);
    return d;
}

static void counts_are(const struct deck *d, uint64_t exact, uint64_t normalised,
                       uint64_t miss, uint64_t unused)
{
    struct deck_counts c;

    deck_counts(d, &c);
    ok(c.exact == exact && c.normalised == normalised && c.miss == miss &&
           c.unused == unused,
       "counts: %d exact, %d normalised, %d miss, %d unused", (int)c.exact,
       (int)c.normalised, (int)c.miss, (int)c.unused);
}

static void order(void)
{
    struct taped t;

    taped_init(&t, defaults);
    taped_add(&t, "POST", CHAT, JSON, "{\"a\":1,\"b\":2}", "1");
    taped_add(&t, "GET", "https://api.example.com/models", NULL, NULL, "2");
    taped_add(&t, "POST", CHAT, JSON, "{\"a\":1,\"b\":2}", "3");
    taped_add(&t, "POST", CHAT, JSON, "{\"a\":2}", "4");
    struct deck *d = deal(&t, defaults, REPEAT_NONE);

    counts_are(d, 0, 0, 0, 4);
    ask(d, "POST", CHAT, JSON, "{\"a\":2}", "exact 4", "order between keys is free");
    ask(d, "POST", CHAT, JSON, "{\"a\":1,\"b\":2}", "exact 1", "first of its key");
    ok(deck_was_used(d, 0) && !deck_was_used(d, 1), "used and not used");
    ask(d, "POST", CHAT, JSON, "{ \"b\":2, \"a\":1 }", "normalised 3",
        "second of its key, other bytes");
    ask(d, "POST", CHAT, JSON, "{\"a\":1,\"b\":2}", "exhausted 3", "both were played");
    ask(d, "POST", CHAT, JSON, "{\"a\":1}", "never", "nothing fuzzy");
    ask(d, "PUT", CHAT, JSON, "{\"a\":2}", "never", "other method");
    ask(d, "POST", CHAT "?x=1", JSON, "{\"a\":2}", "never", "other query");
    ask(d, "POST", "http://api.example.com/v1/chat", JSON, "{\"a\":2}", "never",
        "other scheme");
    counts_are(d, 2, 1, 5, 1);
    deck_free(&d);
    ok(d == NULL, "freed");
    deck_free(&d);
    taped_fini(&t);
}

/* Two recordings of one key with different bytes stay in recorded order. */
static void mixed_group(void)
{
    struct taped t;

    taped_init(&t, defaults);
    taped_add(&t, "POST", CHAT, JSON, "{\"a\":1,\"b\":2}", "1");
    taped_add(&t, "POST", CHAT, JSON, "{\"b\":2,\"a\":1}", "2");
    struct deck *d = deal(&t, defaults, REPEAT_NONE);

    ask(d, "POST", CHAT, JSON, "{\"b\":2,\"a\":1}", "normalised 1",
        "bytes of the second get the first");
    ask(d, "POST", CHAT, JSON, "{\"b\":2,\"a\":1}", "exact 2", "then their own");
    deck_free(&d);
    taped_fini(&t);
}

static void repeats(void)
{
    static const struct {
        enum deck_repeat how;
        const char *want[6];
    } cases[] = {
        {REPEAT_NONE, {"exact 1", "exact 2", "exhausted 2", "exhausted 2"}},
        {REPEAT_LAST, {"exact 1", "exact 2", "exact 2", "exact 2"}},
        {REPEAT_CYCLE, {"exact 1", "exact 2", "exact 1", "exact 2"}},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct taped t;

        taped_init(&t, defaults);
        taped_add(&t, "POST", CHAT, JSON, "{}", "1");
        taped_add(&t, "POST", CHAT, JSON, "{}", "2");
        struct deck *d = deal(&t, defaults, cases[i].how);
        for (size_t k = 0; k < 4; k++)
            ask(d, "POST", CHAT, JSON, "{}", cases[i].want[k], "repeat");
        counts_are(d, cases[i].how == REPEAT_NONE ? 2 : 4, 0,
                   cases[i].how == REPEAT_NONE ? 2 : 0, 0);
        deck_free(&d);
        taped_fini(&t);
    }
}

/* What makes a hit exact: method, URL and body bytes, nothing else. */
static void exactness(bool no_xxh3)
{
    struct taped t;

    taped_init(&t, defaults);
    t.no_xxh3 = no_xxh3;
    for (int i = 0; i < 4; i++)
        taped_add(&t, "POST", CHAT "?b=2&a=1", JSON, "{\"a\":1}", "x");
    taped_add(&t, "POST", CHAT, JSON, "", "empty");
    struct deck *d = deal(&t, defaults, REPEAT_NONE);

    ask(d, "POST", CHAT "?b=2&a=1", JSON, "{\"a\":1}", "exact 1", "same bytes");
    ask(d, "POST", CHAT "?a=1&b=2", JSON, "{\"a\":1}", "normalised 2", "query sorted");
    ask(d, "POST", CHAT "?b=2&a=1", "text/plain", "{\"a\":1}", "exact 3",
        "other Content-Type, same bytes");
    ask(d, "POST", CHAT "?b=2&a=1", JSON, "{\"a\": 1}", "normalised 4", "one blank more");
    ask(d, "POST", CHAT, JSON, NULL, "exact 5", "no body is an empty body");
    deck_free(&d);
    taped_fini(&t);
}

/* More requests with the same (empty) body than the body index keeps. */
static void same_body(void)
{
    struct taped t;
    char url[64], want[32];
    bool all = true;

    taped_init(&t, defaults);
    for (int i = 0; i < 300; i++) {
        (void)snprintf(url, sizeof url, "https://h.example/%d", i);
        taped_add(&t, "GET", url, NULL, NULL, "x");
    }
    struct deck *d = deal(&t, defaults, REPEAT_NONE);
    for (int i = 299; i >= 0; i -= 23) {
        (void)snprintf(url, sizeof url, "https://h.example/%d", i);
        (void)snprintf(want, sizeof want, "exact %d", i + 1);
        ask(d, "GET", url, NULL, NULL, want, url);
    }
    for (int i = 0; i < 300; i++) {
        struct asked a;
        struct err e = {0};
        enum deck_found found;
        size_t entry;
        (void)snprintf(url, sizeof url, "https://h.example/%d", i);
        asked_init(&a, "GET", url, NULL, NULL);
        all = deck_take(d, &a.req, body_hash(&a.req), &found, &entry, &e) == 0 &&
              entry == (size_t)i &&
              found == (i % 23 == 0 ? FOUND_EXHAUSTED : FOUND_EXACT) && all;
        asked_fini(&a);
    }
    ok(all, "each of 300 is found by its own URL");
    counts_are(d, 300, 0, 14, 0);
    deck_free(&d);
    taped_fini(&t);
}

static void rules(void)
{
    struct taped t;
    struct canon_rules *ignoring = NULL;
    struct canon_ignore seed = {.pointer = "/seed"};
    struct err e = {0};

    ok(canon_rules_is_default(defaults), "no rules are the default");
    ok(canon_rules_new(&ignoring, &e) == 0 &&
           canon_rules_ignore(ignoring, &seed, &e) == 0 &&
           !canon_rules_is_default(ignoring),
       "an ignore is not");

    /* A rule added after recording. */
    taped_init(&t, defaults);
    taped_add(&t, "POST", CHAT, JSON, "{\"q\":1,\"seed\":5}", "1");
    taped_add(&t, "POST", CHAT, JSON, "{\"q\":1,\"seed\":6}", "2");
    struct deck *d = deal(&t, ignoring, REPEAT_NONE);
    size_t recorded;
    ok(deck_group(d, 0, &recorded) == deck_group(d, 1, &recorded) && recorded == 2,
       "new rules regroup old recordings");
    ask(d, "POST", CHAT, JSON, "{\"q\":1,\"seed\":7}", "normalised 1", "seed is ignored");
    ask(d, "POST", CHAT, JSON, "{\"q\":1}", "normalised 2", "absent too");
    deck_free(&d);
    taped_fini(&t);

    /* A rule taken away after recording: its keys are stale. */
    taped_init(&t, ignoring);
    taped_add(&t, "POST", CHAT, JSON, "{\"q\":1,\"seed\":5}", "1");
    taped_add(&t, "POST", CHAT, JSON, "{\"q\":1,\"seed\":6}", "2");
    d = deal(&t, defaults, REPEAT_NONE);
    ask(d, "POST", CHAT, JSON, "{\"seed\":6,\"q\":1}", "normalised 2",
        "seed counts again");
    ask(d, "POST", CHAT, JSON, "{\"q\":1,\"seed\":7}", "never", "and is not ignored");
    deck_free(&d);
    taped_fini(&t);
    canon_rules_free(&ignoring);
}

static void match_headers(void)
{
    struct taped t;
    struct canon_rules *typed = NULL;
    struct err e = {0};

    ok(canon_rules_new(&typed, &e) == 0 &&
           canon_rules_match_header(typed, "Content-Type", &e) == 0,
       "a header counts");
    taped_init(&t, typed);
    taped_add(&t, "POST", CHAT, "text/a", "same", "1");
    taped_add(&t, "POST", CHAT, "text/b", "same", "2");
    struct deck *d = deal(&t, typed, REPEAT_NONE);
    ask(d, "POST", CHAT, "text/b", "same", "exact 2", "the right one of two");
    ask(d, "POST", CHAT, "text/c", "same", "never", "no third");
    deck_free(&d);
    taped_fini(&t);
    canon_rules_free(&typed);
}

static void odd(void)
{
    struct taped t;
    struct buf url = BUF_INIT(MIB(1));

    taped_init(&t, defaults);
    struct deck *d = deal(&t, defaults, REPEAT_CYCLE);
    ask(d, "GET", CHAT, NULL, NULL, "never", "an empty cassette answers nothing");
    buf_str(&url, CHAT "?a");
    for (int i = 0; i < LIMIT_PAIRS; i++)
        buf_str(&url, "&a");
    ask(d, "GET", url.data, NULL, NULL, "error", "a request that has no key");
    counts_are(d, 0, 0, 1, 0);
    buf_free(&url);
    deck_free(&d);
    taped_fini(&t);
}

#define THREADS 8
#define GROUPS 20
#define EACH 40

struct crowd {
    struct deck *deck;
    pthread_barrier_t start;
    unsigned char served[THREADS][GROUPS * EACH];
    unsigned exhausted[THREADS];
};

struct runner {
    struct crowd *crowd;
    int number;
};

static void *run(void *arg)
{
    struct runner *r = arg;
    struct err e = {0};

    (void)pthread_barrier_wait(&r->crowd->start);
    for (int i = 0; i < GROUPS * EACH; i++) {
        char body[64];
        struct asked a;
        enum deck_found found;
        size_t entry;
        /* Half by bytes, half by key; every thread in another order. */
        (void)snprintf(body, sizeof body,
                       (i + r->number) % 2 ? "{\"g\":%d}" : "{ \"g\":%d}",
                       (i * 7 + r->number * 3) % GROUPS);
        asked_init(&a, "POST", CHAT, JSON, body);
        if (deck_take(r->crowd->deck, &a.req, body_hash(&a.req), &found, &entry, &e) ==
            0) {
            if (found == FOUND_EXHAUSTED)
                r->crowd->exhausted[r->number]++;
            else if (found != FOUND_NEVER)
                r->crowd->served[r->number][entry]++;
        }
        asked_fini(&a);
    }
    return NULL;
}

static void threads(void)
{
    static struct crowd crowd;
    struct runner runners[THREADS];
    pthread_t ids[THREADS];
    struct taped t;
    char body[32];
    unsigned wrong = 0, exhausted = 0;

    taped_init(&t, defaults);
    for (int i = 0; i < GROUPS * EACH; i++) {
        (void)snprintf(body, sizeof body, "{\"g\":%d}", i % GROUPS);
        taped_add(&t, "POST", CHAT, JSON, body, "x");
    }
    crowd.deck = deal(&t, defaults, REPEAT_NONE);
    (void)pthread_barrier_init(&crowd.start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        runners[i] = (struct runner){&crowd, i};
        ok(pthread_create(&ids[i], NULL, run, &runners[i]) == 0, "thread %d", i);
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(ids[i], NULL);
        exhausted += crowd.exhausted[i];
    }
    for (int i = 0; i < GROUPS * EACH; i++) {
        unsigned n = 0;
        for (int k = 0; k < THREADS; k++)
            n += crowd.served[k][i];
        wrong += n != 1;
    }
    ok(wrong == 0, "every recording was served exactly once");
    ok(exhausted == (THREADS - 1) * GROUPS * EACH, "all others were exhausted");
    (void)pthread_barrier_destroy(&crowd.start);
    deck_free(&crowd.deck);
    taped_fini(&t);
}

int main(void)
{
    struct err e = {0};

    ok(canon_rules_new(&defaults, &e) == 0, "rules");
    order();
    mixed_group();
    repeats();
    exactness(false);
    exactness(true);
    same_body();
    rules();
    match_headers();
    odd();
    threads();
    canon_rules_free(&defaults);
    return tap_done();
}
