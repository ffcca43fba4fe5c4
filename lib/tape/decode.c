/* decode.c - see decode.h. */
#include "tape/decode.h"

#include "base/limits.h"

#include <brotli/decode.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#define STEP KIB(32)         /* decoded bytes moved at a time */
#define ZSTD_WINDOW_LOG 23   /* RFC 9659: Content-Encoding zstd stays within 8 MB */
#define ZLIB_WINDOW 15       /* the largest; a sender may use less */
#define ZLIB_GZIP_WRAPPER 16 /* zlib: added to the window */

struct stage;

/* One coding. feed() appends all the bytes it can; it sets `ended` when the stream is
 * whole so far and clears it when another member or frame begins. */
struct coding {
    const char *name;
    int (*start)(struct stage *s, struct err *e);
    int (*feed)(struct stage *s, const uint8_t *in, size_t len, struct buf *out,
                struct err *e);
    void (*stop)(struct stage *s);
};

struct stage {
    const struct coding *coding;
    bool ended; /* at the end of a whole stream */
    bool begun; /* zlib: inflateInit done; zstd: inside its first frame or later */
    bool fed;   /* has seen a byte */
    z_stream z;
    uint8_t head[2]; /* deflate: kept until they tell zlib from raw */
    size_t n_head;
    BrotliDecoderState *br;
    ZSTD_DStream *zstd;
    struct buf mid; /* what goes to the next stage */
};

struct decode {
    struct stage stages[LIMIT_CODINGS]; /* in the order of decoding */
    size_t n;
    bool broken;
};

static int broken_stream(struct stage *s, const char *why, struct err *e)
{
    return err_set(e, ERR_FORMAT, "broken %s stream: %s", s->coding->name,
                   why ? why : "bad data");
}

/* ---- gzip and deflate ---- */

static int zlib_begin(struct stage *s, int window, struct err *e)
{
    if (inflateInit2(&s->z, window) != Z_OK)
        return err_set(e, ERR_NOMEM, "inflate: out of memory");
    s->begun = true;
    return 0;
}

static void zlib_stop(struct stage *s)
{
    if (s->begun)
        (void)inflateEnd(&s->z);
}

/* Inflate once over the input; `ended` when the stream ended, input may be left. */
static int zlib_run(struct stage *s, struct buf *out, struct err *e)
{
    uint8_t step[STEP];

    do {
        s->z.next_out = step;
        s->z.avail_out = sizeof step;
        int rc = inflate(&s->z, Z_SYNC_FLUSH);
        if (rc == Z_MEM_ERROR)
            return err_set(e, ERR_NOMEM, "inflate: out of memory");
        if (rc == Z_NEED_DICT)
            return broken_stream(s, "needs a dictionary", e);
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
            return broken_stream(s, s->z.msg, e);
        buf_add(out, step, sizeof step - s->z.avail_out);
        if (buf_check(out, "decoded body", e) < 0)
            return -1;
        s->ended = rc == Z_STREAM_END;
    } while (!s->ended && s->z.avail_out == 0);
    return 0;
}

static void zlib_input(struct stage *s, const uint8_t **in, size_t *len)
{
    size_t n = *len < MIB(1) ? *len : MIB(1);

    s->z.next_in = (Bytef *)(uintptr_t)*in; /* zlib only reads it */
    s->z.avail_in = (uInt)n;
    *in += n;
    *len -= n;
}

static int gzip_start(struct stage *s, struct err *e)
{
    return zlib_begin(s, ZLIB_WINDOW + ZLIB_GZIP_WRAPPER, e);
}

/* RFC 1952 section 2.2: members simply follow one another. */
static int gzip_feed(struct stage *s, const uint8_t *in, size_t len, struct buf *out,
                     struct err *e)
{
    while (len > 0) {
        zlib_input(s, &in, &len);
        while (s->z.avail_in > 0) {
            if (s->ended) {
                (void)inflateReset(&s->z);
                s->ended = false;
            }
            if (zlib_run(s, out, e) < 0)
                return -1;
        }
    }
    return 0;
}

static int deflate_start(struct stage *s, struct err *e)
{
    (void)s;
    (void)e;
    return 0;
}

