/* test-cassette.c - what the recorder appends is on the disk, once, and reads back. */
#include "base/clock.h"
#include "tape/body.h"
#include "tests/unit/recorded.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

/* ---- names ---- */

static void test_names(void)
{
    static const struct {
        const char *name;
        bool good;
    } cases[] = {
        {"default", true}, {"run-7", true},    {"A.b_c-9", true},      {"0", true},
        {"", false},       {".hidden", false}, {"-x", false},          {"a/b", false},
        {"a b", false},    {"..", false},      {"caf\xc3\xa9", false},
    };
    char name[66];
    struct cassette *c = NULL;
    struct err e = {0};

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        ok(cassette_name_ok(cases[i].name) == cases[i].good, "name '%s'", cases[i].name);
    memset(name, 'a', sizeof name);
    name[64] = '\0';
    ok(cassette_name_ok(name), "a name of 64");
    name[64] = 'a';
    name[65] = '\0';
    ok(!cassette_name_ok(name), "a name of 65");
    ok(cassette_open(&c, scratch_path, "../up", CASSETTE_NEW, NULL, &e) < 0 &&
           e.code == ERR_USAGE && !c,
       "a bad name opens nothing");
    char *path = cassette_path("dir", "run-7");
    is(path, "dir/run-7.jsonl", "path");
    free(path);
}

/* ---- round trip ---- */

/* Text with all a JSON string must escape, and a NUL. */
static const char odd[] = "{\"a\":\"\xc3\xa9\\n\"}\n\t\x01\x7f";

static void fill_rich(struct exchange *x)
{
    struct err e = {0};

    make(x, odd, sizeof odd, "data: 1\n\ndata: 2\n\n");
    x->kind = KIND_LLM;
    strcpy(x->dialect, "openai.chat");
    x->outcome = OUTCOME_ABORTED;
    strcpy(x->error_code, "E_UPSTREAM_ABORTED");
    strcpy(x->error_message, "the upstream broke off");
    x->status = 206;
    x->connect_ms = 3;
    x->first_byte_ms = 40;
    x->total_ms = UINT32_MAX;
    if (headers_add(&x->req_headers, "X-Two", "one", &e) < 0 ||
        headers_add(&x->req_headers, "x-two", "", &e) < 0 ||
        headers_add(&x->req_headers, "X-Latin", "caf\xe9", &e) < 0 ||
        headers_add(&x->req_headers, "X-Split", "a\r\nEvil: 1", &e) < 0 ||
        headers_add(&x->req_headers, "Not A Name", "x", &e) < 0 ||
        headers_add(&x->res_headers, "Content-Type", "text/event-stream", &e) < 0 ||
        exchange_add_chunk(x, 0, 9, &e) < 0 || exchange_add_chunk(x, 17, 9, &e) < 0 ||
        exchange_add_scrub(x, "bearer", "request.headers", 1, &e) < 0 ||
        exchange_add_scrub(x, "openai-key", "request.body", 2, &e) < 0 ||
        exchange_add_scrub(x, "openai-key", "request.body", 3, &e) < 0)
        printf("Bail out! %s\n", e.msg);
}

