/* tape.c - see tape.h. */
#include "tape/tape.h"

#include "base/fsx.h"
#include "tape/body.h"
#include "tape/cassette.h"
#include "tape/line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct tape {
    char *name;
    char *session;
    struct fsx_map map; /* empty when the memory is the caller's */
    struct body_store bodies;
    struct tape_entry *entries;
    size_t n, cap;
    char **words; /* sorted: names of scrub rules and places */
    size_t n_words;
    struct tape_end end;
};

/* One pass over the file. */
struct load {
    struct tape *t;
    yyjson_alc *alc; /* keeps its memory from line to line */
    struct buf copy; /* the line, unescaped in place by yyjson */
    uint32_t line;   /* from 1 */
    uint64_t at;
    uint32_t len;
    bool unparsed; /* the last error was: not JSON */
};

/* ---- words ---- */

static size_t word_place(const struct tape *t, const char *word, bool *found)
{
    size_t lo = 0, hi = t->n_words;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = strcmp(t->words[mid], word);
        if (c == 0) {
            *found = true;
            return mid;
        }
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *found = false;
    return lo;
}

static int add_word(struct tape *t, const char *word, struct err *e)
{
    bool found;
    size_t at = word_place(t, word, &found);

    if (found)
        return 0;
    if (t->n_words == LIMIT_SCRUB_NAMES)
        return err_set(e, ERR_LIMIT, "scrubbed: more than %d different names",
                       LIMIT_SCRUB_NAMES);
    if (!t->words)
        t->words = calloc(LIMIT_SCRUB_NAMES, sizeof(char *));
    char *copy = strdup(word);
    if (!t->words || !copy) {
        free(copy);
        return err_set(e, ERR_NOMEM, "scrubbed: out of memory");
    }
    memmove(&t->words[at + 1], &t->words[at], (t->n_words - at) * sizeof(char *));
    t->words[at] = copy;
    t->n_words++;
    return 0;
}

static int add_words(struct tape *t, yyjson_val *scrubbed, struct err *e)
{
    yyjson_val *row;
    size_t i, n;

    yyjson_arr_foreach(scrubbed, i, n, row)
    {
        if (add_word(t, yyjson_get_str(yyjson_obj_get(row, "rule")), e) < 0 ||
            add_word(t, yyjson_get_str(yyjson_obj_get(row, "where")), e) < 0)
            return -1;
    }
    return 0;
}

/* ---- parsing one line ---- */

/* Copy the line and parse it there: strings keep their place, which is how a piece of
 * a body knows where it stands in the file. */
static yyjson_doc *parse_line(const char *line, size_t len, struct buf *copy,
                              const yyjson_alc *alc, struct err *e)
{
    yyjson_read_err why = {0};

    buf_reset(copy);
    char *at = buf_room(copy, len + YYJSON_PADDING_SIZE);
    if (!at) {
        err_set(e, ERR_LIMIT, "a line of %zu bytes (or out of memory)", len);
        return NULL;
    }
    memcpy(at, line, len);
    memset(at + len, 0, YYJSON_PADDING_SIZE);
    yyjson_doc *doc = yyjson_read_opts(at, len, YYJSON_READ_INSITU, alc, &why);
    if (!doc)
        err_set(e,
                why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ? ERR_NOMEM : ERR_FORMAT,
                "not JSON: %s at byte %zu", why.msg ? why.msg : "error", why.pos + 1);
    return doc;
}

static struct buf line_buf(void)
{
    return BUF_INIT(LIMIT_LINE + YYJSON_PADDING_SIZE);
}

/* ---- loading ---- */

static int take_header(struct load *l, yyjson_val *root, struct err *e)
{
    struct line_header header;

    if (line_read_header(&header, root, e) < 0)
        return -1;
    if (!cassette_name_ok(yyjson_get_str(header.session)))
        return err_set(e, ERR_FORMAT, "session is not a session name");
    l->t->session = strdup(yyjson_get_str(header.session));
    return l->t->session ? 0 : err_set(e, ERR_NOMEM, "out of memory");
}

