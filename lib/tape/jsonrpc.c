/* jsonrpc.c - see jsonrpc.h. */
#include "tape/jsonrpc.h"

#include "base/limits.h"

#include <stdlib.h>
#include <string.h>

#define ENDS 4096 /* bytes of a body's ends that jsonrpc_is() looks at */

/* ---- what is JSON-RPC ---- */

static bool is_message(yyjson_val *val)
{
    return yyjson_equals_str(json_find(val, "jsonrpc"), "2.0");
}

bool jsonrpc_is_message(yyjson_val *root)
{
    size_t i, n;
    yyjson_val *val;

    if (yyjson_is_obj(root))
        return is_message(root);
    yyjson_arr_foreach(root, i, n, val)
    {
        if (!is_message(val))
            return false;
    }
    return yyjson_arr_size(root) > 0;
}

/* Parse a text that is JSON-RPC; NULL when it is not. */
static yyjson_doc *read_messages(const char *text, size_t len)
{
    yyjson_doc *doc = NULL;
    struct err e;

    if (len == 0 || json_read(&doc, text, len, &e) < 0)
        return NULL;
    if (!jsonrpc_is_message(yyjson_doc_get_root(doc))) {
        yyjson_doc_free(doc);
        return NULL;
    }
    return doc;
}

/* Every writer puts "jsonrpc" before or right after the parameters, so a long body that
 * names it at neither end need not be parsed: chat requests are asked here too. */
static bool names_jsonrpc(const char *body, size_t len)
{
    static const char name[] = "\"jsonrpc\"";
    size_t window = len < ENDS ? len : ENDS;

    return memmem(body, window, name, sizeof name - 1) ||
           memmem(body + len - window, window, name, sizeof name - 1);
}

bool jsonrpc_is(const char *body, size_t len)
{
    if (!names_jsonrpc(body, len))
        return false;
    yyjson_doc *doc = read_messages(body, len);

    yyjson_doc_free(doc);
    return doc != NULL;
}

/* ---- which id becomes which ---- */

/* One call of the request: its id as recorded and as asked, as canonical texts. */
struct swap {
    char *recorded;
    char *asked;
    size_t place; /* in the batch */
    size_t used;  /* kept on the first of equal ids: how many were answered */
};

struct swaps {
    struct swap *v;
    size_t n;
    bool failed; /* out of memory */
};

static void swaps_fini(struct swaps *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].recorded);
        free(s->v[i].asked);
    }
    free(s->v);
    *s = (struct swaps){0};
}

static char *id_text(yyjson_val *id)
{
    struct buf text = BUF_INIT(LIMIT_DECODED_BODY);

    json_canonical(id, &text);
    return buf_take(&text);
}

static int compare_swaps(const void *a, const void *b)
{
    const struct swap *x = a, *y = b;
    int c = strcmp(x->recorded, y->recorded);

    return c ? c : (x->place > y->place) - (x->place < y->place);
}

static void add_swap(struct swaps *s, yyjson_val *recorded, yyjson_val *asked)
{
    yyjson_val *from = json_find(recorded, "id"), *to = json_find(asked, "id");

    if (!from || !to)
        return;
    struct swap *new = &s->v[s->n];
    *new = (struct swap){id_text(from), id_text(to), s->n, 0};
    s->n++;
    s->failed |= !new->recorded || !new->asked;
}

/* Nothing when the two requests are not the same calls. */
static void pair_ids(yyjson_val *recorded, yyjson_val *asked, struct swaps *out)
{
    size_t n = yyjson_is_arr(recorded) ? yyjson_arr_size(recorded) : 1;

    if (yyjson_is_arr(recorded) != yyjson_is_arr(asked) ||
        (yyjson_is_arr(asked) && yyjson_arr_size(asked) != n))
        return;
    out->v = calloc(n, sizeof out->v[0]);
    if (!out->v) {
        out->failed = true;
        return;
    }
    if (yyjson_is_obj(recorded))
        add_swap(out, recorded, asked);
    yyjson_arr_iter a = yyjson_arr_iter_with(recorded), b = yyjson_arr_iter_with(asked);
    yyjson_val *message;
    while ((message = yyjson_arr_iter_next(&a)))
        add_swap(out, message, yyjson_arr_iter_next(&b));
    if (!out->failed)
        qsort(out->v, out->n, sizeof out->v[0], compare_swaps);
}

