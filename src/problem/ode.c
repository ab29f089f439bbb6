#include "problem/ode.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/linalg.h"
#include "base/budget.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/status.h"
#include "gp/condense.h"
#include "gp/scales.h"
#include "gp/swings.h"
#include "problem/velocities.h"
#include "problem/wide.h"
#include "weights/columns_screen.h"

static const double longest = 0.4;    /* of a patch: longest scale of the ladder */
static const double shortest = 0.015; /* of a patch: shortest scale, three points of its mesh */
static const double ratio = 0.75;     /* of neighbours on the ladder */
enum { MESH = 200 };                  /* points: of a patch's mesh; the recipe's */
enum { MOST_PATCHES = 64 };           /* patches: of the record; seconds */
enum { VARIANCES = 13 };              /* values: of the noise variance that are tried for the bare field */
enum { ROWS_PER_PATCH = 12 };         /* rows: that a patch holds at least */
/* Long records are those of oscillators: chaotic ones, whose periods differ by more, go the way of short ones, unless
   that is equation by equation, which sees no windows (two coupled oscillators over 100 periods had no law). */
static const double regular = 0.2; /* spread of the periods: less, and it is an oscillator */
enum { LONG_PERIODS = 24 };        /* periods: of long records */
enum { LONG_ROWS = 384 };          /* rows: of long records */
enum { PATCH_PERIODS = 4 };        /* periods: of their patches */
enum { SAMPLED_PATCHES = 4 };      /* patches: that choose their length scale */
/* Joint fields of the kernel cost the cube of the states' number. */
enum { WIDE_STATES = 10 }; /* states: above it, equation by equation first; not measured between 7 and 19 */
/* Six with 50 samples are found so in 1 s instead of 24; with 12 samples they are not, which the misfit tells. */
enum { MIDDLE_STATES = 6 }; /* states: from here that is tried first */
/* Four and five with as many values as candidates: SEIR 1.6 -> 0.2 s; with 14 samples the kernel's way finds more. */
enum { FEWEST_MIDDLE = 4 };   /* states: from here where data are not scant */
enum { MOST_COLUMNS = 1200 }; /* columns: of all equations; a thread holds some 10 matrices of their square, 115 MB */

static void destroy_patches(kb_ode_problem *p)
{
    for (size_t i = p->n_levels * p->n_patches; i-- > 0;) kb_level_destroy(p->levels[i]); /* sharers before owners */
    for (size_t i = 0; p->slices && i < p->n_patches; i++) kb_record_destroy(p->slices[i]);
    kb_free(p->levels);
    kb_free(p->slices);
    kb_free(p->run_patch);
    p->run_patch = NULL;
    p->levels = NULL;
    p->slices = NULL;
    p->n_levels = p->n_patches = p->max_rank = 0;
}

double kb_ode_problem_length(const kb_ode_problem *p, size_t level)
{
    return p->levels[level * p->n_patches]->length / (double)p->n_cuts;
}

/* The level of the first patch, then the others' rows on it. */
static kbass_status create_level(kb_ode_problem *p, size_t level)
{
    kb_level **patches = p->levels + level * p->n_patches;
    if (kb_budget_expired()) return KBASS_ERROR_TIME;
    kb_kernel_kind kind = (kb_kernel_kind)p->settings->kernel;
    double length = longest * pow(ratio, (double)level);
    kbass_status status = kb_level_create(p->slices[0], kind, length, p->n_mesh, &patches[0], NULL);
    for (size_t i = 1; status == KBASS_OK && i < p->n_patches; i++)
        status = kb_budget_expired() ? KBASS_ERROR_TIME : kb_level_share(patches[0], p->slices[i], &patches[i], NULL);
    return status;
}

