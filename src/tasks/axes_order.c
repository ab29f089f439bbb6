#include "tasks/axes_order.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

enum { FIRST_STEPS = 4 }; /* steps: from row to row, of a first look at a proposal */
enum { MORE_STEPS = 16 }; /* steps: where it escapes with so few */

/* -2 log of a proposal's likelihood from a start that is given, the noise unknown, and what its terms cost; infinite
   where it cannot be followed to the last row. predicted: all values */
static double misfit_of(kb_dynamics *d, const kb_fit *proposal, size_t last, const double *start, double *predicted)
{
    size_t n = d->observation_start[last + 1];
    double squares = 0;
    d->set_model(d, &proposal->support, proposal->w, NULL);
    if (!d->predict(d, 0, last, start, predicted, NULL)) return INFINITY;
    for (size_t i = 0; i < n; i++) squares += pow(predicted[i] - d->observed[i], 2) / (double)n;
    double misfit = (double)n * log(squares) + (double)proposal->support.n * log((double)n);
    return isfinite(misfit) ? misfit : INFINITY;
}

/* All proposals that have not been followed yet, with so many steps. */
static kbass_status follow(const kb_axes *c, size_t steps, size_t last, kb_pool *pool, kbass_error *error)
{
    kb_fourier_settings settings = c->fourier;
    kb_fourier_model *fourier = NULL;
    settings.steps = steps;
    kbass_status status = kb_axes_make_model(c, &settings, KB_NO_TANGENTS, &fourier, error);
    if (status != KBASS_OK) return status;
    kb_dynamics *d = &fourier->dynamics;
    double *start = KB_NEW(double, d->n_start), *predicted = KB_NEW(double, d->observation_start[d->n_rows]);
    status = start && predicted ? d->guess(d, 0, start, error) : kb_out_of_memory(error, "the proposals");
    for (size_t i = 0; status == KBASS_OK && i < pool->n; i++) {
        kb_fit *fit = pool->fits[i];
        if (fit->valid) continue;
        fit->log_evidence = -0.5 * misfit_of(d, fit, last, start, predicted);
        fit->valid = isfinite(fit->log_evidence);
    }
    kb_free(start);
    kb_free(predicted);
    d->destroy(d);
    return status;
}

kbass_status kb_axes_order(const kb_axes *c, size_t last, kb_pool *pool, kbass_error *error)
{
    for (size_t i = 0; i < pool->n; i++) pool->fits[i]->valid = false;
    kbass_status status = follow(c, FIRST_STEPS, last, pool, error);
    if (status == KBASS_OK) status = follow(c, MORE_STEPS, last, pool, error);
    kb_pool_sort(pool);
    return status;
}
