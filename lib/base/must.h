/*
 * must.h - assertions about our own code, and three words every file uses.
 *
 * must() is for our bugs only and stays on in release builds: going on after one
 * would record or replay wrong bytes. Input, disks, peers and sizes from outside
 * are never must()ed; they get a struct err.
 *
 * Threads: any.
 */
#ifndef BASE_MUST_H
#define BASE_MUST_H

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

_Noreturn void must_fail(const char *what, const char *file, int line);

#define must(cond) ((cond) ? (void)0 : must_fail(#cond, __FILE__, __LINE__))

#endif
