/* body.c - see body.h. */
#include "tape/body.h"

#include "tape/base64.h"

#include <stdlib.h>
#include <string.h>

/* Texts and blobs looked through to join one body; far above what its bytes need. */
#define MOST_WORK (2 * (uint64_t)LIMIT_DECODED_BODY)

void body_store_fini(struct body_store *s)
{
    blobs_fini(&s->blobs);
    free(s->pieces.v);
    free(s->own);
    *s = (struct body_store){0};
}

/* ---- writing ---- */

bool body_is_text(const char *data, size_t len)
{
    size_t control = 0;

    /* Each takes six bytes in JSON; beyond one in eight base64 is shorter, and such
     * bytes are nothing to read anyway. */
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)data[i];
        control += c < 0x20 && c != '\n' && c != '\r' && c != '\t';
    }
    return control <= len / 8 && json_is_utf8(data, len);
}

void body_put(struct buf *out, bool text, const char *data, size_t len)
{
    if (text) {
        buf_str(out, "\"text\":");
        json_string(out, data, len);
    } else {
        buf_str(out, "\"base64\":\"");
        base64_encode(out, data, len);
        buf_char(out, '"');
    }
}

/* ---- reading lines ---- */

bool body_hash_parse(yyjson_val *val, uint8_t out[DIGEST_SHA256])
{
    const char *s = yyjson_get_str(val);
    size_t len = yyjson_get_len(val);

    if (!s || len != DIGEST_KEY_TEXT - 1 || memcmp(s, "sha256:", 7) != 0)
        return false;
    return digest_unhex(s + 7, len - 7, out, DIGEST_SHA256) == 0;
}

static int add_piece(struct body_list *list, struct body_shape *shape,
                     struct body_piece piece, struct err *e)
{
    if (piece.len > LIMIT_DECODED_BODY - shape->len)
        return err_set(e, ERR_LIMIT, "a body of more than %zu bytes", LIMIT_DECODED_BODY);
    shape->len += piece.len;
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 4;
        struct body_piece *v = realloc(list->v, cap * sizeof *v);
        if (!v)
            return err_set(e, ERR_NOMEM, "body: out of memory");
        list->v = v;
        list->cap = cap;
    }
    list->v[list->n++] = piece;
    return 0;
}

static uint64_t offset_of(const struct body_line *line, yyjson_val *str)
{
    return line->at + (uint64_t)(yyjson_get_str(str) - line->text);
}

static int add_text(const struct body_line *line, yyjson_val *str, struct body_list *list,
                    struct body_shape *shape, struct err *e)
{
    return add_piece(list, shape,
                     (struct body_piece){.at = offset_of(line, str),
                                         .len = yyjson_get_len(str),
                                         .kind = PIECE_TEXT},
                     e);
}

/* Strict base64, and without JSON escapes: it is decoded where it stands in the file. */
static int check_base64(const struct body_store *s, const struct body_line *line,
                        yyjson_val *str, size_t *size, struct err *e)
{
    size_t len = yyjson_get_len(str);

    if (!base64_check(yyjson_get_str(str), len, size))
        return err_set(e, ERR_FORMAT, "not base64 with its padding");
    if (len && memchr(s->data + offset_of(line, str), '\\', len))
        return err_set(e, ERR_FORMAT, "base64 needs no escapes");
    return 0;
}

static int add_base64(const struct body_store *s, const struct body_line *line,
                      yyjson_val *str, struct body_list *list, struct body_shape *shape,
                      struct err *e)
{
    size_t size;

    if (check_base64(s, line, str, &size, e) < 0)
        return -1;
    return add_piece(list, shape,
                     (struct body_piece){
                         .at = offset_of(line, str), .len = size, .kind = PIECE_BASE64},
                     e);
}

static int add_blob(const struct body_store *s, yyjson_val *name, struct body_list *list,
                    struct body_shape *shape, struct err *e)
{
    uint8_t hash[DIGEST_SHA256];

    if (!body_hash_parse(name, hash))
        return err_set(e, ERR_FORMAT, "blob is not \"sha256:\" and 64 hex digits");
    const struct blob *blob = blobs_find(&s->blobs, hash);
    if (!blob)
        return err_set(e, ERR_FORMAT, "names a blob that does not stand before it");
    return add_piece(list, shape,
                     (struct body_piece){.len = blob->size,
                                         .ref = (uint32_t)(blob - s->blobs.v),
                                         .kind = PIECE_BLOB},
                     e);
}

