/* compare.c - see compare.h. */
#include "proxy/compare.h"

#include "base/fsx.h"
#include "base/json.h"
#include "base/limits.h"
#include "tape/miss.h"

#include <stdlib.h>
#include <string.h>

/* The canonical text of a JSON file; the bytes of any other. */
static void canonical(const struct buf *bytes, struct buf *out)
{
    yyjson_doc *doc = NULL;
    struct err e;

    if (json_read(&doc, buf_cstr(bytes), bytes->len, &e) == 0)
        json_canonical(yyjson_doc_get_root(doc), out);
    else
        buf_add(out, bytes->data, bytes->len);
    yyjson_doc_free(doc);
}

/* The two members of a verdict, of a run that is over or of this one. */
static void put_verdict(int64_t exit_code, const char *reason_code, struct buf *out)
{
    buf_fmt(out, "{\"exit_code\":%lld,\"reason_code\":", (long long)exit_code);
    json_bytes(out, reason_code, strlen(reason_code));
    buf_char(out, '}');
}

static bool read_verdict(const struct buf *bytes, struct buf *out)
{
    yyjson_doc *doc = NULL;
    struct err e;

    if (json_read(&doc, buf_cstr(bytes), bytes->len, &e) < 0)
        return false;
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *code = json_find(root, "exit_code"),
               *why = json_find(root, "reason_code");
    bool known = yyjson_is_int(code) && yyjson_is_str(why);
    if (known)
        put_verdict(yyjson_get_sint(code), yyjson_get_str(why), out);
    yyjson_doc_free(doc);
    return known;
}

static void put_differences(const char *path, const struct buf *was,
                            const struct buf *now, struct buf *report)
{
    struct miss_difference *list = NULL;
    size_t n = 0, more = 0;
    struct err e;

    if (miss_differences(buf_cstr(was), was->len, buf_cstr(now), now->len, &list, &n,
                         LIMIT_MISS_DIFFERENCES, &more, &e) < 0)
        return;
    for (size_t i = 0; i < n; i++)
        buf_fmt(report, "%s: %s: was %s, is %s\n", path,
                list[i].at[0] ? list[i].at : "(whole file)",
                list[i].recorded ? list[i].recorded : "absent",
                list[i].asked ? list[i].asked : "absent");
    if (more)
        buf_fmt(report, "%s: and %zu more\n", path, more);
    miss_differences_free(&list, &n);
}

static bool differ(const struct packed_member *m, const struct buf *was,
                   const struct buf *now, struct buf *report)
{
    if (was->len == now->len && memcmp(buf_cstr(was), buf_cstr(now), now->len) == 0)
        return false;
    put_differences(m->path, was, now, report);
    return true;
}

static int compare_file(const struct packed_member *m, const char *dir,
                        struct buf *report, size_t *differences, struct err *e)
{
    struct buf now = BUF_INIT(LIMIT_BUNDLE_MEMBER);
    struct buf was_text = BUF_INIT(LIMIT_BUNDLE_MEMBER * 2);
    struct buf now_text = BUF_INIT(LIMIT_BUNDLE_MEMBER * 2);
    char *path = fsx_join(dir, m->path + strlen("outputs/"));
    int rc = -1;

    if (!path) {
        err_set(e, ERR_NOMEM, "out of memory");
        goto out;
    }
    if (!fsx_exists(path)) {
        buf_fmt(report, "%s: in the bundle, not written by this run\n", m->path);
        ++*differences;
        rc = 0;
        goto out;
    }
    if (fsx_read_file(path, &now, e) < 0)
        goto out;
    canonical(&m->bytes, &was_text);
    canonical(&now, &now_text);
    if (buf_check(&was_text, m->path, e) < 0 || buf_check(&now_text, path, e) < 0)
        goto out;
    *differences += differ(m, &was_text, &now_text, report);
    rc = 0;
out:
    free(path);
    buf_free(&now);
    buf_free(&was_text);
    buf_free(&now_text);
    return rc;
}

int compare_outputs(const struct packed *p, const char *dir, int exit_code,
                    const char *reason_code, struct buf *report, size_t *differences,
                    struct err *e)
{
    struct buf was = BUF_INIT(KIB(4)), now = BUF_INIT(KIB(4));
    int rc = 0;

    *differences = 0;
    put_verdict(exit_code, reason_code, &now);
    for (const struct packed_member *m = NULL;
         rc == 0 && (m = packed_next_output(p, m));) {
        buf_reset(&was);
        if (strcmp(m->path, "outputs/run.json") != 0 &&
            strcmp(m->path, "outputs/summary.json") != 0)
            rc = compare_file(m, dir, report, differences, e);
        else if (read_verdict(&m->bytes, &was))
            *differences += differ(m, &was, &now, report);
    }
    buf_free(&was);
    buf_free(&now);
    return rc;
}
