/* summary.c - see summary.h. */
#include "proxy/summary.h"

#include "base/json.h"

#include <inttypes.h>
#include <string.h>

void summary_total(struct sessions *s, struct session_counts *out)
{
    *out = (struct session_counts){.miss = sessions_strays(s)};
    for (struct session *x = NULL; (x = sessions_next(s, x));) {
        struct session_counts c;
        session_counts(x, &c);
        out->exact += c.exact;
        out->normalised += c.normalised;
        out->miss += c.miss;
        out->unused += c.unused;
        out->recorded += c.recorded;
        out->failed += c.failed;
    }
}

static void put_counts(const struct session_counts *c, struct buf *out)
{
    buf_fmt(out,
            "\"exact\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"miss\":%" PRIu64
            ",\"normalised\":%" PRIu64 ",\"recorded\":%" PRIu64,
            c->exact, c->failed, c->miss, c->normalised, c->recorded);
}

void summary_session_json(const struct session *x, struct buf *out)
{
    struct session_counts c;

    session_counts(x, &c);
    buf_char(out, '{');
    put_counts(&c, out);
    buf_str(out, ",\"session\":");
    json_string(out, x->name, strlen(x->name));
    buf_fmt(out, ",\"unused\":%" PRIu64 "}", c.unused);
}

void summary_text(const struct shared *s, struct buf *out)
{
    for (struct session *x = NULL; (x = sessions_next(s->sessions, x));) {
        struct session_counts c;
        session_counts(x, &c);
        buf_fmt(out,
                "session %s: exact=%" PRIu64 " normalised=%" PRIu64 " miss=%" PRIu64
                " unused=%" PRIu64 " recorded=%" PRIu64 " failed=%" PRIu64 "\n",
                x->name, c.exact, c.normalised, c.miss, c.unused, c.recorded, c.failed);
    }
    uint64_t strays = sessions_strays(s->sessions);
    if (strays)
        buf_fmt(out, "for sessions without a cassette: miss=%" PRIu64 "\n", strays);
    uint64_t tunnelled = atomic_load(&s->tunnelled);
    if (tunnelled)
        buf_fmt(out, "tunnelled unread: %" PRIu64 " connection%s\n", tunnelled,
                tunnelled == 1 ? "" : "s");
    uint64_t live = atomic_load(&s->live);
    if (s->options->live)
        buf_fmt(out, "live: %" PRIu64 " request(s) forwarded to recorded hosts\n", live);
    uint64_t blocked = atomic_load(&s->blocked);
    if (blocked)
        buf_fmt(out, "blocked by egress.allow: %" PRIu64 "\n", blocked);
    buf_str(out, "protection: proxy only\n");
}

static void put_tunnels(const struct shared *s, struct buf *out)
{
    bool first = true;

    buf_char(out, '[');
    for (size_t i = 0; i < s->options->tunnel.n; i++) {
        buf_str(out, first ? "" : ",");
        json_string(out, s->options->tunnel.v[i], strlen(s->options->tunnel.v[i]));
        first = false;
    }
    for (const char *const *p = s->config->tunnel; *p; p++) {
        buf_str(out, first ? "" : ",");
        json_string(out, *p, strlen(*p));
        first = false;
    }
    buf_char(out, ']');
}

void summary_json(const struct shared *s, int exit_code, const char *reason_code,
                  struct buf *out)
{
    static const char *const modes[] = {"record", "replay", "auto"};
    struct session_counts total;
    bool first = true;

    summary_total(s->sessions, &total);
    buf_fmt(out,
            "{\"blocked\":%" PRIu64 ",\"exit_code\":%d,\"live\":%" PRIu64
            ",\"mode\":\"%s\",",
            (uint64_t)atomic_load(&s->blocked), exit_code,
            (uint64_t)atomic_load(&s->live), modes[s->options->mode]);
    buf_str(out, "\"protection\":\"proxy only\",\"reason_code\":");
    json_string(out, reason_code, strlen(reason_code));
    buf_fmt(out,
            ",\"requests\":%" PRIu64 ",\"run_id\":", (uint64_t)atomic_load(&s->requests));
    json_string(out, s->options->run_id, strlen(s->options->run_id));
    buf_str(out, ",\"seed\":");
    if (s->options->seed.given)
        buf_fmt(out, "\"%" PRIu64 "\"", s->options->seed.value);
    else
        buf_str(out, "null");
    buf_str(out, ",\"sessions\":[");
    for (struct session *x = NULL; (x = sessions_next(s->sessions, x));) {
        buf_str(out, first ? "" : ",");
        summary_session_json(x, out);
        first = false;
    }
    buf_str(out, "],\"total\":{");
    put_counts(&total, out);
    buf_fmt(out,
            ",\"unused\":%" PRIu64 "},\"tunnelled\":{\"connections\":%" PRIu64
            ",\"hosts\":",
            total.unused, (uint64_t)atomic_load(&s->tunnelled));
    put_tunnels(s, out);
    buf_str(out, "}}\n");
}

void summary_metrics(struct sessions *s, struct buf *out)
{
    struct session_counts c;
    size_t sessions = 0;

    for (struct session *x = NULL; (x = sessions_next(s, x));)
        sessions++;
    summary_total(s, &c);
    const struct {
        const char *name, *type;
        uint64_t value;
    } rows[] = {
        {"sessions", "gauge", sessions},
        {"exact_total", "counter", c.exact},
        {"normalised_total", "counter", c.normalised},
        {"miss_total", "counter", c.miss},
        {"unused", "gauge", c.unused},
        {"recorded_total", "counter", c.recorded},
        {"failed_total", "counter", c.failed},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        buf_fmt(out, "# TYPE retape_%s %s\nretape_%s %" PRIu64 "\n", rows[i].name,
                rows[i].type, rows[i].name, rows[i].value);
}
