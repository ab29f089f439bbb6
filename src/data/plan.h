/* How the columns of a table as text are understood, decided before its rows are read: what they are called, which are
 * axes, states, labels of runs or nothing, which way numbers and dates are written. What was not plain is said in
 * words, with the option that says it.
 */
#ifndef KB_PLAN_H
#define KB_PLAN_H

#include "base/buffer.h"
#include "data/date_parts.h"
#include "data/read.h"
#include "data/sample.h"

typedef struct {
    kb_reading *reading;
    kbass_data *data;
    kb_row_form form;
    kb_layout layout;
    kb_sample sample;
    size_t n;
    char **faces;      /* n: the columns' names as written, or as renamed */
    char **written;    /* n: those that were renamed, as they were before; NULL others */
    char **units;      /* n: a row of units, or NULL */
    bool *is_unnamed;  /* n */
    bool has_groups;   /* the line above the names is a part of them */
    const char **bare; /* n: what stands behind the numbers of a column, in the sample; NULL: nothing does anywhere */
    unsigned char *kinds; /* n */
    bool *is_left_out;    /* n */
    kb_roles roles;
    char place[512];
    size_t clock;         /* a column of times of day that is added to the dates of time; n: none */
    kb_date_parts parts;  /* columns that are time together */
    bool passes_midnight; /* times of day alone begin anew */
    bool is_marked;       /* the decimal mark is known */
    bool says_time;       /* what time was taken for is said */
    size_t run;           /* the column of runs; n: none */
    size_t variable;      /* the column that says what a row's value is of, in the long form; n: none */
    kb_labels labels;
    kb_buffer note;
} kb_plan;

/* Of the lines from `begin` to `end`, before which `line` lines were read; `comment` is the last comment among them,
   or NULL: it has the names when the first line has numbers. */
kbass_status kb_plan_make(kb_plan *plan, kb_reading *reading, kbass_data *data, const char *begin, const char *end,
                          size_t line, const char *comment);
/* Adds to what is said, as a part of its own. */
__attribute__((format(printf, 2, 3))) void kb_plan_say(kb_plan *plan, const char *format, ...);
/* A column by its name, the new one or the old; n when there is none. */
size_t kb_plan_column(const kb_plan *plan, const char *name);
void kb_plan_clear(kb_plan *plan);

/* Is it read for the time, beside the column that has its name? */
bool kb_plan_is_of_time(const kb_plan *plan, size_t column);

/* The steps, for kb_plan_make. plan_names.c: names, renamed ones, units. */
kbass_status kb_plan_names(kb_plan *plan, const char *comment);
/* plan_groups.c: names in two lines become one. */
kbass_status kb_plan_groups(kb_plan *plan, kb_row_work *work);
/* plan_cells.c: kinds of cells, decimal mark, dates. */
kbass_status kb_plan_cells(kb_plan *plan);
kbass_status kb_plan_dates(kb_plan *plan);

/* Refuses rows, in the order of the file, in which time begins anew although nothing names runs. */
kbass_status kb_refuse_stacked(const kb_plan *plan, const kbass_data *data);

/* Leaves out columns that measure nothing, unless they are used; says which. */
void kb_plan_leave_out_idle(kb_plan *plan, const bool *is_used);
void kb_plan_say_layout(kb_plan *plan);
void kb_plan_say_names(kb_plan *plan);
void kb_plan_say_units(kb_plan *plan);

#endif
