#include "collocation/kernel_likelihood.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

static const kb_windows no_windows = {0, NULL, NULL};

/* ---------------------------------------------------------------- fits */

static void load(kb_kernel_likelihood *k, const kb_fit *fit)
{
    kb_kernel_state_copy(k->solver, k->begin, k->state);
    kb_support_copy(&fit->support, &k->state->support);
    memcpy(k->state->w, fit->w, k->solver->columns->n * sizeof *fit->w);
    memcpy(k->state->variance, fit->variance, k->solver->n_fields * sizeof *fit->variance);
}

/* Weights and field; noise and scales are those of the model found. */
static void fit_model(kb_likelihood *l, kb_fit *fit, int max_iterations, double rival)
{
    kb_kernel_likelihood *k = kb_kernel_likelihood_of(l);
    const kb_solve_options options = {max_iterations, false, true, NULL};
    (void)rival;
    load(k, fit);
    k->solver->run = l->run;
    fit->n_windows = 0;
    fit->valid = kb_patch_solver_iterate(k->solver, k->state, &options) && isfinite(k->state->log_evidence);
    k->solver->run = NULL;
    if (!fit->valid) return;
    memcpy(fit->w, k->state->w, l->columns->n * sizeof *fit->w);
    fit->log_evidence = k->state->log_evidence;
    fit->converged = k->state->is_at_rest;
    fit->misfit = kb_patch_solver_misfit(k->solver, k->state);
    fit->valid = kb_patch_solver_covariance(k->solver, k->state, fit->covariance);
}

void kb_kernel_likelihood_stiffen(kb_kernel_likelihood *k, kb_fit *fit, kb_fit *spare, int max_iterations)
{
    kb_likelihood *l = &k->likelihood;
    while (k->begin->tau > KB_TAU_FACTOR * KB_LEAST_TAU) {
        double before = k->begin->tau;
        kb_fit_copy(fit, spare, l->columns->n, l->n_start);
        k->begin->tau /= KB_TAU_FACTOR;
        fit_model(l, spare, max_iterations, -INFINITY);
        if (!spare->valid || !(spare->log_evidence > fit->log_evidence)) {
            k->begin->tau = before;
            return;
        }
        kb_fit_copy(spare, fit, l->columns->n, l->n_start);
        kb_kernel_state_copy(k->solver, k->state, k->begin);
    }
}

static bool is_at(const kb_kernel_likelihood *k, const kb_fit *fit)
{
    return kb_support_equal(&k->state->support, &fit->support) &&
           !memcmp(k->state->w, fit->w, k->solver->columns->n * sizeof *fit->w);
}

bool kb_kernel_likelihood_restore(kb_kernel_likelihood *k, const kb_fit *fit)
{
    enum { STEPS = 12 };
    const kb_solve_options options = {STEPS, false, false, NULL};
    if (is_at(k, fit)) return true;
    load(k, fit);
    return kb_patch_solver_iterate(k->solver, k->state, &options);
}

static bool message_about(kb_likelihood *l, const kb_fit *fit, const kb_support *all, kb_message *message)
{
    kb_kernel_likelihood *k = kb_kernel_likelihood_of(l);
    if (!kb_kernel_likelihood_restore(k, fit) || !kb_patch_solver_message(k->solver, k->state, all)) return false;
    memcpy(message->G, k->solver->G, all->n * all->n * sizeof *message->G);
    memcpy(message->b, k->solver->b, all->n * sizeof *message->b);
    return true;
}

/* ---------------------------------------------------------------- the rest of the interface */

static kb_work_key key(kb_likelihood *l, const kb_fit *fit, int max_iterations, double rival)
{
    const kb_kernel_likelihood *k = kb_kernel_likelihood_of(l);
    kb_work_key out = kb_work_key_begin("kernel fit");
    (void)rival;
    const double hyper[] = {k->begin->tau, k->begin->freedom, k->begin->steps.time, k->begin->steps.space};
    kb_work_key_add(&out, hyper, sizeof hyper);
    kb_work_key_add(&out, k->begin->z, k->solver->n_z * sizeof *k->begin->z);
    kb_work_key_add(&out, &max_iterations, sizeof max_iterations);
    kb_work_key_add(&out, fit->support.column, fit->support.n * sizeof *fit->support.column);
    kb_work_key_add(&out, fit->w, l->columns->n * sizeof *fit->w);
    kb_work_key_add(&out, fit->variance, l->n_groups * sizeof *fit->variance);
    return out;
}

/* The field follows within the message itself. */
static void follow(kb_likelihood *l, const double *dw, double *start)
{
    (void)l;
    (void)dw;
    (void)start;
}

/* There is no window. */
static bool covariances(kb_likelihood *l, const kb_fit *fit, double *covariances)
{
    (void)l;
    (void)covariances;
    return fit->valid;
}

