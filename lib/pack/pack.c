/* pack.c - see pack.h. */
#include "pack/pack.h"

#include <archive.h>
#include <string.h>

const char *pack_library_version(void)
{
    const char *text = archive_version_string(); /* "libarchive 3.6.2" */
    const char *blank = strrchr(text, ' ');

    return blank ? blank + 1 : text;
}
