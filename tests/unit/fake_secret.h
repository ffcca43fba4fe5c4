/*
 * fake_secret.h - credentials for tests, put together at run time.
 *
 * No file of the project holds text that looks like a credential, not even a fake one:
 * scanners of other people would report it. A template says what to make:
 * "%a36" is 36 letters and digits, drawn by a fixed rule from `seed`; the other
 * classes are those of lib/tape/secret_shape.h. "%%" is a per cent sign.
 */
#ifndef TESTS_FAKE_SECRET_H
#define TESTS_FAKE_SECRET_H

#include "base/buf.h"
#include "tape/secret_shape.h"

#include <stdint.h>
#include <stdlib.h>

/* Append the text of a template. */
static inline void fake_secret(struct buf *out, const char *template, uint32_t seed)
{
    for (const char *p = template; *p; p++) {
        if (*p != '%' || p[1] == '%') {
            buf_char(out, *p);
            p += *p == '%';
            continue;
        }
        char class = p[1], *end;
        unsigned long n = strtoul(p + 2, &end, 10);
        p = end - 1;
        for (unsigned long i = 0; i < n;) {
            seed = seed * 1664525 + 1013904223;
            unsigned char c = (unsigned char)(seed >> 24 & 0x7f);
            /* Letters and digits only, a digit now and then: all classes have them. */
            if (i % 4 == 2)
                c = (unsigned char)('2' + c % 6);
            if (secret_shape_in_class('a', c) && secret_shape_in_class(class, c)) {
                buf_char(out, (char)c);
                i++;
            }
        }
    }
}

#endif
