#include "discover/problem.h"

#include <math.h>
#include <omp.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

static const double longest = 0.4, ratio = 0.75; /* of the ladder of length scales, in shares of the record */
enum { MESH_AT_LEAST = 200, MESH_AT_MOST = 800, VARIANCES = 13 };

static void destroy_levels(kb_problem *p)
{
    for (size_t i = 0; i < p->n_levels; i++) kb_level_destroy(p->levels[i]);
    p->n_levels = p->max_rank = 0;
}

/* Length scales from `longest` down to `floor`, on p->n_mesh points. */
static kbass_status create_levels(kb_problem *p, double floor, kbass_error *error)
{
    size_t n = 1 + (size_t)ceil(log(floor / longest) / log(ratio));
    kbass_status status = KBASS_OK;
    if (n > KB_MAX_LEVELS) n = KB_MAX_LEVELS;
    kbass_status statuses[KB_MAX_LEVELS];
    #pragma omp parallel for schedule(dynamic) num_threads(p->threads)
    for (size_t i = 0; i < n; i++) {
        kb_kernel_kind kind = (kb_kernel_kind)p->settings->kernel;
        statuses[i] = kb_level_create(p->record, kind, longest * pow(ratio, (double)i), p->n_mesh, &p->levels[i], NULL);
    }
    p->n_levels = n;
    for (size_t i = 0; i < n; i++) {
        if (statuses[i] != KBASS_OK) status = kb_fail(error, statuses[i], "the kernel's basis could not be made");
        else if (p->levels[i]->rank > p->max_rank) p->max_rank = p->levels[i]->rank;
    }
    return status;
}

static double grid_variance(int i) { return pow(10, -6 + 0.45 * i); } /* 1e-6 to 0.25 */

/* Marginal likelihood of the bare field over levels and noise. Scales below 0.55 of the spacing make any data look like
   white noise and are left out. */
static kbass_status fit_bare_field(kb_problem *p, kbass_error *error)
{
    double best = -INFINITY;
    double *work = KB_NEW(double, 2 * p->max_rank * p->max_rank + 2 * p->max_rank);
    if (!work) return kb_out_of_memory(error, "the field");
    p->best_level = 0;
    p->best_variance = grid_variance(0);
    for (size_t level = 0; level < p->n_levels; level++) {
        if (p->levels[level]->length < 0.55 * p->record->spacing) break;
        for (int i = 0; i < VARIANCES; i++) {
            double evidence = kb_level_evidence(p->levels[level], p->record, grid_variance(i), work);
            if (!(evidence > best)) continue;
            best = evidence;
            p->best_level = level;
            p->best_variance = grid_variance(i);
        }
    }
    kb_free(work);
    return isfinite(best) ? KBASS_OK
                          : kb_fail(error, KBASS_ERROR_NUMERICAL, "no length scale of the kernel fits these data");
}

/* The mesh follows the field: where the shortest scale wins on data dense enough to show more, halve scale and mesh. */
static kbass_status choose_mesh(kb_problem *p, kbass_error *error)
{
    double floor = 0.015;
    kbass_status status = KBASS_OK;
    p->n_mesh = p->settings->mesh ? (size_t)p->settings->mesh : MESH_AT_LEAST;
    for (;;) {
        status = create_levels(p, floor, error);
        if (status == KBASS_OK) status = fit_bare_field(p, error);
        bool at_floor = p->best_level + 3 >= p->n_levels;
        if (status != KBASS_OK || p->settings->mesh || !at_floor || floor < p->record->spacing ||
            p->n_mesh >= MESH_AT_MOST) return status;
        destroy_levels(p);
        floor /= 2;
        p->n_mesh *= 2;
    }
}

static kbass_status make_reference(kb_problem *p, kbass_error *error)
{
    const kb_record *record = p->record;
    const kb_level *level = p->levels[p->best_level];
    size_t m = p->n_mesh, n = record->n_states, r = level->rank;
    double *z = KB_NEW(double, r), *work = KB_NEW(double, r * r);
    p->reference = KB_NEW(double, m * (n + 1));
    p->follow = KB_NEW(double, m * n);
    p->reference_slope = KB_NEW(double, m * n);
    p->slope_squares = KB_NEW(double, n);
    bool done = z && work && p->reference && p->follow && p->reference_slope && p->slope_squares;
    for (size_t i = 0; done && i < n; i++) {
        double v = record->known_variance[i] > 0 ? record->known_variance[i] : p->best_variance;
        double *u = p->reference + i * m, *slope = p->reference_slope + i * m;
        done = kb_level_regress(level, record, i, v, z, work);
        kb_gemv(KB_PLAIN, m, r, 1, level->mesh, m, z, 0, p->follow + i * m);
        for (size_t k = 0; k < m; k++) u[k] = record->mean[i] + record->sd[i] * p->follow[k + i * m];
        kb_gemv(KB_PLAIN, m, r, 1, level->slope, m, z, 0, slope);
        p->slope_squares[i] = kb_dot(m, slope, slope) / (double)m;
    }
    for (size_t k = 0; done && k < m; k++)
        p->reference[n * m + k] = record->first + record->span * (double)k / (double)(m - 1);
    kb_free(z);
    kb_free(work);
    return done ? KBASS_OK : kb_out_of_memory(error, "the field");
}

static kbass_status list_all(kb_problem *p, kbass_error *error)
{
    kbass_status status = kb_support_create(p->columns->n, &p->all, error);
    for (size_t i = 0; status == KBASS_OK && i < p->columns->n; i++) p->all.column[p->all.n++] = i;
    return status;
}

kbass_status kb_problem_create(const kbass_data *data, const kbass_settings *settings, const kb_dictionary *dictionary,
                               kb_problem **out, kbass_error *error)
{
    kb_problem *p = KB_NEW(kb_problem, 1);
    if (!p) return kb_out_of_memory(error, "the problem");
    p->settings = settings;
    p->dictionary = dictionary;
    p->threads = settings->threads ? settings->threads : omp_get_num_procs();
    int blas_threads = kb_blas_threads(1);
    kbass_status status = kb_record_create(data, settings->noise, &p->record, error);
    if (status == KBASS_OK) status = choose_mesh(p, error);
    if (status == KBASS_OK) status = make_reference(p, error);
    if (status == KBASS_OK)
        status = kb_columns_create(dictionary, p->record, p->n_mesh, p->reference, p->slope_squares, &p->columns, error);
    if (status == KBASS_OK) status = list_all(p, error);
    kb_blas_threads(blas_threads);
    if (status == KBASS_OK) *out = p;
    else kb_problem_destroy(p);
    return status;
}

void kb_problem_destroy(kb_problem *p)
{
    if (!p) return;
    destroy_levels(p);
    kb_record_destroy(p->record);
    kb_columns_destroy(p->columns);
    kb_support_clear(&p->all);
    kb_free(p->reference);
    kb_free(p->follow);
    kb_free(p->reference_slope);
    kb_free(p->slope_squares);
    kb_free(p);
}

size_t kb_problem_level(const kb_problem *p, double length)
{
    size_t best = 0;
    for (size_t i = 1; i < p->n_levels; i++)
        if (fabs(log(p->levels[i]->length / length)) < fabs(log(p->levels[best]->length / length))) best = i;
    return best;
}
