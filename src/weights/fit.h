/* Windows on a record, and a model fitted on them. */
#ifndef KB_WEIGHTS_FIT_H
#define KB_WEIGHTS_FIT_H

#include "weights/columns.h"

typedef struct {
    size_t n;             /* windows */
    size_t *first, *last; /* rows, inclusive */
} kb_windows;

/* About `n` windows of equal numbers of rows. */
kbass_status kb_windows_divide(size_t n_rows, size_t n, kb_windows **out, kbass_error *error);
/* The same in each of several runs, whose windows share no row; run_start: n_runs + 1 rows. Runs with few rows may have
   windows of a single one. */
kbass_status kb_windows_divide_runs(size_t n_runs, const size_t *run_start, size_t n, kb_windows **out,
                                    kbass_error *error);
/* As many in each run as `n` says. */
kbass_status kb_windows_divide_each(size_t n_runs, const size_t *run_start, const size_t *n, kb_windows **out,
                                    kbass_error *error);
/* Rows in all windows; those of a border twice. */
size_t kb_windows_rows(const kb_windows *windows);
/* The first window from a row on; n when there is none. */
size_t kb_windows_from(const kb_windows *windows, size_t row);
void kb_windows_destroy(kb_windows *windows);

/* A fitted model. Arrays are sized for all columns and for `max_windows`. */
typedef struct {
    kb_support support;
    double *w;          /* by column, scaled */
    double *start;      /* n_windows x n_states, scaled */
    double *variance;   /* noise per state, scaled */
    double *covariance; /* of the support's weights: k x k, scaled */
    size_t n_windows;
    size_t n_rows; /* that its windows covered */
    double log_evidence;
    double log_likelihood; /* at the estimate, without prior or determinants; -INFINITY: lost where it began */
    double effective;      /* parameters that the data determine, */
    double values;         /* and how many data there are; 0: not known */
    double misfit;         /* rms residual in units of each state's sd */
    bool valid;            /* it could be integrated, and its numbers are finite */
    bool converged;
} kb_fit;

kbass_status kb_fit_create(size_t n_columns, size_t n_states, size_t max_windows, size_t n_support, kb_fit **out,
                           kbass_error *error);
void kb_fit_destroy(kb_fit *fit);
/* Posterior variance of the weight of a column of the support, scaled. */
double kb_fit_variance(const kb_fit *fit, size_t column);
/* A fit as bytes, for a checkpoint: how many, and there and back between fits of one structure and as many windows. */
size_t kb_fit_bytes(const kb_fit *fit, size_t n_columns, size_t n_states);
void kb_fit_pack(const kb_fit *fit, size_t n_columns, size_t n_states, unsigned char *bytes);
void kb_fit_unpack(const unsigned char *bytes, size_t n_columns, size_t n_states, kb_fit *fit);
/* Log-odds of a model whose log evidence is higher by `gain` (docs/math.md, eq. 24). */
double kb_log_odds(double gain);
double kb_fit_log_odds(const kb_fit *fit, const kb_fit *chosen);
void kb_fit_copy(const kb_fit *from, kb_fit *to, size_t n_columns, size_t n_states);
/* Adds the columns that constraints ask for, their weights still 0. */
kbass_status kb_fit_complete(const kb_columns *columns, kb_fit *fit, kbass_error *error);
/* Where a fit of another structure begins: the parent's starts and noise, its weights of the columns in both. */
void kb_fit_begin(kb_fit *fit, const kb_fit *parent, size_t n_columns, size_t n_states);

#endif