static bool solution(kb_likelihood *l, const kb_fit *fit, size_t window, size_t row, double *start)
{
    (void)l;
    (void)fit;
    (void)window;
    (void)row;
    (void)start;
    return false;
}

static double cost(const kb_likelihood *l, size_t n_columns)
{
    (void)l;
    (void)n_columns;
    return 0;
}

static double noise_floor(const kb_likelihood *l)
{
    const kb_kernel_likelihood *k = (const kb_kernel_likelihood *)l;
    double least = INFINITY;
    for (size_t i = 0; i < l->n_groups; i++) least = fmin(least, kb_patch_solver_variance_floor(k->solver, i));
    return least;
}

static double noise(const kb_likelihood *l, const kb_fit *fit)
{
    double sum = 0;
    for (size_t i = 0; i < l->n_groups; i++) sum += log(fit->variance[i]);
    return exp(sum / (double)l->n_groups);
}

static bool describe_noise(kb_likelihood *l, const kb_fit *fit, double *unit, double *freedom)
{
    const kb_kernel_likelihood *k = kb_kernel_likelihood_of(l);
    (void)fit;
    for (size_t i = 0; i < l->n_groups; i++) {
        unit[i] = k->solver->patches[0]->samples->sd[i];
        freedom[i] = INFINITY;
    }
    return false;
}

static void destroy(kb_likelihood *l)
{
    kb_kernel_likelihood *k = kb_kernel_likelihood_of(l);
    kb_kernel_state_destroy(k->begin);
    kb_kernel_state_destroy(k->state);
    if (k->owns_solver) kb_patch_solver_destroy(k->solver);
    kb_free(k);
}

/* ---------------------------------------------------------------- life */

static kbass_status make(kb_patch_solver *solver, bool owns, kb_kernel_likelihood **out, kbass_error *error)
{
    kb_kernel_likelihood *k = KB_NEW(kb_kernel_likelihood, 1);
    if (!k) {
        if (owns) kb_patch_solver_destroy(solver);
        return kb_out_of_memory(error, "the kernel engine");
    }
    *k = (kb_kernel_likelihood){.solver = solver, .owns_solver = owns};
    k->likelihood = (kb_likelihood){.columns = solver->columns,
                                    .n_start = solver->n_fields,
                                    .n_groups = solver->n_fields,
                                    .n_runs = 1,
                                    .windows = &no_windows,
                                    .fit = fit_model,
                                    .key = key,
                                    .message = message_about,
                                    .follow = follow,
                                    .covariances = covariances,
                                    .solution = solution,
                                    .cost = cost,
                                    .floor = noise_floor,
                                    .noise = noise,
                                    .describe_noise = describe_noise,
                                    .destroy = destroy};
    kbass_status status = kb_kernel_state_create(solver, &k->begin, error);
    if (status == KBASS_OK) status = kb_kernel_state_create(solver, &k->state, error);
    if (status == KBASS_OK) *out = k;
    else destroy(&k->likelihood);
    return status;
}

kbass_status kb_kernel_likelihood_create_on(kb_patch_solver *solver, const kb_kernel_state *begin,
                                            kb_kernel_likelihood **out, kbass_error *error)
{
    kbass_status status = make(solver, false, out, error);
    if (status != KBASS_OK) return status;
    kb_kernel_state_copy(solver, begin, (*out)->begin);
    kb_kernel_state_copy(solver, begin, (*out)->state);
    return KBASS_OK;
}

kbass_status kb_kernel_likelihood_create(const kb_patched_domain *t, const kb_dictionary *dictionary,
                                         const kb_columns *columns, const kb_kernel_fit *found,
                                         kb_kernel_likelihood **out, kbass_error *error)
{
    kb_patch_solver *solver = NULL;
    kbass_status status = kb_patch_solver_create(t->n_searched, t->patches, dictionary, columns, t->amplitude,
                                                 t->variance, t->threads, &solver, error);
    if (status == KBASS_OK) status = make(solver, true, out, error);
    if (status != KBASS_OK) return status;
    kb_kernel_state *s = (*out)->begin;
    s->steps = found->steps;
    s->tau = found->tau;
    s->freedom = found->freedom;
    memcpy(s->variance, found->variance, solver->n_fields * sizeof *s->variance);
    if (kb_kernel_fit_has_field(solver, found)) memcpy(s->z, found->z, solver->n_z * sizeof *s->z);
    else if (!kb_patch_solver_regress(solver, s)) {
        (*out)->likelihood.destroy(&(*out)->likelihood);
        *out = NULL;
        return kb_fail(error, KBASS_ERROR_NUMERICAL, "the field of the chosen model cannot be made again");
    }
    return KBASS_OK;
}
