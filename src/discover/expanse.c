#include "discover/expanse.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "discover/clouds.h"
#include "discover/crossing.h"
#include "discover/seeker.h"
#include "discover/trace.h"
#include "gp/mesh.h"
#include "posterior/band.h"
#include "posterior/plane_solution.h"
#include "solve/refine_mesh.h"

static const kb_scope scope = {0.6, 0.8, true}; /* there are many data: the bare field's scales are near */
static const double nats_reported = 12;         /* below the best: what the answer still averages over */

/* Where nobody said which axes are periodic, and fields may be followed if all of them are (crossing.h). */
static bool may_look(const kb_expanse *e, const kbass_settings *settings)
{
    bool is_told = settings->periodic && *settings->periodic;
    return !is_told && e->n_runs == 1 && e->dictionary->time_order == 1 && e->dictionary->n_axes > 2;
}

/* A cloud for each run, with what the settings say of it. */
static kbass_status make_clouds(kb_expanse *e, const kbass_data *data, const kbass_settings *settings,
                                kbass_error *error)
{
    bool is_one;
    e->n_runs = kbass_data_runs(data);
    e->clouds = KB_NEW(kb_cloud *, e->n_runs);
    if (!e->clouds) return kb_out_of_memory(error, "the problem");
    kbass_status status = kb_clouds_create(data, settings, e->dictionary, e->clouds, &is_one, error);
    for (size_t run = 0; status == KBASS_OK && run < e->n_runs; run++) {
        status = kb_cloud_read_periodic(e->clouds[run], data, settings->periodic, error);
        if (status == KBASS_OK && may_look(e, settings)) status = kb_cloud_find_periodic(e->clouds[run], error);
        if (status == KBASS_OK) status = kb_mesh_lay(e->clouds[run], data, settings, e->dictionary, error);
        if (status == KBASS_OK)
            status = kb_mesh_check_memory(e->clouds[run], kb_bench_doubles_per_point(e->dictionary), error);
    }
    return status;
}

kbass_status kb_expanse_create(const kbass_data *data, const kbass_settings *settings, const kb_dictionary *dictionary,
                               kb_expanse **out, kbass_error *error)
{
    int threads = settings->threads ? settings->threads : omp_get_num_procs();
    kb_expanse *e = KB_NEW(kb_expanse, 1);
    if (!e) return kb_out_of_memory(error, "the problem");
    e->dictionary = dictionary;
    kbass_status status = make_clouds(e, data, settings, error);
    if (status == KBASS_OK)
        status = kb_terrain_create(e->n_runs, e->clouds, dictionary, settings, scope, threads, &e->terrain, error);
    if (status == KBASS_OK) {
        kb_terrain *t = e->terrain;
        status = kb_columns_create(dictionary, t->cloud->sd, t->cloud->span[0], t->n_reference, t->reference,
                                   t->slope_squares, &e->columns, error);
    }
    if (status == KBASS_OK) *out = e;
    else kb_expanse_destroy(e);
    return status;
}

void kb_expanse_destroy(kb_expanse *e)
{
    if (!e) return;
    kb_columns_destroy(e->columns);
    kb_terrain_destroy(e->terrain);
    for (size_t run = 0; e->clouds && run < e->n_runs; run++) kb_cloud_destroy(e->clouds[run]);
    kb_free(e->clouds);
    kb_free(e);
}

kb_frame kb_expanse_frame(const kb_expanse *e)
{
    const kb_cloud *c = e->clouds[0];
    return (kb_frame){e->dictionary, e->columns, c->mean, c->sd, c->span[0], e->n_runs, false};
}

/* ---------------------------------------------------------------- states as fits */

/* The weights' covariance from the message at the state as it is. */
static bool measure_covariance(kb_mosaic *m, kb_state *state, double *covariance)
{
    size_t k = state->support.n;
    if (!kb_mosaic_listen(m, state, &state->support)) return false;
    memcpy(covariance, m->G, k * k * sizeof *covariance);
    for (size_t q = 0; q < k; q++) covariance[q + q * k] += 1 / m->slab[state->support.column[q]];
    return kb_cholesky(k, covariance, k) && kb_cholesky_inverse(k, covariance, k);
}

static kbass_status enter(kb_seeker *s, kb_state *state, kb_pool *pool, kbass_error *error)
{
    kb_fit *fit = NULL;
    kbass_status status = kb_pool_add(pool, &state->support, &fit, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->w, state->w, s->columns->n * sizeof *fit->w);
    memcpy(fit->variance, state->variance, s->mosaic->n_fields * sizeof *fit->variance);
    fit->log_evidence = state->log_evidence;
    fit->valid = measure_covariance(s->mosaic, state, fit->covariance);
    fit->converged = state->is_settled;
    fit->misfit = kb_mosaic_misfit(s->mosaic, state);
    return KBASS_OK;
}

static kbass_status form_result(kb_seeker *s, kb_search_result *result, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    kb_pool_init(&result->pool, s->columns->n, s->mosaic->n_fields, 0);
    for (size_t i = 0; status == KBASS_OK && i < s->pool.n; i++)
        if (s->pool.states[i]->log_evidence > s->pool.states[0]->log_evidence - nats_reported)
            status = enter(s, s->pool.states[i], &result->pool, error);
    result->n_starts = 1;
    result->n_models = s->n_weighed;
    result->n_patches = s->terrain->n_patches;
    if (status != KBASS_OK || !result->pool.n || !result->pool.fits[0]->valid) return status;
    status = kb_opinion_form(s, s->pool.states[0], &result->opinion, error);
    if (status == KBASS_OK && kb_mosaic_listen(s->mosaic, s->pool.states[0], &s->mosaic->all)) {
        kb_seeker_take_message(s);
        status = kb_search_result_measure(result, s->message, &s->view, s->work, error);
    }
    return status;
}

