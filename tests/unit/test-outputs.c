/* test-outputs.c - run.json, summary.json and the footer, byte for byte. */
#include "base/fsx.h"
#include "base/limits.h"
#include "bundler/outputs.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static const char run_text[] = "{\n"
                               "  \"run_id\": \"run-1\",\n"
                               "  \"exit_code\": 2,\n"
                               "  \"reason_code\": \"E_REPLAY_MISSING_DEPENDENCY\",\n"
                               "  \"reason_code_version\": 1,\n"
                               "  \"seed_version\": 1,\n"
                               "  \"order_seed\": \"18446744073709551615\",\n"
                               "  \"judge_seed\": null,\n"
                               "  \"judge_metrics\": {\n"
                               "    \"abstain_rate\": 0.25,\n"
                               "    \"unavailable_count\": 3\n"
                               "  },\n"
                               "  \"sarif\": {\n"
                               "    \"omitted\": 15\n"
                               "  },\n"
                               "  \"child_exit_code\": 7,\n"
                               "  \"resolution\": {\n"
                               "    \"exit_code\": 2,\n"
                               "    \"reason_code\": \"E_REPLAY_MISSING_DEPENDENCY\",\n"
                               "    \"message\": \"1 request(s) had no recording\",\n"
                               "    \"next_step\": \"record them\"\n"
                               "  },\n"
                               "  \"provenance\": {\n"
                               "    \"replay\": true,\n"
                               "    \"bundle_digest\": \"sha256:ab\",\n"
                               "    \"replay_mode\": \"offline\",\n"
                               "    \"source_run_id\": null\n"
                               "  }\n"
                               "}";

static const char summary_text[] = "{\n"
                                   "  \"schema_version\": 1,\n"
                                   "  \"reason_code_version\": 1,\n"
                                   "  \"exit_code\": 0,\n"
                                   "  \"reason_code\": \"\",\n"
                                   "  \"message\": \"All tests passed\",\n"
                                   "  \"provenance\": {\n"
                                   "    \"assay_version\": \"5.4.0\",\n"
                                   "    \"verify_mode\": \"enabled\",\n"
                                   "    \"replay\": true,\n"
                                   "    \"replay_mode\": \"live\"\n"
                                   "  },\n"
                                   "  \"seeds\": {\n"
                                   "    \"seed_version\": 1,\n"
                                   "    \"order_seed\": null,\n"
                                   "    \"judge_seed\": null\n"
                                   "  },\n"
                                   "  \"schema\": \"assay.run_summary.v1\"\n"
                                   "}";

static void test_texts(void)
{
    static const char input[] = "{\"judge_metrics\":{\"abstain_rate\":0.25,"
                                "\"unavailable_count\":3},\"sarif\":{\"omitted\":15}}";
    struct buf out = BUF_INIT(KIB(16));
    struct outputs_run r = {.run_id = "run-1",
                            .exit_code = 2,
                            .reason_code = "E_REPLAY_MISSING_DEPENDENCY",
                            .message = "1 request(s) had no recording",
                            .next_step = "record them",
                            .order_seed = "18446744073709551615",
                            .has_child = true,
                            .child_exit_code = 7,
                            .bundle_digest = "sha256:ab",
                            .replay_mode = "offline"};

    outputs_carry(input, sizeof input - 1, &r.carried);
    outputs_run_json(&r, &out);
    is(buf_cstr(&out), run_text, "run.json: key order, no line end, seed as text");
    buf_reset(&out);
    outputs_footer(&r, &out);
    is(buf_cstr(&out),
       "Seeds: seed_version=1 order_seed=18446744073709551615 judge_seed=null\n"
       "Judge metrics: abstain_rate=0.25 unavailable_count=3\n",
       "footer with judge metrics");
    buf_reset(&out);
    outputs_summary_json(&(struct outputs_run){.run_id = "r",
                                               .reason_code = "",
                                               .message = "All tests passed",
                                               .replay_mode = "live"},
                         &out);
    is(buf_cstr(&out), summary_text, "summary.json: what is not known is left out");
    buf_reset(&out);
    outputs_footer(&(struct outputs_run){.run_id = "r"}, &out);
    is(buf_cstr(&out), "Seeds: seed_version=1 order_seed=null judge_seed=null\n",
       "footer: unknown seeds are null");
    buf_free(&out);
}

static void test_carried(void)
{
    struct outputs_carried c;
    static const char *const nothing[] = {"", "{", "[]", "{\"sarif\":3}",
                                          "{\"judge_metrics\":{}}"};

    for (size_t i = 0; i < COUNT_OF(nothing); i++) {
        outputs_carry(nothing[i], strlen(nothing[i]), &c);
        ok(!c.judge_metrics[0] && !c.sarif[0], "nothing to carry in %s", nothing[i]);
    }
}

static void test_files(void)
{
    struct outputs_run r = {.run_id = "r", .reason_code = "", .replay_mode = "offline"};
    struct buf out = BUF_INIT(KIB(16));
    struct err e = {0};

    ok(outputs_write(scratch_file("deep/outputs"), &r, &e) == 0, "folders are made %s",
       e.msg);
    ok(fsx_read_file(scratch_file("deep/outputs/run.json"), &out, &e) == 0 &&
           out.len > 0 && out.data[out.len - 1] == '}',
       "run.json is there and ends without a line end");
    buf_free(&out);
    ok(fsx_write_file(scratch_file("plain"), "x", 1, 0644, &e) == 0 &&
           outputs_write(scratch_file("plain"), &r, &e) < 0 && e.code == ERR_IO,
       "a file where the folder should be is an error: %s", e.msg);
}

int main(void)
{
    (void)scratch_make();
    test_texts();
    test_carried();
    test_files();
    return tap_done();
}