/* A run has patches about as long as those of the longest. */
static kbass_status cut_runs(kb_ode_problem *p, size_t n_cuts, kbass_error *error)
{
    const kb_record *record = p->record;
    p->run_patch = KB_NEW(size_t, record->n_runs + 1);
    if (!p->run_patch) return kb_out_of_memory(error, "the patches");
    p->n_cuts = n_cuts;
    for (size_t run = 0; run < record->n_runs; run++)
        p->run_patch[run + 1] = p->run_patch[run] + (size_t)fmax(1, round(record->duration[run] * (double)n_cuts));
    return KBASS_OK;
}

/* The slice of a patch, counted over all runs. */
static kbass_status slice_patch(const kb_ode_problem *p, size_t patch, kb_record **out, kbass_error *error)
{
    size_t run = 0;
    while (patch >= p->run_patch[run + 1]) run++;
    size_t first = p->run_patch[run], n = p->run_patch[run + 1] - first;
    return kb_record_slice(p->record, run, patch - first, n, out, error);
}

static size_t count_patches(const kb_ode_problem *p) { return p->run_patch[p->record->n_runs]; }

static kbass_status level_failed(kbass_status status, kbass_error *error)
{
    if (status == KBASS_ERROR_TIME) return kb_out_of_time(error, "the kernel's features at rows and mesh were made");
    if (status == KBASS_ERROR_MEMORY) return kb_out_of_memory(error, "the kernel's features at rows and mesh");
    return kb_fail(error, status, "the kernel's basis could not be made");
}

static kbass_status create_patches(kb_ode_problem *p, size_t n_cuts, kbass_error *error)
{
    size_t n = 1 + (size_t)ceil(log(shortest / longest) / log(ratio));
    kbass_status status = cut_runs(p, n_cuts, error), statuses[KB_MAX_LEVELS];
    if (status != KBASS_OK) return status;
    size_t all = count_patches(p), n_patches = p->is_long && all > SAMPLED_PATCHES ? SAMPLED_PATCHES : all;
    p->slices = KB_NEW(kb_record *, n_patches);
    p->levels = KB_NEW(kb_level *, n * n_patches);
    if (!p->slices || !p->levels) return kb_out_of_memory(error, "the patches");
    p->n_patches = n_patches;
    p->n_levels = n;
    for (size_t i = 0; status == KBASS_OK && i < n_patches; i++)
        status = slice_patch(p, i * all / n_patches, &p->slices[i], error);
    if (status != KBASS_OK) return status;
    kb_budget *budget = kb_budget_current();
#pragma omp parallel for schedule(dynamic) num_threads(p->threads)
    for (size_t i = 0; i < n; i++) {
        kb_budget *before = kb_budget_enter(budget);
        statuses[i] = create_level(p, i);
        kb_budget_enter(before);
    }
    for (size_t i = 0; i < n; i++) {
        if (statuses[i] != KBASS_OK) status = level_failed(statuses[i], error);
        else if (p->levels[i * n_patches]->rank > p->max_rank) p->max_rank = p->levels[i * n_patches]->rank;
    }
    return status;
}

static double grid_variance(int i) { return pow(10, -6 + 0.45 * i); } /* 1e-6 to 0.25 */

static double level_evidence(const kb_ode_problem *p, size_t level, double variance, double *work)
{
    double sum = 0;
    for (size_t patch = 0; patch < p->n_patches; patch++)
        sum += kb_level_evidence(p->levels[level * p->n_patches + patch], p->slices[patch], variance, NULL, work);
    return sum;
}

/* The top of the parabola through the best point of the grid, in log variance, and its neighbours. */
static double refine_variance(const kb_ode_problem *p, int at, double best, double *work)
{
    if (at == 0 || at + 1 == VARIANCES) return grid_variance(at);
    double low = level_evidence(p, p->best_level, grid_variance(at - 1), work);
    double high = level_evidence(p, p->best_level, grid_variance(at + 1), work), bend = low + high - 2 * best;
    double shift = bend < 0 ? 0.5 * (low - high) / bend : 0;
    return grid_variance(at) * pow(10, 0.45 * fmax(-1, fmin(1, shift)));
}

