/* page.c - see page.h. */
#include "proxy/page.h"

#include "base/fsx.h"
#include "base/limits.h"
#include "tape/excerpt.h"

#include <stdlib.h>
#include <unistd.h>

int page_flush(struct buf *out, struct err *e)
{
    struct buf safe = BUF_INIT(LIMIT_LINE);
    struct buf *text = out;
    int rc = buf_check(out, "output", e);

    if (rc == 0 && isatty(STDOUT_FILENO)) {
        excerpt_plain(&safe, buf_cstr(out), out->len);
        text = &safe;
        rc = buf_check(&safe, "output", e);
    }
    if (rc == 0)
        rc = fsx_write_all(STDOUT_FILENO, buf_cstr(text), text->len, e);
    buf_free(&safe);
    buf_reset(out);
    return rc;
}

int page_json(const yyjson_mut_doc *doc, struct err *e)
{
    struct buf out = BUF_INIT(LIMIT_LINE);
    size_t len = 0;
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, &len);
    int rc = -1;

    if (text) {
        buf_add(&out, text, len);
        buf_char(&out, '\n');
        rc = page_flush(&out, e);
    } else {
        err_set(e, ERR_NOMEM, "JSON output: out of memory");
    }
    free(text);
    buf_free(&out);
    return rc;
}
