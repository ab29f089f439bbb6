#include "discover/paper.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "ep/ep.h"
#include "solve/adam.h"

enum { SWEEPS = 200 };
static const double prune_below = 0.5, certain = 40;
static const double still_probability = 1e-3, still_objective = 1e-6; /* the latter relative */

struct kb_paper {
    const kb_problem *problem;
    kb_level *level;
    kb_field *field; /* at the end Hzz holds its Cholesky factor */
    kb_ep *ep;
    kb_adam *adam;
    kb_support active;
    double *slab, *log_odds, *b, *before;  /* of the active columns */
    bool *keep;
    double *weight, *sd, *probability;     /* of all columns, the data's units */
    bool has_model;
};

/* ---------------------------------------------------------------- memory */

static double length_scale(const kb_problem *p)
{
    double given = p->settings->paper_length_scale;
    return given > 0 ? given : fmax(0.7 * p->record->spacing, 0.02);
}

static kbass_status allocate(kb_paper *paper, kbass_error *error)
{
    size_t n = paper->problem->columns->n;
    kbass_status status = kb_support_create(n, &paper->active, error);
    paper->slab = KB_NEW(double, n);
    paper->log_odds = KB_NEW(double, n);
    paper->b = KB_NEW(double, n);
    paper->before = KB_NEW(double, n);
    paper->keep = KB_NEW(bool, n);
    paper->weight = KB_NEW(double, n);
    paper->sd = KB_NEW(double, n);
    paper->probability = KB_NEW(double, n);
    if (!paper->slab || !paper->log_odds || !paper->b || !paper->before || !paper->keep || !paper->weight ||
        !paper->sd || !paper->probability) status = kb_out_of_memory(error, "the published method");
    return status;
}

static kbass_status create(const kb_problem *p, kb_paper **out, kbass_error *error)
{
    kb_paper *paper = KB_NEW(kb_paper, 1);
    if (!paper) return kb_out_of_memory(error, "the published method");
    paper->problem = p;
    kb_kernel_kind kind = (kb_kernel_kind)p->settings->kernel;
    kbass_status status = kb_level_create(p->record, kind, length_scale(p), p->n_mesh, &paper->level, error);
    if (status == KBASS_OK)
        status = kb_field_create(p->record, p->dictionary, p->columns, p->n_mesh, paper->level->rank, &paper->field,
                                 error);
    if (status == KBASS_OK) status = kb_ep_create(p->columns->n, &paper->ep, error);
    if (status == KBASS_OK)
        status = kb_adam_create(p->record->n_states * paper->level->rank, p->settings->paper_learning_rate,
                                &paper->adam, error);
    if (status == KBASS_OK) status = allocate(paper, error);
    if (status == KBASS_OK) *out = paper;
    else kb_paper_destroy(paper);
    return status;
}

void kb_paper_destroy(kb_paper *paper)
{
    if (!paper) return;
    kb_level_destroy(paper->level);
    kb_field_destroy(paper->field);
    kb_ep_destroy(paper->ep);
    kb_adam_destroy(paper->adam);
    kb_support_clear(&paper->active);
    double *vectors[] = {paper->slab, paper->log_odds, paper->b,  paper->before,
                         paper->weight, paper->sd,     paper->probability};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) kb_free(vectors[i]);
    kb_free(paper->keep);
    kb_free(paper);
}

/* ---------------------------------------------------------------- EP-EM */

static void set_prior(kb_paper *paper)
{
    const kb_problem *p = paper->problem;
    const kbass_settings *settings = p->settings;
    for (size_t q = 0; q < paper->active.n; q++) {
        size_t column = paper->active.column[q];
        paper->slab[q] = settings->paper_slab_variance * p->slope_squares[p->columns->equation[column]];
        paper->log_odds[q] = p->columns->required[column]
                                 ? certain : log(settings->paper_inclusion / (1 - settings->paper_inclusion));
    }
}

static bool begin(kb_paper *paper)
{
    const kb_problem *p = paper->problem;
    kb_field *f = paper->field;
    for (size_t i = 0; i < f->n_states; i++) {
        double known = p->record->known_variance[i];
        f->v[i] = known > 0 ? known : p->settings->paper_noise_variance;
        f->tau[i] = p->settings->paper_equation_variance * p->slope_squares[i];
    }
    kb_support_copy(&p->all, &paper->active);
    set_prior(paper);
    kb_ep_reset(paper->ep, paper->slab);
    kb_field_set_level(f, paper->level);
    return kb_field_regress(f);
}