/* Marginal likelihood of the bare field over levels and noise. */
static kbass_status fit_bare_field(kb_ode_problem *p, kbass_error *error)
{
    double best = -INFINITY, *work = KB_NEW(double, 2 * p->max_rank * p->max_rank + 2 * p->max_rank);
    int at = 0;
    if (!work) return kb_out_of_memory(error, "the field");
    p->best_level = 0;
    p->best_variance = grid_variance(0);
    for (size_t level = 0; level < p->n_levels; level++) {
        if (level && kb_ode_problem_length(p, level) < KB_SHORTEST_SCALE * p->record->spacing) break;
        for (int i = 0; i < VARIANCES && !kb_budget_expired(); i++) {
            double evidence = level_evidence(p, level, grid_variance(i), work);
            if (!(evidence > best)) continue;
            best = evidence;
            p->best_level = level;
            p->best_variance = grid_variance(i);
            at = i;
        }
    }
    p->noise_variance = refine_variance(p, at, best, work);
    kb_free(work);
    if (kb_budget_expired()) return kb_out_of_time(error, "length scale and noise of the bare field were found");
    return isfinite(best) ? KBASS_OK
                          : kb_fail(error, KBASS_ERROR_NUMERICAL, "no length scale of the kernel fits these data");
}

static bool is_long(const kb_record *r, double period, double spread)
{
    bool grows = spread <= regular || r->n_states >= FEWEST_MIDDLE;
    return grows && 1 / period >= LONG_PERIODS && r->n_rows >= LONG_ROWS;
}

/* Patches follow the field: while the shortest scales win, and each half still holds enough rows, halve the patches. */
static kbass_status choose_patches(kb_ode_problem *p, kbass_error *error)
{
    bool has_file = p->settings->mesh_file && *p->settings->mesh_file;
    kbass_status status = kb_mesh_parse(p->settings->mesh, 1, &p->n_mesh, error);
    if (status == KBASS_OK && has_file)
        status =
            kb_fail(error, KBASS_ERROR_ARGUMENT, "mesh-file: needed fields over space (--axes t,x); found time alone");
    if (status == KBASS_OK && kb_mesh_is_auto(p->settings->mesh))
        status =
            kb_fail(error, KBASS_ERROR_ARGUMENT, "mesh: auto needs fields over space (--axes t,x); found time alone");
    if (!p->n_mesh) p->n_mesh = MESH;
    double spread = 0;
    if (status == KBASS_OK) status = kb_record_period(p->record, &p->period, &spread, error);
    if (status != KBASS_OK) return status;
    p->is_long = p->settings->method == KB_METHOD_KBASS && is_long(p->record, p->period, spread);
    for (size_t n = p->is_long ? (size_t)(1 / p->period) / PATCH_PERIODS : 1;; n *= 2) {
        if (status == KBASS_OK) status = create_patches(p, n, error);
        if (status == KBASS_OK) status = fit_bare_field(p, error);
        if (status != KBASS_OK) return status;
        bool resolved = kb_ode_problem_length(p, p->best_level) > 3 * shortest / (double)n;
        if (resolved || p->is_long || n >= MOST_PATCHES || p->record->n_rows < 2 * p->n_patches * ROWS_PER_PATCH)
            return KBASS_OK;
        destroy_patches(p);
    }
}

/* The bare field's arrays. */
static void destroy_reference(kb_ode_problem *p)
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
    bool is_kept = p->n_patches == count_patches(p);
    kb_level **kept = p->levels + p->best_level * p->n_patches, *level = NULL;
    kb_record *slice = is_kept ? p->slices[patch] : NULL;
    kbass_status status = is_kept ? KBASS_OK : slice_patch(p, patch, &slice, error);
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
    bool is_common = n <= WIDE_STATES || p->is_long;
    for (size_t level = 0; complete && !is_common && level < p->n_levels && !kb_budget_expired(); level++) {
        if (level && kb_ode_problem_length(p, level) < KB_SHORTEST_SCALE * p->record->spacing) break;
        for (int at = 0; at < VARIANCES; at++) {
            memset(each, 0, n * sizeof *each);
            for (size_t patch = 0; patch < p->n_patches; patch++)
                kb_level_evidence(p->levels[level * p->n_patches + patch], p->slices[patch], grid_variance(at), each,
                                  work);
            for (size_t i = 0; i < n; i++)
                if (each[i] > best[i])
                    best[i] = each[i], p->state_level[i] = level, p->state_variance[i] = grid_variance(at);
        }
    }
    kb_free(best);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the field");
}

