/* The unknown weights as one list of columns: (equation, term) pairs whose role is candidate or required.
 *
 * In scaled variables the equation of state i reads dq_i/ds = sum_c w_c P_c[u] / scale_c (+ the fixed part), where
 * scale_c is the term's rms on a reference field; a weight in the data's units is `unit_c` times the scaled one
 * (docs/math.md, eq. 5). Slab variances and prior odds are those of the scaled weights, the same for every engine.
 */
#ifndef KB_WEIGHTS_COLUMNS_H
#define KB_WEIGHTS_COLUMNS_H

#include "data/data.h"
#include "dictionary/dictionary.h"
#include "gp/record.h"

#define KB_SLAB_FACTOR 25 /* variance of a scaled weight: times the mean square of the left-hand side */

typedef struct kb_constraints kb_constraints; /* weights/constraints.h */

typedef struct {
    size_t n;
    size_t *equation, *term;
    double *log_odds; /* prior */
    bool *required;
    bool *explained; /* --explain asks about it */
    double *scale, *unit, *slab;
    size_t *run;                 /* the only run a weight holds in, or KB_ALL_RUNS; NULL: all hold everywhere */
    kb_constraints *constraints; /* on the weights (--constraint); NULL: none */
    size_t n_screened;           /* candidates of a wide dictionary that were left out before (columns_screen.h) */
    size_t n_fixed;              /* terms of equations given by the user, likewise */
    size_t *fixed_equation, *fixed_term;
    double *fixed_weight; /* scaled: dq/ds += fixed_weight * P */
} kb_columns;

#define KB_ALL_RUNS ((size_t)-1) /* as a run */

/* The only run that a column holds in, or KB_ALL_RUNS; and does it hold in this one? */
static inline size_t kb_column_run(const kb_columns *c, size_t column) { return c->run ? c->run[column] : KB_ALL_RUNS; }
static inline bool kb_column_holds(const kb_columns *c, size_t column, size_t run)
{
    return kb_column_run(c, column) == KB_ALL_RUNS || kb_column_run(c, column) == run;
}

/* Every term that plays a role is finite wherever the states in it were measured; otherwise it is refused by name, with
   the time and the states' values there. */
kbass_status kb_columns_check_data(const kb_dictionary *dictionary, const kbass_data *data, kbass_error *error);

/* sd of each state and span of time: the units of the scaled variables. reference: n_points x n_variables in the data's
   units, column-major, on which terms are scaled; slope_squares: mean of (dq_i/ds)^2 per state there, or of the second
   derivative. A term that is not finite there is refused by name. */
kbass_status kb_columns_create(const kb_dictionary *dictionary, const double *sd, double span, size_t n_points,
                               const double *reference, const double *slope_squares, kb_columns **out,
                               kbass_error *error);
void kb_columns_destroy(kb_columns *columns);
/* One past the last column of the equation whose columns, which are neighbours, begin at `first`. */
size_t kb_columns_end(const kb_columns *columns, size_t first);
/* Equations that have columns. */
size_t kb_columns_equations(const kb_columns *columns);

/* A set of columns, ascending; the structure of a model. Capacity is that of the columns. */
typedef struct {
    size_t n;
    size_t *column;
} kb_support;

kbass_status kb_support_create(size_t capacity, kb_support *out, kbass_error *error);
void kb_support_clear(kb_support *support);
void kb_support_copy(const kb_support *from, kb_support *to);
bool kb_support_equal(const kb_support *a, const kb_support *b);
bool kb_support_has(const kb_support *support, size_t column);
bool kb_support_contains(const kb_support *all, const kb_support *part);
/* How many of its columns are among first to end. */
size_t kb_support_count(const kb_support *support, size_t first, size_t end);
void kb_support_add(kb_support *support, size_t column); /* keeps the order; adding twice does nothing */
void kb_support_remove(kb_support *support, size_t column);
double kb_support_log_prior(const kb_support *support, const kb_columns *columns);
/* What an unknown width of the slab does to the evidence at weights w: each equation's slab is averaged over widths
   about the standard one (docs/math.md, eq. 22). */
double kb_support_log_width(const kb_support *support, const kb_columns *columns, const double *w);

#endif
