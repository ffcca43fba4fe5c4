/* cli.c - see cli.h. */
#include "base/cli.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 64     /* longer words are no typing mistakes of ours */
#define HELP_WIDTH 80   /* columns of help text */
#define HELP_COLUMN 30  /* widest option column before its text moves down a line */
#define NEAREST_MAX 128 /* options of one verb */

/* Where a value came from, for errors: the command line or a variable. */
struct source {
    const struct cli_verb *verb;
    const char *name; /* "--speed" or "RETAPE_SPEED" */
    enum err_code code;
};

static size_t smallest(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits (insert, delete, change, swap neighbours) from a to b, without case. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    size_t na = strlen(a), nb = strlen(b);

    if (na > WORD_MAX || nb > WORD_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= nb; j++)
        last[j] = j;
    for (size_t i = 1; i <= na; i++) {
        int ca = tolower((unsigned char)a[i - 1]);
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            int cb = tolower((unsigned char)b[j - 1]);
            row[j] = smallest(last[j], row[j - 1]) + 1;
            row[j] = smallest(row[j], last[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
                cb == tolower((unsigned char)a[i - 2]))
                row[j] = smallest(row[j], before[j - 2] + 1);
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[nb];
}

const char *cli_nearest(const char *word, const char *const *words)
{
    size_t len = strlen(word);
    size_t best = len / 3 > 1 ? len / 3 : 1;
    const char *found = NULL;

    for (; *words; words++) {
        size_t d = distance(word, *words);
        if (d < best || (d == best && !found)) {
            best = d;
            found = *words;
        }
    }
    return found;
}

static const char *space_name(const struct cli_verb *v)
{
    return v->name ? " " : "";
}

static const char *verb_name(const struct cli_verb *v)
{
    return v->name ? v->name : "";
}

/* "... (see 'retape record --help')": every usage error ends with where to look. */
static int usage_error(const struct cli_verb *v, struct err *e)
{
    struct err inner = *e;

    return err_set(e, inner.code, "%s (see '%s%s%s --help')", inner.msg, v->program,
                   space_name(v), verb_name(v));
}

static const struct cli_option *find_option(const struct cli_verb *v, const char *name,
                                            size_t len)
{
    for (const struct cli_option *o = v->options; o && o->name; o++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

static int unknown_option(const struct cli_verb *v, const char *name, size_t len,
                          struct err *e)
{
    const char *names[NEAREST_MAX + 2] = {"--help"};
    char word[WORD_MAX + 1] = "";
    size_t n = 1;

    for (const struct cli_option *o = v->options; o && o->name && n <= NEAREST_MAX; o++)
        names[n++] = o->name;
    if (len <= WORD_MAX)
        memcpy(word, name, len);
    const char *near = cli_nearest(word, names);
    if (near)
        err_set(e, ERR_USAGE, "unknown option '%.*s', did you mean '%s'?", (int)len, name,
                near);
    else
        err_set(e, ERR_USAGE, "unknown option '%.*s'", (int)smallest(len, 200), name);
    return usage_error(v, e);
}

static int bad_value(const struct source *from, const char *value, const char *want,
                     struct err *e)
{
    err_set(e, from->code, "%s: '%.80s' is not %s", from->name, value, want);
    return usage_error(from->verb, e);
}

static int take_number(const struct source *from, const char *value,
                       struct cli_number *out, struct err *e)
{
    uint64_t sum = 0;

    for (const char *p = value; *p; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (*p < '0' || *p > '9' || sum > (UINT64_MAX - digit) / 10)
            return bad_value(from, value, "a whole number from 0 to 18446744073709551615",
                             e);
        sum = sum * 10 + digit;
    }
    *out = (struct cli_number){true, sum};
    return 0;
}

static int take_decimal(const struct source *from, const char *value, double *out,
                        struct err *e)
{
    char *end = NULL;
    double d = strtod(value, &end);

    /* strtod also reads blanks, signs, hex, "inf" and "nan"; we do not. */
    if (strspn(value, "0123456789.eE+-") != strlen(value) || *end || !isfinite(d) ||
        value[0] == '-' || value[0] == '+')
        return bad_value(from, value, "a number of 0 or more", e);
    *out = d;
    return 0;
}

static int take_choice(const struct source *from, const struct cli_option *o,
                       const char *value, int *out, struct err *e)
{
    struct buf all = BUF_INIT(256);

    for (int i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], value) == 0) {
            *out = i;
            buf_free(&all);
            return 0;
        }
        buf_fmt(&all, "%s%s", i ? ", " : "one of ", o->choices[i]);
    }
    const char *near = cli_nearest(value, o->choices);
    if (near)
        buf_fmt(&all, " (did you mean '%s'?)", near);
    (void)bad_value(from, value, buf_cstr(&all), e);
    buf_free(&all);
    return -1;
}

static int take_flag(const struct source *from, const char *value, bool *out,
                     struct err *e)
{
    static const char *const words[] = {"0", "false", "no", "1", "true", "yes"};

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcasecmp(words[i], value) == 0) {
            *out = i >= COUNT_OF(words) / 2;
            return 0;
        }
    return bad_value(from, value, "one of 1, true, yes, 0, false, no", e);
}