static const struct body_own *find_own(const struct body_store *s, uint64_t n)
{
    size_t lo = 0, hi = s->n_own;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->own[mid].n == n)
            return &s->own[mid];
        if (s->own[mid].n < n)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

static int add_of(const struct body_store *s, yyjson_val *part, struct body_list *list,
                  struct body_shape *shape, struct err *e)
{
    yyjson_val *of = yyjson_obj_get(part, "of"), *at = yyjson_obj_get(part, "at"),
               *len = yyjson_obj_get(part, "len");

    if (!yyjson_is_uint(of) || !yyjson_is_uint(at) || !yyjson_is_uint(len))
        return err_set(e, ERR_FORMAT, "a part needs of, at and len as numbers");
    uint64_t n = yyjson_get_uint(of), from = yyjson_get_uint(at),
             size = yyjson_get_uint(len);
    const struct body_own *own = find_own(s, n);
    if (!own)
        return err_set(e, ERR_FORMAT,
                       "refers to exchange %llu, which does not stand before it",
                       (unsigned long long)n);
    if (from > own->len || size > own->len - from)
        return err_set(e, ERR_FORMAT,
                       "refers to bytes beyond the request body of exchange %llu",
                       (unsigned long long)n);
    if (shape->depth < own->depth + 1)
        shape->depth = own->depth + 1;
    return add_piece(
        list, shape,
        (struct body_piece){
            .at = from, .len = size, .ref = (uint32_t)(own - s->own), .kind = PIECE_OF},
        e);
}

static int add_part(const struct body_store *s, const struct body_line *line,
                    yyjson_val *part, struct body_list *list, struct body_shape *shape,
                    struct err *e)
{
    if (yyjson_is_str(part))
        return add_text(line, part, list, shape, e);
    yyjson_val *blob = yyjson_obj_get(part, "blob");
    if (blob)
        return add_blob(s, blob, list, shape, e);
    if (yyjson_is_obj(part))
        return add_of(s, part, list, shape, e);
    return err_set(e, ERR_FORMAT, "a part is a string or an object");
}

int body_parse(const struct body_store *s, const struct body_line *line, yyjson_val *val,
               struct body_list *list, struct body_shape *shape, struct err *e)
{
    yyjson_val *text, *base64, *parts, *part;
    size_t i, n;

    *shape = (struct body_shape){0};
    if (yyjson_is_null(val))
        return 0;
    text = yyjson_obj_get(val, "text");
    base64 = yyjson_obj_get(val, "base64");
    parts = yyjson_obj_get(val, "parts");
    if (yyjson_is_str(text))
        return add_text(line, text, list, shape, e);
    if (yyjson_is_str(base64))
        return add_base64(s, line, base64, list, shape, e);
    if (!yyjson_is_arr(parts))
        return err_set(e, ERR_FORMAT, "not null and without text, base64 or parts");
    yyjson_arr_foreach(parts, i, n, part)
    {
        if (add_part(s, line, part, list, shape, e) < 0)
            return err_in(e, "part %zu", i + 1);
    }
    return 0;
}

int body_store_add(struct body_store *s, const struct body_line *line, uint64_t n,
                   yyjson_val *val, struct err *e)
{
    size_t first = s->pieces.n;
    struct body_shape shape;

    if (s->n_own == UINT32_MAX)
        return err_set(e, ERR_LIMIT, "too many exchanges");
    if (s->n_own == s->cap_own) {
        size_t cap = s->cap_own ? s->cap_own * 2 : 64;
        struct body_own *own = realloc(s->own, cap * sizeof *own);
        if (!own)
            return err_set(e, ERR_NOMEM, "exchanges: out of memory");
        s->own = own;
        s->cap_own = cap;
    }
    if (body_parse(s, line, val, &s->pieces, &shape, e) < 0)
        return -1;
    if (s->pieces.n - first > UINT32_MAX)
        return err_set(e, ERR_LIMIT, "too many parts");
    s->own[s->n_own++] = (struct body_own){n, shape.len, first,
                                           (uint32_t)(s->pieces.n - first), shape.depth};
    return 0;
}

