#include "collocation/patch_solver.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/larger.h"
#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

static const double least_variance = 1e-4; /* of the field's: least noise, below it the cut basis is what is seen */
static const double tolerance = 1e-3;      /* of the objective: at which a solve ends */
static const double shortest_step = 0.02;  /* of a Gauss-Newton step: shorter ones are taken as they are */

/* ---------------------------------------------------------------- life */

static bool allocate_parts(kb_patch_solver *m)
{
    size_t k = m->columns->n, n = m->n_fields;
    m->offset = KB_NEW(size_t, m->n_patches);
    m->workspaces = KB_NEW(kb_patch_workspace *, (size_t)m->threads);
    m->messages = KB_NEW(kb_patch_message *, m->n_patches);
    m->slope_squares = KB_NEW(double, n);
    m->slab = KB_NEW(double, k);
    m->effective = KB_NEW(double, n);
    m->squares = KB_NEW(double, n);
    m->G = KB_NEW(double, k *k);
    m->b = KB_NEW(double, k);
    m->A = KB_NEW(double, k *k);
    m->dw = KB_NEW(double, k);
    m->trial_w = KB_NEW(double, k);
    m->sums = KB_NEW(double, m->n_patches *(n + k));
    m->place = KB_NEW(size_t, k);
    if (!m->offset || !m->workspaces || !m->messages || !m->slope_squares || !m->slab || !m->effective || !m->squares ||
        !m->G || !m->b || !m->A || !m->dw || !m->trial_w || !m->sums || !m->place)
        return false;
    for (size_t p = 0; p < m->n_patches; p++) {
        m->offset[p] = m->n_z;
        m->n_z += m->patches[p]->most * n;
        m->n_values += m->patches[p]->n_values;
    }
    m->trial_z = KB_NEW(double, m->n_z);
    m->step = KB_NEW(double, m->n_z);
    return m->trial_z && m->step;
}

static kbass_status create_workspace(kb_patch_solver *m, int i, kbass_error *error)
{
    return kb_patch_workspace_create(m->n_patches, m->patches, m->dictionary, m->columns, &m->workspaces[i], error);
}

/* Where memory is short there are fewer threads. */
static kbass_status create_parts(kb_patch_solver *m, kbass_error *error)
{
    kbass_status status = allocate_parts(m) ? KBASS_OK : kb_out_of_memory(error, "the patches");
    if (status == KBASS_OK) status = create_workspace(m, 0, error);
    for (size_t p = 0; status == KBASS_OK && p < m->n_patches; p++)
        status = kb_patch_message_create(m->columns, m->patches[p], &m->messages[p], error);
    if (status == KBASS_OK) status = kb_support_create(m->columns->n, &m->all, error);
    if (status == KBASS_OK) status = kb_support_create(m->columns->n, &m->asked, error);
    for (size_t j = 0; status == KBASS_OK && j < m->columns->n; j++) m->all.column[m->all.n++] = j;
    for (int i = 1; status == KBASS_OK && i < m->threads; i++)
        if (create_workspace(m, i, NULL) != KBASS_OK) m->threads = i;
    return status;
}

kbass_status kb_patch_solver_create(size_t n_patches, kb_patch **patches, const kb_dictionary *dictionary,
                                    const kb_columns *columns, const double *amplitude, const double *greatest_variance,
                                    int threads, kb_patch_solver **out, kbass_error *error)
{
    kb_patch_solver *m = KB_NEW(kb_patch_solver, 1);
    if (!m) return kb_out_of_memory(error, "the patches");
    *m = (kb_patch_solver){.dictionary = dictionary,
                           .columns = columns,
                           .n_patches = n_patches,
                           .patches = patches,
                           .n_fields = dictionary->n_states,
                           .amplitude = amplitude,
                           .greatest_variance = greatest_variance};
    m->known_variance = patches[0]->samples->known_variance;
    m->threads = (size_t)threads < n_patches ? threads : (int)n_patches;
    kbass_status status = create_parts(m, error);
    m->present = *columns;
    m->present.slab = m->slab;
    if (status == KBASS_OK) *out = m;
    else kb_patch_solver_destroy(m);
    return status;
}

