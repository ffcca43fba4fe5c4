/* miss.c - see miss.h. */
#include "tape/miss.h"

#include "base/json.h"
#include "base/limits.h"
#include "tape/excerpt.h"
#include "tape/jsondiff.h"
#include "tape/nearest.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define URL_SHOWN 300   /* bytes of a URL inside a sentence */
#define URL_KEPT KIB(4) /* and in the report's own member */
#define MESSAGE_MAX KIB(4)
#define FIRST_SHOWN 8  /* differences of the nearest recording on a terminal */
#define OTHERS_SHOWN 3 /* and of the others; the JSON report has more */

/* ---- differences ---- */

int miss_differences(const char *a, size_t a_len, const char *b, size_t b_len,
                     struct miss_difference **list, size_t *n, size_t most,
                     size_t *n_more, struct err *e)
{
    struct jsondiff d;

    if (jsondiff_compare(&d, a, a_len, b, b_len, most > *n ? most - *n : 0, e) < 0)
        return -1;
    if (d.n) {
        struct miss_difference *all = realloc(*list, (*n + d.n) * sizeof *all);
        if (!all) {
            jsondiff_fini(&d);
            return err_set(e, ERR_NOMEM, "compare: out of memory");
        }
        memcpy(all + *n, d.list, d.n * sizeof *all);
        *list = all;
        *n += d.n;
    }
    *n_more += d.n_more;
    free(d.list);
    return 0;
}

void miss_differences_free(struct miss_difference **list, size_t *n)
{
    for (size_t i = 0; i < *n; i++) {
        free((*list)[i].at);
        free((*list)[i].recorded);
        free((*list)[i].asked);
    }
    free(*list);
    *list = NULL;
    *n = 0;
}

/* ---- what to do next ---- */

/* Names of members that change from run to run, as they end. */
static const char *const volatile_names[] = {
    "id",   "Id",   "ID",  "uuid", "nonce", "timestamp", "Timestamp", "time",    "Time",
    "date", "Date", "_at", "At",   "seed",  "trace",     "span",      "session", "cursor",
};

/* A JSON string or number that reads as an id or a time: a UUID, at least 16 hex digits,
 * a date, Unix seconds or more. */
static bool reads_volatile(const char *text)
{
    size_t hex = 0, digits = 0, other = 0;
    bool quoted = text[0] == '"';
    const char *s = text + quoted;

    if (quoted && strspn(s, "0123456789") >= 4 && s[4] == '-' &&
        isdigit((unsigned char)s[5]))
        return true;
    for (; *s && *s != '"'; s++) {
        hex += isxdigit((unsigned char)*s) != 0;
        digits += isdigit((unsigned char)*s) != 0;
        other += !isxdigit((unsigned char)*s) && *s != '-' && *s != '.';
    }
    if (!quoted)
        return other == 0 && digits >= 10;
    return other == 0 && hex >= 16 && digits > 0;
}

/* Would a person say that this value changes with every run? */
static bool looks_volatile(const struct miss_difference *d)
{
    const char *name = strrchr(d->at, '/');
    size_t len = name ? strlen(name) : 0;

    if (d->at[0] != '/' || !d->recorded || !d->asked || strchr("[{", d->recorded[0]) ||
        strchr("[{", d->asked[0]) || strlen(d->recorded) > EXCERPT_MAX / 2)
        return false;
    if (reads_volatile(d->recorded) && reads_volatile(d->asked))
        return true;
    for (size_t i = 0; i < COUNT_OF(volatile_names); i++) {
        size_t n = strlen(volatile_names[i]);
        if (len > n && strcmp(name + len - n, volatile_names[i]) == 0)
            return true;
    }
    return false;
}

static void say_exhausted(const struct deck *d, size_t entry, struct buf *out)
{
    size_t recorded;

    (void)deck_group(d, entry, &recorded);
    buf_fmt(out,
            "was asked for more often than it was recorded (%zu time%s, last as exchange "
            "%llu). Record the further calls with `retape auto`, or let recordings play "
            "again with `--repeat last` or `--repeat cycle`.",
            recorded, recorded == 1 ? "" : "s",
            (unsigned long long)tape_entry(deck_tape(d), entry)->n);
}

