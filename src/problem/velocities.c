#include "problem/velocities.h"

#include <math.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

/* dq/ds of a position at a row, by a line between the reference points. */
static double slope_at(const kb_ode_problem *p, size_t state, size_t row)
{
    size_t run = kb_record_run(p->record, row), first = p->reference_start[run];
    size_t n = p->reference_start[run + 1] - first - 1;
    double at = p->record->time[row] / p->record->duration[run] * (double)n;
    size_t i = at < (double)(n - 1) ? (size_t)at : n - 1;
    const double *slope = p->reference_slope + first + i + state * p->n_reference;
    return slope[0] + (at - (double)i) * (slope[1] - slope[0]);
}

/* Mean posterior variance of dq/ds over a patch's mesh: |L^{-1} s|^2, L L' = I + R'R/v, s the slope's features. */
static double patch_variance(const kb_ode_problem *p, size_t patch, size_t state, double *z, double *work)
{
    enum { EVERY = 5 };
    const kb_level *level = p->levels[p->best_level * p->n_patches + patch];
    const kb_record *slice = p->slices[patch];
    size_t n = level->n_mesh, r = level->rank, used = 0;
    double v = slice->known_variance[state] > 0 ? slice->known_variance[state] : p->best_variance, sum = 0;
    if (!kb_level_regress(level, slice, state, v, z, work)) return NAN;
    for (size_t k = 0; k < n; k += EVERY, used++) {
        for (size_t q = 0; q < r; q++) z[q] = slice->stretch * level->slope[k + q * n];
        kb_lower_solve(r, 1, work, r, z, r);
        sum += kb_dot(r, z, z);
    }
    return sum / (double)used;
}

static double slope_variance(const kb_ode_problem *p, size_t state, double *z, double *work)
{
    double sum = 0;
    for (size_t patch = 0; patch < p->n_patches; patch++) sum += patch_variance(p, patch, state, z, work);
    return sum / (double)p->n_patches;
}

static kbass_status assume(kb_ode_problem *p, size_t position, size_t velocity, double *values, double *z, double *work,
                           kbass_error *error)
{
    const kb_record *record = p->record;
    double unit = record->sd[position] / record->span, variance = slope_variance(p, position, z, work);
    if (!(variance >= 0)) return kb_fail(error, KBASS_ERROR_NUMERICAL, "the velocities could not be estimated");
    for (size_t row = 0; row < record->n_rows; row++) values[row] = unit * slope_at(p, position, row);
    kb_record_assume(p->record, velocity, values, unit * unit * fmax(variance, 1e-6));
    return KBASS_OK;
}

kbass_status kb_velocities_assume(kb_ode_problem *p, kbass_error *error)
{
    size_t n = p->record->n_states, r = p->max_rank;
    double *values = KB_NEW(double, p->record->n_rows), *z = KB_NEW(double, r), *work = KB_NEW(double, r *r);
    kbass_status status = values && z && work ? KBASS_OK : kb_out_of_memory(error, "the velocities");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        size_t position = kb_dictionary_position(p->dictionary, i);
        if (!p->record->count[i] && position < n) status = assume(p, position, i, values, z, work, error);
    }
    kb_free(values);
    kb_free(z);
    kb_free(work);
    return status;
}