int body_store_blob(struct body_store *s, const struct body_line *line,
                    const uint8_t hash[DIGEST_SHA256], uint64_t size, bool text,
                    yyjson_val *content, struct err *e)
{
    size_t actual = yyjson_get_len(content);

    if (blobs_find(&s->blobs, hash))
        return err_set(e, ERR_FORMAT, "the same blob a second time");
    if (!text && check_base64(s, line, content, &actual, e) < 0)
        return -1;
    if (actual != size)
        return err_set(e, ERR_FORMAT, "size says %llu bytes, the content has %zu",
                       (unsigned long long)size, actual);
    if (blobs_reserve(&s->blobs, 1, e) < 0)
        return -1;
    struct blob *blob = blobs_add(&s->blobs, hash);
    blob->at = offset_of(line, content);
    blob->size = size;
    blob->text = text;
    return 0;
}

/* ---- joining ---- */

static int changed(struct err *e)
{
    return err_set(e, ERR_FORMAT, "the file changed while it was in use");
}

/* The character of the escape at p, as UTF-8; the escape's length, or 0. */
static size_t unescape(const char *p, const char *end, char utf8[4], size_t *n)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    uint8_t unit[2];
    uint32_t c;
    size_t used = 6;

    if (end - p < 2)
        return 0;
    const char *simple = p[1] ? strchr(from, p[1]) : NULL;
    if (simple) {
        utf8[0] = to[simple - from];
        *n = 1;
        return 2;
    }
    if (p[1] != 'u' || end - p < 6 || digest_unhex(p + 2, 4, unit, 2) < 0)
        return 0;
    c = (uint32_t)unit[0] << 8 | unit[1];
    if (c >= 0xd800 && c < 0xdc00) {
        if (end - p < 12 || p[6] != '\\' || p[7] != 'u' ||
            digest_unhex(p + 8, 4, unit, 2) < 0 || (unit[0] & 0xfc) != 0xdc)
            return 0;
        c = 0x10000 + ((c - 0xd800) << 10) + ((uint32_t)(unit[0] & 3) << 8 | unit[1]);
        used = 12;
    }
    *n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = *n; i-- > 1; c >>= 6)
        utf8[i] = (char)(0x80 | (c & 0x3f));
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    utf8[0] = (char)(lead[*n] | c);
    return used;
}

/* Append the part of these bytes that lies in the range still to skip and take. */
static void add_range(const char *p, size_t n, uint64_t *skip, uint64_t *take,
                      struct buf *out)
{
    if (*skip >= n) {
        *skip -= n;
        return;
    }
    p += *skip;
    n -= (size_t)*skip;
    *skip = 0;
    if (n > *take)
        n = (size_t)*take;
    buf_add(out, p, n);
    *take -= n;
}

/* Bytes [skip, skip+take) of the JSON string whose text starts at offset `at`. */
static int copy_text(const struct body_store *s, uint64_t at, uint64_t skip,
                     uint64_t take, struct buf *out, struct err *e)
{
    const char *p = s->data + at, *end = s->data + s->len;

    while (take > 0) {
        size_t most =
            skip + take < (uint64_t)(end - p) ? (size_t)(skip + take) : (size_t)(end - p);
        const char *escape = memchr(p, '\\', most);
        size_t run = escape ? (size_t)(escape - p) : most, n, used;
        char utf8[4];
        add_range(p, run, &skip, &take, out);
        p += run;
        if (take == 0)
            break;
        used = unescape(p, end, utf8, &n);
        if (!used)
            return changed(e);
        add_range(utf8, n, &skip, &take, out);
        p += used;
    }
    return buf_check(out, "body", e);
}

static int copy_base64(const struct body_store *s, uint64_t at, uint64_t size,
                       uint64_t skip, uint64_t take, struct buf *out, struct err *e)
{
    size_t len = (size_t)(size + 2) / 3 * 4;

    if (len > s->len - at ||
        !base64_decode(s->data + at, len, (size_t)skip, (size_t)take, out)) {
        if (buf_check(out, "body", e) < 0)
            return -1;
        return changed(e);
    }
    return 0;
}

/* A blob is what its name says: checked when its bytes are first used. */
static int verify_blob(const struct body_store *s, struct blob *blob, uint64_t *work,
                       struct err *e)
{
    struct buf whole = BUF_INIT(LIMIT_DECODED_BODY);
    uint8_t sum[DIGEST_SHA256];
    int rc = -1;

