/* Parts of a written moment: what is left to read, and the times of day, zones and durations that it may begin with. A
 * part that is not there leaves the cursor anywhere and returns false.
 */
#ifndef KB_MOMENT_PARTS_H
#define KB_MOMENT_PARTS_H

#include "base/calendar.h"

enum { KB_LONGEST_DIGITS = 9 };

/* What is left to read. */
typedef struct {
    const char *at, *end;
} kb_cursor;

static inline char kb_peek(const kb_cursor *c) { return c->at < c->end ? *c->at : '\0'; }
static inline bool kb_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool kb_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static inline bool kb_take(kb_cursor *c, char what)
{
    if (c->at == c->end || *c->at != what) return false;
    c->at++;
    return true;
}

static inline size_t kb_skip_blanks(kb_cursor *c)
{
    const char *before = c->at;
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t')) c->at++;
    return (size_t)(c->at - before);
}

/* The number of digits, 0 when there are none or too many. */
static inline size_t kb_take_number(kb_cursor *c, int *value)
{
    size_t n = 0;
    for (*value = 0; kb_is_digit(kb_peek(c)) && n < KB_LONGEST_DIGITS; c->at++, n++)
        *value = 10 * *value + (*c->at - '0');
    return kb_is_digit(kb_peek(c)) ? 0 : n;
}

/* 17:30, 5:06:07.5 PM, behind a date also 050607; adds to the moment's seconds. */
bool kb_take_clock(kb_cursor *c, kb_moment *m);
/* Z, +01:00, CET, [Europe/Berlin], or nothing. */
bool kb_take_zone(kb_cursor *c, kb_moment *m);
/* PT1M30S, P1DT2H: as ISO 8601 has spans; whole numbers. */
bool kb_take_iso_duration(kb_cursor *c, kb_moment *m);
/* "1 day, 02:03:04", "0 days 02:03:04.5", "1h30", "2 h 5 min": parts that add up. */
bool kb_take_duration(kb_cursor *c, kb_moment *m);

#endif
