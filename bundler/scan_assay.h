/*
 * scan_assay.h - the three patterns of Assay's own verifier, exactly as it has them.
 *
 *   authorization  at the start of a line: blanks, "Authorization" in any case, blanks,
 *                  ':', blanks, and a character up to the end of a line
 *   bearer         "Bearer" in any case, blanks, something that is not blank
 *   sk-key         "sk", '-' or '_', and twenty letters, digits, '-' or '_'
 *
 * No word edges. Blanks and characters are Unicode's: blanks reach over line ends, bytes
 * that are not UTF-8 are no characters. They are looked for in windows of one text that
 * follow one another; a match that runs beyond its window goes on in the next.
 *
 * Owns:    nothing; a plain value.
 * Threads: as its owner. The filter may be shared.
 */
#ifndef BUNDLER_SCAN_ASSAY_H
#define BUNDLER_SCAN_ASSAY_H

#include "tape/secret_filter.h"

enum scan_assay_rule { ASSAY_AUTHORIZATION, ASSAY_BEARER, ASSAY_SK_KEY, ASSAY_RULES };
extern const char *const scan_assay_names[ASSAY_RULES];

/* What is missing of a match. */
enum scan_assay_wait {
    ASSAY_NOTHING,
    ASSAY_BEFORE_COLON, /* after the name */
    ASSAY_BEFORE_VALUE, /* after the colon */
    ASSAY_IN_VALUE,     /* to the end of the line */
    ASSAY_BEFORE_TOKEN  /* after "Bearer" */
};

/* A match that has begun. */
struct scan_assay_open {
    enum scan_assay_wait wait;
    bool blank;  /* BEFORE_VALUE: this line has a blank so far */
    size_t next; /* first byte not looked at, in the window */
};

struct scan_assay {
    struct scan_assay_open open[ASSAY_RULES]; /* those that the last window cut */
    bool starts_line; /* only blanks stand between the last line end and the window */
};

/* One window: what may begin a match lies in [from, until), the text ends at len. */
struct scan_assay_window {
    const char *text;
    size_t len, from, until;
    bool last; /* nothing follows */
};

/* Told of matches. [at, end) is one as far as this window shows it. What is held, at most
 * one of each rule, is confirmed later or dropped without a word. */
struct scan_assay_sink {
    void (*match)(void *arg, enum scan_assay_rule rule, size_t at, size_t end);
    void (*hold)(void *arg, enum scan_assay_rule rule, size_t at, size_t end);
    void (*confirm)(void *arg, enum scan_assay_rule rule);
    void *arg;
};

void scan_assay_filter(struct secret_filter *f);
void scan_assay_start(struct scan_assay *a);
void scan_assay_look(struct scan_assay *a, const struct secret_filter *f,
                     const struct scan_assay_window *w,
                     const struct scan_assay_sink *sink);
/* The next window begins `n` bytes further on, between characters; call it before the
 * text is moved. */
void scan_assay_shift(struct scan_assay *a, const struct scan_assay_window *w, size_t n);

#endif
