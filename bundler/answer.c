/* answer.c - see answer.h. */
#include "bundler/answer.h"

#include "base/fsx.h"
#include "base/limits.h"
#include "tape/excerpt.h"

#include <string.h>
#include <unistd.h>

enum { QUOTE_MOST = 300 };

int answer_bytes(const struct buf *bytes, struct err *e)
{
    if (buf_check(bytes, "output", e) < 0)
        return -1;
    return fsx_write_all(STDOUT_FILENO, buf_cstr(bytes), bytes->len, e);
}

int answer_help(const struct cli_verb *verb, struct err *e)
{
    struct buf out = BUF_INIT(KIB(16));

    cli_help(verb, &out);
    int rc = answer_bytes(&out, e);
    buf_free(&out);
    return rc;
}

int answer_text(const struct findings *findings, const struct buf *text, struct err *e)
{
    struct buf said = BUF_INIT(MIB(4)), safe = BUF_INIT(MIB(64));
    int rc = buf_check(text, "output", e);

    if (findings)
        findings_text(findings, &said);
    excerpt_plain(&safe, buf_cstr(text), text->len);
    if (rc == 0)
        rc = fsx_write_all(STDERR_FILENO, buf_cstr(&said), said.len, e);
    if (rc == 0)
        rc = answer_bytes(&safe, e);
    buf_free(&said);
    buf_free(&safe);
    return rc;
}

void answer_quote(struct buf *out, const char *text)
{
    size_t from = out->len;

    excerpt_head(out, text, strlen(text), QUOTE_MOST);
    for (size_t i = from; i < out->len; i++)
        if ((unsigned char)out->data[i] < ' ')
            out->data[i] = ' ';
}