static int take_blob(struct load *l, yyjson_val *root, struct err *e)
{
    struct body_line place = {l->copy.data, l->at};
    struct line_blob blob;

    if (line_read_blob(&blob, root, e) < 0)
        return -1;
    return body_store_blob(&l->t->bodies, &place, blob.hash, yyjson_get_uint(blob.size),
                           blob.text, blob.content, e);
}

static int check_response(struct load *l, const struct line_exchange *x, struct err *e)
{
    struct body_line place = {l->copy.data, l->at};
    struct body_list pieces = {0};
    struct body_shape shape;
    int rc = body_parse(&l->t->bodies, &place, x->res_body, &pieces, &shape, e);

    free(pieces.v);
    if (rc < 0)
        return err_in(e, "response.body");
    if (yyjson_is_arr(x->chunks) && x->chunk_bytes != shape.len)
        return err_set(e, ERR_FORMAT,
                       "response.chunks have %llu bytes together, the body %llu",
                       (unsigned long long)x->chunk_bytes, (unsigned long long)shape.len);
    return 0;
}

/* Where the value of `response` stands in its line. Lines as we write them have no
 * blanks and another key behind it; any other line is parsed whole when it is played. */
static void find_response(const struct load *l, yyjson_val *root,
                          struct tape_entry *entry)
{
    yyjson_obj_iter it = yyjson_obj_iter_with(root);
    const char *line = l->t->bodies.data + l->at;
    yyjson_val *key;

    while ((key = yyjson_obj_iter_next(&it)) && !yyjson_equals_str(key, "response"))
        ;
    yyjson_val *next = key ? yyjson_obj_iter_next(&it) : NULL;
    if (!next)
        return;
    size_t from = (size_t)(yyjson_get_str(key) - l->copy.data) + strlen("response\":");
    size_t to = (size_t)(yyjson_get_str(next) - l->copy.data) - strlen(",\"");
    if (from < to && to < l->len && line[from] == '{' && line[to - 1] == '}') {
        entry->res_at = (uint32_t)from;
        entry->res_end = (uint32_t)to;
    }
}

static int add_entry(struct load *l, const struct line_exchange *x, yyjson_val *root,
                     struct err *e)
{
    struct tape *t = l->t;

    if (t->n == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 64;
        struct tape_entry *v = realloc(t->entries, cap * sizeof *v);
        if (!v)
            return err_set(e, ERR_NOMEM, "index: out of memory");
        t->entries = v;
        t->cap = cap;
    }
    struct tape_entry *entry = &t->entries[t->n];
    *entry = (struct tape_entry){
        .n = yyjson_get_uint(x->exchange),
        .xxh3 = x->xxh3,
        .has_xxh3 = x->has_xxh3,
        .kind = (uint8_t)x->kind,
        .outcome = (uint8_t)x->outcome,
        .status = (uint16_t)yyjson_get_uint(x->status),
        .line = l->line,
        .at = l->at,
        .len = l->len,
        .req_len = t->bodies.own[t->n].len,
        .first_byte_ms = (uint32_t)yyjson_get_uint(x->first_byte_ms),
        .total_ms = (uint32_t)yyjson_get_uint(x->total_ms),
    };
    find_response(l, root, entry);
    memcpy(entry->key, x->key, sizeof entry->key);
    t->n++;
    return 0;
}

