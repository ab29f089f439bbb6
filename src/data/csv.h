/* One row of a table as text. */
#ifndef KB_CSV_H
#define KB_CSV_H

#include "base/calendar.h"
#include "data/labels.h"
#include "data/roles.h"

enum { KB_RUNS_OF_BLANKS = ' ' };

typedef struct {
    const char *path; /* for messages */
    char separator;   /* , ; tab, or runs of blanks */
    char point;       /* the decimal mark, . or , */
    char grouping;    /* between thousands: , . or ', and blanks always; 0: none was seen */
    size_t n_columns;
    char *const *names;
    const unsigned char *kinds; /* n_columns: kb_cell_kind; NULL: numbers */
    const bool *is_left_out;    /* n_columns: cells that are not looked at; NULL: none */
    bool is_open;               /* rows end with a separator */
    kb_date_order order;
    int64_t origin;       /* dates are counted from here, */
    int64_t clock_origin; /* and times of day alone from here, */
    double unit;          /* in units of so many seconds */
    kb_labels *labels;    /* of columns of text */
    const char *missing;  /* "-999, x": more cells that mean missing, or NULL */
    const char **units;   /* n_columns: what stands behind numbers, or NULL; NULL: nothing does anywhere */
    bool has_remarks;     /* "# ..." behind a blank ends a row */
} kb_row_form;

/* Memory for the careful way, which needs a copy of the line. */
typedef struct {
    char *text;
    char **cells;
    size_t size, n_cells;
    size_t last_label; /* the one met last, which is likely to come again */
} kb_row_work;

/* The line is neither blank nor a comment. */
bool kb_row_is_there(const char *line, const char *end);
char kb_row_separator(const char *header);
/* The decimal mark: a comma when the lines have one before any point, and commas do not separate; false when they have
   neither. */
bool kb_row_point(const kb_row_form *form, const char *begin, const char *end, char *point);

/* Cuts the line in place into cells without blanks and quotes around them; keeps `capacity` of them, counts all. */
kbass_status kb_row_split(const kb_row_form *form, char *line, size_t capacity, char **cells, size_t *n,
                          size_t line_number, kbass_error *error);
/* The same of a copy in `work`, which keeps all cells. */
kbass_status kb_row_cut(const kb_row_form *form, const char *line, const char *end, kb_row_work *work, size_t *n,
                        size_t line_number, kbass_error *error);
/* The quick way to the numbers of a line, NaN for empty cells; false where only the careful one can tell. */
bool kb_row_scan(const kb_row_form *form, const char *line, const char *end, kb_row_work *work, double *row);
/* The careful way: quotes, words, long numbers, and messages for what cannot be read. */
kbass_status kb_row_read(const kb_row_form *form, const char *line, const char *end, size_t line_number,
                         kb_row_work *work, double *row, kbass_error *error);
void kb_row_work_clear(kb_row_work *work);

#endif
