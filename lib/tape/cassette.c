/* cassette.c - see cassette.h. */
#include "tape/cassette.h"

#include "base/fsx.h"
#include "tape/body.h"
#include "tape/delta.h"
#include "tape/line.h"
#include "tape/tape.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MOST 64
#define KEEP_BUFFER MIB(1) /* larger line buffers are given back after an append */
#define MOST_NEW_BLOBS 2   /* one append: a piece of the request, the response */
#define OPEN_TRIES 100     /* a file may be removed or replaced between open and lock */

struct cassette {
    pthread_mutex_t lock; /* everything below, once open */
    char *path;
    char *fresh_path; /* overwriting: where the new file is until its first exchange */
    int fd;           /* locked */
    int old_fd;       /* overwriting: the old file, locked until it is replaced */
    bool created;     /* this handle made the file */
    bool dirty;       /* lines since the last sync */
    uint64_t end;     /* where the next line goes */
    uint64_t last;    /* number of the last exchange */
    uint64_t appended;
    atomic_uint_least64_t count;
    struct blobs blobs;
    struct delta delta;
    struct buf out; /* the lines of one append */
};

/* ---- names ---- */

bool cassette_name_ok(const char *session)
{
    size_t len = strlen(session);

    if (len == 0 || len > NAME_MOST || !isalnum((unsigned char)session[0]))
        return false;
    for (size_t i = 1; i < len; i++)
        if (!isalnum((unsigned char)session[i]) && !strchr("._-", session[i]))
            return false;
    return true;
}

char *cassette_path(const char *dir, const char *session)
{
    size_t n = strlen(dir) + strlen(session) + sizeof "/.jsonl";
    char *path = malloc(n);

    if (path)
        (void)snprintf(path, n, "%s/%s.jsonl", dir, session);
    return path;
}

/* ---- files and locks ---- */

static int io_error(const char *what, const char *path, struct err *e)
{
    return err_set(e, ERR_IO, "%s %s: %s", what, path, strerror(errno));
}

static int take_lock(int fd, const char *path, struct err *e)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno == EWOULDBLOCK)
        return err_set(e, ERR_BUSY,
                       "%s: another recorder is writing this cassette; wait for it or "
                       "use another session",
                       path);
    return io_error("lock", path, e);
}

