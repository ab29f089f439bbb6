/* The record: measurements in scaled variables (docs/math.md, eq. 2).
 *
 *     s = (t - origin) / span in [0, 1],      q_i = (u_i - mean_i) / sd_i
 *
 * with the origin of each run and the span of the longest.
 * Noise variances in these units are shares of each state's own variance, so that one grid of them serves all data.
 */
#ifndef KB_RECORD_H
#define KB_RECORD_H

#include <stdbool.h>

#include "gp/inputs.h"
#include "gp/noise.h"

typedef struct {
    size_t n_rows, n_states, n_values;
    double first, span; /* the first run's origin; the longest run's time */
    size_t n_runs;
    size_t *run_start; /* n_runs + 1: rows */
    double *origin;    /* n_runs: when it begins, in the data's units */
    double *duration;  /* n_runs: scaled, 1 for the longest */
    double *mean, *sd; /* n_states */
    double *time;      /* n_rows, scaled, ascending in each run */
    double *value;     /* n_rows x n_states, column-major, scaled; 0 where not measured */
    double *measured;  /* likewise: the root of its relative precision, 1 without error bars; 0 where not measured */
    bool has_error_bars;
    size_t *count;  /* measured values per state */
    double spacing; /* median gap between distinct times of one state, scaled */
    double stretch; /* 1, or for a slice: whole record's span / slice's span; dq/ds of the whole = stretch * that of the
                       slice */
    double *known_variance; /* n_states: noise variance known beforehand, scaled; 0: unknown */
    kb_noise_model noise_model;
    kb_inputs *inputs; /* known functions of time; NULL: none. A slice borrows them, */
    size_t run;        /* being part of this run of the whole */
    bool is_slice;
} kb_record;

kbass_status kb_record_create(const kbass_data *data, const char *noise, kb_record **out, kbass_error *error);
/* Makes states known inputs: curves through their values, or steps where they are held, which are no measurements then.
 */
kbass_status kb_record_take_inputs(kb_record *record, const kbass_data *data, const bool *is_input, bool is_held,
                                   kbass_error *error);
/* Takes values at all rows, in the data's units, for measurements of a state with this variance; and drops them again,
   keeping the scale. */
void kb_record_assume(kb_record *record, size_t state, const double *values, double variance);
void kb_record_forget(kb_record *record, size_t state);
/* The value of an input (scaled) at a scaled time of the record; its ds slope, unless NULL. */
double kb_record_input(const kb_record *record, size_t run, size_t state, double time, double *slope);
/* The first scaled time after this one at which an input jumps; INFINITY where none does. */
double kb_record_next_jump(const kb_record *record, size_t run, double time);
/* The rows within the i-th of n equal parts of a run, border rows in both; times run from 0 to 1 over the part. */
kbass_status kb_record_slice(const kb_record *record, size_t run, size_t i, size_t n, kb_record **out,
                             kbass_error *error);
/* An empty record, and the spacing of a filled one: for those who make records of others (condense.h). */
kbass_status kb_record_allocate(size_t n_rows, size_t n_states, size_t n_runs, kb_record **out, kbass_error *error);
kbass_status kb_record_measure_spacing(kb_record *record, kbass_error *error);
/* The run that a row belongs to. */
size_t kb_record_run(const kb_record *record, size_t row);
void kb_record_destroy(kb_record *record);

#endif
