#include "data/directives.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

enum { LONGEST_LABEL = 200 };

static const char *skip_blanks(const char *c, const char *end)
{
    while (c < end && (*c == ' ' || *c == '\t')) c++;
    return c;
}

/* Goes past a word, whatever its case; false: another stands here. */
static bool take_word(const char **c, const char *end, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(end - *c) < n || strncasecmp(*c, word, n) != 0) return false;
    const char *behind = *c + n;
    if (behind < end && !strchr(" \t\r\"'", *behind)) return false;
    *c = skip_blanks(behind, end);
    return true;
}

/* A label in quotes, or a word. */
static const char *take_label(const char **c, const char *end, size_t *length)
{
    bool is_quoted = *c < end && (**c == '"' || **c == '\'');
    char quote = is_quoted ? **c : ' ';
    const char *begin = *c += is_quoted;
    while (*c < end && **c != quote && **c != '\r' && (is_quoted || **c != '\t')) ++*c;
    *length = (size_t)(*c - begin);
    if (*length > LONGEST_LABEL) *length = LONGEST_LABEL;
    *c = skip_blanks(*c + (*c < end && is_quoted), end);
    return begin;
}

static void put_label(kb_buffer *to, const char *separator, const char **c, const char *end)
{
    char text[LONGEST_LABEL + 4];
    size_t length = 0;
    const char *label = take_label(c, end, &length);
    snprintf(text, sizeof text, "\"%.*s\"", (int)length, label);
    for (char *q = text + 1; q < text + length + 1; q++)
        if (*q == '"') *q = '\'';
    if (to->length) kb_buffer_put(to, separator);
    kb_buffer_put(to, text);
}

/* s0, s1, ...: a set of numbers. */
static bool take_set(const char **c, const char *end)
{
    const char *digit = *c + 1;
    if (end - *c < 2 || (**c != 's' && **c != 'S')) return false;
    while (digit < end && *digit >= '0' && *digit <= '9') digit++;
    if (digit == *c + 1 || digit == end || (*digit != ' ' && *digit != '\t')) return false;
    *c = skip_blanks(digit, end);
    return true;
}

/* Behind an @; other words begin names, such as @timestamp. */
static bool take_grace(kb_directives *d, const char *c, const char *end)
{
    static const char *const others[] = {"title", "subtitle", "type",    "view",      "legend",
                                         "with",  "target",   "version", "timestamp", "world"};
    bool is_along = take_word(&c, end, "xaxis"), is_up = !is_along && take_word(&c, end, "yaxis");
    bool is_known = is_along || is_up;
    if (is_known && take_word(&c, end, "label")) put_label(is_along ? &d->along : &d->up, " ", &c, end);
    if (!is_known && take_set(&c, end)) {
        is_known = true;
        if (take_word(&c, end, "legend")) put_label(&d->names, " ", &c, end);
    }
    for (size_t i = 0; !is_known && i < sizeof others / sizeof *others; i++) is_known = take_word(&c, end, others[i]);
    d->is_xvg |= is_known;
    return is_known;
}

static bool take_weka(kb_directives *d, const char *c, const char *end)
{
    if (take_word(&c, end, "relation") || take_word(&c, end, "data")) return true;
    if (!take_word(&c, end, "attribute")) return false;
    put_label(&d->names, ",", &c, end);
    return true;
}

static bool take_plumed(kb_directives *d, const char *c, const char *end)
{
    if (!take_word(&c, end, "#!")) return false;
    if (!take_word(&c, end, "FIELDS")) return take_word(&c, end, "SET");
    while (c < end && *c != '\r') put_label(&d->names, " ", &c, end);
    return true;
}

bool kb_directive_take(kb_directives *d, const char *line, const char *end)
{
    line = skip_blanks(line, end);
    if (line == end || (*line != '@' && *line != '#')) return false;
    const char *word = skip_blanks(line + 1, end);
    bool is_one = *line == '#' ? take_plumed(d, line, end) : take_grace(d, word, end) || take_weka(d, word, end);
    d->is_there |= is_one;
    return is_one;
}

char *kb_directives_header(const kb_directives *d)
{
    kb_buffer all = {0};
    const kb_buffer *rest = d->names.length || !d->is_xvg ? &d->names : &d->up;
    if (d->is_xvg && d->along.length) {
        kb_buffer_put(&all, d->along.text);
        kb_buffer_put(&all, " ");
    }
    if (rest->length) kb_buffer_put(&all, rest->text);
    char *copy = all.length ? kb_strdup(all.text) : NULL;
    kb_buffer_clear(&all);
    return copy;
}

void kb_directives_clear(kb_directives *d)
{
    kb_buffer_clear(&d->along);
    kb_buffer_clear(&d->up);
    kb_buffer_clear(&d->names);
}
