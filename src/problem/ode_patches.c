#include <math.h>
#include <omp.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/status.h"
#include "gp/mesh.h"
#include "gp/scales.h"
#include "gp/swings.h"
#include "problem/ode_parts.h"

static const double longest = 0.4;    /* of a patch: longest scale of the ladder */
static const double shortest = 0.015; /* of a patch: shortest scale, three points of its mesh */
static const double ratio = 0.75;     /* of neighbours on the ladder */
enum { MESH = 200 };                  /* points: of a patch's mesh; the recipe's */
enum { MOST_PATCHES = 64 };           /* patches: of the record; seconds */
enum { ROWS_PER_PATCH = 12 };         /* rows: that a patch holds at least */
/* Long records are those of oscillators: chaotic ones, whose periods differ by more, go the way of short ones, unless
   that is equation by equation, which sees no windows (two coupled oscillators over 100 periods had no law). */
static const double regular = 0.2; /* spread of the periods: less, and it is an oscillator */
enum { LONG_PERIODS = 24 };        /* periods: of long records */
enum { LONG_ROWS = 384 };          /* rows: of long records */
enum { PATCH_PERIODS = 4 };        /* periods: of their patches */
enum { SAMPLED_PATCHES = 4 };      /* patches: that choose their length scale */

void kb_ode_patches_destroy(kb_ode_problem *p)
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

kbass_status kb_ode_patch_slice(const kb_ode_problem *p, size_t patch, kb_record **out, kbass_error *error)
{
    size_t run = 0;
    while (patch >= p->run_patch[run + 1]) run++;
    size_t first = p->run_patch[run], n = p->run_patch[run + 1] - first;
    return kb_record_slice(p->record, run, patch - first, n, out, error);
}

size_t kb_ode_patches_count(const kb_ode_problem *p) { return p->run_patch[p->record->n_runs]; }

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
    size_t all = kb_ode_patches_count(p), n_patches = p->is_long && all > SAMPLED_PATCHES ? SAMPLED_PATCHES : all;
    p->slices = KB_NEW(kb_record *, n_patches);
    p->levels = KB_NEW(kb_level *, n * n_patches);
    if (!p->slices || !p->levels) return kb_out_of_memory(error, "the patches");
    p->n_patches = n_patches;
    p->n_levels = n;
    for (size_t i = 0; status == KBASS_OK && i < n_patches; i++)
        status = kb_ode_patch_slice(p, i * all / n_patches, &p->slices[i], error);
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

double kb_ode_grid_variance(int i) { return pow(10, -6 + 0.45 * i); } /* 1e-6 to 0.25 */

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
    if (at == 0 || at + 1 == KB_ODE_VARIANCES) return kb_ode_grid_variance(at);
    double low = level_evidence(p, p->best_level, kb_ode_grid_variance(at - 1), work);
    double high = level_evidence(p, p->best_level, kb_ode_grid_variance(at + 1), work), bend = low + high - 2 * best;
    double shift = bend < 0 ? 0.5 * (low - high) / bend : 0;
    return kb_ode_grid_variance(at) * pow(10, 0.45 * fmax(-1, fmin(1, shift)));
}

/* Marginal likelihood of the bare field over levels and noise. */
static kbass_status fit_bare_field(kb_ode_problem *p, kbass_error *error)
{
    double best = -INFINITY, *work = KB_NEW(double, 2 * p->max_rank * p->max_rank + 2 * p->max_rank);
    int at = 0;
    if (!work) return kb_out_of_memory(error, "the field");
    p->best_level = 0;
    p->best_variance = kb_ode_grid_variance(0);
    for (size_t level = 0; level < p->n_levels; level++) {
        if (level && kb_ode_problem_length(p, level) < KB_SHORTEST_SCALE * p->record->spacing) break;
        for (int i = 0; i < KB_ODE_VARIANCES && !kb_budget_expired(); i++) {
            double evidence = level_evidence(p, level, kb_ode_grid_variance(i), work);
            if (!(evidence > best)) continue;
            best = evidence;
            p->best_level = level;
            p->best_variance = kb_ode_grid_variance(i);
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
    bool grows = spread <= regular || r->n_states >= KB_FEWEST_MIDDLE;
    return grows && 1 / period >= LONG_PERIODS && r->n_rows >= LONG_ROWS;
}

/* Patches follow the field: while the shortest scales win, and each half still holds enough rows, halve the patches. */
kbass_status kb_ode_patches_choose(kb_ode_problem *p, kbass_error *error)
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
        kb_ode_patches_destroy(p);
    }
}