static kbass_status make_reference(kb_ode_problem *p, kbass_error *error)
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

/* Velocities that were not measured: for proposals they are taken from the slopes of the positions' bare field, with
   its variance; the forward fits know positions only (docs/math.md, section 25). */
static kbass_status take_velocities(kb_ode_problem *p, size_t n_hidden, kbass_error *error)
{
    if (!n_hidden) return KBASS_OK;
    kbass_status status = kb_velocities_assume(p, error);
    destroy_reference(p);
    destroy_patches(p);
    if (status == KBASS_OK) status = choose_patches(p, error);
    if (status == KBASS_OK) status = make_reference(p, error);
    for (size_t i = p->record->n_states - n_hidden; i < p->record->n_states; i++) kb_record_forget(p->record, i);
    return status;
}

kb_follow kb_ode_problem_follow(const kb_ode_problem *p)
{
    return (kb_follow){p->n_reference, p->reference_start, p->follow, p->reference_slope};
}

static kbass_status list_all(kb_ode_problem *p, kbass_error *error)
{
    kbass_status status = kb_support_create(p->columns->n, &p->all, error);
    for (size_t i = 0; status == KBASS_OK && i < p->columns->n; i++) p->all.column[p->all.n++] = i;
    return status;
}

/* Many samples in few, where that loses nothing. */
static kbass_status condense(kb_ode_problem *p, kbass_error *error)
{
    kb_record *fewer = NULL;
    if (p->settings->method != KB_METHOD_KBASS || p->record->inputs) return KBASS_OK;
    kbass_status status = kb_record_condense(p->record, &fewer, error);
    if (status != KBASS_OK || !fewer) return status;
    p->n_rows_before = p->record->n_rows;
    kb_record_destroy(p->record);
    p->record = fewer;
    return KBASS_OK;
}

/* Every state was measured, or is known: equations can be summed up along the bare field. */
static bool has_all_states(const kb_ode_problem *p)
{
    for (size_t i = 0; i < p->record->n_states; i++)
        if (!p->record->count[i] && !p->dictionary->is_input[i]) return false;
    return true;
}

/* Of the columns as they are now. */
static kbass_status find_analogies(kb_ode_problem *p, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    if (!(p->is_wide || p->is_middle) || p->columns->constraints || p->columns->run) return KBASS_OK;
    for (int is_ring = 0; status == KBASS_OK && is_ring < KB_ANALOGIES; is_ring++)
        status = kb_analogy_create(p->columns, p->dictionary, is_ring, &p->analogies[is_ring], error);
    return status;
}

/* Few enough states for the kernel's way, many enough for equation by equation? */
static bool is_middle(const kb_ode_problem *p)
{
    size_t n = p->record->n_states;
    bool is_scant = p->record->n_values < p->columns->n;
    if (p->is_wide || p->is_long || n < FEWEST_MIDDLE || (n < MIDDLE_STATES && is_scant)) return false;
    return p->settings->method == KB_METHOD_KBASS && has_all_states(p) && !p->columns->constraints;
}

/* As many columns as matrices of columns x columns allow. */
static kbass_status screen(kb_ode_problem *p, kbass_error *error)
{
    p->is_wide = p->record->n_states > WIDE_STATES && p->settings->method == KB_METHOD_KBASS && has_all_states(p);
    p->is_middle = is_middle(p);
    if (p->is_wide || p->is_middle) return kb_wide_search(p, MOST_COLUMNS, error);
    return kb_columns_screen(p->columns, p->dictionary, p->n_reference, p->reference, p->reference_slope, MOST_COLUMNS,
                             error);
}

