#include "discover/crossing.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "search/neighbours.h"
#include "search/polish.h"
#include "search/task.h"
#include "forward/spectral/fourier_model.h"

enum { LEAST_WAVES = 5, LEAST_MODES = 150, MOST_MODES = 900, MOST_STEPS = 64, MOST_COEFFICIENTS = 10000 };
static const double matern_length =
    0.41; /* 1/sqrt(6): a Matern-5/2 spectrum falls at first as the Gaussian one of length 1 */
static const double unseen = 0.001, rough = 0.05; /* error of steps and waves, over the noise variance: in the end, and
                                                    while models are still wrong */
static const double least_noise = 1e-6;           /* variance that models are told from each other by */
static const double most_operations = 4e12;       /* of one integration with tangents */
static const double most_bytes = 1.2e9;           /* of all threads' tangents */
static const double dear_operations =
    5e9; /* of one integration with the start's tangents: from there on fits are few */

typedef struct {
    const kb_pde_nd_problem *problem;
    kb_fourier_settings fourier;
    double tolerance; /* of sums of squares, over the noise variance: what two resolutions may differ by */
    double noise;     /* variance, by the bare field: the mean over fields */
    kb_support all;
    kb_search search;
    kb_pool pool;
    size_t n_fitted; /* models, on all stretches */
} crossing;

/* ---------------------------------------------------------------- the box and its resolution */

static void plan(crossing *c)
{
    const kb_field_samples *samples = c->problem->run_samples[0];
    const kb_patched_domain *domain = c->problem->domain;
    double amplitude = 1;
    for (size_t f = 0; f < samples->n_fields; f++) {
        amplitude = fmax(amplitude, domain->amplitude[f]);
        c->noise += domain->variance[f] / (double)samples->n_fields;
    }
    size_t seen = samples->n_points / samples->n_grid[0] /
                  2; /* half of what a row shows: beyond are the corners of the spectrum */
    c->fourier = (kb_fourier_settings){.amplitude = sqrt(amplitude),
                                       .noise = c->noise,
                                       .steps = 1,
                                       .most_modes = seen < LEAST_MODES ? LEAST_MODES : seen};
    if (c->fourier.most_modes > MOST_MODES / samples->n_fields) c->fourier.most_modes = MOST_MODES / samples->n_fields;
    for (size_t a = 0; a + 1 < samples->n_axes; a++) {
        c->fourier.period[a] = samples->period[a + 1];
        c->fourier.length[a] = matern_length * domain->run_domains[0].gp->length[a + 1];
        c->fourier.n_waves[a] = (size_t)fmax(LEAST_WAVES, ceil(0.5 * c->fourier.period[a] / samples->spacing[a + 1]));
    }
}

static kbass_status make_model(const crossing *c, const kb_fourier_settings *settings, size_t max_tangents,
                               kb_fourier_model **out, kbass_error *error)
{
    const kb_pde_nd_problem *e = c->problem;
    return kb_fourier_model_create(e->run_samples[0], e->dictionary, e->columns, settings, max_tangents, out, error);
}

/* A model and where it starts: on a fourier of these settings. */
typedef struct {
    const kb_fit *fit;
    const double *start;
    kb_fourier_settings fourier;
} course;

/* A model's predictions up to a row at some resolution; false in *done when it cannot be integrated. */
static kbass_status foretell(const crossing *c, const course *from, const kb_fourier_settings *settings, size_t last,
                             double *predicted, bool *done, kbass_error *error)
{
    kb_fourier_model *known = NULL, *fourier = NULL;
    double *start = NULL;
    kbass_status status = make_model(c, &from->fourier, KB_NO_TANGENTS, &known, error);
    if (status == KBASS_OK) status = make_model(c, settings, KB_NO_TANGENTS, &fourier, error);
    if (status == KBASS_OK && !(start = KB_NEW(double, fourier->dynamics.n_start)))
        status = kb_out_of_memory(error, "the start");
    if (status == KBASS_OK) {
        kb_dynamics *d = &fourier->dynamics;
        kb_fourier_model_translate(known, from->start, fourier, start);
        d->set_model(d, &from->fit->support, from->fit->w, NULL);
        *done = d->predict(d, 0, last, start, predicted, NULL);
    }
    if (known) known->dynamics.destroy(&known->dynamics);
    if (fourier) fourier->dynamics.destroy(&fourier->dynamics);
    kb_free(start);
    return status;
}