/* RFC 9110 section 8.4.1.2 means zlib, but some senders leave its header out. */
static bool is_zlib_header(const uint8_t head[2])
{
    return (head[0] & 15) == Z_DEFLATED && head[0] >> 4 <= 7 &&
           (head[0] << 8 | head[1]) % 31 == 0;
}

static int deflate_feed(struct stage *s, const uint8_t *in, size_t len, struct buf *out,
                        struct err *e)
{
    if (!s->begun) {
        for (; len > 0 && s->n_head < sizeof s->head; len--)
            s->head[s->n_head++] = *in++;
        if (s->n_head < sizeof s->head)
            return 0;
        if (zlib_begin(s, is_zlib_header(s->head) ? ZLIB_WINDOW : -ZLIB_WINDOW, e) < 0)
            return -1;
        s->z.next_in = s->head;
        s->z.avail_in = sizeof s->head;
        if (zlib_run(s, out, e) < 0)
            return -1;
    }
    while (len > 0) {
        if (s->ended)
            return broken_stream(s, "bytes after its end", e);
        zlib_input(s, &in, &len);
        if (zlib_run(s, out, e) < 0)
            return -1;
        if (s->z.avail_in > 0)
            return broken_stream(s, "bytes after its end", e);
    }
    return 0;
}

/* ---- br ---- */

static int br_start(struct stage *s, struct err *e)
{
    s->br = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    return s->br ? 0 : err_set(e, ERR_NOMEM, "brotli: out of memory");
}

static int br_feed(struct stage *s, const uint8_t *in, size_t len, struct buf *out,
                   struct err *e)
{
    uint8_t step[STEP];
    BrotliDecoderResult rc;

    if (s->ended)
        return len ? broken_stream(s, "bytes after its end", e) : 0;
    do {
        uint8_t *next = step;
        size_t room = sizeof step;
        rc = BrotliDecoderDecompressStream(s->br, &len, &in, &room, &next, NULL);
        if (rc == BROTLI_DECODER_RESULT_ERROR)
            return broken_stream(
                s, BrotliDecoderErrorString(BrotliDecoderGetErrorCode(s->br)), e);
        buf_add(out, step, sizeof step - room);
        if (buf_check(out, "decoded body", e) < 0)
            return -1;
    } while (rc == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT);
    s->ended = rc == BROTLI_DECODER_RESULT_SUCCESS;
    return len ? broken_stream(s, "bytes after its end", e) : 0;
}

static void br_stop(struct stage *s)
{
    if (s->br)
        BrotliDecoderDestroyInstance(s->br);
}

/* ---- zstd ---- */

static int zstd_start(struct stage *s, struct err *e)
{
    s->zstd = ZSTD_createDStream();
    if (!s->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax,
                                                        ZSTD_WINDOW_LOG)))
        return err_set(e, ERR_NOMEM, "zstd: out of memory");
    return 0;
}

/* The library also reads formats from before RFC 8878, which are no content coding: a
 * frame starts with the one magic number, or with one of those to skip. */
static bool is_zstd_frame(uint8_t first)
{
    return first == 0x28 || (first & 0xf0) == 0x50;
}

/* RFC 8878 section 3: frames follow one another; zstd itself goes from one to the next.
 */
static int zstd_feed(struct stage *s, const uint8_t *in, size_t len, struct buf *out,
                     struct err *e)
{
    uint8_t step[STEP];
    ZSTD_inBuffer input = {in, len, 0};
    bool full = false;

    while (input.pos < input.size || full) {
        if (!full && (s->ended || !s->begun) && !is_zstd_frame(in[input.pos]))
            return broken_stream(s, "not a zstd frame", e);
        s->begun = true;
        ZSTD_outBuffer output = {step, sizeof step, 0};
        size_t rc = ZSTD_decompressStream(s->zstd, &output, &input);
        if (ZSTD_isError(rc))
            return broken_stream(s, ZSTD_getErrorName(rc), e);
        buf_add(out, step, output.pos);
        if (buf_check(out, "decoded body", e) < 0)
            return -1;
        s->ended = rc == 0;
        full = !s->ended && output.pos == output.size;
    }
    return 0;
}

static void zstd_stop(struct stage *s)
{
    (void)ZSTD_freeDStream(s->zstd);
}

/* ---- lists of codings ---- */

