#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "gp/scales.h"
#include "problem/ode_parts.h"

/* The bare field's arrays. */
void kb_ode_reference_destroy(kb_ode_problem *p)
{
    kb_free(p->reference_start);
    kb_free(p->reference);
    kb_free(p->follow);
    kb_free(p->reference_slope);
    kb_free(p->slope_squares);
    kb_free(p->state_level);
    kb_free(p->state_variance);
    p->state_level = NULL;
    p->state_variance = NULL;
    p->reference_start = NULL;
    p->reference = p->follow = p->reference_slope = p->slope_squares = NULL;
}

/* One patch's bare field: values and slopes of a state at the patch's share of the run's even reference points. */
static bool regress_on(kb_ode_problem *p, const kb_level *level, const kb_record *slice, size_t run, size_t patch,
                       size_t state, double *z, double *work)
{
    size_t m = p->n_mesh, r = level->rank;
    size_t at = p->reference_start[run] + (patch - p->run_patch[run]) * (m - 1) + state * p->n_reference;
    double v = slice->known_variance[state] > 0 ? slice->known_variance[state] : p->state_variance[state];
    if (!kb_level_regress(level, slice, state, v, z, work)) return false;
    kb_gemv(KB_PLAIN, m, r, 1, level->mesh, m, z, 0, p->follow + at);
    kb_gemv(KB_PLAIN, m, r, slice->stretch, level->slope, m, z, 0, p->reference_slope + at);
    return true;
}

static void take_input(kb_ode_problem *p, size_t run, size_t state)
{
    size_t first = p->reference_start[run], n = p->reference_start[run + 1] - first,
           at = first + state * p->n_reference;
    for (size_t k = 0; k < n; k++) {
        double time = p->record->duration[run] * (double)k / (double)(n - 1);
        p->follow[at + k] = kb_record_input(p->record, run, state, time, &p->reference_slope[at + k]);
    }
}

static kbass_status field_failed(const kb_ode_problem *p, size_t state, kbass_error *error)
{
    return kb_fail(error, KBASS_ERROR_NUMERICAL, "the field could not be fitted to the data of \"%s\"",
                   p->dictionary->state_names[state]);
}

/* All states of one patch, whose slice and level are made for the occasion where the record is long. */
static kbass_status regress_patch(kb_ode_problem *p, size_t run, size_t patch, double *z, double *work,
                                  kbass_error *error)
{
    bool is_kept = p->n_patches == kb_ode_patches_count(p);
    kb_level **kept = p->levels + p->best_level * p->n_patches, *level = NULL;
    kb_record *slice = is_kept ? p->slices[patch] : NULL;
    kbass_status status = is_kept ? KBASS_OK : kb_ode_patch_slice(p, patch, &slice, error);
    if (status == KBASS_OK && !is_kept) status = kb_level_share(kept[0], slice, &level, error);
    for (size_t i = 0; status == KBASS_OK && i < p->record->n_states; i++) {
        const kb_level *own = is_kept ? p->levels[p->state_level[i] * p->n_patches + patch] : level;
        if (!p->dictionary->is_input[i] && !regress_on(p, own, slice, run, patch, i, z, work))
            status = field_failed(p, i, error);
    }
    if (!is_kept) {
        kb_level_destroy(level);
        kb_record_destroy(slice);
    }
    if (status == KBASS_OK && kb_budget_expired()) status = kb_out_of_time(error, "the bare field was made");
    return status;
}

static void finish_state(kb_ode_problem *p, size_t state)
{
    size_t m = p->n_reference;
    double *u = p->reference + state * m, *slope = p->reference_slope + state * m;
    for (size_t run = 0; run < p->record->n_runs && p->dictionary->is_input[state]; run++) take_input(p, run, state);
    for (size_t k = 0; k < m; k++) u[k] = p->record->mean[state] + p->record->sd[state] * p->follow[k + state * m];
    p->slope_squares[state] = kb_dot(m, slope, slope) / (double)m;
}

static void list_reference_times(kb_ode_problem *p)
{
    const kb_record *record = p->record;
    double *time = p->reference + record->n_states * p->n_reference;
    for (size_t run = 0; run < record->n_runs; run++) {
        size_t first = p->reference_start[run], n = p->reference_start[run + 1] - first;
        for (size_t k = 0; k < n; k++)
            time[first + k] = record->origin[run] + record->duration[run] * record->span * (double)k / (double)(n - 1);
    }
}

static bool count_reference(kb_ode_problem *p)
{
    size_t runs = p->record->n_runs;
    p->reference_start = KB_NEW(size_t, runs + 1);
    for (size_t run = 0; p->reference_start && run < runs; run++)
        p->reference_start[run + 1] =
            p->reference_start[run] + (p->run_patch[run + 1] - p->run_patch[run]) * (p->n_mesh - 1) + 1;
    if (p->reference_start) p->n_reference = p->reference_start[runs];
    return p->reference_start != NULL;
}

/* Each of many states has a length scale and noise of its own: the fastest one's leave noise in the slow ones. */
static kbass_status choose_state_levels(kb_ode_problem *p, double *work, kbass_error *error)
{
    size_t n = p->record->n_states;
    p->state_level = KB_NEW(size_t, n);
    p->state_variance = KB_NEW(double, n);
    double *best = KB_NEW(double, 2 * n), *each = best ? best + n : NULL;
    bool complete = p->state_level && p->state_variance && best;
    for (size_t i = 0; complete && i < n; i++)
        best[i] = -INFINITY, p->state_level[i] = p->best_level, p->state_variance[i] = p->best_variance;
    bool is_common = n <= KB_WIDE_STATES || p->is_long;
    for (size_t level = 0; complete && !is_common && level < p->n_levels && !kb_budget_expired(); level++) {
        if (level && kb_ode_problem_length(p, level) < KB_SHORTEST_SCALE * p->record->spacing) break;
        for (int at = 0; at < KB_ODE_VARIANCES; at++) {
            memset(each, 0, n * sizeof *each);
            for (size_t patch = 0; patch < p->n_patches; patch++)
                kb_level_evidence(p->levels[level * p->n_patches + patch], p->slices[patch], kb_ode_grid_variance(at),
                                  each, work);
            for (size_t i = 0; i < n; i++)
                if (each[i] > best[i])
                    best[i] = each[i], p->state_level[i] = level, p->state_variance[i] = kb_ode_grid_variance(at);
        }
    }
    kb_free(best);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the field");
}

kbass_status kb_ode_reference_make(kb_ode_problem *p, kbass_error *error)
{
    if (!count_reference(p)) return kb_out_of_memory(error, "the field");
    size_t m = p->n_reference, n = p->record->n_states, r = p->max_rank;
    double *z = KB_NEW(double, r), *work = KB_NEW(double, 2 * r * r + 2 * r);
    p->reference = KB_NEW(double, m *(n + 1));
    p->follow = KB_NEW(double, m *n);
    p->reference_slope = KB_NEW(double, m *n);
    p->slope_squares = KB_NEW(double, n);
    bool complete = z && work && p->reference && p->follow && p->reference_slope && p->slope_squares;
    kbass_status status = complete ? choose_state_levels(p, work, error) : kb_out_of_memory(error, "the field");
    for (size_t run = 0; status == KBASS_OK && run < p->record->n_runs; run++)
        for (size_t patch = p->run_patch[run]; status == KBASS_OK && patch < p->run_patch[run + 1]; patch++)
            status = regress_patch(p, run, patch, z, work, error);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) finish_state(p, i);
    if (status == KBASS_OK) list_reference_times(p);
    kb_free(z);
    kb_free(work);
    return status;
}