/* Weights, sds and probabilities of the active columns as EP has them now. */
static void take_posterior(kb_paper *paper)
{
    for (size_t q = 0; q < paper->active.n; q++) {
        size_t column = paper->active.column[q];
        double unit = paper->problem->columns->unit[column];
        paper->field->w[column] = paper->ep->mean[q];
        paper->weight[column] = paper->ep->mean[q] * unit;
        paper->sd[column] = sqrt(paper->ep->variance[q]) * unit;
        paper->probability[column] = paper->ep->probability[q];
    }
}

static void prune(kb_paper *paper)
{
    size_t kept = 0;
    for (size_t q = 0; q < paper->active.n; q++) {
        size_t column = paper->active.column[q];
        paper->keep[q] = paper->ep->probability[q] >= prune_below;
        if (paper->keep[q]) paper->active.column[kept++] = column;
        else paper->field->w[column] = 0;
    }
    paper->active.n = kept;
    kb_ep_keep(paper->ep, paper->keep);
    set_prior(paper);
}

/* EP on the plug-in message; *moved is the largest change of a probability. False in numerical trouble. */
static bool e_step(kb_paper *paper, double *moved)
{
    kb_field *f = paper->field;
    kb_ep *ep = paper->ep;
    size_t k = paper->active.n;
    kb_field_assemble(f, &paper->active);
    for (size_t q = 0; q < k; q++) {
        paper->b[q] = -f->gw[q]; /* b = Hww w - gw = Phi'u_t / tau */
        for (size_t j = 0; j < k; j++) paper->b[q] += f->Hww[q + j * k] * f->w[paper->active.column[j]];
    }
    memcpy(paper->before, ep->probability, k * sizeof *paper->before);
    if (!kb_ep_run(ep, f->Hww, paper->b, paper->slab, paper->log_odds, SWEEPS)) return false;
    *moved = 0;
    for (size_t q = 0; q < k; q++) *moved = fmax(*moved, fabs(ep->probability[q] - paper->before[q]));
    take_posterior(paper);
    prune(paper);
    return true;
}

/* Adam on the field; returns the mean objective over the second half of its steps, which its jitter does not move. */
static double m_step(kb_paper *paper, kb_run *run)
{
    int steps = paper->problem->settings->paper_steps, counted = 0;
    double sum = 0;
    for (int step = 0; step < steps && kb_run_continue(run, paper->active.n); step++) {
        double J = kb_field_gradient(paper->field, &paper->active);
        kb_adam_step(paper->adam, paper->field->gz, paper->field->z);
        if (2 * step + 1 >= steps) sum += J, counted++;
    }
    return sum / counted;
}

/* *lost when numerical trouble ended it; returns whether it converged. */
static bool iterate(kb_paper *paper, kb_run *run, bool *lost)
{
    int iterations = paper->problem->settings->paper_iterations;
    double before = INFINITY, moved = INFINITY;
    *lost = !begin(paper);
    for (int iteration = 0; iteration < iterations && !*lost && !kb_run_stopped(run); iteration++) {
        run->fraction = 0.05 + 0.95 * iteration / iterations;
        *lost = !e_step(paper, &moved);
        if (*lost) break;
        paper->has_model = true;
        double J = m_step(paper, run);
        if (kb_run_stopped(run)) break;
        *lost = !isfinite(J);
        if (moved <= still_probability && fabs(J - before) <= still_objective * (1 + fabs(J))) return true;
        before = J;
    }
    return false;
}

/* ---------------------------------------------------------------- the answer */

/* rms residual where measured, in the data's units */
static double residual_rms(const kb_paper *paper, size_t state)
{
    const kb_record *record = paper->problem->record;
    const kb_level *level = paper->level;
    double squares = 0;
    for (size_t row = 0; row < record->n_rows; row++) {
        double q = 0;
        if (record->measured[row + state * record->n_rows] == 0) continue;
        for (size_t r = 0; r < level->rank; r++)
            q += level->rows[row + r * record->n_rows] * paper->field->z[state * level->rank + r];
        q -= record->value[row + state * record->n_rows];
        squares += q * q;
    }
    return record->sd[state] * sqrt(squares / (double)record->count[state]);
}