static int take_exchange(struct load *l, yyjson_val *root, struct err *e)
{
    struct tape *t = l->t;
    struct body_line place = {l->copy.data, l->at};
    struct line_exchange x;

    if (line_read_exchange(&x, root, e) < 0)
        return -1;
    uint64_t n = yyjson_get_uint(x.exchange), last = t->n ? t->entries[t->n - 1].n : 0;
    if (n <= last)
        return err_set(e, ERR_FORMAT, "exchange %llu after exchange %llu",
                       (unsigned long long)n, (unsigned long long)last);
    if (x.res_body && check_response(l, &x, e) < 0)
        return -1;
    if (body_store_add(&t->bodies, &place, n, x.req_body, e) < 0)
        return err_in(e, "request.body");
    if (add_words(t, x.scrubbed, e) < 0)
        return -1;
    return add_entry(l, &x, root, e);
}

static int take_line(struct load *l, struct err *e)
{
    static int (*const take[])(struct load *, yyjson_val *, struct err *) = {
        [LINE_HEADER] = take_header,
        [LINE_BLOB] = take_blob,
        [LINE_EXCHANGE] = take_exchange,
    };
    yyjson_doc *doc = parse_line(l->t->bodies.data + l->at, l->len, &l->copy, l->alc, e);
    enum line_kind kind;
    int rc = -1;

    l->unparsed = !doc && e->code == ERR_FORMAT;
    if (!doc)
        return -1;
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (line_kind(root, &kind, e) < 0)
        goto out;
    if ((kind == LINE_HEADER) != (l->line == 1)) {
        err_set(e, ERR_FORMAT,
                l->line == 1 ? "a cassette starts with its header line"
                             : "a second header line");
        goto out;
    }
    rc = take[kind](l, root, e);
out:
    yyjson_doc_free(doc);
    return rc;
}

/* All lines. *torn: the last one has no LF and is not JSON; it is left out. */
static int take_lines(struct load *l, bool *torn, struct err *e)
{
    struct tape *t = l->t;
    const char *data = t->bodies.data;
    size_t len = t->bodies.len;

    while (t->end.at < len) {
        const char *start = data + t->end.at, *lf = memchr(start, '\n', len - t->end.at);
        size_t n = lf ? (size_t)(lf - start) : len - (size_t)t->end.at;
        if (n > LIMIT_LINE || l->line == UINT32_MAX)
            return err_set(e, ERR_LIMIT, "%s: line %u: longer than %zu bytes", t->name,
                           l->line + 1, LIMIT_LINE);
        l->line++;
        l->at = t->end.at;
        l->len = (uint32_t)n;
        if (take_line(l, e) < 0) {
            *torn = !lf && l->unparsed && l->line > 1;
            if (!*torn)
                return err_in(e, "%s: line %u", t->name, l->line);
            *e = (struct err){0}; /* not an error of the file */
            return 0;
        }
        t->end.at += n + (lf ? 1 : 0);
        t->end.no_lf = !lf;
    }
    return 0;
}

static int load(struct tape *t, bool *torn, struct err *e)
{
    struct load l = {.t = t, .copy = line_buf()};
    int rc;

    if (t->bodies.len == 0)
        return err_set(e, ERR_FORMAT,
                       "%s: empty, not a cassette (was the recorder killed before its "
                       "first exchange? remove the file and record again)",
                       t->name);
    l.alc = yyjson_alc_dyn_new();
    if (!l.alc)
        return err_set(e, ERR_NOMEM, "%s: out of memory", t->name);
    rc = take_lines(&l, torn, e);
    yyjson_alc_dyn_free(l.alc);
    buf_free(&l.copy);
    return rc;
}

static struct tape *new_tape(const char *name, struct err *e)
{
    struct tape *t = calloc(1, sizeof *t);

    if (t)
        t->name = strdup(name);
    if (!t || !t->name) {
        free(t);
        err_set(e, ERR_NOMEM, "%s: out of memory", name);
        return NULL;
    }
    return t;
}