void kb_patch_solver_destroy(kb_patch_solver *m)
{
    if (!m) return;
    for (int i = 0; m->workspaces && i < m->threads; i++) kb_patch_workspace_destroy(m->workspaces[i]);
    for (size_t p = 0; m->messages && p < m->n_patches; p++) kb_patch_message_destroy(m->messages[p]);
    double *arrays[] = {m->slope_squares, m->slab,    m->effective, m->squares, m->G, m->b, m->A, m->dw,
                        m->trial_w,       m->trial_z, m->step,      m->sums};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_free(m->workspaces);
    kb_free(m->messages);
    kb_free(m->offset);
    kb_free(m->place);
    kb_support_clear(&m->all);
    kb_support_clear(&m->asked);
    kb_free(m);
}

kbass_status kb_kernel_state_create(const kb_patch_solver *m, kb_kernel_state **out, kbass_error *error)
{
    kb_kernel_state *s = KB_NEW(kb_kernel_state, 1);
    if (!s) return kb_out_of_memory(error, "a state of the search");
    s->log_evidence = -INFINITY;
    s->variance = KB_NEW(double, m->n_fields);
    s->z = KB_NEW(double, m->n_z);
    s->w = KB_NEW(double, m->columns->n);
    kbass_status status = kb_support_create(m->columns->n, &s->support, error);
    if (!s->variance || !s->z || !s->w) status = kb_out_of_memory(error, "a state of the search");
    if (status == KBASS_OK) *out = s;
    else kb_kernel_state_destroy(s);
    return status;
}

void kb_kernel_state_destroy(kb_kernel_state *s)
{
    if (!s) return;
    kb_free(s->variance);
    kb_free(s->z);
    kb_free(s->w);
    kb_support_clear(&s->support);
    kb_free(s);
}

void kb_kernel_state_copy(const kb_patch_solver *m, const kb_kernel_state *from, kb_kernel_state *to)
{
    if (from == to) return;
    to->steps = from->steps;
    to->tau = from->tau;
    to->freedom = from->freedom;
    to->log_evidence = from->log_evidence;
    to->is_settled = from->is_settled;
    to->is_at_rest = from->is_at_rest;
    to->is_tuned = from->is_tuned;
    memcpy(to->variance, from->variance, m->n_fields * sizeof *to->variance);
    memcpy(to->z, from->z, m->n_z * sizeof *to->z);
    memcpy(to->w, from->w, m->columns->n * sizeof *to->w);
    kb_support_copy(&from->support, &to->support);
}

/* ---------------------------------------------------------------- length scales */

static kb_patch_workspace *own_workspace(const kb_patch_solver *m) { return m->workspaces[omp_get_thread_num()]; }

static kb_hyper hyper_of(const kb_patch_solver *m, const kb_kernel_state *s)
{
    return (kb_hyper){s->tau, m->slope_squares, s->variance, m->amplitude, s->freedom};
}

static bool stand_at(kb_patch_solver *m, kb_steps steps)
{
    bool done = true;
#pragma omp parallel for schedule(dynamic) num_threads(m->threads) reduction(&& : done)
    for (size_t p = 0; p < m->n_patches; p++) done = kb_patch_set_level(m->patches[p], steps, NULL) == KBASS_OK && done;
    return done;
}

bool kb_patch_solver_regress(kb_patch_solver *m, kb_kernel_state *s)
{
    kb_hyper hyper = hyper_of(m, s);
    bool done = stand_at(m, s->steps);
    if (!done) return false;
#pragma omp parallel for schedule(dynamic) num_threads(m->threads) reduction(&& : done)
    for (size_t p = 0; p < m->n_patches; p++)
        done = kb_normal_regress(own_workspace(m), m->patches[p], &hyper, s->z + m->offset[p]) && done;
    return done;
}

bool kb_patch_solver_move(kb_patch_solver *m, kb_kernel_state *s, kb_steps steps)
{
    bool done = stand_at(m, steps);
    if (!done || (steps.time == s->steps.time && steps.space == s->steps.space)) return done;
#pragma omp parallel for schedule(dynamic) num_threads(m->threads) reduction(&& : done)
    for (size_t p = 0; p < m->n_patches; p++)
        done = kb_patch_transfer(m->patches[p], s->steps, s->z + m->offset[p], m->trial_z + m->offset[p],
                                 own_workspace(m)->work, NULL) == KBASS_OK &&
               done;
    memcpy(s->z, m->trial_z, m->n_z * sizeof *s->z);
    s->steps = steps;
    return done;
}