static kbass_status fill(kb_paper *paper, kb_answer *answer, kbass_error *error)
{
    const kb_problem *p = paper->problem;
    const kb_field *f = paper->field;
    double *noise = (double *)answer->result.noise, *initial = (double *)answer->result.initial;
    for (size_t i = 0; i < f->n_states; i++) {
        double q = 0; /* the mesh begins at the first time */
        for (size_t r = 0; r < paper->level->rank; r++)
            q += paper->level->mesh[r * p->n_mesh] * f->z[i * paper->level->rank + r];
        initial[i] = p->record->mean[i] + p->record->sd[i] * q;
        noise[i] = residual_rms(paper, i);
    }
    kb_frame frame = kb_problem_frame(p);
    return kb_answer_equations(answer, &frame, paper->weight, paper->sd, paper->probability, &paper->active, error);
}

static kbass_outcome outcome_of(kb_run *run, bool converged, bool lost)
{
    int reason = atomic_load(&run->reason);
    if (reason) return (kbass_outcome)(reason - 1);
    return lost ? KBASS_NO_MODEL : converged ? KBASS_CONVERGED : KBASS_NOT_CONVERGED;
}

/* Leaves the Cholesky factor of the field's Hessian for the band. */
static bool factorise(kb_paper *paper)
{
    kb_field_assemble(paper->field, &paper->active);
    return kb_cholesky(paper->field->nz, paper->field->Hzz, paper->field->nz);
}

kbass_status kb_paper_run(const kb_problem *p, kb_run *run, kb_paper **out, kb_answer **answer, kbass_error *error)
{
    kb_paper *paper = NULL;
    kb_frame frame = kb_problem_frame(p);
    kb_answer *found = NULL;
    double start = kb_clock();
    bool lost = false, converged = false;
    int blas_threads = kb_blas_threads(1);
    kbass_status status = create(p, &paper, error);
    if (status == KBASS_OK) status = kb_answer_begin(&frame, &found, error);
    if (status == KBASS_OK) {
        run->stage = kbass_stage_name(KBASS_STAGE_SEARCH);
        converged = iterate(paper, run, &lost);
        lost = lost || !factorise(paper);
        paper->has_model = paper->has_model && !lost;
        if (paper->has_model) status = fill(paper, found, error);
        found->result.outcome = outcome_of(run, converged, lost);
        found->result.n_starts = 1;
        found->result.n_starts_lost = lost;
        found->result.seconds[KBASS_STAGE_SEARCH] = kb_clock() - start;
    }
    kb_blas_threads(blas_threads);
    if (status == KBASS_OK) {
        *out = paper;
        *answer = found;
    } else {
        kb_paper_destroy(paper);
        kb_answer_destroy(found);
    }
    return status;
}

/* ---------------------------------------------------------------- the solution */

/* Variance of the state's field where its features are `phi`: phi' (Hzz^{-1})_ii phi */
static double variance_at(const kb_paper *paper, size_t state, const double *phi, size_t stride, double *a)
{
    size_t r = paper->level->rank, nz = paper->field->nz;
    memset(a, 0, nz * sizeof *a);
    for (size_t q = 0; q < r; q++) a[state * r + q] = phi[q * stride];
    kb_lower_solve(nz, 1, paper->field->Hzz, nz, a, nz);
    return kb_dot(nz, a, a);
}

static void evaluate(const kb_paper *paper, size_t n_times, const double *features, double *a, double *mean, double *sd)
{
    const kb_record *record = paper->problem->record;
    size_t n = record->n_states, r = paper->level->rank;
    for (size_t k = 0; k < n_times; k++)
        for (size_t i = 0; i < n; i++) {
            double q = 0;
            for (size_t j = 0; j < r; j++) q += features[k + j * n_times] * paper->field->z[i * r + j];
            mean[k * n + i] = record->mean[i] + record->sd[i] * q;
            sd[k * n + i] = record->sd[i] * sqrt(variance_at(paper, i, features + k, n_times, a));
        }
}

kbass_status kb_paper_solution(const kb_paper *paper, size_t n_times, const double *times, double *mean, double *sd,
                               kbass_error *error)
{
    const kb_record *record = paper->problem->record;
    double *scaled = KB_NEW(double, n_times), *features = KB_NEW(double, n_times * paper->level->rank);
    double *work = KB_NEW(double, n_times * paper->problem->n_mesh), *a = KB_NEW(double, paper->field->nz);
    bool complete = scaled && features && work && a;
    if (complete) {
        for (size_t k = 0; k < n_times; k++) scaled[k] = (times[k] - record->first) / record->span;
        kb_basis_features(paper->level->basis, n_times, scaled, 0, features, work);
        evaluate(paper, n_times, features, a, mean, sd);
    }
    kb_free(scaled);
    kb_free(features);
    kb_free(work);
    kb_free(a);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the solution");
}
