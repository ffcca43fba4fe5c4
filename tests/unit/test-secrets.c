/* test-secrets.c - every credential rule: what it finds, and what merely looks alike. */
#include "tape/secrets.h"

#include "fake_secret.h"
#include "tap.h"

/* Templates of fake_secret.h. `before` is what of `text` is context and stays (NULL: not
 * checked). Near misses: one byte short or long, another word, part of a longer one. */
static const struct row {
    const char *rule, *text, *before, *miss[2];
} rows[] = {
    {"anthropic-key", "sk-ant-api03-%u93", "", {"sk-ant-%u8", "xsk-ant-%u93"}},
    {"anthropic-key", "sk-ant-oat01-%u93", "", {"sk-ant", "risk-ant-hill-%a10"}},
    {"openai-key", "sk-proj-%u120", "", {"sk-proj-%u10", "task-proj-%l30"}},
    {"openai-key", "sk-svcacct-%u60", "", {"sk-svcacct-%u8", "1sk-svcacct-%u60"}},
    {"openai-key", "sess-%a40", "", {"sess-%a39", "sess-%a41"}},
    {"openrouter-key", "sk-or-v1-%x64", "", {"sk-or-v1-%x9", "_sk-or-v1-%x64"}},
    {"langfuse-key", "sk-lf-%x8-%x4-%x4-%x4-%x12", "", {"sk-lf-%x8", "ask-lf-%x32"}},
    {"google-api-key", "AIza%u35", "", {"AIza%u34", "AIza%u36"}},
    {"google-oauth-token", "ya29.%u120", "", {"ya29.%u12", "xya29.%u120"}},
    {"google-oauth-token", "1//0%u60", "", {"1//0%u20", "41//0%u60"}},
    {"google-client-secret", "GOCSPX-%u28", "", {"GOCSPX-%u27", "GOCSPX-%u29"}},
    {"groq-key", "gsk_%a52", "", {"gsk_%a20", "gsk-%a52"}},
    {"xai-key", "xai-%a80", "", {"xai-%a40", "maxai-%a80"}},
    {"perplexity-key", "pplx-%a48", "", {"pplx-%a30", "pplx_%a48"}},
    {"cerebras-key", "csk-%l48", "", {"csk-%l30", "acsk-%l48"}},
    {"fireworks-key", "fw_%a24", "", {"fw_%a12", "raw_fw_%a24"}},
    {"replicate-token", "r8_%a37", "", {"r8_%a30", "ur8_%a37"}},
    {"huggingface-token", "hf_%a34", "", {"hf_%a33", "shf_%a34"}},
    {"nvidia-key", "nvapi-%u64", "", {"nvapi-%u40", "nvapi_%u64"}},
    {"together-key", "tgp_v1_%u43", "", {"tgp_v1_%u20", "tgp_v2_%u43"}},
    {"tavily-key", "tvly-dev-%a32", "", {"tvly-%a12", "xtvly-%a32"}},
    {"pinecone-key", "pcsk_%u70", "", {"pcsk_%u30", "pcsk-%u70"}},
    {"langsmith-key", "lsv2_pt_%x32_%x10", "", {"lsv2_pt_%x32", "lsv2_xx_%x32_%x10"}},
    {"firecrawl-key", "fc-%x32", "", {"fc-%x31", "fc-%x33"}},
    {"e2b-key", "e2b_%x40", "", {"e2b_%x39", "e2b_%x41"}},
    {"jina-key", "jina_%a60", "", {"jina_%a30", "ajina_%a60"}},
    {"aws-access-key-id", "AKIA%B16", "", {"AKIA%B15", "AKIA%B17"}},
    {"aws-access-key-id", "ASIA%B16", "", {"ASIA%d16", "xASIA%B16"}},
    {"aws-secret-key",
     "aws_secret_access_key = %s40",
     "aws_secret_access_key = ",
     {"aws_secret_access_key = %s39", "secret_access = %s40"}},
    {"aws-secret-key",
     "SecretAccessKey\": \"%s40",
     "SecretAccessKey\": \"",
     {"SecretAccessKey\": \"%s41", "SecretAccessKey is %s40"}},
    {"aws-session-token",
     "IQoJb3JpZ2lu%b300",
     "",
     {"IQoJb3JpZ2lu%b60", "aIQoJb3JpZ2lu%b300"}},
    {"aws-bedrock-key", "ABSK%b120", "", {"ABSK%b60", "TABSK%b120"}},
    {"aws-signature",
     "X-Amz-Signature=%x64",
     "X-Amz-Signature=",
     {"X-Amz-Signature=%x63", "X-Amz-SignedHeaders=%x64"}},
    {"azure-storage-key",
     "AccountKey=%s86==",
     "AccountKey=",
     {"AccountKey=%s40", "AccountKeys %s86"}},
    {"azure-client-secret", "%a2x8Q~%a34", "", {"%a2x8Q~%a20", "8Q~%a34"}},
    {"azure-sas", "?sv=1&sig=%a43%%3D", "?sv=1&sig=", {"&sig=%a20", "&sign=%a43"}},
    {"digitalocean-token", "dop_v1_%x64", "", {"dop_v1_%x63", "dop_v2_%x64"}},
    {"databricks-token", "dapi%x32", "", {"dapi%x31", "rdapi%x32"}},
    {"heroku-key", "HRKU-%u60", "", {"HRKU-%u20", "HRKU_%u60"}},
    {"fly-token", "fm2_%b160", "", {"fm2_%b60", "fm3_%b160"}},
    {"netlify-token", "nfp_%a36", "", {"nfp_%a35", "nfp_%a37"}},
    {"supabase-key", "sbp_%x40", "", {"sbp_%x39", "sbp_%x41"}},
    {"planetscale-token", "pscale_tkn_%u43", "", {"pscale_tkn_%u12", "pscale_id_%u43"}},
    {"terraform-token",
     "%a14.atlasv1.%u67",
     "",
     {"%a14.atlasv1.%u20", "%a9.atlasv1.%u67"}},
    {"vault-token", "hvs.%u90", "", {"hvs.%u12", "hvx.%u90"}},
    {"doppler-token", "dp.pt.%a43", "", {"dp.pt.%a20", "dp.PT.%a43"}},
    {"pulumi-token", "pul-%x40", "", {"pul-%x39", "pul-%x41"}},
    {"prefect-key", "pnu_%a36", "", {"pnu_%a35", "pnu_%a37"}},
    {"github-token", "ghp_%a36", "", {"ghp_%a30", "ghx_%a36"}},
    {"github-token", "gho_%a36", "", {"gho-%a36", "ugho_%a36"}},
    {"github-token", "ghu_%a36", "", {"ghu_%a35", "aghu_%a36"}},
    {"github-token", "ghs_%a36", "", {"ghs_%a35", "aghs_%a36"}},
    {"github-token", "ghr_%a76", "", {"ghr_%a35", "aghr_%a76"}},
    {"github-fine-grained-token",
     "github_pat_%a22_%a59",
     "",
     {"github_pat_%a22", "my_github_pat_%a82"}},
    {"gitlab-token", "glpat-%u20", "", {"glpat-%u12", "xglpat-%u20"}},
    {"bitbucket-token", "ATBB%a32", "", {"ATBB%a20", "CATBB%a32"}},
    {"atlassian-token", "ATATT3%a180=%X8", "", {"ATATT3%a20", "ATATT4%a180"}},
    {"npm-token", "npm_%a36", "", {"npm_%a35", "npm_%a37"}},
    {"pypi-token", "pypi-AgE%u150", "", {"pypi-AgE%u20", "pypi-%l60"}},
    {"rubygems-key", "rubygems_%x48", "", {"rubygems_%x47", "rubygems_%x49"}},
    {"docker-token", "dckr_pat_%u27", "", {"dckr_pat_%u20", "dckr_%u27"}},
    {"sourcegraph-token", "sgp_%x40", "", {"sgp_%x39", "sgp_%x41"}},
    {"postman-key", "PMAK-%x24-%x34", "", {"PMAK-%x24-%x33", "PMAK-%x23-%x34"}},
    {"slack-token", "xoxb-%d12-%d12-%a24", "", {"xoxb-%d8", "xoxz-%d12-%d12-%a24"}},
    {"slack-token",
     "xoxp-%d12-%d12-%a24",
     "",
     {"xoxp %d12-%d12-%a24", "axoxp-%d12-%a24"}},
    {"slack-app-token", "xapp-1-%U11-%d13-%x64", "", {"xapp-1-%d8", "xapp-%a40"}},
    {"slack-webhook",
     "https://hooks.slack.com/services/T%U10/B%U10/%a24",
     "https://hooks.slack.com/services/",
     {"https://hooks.slack.com/services/T%U10", "https://slack.com/services/%a46"}},
    {"discord-token",
     "MTI3%a22.%a6.%u38",
     "",
     {"MTI3%a22.%a6.%u12", "MTI3%a22.%a5.%u38"}},
    {"discord-webhook",
     "https://discord.com/api/webhooks/%d18/%u68",
     NULL,
     {"https://discord.com/api/webhooks/%d18",
      "https://discord.com/api/hooks/%d18/%u68"}},
    {"telegram-token", "%d9:AA%u33", "", {"%d9:AA%u32", "%d7:AA%u33"}},
    {"twilio-key", "SK%x32", "", {"SK%x31", "SK%x33"}},
    {"sendgrid-key", "SG.%u22.%u43", "", {"SG.%u22.%u42", "SG.%u21.%u43"}},
    {"mailgun-key", "key-%x32", "", {"key-%x31", "monkey-%x32"}},
    {"mailchimp-key", "%x32-us12", "", {"%x31-us12", "%x33-us12"}},
    {"brevo-key", "xkeysib-%x64-%a16", "", {"xkeysib-%x64", "xkeysib-%x64-%a15"}},
    {"stripe-key", "sk_live_%a24", "", {"sk_live_%a6", "sk_dead_%a10"}},
    {"stripe-key", "rk_live_%a24", "", {"rk_live_%a6", "ark_live_%a24"}},
    {"stripe-webhook-secret", "whsec_%a32", "", {"whsec_%a12", "xwhsec_%a32"}},
    {"square-token", "sq0atp-%u22", "", {"sq0atp-%u12", "sq1atp-%u22"}},
    {"shopify-token", "shpat_%x32", "", {"shpat_%x31", "shpat_%x33"}},
    {"linear-key", "lin_api_%a40", "", {"lin_api_%a39", "lin_api_%a41"}},
    {"notion-token", "ntn_%a46", "", {"ntn_%a30", "entn_%a46"}},
    {"notion-token", "secret_%a43", "", {"secret_%a42", "my_secret_%a43"}},
    {"figma-token", "figd_%u40", "", {"figd_%u20", "configd_%u40"}},
    {"contentful-token", "CFPAT-%u43", "", {"CFPAT-%u42", "CFPAT-%u44"}},
    {"dynatrace-token", "dt0c01.%U24.%U64", "", {"dt0c01.%U24.%U63", "dt0c02.%U24.%U64"}},
    {"newrelic-key", "NRAK-%U27", "", {"NRAK-%U26", "NRAK-%U28"}},
    {"grafana-token", "glsa_%a32_%x8", "", {"glsa_%a32_%x7", "glsa_%a31_%x8"}},
    {"sentry-token", "sntrys_%a80", "", {"sntrys_%a20", "sntryx_%a80"}},
    {"sk-key", "sk-%l32", "", {"sk-%l12", "disk-%l32"}},
    {"sk-key",
     "sk-abcdefghij12345"
     "67890xyz",
     "",
     {"sk-learn-pipeline-v2-2024", "sk-%d3"}},
    {"sk-key", "sk_%x48", "", {"sk_%x12", "task_%x48"}},
    {"age-key",
     "AGE-SECRET-KEY-1%U58",
     "",
     {"AGE-SECRET-KEY-1%U57", "AGE-SECRET-KEY-1%U59"}},
    {"jwt", "eyJ%u30.eyJ%u60.%u43", "", {"eyJ%u30.eyJ%u60", "eyJ%u30.%u60.%u43"}},
    {"private-key",
     "-----BEGIN PRIV"
     "ATE KEY-----\n%a64\n%a64\n-----END PRIVATE KEY-----",
     "",
     {"-----BEGIN PUBLIC KEY-----\n%a64\n-----END PUBLIC KEY-----",
      "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----"}},
    {"private-key",
     "-----BEGIN RSA PRIV"
     "ATE KEY-----\\n%a64\\n%a64\\n-----END RSA PRIVATE KEY-----",
     "",
     {"-----BEGIN CERTIFICATE-----\\n%a64\\n%a64", "BEGIN RSA PRIVATE KEY\\n%a64"}},
    {"url-userinfo",
     "postgres://app:%a12@db.example/x",
     NULL,
     {"postgres://app@db.example/x", "postgres://app:5432/x@y"}},
    {"url-userinfo",
     "https:\\/\\/app:%a12@db.example",
     NULL,
     {"https:\\/\\/app@db.example", "https://user:${PASS}@db.example"}},
    {"bearer-token", "Bearer %a40", "", {"Bearer tokens are opaque", "Bearer of %a3"}},
    {"bearer-token", "bearer\t%a20.%a20", "", {"forbearer %a40", "Bearer: %a8"}},
    {"authorization",
     "-H 'Authorization: Basic %b24'",
     "-H 'Authorization: ",
     {"Authorization: Basic auth is needed", "Authorization: required"}},
    {"authorization",
     "Authorization: Token %x40\n",
     "",
     {"Authorization: Bearer token", "authorization is a long story"}},
};

