/*
 * load.c - a closed loop of one request over kept-alive connections.
 *
 *   load ADDRESS PORT REQUEST_FILE CONNECTIONS SECONDS
 *
 * Sends the bytes of REQUEST_FILE (head and body, as on the wire) over each connection,
 * again as soon as its answer is complete, and prints one line:
 *
 *   requests=N errors=N seconds=S first_byte_us=M total_us=M
 *
 * where M are medians. One thread, plain sockets, so that it costs less than any server
 * it measures. An answer that is not a 200 or cannot be framed counts as an error and
 * its connection is opened anew. Exits 1 when no request succeeded.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    HEAD_MAX = 16384,
    READ_SIZE = 262144,
    SAMPLES_MAX = 1 << 20,
    CONNECTIONS_MAX = 4096
};

enum frame { FRAME_HEAD, FRAME_LENGTH, FRAME_CHUNK_SIZE, FRAME_CHUNK, FRAME_LAST };

struct conn {
    int fd;
    size_t sent;
    enum frame frame;
    char head[HEAD_MAX + 1]; /* head, or a chunk-size or trailer line */
    size_t head_len;
    uint64_t left; /* bytes until the end of the body or chunk */
    bool got_byte;
    int64_t began_ns;
};

struct samples {
    uint32_t *us;
    size_t n;
};

static struct sockaddr_in server;
static char *request;
static size_t request_len;
static int epoll_fd;
static uint64_t requests, errors;
static struct samples first_byte, total;
static char scratch[READ_SIZE];

static int64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void sample(struct samples *s, int64_t since)
{
    if (s->n < SAMPLES_MAX)
        s->us[s->n++] = (uint32_t)((now_ns() - since) / 1000);
}

static void watch(struct conn *c, int how, uint32_t events)
{
    struct epoll_event ev = {.events = events, .data.ptr = c};

    if (epoll_ctl(epoll_fd, how, c->fd, &ev) < 0)
        die("epoll_ctl");
}

/* Push the rest of the request; wait for room only when the socket is full. */
static bool push(struct conn *c)
{
    bool was_waiting = c->sent > 0;

    while (c->sent < request_len) {
        ssize_t n = send(c->fd, request + c->sent, request_len - c->sent, MSG_NOSIGNAL);

        if (n < 0 && errno == EAGAIN) {
            watch(c, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
            return true;
        }
        if (n < 0)
            return false;
        c->sent += (size_t)n;
    }
    if (was_waiting)
        watch(c, EPOLL_CTL_MOD, EPOLLIN);
    return true;
}

static bool begin(struct conn *c)
{
    c->sent = 0;
    c->frame = FRAME_HEAD;
    c->head_len = 0;
    c->got_byte = false;
    c->began_ns = now_ns();
    return push(c);
}

static void start(struct conn *c)
{
    int one = 1;

    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&server, sizeof server) < 0)
        die("connect");
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    (void)fcntl(c->fd, F_SETFL, O_NONBLOCK);
    watch(c, EPOLL_CTL_ADD, EPOLLIN);
    if (!begin(c))
        die("send");
}

static void restart(struct conn *c)
{
    errors++;
    (void)close(c->fd);
    start(c);
}

/* The value of a header in a NUL-terminated head, or NULL. */
static const char *header(const char *head, const char *name)
{
    const char *at = strcasestr(head, name);

    return at ? at + strlen(name) : NULL;
}

static bool finish(struct conn *c)
{
    requests++;
    sample(&total, c->began_ns);
    return begin(c);
}

/* A whole head is in c->head: how is the body framed? */
static bool on_head(struct conn *c)
{
    const char *length = header(c->head, "\r\nContent-Length:");

    if (strncmp(c->head, "HTTP/1.1 200", 12) != 0)
        return false;
    if (header(c->head, "\r\nTransfer-Encoding: chunked")) {
        c->frame = FRAME_CHUNK_SIZE;
        c->head_len = 0;
        return true;
    }
    if (!length)
        return false;
    c->left = strtoull(length, NULL, 10);
    c->frame = FRAME_LENGTH;
    return c->left > 0 || finish(c);
}

/* A chunk-size line (or the line that ends a chunk or the trailers) is in c->head. */
static bool on_line(struct conn *c)
{
    if (c->frame == FRAME_LAST) {
        bool empty = c->head_len == 2;

        c->head_len = 0;
        return empty ? finish(c) : true;
    }
    c->left = strtoull(c->head, NULL, 16);
    c->head_len = 0;
    c->frame = c->left ? FRAME_CHUNK : FRAME_LAST;
    c->left += 2; /* the CRLF after the data */
    return true;
}