/* Where a value that changes from run to run is declared: by what kind of place it is. */
static void say_ignorable(const struct miss_difference *d, size_t n, struct buf *out)
{
    bool query = d->at[0] == '?';

    if (d->at[0] == '@') /* method, host, path: another request altogether */
        return;
    if (n == 1 && (query || looks_volatile(d)))
        buf_fmt(out,
                "; if that value changes with every run, add \"%s\" to match.%s in "
                "retape.json",
                query ? d->at + 1 : d->at, query ? "ignore_query" : "ignore");
    else
        buf_fmt(out,
                "; what may change from run to run belongs in match.%s in retape.json",
                query ? "ignore_query" : "ignore");
}

static void say_never(const struct miss *m, struct buf *out)
{
    const struct miss_near *near = m->n_near ? &m->near[0] : NULL;
    size_t n = near ? near->n_differences + near->n_more : 0;

    buf_str(out, "was never recorded");
    if (near)
        buf_fmt(out, "; the nearest recording is exchange %llu with %zu difference%s",
                (unsigned long long)near->exchange, n, n == 1 ? "" : "s");
    if (n >= 1 && near->differences[0].at[0])
        buf_fmt(out, n == 1 ? " at %s" : ", the first at %s", near->differences[0].at);
    buf_str(out,
            ". If the request is meant, run it once with `retape auto` to record it");
    if (n >= 1)
        say_ignorable(&near->differences[0], n, out);
    buf_char(out, '.');
}

static char *compose(const struct miss *m, const struct deck *d, size_t entry)
{
    struct buf out = BUF_INIT(MESSAGE_MAX);
    const char *session = tape_session(deck_tape(d));

    excerpt_head(&out, m->method, strlen(m->method), 40);
    buf_char(&out, ' ');
    excerpt_head(&out, m->url, strlen(m->url), URL_SHOWN);
    buf_fmt(&out, " (session %.64s) ", session ? session : "?");
    if (m->found == FOUND_EXHAUSTED)
        say_exhausted(d, entry, &out);
    else
        say_never(m, &out);
    return buf_take(&out);
}

/* ---- the report ---- */

static char *request_url(const struct url *url)
{
    struct buf whole = BUF_INIT(LIMIT_LINE), out = BUF_INIT(URL_KEPT + 8);

    url_text(url, &whole);
    excerpt_head(&out, buf_cstr(&whole), whole.len, URL_KEPT);
    buf_free(&whole);
    return buf_take(&out);
}

static char *request_method(const char *method)
{
    struct buf out = BUF_INIT(KIB(1));

    excerpt_head(&out, method, strlen(method), 100);
    return buf_take(&out);
}

int miss_explain(struct miss *out, const struct deck *d, const struct canon_request *req,
                 enum deck_found found, size_t entry, struct err *e)
{
    must(found == FOUND_NEVER || found == FOUND_EXHAUSTED);
    *out = (struct miss){.found = found};
    out->method = request_method(req->method);
    out->url = request_url(req->url);
    if (!out->method || !out->url) {
        err_set(e, ERR_NOMEM, "miss report: out of memory");
        goto fail;
    }
    if (nearest_find(out->near, &out->n_near, d, req,
                     found == FOUND_EXHAUSTED ? entry : NEAREST_NONE, e) < 0)
        goto fail;
    out->message = compose(out, d, entry);
    if (!out->message) {
        err_set(e, ERR_NOMEM, "miss report: out of memory");
        goto fail;
    }
    return 0;
fail:
    miss_fini(out);
    return -1;
}

void miss_fini(struct miss *m)
{
    free(m->method);
    free(m->url);
    free(m->message);
    for (size_t i = 0; i < m->n_near; i++)
        miss_differences_free(&m->near[i].differences, &m->near[i].n_differences);
    *m = (struct miss){0};
}

/* Four decimals are enough for people; what differs at all is never shown as 0. */
static double shown(double distance)
{
    double d = round(distance * 1e4) / 1e4;

    return distance > 0 && d <= 0 ? 1e-4 : d;
}