/* Ordinary text that other scanners stumble over, and ids that must survive. */
static const char *const harmless[] = {
    "the bearer of news",
    "risk-assessment-framework-v2",
    "task_id_0123456789abcdefgh",
    "disk-usage-percent-threshold",
    "%x8-%x4-%x4-%x4-%x12",
    "%x64",
    "%x40",
    "call_%a24",
    "toolu_01%a22",
    "chatcmpl-%a29",
    "resp_%x48",
    "msg_01%a22",
    "rs_%x48",
    "fc_%x48",
    "data:image/png;base64,iVBORw0KGgo%b600",
    "Er%b400==",
    "gAAAAA%u300",
    "https://example.com:8080/a@b",
    "mail someone@example.com: thanks",
    "const api_key = process.env.OPENAI_API_KEY",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "max_tokens: 4096, prompt_tokens: 17",
};

static struct secrets *rules;

static void make(struct buf *out, const char *template)
{
    buf_reset(out);
    fake_secret(out, template, 7);
}

static void check_row(const struct row *r)
{
    struct buf text = BUF_INIT(4096), padded = BUF_INIT(4096);
    struct secret_hit hit = {0};

    make(&text, r->text);
    ok(secrets_next(rules, buf_cstr(&text), text.len, 0, &hit) == 0, "%s: found",
       r->rule);
    is(hit.rule, r->rule, "%s: by that rule", r->rule);
    if (r->before) {
        size_t end = text.len -
                     (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == '\'');
        ok(hit.at == strlen(r->before) && hit.at + hit.len == end,
           "%s: all of it (%zu+%zu)", r->rule, hit.at, hit.len);
    }
    /* At every offset: the filter looks at every second byte only. */
    bool all = true;
    for (size_t pad = 0; pad < 40; pad++) {
        buf_reset(&padded);
        for (size_t i = 0; i < pad; i++)
            buf_char(&padded, i + 1 == pad ? '\n' : 'x');
        buf_add(&padded, text.data, text.len);
        buf_str(&padded, "\n");
        struct secret_hit again = {0};
        all &= secrets_next(rules, padded.data, padded.len, 0, &again) == 0 &&
               again.at == hit.at + pad && again.len == hit.len;
    }
    ok(all, "%s: found at every offset", r->rule);
    for (size_t i = 0; i < 2; i++) {
        make(&text, r->miss[i]);
        ok(secrets_next(rules, buf_cstr(&text), text.len, 0, &hit) == -1,
           "%s: near miss %zu (%s)", r->rule, i, r->miss[i]);
    }
    buf_free(&text);
    buf_free(&padded);
}

