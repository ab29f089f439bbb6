/* What the first rows of a table say about its columns. */
#ifndef KB_SAMPLE_H
#define KB_SAMPLE_H

#include "data/cell.h"
#include "data/layout.h"

typedef struct {
    size_t n_cells[KB_CELL_TEXT + 1]; /* of each kb_cell_type */
    size_t n_compact;                 /* numbers that are dates: 20210304 */
    size_t n_six_digits;              /* numbers that are dates by some order: 210304 */
    bool is_counting;                 /* whole numbers, each one more than the last, row by row */
    double first, last;
    size_t n_bare;    /* texts that are numbers with one unit, or the sign of a currency */
    size_t n_whole;   /* numbers without a fraction */
    char unit[24];    /* what stands behind them */
    char example[24]; /* a text */
} kb_column_sample;

typedef struct {
    size_t n_rows;             /* of as many cells as there are columns */
    kb_column_sample *columns; /* n_columns */
    size_t points, commas;     /* numbers that tell the decimal mark */
    size_t point_groups, comma_groups;
    size_t unclear_commas; /* 1,500 */
    bool is_comma_first;
} kb_sample;

/* `shift` cells in front have no name. */
kbass_status kb_sample_take(const kb_layout *layout, const kb_row_form *form, kb_sample *sample, kbass_error *error);
void kb_sample_clear(kb_sample *sample);
size_t kb_sample_values(const kb_column_sample *column); /* cells that are not missing */

/* What the rows have beside the header's cells: all of one length, or not. */
typedef struct {
    size_t n_rows, fewest, most;
    bool are_last_empty;
    bool is_first_counting; /* or text: names of rows */
} kb_row_lengths;
kbass_status kb_sample_lengths(const kb_layout *layout, const kb_row_form *form, kb_row_lengths *lengths,
                               kbass_error *error);

/* Time goes back in the sample, and only where the label in a column changes; or stays, each time with another label.
 */
kbass_status kb_sample_restarts(const kb_layout *layout, const kb_row_form *form, size_t time, size_t label,
                                bool *restarts, kbass_error *error);

/* The dates of a column in each order: how many can be read, whether they go on in time. */
typedef struct {
    size_t n, n_good[KB_YEAR_FIRST + 1];
    bool is_rising[KB_YEAR_FIRST + 1], is_falling[KB_YEAR_FIRST + 1];
    bool is_ordered;                    /* the order makes a difference */
    bool has_clock, has_zone, has_long; /* a time of day; a zone; 24 hours or more */
    double step[KB_YEAR_FIRST + 1];     /* seconds from one row to the next, typically; 0: not known */
    int64_t first[KB_YEAR_FIRST + 1];   /* whole seconds of the first */
    char example[40];
} kb_dates;
kbass_status kb_sample_dates(const kb_layout *layout, const kb_row_form *form, size_t column, kb_dates *dates,
                             kbass_error *error);

/* Do the numbers in a column fall from one sampled row to the next? */
bool kb_sample_goes_back(const kb_layout *layout, const kb_row_form *form, size_t column);

#endif
