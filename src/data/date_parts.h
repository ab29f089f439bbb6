/* Time in columns of its parts: year, month, day, hour, minute, second, or year and day of the year. */
#ifndef KB_DATE_PARTS_H
#define KB_DATE_PARTS_H

#include "data/csv.h"
#include "data/layout.h"

typedef enum { KB_YEAR, KB_MONTH, KB_DAY_OF_MONTH, KB_DAY_OF_YEAR, KB_HOUR, KB_MINUTE, KB_SECOND } kb_date_part;
enum { KB_DATE_PARTS = KB_SECOND + 1 };

typedef struct {
    size_t columns[KB_DATE_PARTS]; /* KB_NO_COLUMN: it is not there */
    bool is_there;
} kb_date_parts;
#define KB_NO_COLUMN SIZE_MAX

/* By the names of the columns of numbers: a year, and a month or the day of the year. */
void kb_date_parts_find(size_t n, char *const *names, const unsigned char *kinds, const bool *is_left_out,
                        kb_date_parts *parts);
/* Seconds since 1970 of a row; NaN where there is no such moment. */
double kb_date_parts_seconds(const kb_date_parts *parts, const double *row);
/* Of the sampled rows: the first, and the typical step between them, in seconds. */
kbass_status kb_date_parts_sample(const kb_date_parts *parts, const kb_layout *layout, const kb_row_form *form,
                                  double *first, double *step, kbass_error *error);

#endif
