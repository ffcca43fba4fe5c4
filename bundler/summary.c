/*
 * summary.c - `retape-bundle summary`: how a run went and how to see it again, for the
 * summary page of a CI job.
 */
#include "base/cli.h"
#include "base/fsx.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "bundler/answer.h"
#include "bundler/inspect.h"
#include "bundler/verbs.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct flags {
    const char *bundle, *command;
    bool markdown, json;
};

static const struct cli_option options[] = {
    {"--bundle", "FILE", CLI_TEXT, offsetof(struct flags, bundle), NULL, NULL, NULL,
     "the bundle, instead of a plain argument"},
    {"--command", "TEXT", CLI_TEXT, offsetof(struct flags, command), NULL, NULL,
     "COMMAND", "the command that was run, for the text that tells how to repeat it"},
    {"--markdown", NULL, CLI_FLAG, offsetof(struct flags, markdown), NULL, NULL, NULL,
     "write Markdown, as CI systems show it"},
    {"--json", NULL, CLI_FLAG, offsetof(struct flags, json), NULL, NULL, NULL,
     "print a JSON object"},
    {0},
};

static const char *const exits[] = {
    "0  ok, whatever the run's own outcome",
    "2  the bundle is not good, or there are no outputs; or usage",
    "3  files could not be read",
    NULL,
};

static const struct cli_verb verb = {
    .program = "retape-bundle",
    .name = "summary",
    .usage = "[options] FILE|DIR",
    .summary = "Tell how a run ended and how to reproduce it on another machine, from "
               "a bundle or from a folder with run.json and summary.json.",
    .options = options,
    .exits = exits,
    .example =
        "retape-bundle summary --markdown run-7.tar.gz >> \"$GITHUB_STEP_SUMMARY\"",
    .most = 1,
};

/* What there is to tell. */
struct story {
    struct inspect in;   /* of a bundle; only its facts when a folder was named */
    const char *bundle;  /* its file name, or NULL */
    const char *command; /* as the user types it */
    struct buf steps;    /* commands that repeat the run, a line each */
};

/* ---- what to do ---- */

/* A word of a shell command. */
static void put_word(struct buf *out, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789_-./:=@%+,";

    if (*word && *word != '-' && word[strspn(word, plain)] == '\0') {
        buf_str(out, word);
        return;
    }
    buf_str(out, *word == '-' ? "./'" : "'");
    for (; *word; word++)
        buf_fmt(out, *word == '\'' ? "'\\''" : "%c", *word);
    buf_char(out, '\'');
}

static bool is_incomplete(const struct story *s)
{
    const struct manifest *m = s->in.verdict.manifest;

    return m && m->coverage.present && m->coverage.incomplete.n > 0;
}

static void make_steps(struct story *s)
{
    const char *seed = s->in.facts.order_seed;

    if (s->bundle) {
        buf_str(&s->steps, "retape-bundle verify ");
        put_word(&s->steps, s->bundle);
        buf_str(&s->steps, "\nretape replay --bundle ");
        put_word(&s->steps, s->bundle);
    } else {
        buf_str(&s->steps, "retape replay");
    }
    if (seed && *seed && seed[strspn(seed, "0123456789")] == '\0')
        buf_fmt(&s->steps, " --seed %s", seed);
    buf_fmt(&s->steps, "%s -- %s\n", is_incomplete(s) ? " --live" : "", s->command);
}

/* ---- what happened ---- */

static const char *run_id(const struct story *s)
{
    const struct manifest *m = s->in.verdict.manifest;

    return s->in.facts.run_id ? s->in.facts.run_id : m ? m->run_id : NULL;
}

static void put_headline(const struct story *s, struct buf *out)
{
    const struct facts *f = &s->in.facts;
    const char *name = run_id(s);

    buf_fmt(out, name ? "Run %s" : "A run", name);
    if (f->has_exit)
        buf_str(out, f->exit_code == 0 ? " passed" : " failed");
    if (f->has_exit && f->exit_code != 0 && f->reason_code && *f->reason_code)
        buf_fmt(out, ": %s", f->reason_code);
}

static void put_results(const struct facts *f, struct buf *out)
{
    if (f->has_results)
        buf_fmt(out, "%" PRIu64 " passed, %" PRIu64 " failed of %" PRIu64, f->passed,
                f->failed, f->total);
}

static void put_exit(const struct facts *f, struct buf *out)
{
    if (f->has_exit)
        buf_fmt(out, "exit status %" PRId64, f->exit_code);
    if (f->has_child)
        buf_fmt(out, ", the command's own %" PRId64, f->child_exit_code);
}