static void same_rich(const struct exchange *x)
{
    ok(x->n == 1 && x->t_ms == PINNED && x->kind == KIND_LLM, "number, time, kind");
    is(x->dialect, "openai.chat", "dialect");
    is(x->method, "POST", "method");
    is(x->url, URL, "url");
    ok(x->has_req_body && x->req_body.len == sizeof odd &&
           memcmp(x->req_body.data, odd, sizeof odd) == 0,
       "request body");
    ok(x->req_xxh3.lo == digest_xxh3(odd, sizeof odd).lo, "xxh3 of the body");
    ok(x->status == 206 && x->outcome == OUTCOME_ABORTED, "status and outcome");
    is(x->error_code, "E_UPSTREAM_ABORTED", "error code");
    is(x->error_message, "the upstream broke off", "error message");
    ok(x->connect_ms == 3 && x->first_byte_ms == 40 && x->total_ms == UINT32_MAX,
       "timing");
    is(buf_cstr(&x->res_body), "data: 1\n\ndata: 2\n\n", "response body");
    ok(x->n_chunks == 2 && x->chunks[1].ms == 17 && x->chunks[1].len == 9, "chunks");
    ok(x->req_headers.n == 4, "a field whose name is none is left out");
    is(x->req_headers.v[0].name, "X-Two", "case is kept");
    is(x->req_headers.v[1].name, "x-two", "order and repetition too");
    is(x->req_headers.v[1].value, "", "an empty value");
    is(x->req_headers.v[2].value, "caf\xe9", "a value that is not UTF-8");
    is(x->req_headers.v[3].value, "a  Evil: 1", "a line break becomes blanks");
    ok(x->n_scrubbed == 2 && x->scrubbed[1].count == 5, "scrubbed is counted by rule");
    is(x->scrubbed[1].rule, "openai-key", "scrub rule");
    is(x->scrubbed[1].where, "request.body", "scrub place");
}

static void test_round_trip(void)
{
    struct cassette *c = opened("rich", CASSETTE_NEW);
    struct exchange x;
    struct err e = {0};

    fill_rich(&x);
    ok(cassette_append(c, &x, &e) == 0 && x.n == 1, "appended%s", e.msg);
    exchange_fini(&x);
    ok(cassette_count(c) == 1, "count");
    ok(cassette_sync(c, &e) == 0 && cassette_sync(c, &e) == 0, "sync, twice");
    closed(&c);
    struct tape *t = read_back("rich");
    is(tape_session(t), "rich", "session");
    ok(tape_load(t, 0, &x, &e) == 0, "loads%s", e.msg);
    same_rich(&x);
    exchange_fini(&x);
    ok(tape_load_head(t, 0, &x, &e) == 0 && x.req_headers.n == 4 && !x.req_body.len,
       "head alone");
    is(x.url, URL, "head: url");
    exchange_fini(&x);
    tape_close(&t);
}

/* A failed exchange has no response; a bare one has no bodies. */
static void test_bare(void)
{
    struct cassette *c = opened("bare", CASSETTE_NEW);
    struct exchange x;
    struct err e = {0};

    make(&x, NULL, 0, NULL);
    x.status = 0;
    x.outcome = OUTCOME_ERROR;
    strcpy(x.error_code, "E_UPSTREAM_DNS");
    strcpy(x.error_message, "cut inside a character: \xc3");
    ok(cassette_append(c, &x, &e) == 0, "a failure is recorded");
    exchange_fini(&x);
    make(&x, "", 0, "");
    free(x.url);
    x.url = strdup("http://h/\xff a");
    ok(cassette_append(c, &x, &e) == 0, "empty bodies are recorded");
    exchange_fini(&x);
    closed(&c);
    struct tape *t = read_back("bare");
    ok(tape_load(t, 0, &x, &e) == 0 && x.status == 0 && !x.has_req_body &&
           !x.has_res_body && !x.chunks && x.outcome == OUTCOME_ERROR,
       "no response, no bodies");
    is(x.error_message, "cut inside a character: ?", "a message stays text");
    is(x.dialect, "", "no dialect");
    exchange_fini(&x);
    ok(tape_load(t, 1, &x, &e) == 0 && x.has_req_body && x.has_res_body &&
           !x.req_body.len && !x.res_body.len,
       "an empty body is not the same as none");
    is(x.url, "http://h/%FF%20a", "a URL is kept as ASCII and UTF-8");
    exchange_fini(&x);
    tape_close(&t);
}