static bool is_same(const crossing *c, size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum < c->tolerance * fmax(c->noise, least_noise);
}

/* Twice the steps, or half as many waves again. */
static kb_fourier_settings refine(const crossing *c, bool in_time)
{
    kb_fourier_settings finer = c->fourier;
    if (in_time) finer.steps *= 2;
    for (size_t a = 0; !in_time && a + 1 < c->problem->run_samples[0]->n_axes; a++)
        finer.n_waves[a] += (finer.n_waves[a] + 1) / 2;
    return finer;
}

static bool is_too_fine(const crossing *c, const kb_fourier_settings *settings)
{
    double coefficients = (double)c->problem->run_samples[0]->n_fields;
    for (size_t a = 0; a + 1 < c->problem->run_samples[0]->n_axes; a++)
        coefficients *= 2 * (double)settings->n_waves[a] + 1;
    return settings->steps > MOST_STEPS || coefficients > MOST_COEFFICIENTS;
}

/* The coarsest steps and, if asked for, waves at which a model's predictions up to a row are those of finer ones; false
 *in found when there are none. */
static kbass_status resolve(crossing *c, const course *from, size_t last, bool with_waves, bool *found,
                            kbass_error *error)
{
    size_t n = c->problem->run_samples[0]->n_values;
    double *here = KB_NEW(double, n), *there = KB_NEW(double, n); /* what is not reached stays 0 */
    bool is_here = false, is_there = false;
    kbass_status status = here && there ? foretell(c, from, &c->fourier, last, here, &is_here, error)
                                        : kb_out_of_memory(error, "the search");
    *found = true;
    for (int in_time = 1; status == KBASS_OK && *found && in_time >= !with_waves; in_time--)
        for (bool same = false; status == KBASS_OK && *found && !same;) {
            kb_fourier_settings finer = refine(c, in_time);
            if (!in_time && is_here && is_too_fine(c, &finer)) break; /* what there is has to do */
            *found = !is_too_fine(c, &finer);
            if (*found) status = foretell(c, from, &finer, last, there, &is_there, error);
            same = *found && is_here && is_there && is_same(c, n, here, there);
            double *swapped = here;
            if (!same) here = there, there = swapped, is_here = is_there, c->fourier = finer;
        }
    kb_free(here);
    kb_free(there);
    return status;
}

/* ---------------------------------------------------------------- workers */

static double bytes_of(const kb_fourier_model *fourier, size_t columns)
{
    double P = (double)(columns + fourier->dynamics.n_start);
    return 8 * P *
           (2 * (double)fourier->dynamics.observation_start[fourier->dynamics.n_rows] + 2 * P + (double)fourier->size);
}

static kbass_status make_shooter(const void *context, kb_shooter **out, kbass_error *error)
{
    const crossing *c = context;
    const kb_columns *columns = c->problem->columns;
    kb_fourier_model *fourier = NULL;
    kbass_status status = make_model(c, &c->fourier, columns->n, &fourier, error);
    return status == KBASS_OK ? kb_shooter_create_on(&fourier->dynamics, columns, 1, columns->n, out, error) : status;
}

/* One worker per thread, fewer where memory is short; none where the way is too far. */
static kbass_status equip(crossing *c, kbass_error *error)
{
    const kb_columns *columns = c->problem->columns;
    kb_fourier_model *fourier = NULL;
    kb_workers_destroy(&c->search.workers);
    kbass_status status = make_model(c, &c->fourier, KB_NO_TANGENTS, &fourier, error);
    if (status != KBASS_OK) return status;
    kb_dynamics *d = &fourier->dynamics;
    int affordable = (int)fmin(c->problem->domain->threads, most_bytes / bytes_of(fourier, columns->n));
    if (d->cost(d, columns->n) > most_operations) affordable = 0;
    bool is_dear = affordable && d->cost(d, 0) > dear_operations;
    d->destroy(d);
    status = kb_workers_create(affordable, make_shooter, c, columns, &c->search.workers, error);
    c->search.schedule = is_dear ? &kb_schedule_of_dear_axes.value : &kb_schedule_of_axes.value;
    c->search.screened = !is_dear && c->problem->run_samples[0]->n_fields == 1;
    return status;
}

