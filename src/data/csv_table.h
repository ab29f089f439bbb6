/* A table as text while it is read: what its header said, and the parts of a block that threads read at the same time.
 */
#ifndef KB_CSV_TABLE_H
#define KB_CSV_TABLE_H

#include "data/directives.h"
#include "data/lines.h"
#include "data/part.h"
#include "data/plan.h"
#include "data/text_grid.h"

typedef struct {
    kb_reading *reading;
    kb_lines lines;
    char *rest, *end; /* of the block */
    size_t line;      /* number of the line at hand */
    char *note;       /* copy of the last comment before the table, or names that directives give */
    kb_directives directives;
    char *header; /* copy of the line of names */
    kb_plan plan;
    kb_part part;
    kb_pace pace;
    size_t *state_columns;
    size_t capacity, n_left;    /* rows that fit into the data's arrays, rows left out */
    size_t n_headers, n_behind; /* lines that repeat the header; lines behind the kb_csv_table */
    double clock, midnights;    /* the time of day met last, and how often a day has passed since the first row */
    bool has_clock;
    size_t n_midnights;
    kb_text_grid grid;         /* that the rows may be, */
    bool stays;                /* and then stay in the file: no more of them are appended */
    size_t begins, first_line; /* the byte that the rows begin with, and the lines before them */
    kbass_data *data;
} kb_csv_table;

/* What one thread reads of a block. */
typedef struct {
    const char *begin, *end;
    size_t line;     /* number of the line at hand */
    double *numbers; /* n_rows x n_columns */
    size_t n_rows, capacity, n_headers;
    const char **marks; /* where rows 0, KB_MARKED_ROWS, ... begin */
    bool has_odd_lines; /* between its rows, beside blank ones and comments */
    const char *bad;    /* the line that could not be read */
    kb_row_work work;
    kbass_status status;
    kbass_error error;
} kb_csv_part;

/* The block behind the present one; rest == end: there is none. */
kbass_status kb_csv_next_block(kb_csv_table *t);
/* Everything above the first row: comments, directives, the line of names, the plan of the columns. */
kbass_status kb_csv_read_header(kb_csv_table *t);
/* Parts of about the same size that end with lines; they are numbered on from the table's line. Returns how many. */
size_t kb_csv_cut_block(kb_csv_table *t, kb_csv_part *parts, size_t n_parts);
/* The numbers of all rows of a part. */
void kb_csv_read_part(const kb_csv_table *t, kb_csv_part *p);
/* Neither a number nor a date where time should be: no row was meant. */
bool kb_csv_is_remark(const kb_csv_table *t, const char *line, const char *end, kb_row_work *work);

#endif