static void test_refused(void)
{
    static const struct {
        const char *name;
        int status;
        uint64_t chunk;
        const char *key, *method, *url;
    } cases[] = {
        {"status 99", 99, 2, NULL, "GET", "http://h/"},
        {"status 1000", 1000, 2, NULL, "GET", "http://h/"},
        {"chunks that do not add up", 200, 3, NULL, "GET", "http://h/"},
        {"no key", 200, 2, "", "GET", "http://h/"},
        {"a short key", 200, 2, "sha256:00", "GET", "http://h/"},
        {"a method with a blank", 200, 2, NULL, "GE T", "http://h/"},
        {"no url", 200, 2, NULL, "GET", ""},
    };
    struct cassette *c = opened("refused", CASSETTE_NEW);

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct exchange x;
        struct err e = {0};
        make(&x, "q", 1, "ok");
        free(x.method);
        free(x.url);
        x.method = strdup(cases[i].method);
        x.url = strdup(cases[i].url);
        x.status = cases[i].status;
        if (cases[i].key)
            strcpy(x.key, cases[i].key);
        ok(exchange_add_chunk(&x, 0, cases[i].chunk, &e) == 0 &&
               cassette_append(c, &x, &e) < 0 && e.code == ERR_FORMAT,
           "refused: %s", cases[i].name);
        exchange_fini(&x);
    }
    ok(cassette_count(c) == 0, "nothing of it is counted");
    closed(&c);
    ok(!fsx_exists(path_of("refused")), "nor is there a file");
}

/* ---- golden ---- */

static void golden_exchanges(struct cassette *c)
{
    static char big[BODY_INLINE + 7];
    struct exchange x;
    struct err e = {0};

    fill_rich(&x);
    ok(cassette_append(c, &x, &e) == 0, "golden: streamed, aborted, scrubbed");
    exchange_fini(&x);
    ok(append_text(c, NULL, NULL), "golden: no bodies");
    ok(append_text(c,
                   "{\"messages\":[{\"content\":\"What is the capital of France, and how "
                   "many people have lived there in each century since it was "
                   "founded?\"}],\"model\":\"m-1\",\"temperature\":0,\"tools\":[]}",
                   "{\"answer\":1}"),
       "golden: first turn");
    ok(append_text(c,
                   "{\"messages\":[{\"content\":\"What is the capital of France, and how "
                   "many people have lived there in each century since it was "
                   "founded?\"},{\"content\":\"Paris\"}],\"model\":\"m-1\","
                   "\"temperature\":0,\"tools\":[]}",
                   "{\"answer\":2}"),
       "golden: second turn");
    memset(big, 'x', sizeof big);
    memcpy(big, "big\n", 4);
    ok(append_body(c, big, sizeof big, NULL), "golden: a blob");
    ok(append_body(c, "\xff\xfe\0\1", 4, NULL), "golden: base64");
    make(&x, NULL, 0, NULL);
    x.status = 0;
    x.kind = KIND_TOOL;
    x.outcome = OUTCOME_ERROR;
    strcpy(x.error_code, "E_UPSTREAM_CONNECT");
    strcpy(x.error_message, "refused");
    ok(cassette_append(c, &x, &e) == 0, "golden: failed");
    exchange_fini(&x);
}

static void test_golden(void)
{
    const char *srcdir = getenv("srcdir");
    char *golden = fsx_join(srcdir ? srcdir : ".", "tests/data/cassette-1.jsonl");
    struct buf want = BUF_INIT(MIB(1)), got = BUF_INIT(MIB(1)), head = BUF_INIT(KIB(1));

    clock_pin_wall(PINNED);
    struct cassette *c = opened("golden", CASSETTE_NEW);
    golden_exchanges(c);
    closed(&c);
    clock_pin_wall(-1);
    file_text(golden, &want);
    file_text(path_of("golden"), &got);
    /* The producer's version is the one thing that moves. */
    buf_str(&head, "{\"cassette\":1,\"created_at\":\"2026-03-01T12:00:00.123Z\","
                   "\"producer\":\"retape/" RETAPE_VERSION "\",\"session\":\"golden\"}");
    size_t want_head = strcspn(buf_cstr(&want), "\n"),
           got_head = strcspn(buf_cstr(&got), "\n");
    ok(got_head == head.len && memcmp(got.data, head.data, head.len) == 0,
       "golden: header line");
    is(buf_cstr(&got) + got_head, buf_cstr(&want) + want_head,
       "golden: every line, byte for byte");
    buf_free(&want);
    buf_free(&got);
    buf_free(&head);
    free(golden);
}