/* ---------------------------------------------------------------- the search */

/* A structure of the kernel engine with its weights; starts by regression. */
static kbass_status enter(crossing *c, const kb_fit *from, kbass_error *error)
{
    kb_dynamics *d = c->search.workers.list[0]->shooter->dynamics;
    kb_fit *fit = NULL;
    kbass_status status = kb_pool_add(&c->pool, &from->support, &fit, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->w, from->w, c->problem->columns->n * sizeof *fit->w);
    for (size_t f = 0; f < d->n_groups; f++) fit->variance[f] = fmax(2 * from->variance[f], 1e-4);
    return kb_fit_guess(d, c->search.windows, fit, error);
}

static bool is_valid(const crossing *c) { return c->pool.n && c->pool.fits[0]->valid; }

static bool is_followed(const crossing *c)
{
    const kb_fit *best = is_valid(c) ? c->pool.fits[0] : NULL;
    return best && best->n_rows == c->problem->run_samples[0]->n_grid[0] &&
           best->misfit * best->misfit <= c->search.schedule->lost * fmax(c->noise, least_noise);
}

/* Fits models, and searches on from them, on the record's first rows. */
static kbass_status search_on(crossing *c, size_t n_rows, const kb_pool *models, bool *settled, kbass_error *error)
{
    const kb_dynamics *d = c->search.workers.list[0]->shooter->dynamics;
    const kb_schedule *s = c->search.schedule;
    kb_windows_destroy(c->search.windows);
    c->search.windows = NULL;
    kb_pool_clear(&c->pool);
    kb_pool_init(&c->pool, c->problem->columns->n, d->n_start, 1);
    kbass_status status = kb_windows_divide(n_rows, 1, &c->search.windows, error);
    for (size_t i = 0; status == KBASS_OK && i < models->n && i < (size_t)s->kept; i++)
        if (models->fits[i]->valid && models->fits[i]->log_evidence >= models->fits[0]->log_evidence - s->worth_keeping)
            status = enter(c, models->fits[i], error);
    if (status == KBASS_OK) status = kb_search_fit(&c->search, (int)s->fit_iterations, error);
    if (status == KBASS_OK)
        status = kb_search_explore(&c->search, (size_t)s->stage_beam, (int)s->stage_rounds, settled, error);
    c->n_fitted += c->pool.n;
    return status;
}

/* As search_on, from the models at hand. */
static kbass_status search_farther(crossing *c, size_t n_rows, bool *settled, kbass_error *error)
{
    kb_pool known;
    kb_pool_init(&known, c->pool.n_columns, c->pool.n_start, 1);
    kb_pool_swap(&c->pool, &known);
    kbass_status status = search_on(c, n_rows, &known, settled, error);
    kb_pool_clear(&known);
    return status;
}

/* How fine steps and waves have to be, by the best model at hand; workers anew if they are not. */
static kbass_status sharpen(crossing *c, const kb_fit *fit, const double *start, size_t last, double tolerance,
                            bool with_waves, kbass_error *error)
{
    course from = {fit, start, c->fourier};
    bool found = false;
    c->tolerance = tolerance * (double)c->problem->run_samples[0]->n_values;
    kbass_status status = resolve(c, &from, last, with_waves, &found, error);
    kb_trace_line(c->search.run->trace, "resolution: %zu steps, %zu waves, %zu modes", c->fourier.steps,
                  c->fourier.n_waves[0], c->fourier.most_modes);
    if (status == KBASS_OK && !found) kb_workers_destroy(&c->search.workers);
    if (status == KBASS_OK && found && (!c->search.workers.n || memcmp(&from.fourier, &c->fourier, sizeof c->fourier)))
        status = equip(c, error);
    return status;
}

/* The steps that a proposal needs, from the start that the first row suggests. */
static kbass_status sharpen_first(crossing *c, const kb_fit *proposal, size_t last, kbass_error *error)
{
    kb_fourier_model *fourier = NULL;
    double *start = NULL;
    kbass_status status = make_model(c, &c->fourier, KB_NO_TANGENTS, &fourier, error);
    if (status == KBASS_OK) {
        start = KB_NEW(double, fourier->dynamics.n_start);
        status =
            start ? fourier->dynamics.guess(&fourier->dynamics, 0, start, error) : kb_out_of_memory(error, "the start");
        fourier->dynamics.destroy(&fourier->dynamics);
    }
    if (status == KBASS_OK) status = sharpen(c, proposal, start, last, rough, false, error);
    kb_free(start);
    return status;
}

