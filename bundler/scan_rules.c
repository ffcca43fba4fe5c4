/* scan_rules.c - see scan_rules.h: making them, and reading --rules FILE. */
#include "bundler/scan_rules.h"

#include "base/fsx.h"
#include "base/json.h"
#include "base/limits.h"
#include "bundler/scan_assay.h"

#include <stdlib.h>
#include <string.h>

/* A text member that must be there, without NUL. */
static int take_text(yyjson_val *rule, const char *key, const char **out, struct err *e)
{
    yyjson_val *v = json_find(rule, key);

    *out = yyjson_get_str(v);
    if (!*out || strlen(*out) != yyjson_get_len(v))
        return err_set(e, ERR_CONFIG, "\"%s\" must be there and a text", key);
    return 0;
}

static int check_keys(yyjson_val *rule, struct err *e)
{
    size_t i, n;
    yyjson_val *key, *value;

    if (!yyjson_is_obj(rule))
        return err_set(e, ERR_CONFIG, "must be an object {\"name\", \"regex\"}");
    yyjson_obj_foreach(rule, i, n, key, value)
    {
        if (!yyjson_equals_str(key, "name") && !yyjson_equals_str(key, "regex"))
            return err_set(e, ERR_CONFIG,
                           "unknown key \"%.64s\"; there are name and regex",
                           yyjson_get_str(key));
    }
    return 0;
}

static int read_rule(yyjson_val *rule, const struct secrets_extra *before,
                     size_t n_before, struct secrets_extra *out, struct err *e)
{
    if (check_keys(rule, e) < 0 || take_text(rule, "name", &out->name, e) < 0 ||
        take_text(rule, "regex", &out->regex, e) < 0)
        return -1;
    if (strlen(out->regex) > LIMIT_REGEX)
        return err_set(e, ERR_LIMIT, "regex longer than %d bytes", LIMIT_REGEX);
    for (size_t i = 0; i < n_before; i++)
        if (strcmp(before[i].name, out->name) == 0)
            return err_set(e, ERR_CONFIG, "the name stands at rule %zu already", i + 1);
    return 0;
}

/* The array of a rules file; `extra` has room for LIMIT_SCRUB_PATTERNS. */
static int read_rules(yyjson_val *root, struct secrets_extra *extra, size_t *n_extra,
                      struct err *e)
{
    size_t i, n;
    yyjson_val *rule;

    if (!yyjson_is_arr(root))
        return err_set(e, ERR_CONFIG, "must be an array of {\"name\", \"regex\"}");
    if (yyjson_arr_size(root) > LIMIT_SCRUB_PATTERNS)
        return err_set(e, ERR_LIMIT, "more than %d rules", LIMIT_SCRUB_PATTERNS);
    yyjson_arr_foreach(root, i, n, rule)
    {
        if (read_rule(rule, extra, i, &extra[i], e) < 0)
            return err_in(e, "rule %zu", i + 1);
    }
    *n_extra = n;
    return 0;
}

static int add_secrets(struct scan_rules *r, const char *path, struct err *e)
{
    struct secrets_extra extra[LIMIT_SCRUB_PATTERNS];
    struct buf text = BUF_INIT(LIMIT_SCAN_RULES_FILE);
    yyjson_doc *doc = NULL;
    size_t n = 0;
    int rc = -1;

    if (!path)
        return secrets_new(&r->secrets, NULL, 0, e);
    if (fsx_read_file(path, &text, e) < 0)
        goto out;
    if (json_read_config(&doc, buf_cstr(&text), text.len, e) < 0 ||
        read_rules(yyjson_doc_get_root(doc), extra, &n, e) < 0 ||
        secrets_new(&r->secrets, extra, n, e) < 0) {
        err_in(e, "%.200s", path);
        goto out;
    }
    rc = 0;
out:
    yyjson_doc_free(doc);
    buf_free(&text);
    return rc;
}

int scan_rules_new(struct scan_rules **out, const char *rules_file, struct err *e)
{
    struct scan_rules *r = calloc(1, sizeof *r);

    if (!r)
        return err_set(e, ERR_NOMEM, "secret rules: out of memory");
    scan_assay_filter(&r->assay);
    if (add_secrets(r, rules_file, e) < 0) {
        scan_rules_free(&r);
        return -1;
    }
    *out = r;
    return 0;
}

void scan_rules_free(struct scan_rules **rules)
{
    if (!*rules)
        return;
    secrets_free(&(*rules)->secrets);
    free(*rules);
    *rules = NULL;
}