int tape_open(struct tape **out, const char *path, bool *torn, struct err *e)
{
    bool ignored;
    int rc = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct tape *t = NULL;

    *out = NULL;
    if (!torn)
        torn = &ignored;
    *torn = false;
    if (fd < 0)
        return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    t = new_tape(path, e);
    if (!t || fsx_map(&t->map, fd, path, e) < 0)
        goto out;
    t->bodies.data = t->map.data;
    t->bodies.len = t->map.len;
    if (t->map.data)
        (void)madvise((void *)(uintptr_t)t->map.data, t->map.len, MADV_SEQUENTIAL);
    if (load(t, torn, e) < 0)
        goto out;
    (void)madvise((void *)(uintptr_t)t->map.data, t->map.len, MADV_NORMAL);
    *out = t;
    t = NULL;
    rc = 0;
out:
    (void)close(fd);
    tape_close(&t);
    return rc;
}

int tape_open_memory(struct tape **out, const char *name, const char *data, size_t len,
                     struct err *e)
{
    struct tape *t = new_tape(name, e);
    bool torn = false;

    *out = NULL;
    if (!t)
        return -1;
    t->bodies.data = data;
    t->bodies.len = len;
    if (load(t, &torn, e) < 0) {
        tape_close(&t);
        return -1;
    }
    if (torn) { /* nobody is still writing it, and there is nobody to warn */
        err_set(e, ERR_FORMAT, "%s: the last line is cut short", name);
        tape_close(&t);
        return -1;
    }
    *out = t;
    return 0;
}

void tape_close(struct tape **t)
{
    if (!*t)
        return;
    for (size_t i = 0; i < (*t)->n_words; i++)
        free((*t)->words[i]);
    free((*t)->words);
    free((*t)->entries);
    body_store_fini(&(*t)->bodies);
    fsx_unmap(&(*t)->map);
    free((*t)->session);
    free((*t)->name);
    free(*t);
    *t = NULL;
}

/* ---- asking ---- */

size_t tape_count(const struct tape *t)
{
    return t->n;
}

const struct tape_entry *tape_entry(const struct tape *t, size_t i)
{
    must(i < t->n);
    return &t->entries[i];
}

const char *tape_session(const struct tape *t)
{
    return t->session;
}

const char *tape_name(const struct tape *t)
{
    return t->name;
}

struct tape_end tape_end(const struct tape *t)
{
    return t->end;
}

const struct body_store *tape_bodies(const struct tape *t)
{
    return &t->bodies;
}

/* ---- decoding ---- */

static int fill_response_body(const struct tape *t, const struct body_line *place,
                              yyjson_val *val, struct exchange *x, struct err *e)
{
    struct body_list pieces = {0};
    struct body_shape shape;
    int rc = -1;

    x->has_res_body = val && !yyjson_is_null(val);
    if (!x->has_res_body)
        return 0;
    if (body_parse(&t->bodies, place, val, &pieces, &shape, e) == 0)
        rc = body_join(&t->bodies, pieces.v, pieces.n, &x->res_body, e);
    free(pieces.v);
    return rc;
}

static int fill_request_body(const struct tape *t, size_t i, yyjson_val *val,
                             struct exchange *x, struct err *e)
{
    x->has_req_body = !yyjson_is_null(val);
    if (body_join_own(&t->bodies, i, &x->req_body, e) < 0)
        return -1;
    if (!t->entries[i].has_xxh3)
        x->req_xxh3 = digest_xxh3(x->req_body.data, x->req_body.len);
    return 0;
}

static int fill_scrubbed(const struct tape *t, yyjson_val *list, struct exchange *x,
                         struct err *e)
{
    yyjson_val *row;
    size_t i, n;
    bool rule_found, where_found;

    yyjson_arr_foreach(list, i, n, row)
    {
        size_t rule = word_place(t, yyjson_get_str(yyjson_obj_get(row, "rule")),
                                 &rule_found),
               where = word_place(t, yyjson_get_str(yyjson_obj_get(row, "where")),
                                  &where_found);
        if (!rule_found || !where_found)
            return err_set(e, ERR_FORMAT, "the file changed while it was in use");
        if (exchange_add_scrub(x, t->words[rule], t->words[where],
                               (uint32_t)yyjson_get_uint(yyjson_obj_get(row, "count")),
                               e) < 0)
            return -1;
    }
    return 0;
}