/* From the record's first rows, where a wrong model is not lost at once, to all of it. */
static kbass_status search(crossing *c, const kb_pool *proposals, kb_search_result *result, kbass_error *error)
{
    size_t rows = c->problem->run_samples[0]->n_grid[0];
    size_t least = (size_t)c->search.schedule->least_rows;
    size_t first = rows < 4 * least ? (rows < least ? rows : least) : (rows + 3) / 4;
    kbass_status status = sharpen_first(c, proposals->fits[0], first - 1, error);
    if (status == KBASS_OK && c->search.workers.n) status = search_on(c, first, proposals, &result->settled, error);
    for (size_t n = first;
         status == KBASS_OK && c->search.workers.n && n < rows && is_valid(c) && !kb_run_stopped(c->search.run);) {
        n = 2 * n < rows ? 2 * n : rows;
        status = sharpen(c, c->pool.fits[0], c->pool.fits[0]->start, n - 1, n < rows ? rough : unseen, true, error);
        if (status == KBASS_OK && c->search.workers.n) status = search_farther(c, n, &result->settled, error);
    }
    return status;
}

/* A run that is stopped may fit what it has to the whole record. */
static kbass_status make_do(crossing *c, bool *settled, kbass_error *error)
{
    c->search.deadline = kb_clock() + c->search.schedule->grace;
    kb_pool_trim(&c->pool, 1);
    return search_farther(c, c->problem->run_samples[0]->n_grid[0], settled, error);
}

/* The fitted pool, its windows and fourier go to the result. */
static kbass_status conclude(crossing *c, kb_search_result *result, kbass_error *error)
{
    result->fourier = KB_NEW(kb_fourier_settings, 1);
    if (!result->fourier) return kb_out_of_memory(error, "the answer");
    *result->fourier = c->fourier;
    kb_pool_swap(&c->pool, &result->pool);
    c->search.pool = &result->pool;
    result->windows = c->search.windows;
    kbass_status status = kb_polish(&c->search, result, error);
    c->search.windows = NULL; /* the result's */
    result->n_models = c->n_fitted;
    result->n_starts = 1;
    return status;
}

/* One run, first order in time, all axes closed: what comes in at an open end would have to be known. */
bool kb_crossing_is_possible(const kb_pde_nd_problem *e)
{
    bool is_closed = true;
    for (size_t a = 1; a < e->run_samples[0]->n_axes; a++) is_closed = is_closed && e->run_samples[0]->period[a] > 0;
    return is_closed && e->n_runs == 1 && e->dictionary->time_order == 1 && e->run_samples[0]->n_axes > 2;
}

kbass_status kb_crossing_search(const kb_pde_nd_problem *e, const kb_pool *proposals, kb_run *run,
                                kb_search_result *result, kbass_error *error)
{
    crossing c = {.problem = e};
    if (!proposals->n || kb_run_stopped(run)) return KBASS_OK;
    plan(&c);
    kbass_status status = kb_support_create(e->columns->n, &c.all, error);
    for (size_t q = 0; status == KBASS_OK && q < e->columns->n; q++) kb_support_add(&c.all, q);
    c.search = (kb_search){
        .schedule = &kb_schedule_of_axes.value, .columns = e->columns, .all = &c.all, .pool = &c.pool, .run = run};
    if (status == KBASS_OK) status = search(&c, proposals, result, error);
    bool is_stopped = kb_run_stopped(run) && c.search.workers.n && is_valid(&c);
    if (status == KBASS_OK && is_stopped && !is_followed(&c)) status = make_do(&c, &result->settled, error);
    if (status == KBASS_OK && c.search.workers.n && (is_stopped ? is_valid(&c) : is_followed(&c)))
        status = conclude(&c, result, error);
    kb_windows_destroy(c.search.windows);
    kb_workers_destroy(&c.search.workers);
    kb_support_clear(&c.all);
    kb_pool_clear(&c.pool);
    return status;
}
