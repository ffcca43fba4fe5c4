/* place.c - see place.h. */
#include "proxy/place.h"

#include <stdbool.h>
#include <string.h>

struct cursor {
    const char *at, *end;
};

static bool looking_at(const struct cursor *c, char wanted)
{
    return c->at < c->end && *c->at == wanted;
}

/* Past a comment of either kind; false when there is none here. */
static bool skip_comment(struct cursor *c)
{
    size_t left = (size_t)(c->end - c->at);

    if (left < 2 || c->at[0] != '/')
        return false;
    if (c->at[1] == '/') {
        const char *eol = memchr(c->at, '\n', left);
        c->at = eol ? eol + 1 : c->end;
        return true;
    }
    if (c->at[1] == '*') {
        const char *close = memmem(c->at + 2, left - 2, "*/", 2);
        c->at = close ? close + 2 : c->end;
        return true;
    }
    return false;
}

/* Blanks, comments, and the commas and colons between values. */
static void skip_between(struct cursor *c)
{
    while (c->at < c->end)
        if (memchr(" \t\r\n,:", *c->at, 6))
            c->at++;
        else if (!skip_comment(c))
            return;
}

static void skip_string(struct cursor *c)
{
    for (c->at++; c->at < c->end && *c->at != '"'; c->at++)
        if (*c->at == '\\' && c->at + 1 < c->end)
            c->at++;
    if (c->at < c->end)
        c->at++;
}

/* A number or a word. */
static void skip_scalar(struct cursor *c)
{
    while (c->at < c->end && !memchr(" \t\r\n,:{}[]\"/", *c->at, 12))
        c->at++;
}

/* Past one value with all that is in it. */
static void skip_value(struct cursor *c)
{
    size_t depth = 0;

    do {
        const char *before = c->at;
        if (looking_at(c, '"')) {
            skip_string(c);
        } else if (looking_at(c, '{') || looking_at(c, '[')) {
            depth++;
            c->at++;
        } else if (looking_at(c, '}') || looking_at(c, ']')) {
            depth -= depth > 0;
            c->at++;
        } else {
            skip_scalar(c);
        }
        if (depth > 0)
            skip_between(c);
        if (c->at == before)
            return;
    } while (depth > 0);
}

/* From a container to its child: the key of a member, or the element itself. */
static bool enter(struct cursor *c, size_t child)
{
    bool members = looking_at(c, '{');

    if (!members && !looking_at(c, '['))
        return false;
    c->at++;
    skip_between(c);
    for (; child > 0; child--) {
        if (looking_at(c, '}') || looking_at(c, ']') || c->at == c->end)
            return false;
        for (int parts = members ? 2 : 1; parts > 0; parts--) {
            skip_value(c);
            skip_between(c);
        }
    }
    return true;
}

size_t place_line(const char *text, size_t len, const size_t *path, size_t depth)
{
    struct cursor c = {text, text + len};
    size_t line = 1;

    skip_between(&c);
    for (size_t i = 0; i < depth; i++) {
        bool members = looking_at(&c, '{');
        if (!enter(&c, path[i]))
            break;
        if (members && i + 1 < depth) { /* on to the member's value */
            skip_value(&c);
            skip_between(&c);
        }
    }
    for (const char *p = text; p < c.at; p++)
        line += *p == '\n';
    return line;
}
