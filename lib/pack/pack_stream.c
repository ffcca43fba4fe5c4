/* pack_stream.c - see pack_stream.h. */
#include "pack/pack_stream.h"

#include "base/limits.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BLOCK KIB(128)
#define BLOCKS 8
#define INPUT KIB(64)
#define GZIP_WINDOW (15 + 16) /* zlib: the largest window, gzip wrapper */

struct block {
    size_t len;
    uint8_t bytes[BLOCK];
};

struct pack_stream {
    int fd;
    uint64_t max_source, max_decoded;

    /* The thread's own until it ends. */
    z_stream z;
    gz_header head;
    bool inflating; /* the gzip member has not ended */
    uint64_t source, decoded, trailing;
    struct digest_stream *file;
    size_t filled; /* bytes in the block being filled */
    uint8_t input[INPUT];

    /* Between the two, under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t made, taken; /* blocks, counted; made - taken are ready */
    size_t hashed;      /* of them, the first so many are in `content` */
    bool hashing;       /* one side is at the next of them */
    struct digest_stream *content;
    bool held;     /* the oldest ready block is with the caller */
    bool ended;    /* nothing comes after the ready blocks: the end, or a fault */
    bool unwanted; /* the caller takes no more */
    bool stop;     /* nor wants the digest */
    struct pack_fault fault;

    bool running, joined;
    pthread_t thread;
    struct block blocks[BLOCKS];
};

/* ---- the thread ---- */

/* Nothing follows. `why` PACK_OK is the end of the gzip member. */
static void end_stream(struct pack_stream *s, enum pack_refusal why, enum err_code code,
                       const char *text)
{
    s->inflating = false;
    pthread_mutex_lock(&s->lock);
    if (why != PACK_OK)
        (void)pack_fault_set(&s->fault, why, code, "%s", text);
    s->ended = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* A limit's number is the caller's, not the archive's. */
static void end_at_limit(struct pack_stream *s, enum pack_refusal why, const char *kind,
                         uint64_t limit)
{
    char text[128];

    (void)snprintf(text, sizeof text, "replay bundle exceeded %s limit of %llu", kind,
                   (unsigned long long)limit);
    end_stream(s, why, ERR_LIMIT, text);
}

static struct block *current(struct pack_stream *s)
{
    return &s->blocks[s->made % BLOCKS]; /* only this thread changes made */
}

/* Under the lock, which is let go meanwhile: hash the oldest block that is not yet. */
static void hash_one(struct pack_stream *s)
{
    const struct block *b = &s->blocks[s->hashed % BLOCKS];

    s->hashing = true;
    pthread_mutex_unlock(&s->lock);
    digest_stream_add(s->content, b->bytes, b->len);
    pthread_mutex_lock(&s->lock);
    s->hashing = false;
    s->hashed++;
    pthread_cond_broadcast(&s->changed);
}

/* Hand over the block being filled. When there is no free one, the other side has more
 * to do: hash for it while waiting. */
static void publish(struct pack_stream *s)
{
    if (s->filled == 0)
        return;
    current(s)->len = s->filled;
    s->filled = 0;
    pthread_mutex_lock(&s->lock);
    s->made++;
    pthread_cond_broadcast(&s->changed);
    while (s->made - s->taken == BLOCKS && !s->unwanted) {
        if (s->hashed < s->made && !s->hashing)
            hash_one(s);
        else
            pthread_cond_wait(&s->changed, &s->lock);
    }
    if (s->unwanted)
        s->inflating = false;
    pthread_mutex_unlock(&s->lock);
}

static void end_broken(struct pack_stream *s, int rc)
{
    const char *msg = s->z.msg ? s->z.msg : "";

    publish(s);
    if (rc == Z_MEM_ERROR)
        end_stream(s, PACK_UNREADABLE, ERR_NOMEM, "inflate: out of memory");
    else if (s->head.done != 1)
        end_stream(s, PACK_NOT_GZIP, ERR_FORMAT, "not a gzip file");
    else if (strcmp(msg, "incorrect data check") == 0 ||
             strcmp(msg, "incorrect length check") == 0)
        end_stream(s, PACK_GZIP_CHECKSUM, ERR_FORMAT,
                   "gzip checksum or length is wrong: the file is damaged");
    else
        end_stream(s, PACK_GZIP_DATA, ERR_FORMAT, "gzip data is damaged");
}

/* Inflate what was read; bytes behind the gzip member only count. */
static void inflate_input(struct pack_stream *s, size_t len)
{
    s->z.next_in = s->input;
    s->z.avail_in = (uInt)len;
    while (s->inflating && s->z.avail_in > 0) {
        size_t room = BLOCK - s->filled;
        s->z.next_out = current(s)->bytes + s->filled;
        s->z.avail_out = (uInt)room;
        int rc = inflate(&s->z, Z_NO_FLUSH);
        size_t got = room - s->z.avail_out;
        s->filled += got;
        s->decoded += got;
        if (s->decoded > s->max_decoded) {
            end_at_limit(s, PACK_LIMIT_DECODED, "decoded bytes", s->max_decoded);
        } else if (rc == Z_STREAM_END) {
            publish(s);
            end_stream(s, PACK_OK, ERR_NONE, "");
        } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
            end_broken(s, rc);
        } else if (s->filled == BLOCK) {
            publish(s);
        }
    }
    s->trailing += s->z.avail_in;
}

