/* source.c - see source.h. */
#include "bundler/source.h"

#include "base/fsx.h"
#include "bundler/newest.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Where the file of a role is looked for below the root, first found first. */
static const struct slot {
    size_t flag;      /* offset in the plan */
    const char *dest; /* in the bundle; ends with '/': with its own name in there */
    const char *places[5];
} slots[SOURCE_ROLES] = {
    [SOURCE_RUN] = {offsetof(struct bundle_plan, run),
                    "outputs/run.json",
                    {"run.json", ".assay/run.json", "outputs/run.json"}},
    [SOURCE_SUMMARY] = {offsetof(struct bundle_plan, summary),
                        "outputs/summary.json",
                        {"summary.json", ".assay/summary.json", "outputs/summary.json"}},
    [SOURCE_JUNIT] = {offsetof(struct bundle_plan, junit),
                      "outputs/junit.xml",
                      {"junit.xml", ".assay/reports/junit.xml", "outputs/junit.xml"}},
    [SOURCE_SARIF] = {offsetof(struct bundle_plan, sarif),
                      "outputs/sarif.json",
                      {"sarif.json", ".assay/reports/sarif.json", "outputs/sarif.json"}},
    [SOURCE_CONFIG] = {offsetof(struct bundle_plan, config),
                       "files/",
                       {"eval.yaml", "assay.yaml", "retape.json"}},
    [SOURCE_TRACE] = {offsetof(struct bundle_plan, trace),
                      "files/",
                      {"trace.jsonl", "traces/ci.jsonl", "traces/run.jsonl",
                       "traces/trace.jsonl"}},
    [SOURCE_POLICY] = {offsetof(struct bundle_plan, policy), "files/", {NULL}},
    [SOURCE_BASELINE] = {offsetof(struct bundle_plan, baseline), "files/", {NULL}},
};

static const char *flag_of(const struct bundle_plan *plan, enum source_role role)
{
    return *(const char *const *)(const void *)((const char *)plan + slots[role].flag);
}

static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- the root ---- */

/* The folder a run.json belongs to. retape itself writes outputs/run.json; the run is
 * then what lies around that folder. */
static char *folder_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    size_t len = slash ? (size_t)(slash - file) : 0;
    static const char outputs[] = "outputs";
    size_t n = sizeof outputs - 1;

    if (slash == file)
        return strdup("/");
    if (len >= n && memcmp(file + len - n, outputs, n) == 0 &&
        (len == n || file[len - n - 1] == '/'))
        len = len == n ? 0 : len - n - 1;
    return len ? strndup(file, len) : strdup(".");
}

static int root_from(struct source *s, const char *from, struct err *e)
{
    s->method = "explicit-from";
    if (is_folder(from)) {
        s->root = strdup(from);
    } else if (is_file(from)) {
        const char *slash = strrchr(from, '/');
        bool run = strcmp(slash ? slash + 1 : from, "run.json") == 0;
        s->root = folder_of(from);
        s->run_json = run ? strdup(from) : NULL;
    } else {
        return err_set(e, ERR_CONFIG, "--from %s: no such file or folder", from);
    }
    return s->root ? 0 : err_set(e, ERR_NOMEM, "out of memory");
}

/* 1 when there is a folder of that run. */
static int root_of_run(struct source *s, const char *id, struct err *e)
{
    static const char *const starts[] = {".assay/", ".assay/run_", ".assay/runs/"};
    int found = 0;

    for (size_t i = 0; !found && i < COUNT_OF(starts); i++) {
        struct buf path = BUF_INIT(PATH_MAX);
        buf_str(&path, starts[i]);
        buf_str(&path, id);
        if (is_folder(buf_cstr(&path))) {
            s->method = "run-id";
            s->root = buf_take(&path);
            found = s->root ? 1 : err_set(e, ERR_NOMEM, "out of memory");
        }
        buf_free(&path);
    }
    return found;
}

static bool has_inputs(const struct bundle_plan *plan)
{
    bool any = plan->cassettes || (plan->files && plan->files[0]);

    for (enum source_role r = 0; r < SOURCE_ROLES; r++)
        any |= flag_of(plan, r) != NULL;
    return any;
}

static int choose_root(struct source *s, const struct bundle_plan *plan, struct err *e)
{
    char *newest = NULL;

    if (plan->from)
        return root_from(s, plan->from, e);
    if (plan->run_id) {
        int found = root_of_run(s, plan->run_id, e);
        if (found)
            return found < 0 ? -1 : 0;
        if (!has_inputs(plan))
            return err_set(e, ERR_CONFIG,
                           "run %s: no folder .assay/%s, .assay/run_%s or "
                           ".assay/runs/%s; name the inputs (--from, --cassettes, ...)",
                           plan->run_id, plan->run_id, plan->run_id, plan->run_id);
    } else if (newest_run(".", &newest, e) < 0) {
        return -1;
    }
    s->method = newest ? "mtime-latest" : "cwd-fallback";
    s->root = newest ? folder_of(newest) : strdup(".");
    s->run_json = newest;
    return s->root ? 0 : err_set(e, ERR_NOMEM, "out of memory");
}

/* ---- files ---- */

/* malloc'ed path of a role's file in *out, or NULL when there is none. */
static int find_file(const struct source *s, const struct bundle_plan *plan,
                     enum source_role role, char **out, struct err *e)
{
    const char *flag = flag_of(plan, role);