static int take_item(struct cli_list *list, const char *value, struct err *e)
{
    const char **v = realloc(list->v, (list->n + 2) * sizeof *v);

    if (!v)
        return err_set(e, ERR_NOMEM, "out of memory");
    v[list->n++] = value;
    v[list->n] = NULL;
    list->v = v;
    return 0;
}

/* Put one value into its member. */
static int take_value(const struct source *from, const struct cli_option *o,
                      const char *value, void *into, struct err *e)
{
    void *member = (char *)into + o->offset;

    if (!*value) {
        err_set(e, from->code, "%s needs a value%s%s, not an empty one", from->name,
                o->arg ? " " : "", o->arg ? o->arg : "");
        return usage_error(from->verb, e);
    }
    switch (o->kind) {
    case CLI_FLAG:
        return take_flag(from, value, member, e);
    case CLI_TEXT:
        *(const char **)member = value;
        return 0;
    case CLI_NUMBER:
        return take_number(from, value, member, e);
    case CLI_DECIMAL:
        return take_decimal(from, value, member, e);
    case CLI_CHOICE:
        return take_choice(from, o, value, member, e);
    case CLI_LIST:
        return take_item(member, value, e);
    }
    must(!"an option of no kind");
    return -1;
}

/* What cli_parse() walks with. */
struct walk {
    const struct cli_verb *verb;
    char **argv;
    int at, argc;
    void *into;
    struct cli_rest *rest;
    bool given[NEAREST_MAX]; /* by row of the option table */
};

static int take_option(struct walk *w, struct err *e)
{
    char *word = w->argv[w->at++];
    size_t len = strcspn(word, "=");
    const char *value = word[len] ? word + len + 1 : NULL;
    const struct cli_option *o = find_option(w->verb, word, len);

    if (!o)
        return unknown_option(w->verb, word, len, e);
    w->given[o - w->verb->options] = true;
    if (o->kind == CLI_FLAG) {
        if (value) {
            err_set(e, ERR_USAGE, "%s takes no value", o->name);
            return usage_error(w->verb, e);
        }
        *(bool *)((char *)w->into + o->offset) = true;
        return 0;
    }
    if (!value) {
        /* A word that looks like an option is one; "--name=--x" says otherwise. */
        if (w->at >= w->argc || strncmp(w->argv[w->at], "--", 2) == 0) {
            err_set(e, ERR_USAGE, "%s needs a value: %s %s", o->name, o->name,
                    o->arg ? o->arg : "VALUE");
            return usage_error(w->verb, e);
        }
        value = w->argv[w->at++];
    }
    const struct source from = {w->verb, o->name, ERR_USAGE};
    return take_value(&from, o, value, w->into, e);
}

static int take_positional(struct walk *w, char *word, struct err *e)
{
    const struct cli_verb *v = w->verb;

    if (w->rest->n < v->most) {
        w->rest->v[w->rest->n++] = word;
        return 0;
    }
    if (v->takes_command)
        err_set(e, ERR_USAGE, "unexpected '%.80s': a command to run goes after '--'",
                word);
    else
        err_set(e, ERR_USAGE, "unexpected argument '%.80s'", word);
    return usage_error(v, e);
}

static int take_after_dashes(struct walk *w, struct err *e)
{
    if (w->verb->takes_command) {
        if (w->at >= w->argc) {
            err_set(e, ERR_USAGE, "no command after '--'");
            return usage_error(w->verb, e);
        }
        w->rest->command = w->argv + w->at;
        return 0;
    }
    while (w->at < w->argc)
        if (take_positional(w, w->argv[w->at++], e) < 0)
            return -1;
    return 0;
}

static int take_words(struct walk *w, struct err *e)
{
    while (w->at < w->argc) {
        char *word = w->argv[w->at];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            w->rest->help = true;
            return 0;
        }
        if (strcmp(word, "--") == 0) {
            w->at++;
            return take_after_dashes(w, e);
        }
        if (word[0] == '-' && word[1]) {
            if (take_option(w, e) < 0)
                return -1;
            continue;
        }
        w->at++;
        if (take_positional(w, word, e) < 0)
            return -1;
    }
    return 0;
}

static int take_environment(struct walk *w, struct err *e)
{
    const struct cli_option *o = w->verb->options;

    for (size_t i = 0; o && o[i].name; i++) {
        const char *value = o[i].env && !w->given[i] ? getenv(o[i].env) : NULL;
        const struct source from = {w->verb, o[i].env, ERR_CONFIG};
        if (value && *value && take_value(&from, &o[i], value, w->into, e) < 0)
            return -1;
    }
    return 0;
}

