/* test-jsonrpc.c - a replayed answer carries the caller's id. */
#include "base/limits.h"
#include "tape/jsonrpc.h"
#include "tests/unit/tap.h"

#define CALL(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"m\"}"
#define RESULT(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"id\":1}}"

static const struct {
    const char *name, *body;
    bool is;
} bodies[] = {
    {"a call", CALL("1"), true},
    {"a notification", "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", true},
    {"a batch", "[" CALL("1") "," CALL("2") "]", true},
    {"an empty batch", "[]", false},
    {"a mixed array", "[" CALL("1") ",{}]", false},
    {"another version", "{\"jsonrpc\":\"2.1\"}", false},
    {"a number for a version", "{\"jsonrpc\":2.0}", false},
    {"the last of equal keys counts", "{\"jsonrpc\":\"1.0\",\"jsonrpc\":\"2.0\"}", true},
    {"not JSON", "{\"jsonrpc\":\"2.0\"", false},
    {"nothing", "", false},
    {"a string", "\"jsonrpc\"", false},
};

/* want NULL: nothing to replace. */
static const struct {
    const char *name, *recorded, *asked, *response, *want;
} answers[] = {
    {"number", CALL("1"), CALL("27"), RESULT("1"), RESULT("27")},
    {"string for number", CALL("1"), CALL("\"a\""), RESULT("1"), RESULT("\"a\"")},
    {"the same id", CALL("1"), CALL(" 1"), RESULT("1"), NULL},
    {"the same bytes", CALL("1"), CALL("1"), RESULT("1"), NULL},
    {"another id in the answer", CALL("1"), CALL("2"), RESULT("3"), NULL},
    {"1 is not \"1\"", CALL("1"), CALL("2"), RESULT("\"1\""), NULL},
    {"1 is not 1.0", CALL("1"), CALL("2"), RESULT("1.0"), NULL},
    {"null", CALL("null"), CALL("2"), RESULT("null"), RESULT("2")},
    {"blanks and escapes around stay", CALL("\"a\""), CALL("5"),
     " {\n\t\"x\" : \"}\\\"id\\\":\" , \"i\\u0064\" :\t\"\\u0061\" , "
     "\"jsonrpc\":\"2.0\", "
     "\"e\":1e5,\"r\":[{\"id\":\"a\"},[]] } \n",
     " {\n\t\"x\" : \"}\\\"id\\\":\" , \"i\\u0064\" :\t5 , \"jsonrpc\":\"2.0\", "
     "\"e\":1e5,\"r\":[{\"id\":\"a\"},[]] } \n"},
    {"id last", CALL("1"), CALL("22"), "{\"jsonrpc\":\"2.0\",\"result\":{},\"id\":1}",
     "{\"jsonrpc\":\"2.0\",\"result\":{},\"id\":22}"},
    {"of equal keys the last", CALL("1"), CALL("2"),
     "{\"id\":1,\"jsonrpc\":\"2.0\",\"id\":1}",
     "{\"id\":1,\"jsonrpc\":\"2.0\",\"id\":2}"},
    {"an error answer", CALL("1"), CALL("2"),
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1}}",
     "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-1}}"},
    {"no id in the answer", CALL("1"), CALL("2"), "{\"jsonrpc\":\"2.0\",\"result\":1}",
     NULL},
    {"a request of the server keeps its id", CALL("1"), CALL("2"), CALL("1"), NULL},
    {"not JSON-RPC", CALL("1"), CALL("2"), "{\"id\":1}", NULL},
    {"an empty answer", CALL("1"), CALL("2"), "", NULL},
    {"plain text", CALL("1"), CALL("2"), "id: 1", NULL},
    {"asked without an id", CALL("1"), "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}",
     RESULT("1"), NULL},
    {"the request was no JSON-RPC", "{\"id\":1}", "{\"id\":2}", RESULT("1"), NULL},
    {"a batch, answered in another order", "[" CALL("1") "," CALL("2") "," CALL("3") "]",
     "[" CALL("10") "," CALL("\"b\"") "," CALL("3") "]",
     "[" RESULT("3") " , " RESULT("2") "\n," RESULT("1") "]",
     "[" RESULT("3") " , " RESULT("\"b\"") "\n," RESULT("10") "]"},
    {"ids that trade places", "[" CALL("1") "," CALL("2") "]",
     "[" CALL("2") "," CALL("1") "]", "[" RESULT("1") "," RESULT("2") "]",
     "[" RESULT("2") "," RESULT("1") "]"},
    {"equal ids in turn", "[" CALL("1") "," CALL("1") "]",
     "[" CALL("5") "," CALL("6") "]", "[" RESULT("1") "," RESULT("1") "," RESULT("1") "]",
     "[" RESULT("5") "," RESULT("6") "," RESULT("6") "]"},
    {"a batch with a notification",
     "[{\"jsonrpc\":\"2.0\",\"method\":\"n\"}," CALL("1") "]",
     "[{\"jsonrpc\":\"2.0\",\"method\":\"n\"}," CALL("2") "]", "[" RESULT("1") "]",
     "[" RESULT("2") "]"},
    {"a batch against a call", "[" CALL("1") "]", CALL("2"), RESULT("1"), NULL},
    {"batches of different length", "[" CALL("1") "]", "[" CALL("2") "," CALL("3") "]",
     "[" RESULT("1") "]", NULL},
    {"an event stream", CALL("1"), CALL("\"xyz\""),
     ": hello\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"progress\"}\n\n"
     "data:" RESULT("1") "  \r\nid: 1\r\n\r\ndata: " CALL("1") "\r\rdata: x\n\n",
     ": hello\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"progress\"}\n\n"
     "data:" RESULT("\"xyz\"") "  \r\nid: 1\r\n\r\ndata: " CALL("1") "\r\rdata: x\n\n"},
    {"an event over several lines, the last without its end", CALL("\"a\""), CALL("77"),
     "data: {\"jsonrpc\":\ndata:\"2.0\",\nid: 9\ndata\ndata:  \"id\" :\ndata: \"a\"}",
     "data: {\"jsonrpc\":\ndata:\"2.0\",\nid: 9\ndata\ndata:  \"id\" :\ndata: 77}"},
    {"a batch in an event", "[" CALL("1") "," CALL("2") "]",
     "[" CALL("11") "," CALL("22") "]",
     "data: [" RESULT("1") ",\ndata: " RESULT("2") "]\n\n",
     "data: [" RESULT("11") ",\ndata: " RESULT("22") "]\n\n"},
    {"a stream cut short", CALL("1"), CALL("2"),
     "data: " RESULT("1") "\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"res",
     "data: " RESULT("2") "\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"res"},
};

