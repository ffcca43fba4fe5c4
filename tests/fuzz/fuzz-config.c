/* A retape.json of any bytes: loaded or refused with a line, never more. */
#include "proxy/config.h"
#include "proxy/place.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t path[] = {1, 2, 3, 0};
    static int fd = -1;
    static char name[64];
    struct config *c = NULL;
    struct err e = {0};

    if (fd < 0) {
        fd = memfd_create("input", MFD_CLOEXEC);
        must(fd >= 0);
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    }
    must(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    if (config_load(&c, name, &e) < 0)
        must(!c && e.code != ERR_NONE && strncmp(e.msg, name, strlen(name)) == 0);
    config_free(&c);
    /* The walk must end on texts the parser would not have taken, too. */
    for (size_t depth = 0; depth <= COUNT_OF(path); depth++)
        must(place_line((const char *)data, size, path, depth) >= 1);
    return 0;
}