/* ---- opening ---- */

static void test_lock(void)
{
    struct cassette *c = opened("lock", CASSETTE_NEW), *second = NULL;
    struct err e = {0};

    ok(append_text(c, "q", "a"), "one exchange");
    ok(cassette_open(&second, scratch_path, "lock", CASSETTE_APPEND, NULL, &e) < 0 &&
           e.code == ERR_BUSY && strstr(e.msg, path_of("lock")),
       "a second recorder is told: %s", e.msg);
    ok(cassette_open(&second, scratch_path, "lock", CASSETTE_OVERWRITE, NULL, &e) < 0 &&
           e.code == ERR_BUSY,
       "also when it would overwrite");
    ok(cassette_open(&second, scratch_path, "lock", CASSETTE_NEW, NULL, &e) < 0 &&
           e.code == ERR_EXISTS && strstr(e.msg, "--append"),
       "an existing file is not replaced: %s", e.msg);
    ok(append_text(c, "q2", "a"), "the first goes on");
    closed(&c);
    second = opened("lock", CASSETTE_APPEND);
    ok(cassette_count(second) == 2, "then the lock is free");
    closed(&second);
    struct tape *t = read_back("lock");
    ok(tape_count(t) == 2, "an append of nothing leaves all as it was");
    tape_close(&t);
}

static void test_overwrite(void)
{
    struct cassette *c = opened("over", CASSETTE_NEW), *second = NULL;
    struct buf before = BUF_INIT(MIB(1)), after = BUF_INIT(MIB(1));
    struct err e = {0};

    ok(append_text(c, "old", "a"), "old exchange");
    closed(&c);
    file_text(path_of("over"), &before);
    c = opened("over", CASSETTE_OVERWRITE);
    ok(cassette_count(c) == 0, "starts anew");
    closed(&c);
    file_text(path_of("over"), &after);
    is(buf_cstr(&after), buf_cstr(&before),
       "a run that recorded nothing destroys nothing");
    ok(!fsx_exists(scratch_file("over.jsonl.new")), "and leaves nothing behind");

    write_text(scratch_file("over.jsonl.new"), "left by a crash", 15);
    c = opened("over", CASSETTE_OVERWRITE);
    ok(append_text(c, "new", "b"), "new exchange");
    ok(cassette_open(&second, scratch_path, "over", CASSETTE_APPEND, NULL, &e) < 0 &&
           e.code == ERR_BUSY,
       "the new file is locked from the moment it is there");
    ok(append_text(c, "new 2", "b"), "and goes on");
    closed(&c);
    struct tape *t = read_back("over");
    ok(tape_count(t) == 2 && request_is(t, 0, "new", 3) && request_is(t, 1, "new 2", 5),
       "only the new recording is there");
    tape_close(&t);
    c = opened("nothing-yet", CASSETTE_OVERWRITE);
    ok(append_text(c, "q", "a"), "overwriting what is not there");
    closed(&c);
    buf_free(&before);
    buf_free(&after);
}

static void test_unused(void)
{
    struct cassette *c = opened("unused", CASSETTE_NEW);

    ok(fsx_exists(path_of("unused")), "the file is there at once");
    closed(&c);
    ok(!fsx_exists(path_of("unused")), "and gone when nothing was recorded");
    c = opened("unused", CASSETTE_APPEND);
    closed(&c);
    ok(!fsx_exists(path_of("unused")), "the same when it was opened to append");
    ok(cassette_close(&c, NULL) == 0, "closing nothing");
}

/* ---- appending to what is there ---- */