static void put_seeds(const struct facts *f, struct buf *out)
{
    if (f->order_seed || f->judge_seed)
        buf_fmt(out, "order %s, judge %s", f->order_seed ? f->order_seed : "null",
                f->judge_seed ? f->judge_seed : "null");
}

static void put_recorded(const struct story *s, struct buf *out)
{
    const struct contents *c = &s->in.contents;

    if (c->exchanges)
        buf_fmt(out,
                "%" PRIu64 " exchange(s): %" PRIu64 " with models, %" PRIu64
                " with tools, %" PRIu64 " other",
                c->exchanges, c->llm, c->tool, c->http);
}

static void put_coverage(const struct story *s, struct buf *out)
{
    const struct manifest *m = s->in.verdict.manifest;

    if (m && m->coverage.present)
        buf_fmt(out, "%zu test(s) complete, %zu incomplete", m->coverage.complete.n,
                m->coverage.incomplete.n);
}

/* Text of others, for a cell of a Markdown table or a line of it. */
static void put_markdown(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("\\`*_{}[]<>#|~!", *text))
            buf_char(out, '\\');
        buf_char(out, *text == '\n' || *text == '\r' || *text == '\t' ? ' ' : *text);
    }
}

static void put_line(struct buf *out, bool markdown, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    if (!markdown) {
        buf_fmt(out, "%-10s", name);
        answer_quote(out, value);
        buf_char(out, '\n');
        return;
    }
    buf_fmt(out, "| %s | ", name);
    put_markdown(out, value);
    buf_str(out, " |\n");
}

static void put_lines(const struct story *s, bool markdown, struct buf *out)
{
    const struct facts *f = &s->in.facts;
    const struct verdict *v = &s->in.verdict;
    struct buf text = BUF_INIT(KIB(4));

    put_exit(f, &text);
    put_line(out, markdown, "Outcome", buf_cstr(&text));
    put_line(out, markdown, "Reason", f->reason_code);
    put_line(out, markdown, "Message", f->message);
    put_line(out, markdown, "Next step", f->next_step);
    buf_reset(&text);
    put_results(f, &text);
    put_line(out, markdown, "Tests", text.len ? text.data : NULL);
    buf_reset(&text);
    put_seeds(f, &text);
    put_line(out, markdown, "Seeds", text.len ? text.data : NULL);
    buf_reset(&text);
    put_recorded(s, &text);
    put_line(out, markdown, "Recorded", text.len ? text.data : NULL);
    buf_reset(&text);
    put_coverage(s, &text);
    put_line(out, markdown, "Coverage", text.len ? text.data : NULL);
    put_line(out, markdown, "Bundle", s->bundle);
    put_line(out, markdown, "Digest",
             v->digests.has_file ? v->digests.file : f->bundle_digest);
    buf_free(&text);
}

static const char how_to[] = "Reproduce locally";

/* What stands before the commands. */
static void put_advice(const struct story *s, bool markdown, struct buf *out)
{
    if (s->bundle) {
        buf_str(out, "Fetch ");
        buf_str(out, markdown ? "`" : "");
        buf_str(out, s->bundle);
        buf_str(out, markdown ? "`" : "");
        buf_str(out, " from this job's artifacts, then run:\n");
    } else {
        buf_str(out, "With the cassettes of this run, run:\n");
    }
}

static void put_remark(const struct story *s, struct buf *out)
{
    if (is_incomplete(s))
        buf_str(out, "The bundle lacks what some tests need, so this asks the real "
                     "services for it (--live).\n");
    else
        buf_str(out, "This needs no network and no keys: every answer comes from the "
                     "recording.\n");
}

static void tell_text(const struct story *s, struct buf *out)
{
    put_headline(s, out);
    buf_str(out, "\n\n");
    put_lines(s, false, out);
    buf_fmt(out, "\n%s\n", how_to);
    put_advice(s, false, out);
    for (const char *p = buf_cstr(&s->steps), *end; (end = strchr(p, '\n')); p = end + 1)
        buf_fmt(out, "    %.*s\n", (int)(end - p), p);
    put_remark(s, out);
}

static void tell_markdown(const struct story *s, struct buf *out)
{
    struct buf line = BUF_INIT(KIB(4));

    put_headline(s, &line);
    buf_str(out, "## ");
    put_markdown(out, buf_cstr(&line));
    buf_str(out, "\n\n| | |\n|---|---|\n");
    put_lines(s, true, out);
    buf_fmt(out, "\n### %s\n\n", how_to);
    put_advice(s, true, out);
    buf_fmt(out, "\n```sh\n%s```\n\n", buf_cstr(&s->steps));
    put_remark(s, out);
    buf_free(&line);
}