    if (atomic_load_explicit(&blob->verified, memory_order_acquire))
        return 0;
    *work += blob->size;
    if ((blob->text ? copy_text(s, blob->at, 0, blob->size, &whole, e)
                    : copy_base64(s, blob->at, blob->size, 0, blob->size, &whole, e)) < 0)
        goto out;
    digest_sha256(whole.data, whole.len, sum);
    if (memcmp(sum, blob->hash, sizeof sum) != 0) {
        char hex[2 * DIGEST_SHA256 + 1];
        digest_hex(blob->hash, DIGEST_SHA256, hex);
        err_set(e, ERR_FORMAT, "blob sha256:%.12s... does not have the bytes of its name",
                hex);
        goto out;
    }
    atomic_store_explicit(&blob->verified, true, memory_order_release);
    rc = 0;
out:
    buf_free(&whole);
    return rc;
}

/* A place in a list of pieces: the range still wanted from piece v on. */
struct frame {
    const struct body_piece *v;
    size_t n;
    uint64_t skip, take;
};

struct join {
    const struct body_store *s;
    struct frame *stack;
    size_t depth, cap;
    size_t steps;
    uint64_t work;
};

static int push(struct join *j, const struct body_piece *v, size_t n, uint64_t skip,
                uint64_t take, struct err *e)
{
    /* A frame with nothing left is not come back to: chains need no depth. */
    if (j->depth > 0 && j->stack[j->depth - 1].take == 0)
        j->depth--;
    if (j->depth == j->cap) {
        size_t cap = j->cap ? j->cap * 2 : 32;
        struct frame *stack = realloc(j->stack, cap * sizeof *stack);
        if (!stack)
            return err_set(e, ERR_NOMEM, "body: out of memory");
        j->stack = stack;
        j->cap = cap;
    }
    j->stack[j->depth++] = (struct frame){v, n, skip, take};
    return 0;
}

/* Bytes [skip, skip+take) of one piece: copied, or put on the stack. */
static int join_piece(struct join *j, const struct body_piece *p, uint64_t skip,
                      uint64_t take, struct buf *out, struct err *e)
{
    const struct body_store *s = j->s;

    if (p->kind == PIECE_OF) {
        const struct body_own *own = &s->own[p->ref];
        return push(j, s->pieces.v + own->first, own->count, p->at + skip, take, e);
    }
    j->work += skip + take;
    if (j->work > MOST_WORK)
        return err_set(e, ERR_LIMIT, "a body made of too many pieces");
    if (p->kind == PIECE_TEXT)
        return copy_text(s, p->at, skip, take, out, e);
    if (p->kind == PIECE_BASE64)
        return copy_base64(s, p->at, p->len, skip, take, out, e);
    struct blob *blob = &s->blobs.v[p->ref];
    if (verify_blob(s, blob, &j->work, e) < 0)
        return -1;
    if (blob->text)
        return copy_text(s, blob->at, skip, take, out, e);
    return copy_base64(s, blob->at, blob->size, skip, take, out, e);
}

static int join_all(struct join *j, struct buf *out, struct err *e)
{
    while (j->depth > 0) {
        struct frame *f = &j->stack[j->depth - 1];
        if (f->take == 0 || f->n == 0) {
            j->depth--;
            continue;
        }
        if (++j->steps > LIMIT_BODY_STEPS)
            return err_set(e, ERR_LIMIT, "a body made of too many pieces");
        const struct body_piece *p = f->v++;
        f->n--;
        if (f->skip >= p->len) {
            f->skip -= p->len;
            continue;
        }
        uint64_t skip = f->skip;
        uint64_t take = p->len - skip < f->take ? p->len - skip : f->take;
        f->skip = 0;
        f->take -= take;
        if (join_piece(j, p, skip, take, out, e) < 0)
            return -1;
    }
    return 0;
}

int body_join(const struct body_store *s, const struct body_piece *v, size_t n,
              struct buf *out, struct err *e)
{
    struct join j = {.s = s};
    uint64_t len = 0;
    int rc = -1;

    for (size_t i = 0; i < n; i++)
        len += v[i].len;
    if (len > out->max - out->len)
        return err_set(e, ERR_LIMIT, "a body of more than %zu bytes", out->max);
    (void)buf_room(out, (size_t)len); /* at once; a failure shows with the first copy */
    if (push(&j, v, n, 0, len, e) == 0)
        rc = join_all(&j, out, e);
    free(j.stack);
    return rc;
}

int body_join_own(const struct body_store *s, size_t i, struct buf *out, struct err *e)
{
    must(i < s->n_own);
    if (s->own[i].count == 0)
        return 0;
    return body_join(s, s->pieces.v + s->own[i].first, s->own[i].count, out, e);
}
