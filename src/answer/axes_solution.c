#include "answer/axes_solution.h"

#include "base/memory.h"
#include "base/status.h"
#include "posterior/band.h"
#include "posterior/fourier_solution.h"
#include "posterior/kernel_solution.h"

/* ---------------------------------------------------------------- covariances, made once */

kbass_status kb_axes_covariances(const kb_pde_nd_problem *e, kb_search_result *found, bool is_stopped,
                                 kbass_error *error)
{
    if (!found->engine.fourier || !kb_has_model(found)) return KBASS_OK;
    size_t n = is_stopped ? 1 : kb_count_near(found->pool.n, found->pool.fits);
    if (n > KB_RIVALS_OF_FIELDS) n = KB_RIVALS_OF_FIELDS;
    kbass_status status = KBASS_OK;
    found->engine.covariances = KB_NEW(double *, n);
    if (!found->engine.covariances) return kb_out_of_memory(error, "the band");
    found->engine.n_covariances = n;
    for (size_t i = 0; status != KBASS_ERROR_MEMORY && i < n; i++)
        status = kb_fourier_covariances(e->run_samples[0], e->dictionary, e->columns, found->engine.fourier,
                                        found->windows, found->pool.fits[i], &found->engine.covariances[i], error);
    return status == KBASS_ERROR_MEMORY ? status
                                        : KBASS_OK; /* a band that cannot be had is no reason to lose the rest */
}

static const double *covariance_of(const kb_search_result *found, const kb_fit *fit)
{
    for (size_t i = 0; i < found->engine.n_covariances; i++)
        if (found->pool.fits[i] == fit) return found->engine.covariances[i];
    return NULL;
}

/* ---------------------------------------------------------------- the solution */

/* n points x n_axes, column-major, as the kernel engine has them */
static double *list_points(size_t n, size_t axes, const double *times, const double *positions)
{
    double *points = KB_NEW(double, n *axes);
    for (size_t i = 0; points && i < n; i++) {
        points[i] = times[i];
        for (size_t a = 1; a < axes; a++) points[i + a * n] = positions[i * (axes - 1) + a - 1];
    }
    return points;
}

/* The kernel engine's own field. */
static kbass_status solution_of_kernel(const kb_pde_nd_problem *e, const kb_search_result *found, size_t run, size_t n,
                                       const double *times, const double *positions, double *mean, double *sd,
                                       kbass_error *error)
{
    size_t axes = e->run_samples[run]->n_axes, fields = e->run_samples[run]->n_fields;
    double *points = list_points(n, axes, times, positions), *u = KB_NEW(double, n *fields),
           *band = KB_NEW(double, n *fields);
    kbass_status status = points && u && band ? KBASS_OK : kb_out_of_memory(error, "the solution");
    if (status == KBASS_OK)
        status = kb_kernel_solution(e->domain, e->columns, &found->engine.proposal, run, n, points, u, sd ? band : NULL,
                                    NULL, error);
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
    const kb_pde_nd_problem *problem;
    const kb_search_result *found;
    size_t run, n;
    const double *times, *positions;
    kb_run *clock;
} whereabouts;

static kbass_status solution_of(const void *context, const kb_fit *fit, double *mean, double *sd, kbass_error *error)
{
    const whereabouts *at = context;
    const kb_pde_nd_problem *e = at->problem;
    const double *V = sd ? covariance_of(at->found, fit) : NULL;
    if (sd && !V) return kb_fail(error, KBASS_ERROR_NUMERICAL, "the fitted model has no covariance");
    return kb_fourier_solution(e->run_samples[0], e->dictionary, e->columns, at->found->engine.fourier,
                               at->found->windows, fit, V, at->n, at->times, at->positions, at->clock, mean, sd, error);
}

kbass_status kb_axes_solution(const kb_pde_nd_problem *e, const kb_search_result *found, size_t run, size_t n,
                              const double *times, const double *positions, kb_run *clock, double *mean, double *sd,
                              kbass_error *error)
{
    whereabouts at = {e, found, run, n, times, positions, clock};
    if (!found->engine.fourier) return solution_of_kernel(e, found, run, n, times, positions, mean, sd, error);
    if (!sd) return solution_of(&at, found->pool.fits[0], mean, NULL, error);
    return kb_band(found->pool.n, found->pool.fits, KB_RIVALS_OF_FIELDS, n * e->run_samples[0]->n_fields, solution_of,
                   &at, mean, sd, error);
}

/* ---------------------------------------------------------------- the posterior */

/* The kernel engine's fit of the pool's model `index`, or NULL. */
static const kb_kernel_fit *kernel_fit(const kb_search_result *found, size_t index)
{
    const kb_support *wanted = &found->pool.fits[index]->support;
    if (!index) return found->engine.proposal.w ? &found->engine.proposal : NULL;
    for (size_t i = 0; i < found->engine.n_rivals; i++)
        if (kb_support_equal(&found->engine.rivals[i].support, wanted)) return &found->engine.rivals[i];
    return NULL;
}

static kbass_status spread_of(const void *context, size_t index, size_t n, const double *times, const double *positions,
                              kb_field_spread *spread, kbass_error *error)
{
    const whereabouts *at = context;
    const kb_pde_nd_problem *e = at->problem;
    const kb_search_result *found = at->found;
    const kb_fit *fit = found->pool.fits[index];
    if (found->engine.fourier) {
        const double *V = covariance_of(found, fit);
        if (!V) return kb_fail(error, KBASS_ERROR_NUMERICAL, "the fitted model has no covariance");
        return kb_fourier_spread(e->run_samples[0], e->dictionary, e->columns, found->engine.fourier, fit, V, n, times,
                                 positions, spread, error);
    }
    const kb_kernel_fit *kernel = kernel_fit(found, index);
    if (!kernel) return kb_fail(error, KBASS_ERROR_NUMERICAL, "the model's field was not kept");
    double *points = list_points(n, e->run_samples[at->run]->n_axes, times, positions);
    kbass_status status = points ? kb_kernel_spread(e->domain, e->columns, kernel, at->run, n, points, spread, error)
                                 : kb_out_of_memory(error, "the posterior");
    kb_free(points);
    return status;
}

kbass_status kb_axes_posterior(const kb_pde_nd_problem *e, const kb_search_result *found, const kbass_data *data,
                               size_t run, kbass_posterior **out, kbass_error *error)
{
    whereabouts at = {.problem = e, .found = found, .run = run};
    kb_frame frame = kb_pde_nd_problem_frame(e);
    if (!kb_has_model(found)) return KBASS_OK;
    kbass_status status =
        kb_posterior_of_axes(data, run, &frame, e->run_samples[run], found->noise_unit ? found->noise_unit : frame.sd,
                             found->pool.n, found->pool.fits, spread_of, &at, out, error);
    if (status == KBASS_OK && *out) (*out)->is_relative = found->noise_is_relative;
    return status;
}