/* ---------------------------------------------------------------- one Gauss-Newton step */

/* Points where the equation is imposed in a run, or in all. */
static double points_of(const kb_patch_solver *m, size_t run)
{
    double n = 0;
    for (size_t p = 0; p < m->n_patches; p++)
        if (run == KB_ALL_RUNS || m->patches[p]->run == run) n += (double)m->patches[p]->n_mesh;
    return n;
}

/* Mean squares of slopes and columns over all patches, and the slabs that follow from them. */
static void measure(kb_patch_solver *m, const kb_kernel_state *s)
{
    size_t n = m->n_fields, k = m->columns->n;
    memset(m->sums, 0, m->n_patches * (n + k) * sizeof *m->sums);
#pragma omp parallel for schedule(dynamic) num_threads(m->threads)
    for (size_t p = 0; p < m->n_patches; p++) {
        double *sums = m->sums + p * (n + k);
        kb_collocation_measure(own_workspace(m), m->patches[p], &m->all, s->z + m->offset[p], sums, sums + n);
    }
    for (size_t p = 1; p < m->n_patches; p++) kb_axpy(n + k, 1, m->sums + p * (n + k), m->sums);
    double points = points_of(m, KB_ALL_RUNS);
    for (size_t i = 0; i < n; i++) m->slope_squares[i] = fmax(m->sums[i] / points, 1e-12);
    for (size_t j = 0; j < k; j++) {
        double square = m->sums[n + j] / (m->columns->run ? points_of(m, kb_column_run(m->columns, j)) : points);
        m->slab[j] = KB_SLAB_FACTOR * m->slope_squares[m->columns->equation[j]] / fmax(square, 1e-12);
    }
}

/* The patches' messages about the columns asked for, and their sum. */
static bool listen(kb_patch_solver *m, const kb_kernel_state *s, const kb_support *asked, bool evidence, bool noise)
{
    size_t k = asked->n;
    kb_hyper hyper = hyper_of(m, s);
    bool done = true;
#pragma omp parallel for schedule(dynamic) num_threads(m->threads) reduction(&& : done)
    for (size_t p = 0; p < m->n_patches; p++)
        done = kb_run_spares(m->clock) &&
               kb_normal_marginalise(own_workspace(m), m->patches[p], &hyper, asked, s->z + m->offset[p], s->w,
                                     evidence, noise, m->messages[p]) &&
               done;
    if (!done) return false;
    memset(m->G, 0, k * k * sizeof *m->G);
    memset(m->b, 0, k * sizeof *m->b);
    for (size_t p = 0; p < m->n_patches; p++) {
        kb_axpy(k * k, 1, m->messages[p]->G, m->G);
        kb_axpy(k, 1, m->messages[p]->b, m->b);
    }
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) m->b[i] += m->G[i + j * k] * s->w[asked->column[j]];
    kb_support_copy(asked, &m->asked);
    return true;
}

bool kb_patch_solver_message(kb_patch_solver *m, kb_kernel_state *s, const kb_support *candidates)
{
    if (!stand_at(m, s->steps)) return false;
    measure(m, s);
    return listen(m, s, candidates, false, false);
}

/* (G + 1/slab)^{-1} */
bool kb_patch_solver_covariance(kb_patch_solver *m, kb_kernel_state *s, double *covariance)
{
    size_t k = s->support.n;
    if (!kb_patch_solver_message(m, s, &s->support)) return false;
    memcpy(covariance, m->G, k * k * sizeof *covariance);
    for (size_t q = 0; q < k; q++) covariance[q + q * k] += 1 / m->slab[s->support.column[q]];
    return kb_cholesky(k, covariance, k) && kb_cholesky_inverse(k, covariance, k);
}

/* The support's columns among those asked for, in m->place; false when one is not. */
static bool place_support(kb_patch_solver *m, const kb_kernel_state *s)
{
    size_t at = 0;
    for (size_t j = 0; j < m->asked.n && at < s->support.n; j++)
        if (m->asked.column[j] == s->support.column[at]) m->place[at++] = j;
    return at == s->support.n;
}

/* dw over the columns asked for: the support's weights to their posterior mean, the others at rest. The Cholesky factor
   of the support's posterior precision stays in A. */