static void check_user_patterns(void)
{
    static const struct secrets_extra extra[] = {{"badge", "EMP-[0-9]{4}"},
                                                 {"word", "secret|z*q"}};
    static const char text[] = "x EMP-1234 y [secret:badge] EMP-9876";
    static const struct {
        const char *what, *name, *regex;
    } bad[] = {
        {"unbalanced", "a", "(x"},
        {"empty text", "a", "x*"},
        {"blank in name", "a b", "x"},
        {"no name", "", "x"},
    };
    struct err e = {0};
    struct secrets *s = NULL;
    struct secret_hit hit;

    ok(secrets_new(&s, extra, 2, &e) == 0, "user patterns are taken");
    ok(secrets_next(s, text, sizeof text - 1, 0, &hit) == 0 && hit.at == 2 &&
           hit.len == 8 && strcmp(hit.rule, "badge") == 0,
       "a user pattern is found");
    ok(secrets_next(s, text, sizeof text - 1, 10, &hit) == 0 && hit.at == 28,
       "what stands in a placeholder is not");
    ok(secrets_count(s) > 2 && strcmp(secrets_name(s, secrets_count(s) - 1), "word") == 0,
       "user patterns come last");
    secrets_free(&s);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct secrets_extra x = {bad[i].name, bad[i].regex};
        ok(secrets_new(&s, &x, 1, &e) == -1 && e.code == ERR_CONFIG && !s, "refused: %s",
           bad[i].what);
    }
    secrets_free(&s);
}

int main(void)
{
    struct err e = {0};
    struct secret_hit hit;
    struct buf text = BUF_INIT(4096);

    ok(secrets_new(&rules, NULL, 0, &e) == 0, "rules");
    ok(secrets_count(rules) >= 40, "at least forty kinds: %zu", secrets_count(rules));
    for (size_t i = 0; i < secrets_count(rules); i++) {
        bool covered = false;
        for (size_t k = 0; k < COUNT_OF(rows); k++)
            covered |= strcmp(rows[k].rule, secrets_name(rules, i)) == 0;
        ok(covered, "%s has a row here", secrets_name(rules, i));
    }
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_row(&rows[i]);
    for (size_t i = 0; i < COUNT_OF(harmless); i++) {
        make(&text, harmless[i]);
        ok(secrets_next(rules, text.data, text.len, 0, &hit) == -1, "left alone: %s",
           harmless[i]);
    }
    ok(secrets_next(rules, "", 0, 0, &hit) == -1, "nothing in nothing");
    check_user_patterns();
    buf_free(&text);
    secrets_free(&rules);
    return tap_done();
}