static void end_of_file(struct pack_stream *s)
{
    if (!s->inflating)
        return;
    publish(s);
    if (s->source < 2)
        end_stream(s, PACK_NOT_GZIP, ERR_FORMAT, "not a gzip file");
    else
        end_stream(s, PACK_TRUNCATED, ERR_FORMAT, "the gzip stream is cut short");
}

static bool stopped(struct pack_stream *s)
{
    pthread_mutex_lock(&s->lock);
    bool stop = s->stop;
    if (s->unwanted)
        s->inflating = false;
    pthread_mutex_unlock(&s->lock);
    return stop;
}

static void *run(void *arg)
{
    struct pack_stream *s = arg;

    while (!stopped(s)) {
        /* One byte over the limit is enough to know. */
        uint64_t left = s->max_source + 1 - s->source;
        ssize_t n = read(s->fd, s->input, left < INPUT ? (size_t)left : INPUT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            char text[128];
            (void)snprintf(text, sizeof text, "read: %s", strerror(errno));
            digest_stream_free(&s->file);
            end_stream(s, PACK_UNREADABLE, ERR_IO, text);
            return NULL;
        }
        if (n == 0) {
            end_of_file(s);
            return NULL;
        }
        s->source += (uint64_t)n;
        if (s->source > s->max_source) {
            digest_stream_free(&s->file);
            end_at_limit(s, PACK_LIMIT_SOURCE, "source bytes", s->max_source);
            return NULL;
        }
        digest_stream_add(s->file, s->input, (size_t)n);
        inflate_input(s, (size_t)n);
    }
    return NULL;
}

/* ---- the caller's side ---- */

int pack_stream_open(struct pack_stream **out, int fd, uint64_t max_source,
                     uint64_t max_decoded, struct err *e)
{
    struct pack_stream *s = calloc(1, sizeof *s);

    *out = s;
    if (!s)
        return err_set(e, ERR_NOMEM, "out of memory");
    s->fd = fd;
    s->max_source = max_source;
    s->max_decoded = max_decoded;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->file = digest_stream_new();
    s->content = digest_stream_new();
    s->inflating = inflateInit2(&s->z, GZIP_WINDOW) == Z_OK &&
                   inflateGetHeader(&s->z, &s->head) == Z_OK;
    if (!s->file || !s->content || !s->inflating)
        err_set(e, ERR_NOMEM, "out of memory");
    else if (pthread_create(&s->thread, NULL, run, s) != 0)
        err_set(e, ERR_NOMEM, "cannot start a thread");
    else
        s->running = true;
    if (s->running)
        return 0;
    pack_stream_close(out);
    return -1;
}

/* Under the lock: the caller is done with its block, which must be hashed before it is
 * filled again. */
static void give_back(struct pack_stream *s)
{
    while (s->hashed == s->taken) {
        if (!s->hashing)
            hash_one(s);
        else
            pthread_cond_wait(&s->changed, &s->lock);
    }
    s->held = false;
    s->taken++;
    pthread_cond_broadcast(&s->changed);
}

int pack_stream_next(struct pack_stream *s, const uint8_t **data, size_t *len,
                     struct pack_fault *f)
{
    int rc = 1;

    pthread_mutex_lock(&s->lock);
    if (s->held)
        give_back(s);
    while (s->made == s->taken && !s->ended)
        pthread_cond_wait(&s->changed, &s->lock);
    if (s->made > s->taken) {
        const struct block *b = &s->blocks[s->taken % BLOCKS];
        s->held = true;
        *data = b->bytes;
        *len = b->len;
    } else if (s->fault.why == PACK_OK) {
        rc = 0;
    } else {
        rc = pack_fault_set(f, s->fault.why, s->fault.e.code, "%s", s->fault.e.msg);
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* The thread reads on to the end of the file, or leaves at once. */
static void join(struct pack_stream *s, bool at_once)
{
    if (!s->running || s->joined)
        return;
    pthread_mutex_lock(&s->lock);
    s->unwanted = true;
    s->stop = at_once;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    s->joined = true;
}

int pack_stream_finish(struct pack_stream *s, struct pack_digests *out,
                       struct pack_fault *f)
{
    join(s, false);
    *out = (struct pack_digests){.file_size = s->source,
                                 .content_size = s->decoded,
                                 .trailing = s->trailing,
                                 .has_file = s->file != NULL};
    if (s->file)
        digest_stream_text(s->file, out->file);
    digest_stream_free(&s->file);
    if (s->content)
        digest_stream_text(s->content, out->content);
    digest_stream_free(&s->content);
    if (out->has_file)
        return 0;
    return pack_fault_set(f, s->fault.why, s->fault.e.code, "%s", s->fault.e.msg);
}

void pack_stream_close(struct pack_stream **s)
{
    if (!*s)
        return;
    join(*s, true);
    (void)inflateEnd(&(*s)->z);
    digest_stream_free(&(*s)->file);
    digest_stream_free(&(*s)->content);
    pthread_cond_destroy(&(*s)->changed);
    pthread_mutex_destroy(&(*s)->lock);
    free(*s);
    *s = NULL;
}