static void test_append(void)
{
    char body[400];
    struct buf text = BUF_INIT(MIB(1));
    struct cassette *c = opened("more", CASSETTE_APPEND);

    memset(body, 'b', sizeof body);
    ok(append_body(c, body, 300, "a"), "append makes the file");
    closed(&c);
    c = opened("more", CASSETTE_APPEND);
    ok(cassette_count(c) == 1, "knows what is there");
    body[350] = 'c';
    ok(append_body(c, body, 400, "a"), "second run");
    closed(&c);
    file_text(path_of("more"), &text);
    ok(strstr(buf_cstr(&text), "{\"at\":0,\"len\":300,\"of\":1}") != NULL,
       "a later run builds on bodies of an earlier one");
    struct tape *t = read_back("more");
    ok(tape_count(t) == 2 && tape_entry(t, 1)->n == 2 && request_is(t, 1, body, 400),
       "numbers go on");
    tape_close(&t);
    buf_free(&text);
}

/* Cut the file at every byte of its last line: the recorder goes on after the last
 * whole one. */
static void test_torn(void)
{
    struct buf text = BUF_INIT(MIB(1));
    struct cassette *c = opened("torn", CASSETTE_NEW);
    struct err e = {0};
    size_t bad = 0, quiet = 0;

    ok(append_text(c, "first", "a") && append_text(c,
                                                   "se\xc3\xa9"
                                                   "cond",
                                                   "b"),
       "two");
    closed(&c);
    file_text(path_of("torn"), &text);
    const char *last = memrchr(text.data, '\n', text.len - 1);
    for (size_t n = (size_t)(last + 2 - text.data); n < text.len; n++) {
        bool warned = false;
        write_text(path_of("torn"), text.data, n);
        bool whole = n == text.len - 1; /* all but its LF */
        if (cassette_open(&c, scratch_path, "torn", CASSETTE_APPEND, &warned, &e) < 0) {
            bad++;
            continue;
        }
        quiet += warned == whole;
        struct exchange x;
        make(&x, "third", 5, "c");
        bad += cassette_append(c, &x, &e) < 0 || x.n != (whole ? 3 : 2);
        exchange_fini(&x);
        bad += cassette_close(&c, &e) < 0;
        struct tape *t = read_back("torn");
        bad += tape_count(t) != (whole ? 3 : 2);
        bad += !request_is(t, whole ? 2 : 1, "third", 5);
        tape_close(&t);
    }
    ok(bad == 0, "cut at every byte of the last line, all go on: %s", e.msg);
    ok(quiet == 0, "with a warning, but when only the LF is missing");
    buf_free(&text);
}

static void test_torn_header(void)
{
    static const char head[] = "{\"cassette\":1,\"created_at\":\"2026-03-01T12:0";
    struct cassette *c = NULL;
    struct err e = {0};
    bool warned = false;
    size_t bad = 0;

    for (size_t n = 1; n < sizeof head; n++) {
        write_text(path_of("head"), head, n);
        bad +=
            cassette_open(&c, scratch_path, "head", CASSETTE_APPEND, &warned, &e) < 0 ||
            !warned || !append_text(c, "q", "a") || cassette_close(&c, &e) < 0;
        struct tape *t = read_back("head");
        bad += tape_count(t) != 1;
        tape_close(&t);
    }
    ok(bad == 0, "a header cut at any byte is written again");
    write_text(path_of("head"), "", 0);
    c = opened("head", CASSETTE_APPEND);
    closed(&c);
    struct tape *t = read_back("head");
    ok(tape_count(t) == 0, "an empty file gets its header, and stays: it was not ours");
    tape_close(&t);
}