static void check_answers(void)
{
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        struct buf out = BUF_INIT(KIB(4));
        bool replaced = jsonrpc_answer(answers[i].recorded, strlen(answers[i].recorded),
                                       answers[i].asked, strlen(answers[i].asked),
                                       answers[i].response, strlen(answers[i].response),
                                       NULL, 0, &out);
        ok(replaced == (answers[i].want != NULL), "%s: replaced or not", answers[i].name);
        is(buf_cstr(&out), answers[i].want ? answers[i].want : "", "%s: bytes",
           answers[i].name);
        buf_free(&out);
    }
}

/* data: {"jsonrpc":"2.0","id":"abcd"} - the id's value takes bytes 28 to 33. */
static const struct {
    const char *name, *asked;
    uint64_t before[4], after[4];
} chunks[] = {
    {"one piece, longer", "\"abcdefgh\"", {37}, {41}},
    {"one piece, shorter", "1", {37}, {32}},
    {"before and after", "1", {28, 6, 3}, {28, 1, 3}},
    {"split, longer", "\"abcdefgh\"", {30, 7}, {30, 11}},
    {"split, shorter", "12", {31, 6}, {30, 3}},
    {"split in three, shorter", "1", {29, 3, 5}, {29, 0, 3}},
    {"an empty piece on the way", "1", {10, 0, 27}, {10, 0, 22}},
    {"lengths that do not reach", "1", {30}, {29}},
    {"lengths that end before", "1", {20}, {20}},
};

static void check_chunks(void)
{
    static const char response[] = "data: {\"jsonrpc\":\"2.0\",\"id\":\"abcd\"}\n\n";
    static const char recorded[] = CALL("\"abcd\"");

    for (size_t i = 0; i < COUNT_OF(chunks); i++) {
        struct buf out = BUF_INIT(KIB(1)), asked = BUF_INIT(KIB(1));
        uint64_t lens[4];
        memcpy(lens, chunks[i].before, sizeof lens);
        buf_fmt(&asked, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"m\"}",
                chunks[i].asked);
        ok(jsonrpc_answer(recorded, strlen(recorded), asked.data, asked.len, response,
                          strlen(response), lens, 4, &out) &&
               memcmp(lens, chunks[i].after, sizeof lens) == 0,
           "pieces: %s", chunks[i].name);
        buf_free(&out);
        buf_free(&asked);
    }
}

static void check_ceiling(void)
{
    static const char want[] = RESULT("22");

    for (size_t over = 0; over < 2; over++) {
        struct buf out = BUF_INIT(strlen(want) - over);
        struct err e = {0};
        bool replaced =
            jsonrpc_answer(CALL("1"), strlen(CALL("1")), CALL("22"), strlen(CALL("22")),
                           RESULT("1"), strlen(RESULT("1")), NULL, 0, &out);
        ok(replaced && buf_check(&out, "answer", &e) == (over ? -1 : 0), "ceiling %s",
           over ? "too low is an error" : "just right");
        buf_free(&out);
    }
}

int main(void)
{
    for (size_t i = 0; i < COUNT_OF(bodies); i++)
        ok(jsonrpc_is(bodies[i].body, strlen(bodies[i].body)) == bodies[i].is, "is: %s",
           bodies[i].name);
    check_answers();
    check_chunks();
    check_ceiling();
    return tap_done();
}