/* The call an answer with this id belongs to: of equal ids each in turn. */
static const struct swap *swap_for(struct swaps *s, const char *id)
{
    size_t lo = 0, hi = s->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (strcmp(s->v[mid].recorded, id) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == s->n || strcmp(s->v[lo].recorded, id) != 0)
        return NULL;
    size_t at = lo + s->v[lo].used;
    if (at >= s->n || strcmp(s->v[at].recorded, id) != 0)
        return &s->v[at - 1];
    s->v[lo].used++;
    return &s->v[at];
}

/* ---- where the ids stand in the text ---- */

/* Replace [at, at+len) of the response by text. */
struct edit {
    size_t at, len;
    const char *text; /* a swap's */
};

struct edits {
    struct edit *v;
    size_t n, cap;
    bool failed;
};

static void add_edit(struct edits *e, size_t at, size_t len, const char *text)
{
    if (e->n == e->cap) {
        size_t cap = e->cap ? e->cap * 2 : 8;
        struct edit *v = realloc(e->v, cap * sizeof *v);
        if (!v) {
            e->failed = true;
            return;
        }
        e->v = v;
        e->cap = cap;
    }
    e->v[e->n++] = (struct edit){at, len, text};
}

static const char *skip_blanks(const char *s)
{
    while (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r')
        s++;
    return s;
}

static const char *skip_string(const char *s)
{
    for (s++; *s != '"'; s++)
        if (*s == '\\')
            s++;
    return s + 1;
}

/* The end of the value at s. The text is known to be JSON, so this cannot run off. */
static const char *skip_value(const char *s)
{
    size_t depth = 0;

    do {
        if (*s == '"') {
            s = skip_string(s);
        } else if (*s == '{' || *s == '[') {
            depth++;
            s++;
        } else if (*s == '}' || *s == ']') {
            depth--;
            s++;
        } else if (depth > 0) {
            s++;
        } else {
            while (*s && !strchr(",]} \t\n\r", *s))
                s++;
        }
    } while (depth > 0);
    return s;
}

/* The id of one message: its text at *s and its value are walked side by side, so that
 * a key written with escapes is still known. *s moves past the message. */
static void edit_message(const char *base, const char **s, yyjson_val *message,
                         struct swaps *swaps, struct edits *out)
{
    const char *id = NULL, *id_end = NULL;
    yyjson_val *id_val = NULL, *key, *val;
    size_t i, n;
    bool ours = yyjson_is_obj(message) && !json_find(message, "method");

    if (!ours) {
        *s = skip_value(*s);
        return;
    }
    const char *at = *s;
    yyjson_obj_foreach(message, i, n, key, val)
    {
        const char *value = skip_blanks(skip_string(skip_blanks(at + 1)));
        value = skip_blanks(value + 1); /* past the colon */
        at = skip_value(value);
        if (yyjson_equals_str(key, "id")) {
            id = value;
            id_end = at;
            id_val = val;
        }
        at = skip_blanks(at);
    }
    *s = n ? at + 1 : skip_value(at);
    char *text = id_val ? id_text(id_val) : NULL;
    const struct swap *swap = text ? swap_for(swaps, text) : NULL;
    if (swap && strcmp(swap->asked, swap->recorded) != 0)
        add_edit(out, (size_t)(id - base), (size_t)(id_end - id), swap->asked);
    out->failed |= id_val && !text;
    free(text);
}

/* Edits for a JSON text; false when it is not JSON-RPC. */
static bool edit_text(const char *text, size_t len, struct swaps *swaps,
                      struct edits *out)
{
    yyjson_doc *doc = read_messages(text, len);
    yyjson_val *root = yyjson_doc_get_root(doc), *message;
    size_t i, n;

    if (!doc)
        return false;
    const char *s = skip_blanks(text);
    if (yyjson_is_obj(root))
        edit_message(text, &s, root, swaps, out);
    yyjson_arr_foreach(root, i, n, message)
    {
        s = skip_blanks(s + 1); /* past the bracket or the comma */
        edit_message(text, &s, message, swaps, out);
        s = skip_blanks(s);
    }
    yyjson_doc_free(doc);
    return true;
}

/* ---- event streams ---- */

/* One event being put together: its data, and where each data line came from. */
struct event {
    struct buf data;
    struct line {
        size_t in_data, in_stream;
    } * lines;
    size_t n, cap;
    bool failed;
};

static void add_line(struct event *ev, const char *s, size_t len, size_t in_stream)
{
    if (ev->n == ev->cap) {
        size_t cap = ev->cap ? ev->cap * 2 : 4;
        struct line *lines = realloc(ev->lines, cap * sizeof *lines);
        if (!lines) {
            ev->failed = true;
            return;
        }
        ev->lines = lines;
        ev->cap = cap;
    }
    if (ev->n > 0)
        buf_char(&ev->data, '\n');
    ev->lines[ev->n++] = (struct line){ev->data.len, in_stream};
    buf_add(&ev->data, s, len);
}

/* An event is over: its edits move from places in the data to places in the stream. An
 * id holds no line end, so it stands in one line. */
static void end_event(struct event *ev, struct swaps *swaps, struct edits *out)
{
    size_t first = out->n, line = 0;

    out->failed |= ev->failed || ev->data.failed;
    if (ev->n > 0 && !out->failed)
        (void)edit_text(ev->data.data, ev->data.len, swaps, out);
    for (size_t i = first; i < out->n; i++) {
        while (line + 1 < ev->n && ev->lines[line + 1].in_data <= out->v[i].at)
            line++;
        out->v[i].at += ev->lines[line].in_stream - ev->lines[line].in_data;
    }
    buf_reset(&ev->data);
    ev->n = 0;
}

/* Lines end in LF, CRLF or CR; a last event without its empty line counts too. */
static void edit_events(const char *text, size_t len, struct swaps *swaps,
                        struct edits *out)
{
    struct event ev = {.data = BUF_INIT(LIMIT_DECODED_BODY)};
    size_t at = 0;

    while (at < len) {
        size_t end = at;
        while (end < len && text[end] != '\n' && text[end] != '\r')
            end++;
        if (end == at) {
            end_event(&ev, swaps, out);
        } else if (end - at >= 5 && memcmp(text + at, "data:", 5) == 0) {
            size_t value = at + 5;
            value += value < end && text[value] == ' ';
            add_line(&ev, text + value, end - value, value);
        }
        at = end + 1;
        if (end + 1 < len && text[end] == '\r' && text[end + 1] == '\n')
            at++;
    }
    end_event(&ev, swaps, out);
    buf_free(&ev.data);
    free(ev.lines);
}

/* ---- putting it together ---- */

/* An id split between pieces stays split at the same place as far as it reaches; what
 * it is longer goes to the last piece it touches. */
static void adjust_chunks(const struct edits *edits, uint64_t *lens, size_t n)
{
    size_t c = 0;
    uint64_t start = 0, was = n ? lens[0] : 0; /* of piece c, before any change */

    for (size_t i = 0; i < edits->n; i++) {
        uint64_t at = edits->v[i].at, old = edits->v[i].len;
        uint64_t new = strlen(edits->v[i].text);
        while (c < n && old > 0) {
            if (at >= start + was) {
                start += was;
                c++;
                was = c < n ? lens[c] : 0;
                continue;
            }
            uint64_t here = start + was - at < old ? start + was - at : old;
            uint64_t keep = here == old || new < here ? new : here;
            lens[c] = lens[c] - here + keep;
            at += here;
            old -= here;
            new -= keep;
        }
    }
}

static void apply(const struct edits *edits, const char *text, size_t len,
                  struct buf *out)
{
    size_t at = 0;

    for (size_t i = 0; i < edits->n; i++) {
        buf_add(out, text + at, edits->v[i].at - at);
        buf_str(out, edits->v[i].text);
        at = edits->v[i].at + edits->v[i].len;
    }
    buf_add(out, text + at, len - at);
}

bool jsonrpc_answer(const char *recorded_request, size_t recorded_len,
                    const char *asked_request, size_t asked_len, const char *response,
                    size_t response_len, uint64_t *chunk_lens, size_t n_chunks,
                    struct buf *out)
{
    yyjson_doc *recorded = NULL, *asked = NULL;
    struct swaps swaps = {0};
    struct edits edits = {0};
    bool done = false;

    if (response_len == 0 ||
        (recorded_len == asked_len &&
         (asked_len == 0 || memcmp(recorded_request, asked_request, asked_len) == 0)))
        return false;
    recorded = read_messages(recorded_request, recorded_len);
    asked = read_messages(asked_request, asked_len);
    if (!recorded || !asked)
        goto out;
    pair_ids(yyjson_doc_get_root(recorded), yyjson_doc_get_root(asked), &swaps);
    edits.failed = swaps.failed;
    if (!edits.failed && !edit_text(response, response_len, &swaps, &edits))
        edit_events(response, response_len, &swaps, &edits);
    if (edits.failed) {
        out->failed = true;
        done = true;
    } else if (edits.n > 0) {
        apply(&edits, response, response_len, out);
        if (chunk_lens)
            adjust_chunks(&edits, chunk_lens, n_chunks);
        done = true;
    }
out:
    free(edits.v);
    swaps_fini(&swaps);
    yyjson_doc_free(recorded);
    yyjson_doc_free(asked);
    return done;
}