static bool aim_weights(kb_patch_solver *m, const kb_kernel_state *s)
{
    size_t k = m->asked.n, n = s->support.n;
    const size_t *index = m->place;
    double *x = m->trial_w;
    memset(m->dw, 0, k * sizeof *m->dw);
    if (!place_support(m, s)) return false;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) m->A[i + j * n] = m->G[index[i] + index[j] * k];
        m->A[j + j * n] += 1 / m->slab[s->support.column[j]];
        x[j] = m->b[index[j]];
    }
    if (!kb_cholesky(n, m->A, n)) return false;
    kb_cholesky_solve(n, 1, m->A, n, x, n);
    for (size_t j = 0; j < n; j++) m->dw[index[j]] = x[j] - s->w[s->support.column[j]];
    return true;
}

static double objective(kb_patch_solver *m, const kb_kernel_state *s, const double *z, const double *w)
{
    kb_hyper hyper = hyper_of(m, s);
    double J = 0;
#pragma omp parallel for schedule(dynamic) num_threads(m->threads)
    for (size_t p = 0; p < m->n_patches; p++)
        m->sums[p] =
            kb_collocation_objective(own_workspace(m), m->patches[p], &hyper, &s->support, z + m->offset[p], w);
    for (size_t p = 0; p < m->n_patches; p++) J += m->sums[p];
    for (size_t q = 0; q < s->support.n; q++) {
        size_t column = s->support.column[q];
        J += 0.5 * w[column] * w[column] / m->slab[column];
    }
    return J;
}

/* Backtracks along the step; the last trial is taken even if it is no better. Returns J there; *full: not shortened. */
static double advance(kb_patch_solver *m, kb_kernel_state *s, double before, bool *full)
{
    double share = 1, J;
    for (size_t p = 0; p < m->n_patches; p++)
        kb_normal_step(m->patches[p], m->messages[p], m->asked.n, m->dw, m->step + m->offset[p]);
    for (;; share *= 0.5) {
        for (size_t i = 0; i < m->n_z; i++) m->trial_z[i] = s->z[i] + share * m->step[i];
        memset(m->trial_w, 0, m->columns->n * sizeof *m->trial_w);
        for (size_t j = 0; j < m->asked.n; j++) {
            size_t column = m->asked.column[j];
            m->trial_w[column] = s->w[column] + share * m->dw[j];
        }
        J = objective(m, s, m->trial_z, m->trial_w);
        if (J <= before * (1 + 1e-9) + 1e-9 || share <= shortest_step) break;
    }
    memcpy(s->z, m->trial_z, m->n_z * sizeof *s->z);
    memcpy(s->w, m->trial_w, m->columns->n * sizeof *s->w);
    *full = share == 1;
    return J;
}

/* ---------------------------------------------------------------- noise and evidence */

double kb_patch_solver_variance_floor(const kb_patch_solver *m, size_t field)
{
    return m->known_variance[field] > 0 ? m->known_variance[field] : least_variance;
}

static void sum_squares(kb_patch_solver *m, const kb_kernel_state *s)
{
    kb_patch_workspace *b = m->workspaces[0];
    memset(m->squares, 0, m->n_fields * sizeof *m->squares);
    memset(m->effective, 0, m->n_fields * sizeof *m->effective);
    for (size_t p = 0; p < m->n_patches; p++) {
        const kb_patch *patch = m->patches[p];
        for (size_t i = 0; i < m->n_fields; i++) {
            double *r = b->data;
            kb_patch_residual(patch, i, s->z + m->offset[p] + i * patch->n, r, r + patch->n_points);
            m->squares[i] += kb_dot(patch->n_points, r, r);
            m->effective[i] += m->messages[p]->effective[i];
        }
    }
}

double kb_patch_solver_misfit(kb_patch_solver *m, const kb_kernel_state *s)
{
    double squares = 0, n = 0;
    sum_squares(m, s);
    for (size_t i = 0; i < m->n_fields; i++) {
        squares += m->squares[i];
        for (size_t p = 0; p < m->n_patches; p++) n += m->patches[p]->count[i];
    }
    return sqrt(squares / n);
}

/* b_p' (G_p + S^{-1})^{-1} b_p over the support's columns; NaN when the matrix fails: such a patch agrees with nothing
 */
