/* `retape list`, `show` and `diff` say what is on the shelf and where tapes part ways. */
#include "base/cli.h"
#include "base/fsx.h"
#include "proxy/verbs.h"
#include "tests/unit/taped.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHAT "https://api.example.com/v1/chat"
#define JSON "application/json"

static char dir[] = "/tmp/retape-show-XXXXXX";
static struct canon_rules *defaults;
static struct buf out;

static void path_of(const char *name, char *path, size_t size)
{
    (void)snprintf(path, size, "%s/%s", dir, name);
}

static void save(const struct taped *t, const char *file)
{
    struct err e = {0};
    char path[256];

    path_of(file, path, sizeof path);
    ok(fsx_write_file(path, t->text.data, t->text.len, 0600, &e) == 0, "%s %s", file,
       e.msg);
}

/* Run a verb with stdout in a file; its words are separated by blanks. */
static int run(int (*verb)(int, char **), const char *command)
{
    char words[512], path[256], *argv[16];
    int argc = 0, status, fd, kept;
    struct err e = {0};

    path_of("stdout", path, sizeof path);
    (void)snprintf(words, sizeof words, "%s", command);
    for (char *w = strtok(words, " "); w && argc < 15; w = strtok(NULL, " "))
        argv[argc++] = w;
    argv[argc] = NULL;
    (void)fflush(stdout);
    kept = dup(STDOUT_FILENO);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    (void)dup2(fd, STDOUT_FILENO);
    status = verb(argc, argv);
    (void)dup2(kept, STDOUT_FILENO);
    (void)close(kept);
    (void)close(fd);
    buf_reset(&out);
    if (fsx_read_file(path, &out, &e) < 0)
        printf("# %s\n", e.msg);
    return status;
}

static bool has(const char *text)
{
    return strstr(buf_cstr(&out), text) != NULL;
}

static uint64_t number(const char *pointer)
{
    yyjson_doc *doc = yyjson_read(buf_cstr(&out), out.len, 0);
    uint64_t n = yyjson_get_uint(yyjson_doc_ptr_get(doc, pointer));

    yyjson_doc_free(doc);
    return n;
}

static void lay_out(void)
{
    struct taped t;

    taped_init(&t, defaults);
    taped_add(&t, "POST", CHAT, JSON, "{\"q\":1}", "{\"answer\":1}");
    taped_add(&t, "GET", "https://other.example/x?y=1", NULL, NULL, "plain\x1b[2J");
    taped_add(&t, "POST", CHAT, JSON, "{\"q\":2}", "{\"answer\":2}");
    save(&t, "cassettes/main.jsonl");
    taped_fini(&t);

    taped_init(&t, defaults); /* main in another order */
    taped_add(&t, "POST", CHAT, JSON, "{\"q\":2}", "{\"answer\":2}");
    taped_add(&t, "POST", CHAT, JSON, "{\"q\":1}", "{\"answer\":1}");
    taped_add(&t, "GET", "https://other.example/x?y=1", NULL, NULL, "plain\x1b[2J");
    save(&t, "cassettes/moved.jsonl");
    taped_fini(&t);

    taped_init(&t, defaults); /* an answer, a request and a call differ */
    taped_add(&t, "POST", CHAT, JSON, "{\"q\":1}", "{\"answer\":9}");
    taped_add(&t, "PUT", "https://new.example/", NULL, NULL, "new");
    taped_add(&t, "POST", CHAT, JSON, "{\"q\":3}", "{\"answer\":2}");
    save(&t, "cassettes/other.jsonl");
    taped_fini(&t);
}

static void list(void)
{
    ok(run(verb_list, "list --cassettes /nonexistent") == 2, "no folder is exit 2");
    ok(run(verb_list, "list --help") == 0 && has("--cassettes"), "list --help");
    ok(run(verb_list, "list --nope") == 2, "an unknown option is exit 2");
    ok(run(verb_list, "list") == 0 && has("SESSION") && has("main") && has("moved") &&
           has("api.example.com, other.example") && has("2026-03-01T12:00:00.000Z"),
       "list as a table");
    ok(run(verb_list, "list --json") == 0 && number("/0/exchanges") == 3 &&
           number("/0/http") == 3 && number("/0/size") > 100 && has("\"other.example\""),
       "list as JSON");
}