    *out = NULL;
    if (!flag && role == SOURCE_RUN)
        flag = s->run_json;
    if (flag) {
        *out = strdup(flag);
        return *out ? 0 : err_set(e, ERR_NOMEM, "out of memory");
    }
    for (const char *const *place = slots[role].places; *place; place++) {
        *out = fsx_join(s->root, *place);
        if (!*out)
            return err_set(e, ERR_NOMEM, "out of memory");
        if (is_file(*out))
            return 0;
        free(*out);
        *out = NULL;
    }
    return 0;
}

/* Readers take the first .yaml, .yml or .json of files/ for the config. A policy or
 * baseline that would stand before it moves into a folder that comes after. */
static const char *folder_for(const struct source *s, enum source_role role,
                              const char *name)
{
    const char *config = s->dest[SOURCE_CONFIG];

    if (role != SOURCE_POLICY && role != SOURCE_BASELINE)
        return "files/";
    return config && strcmp(name, config + strlen("files/")) < 0 ? "files/with/"
                                                                 : "files/";
}

static int add_role(struct source *s, const struct bundle_plan *plan,
                    enum source_role role, struct err *e)
{
    struct buf dest = BUF_INIT(PATH_MAX);
    char *path = NULL;
    int rc = find_file(s, plan, role, &path, e);

    if (rc == 0 && path) {
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        if (strcmp(slots[role].dest, "files/") == 0)
            buf_fmt(&dest, "%s%s", folder_for(s, role, name), name);
        else
            buf_str(&dest, slots[role].dest);
        rc = buf_check(&dest, "path", e);
        if (rc == 0)
            rc = inputs_add(&s->inputs, path, buf_cstr(&dest), e);
        if (rc == 0 && !(s->dest[role] = strdup(s->inputs.v[s->inputs.n - 1].dest)))
            rc = err_set(e, ERR_NOMEM, "out of memory");
    }
    buf_free(&dest);
    free(path);
    return rc;
}

/* What replaying needs of retape's own settings goes along, whatever the config is. */
static int add_settings(struct source *s, struct err *e)
{
    char *path = fsx_join(s->root, "retape.json");
    int rc = path ? 0 : err_set(e, ERR_NOMEM, "out of memory");

    if (rc == 0 && is_file(path) && !inputs_find(&s->inputs, "files/retape.json"))
        rc = inputs_add_into(&s->inputs, path, "files", e);
    free(path);
    return rc;
}

static int add_cassettes(struct source *s, const struct bundle_plan *plan, struct err *e)
{
    const char *vcr = getenv("ASSAY_VCR_DIR");
    const char *const places[] = {"cassettes", ".assay/cassettes", ".assay/vcr",
                                  vcr && *vcr ? vcr : NULL};
    int rc = 0;

    if (plan->cassettes)
        return inputs_add_tree(&s->inputs, plan->cassettes, "cassettes", e);
    for (size_t i = 0; rc == 0 && i < COUNT_OF(places); i++) {
        if (!places[i])
            continue;
        char *dir =
            places[i][0] == '/' ? strdup(places[i]) : fsx_join(s->root, places[i]);
        if (!dir)
            return err_set(e, ERR_NOMEM, "out of memory");
        if (is_folder(dir))
            rc = inputs_add_tree(&s->inputs, dir, "cassettes", e);
        free(dir);
    }
    return rc;
}

/* "SRC" or "SRC=DEST"; a file whose own name has a '=' in it is a SRC. */
static int add_named(struct source *s, const char *word, struct err *e)
{
    const char *equals = strrchr(word, '=');

    if (!equals || is_file(word))
        return inputs_add_into(&s->inputs, word, "files", e);
    char *path = strndup(word, (size_t)(equals - word));
    int rc = path ? inputs_add(&s->inputs, path, equals + 1, e)
                  : err_set(e, ERR_NOMEM, "out of memory");
    free(path);
    return rc;
}

int source_collect(struct source *out, const struct bundle_plan *plan, struct err *e)
{
    *out = (struct source){0};
    if (choose_root(out, plan, e) < 0)
        return -1;
    for (enum source_role r = 0; r < SOURCE_ROLES; r++)
        if (add_role(out, plan, r, e) < 0)
            return -1;
    if (add_settings(out, e) < 0 || add_cassettes(out, plan, e) < 0)
        return -1;
    for (const char *const *word = plan->files; word && *word; word++)
        if (add_named(out, *word, e) < 0)
            return -1;
    return inputs_settle(&out->inputs, e);
}

void source_fini(struct source *s)
{
    free(s->root);
    free(s->run_json);
    for (size_t i = 0; i < SOURCE_ROLES; i++)
        free(s->dest[i]);
    inputs_fini(&s->inputs);
    *s = (struct source){0};
}

const struct input *source_input(const struct source *s, enum source_role role)
{
    return s->dest[role] ? inputs_find(&s->inputs, s->dest[role]) : NULL;
}

int source_label(const struct source *s, bool absolute, char **out, struct err *e)
{
    char here[PATH_MAX], there[PATH_MAX];

    *out = NULL;
    if (!realpath(".", here) || !realpath(s->root, there))
        return err_set(e, ERR_IO, "%s: %s", s->root, strerror(errno));
    size_t n = strcmp(here, "/") == 0 ? 0 : strlen(here);
    if (absolute)
        *out = strdup(there);
    else if (strcmp(here, there) == 0)
        *out = strdup(".");
    else if (strncmp(here, there, n) == 0 && there[n] == '/')
        *out = strdup(there + n + 1);
    else
        *out = strdup(strrchr(there, '/') + 1);
    return *out ? 0 : err_set(e, ERR_NOMEM, "out of memory");
}
