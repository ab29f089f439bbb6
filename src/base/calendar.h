/* Dates and times of day as people write them: 2021-03-04T05:06:07.5+01:00, 4.3.2021 17:30, 3/4/21 5:06 PM,
 * 4-Mar-2021, 04MAR2021, Thu Mar 4 05:06:07 CET 2021, Mar 4, 2021, Mar 2021, 20210304, 2021-063, 2021-W10, 2021Q2,
 * 05:06:07, 1 day, 02:03:04. The calendar is the Gregorian one, days have 86400 seconds.
 */
#ifndef KB_CALENDAR_H
#define KB_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KB_MOMENT_SIZE = 40, KB_DAY = 86400 };

/* Of dates that begin with one or two digits. */
typedef enum { KB_DAY_FIRST, KB_MONTH_FIRST, KB_YEAR_FIRST } kb_date_order;

typedef struct {
    int64_t seconds; /* since 1970-01-01T00:00:00 of the zone, UTC where there is none; without a date since 00:00 */
    double fraction; /* of a second, from 0 to below 1 */
    bool has_date, has_clock, has_zone;
    bool is_ordered; /* the order had a say */
} kb_moment;

/* The whole text from `text` to `end` is a date, a time of day or both. A time of day alone may pass 24 hours. */
bool kb_moment_parse(const char *text, const char *end, kb_date_order order, kb_moment *moment);
/* Since 1970-01-01; false where there is no such day. */
bool kb_date_seconds(int year, int month, int day, int64_t *seconds);
/* "2021-03-04", "2021-03-04 05:06", "2021-03-04 05:06:07", as short as says it; `seconds` since 1970. */
void kb_moment_print(int64_t seconds, char text[KB_MOMENT_SIZE]);

#endif
