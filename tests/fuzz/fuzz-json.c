/* fuzz-json.c - any bytes: no crash, and canonical text is a fixed point. */
#include "base/json.h"
#include "base/limits.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool canonical(const char *text, size_t len, struct buf *out)
{
    yyjson_doc *doc = NULL;
    struct err e = {0};

    if (json_read(&doc, text, len, &e) < 0)
        return false;
    json_canonical(yyjson_doc_get_root(doc), out);
    must(!out->failed && json_is_utf8(out->data, out->len));
    struct buf people = BUF_INIT(MIB(64));
    json_pretty(yyjson_doc_get_root(doc), &people);
    buf_free(&people);
    yyjson_doc_free(doc);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf once = BUF_INIT(MIB(64)), twice = BUF_INIT(MIB(64));
    struct buf bytes = BUF_INIT(MIB(64));
    const char *text = (const char *)data;
    yyjson_doc *config = NULL;
    struct err e = {0};

    if (canonical(text, size, &once)) {
        must(canonical(once.data, once.len, &twice));
        must(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    }
    if (json_read_config(&config, text, size, &e) == 0)
        yyjson_doc_free(config);
    else
        must(e.code != ERR_NONE && e.msg[0]);
    /* Any bytes have a JSON form that reads back. */
    json_bytes(&bytes, text, size);
    buf_reset(&once);
    must(canonical(bytes.data, bytes.len, &once));
    must(once.len == bytes.len && memcmp(once.data, bytes.data, once.len) == 0);
    buf_free(&once);
    buf_free(&twice);
    buf_free(&bytes);
    return 0;
}