static void show(void)
{
    ok(run(verb_show, "show main") == 0 && has("METHOD") &&
           has("api.example.com/v1/chat") && has("complete"),
       "a line per exchange");
    ok(run(verb_show, "show cassettes/main.jsonl 1") == 0 && has("POST " CHAT) &&
           has("Content-Type: application/json") && has("{\n  \"answer\": 1\n}"),
       "one in full, by path");
    ok(run(verb_show, "show main 1 --headers") == 0 && has("Content-Type") &&
           !has("answer"),
       "headers only");
    ok(run(verb_show, "show main --body") == 0 && !has("Content-Type") &&
           has("\"answer\": 2"),
       "bodies of all");
    ok(run(verb_show, "show main 2") == 0 && has("plain\x1b[2J"),
       "bytes as they are when stdout is no terminal");
    ok(run(verb_show, "show main 3 --json") == 0 && number("/exchange") == 3 &&
           has("\"text\": \"{\\\"q\\\":2}\""),
       "one as JSON");
    ok(run(verb_show, "show main --json") == 0 && number("/2/exchange") == 3 &&
           number("/0/response_bytes") == 12,
       "all as JSON");
    ok(run(verb_show, "show main 4") == 2 && run(verb_show, "show main x") == 2 &&
           run(verb_show, "show main 1x") == 2,
       "no such exchange");
    ok(run(verb_show, "show mian") == 2 && run(verb_show, "show ../main") == 2 &&
           run(verb_show, "show") == 2,
       "no such session");
}

static void diff(void)
{
    ok(run(verb_diff, "diff main main") == 0 && has("same: 3 same, 0 changed"), "same");
    ok(run(verb_diff, "diff main moved") == 0 && has(", 1 in another order"),
       "order between requests does not count");
    ok(run(verb_diff, "diff main other") == 1, "different");
    ok(has("first divergence:\n~ A 1, B 1") &&
           has("response /answer\n      - 1\n      + 9"),
       "the first divergence comes first");
    ok(has("~ A 3, B 3") && has("request /q\n      - 2\n      + 3"),
       "a changed request meets the one it was");
    ok(has("- A 2  GET") && has("+ B 2  PUT https://new.example/"), "one-sided ones");
    ok(has("different: 0 same, 2 changed, 1 only in A, 1 only in B"), "counts");
    ok(run(verb_diff, "diff main other --json") == 1 &&
           number("/first_divergence/a") == 1 && number("/counts/changed") == 2 &&
           has("\"at\": \"/answer\"") && has("\"same\": false"),
       "as JSON");
    ok(run(verb_diff, "diff main nope") == 2 && run(verb_diff, "diff main") == 2,
       "errors are exit 2");
}

static void broken(void)
{
    struct err e = {0};
    char path[256];

    path_of("cassettes/broken.jsonl", path, sizeof path);
    ok(fsx_write_file(path, "{}\n", 3, 0600, &e) == 0, "a broken cassette");
    ok(run(verb_list, "list") == 2 && has("main"), "does not hide the others in a list");
    ok(run(verb_list, "list --json") == 2 && has("\"error\":"), "and is named in JSON");
    ok(run(verb_show, "show broken") == 2, "cannot be shown");
}

int main(void)
{
    struct err e = {0};
    static const char *const files[] = {"cassettes/main.jsonl", "cassettes/moved.jsonl",
                                        "cassettes/other.jsonl", "cassettes/broken.jsonl",
                                        "stdout"};

    out = BUF_INIT(MIB(1));
    if (!mkdtemp(dir) || chdir(dir) < 0 || canon_rules_new(&defaults, &e) < 0 ||
        mkdir("cassettes", 0700) < 0) {
        printf("Bail out! no temporary folder\n");
        return 1;
    }
    lay_out();
    list();
    show();
    diff();
    broken();
    for (size_t i = 0; i < COUNT_OF(files); i++)
        (void)unlink(files[i]);
    if (rmdir("cassettes") < 0 || chdir("/") < 0 || rmdir(dir) < 0)
        printf("# %s is left behind\n", dir);
    canon_rules_free(&defaults);
    buf_free(&out);
    return tap_done();
}