/* What the bare field suggests, likely terms and less likely ones, is enough where the fields can be followed from
 * there. */
static kbass_status cross(const kb_expanse *e, kb_seeker *s, kb_run *run, kb_search_result *result, kbass_error *error)
{
    static const double thresholds[] = {0.5, 0.05};
    double clock = kb_run_stage(run, KBASS_STAGE_ARBITRATE, 0.05, 0.5);
    kbass_status status = KBASS_OK;
    kb_pool opinions;
    kb_pool_init(&opinions, s->columns->n, s->mosaic->n_fields, 0);
    bool has_begun = kb_seeker_begin(s, s->spare[0]);
    for (size_t i = 0; status == KBASS_OK && has_begun && i < 2 && kb_seeker_glance(s, thresholds[i], s->spare[0]);
         i++) {
        kb_fit *fit = NULL;
        if (kb_pool_find(&opinions, &s->spare[0]->support)) continue;
        status = kb_pool_add(&opinions, &s->spare[0]->support, &fit, error);
        if (status != KBASS_OK) break;
        memcpy(fit->w, s->spare[0]->w, s->columns->n * sizeof *fit->w);
        memcpy(fit->variance, s->spare[0]->variance, s->mosaic->n_fields * sizeof *fit->variance);
        fit->valid = true;
    }
    if (status == KBASS_OK) status = kb_crossing_search(e, &opinions, run, result, error);
    result->seconds[KBASS_STAGE_ARBITRATE] = kb_clock() - clock;
    kb_pool_clear(&opinions);
    return status;
}

/* The kernel engine's own answer. */
static kbass_status answer_by_kernel(kb_seeker *s, kb_run *run, kb_search_result *result, kbass_error *error)
{
    double clock = kb_run_stage(run, KBASS_STAGE_SEARCH, fmax(run->fraction, 0.05), 0.95);
    kb_seeker_descend(s, error);
    kbass_status status = kb_seeker_ascend(s, error);
    kb_seeker_level(s, nats_reported);
    kb_trace_states(s, "levelled");
    result->seconds[KBASS_STAGE_SEARCH] = kb_clock() - clock;
    clock = kb_run_stage(run, KBASS_STAGE_POLISH, 0.95, 1);
    if (status == KBASS_OK) status = form_result(s, result, error);
    result->seconds[KBASS_STAGE_POLISH] = kb_clock() - clock;
    return status;
}

kbass_status kb_expanse_search(const kb_expanse *e, kb_run *run, kb_search_result *result, kbass_error *error)
{
    kb_seeker *s = NULL;
    memset(result, 0, sizeof *result);
    kbass_status status = kb_seeker_create(e->terrain, e->columns, run, &s, error);
    if (status == KBASS_OK) {
        s->has_many_data = true;
        if (kb_crossing_is_possible(e)) status = cross(e, s, run, result, error);
    }
    if (status == KBASS_OK && !result->plane) {
        status = answer_by_kernel(s, run, result, error);
        result->settled = true;
    }
    kb_seeker_destroy(s);
    return status;
}

/* ---------------------------------------------------------------- the solution */

/* The kernel engine's own field. */
static kbass_status solution_of_kernel(const kb_expanse *e, const kb_search_result *found, size_t run, size_t n,
                                       const double *times, const double *positions, double *mean, double *sd,
                                       kbass_error *error)
{
    size_t axes = e->clouds[run]->n_axes, fields = e->clouds[run]->n_fields;
    double *points = KB_NEW(double, n *axes), *u = KB_NEW(double, n *fields), *band = KB_NEW(double, n *fields);
    kbass_status status = points && u && band ? KBASS_OK : kb_out_of_memory(error, "the solution");
    if (status == KBASS_OK) {
        for (size_t i = 0; i < n; i++) {
            points[i] = times[i];
            for (size_t a = 1; a < axes; a++) points[i + a * n] = positions[i * (axes - 1) + a - 1];
        }
        status = kb_opinion_field(e->terrain, e->columns, &found->opinion, run, n, points, u, band, NULL, error);
    }
    for (size_t i = 0; status == KBASS_OK && i < n; i++)
        for (size_t f = 0; f < fields; f++) {
            mean[i * fields + f] = u[i + f * n];
            if (sd) sd[i * fields + f] = band[i + f * n];
        }
    kb_free(points);
    kb_free(u);
    kb_free(band);
    return status;
}

typedef struct {
    const kb_expanse *expanse;
    const kb_search_result *found;
    size_t n;
    const double *times, *positions;
} whereabouts;

static kbass_status solution_of(const void *context, const kb_fit *fit, double *mean, double *sd, kbass_error *error)
{
    const whereabouts *at = context;
    const kb_expanse *e = at->expanse;
    return kb_plane_solution(e->clouds[0], e->dictionary, e->columns, at->found->plane, at->found->windows, fit, at->n,
                             at->times, at->positions, mean, sd, error);
}

kbass_status kb_expanse_solution(const kb_expanse *e, const kb_search_result *found, size_t run, size_t n,
                                 const double *times, const double *positions, double *mean, double *sd,
                                 kbass_error *error)
{
    whereabouts at = {e, found, n, times, positions};
    if (!found->plane) return solution_of_kernel(e, found, run, n, times, positions, mean, sd, error);
    if (!sd) return solution_of(&at, found->pool.fits[0], mean, NULL, error);
    return kb_band(found->pool.n, found->pool.fits, KB_RIVALS_OF_FIELDS, n * e->clouds[0]->n_fields, solution_of, &at,
                   mean, sd, error);
}