static int fill(const struct tape *t, size_t i, const struct body_line *place,
                yyjson_val *root, bool whole, struct exchange *x, struct err *e)
{
    struct line_exchange l;

    if (line_read_exchange(&l, root, e) < 0 || line_fill_head(&l, x, e) < 0)
        return -1;
    x->n = t->entries[i].n;
    if (!whole)
        return 0;
    if (line_fill_rest(&l, x, e) < 0 || fill_scrubbed(t, l.scrubbed, x, e) < 0)
        return -1;
    if (fill_request_body(t, i, l.req_body, x, e) < 0)
        return err_in(e, "request.body");
    if (fill_response_body(t, place, l.res_body, x, e) < 0)
        return err_in(e, "response.body");
    return 0;
}

static int load_exchange(const struct tape *t, size_t i, bool whole, struct exchange *x,
                         struct err *e)
{
    const struct tape_entry *entry = tape_entry(t, i);
    struct buf copy = line_buf();
    yyjson_doc *doc = parse_line(t->bodies.data + entry->at, entry->len, &copy, NULL, e);
    int rc = -1;

    exchange_init(x);
    if (doc) {
        struct body_line place = {copy.data, entry->at};
        rc = fill(t, i, &place, yyjson_doc_get_root(doc), whole, x, e);
        yyjson_doc_free(doc);
    }
    buf_free(&copy);
    if (rc < 0) {
        exchange_fini(x);
        return err_in(e, "%s: line %u", t->name, entry->line);
    }
    return 0;
}

int tape_load(const struct tape *t, size_t i, struct exchange *x, struct err *e)
{
    return load_exchange(t, i, true, x, e);
}

int tape_load_head(const struct tape *t, size_t i, struct exchange *x, struct err *e)
{
    return load_exchange(t, i, false, x, e);
}

static int fill_played(const struct tape *t, const struct tape_entry *entry,
                       const struct buf *copy, yyjson_val *response, struct exchange *x,
                       struct err *e)
{
    struct body_line place = {copy->data, entry->at + entry->res_at};
    struct line_exchange l;

    x->n = entry->n;
    x->outcome = (enum exchange_outcome)entry->outcome;
    x->first_byte_ms = entry->first_byte_ms;
    x->total_ms = entry->total_ms;
    if (line_read_response(&l, response, e) < 0 || line_fill_response(&l, x, e) < 0)
        return -1;
    return fill_response_body(t, &place, l.res_body, x, e);
}

int tape_load_response(const struct tape *t, size_t i, struct exchange *x, struct err *e)
{
    const struct tape_entry *entry = tape_entry(t, i);
    struct buf copy = line_buf();
    int rc = -1;

    if (entry->outcome != OUTCOME_COMPLETE || entry->res_at == 0)
        return tape_load(t, i, x, e);
    exchange_init(x);
    yyjson_doc *doc = parse_line(t->bodies.data + entry->at + entry->res_at,
                                 entry->res_end - entry->res_at, &copy, NULL, e);
    if (doc) {
        rc = fill_played(t, entry, &copy, yyjson_doc_get_root(doc), x, e);
        yyjson_doc_free(doc);
    }
    buf_free(&copy);
    if (rc < 0) {
        exchange_fini(x);
        return err_in(e, "%s: line %u: response", t->name, entry->line);
    }
    return 0;
}

int tape_load_request_body(const struct tape *t, size_t i, struct buf *out, struct err *e)
{
    must(i < t->n);
    if (body_join_own(&t->bodies, i, out, e) < 0)
        return err_in(e, "%s: line %u: request.body", t->name, t->entries[i].line);
    return 0;
}