static yyjson_mut_val *differences_json(yyjson_mut_doc *doc, const struct miss_near *near)
{
    yyjson_mut_val *list = yyjson_mut_arr(doc);

    for (size_t i = 0; i < near->n_differences; i++) {
        const struct miss_difference *d = &near->differences[i];
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, one, "at", d->at);
        if (d->recorded)
            yyjson_mut_obj_add_val(doc, one, "recorded",
                                   yyjson_mut_raw(doc, d->recorded));
        if (d->asked)
            yyjson_mut_obj_add_val(doc, one, "asked", yyjson_mut_raw(doc, d->asked));
    }
    return list;
}

static char *report(const struct miss *m, size_t n_near, size_t *len)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *error, *request, *nearest;
    char *text;

    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "type", "error");
    error = yyjson_mut_obj_add_obj(doc, root, "error");
    yyjson_mut_obj_add_str(doc, error, "type", "replay_missing_dependency");
    yyjson_mut_obj_add_str(doc, error, "code", err_name(ERR_MISS));
    yyjson_mut_obj_add_str(doc, error, "reason",
                           m->found == FOUND_EXHAUSTED ? "exhausted" : "never_recorded");
    yyjson_mut_obj_add_str(doc, error, "message", m->message);
    request = yyjson_mut_obj_add_obj(doc, error, "request");
    yyjson_mut_obj_add_str(doc, request, "method", m->method);
    yyjson_mut_obj_add_str(doc, request, "url", m->url);
    nearest = yyjson_mut_obj_add_arr(doc, error, "nearest");
    for (size_t i = 0; i < n_near; i++) {
        const struct miss_near *near = &m->near[i];
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, nearest);
        yyjson_mut_obj_add_uint(doc, one, "exchange", near->exchange);
        yyjson_mut_obj_add_real(doc, one, "distance", shown(near->distance));
        yyjson_mut_obj_add_bool(doc, one, "used", near->used);
        yyjson_mut_obj_add_val(doc, one, "differences", differences_json(doc, near));
        if (near->n_more)
            yyjson_mut_obj_add_uint(doc, one, "more", near->n_more);
    }
    text = yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, len);
    yyjson_mut_doc_free(doc);
    return text;
}

void miss_json(const struct miss *m, struct buf *out)
{
    size_t len = 0;
    char *text = NULL;

    /* Texts are cut, so three always fit but for names made of control characters. */
    for (size_t n = m->n_near + 1; n-- > 0;) {
        free(text);
        text = report(m, n, &len);
        if (!text || len <= LIMIT_MISS_BODY)
            break;
    }
    if (text)
        buf_add(out, text, len);
    else
        out->failed = true;
    free(text);
}

static void text_side(const char *label, const char *value, struct buf *out)
{
    buf_fmt(out, "        %s ", label);
    if (value)
        excerpt_plain(out, value, strlen(value));
    else
        buf_str(out, "(absent)");
    buf_char(out, '\n');
}

void miss_text(const struct miss *m, struct buf *out)
{
    buf_fmt(out, "%s: ", err_name(ERR_MISS));
    excerpt_plain(out, m->message, strlen(m->message));
    buf_char(out, '\n');
    for (size_t i = 0; i < m->n_near; i++) {
        const struct miss_near *near = &m->near[i];
        buf_fmt(out, "  nearest: exchange %llu, distance %.4g%s\n",
                (unsigned long long)near->exchange, shown(near->distance),
                near->used ? ", already played" : "");
        size_t n = near->n_differences, most = i == 0 ? FIRST_SHOWN : OTHERS_SHOWN;
        for (size_t k = 0; k < n && k < most; k++) {
            const struct miss_difference *d = &near->differences[k];
            buf_str(out, "      ");
            excerpt_plain(out, d->at[0] ? d->at : "(body)",
                          strlen(d->at[0] ? d->at : "(body)"));
            buf_char(out, '\n');
            text_side("recorded:", d->recorded, out);
            text_side("asked:   ", d->asked, out);
        }
        if (n > most || near->n_more)
            buf_fmt(out, "      and %zu more\n",
                    near->n_more + (n > most ? n - most : 0));
    }
}
