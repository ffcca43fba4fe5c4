/*
 * pack.h - archives, through libarchive.
 *
 * This room alone includes libarchive's headers. So far it only tells which version of
 * that library is loaded.
 *
 * Threads: any.
 */
#ifndef PACK_PACK_H
#define PACK_PACK_H

/* "3.6.2" */
const char *pack_library_version(void);

#endif