static double patch_discord(kb_patch_solver *m, const kb_kernel_state *s, const kb_patch_message *message)
{
    size_t n = s->support.n, k = m->asked.n;
    const size_t *index = m->place;
    double *x = m->trial_w, *g = m->dw;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) m->A[i + j * n] = message->G[index[i] + index[j] * k];
        m->A[j + j * n] += 1 / m->slab[s->support.column[j]];
        x[j] = g[j] = message->b[index[j]];
    }
    if (!kb_cholesky(n, m->A, n)) return NAN;
    kb_cholesky_solve(n, 1, m->A, n, x, n);
    return kb_dot(n, x, g);
}

double kb_patch_solver_discord(kb_patch_solver *m, const kb_kernel_state *s)
{
    double squares = 0, degrees = (double)s->support.n * ((double)m->n_patches - 1);
    if (!(degrees > 0) || !place_support(m, s)) return 0;
    for (size_t p = 0; p < m->n_patches; p++) squares += patch_discord(m, s, m->messages[p]);
    return (squares - degrees) / sqrt(2 * degrees);
}

/* d' A d with A = L L', whose factor the solve left */
double kb_patch_solver_distance(const kb_patch_solver *m, const kb_kernel_state *s, const double *w)
{
    size_t n = s->support.n;
    double squares = 0;
    for (size_t j = 0; j < n; j++) {
        double sum = 0;
        for (size_t i = j; i < n; i++) sum += m->A[i + j * n] * (w[s->support.column[i]] - s->w[s->support.column[i]]);
        squares += sum * sum;
    }
    return squares;
}

/* v = SSE / (N - effective parameters), slowly and never above the bare field's; returns the change of log v. */
static double learn_noise(kb_patch_solver *m, kb_kernel_state *s)
{
    double change = 0;
    sum_squares(m, s);
    for (size_t i = 0; i < m->n_fields; i++) {
        double n = 0, before = s->variance[i], floor = kb_patch_solver_variance_floor(m, i);
        for (size_t p = 0; p < m->n_patches; p++) n += m->patches[p]->count[i];
        double found = m->squares[i] / fmax(n - m->effective[i], 0.1 * n);
        found = fmin(fmax(found, before / 3), 2 * before);
        s->variance[i] = fmin(fmax(found, floor), fmax(m->greatest_variance[i], floor));
        change = kb_larger(change, fabs(log(s->variance[i] / before)));
    }
    return change;
}

/* -J - N/2 log v - [logdet Hzz - logdet Hzz(without data)]/2 - logdet(I + S^1/2 G S^1/2)/2 + prior odds */
static double evidence(const kb_patch_solver *m, const kb_kernel_state *s, double J)
{
    double E = -J + kb_support_log_prior(&s->support, m->columns);
    for (size_t p = 0; p < m->n_patches; p++) {
        E -= 0.5 * (m->messages[p]->logdet - m->messages[p]->logdet_prior);
        for (size_t i = 0; i < m->n_fields; i++) E -= 0.5 * m->patches[p]->count[i] * log(s->variance[i]);
    }
    E -= 0.5 * kb_cholesky_logdet(s->support.n, m->A, s->support.n);
    for (size_t q = 0; q < s->support.n; q++) E -= 0.5 * log(m->slab[s->support.column[q]]);
    return isfinite(E) ? E : -INFINITY;
}

bool kb_patch_solver_iterate(kb_patch_solver *m, kb_kernel_state *s, const kb_solve_options *options)
{
    const kb_support *candidates = options->candidates ? options->candidates : &s->support;
    bool converged = false, full;
    s->log_evidence = -INFINITY;
    if (!stand_at(m, s->steps)) return false;
    for (int iteration = 0;; iteration++) {
        bool last = converged || iteration >= options->iterations - 1;
        if (m->run && !kb_run_continue(m->run, s->support.n)) return false;
        measure(m, s);
        if (!listen(m, s, last ? candidates : &s->support, last && options->evidence, !last && options->learn_noise))
            return false;
        if (!aim_weights(m, s)) return false;
        double before = objective(m, s, s->z, s->w), J = advance(m, s, before, &full);
        if (!isfinite(J)) return false;
        if (last) {
            if (options->evidence) s->log_evidence = evidence(m, s, J);
            s->is_at_rest = full && fabs(before - J) < tolerance * fmax(1, fabs(J));
            return true;
        }
        double change = options->learn_noise ? learn_noise(m, s) : 0;
        converged = fabs(before - J) < tolerance * fmax(1, fabs(J)) && full && change < 0.1;
    }
}
