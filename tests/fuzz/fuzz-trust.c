/* A named CA file of any bytes: merged or refused, and merging again changes nothing. */
#include "base/fsx.h"
#include "base/limits.h"
#include "certs/trust.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Files by descriptor: the input in memory, the bundle beside it. */
static char input[64], dir[] = "/tmp/fuzz-trust-XXXXXX", bundle[64];
static int input_fd = -1;

static void clean_up(void)
{
    (void)unlink(bundle);
    (void)rmdir(dir);
}

static void set_up(void)
{
    input_fd = memfd_create("input", MFD_CLOEXEC);
    must(input_fd >= 0 && mkdtemp(dir));
    (void)snprintf(input, sizeof input, "/proc/self/fd/%d", input_fd);
    (void)snprintf(bundle, sizeof bundle, "%s/bundle.pem", dir);
    (void)atexit(clean_up);
    (void)setenv("SSL_CERT_FILE", "/dev/null", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf first = BUF_INIT(LIMIT_PEM_FILE), second = BUF_INIT(LIMIT_PEM_FILE);
    const char *once[] = {input, NULL}, *twice[] = {bundle, input, NULL};
    struct err e = {0};

    if (input_fd < 0)
        set_up();
    must(ftruncate(input_fd, 0) == 0 && pwrite(input_fd, data, size, 0) == (ssize_t)size);
    if (trust_write_merged(bundle, NULL, once, &e) == 0) {
        must(fsx_read_file(bundle, &first, &e) == 0);
        must(trust_write_merged(bundle, NULL, twice, &e) == 0);
        must(fsx_read_file(bundle, &second, &e) == 0);
        must(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    }
    buf_free(&first);
    buf_free(&second);
    return 0;
}