int cli_parse(const struct cli_verb *verb, int argc, char **argv, void *into,
              struct cli_rest *rest, struct err *e)
{
    struct walk w = {verb, argv, 1, argc, into, rest, {false}};
    size_t rows = 0;

    while (verb->options && verb->options[rows].name)
        rows++;
    must(rows <= NEAREST_MAX);
    *rest = (struct cli_rest){0};
    rest->v = calloc((size_t)(argc > 0 ? argc : 0) + 1, sizeof *rest->v);
    if (!rest->v)
        return err_set(e, ERR_NOMEM, "out of memory");
    if (take_words(&w, e) < 0)
        goto fail;
    if (rest->help)
        return 0;
    if (rest->n < verb->least) {
        err_set(e, ERR_USAGE, "something is missing: %s%s%s %s", verb->program,
                space_name(verb), verb_name(verb), verb->usage);
        (void)usage_error(verb, e);
        goto fail;
    }
    if (take_environment(&w, e) < 0)
        goto fail;
    return 0;
fail:
    cli_fini(verb, into, rest);
    return -1;
}

void cli_fini(const struct cli_verb *verb, void *into, struct cli_rest *rest)
{
    for (const struct cli_option *o = verb->options; o && o->name; o++) {
        if (o->kind != CLI_LIST)
            continue;
        struct cli_list *list = (struct cli_list *)(void *)((char *)into + o->offset);
        free(list->v);
        *list = (struct cli_list){0};
    }
    free(rest->v);
    *rest = (struct cli_rest){0};
}

static void pad(struct buf *out, size_t n)
{
    while (n-- > 0)
        buf_char(out, ' ');
}

/* Words of text from column `at` on, later lines from column `indent` on. A newline
 * in the text starts a line. Ends with a newline. */
static void wrap(struct buf *out, const char *text, size_t at, size_t indent)
{
    bool fresh = true; /* nothing but the margin on this line yet */

    while (*text) {
        if (*text == '\n' || *text == ' ') {
            if (*text == '\n') {
                buf_char(out, '\n');
                pad(out, indent);
                at = indent;
                fresh = true;
            }
            text++;
            continue;
        }
        size_t n = strcspn(text, " \n");
        if (!fresh && at + 1 + n > HELP_WIDTH) {
            buf_char(out, '\n');
            pad(out, indent);
            at = indent;
            fresh = true;
        }
        if (!fresh) {
            buf_char(out, ' ');
            at++;
        }
        buf_add(out, text, n);
        at += n;
        text += n;
        fresh = false;
    }
    buf_char(out, '\n');
}

static size_t option_width(const struct cli_option *o)
{
    return 2 + strlen(o->name) + (o->arg ? 1 + strlen(o->arg) : 0) + 2;
}

static void help_option(const struct cli_option *o, size_t column, struct buf *out)
{
    struct buf text = BUF_INIT(4096);
    size_t width = option_width(o);

    buf_fmt(out, "  %s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
    if (width > column) {
        buf_char(out, '\n');
        pad(out, column);
    } else {
        pad(out, column - (width - 2));
    }
    buf_str(&text, o->help);
    if (o->fallback)
        buf_fmt(&text, " (default: %s)", o->fallback);
    if (o->env)
        buf_fmt(&text, " [%s]", o->env);
    wrap(out, buf_cstr(&text), column, column);
    buf_free(&text);
}

static void help_options(const struct cli_verb *verb, struct buf *out)
{
    static const struct cli_option help = {.name = "--help", .help = "show this text"};
    size_t column = option_width(&help);

    for (const struct cli_option *o = verb->options; o && o->name; o++) {
        size_t width = option_width(o);
        if (width > column && width <= HELP_COLUMN)
            column = width;
    }
    buf_str(out, "\noptions:\n");
    for (const struct cli_option *o = verb->options; o && o->name; o++)
        help_option(o, column, out);
    help_option(&help, column, out);
}

void cli_help(const struct cli_verb *verb, struct buf *out)
{
    size_t start = out->len;

    buf_fmt(out, "usage: %s%s%s%s", verb->program, space_name(verb), verb_name(verb),
            *verb->usage ? " " : "");
    wrap(out, verb->usage, out->len - start, strlen("usage: "));
    buf_char(out, '\n');
    wrap(out, verb->summary, 0, 0);
    help_options(verb, out);
    for (size_t i = 0; verb->exits && verb->exits[i]; i++) {
        /* "2  configuration ...": the text hangs behind the status. */
        const char *status = verb->exits[i];
        size_t n = strcspn(status, " ");
        buf_fmt(out, "%s  %.*s  ", i ? "" : "\nexit status:\n", (int)n, status);
        wrap(out, status + n, n + 4, n + 4);
    }
    if (verb->example) {
        buf_str(out, "\nexample:\n  ");
        for (const char *p = verb->example; *p; p++) {
            buf_char(out, *p);
            if (*p == '\n')
                buf_str(out, "  ");
        }
        buf_char(out, '\n');
    }
}
