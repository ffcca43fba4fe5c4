/* fetch_once.c - see fetch_once.h. */
#include "net/fetch_once.h"

#include <curl/curl.h>
#include <stdio.h>

static size_t take(char *data, size_t size, size_t n, void *arg)
{
    struct buf *out = arg;

    buf_add(out, data, size * n);
    return out->failed ? 0 : size * n;
}

int fetch_once(const char *url, const char *proxy, const char *ca_file, struct buf *out,
               struct err *e)
{
    char detail[CURL_ERROR_SIZE] = "";
    char proxy_url[128];
    long status = 0;
    CURL *h = curl_easy_init();

    if (!h)
        return err_set(e, ERR_NOMEM, "out of memory");
    (void)snprintf(proxy_url, sizeof proxy_url, "http://%s", proxy);
    (void)curl_easy_setopt(h, CURLOPT_URL, url);
    (void)curl_easy_setopt(h, CURLOPT_PROXY, proxy_url);
    (void)curl_easy_setopt(h, CURLOPT_NOPROXY, "");
    (void)curl_easy_setopt(h, CURLOPT_CAINFO, ca_file);
    (void)curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(h, CURLOPT_TIMEOUT, 10L);
    (void)curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, take);
    (void)curl_easy_setopt(h, CURLOPT_WRITEDATA, out);
    (void)curl_easy_setopt(h, CURLOPT_ERRORBUFFER, detail);
    CURLcode rc = curl_easy_perform(h);
    (void)curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(h);
    if (rc != CURLE_OK)
        return err_set(e, ERR_PEER, "%s", detail[0] ? detail : curl_easy_strerror(rc));
    if (status != 200)
        return err_set(e, ERR_PEER, "answered %ld", status);
    return 0;
}