/* What acts later than the record lasts is not seen in it. */
static kbass_status set_delays(kb_ode_problem *p, kbass_error *error)
{
    const kb_dictionary *d = p->dictionary;
    for (size_t i = 0; p->record->inputs && i < d->n_states; i++) {
        bool is_known = d->delay_constant[i] == KB_NO_CONSTANT;
        double latest = is_known ? d->input_delay[i] : d->constants[d->delay_constant[i]].high;
        if (latest < p->record->span) continue;
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "--input-delay: %.60s %s %g late, and the record lasts only %g",
                       d->state_names[i], is_known ? "acts" : "may act", latest, p->record->span);
    }
    if (p->record->inputs) kb_inputs_set_delays(p->record->inputs, d->input_delay);
    return KBASS_OK;
}

kbass_status kb_ode_problem_create(const kbass_data *data, const kbass_settings *settings,
                                   const kb_dictionary *dictionary, kb_ode_problem **out, kbass_error *error)
{
    kb_ode_problem *p = KB_NEW(kb_ode_problem, 1);
    if (!p) return kb_out_of_memory(error, "the problem");
    p->settings = settings;
    p->dictionary = dictionary;
    p->threads = kb_threads(settings->threads);
    kbass_status status = kb_record_create(data, settings->noise, &p->record, error);
    if (status == KBASS_OK)
        status = kb_noise_read_model(data, settings, dictionary->has_equation, p->record->mean, p->record->sd,
                                     &p->record->noise_model, p->record->known_variance, error);
    if (status == KBASS_OK) status = kb_columns_check_data(dictionary, data, error);
    if (status == KBASS_OK)
        status = kb_record_take_inputs(p->record, data, dictionary->is_input, settings->input_hold, error);
    if (status == KBASS_OK) status = set_delays(p, error);
    if (status == KBASS_OK) status = condense(p, error);
    if (status == KBASS_OK) status = choose_patches(p, error);
    if (status == KBASS_OK) status = make_reference(p, error);
    if (status == KBASS_OK) status = take_velocities(p, data->n_hidden, error);
    if (status == KBASS_OK)
        status = kb_columns_create(dictionary, p->record->sd, p->record->span, p->n_reference, p->reference,
                                   p->slope_squares, &p->columns, error);
    if (status == KBASS_OK) status = screen(p, error);
    if (status == KBASS_OK) status = find_analogies(p, error);
    if (status == KBASS_OK) status = list_all(p, error);
    if (status == KBASS_OK) *out = p;
    else kb_ode_problem_destroy(p);
    return status;
}

void kb_ode_problem_destroy(kb_ode_problem *p)
{
    if (!p) return;
    destroy_patches(p);
    kb_record_destroy(p->record);
    kb_columns_destroy(p->columns);
    kb_support_clear(&p->all);
    destroy_reference(p);
    kb_structures_destroy(p->structures);
    for (int is_ring = 0; is_ring < KB_ANALOGIES; is_ring++) kb_analogy_destroy(p->analogies[is_ring]);
    kb_free(p);
}

bool kb_ode_problem_is_large(const kb_ode_problem *p)
{
    return p->is_wide || (p->is_long && has_all_states(p)); /* the weak form needs values of a velocity */
}

size_t kb_ode_problem_level(const kb_ode_problem *p, double length)
{
    size_t best = 0;
    for (size_t i = 1; i < p->n_levels; i++)
        if (fabs(log(kb_ode_problem_length(p, i) / length)) < fabs(log(kb_ode_problem_length(p, best) / length)))
            best = i;
    return best;
}

kb_frame kb_ode_problem_frame(const kb_ode_problem *p)
{
    return (kb_frame){p->dictionary,     p->columns, p->record->mean,   p->record->sd,   p->record->span,
                      p->record->n_runs, true,       p->record->n_rows, p->n_rows_before};
}
