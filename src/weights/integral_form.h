/* The integral form of states: each equation summed up along a field that knows no equation (docs/math.md, eq. 80),
 *
 *     q_i(t_r) = a_i + sum_j w_ij int_0^{t_r} P_j[u(s)] ds / scale_j + noise
 *
 * a linear regression whose noise is that of the measurements. Rows are as many as samples, also where a record is too
 * short for bumps. Terms and their integrals are the same for all equations, only left-hand sides differ; nothing here
 * has the size of terms x terms.
 */
#ifndef KB_WEIGHTS_INTEGRAL_FORM_H
#define KB_WEIGHTS_INTEGRAL_FORM_H

#include "weights/columns.h"

/* A field at even points of each run: run r has those from start[r] to start[r + 1]. */
typedef struct {
    size_t n;
    const size_t *start;
    const double *points; /* n x n_variables, in the data's units, column-major */
    const double *values; /* n x n_states: scaled; for samples that are missing */
} kb_field_points;

typedef struct {
    const kb_record *record;
    size_t n_rows, n_terms, n_states;
    double *sums;     /* n_rows x n_terms: integrals from the run's first time, over the terms' scales */
    double *states;   /* n_rows x n_states: measurements less the fixed part's integral */
    double *X, *H;    /* the same on windows, each less its means there: starts eliminated */
    double n_counted; /* rows less starts */
} kb_integral_form;

/* Borrows the record. */
kbass_status kb_integral_form_create(const kb_record *record, const kb_dictionary *dictionary,
                                     const kb_columns *columns, const kb_field_points *field, kb_integral_form **out,
                                     kbass_error *error);
void kb_integral_form_destroy(kb_integral_form *form);
/* X and H with an unknown start for each of `n_windows` parts of each run's rows: what smoothing did wrong sums up over
   one of them only. */
void kb_integral_form_divide(kb_integral_form *form, size_t n_windows);

#endif