/* Collect bytes up to the end of a head or line; returns how many were used, 0: bad. */
static size_t collect(struct conn *c, const char *data, size_t len)
{
    const char *end = c->frame == FRAME_HEAD ? "\r\n\r\n" : "\r\n";
    size_t end_len = strlen(end);

    for (size_t i = 0; i < len; i++) {
        if (c->head_len == HEAD_MAX)
            return 0;
        c->head[c->head_len++] = data[i];
        if (c->head_len < end_len ||
            memcmp(c->head + c->head_len - end_len, end, end_len) != 0)
            continue;
        c->head[c->head_len] = '\0';
        return (c->frame == FRAME_HEAD ? on_head(c) : on_line(c)) ? i + 1 : 0;
    }
    return len;
}

static bool consume(struct conn *c, const char *data, size_t len)
{
    while (len > 0) {
        size_t used;

        if (c->frame == FRAME_LENGTH || c->frame == FRAME_CHUNK) {
            used = c->left < len ? (size_t)c->left : len;
            c->left -= used;
            if (c->left == 0 && c->frame == FRAME_CHUNK)
                c->frame = FRAME_CHUNK_SIZE;
            else if (c->left == 0 && !finish(c))
                return false;
        } else {
            used = collect(c, data, len);
            if (used == 0)
                return false;
        }
        data += used;
        len -= used;
    }
    return true;
}

static void on_ready(struct conn *c, uint32_t events)
{
    ssize_t n;

    if ((events & EPOLLOUT) && !push(c)) {
        restart(c);
        return;
    }
    if (!(events & ~(uint32_t)EPOLLOUT))
        return;
    n = recv(c->fd, scratch, sizeof scratch, 0);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n > 0 && !c->got_byte) {
        c->got_byte = true;
        sample(&first_byte, c->began_ns);
    }
    if (n <= 0 || !consume(c, scratch, (size_t)n))
        restart(c);
}

static void read_request(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) < 0)
        die(path);
    request_len = (size_t)st.st_size;
    request = malloc(request_len + 1);
    if (!request || read(fd, request, request_len) != st.st_size)
        die(path);
    (void)close(fd);
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static uint32_t median(struct samples *s)
{
    if (s->n == 0)
        return 0;
    qsort(s->us, s->n, sizeof *s->us, by_size);
    return s->us[s->n / 2];
}

static double run(struct conn *conns, size_t n, double seconds)
{
    struct epoll_event events[64];
    int64_t began = now_ns(), until = began + (int64_t)(seconds * 1e9);

    for (size_t i = 0; i < n; i++)
        start(&conns[i]);
    while (now_ns() < until) {
        int ready = epoll_wait(epoll_fd, events, 64, 100);

        for (int i = 0; i < ready; i++)
            on_ready(events[i].data.ptr, events[i].events);
    }
    return (double)(now_ns() - began) / 1e9;
}

int main(int argc, char **argv)
{
    struct conn *conns;
    double seconds;
    size_t n;

    if (argc != 6) {
        fprintf(stderr, "usage: load ADDRESS PORT REQUEST_FILE CONNECTIONS SECONDS\n");
        return 2;
    }
    server.sin_family = AF_INET;
    server.sin_port = htons((uint16_t)strtoul(argv[2], NULL, 10));
    n = strtoul(argv[4], NULL, 10);
    if (inet_pton(AF_INET, argv[1], &server.sin_addr) != 1 || n < 1 ||
        n > CONNECTIONS_MAX) {
        fprintf(stderr, "load: an IPv4 address and 1 to %d connections\n",
                CONNECTIONS_MAX);
        return 2;
    }
    read_request(argv[3]);
    conns = calloc(n, sizeof *conns);
    first_byte.us = calloc(SAMPLES_MAX, sizeof(uint32_t));
    total.us = calloc(SAMPLES_MAX, sizeof(uint32_t));
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!conns || !first_byte.us || !total.us || epoll_fd < 0)
        die("start");
    seconds = run(conns, n, strtod(argv[5], NULL));
    printf("requests=%" PRIu64 " errors=%" PRIu64 " seconds=%.3f first_byte_us=%" PRIu32
           " total_us=%" PRIu32 "\n",
           requests, errors, seconds, median(&first_byte), median(&total));
    return requests > 0 ? 0 : 1;
}