static void test_malformed(void)
{
    static const struct {
        const char *name, *text, *says;
    } cases[] = {
        {"somebody's notes", "dear diary", "line 1"},
        {"a middle line",
         "{\"cassette\":1,\"created_at\":\"t\",\"producer\":\"p\","
         "\"session\":\"s\"}\n{oops\n{\"torn\n",
         "line 2"},
        {"a last line with its LF",
         "{\"cassette\":1,\"created_at\":\"t\",\"producer\":"
         "\"p\",\"session\":\"s\"}\n{oops\n",
         "line 2"},
        {"a later format", "{\"cassette\":2}\n", "cassette format 2; this build reads 1"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct buf after = BUF_INIT(KIB(4));
        struct cassette *c = NULL;
        struct err e = {0};
        write_text(path_of("bad"), cases[i].text, strlen(cases[i].text));
        ok(cassette_open(&c, scratch_path, "bad", CASSETTE_APPEND, NULL, &e) < 0 && !c &&
               strstr(e.msg, cases[i].says),
           "%s: %s", cases[i].name, e.msg);
        file_text(path_of("bad"), &after);
        is(buf_cstr(&after), cases[i].text, "%s: left alone", cases[i].name);
        buf_free(&after);
    }
}

/* ---- a full disk ---- */

static void test_full(void)
{
    struct rlimit old, small;
    struct buf before = BUF_INIT(MIB(1)), after = BUF_INIT(MIB(1));
    struct cassette *c = opened("full", CASSETTE_NEW);
    char body[5000];
    struct exchange x;
    struct err e = {0};

    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (char)('a' + i * i % 23);
    ok(append_text(c, "first", "a"), "first");
    file_text(path_of("full"), &before);
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = before.len + 700; /* the write starts and stops half way */
    (void)setrlimit(RLIMIT_FSIZE, &small);
    make(&x, body, sizeof body, "b");
    ok(cassette_append(c, &x, &e) < 0 && e.code == ERR_IO &&
           strstr(e.msg, "full.jsonl") && strstr(e.msg, strerror(EFBIG)) && x.n == 0,
       "a write that fails half way: %s", e.msg);
    (void)setrlimit(RLIMIT_FSIZE, &old);
    file_text(path_of("full"), &after);
    is(buf_cstr(&after), buf_cstr(&before), "leaves the file as it was");
    ok(cassette_append(c, &x, &e) == 0 && x.n == 2, "the handle goes on");
    exchange_fini(&x);
    ok(cassette_count(c) == 2, "and counts what is there");
    closed(&c);
    struct tape *t = read_back("full");
    ok(request_is(t, 1, body, sizeof body), "with nothing built on what was lost");
    tape_close(&t);
    buf_free(&before);
    buf_free(&after);
}

/* ---- threads ---- */

enum { THREADS = 4, EACH = 50 };

static void *append_many(void *arg)
{
    struct cassette *c = arg;
    struct err e = {0};
    size_t bad = 0;
    char body[120 + EACH];

    memset(body, 'b', sizeof body);
    for (int i = 0; i < EACH; i++) {
        struct exchange x;
        make(&x, body, (size_t)(120 + i), "a");
        bad += cassette_append(c, &x, &e) < 0 || x.n == 0;
        bad += i % 10 == 0 && cassette_sync(c, &e) < 0;
        exchange_fini(&x);
    }
    return bad ? arg : NULL;
}

static void test_threads(void)
{
    struct cassette *c = opened("threads", CASSETTE_NEW);
    pthread_t threads[THREADS];
    bool good = true;
    void *result;

    for (int i = 0; i < THREADS; i++)
        good &= pthread_create(&threads[i], NULL, append_many, c) == 0;
    for (int i = 0; i < THREADS; i++)
        good &= pthread_join(threads[i], &result) == 0 && !result;
    ok(good && cassette_count(c) == THREADS * EACH, "threads append at once");
    closed(&c);
    struct tape *t = read_back("threads");
    ok(tape_count(t) == THREADS * EACH, "every line is whole");
    tape_close(&t);
}

int main(void)
{
    scratch_make();
    test_names();
    test_round_trip();
    test_bare();
    test_refused();
    test_golden();
    test_lock();
    test_overwrite();
    test_unused();
    test_append();
    test_torn();
    test_torn_header();
    test_malformed();
    test_full();
    test_threads();
    return tap_done();
}