static const struct coding codings[] = {
    {"gzip", gzip_start, gzip_feed, zlib_stop},
    {"x-gzip", gzip_start, gzip_feed, zlib_stop},
    {"deflate", deflate_start, deflate_feed, zlib_stop},
    {"br", br_start, br_feed, br_stop},
    {"zstd", zstd_start, zstd_feed, zstd_stop},
};

static const struct coding *find_coding(const char *name, size_t len)
{
    for (size_t i = 0; i < COUNT_OF(codings); i++)
        if (strlen(codings[i].name) == len &&
            strncasecmp(codings[i].name, name, len) == 0)
            return &codings[i];
    return NULL;
}

/* The codings of a field value in the order they were applied, `identity` left out. */
static int parse_list(const char *list, const struct coding *found[LIMIT_CODINGS],
                      size_t *n, struct err *e)
{
    *n = 0;
    for (const char *p = list ? list : ""; *p;) {
        p += strspn(p, " \t,");
        size_t len = strcspn(p, " \t,");
        if (len == 0)
            break;
        if (len != strlen("identity") || strncasecmp(p, "identity", len) != 0) {
            if (*n == LIMIT_CODINGS)
                return err_set(e, ERR_LIMIT, "more than %d content codings",
                               LIMIT_CODINGS);
            found[*n] = find_coding(p, len);
            if (!found[(*n)++])
                return err_set(e, ERR_FORMAT, "unknown content coding");
        }
        p += len;
    }
    return 0;
}

bool decode_knows(const char *content_encoding)
{
    const struct coding *found[LIMIT_CODINGS];
    struct err e;
    size_t n;

    return parse_list(content_encoding, found, &n, &e) == 0;
}

int decode_new(struct decode **out, const char *content_encoding, struct err *e)
{
    const struct coding *found[LIMIT_CODINGS];
    size_t n;

    *out = NULL;
    if (parse_list(content_encoding, found, &n, e) < 0)
        return -1;
    struct decode *d = calloc(1, sizeof *d);
    if (!d)
        return err_set(e, ERR_NOMEM, "decoder: out of memory");
    for (size_t i = 0; i < n; i++) { /* the last coding applied is undone first */
        struct stage *s = &d->stages[d->n++];
        s->coding = found[n - 1 - i];
        if (s->coding->start(s, e) < 0) {
            decode_free(&d);
            return -1;
        }
    }
    *out = d;
    return 0;
}

void decode_free(struct decode **d)
{
    if (!*d)
        return;
    for (size_t i = 0; i < (*d)->n; i++) {
        struct stage *s = &(*d)->stages[i];
        s->coding->stop(s);
        buf_free(&s->mid);
    }
    free(*d);
    *d = NULL;
}

int decode_feed(struct decode *d, const void *data, size_t len, struct buf *out,
                struct err *e)
{
    if (d->broken)
        return err_set(e, ERR_FORMAT, "the encoded stream broke earlier");
    if (d->n == 0)
        buf_add(out, data, len);
    for (size_t i = 0; i < d->n && len > 0; i++) {
        struct stage *s = &d->stages[i];
        bool last = i + 1 == d->n;
        struct buf *to = last ? out : &s->mid;
        if (!last) {
            buf_reset(to);
            to->max = out->max; /* what is too much in the end is too much on the way */
        }
        s->fed = true;
        if (s->coding->feed(s, data, len, to, e) < 0) {
            d->broken = true;
            return -1;
        }
        data = to->data;
        len = to->len;
    }
    return buf_check(out, "decoded body", e);
}

int decode_end(struct decode *d, struct err *e)
{
    if (d->broken)
        return err_set(e, ERR_FORMAT, "the encoded stream broke earlier");
    /* Nothing at all is whole: an answer to HEAD names a coding and has no body. */
    for (size_t i = 0; i < d->n; i++)
        if (!d->stages[i].ended && (d->stages[i].fed || (i > 0 && d->stages[0].fed)))
            return broken_stream(&d->stages[i], "ends too early", e);
    return 0;
}

int decode_all(const char *content_encoding, const void *data, size_t len,
               struct buf *out, struct err *e)
{
    struct decode *d = NULL;
    int rc = -1;

    if (decode_new(&d, content_encoding, e) < 0)
        return -1;
    if (decode_feed(d, data, len, out, e) == 0)
        rc = decode_end(d, e);
    decode_free(&d);
    return rc;
}