/* Is the open file still the one under its name? */
static bool is_current(int fd, const char *path)
{
    struct stat open_file, named;

    return fstat(fd, &open_file) == 0 && stat(path, &named) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/* Open or create, and lock. *created tells which. The last writer may remove or replace
 * the file between the two; then we hold a lock nobody sees, and try again. */
static int open_locked(const char *path, bool may_exist, int *fd, bool *created,
                       struct err *e)
{
    for (int i = 0; i < OPEN_TRIES; i++) {
        *created = true;
        *fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (*fd < 0 && errno == EEXIST && !may_exist)
            return err_set(e, ERR_EXISTS,
                           "%s exists; use --append or --overwrite, or another session",
                           path);
        if (*fd < 0 && errno == EEXIST) {
            *created = false;
            *fd = open(path, O_RDWR | O_CLOEXEC);
            if (*fd < 0 && errno == ENOENT)
                continue;
        }
        if (*fd < 0)
            return io_error("open", path, e);
        if (take_lock(*fd, path, e) < 0)
            break;
        if (is_current(*fd, path))
            return 0;
        (void)close(*fd);
        *fd = -1;
        err_set(e, ERR_BUSY, "%s: other recorders keep replacing it", path);
    }
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
    return -1;
}

/* Write all at an offset; on failure what was written is cut off again. */
static int write_at(struct cassette *c, const char *data, size_t len, struct err *e)
{
    uint64_t at = c->end;

    while (len > 0) {
        ssize_t n = pwrite(c->fd, data, len, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            io_error("write", c->path, e);
            /* Should this fail as well: the next append writes over what is left. */
            if (ftruncate(c->fd, (off_t)c->end) < 0)
                (void)err_in(e, "could not undo");
            return -1;
        }
        data += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    c->end = at;
    c->dirty = true;
    return 0;
}

static int write_header(struct cassette *c, const char *session, struct err *e)
{
    buf_reset(&c->out);
    line_put_header(&c->out, session);
    if (buf_check(&c->out, "header", e) < 0)
        return -1;
    return write_at(c, c->out.data, c->out.len, e);
}

/* ---- opening ---- */

/* A recorder that crashed in its very first write leaves the start of a header. */
static bool is_torn_header(int fd)
{
    static const char start[] = "{\"cassette\":1,\"created_at\":\"";
    char head[256];
    ssize_t n = pread(fd, head, sizeof head, 0);

    if (n <= 0 || (size_t)n == sizeof head || memchr(head, '\n', (size_t)n))
        return false;
    size_t least = (size_t)n < sizeof start - 1 ? (size_t)n : sizeof start - 1;
    return memcmp(head, start, least) == 0 && head[n - 1] != '}';
}

/* The last request bodies, so that a conversation goes on where it stopped. */
static int recall_bodies(struct cassette *c, const struct tape *t, struct err *e)
{
    size_t n = tape_count(t);

    for (size_t i = n > DELTA_BODIES ? n - DELTA_BODIES : 0; i < n; i++) {
        const struct body_own *own = &tape_bodies(t)->own[i];
        struct buf body = BUF_INIT(LIMIT_DECODED_BODY);
        struct exchange x;
        if (tape_load_head(t, i, &x, e) < 0)
            return -1;
        int rc = tape_load_request_body(t, i, &body, e);
        if (rc == 0) {
            struct digest_xxh3 scope = delta_scope(x.method, x.url);
            struct delta_match m = delta_find(&c->delta, scope, body.data, body.len);
            delta_keep(&c->delta, scope, own->n, own->depth, &m, body.data, body.len);
        }
        buf_free(&body);
        exchange_fini(&x);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int recall_blobs(struct cassette *c, const struct blobs *from, struct err *e)
{
    if (blobs_reserve(&c->blobs, from->n, e) < 0)
        return -1;
    for (size_t i = 0; i < from->n; i++)
        (void)blobs_add(&c->blobs, from->v[i].hash);
    return 0;
}

/* Learn what the file holds and cut what a crash left at its end. */
static int go_on(struct cassette *c, bool *warned, struct err *e)
{
    struct tape *t = NULL;
    bool torn = false;
    int rc = -1;

    if (tape_open(&t, c->path, &torn, e) < 0)
        return -1;
    size_t n = tape_count(t);
    struct tape_end end = tape_end(t);
    c->end = end.at;
    c->last = n ? tape_entry(t, n - 1)->n : 0;
    c->count = n;
    if (recall_blobs(c, &tape_bodies(t)->blobs, e) < 0 || recall_bodies(c, t, e) < 0)
        goto out;
    if (torn && ftruncate(c->fd, (off_t)c->end) < 0) {
        io_error("cut the torn last line of", c->path, e);
        goto out;
    }
    *warned = torn;
    if (end.no_lf && write_at(c, "\n", 1, e) < 0)
        goto out;
    rc = 0;
out:
    tape_close(&t);
    return rc;
}

static int open_append(struct cassette *c, const char *session, bool *warned,
                       struct err *e)
{
    struct stat st;

    if (open_locked(c->path, true, &c->fd, &c->created, e) < 0)
        return -1;
    if (fstat(c->fd, &st) < 0)
        return io_error("open", c->path, e);
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_FORMAT, "%s: not a regular file", c->path);
    if (is_torn_header(c->fd)) {
        if (ftruncate(c->fd, 0) < 0)
            return io_error("cut the torn header of", c->path, e);
        *warned = true;
        st.st_size = 0;
    }
    return st.st_size == 0 ? write_header(c, session, e) : go_on(c, warned, e);
}

/* The old file stays as it is, locked, until the new one has its first exchange. */
static int open_overwrite(struct cassette *c, const char *session, struct err *e)
{
    size_t n = strlen(c->path) + sizeof ".new";

    if (open_locked(c->path, true, &c->fd, &c->created, e) < 0)
        return -1;
    if (!c->created) {
        c->old_fd = c->fd;
        c->fd = -1;
        c->fresh_path = malloc(n);
        if (!c->fresh_path)
            return err_set(e, ERR_NOMEM, "out of memory");
        (void)snprintf(c->fresh_path, n, "%s.new", c->path);
        /* The lock on the old file makes it ours; it may be left from a crash. */
        c->fd = open(c->fresh_path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                     0644);
        if (c->fd < 0)
            return io_error("create", c->fresh_path, e);
        if (take_lock(c->fd, c->fresh_path, e) < 0)
            return -1;
    }
    return write_header(c, session, e);
}

static int open_new(struct cassette *c, const char *session, struct err *e)
{
    if (open_locked(c->path, false, &c->fd, &c->created, e) < 0)
        return -1;
    return write_header(c, session, e);
}

int cassette_open(struct cassette **out, const char *dir, const char *session,
                  enum cassette_open_how how, bool *warned, struct err *e)
{
    bool ignored;
    int rc;

    *out = NULL;
    if (!warned)
        warned = &ignored;
    *warned = false;
    if (!cassette_name_ok(session))
        return err_set(e, ERR_USAGE,
                       "not a session name: 1 to %d of A-Z a-z 0-9 . _ -, the first a "
                       "letter or digit",
                       NAME_MOST);
    if (fsx_mkdirs(dir, 0755, e) < 0)
        return -1;
    struct cassette *c = calloc(1, sizeof *c);
    if (!c)
        return err_set(e, ERR_NOMEM, "out of memory");
    c->fd = c->old_fd = -1;
    c->out = BUF_INIT(3 * LIMIT_LINE);
    (void)pthread_mutex_init(&c->lock, NULL);
    c->path = cassette_path(dir, session);
    if (!c->path)
        rc = err_set(e, ERR_NOMEM, "out of memory");
    else if (how == CASSETTE_APPEND)
        rc = open_append(c, session, warned, e);
    else if (how == CASSETTE_OVERWRITE)
        rc = open_overwrite(c, session, e);
    else
        rc = open_new(c, session, e);
    if (rc < 0) {
        struct err ignored_too;
        c->dirty = false;
        (void)cassette_close(&c, &ignored_too);
        return -1;
    }
    *out = c;
    return 0;
}

/* ---- appending ---- */

/* Blobs of this append; known to the cassette only once they are in the file. */
struct staged {
    uint8_t hash[MOST_NEW_BLOBS][DIGEST_SHA256];
    size_t n;
};

/* A body, or a piece of one, as a part; its blob line goes to c->out when it is new. */
static void put_blob(struct cassette *c, struct staged *new, const char *data, size_t len,
                     struct buf *body)
{
    uint8_t hash[DIGEST_SHA256];
    char name[DIGEST_KEY_TEXT] = "sha256:";
    bool known;

    digest_sha256(data, len, hash);
    digest_hex(hash, sizeof hash, name + strlen(name));
    known = blobs_find(&c->blobs, hash) != NULL;
    for (size_t i = 0; i < new->n; i++)
        known |= memcmp(new->hash[i], hash, sizeof hash) == 0;
    if (!known) {
        must(new->n < MOST_NEW_BLOBS);
        memcpy(new->hash[new->n++], hash, sizeof hash);
        line_put_blob(&c->out, name, data, len);
    }
    buf_fmt(body, "{\"blob\":\"%s\"}", name);
}

static void put_body(struct cassette *c, struct staged *new, const char *data, size_t len,
                     struct buf *body)
{
    if (len < BODY_INLINE) {
        buf_char(body, '{');
        body_put(body, body_is_text(data, len), data, len);
        buf_char(body, '}');
    } else {
        buf_str(body, "{\"parts\":[");
        put_blob(c, new, data, len, body);
        buf_str(body, "]}");
    }
}

static void put_of(struct buf *body, size_t at, size_t len, uint64_t of)
{
    buf_fmt(body, "{\"at\":%zu,\"len\":%zu,\"of\":%llu}", at, len,
            (unsigned long long)of);
}

/* The start of an earlier body, what is new, and the earlier body's end. */
static void put_delta(struct cassette *c, struct staged *new, const struct delta_match *m,
                      const char *data, size_t len, struct buf *body)
{
    const char *middle = data + m->prefix;
    size_t n = len - m->prefix - m->suffix;

    buf_str(body, "{\"parts\":[");
    if (m->prefix)
        put_of(body, 0, m->prefix, m->with->of);
    if (m->prefix && n > 0)
        buf_char(body, ',');
    if (n > 0 && n < BODY_INLINE && body_is_text(middle, n))
        json_string(body, middle, n);
    else if (n > 0)
        put_blob(c, new, middle, n, body);
    if (m->suffix) {
        buf_str(body, m->prefix || n > 0 ? "," : "");
        put_of(body, m->with->len - m->suffix, m->suffix, m->with->of);
    }
    buf_str(body, "]}");
}

/* What the reader would refuse must not get into a file. */
static int check_exchange(const struct exchange *x, struct err *e)
{
    uint8_t key[DIGEST_SHA256];
    uint64_t sum = 0;

    must(x->method && x->url);
    for (size_t i = 0; i < x->n_chunks; i++)
        sum += x->chunks[i].len;
    if (strncmp(x->key, "sha256:", 7) != 0 ||
        digest_unhex(x->key + 7, strlen(x->key + 7), key, sizeof key) < 0)
        return err_set(e, ERR_FORMAT, "an exchange without a key");
    if (!line_is_token(x->method, strlen(x->method)) || !x->url[0])
        return err_set(e, ERR_FORMAT, "not an HTTP method and URL");
    if (x->status != 0 && (x->status < 100 || x->status > 999))
        return err_set(e, ERR_FORMAT, "status %d", x->status);
    if (x->status != 0 && x->chunks && sum != (x->has_res_body ? x->res_body.len : 0))
        return err_set(e, ERR_FORMAT, "chunks do not add up to the response body");
    if (x->req_body.len > LIMIT_DECODED_BODY || x->res_body.len > LIMIT_DECODED_BODY)
        return err_set(e, ERR_LIMIT, "a body of more than %zu bytes", LIMIT_DECODED_BODY);
    if (x->n_scrubbed > LIMIT_SCRUB_NAMES)
        return err_set(e, ERR_LIMIT, "more than %d rows of what was scrubbed",
                       LIMIT_SCRUB_NAMES);
    return 0;
}

/* The first exchange of a new file is in it: now it takes the old one's place. */
static int publish(struct cassette *c, struct err *e)
{
    if (!c->fresh_path)
        return 0;
    if (rename(c->fresh_path, c->path) < 0)
        return io_error("replace", c->path, e);
    free(c->fresh_path);
    c->fresh_path = NULL;
    (void)close(c->old_fd);
    c->old_fd = -1;
    return 0;
}

static int write_lines(struct cassette *c, struct err *e)
{
    uint64_t before = c->end;

    if (write_at(c, c->out.data, c->out.len, e) < 0)
        return -1;
    if (publish(c, e) < 0) {
        c->end = before;
        (void)!ftruncate(c->fd, (off_t)before);
        return -1;
    }
    return 0;
}

static int append(struct cassette *c, struct exchange *x, struct err *e)
{
    struct buf req = BUF_INIT(LIMIT_LINE), res = BUF_INIT(LIMIT_LINE);
    const char *data = buf_cstr(&x->req_body);
    size_t len = x->has_req_body ? x->req_body.len : 0;
    struct digest_xxh3 scope = delta_scope(x->method, x->url);
    struct delta_match m = delta_find(&c->delta, scope, data, len);
    uint32_t depth = m.with ? m.with->depth + 1 : 0;
    struct staged new = {.n = 0};
    int rc = -1;

    x->req_xxh3 = digest_xxh3(data, len);
    buf_reset(&c->out);
    if (m.with)
        put_delta(c, &new, &m, data, len, &req);
    else if (x->has_req_body)
        put_body(c, &new, data, len, &req);
    else
        buf_str(&req, "null");
    if (x->status != 0 && x->has_res_body)
        put_body(c, &new, buf_cstr(&x->res_body), x->res_body.len, &res);
    else
        buf_str(&res, "null");
    size_t line = c->out.len;
    line_put_exchange(&c->out, x, c->last + 1, &req, &res);
    if (buf_check(&req, "request body", e) < 0 ||
        buf_check(&res, "response body", e) < 0 ||
        buf_check(&c->out, "exchange", e) < 0 || blobs_reserve(&c->blobs, new.n, e) < 0)
        goto out;
    if (c->out.len - line > LIMIT_LINE) {
        err_set(e, ERR_LIMIT, "an exchange line of more than %zu bytes", LIMIT_LINE);
        goto out;
    }
    if (write_lines(c, e) < 0)
        goto out;
    for (size_t i = 0; i < new.n; i++)
        (void)blobs_add(&c->blobs, new.hash[i]);
    x->n = ++c->last;
    delta_keep(&c->delta, scope, x->n, depth, &m, data, len);
    c->appended++;
    c->count++;
    rc = 0;
out:
    buf_free(&req);
    buf_free(&res);
    if (c->out.cap > KEEP_BUFFER)
        buf_free(&c->out);
    return rc;
}

int cassette_append(struct cassette *c, struct exchange *x, struct err *e)
{
    if (check_exchange(x, e) < 0)
        return err_in(e, "%s", c->path);
    (void)pthread_mutex_lock(&c->lock);
    int rc = append(c, x, e);
    (void)pthread_mutex_unlock(&c->lock);
    return rc;
}

/* ---- syncing and closing ---- */

int cassette_sync(struct cassette *c, struct err *e)
{
    (void)pthread_mutex_lock(&c->lock);
    bool dirty = c->dirty;
    c->dirty = false;
    (void)pthread_mutex_unlock(&c->lock);
    if (!dirty || fdatasync(c->fd) == 0) /* appends go on meanwhile */
        return 0;
    io_error("sync", c->path, e);
    (void)pthread_mutex_lock(&c->lock);
    c->dirty = true;
    (void)pthread_mutex_unlock(&c->lock);
    return -1;
}

/* Remove what has no exchange, while the lock is still held. */
static bool remove_unused(struct cassette *c)
{
    if (c->appended > 0)
        return false;
    if (c->fresh_path && c->fd >= 0)
        (void)unlink(c->fresh_path);
    else if (c->created && c->fd >= 0 && is_current(c->fd, c->path))
        (void)unlink(c->path);
    else
        return false;
    return true;
}

int cassette_close(struct cassette **c, struct err *e)
{
    struct cassette *self = *c;
    int rc = 0;

    if (!self)
        return 0;
    if (!remove_unused(self))
        rc = cassette_sync(self, e);
    if (self->fd >= 0)
        (void)close(self->fd);
    if (self->old_fd >= 0)
        (void)close(self->old_fd);
    blobs_fini(&self->blobs);
    delta_fini(&self->delta);
    buf_free(&self->out);
    free(self->fresh_path);
    free(self->path);
    (void)pthread_mutex_destroy(&self->lock);
    free(self);
    *c = NULL;
    return rc;
}

uint64_t cassette_count(const struct cassette *c)
{
    return c->count;
}