static void put_json_text(struct buf *out, const char *key, const char *value)
{
    buf_fmt(out, ",\"%s\":", key);
    if (value)
        json_bytes(out, value, strlen(value));
    else
        buf_str(out, "null");
}

static void tell_json(const struct story *s, struct buf *out)
{
    const struct facts *f = &s->in.facts;
    const struct verdict *v = &s->in.verdict;

    buf_fmt(out, "{\"ok\":%s", v->findings.errors ? "false" : "true");
    put_json_text(out, "bundle", s->bundle);
    put_json_text(out, "bundle_digest",
                  v->digests.has_file ? v->digests.file : f->bundle_digest);
    put_json_text(out, "run_id", run_id(s));
    if (f->has_exit)
        buf_fmt(out, ",\"exit_code\":%" PRId64, f->exit_code);
    put_json_text(out, "reason_code", f->reason_code);
    put_json_text(out, "message", f->message);
    put_json_text(out, "next_step", f->next_step);
    buf_str(out, ",\"reproduce\":[");
    for (const char *p = buf_cstr(&s->steps), *end; (end = strchr(p, '\n'));
         p = end + 1) {
        if (p != s->steps.data)
            buf_char(out, ',');
        json_bytes(out, p, (size_t)(end - p));
    }
    buf_str(out, "]}\n");
}

/* ---- reading ---- */

/* run.json and summary.json of a folder; one of them will do. */
static int read_folder(struct facts *f, const char *folder, struct err *e)
{
    static const char *const names[] = {"run.json", "summary.json"};
    int rc = 0;

    for (size_t i = 0; i < COUNT_OF(names) && rc == 0; i++) {
        struct buf text = BUF_INIT(FACTS_FILE_MOST);
        char *path = fsx_join(folder, names[i]);
        if (!path)
            rc = err_set(e, ERR_NOMEM, "out of memory");
        else if (fsx_exists(path) && (rc = fsx_read_file(path, &text, e)) == 0)
            rc = facts_read(f, buf_cstr(&text), text.len, e);
        buf_free(&text);
        free(path);
    }
    if (rc == 0 && !f->known)
        rc = err_set(e, ERR_CONFIG, "%.300s: no run.json and no summary.json", folder);
    return rc;
}

static int read_story(struct story *s, const char *what, struct err *e)
{
    struct scan_rules *rules = NULL;
    struct stat st;
    int rc = -1;

    if (stat(what, &st) == 0 && S_ISDIR(st.st_mode))
        return read_folder(&s->in.facts, what, e);
    const char *slash = strrchr(what, '/');
    s->bundle = slash ? slash + 1 : what;
    if (scan_rules_new(&rules, NULL, e) == 0)
        rc = inspect_bundle(&s->in, what, rules, e);
    scan_rules_free(&rules);
    return rc;
}

/* ---- the verb ---- */

static int print(const struct story *s, const struct flags *f, struct err *e)
{
    struct buf out = BUF_INIT(MIB(1));
    int rc;

    if (f->json) {
        tell_json(s, &out);
        rc = answer_bytes(&out, e);
    } else {
        (f->markdown ? tell_markdown : tell_text)(s, &out);
        rc = answer_text(&s->in.verdict.findings, &out, e);
    }
    buf_free(&out);
    return rc;
}

static int run(const char *what, const struct flags *f, int *status, struct err *e)
{
    struct story s = {.command = f->command ? f->command : "COMMAND",
                      .steps = BUF_INIT(KIB(64))};
    int rc = read_story(&s, what, e);

    if (rc == 0) {
        make_steps(&s);
        rc = buf_check(&s.steps, "--command", e);
    }
    if (rc == 0)
        rc = print(&s, f, e);
    *status = s.in.verdict.findings.errors ? 2 : 0;
    buf_free(&s.steps);
    inspect_fini(&s.in);
    return rc;
}

int verb_bundle_summary(int argc, char **argv)
{
    struct flags f = {0};
    struct cli_rest rest = {0};
    struct err e = {0};
    int status = 0;
    int rc = cli_parse(&verb, argc, argv, &f, &rest, &e);

    if (rc == 0 && rest.help)
        rc = answer_help(&verb, &e);
    else if (rc == 0 && (rest.n == 1) == (f.bundle != NULL))
        rc = err_set(&e, ERR_USAGE,
                     "summary takes one bundle or folder (see 'retape-bundle summary "
                     "--help')");
    else if (rc == 0)
        rc = run(f.bundle ? f.bundle : rest.v[0], &f, &status, &e);
    if (rc < 0)
        log_error("%s", e.msg);
    cli_fini(&verb, &f, &rest);
    return rc < 0 ? err_exit_status(e.code) : status;
}
