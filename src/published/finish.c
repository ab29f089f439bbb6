#include "published/finish.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "published/laplace.h"

enum { MEMORY = 20, MOST_ITERATIONS = 2000, HALVINGS = 30, ROUND = 100, STALLED = 2 };
static const double sufficient = 1e-4;   /* of the decrease that the slope promises */
static const double flat = 1e-8;         /* relative decrease of J over a round that counts as none */
static const double longest_move = 0.05; /* of a log length scale in one step, so that the nodes can follow */

typedef struct {
    kb_published_posterior *posterior;
    kb_published_model *model;
    size_t n_z, n; /* coefficients; with log length scales */
    double *x, *g, *next_x, *next_g, *direction;
    double *s, *y, rho[MEMORY]; /* n x MEMORY: steps and differences of the gradient */
    size_t n_pairs, newest;
    kb_published_laplace *metric; /* what the steps begin with: the Hessian by z, the weights held */
    double length_metric, *work;
} lbfgs;

/* ---------------------------------------------------------------- the reduced objective */

/* The best weights of an equation for the field as it is, and J's part that is not in the model: the slab. */
static bool solve_weights(lbfgs *l, kb_published_equation *e, double *J)
{
    kb_published_posterior *p = l->posterior;
    double slab = p->options->slab_variance * p->slope_square[e->state];
    for (size_t k = 0; k < e->n * e->n; k++) p->G[k] = e->G[k] / e->tau;
    for (size_t q = 0; q < e->n; q++) {
        p->G[q + q * e->n] += 1 / slab;
        e->w[q] = e->b[q] / e->tau;
    }
    if (e->n && !kb_cholesky(e->n, p->G, e->n)) return false;
    if (e->n) kb_cholesky_solve(e->n, 1, p->G, e->n, e->w, e->n);
    *J += 0.5 * kb_dot(e->n, e->w, e->w) / slab;
    return true;
}

static void put(lbfgs *l, const double *x)
{
    kb_published_field *f = l->model->field;
    memcpy(f->z, x, l->n_z * sizeof *x);
    memcpy(f->log_length, x + l->n_z, (l->n - l->n_z) * sizeof *x);
}

/* J and its gradient at x; NaN where it cannot be had. */
static double evaluate(lbfgs *l, const double *x, double *g)
{
    double J = 0;
    put(l, x);
    if (!kb_published_model_gram(l->model)) return NAN;
    for (size_t i = 0; i < l->model->n_equations; i++)
        if (!solve_weights(l, &l->model->equations[i], &J)) return NAN;
    J += kb_published_model_gradient(l->model);
    memcpy(g, l->model->gradient, l->n_z * sizeof *g);
    memcpy(g + l->n_z, l->model->slope, (l->n - l->n_z) * sizeof *g);
    return J;
}

/* ---------------------------------------------------------------- L-BFGS */

static bool allocate(lbfgs *l)
{
    const kb_published_field *f = l->model->field;
    l->n_z = f->first[f->n_fields];
    l->n = l->n_z + f->n_fields * f->n_axes;
    double **vectors[] = {&l->x, &l->g, &l->next_x, &l->next_g, &l->direction};
    bool complete = true;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        complete = (*vectors[i] = KB_NEW(double, l->n)) != NULL && complete;
    l->work = KB_NEW(double, l->n);
    l->s = KB_NEW(double, l->n *MEMORY);
    l->y = KB_NEW(double, l->n *MEMORY);
    l->n_pairs = 0;
    return complete && l->s && l->y && l->work;
}

static void clear(lbfgs *l)
{
    double *arrays[] = {l->x, l->g, l->next_x, l->next_g, l->direction, l->s, l->y, l->work};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    l->x = l->g = l->next_x = l->next_g = l->direction = l->s = l->y = l->work = NULL;
    kb_published_laplace_destroy(l->metric);
    l->metric = NULL;
}

/* The two-loop recursion: direction = -(inverse Hessian) g. */
static void find_direction(lbfgs *l)
{
    double alpha[MEMORY], *d = l->direction;
    for (size_t i = 0; i < l->n; i++) d[i] = -l->g[i];
    for (size_t k = 0; k < l->n_pairs; k++) {
        size_t j = (l->newest + MEMORY - k) % MEMORY;
        alpha[j] = l->rho[j] * kb_dot(l->n, l->s + j * l->n, d);
        kb_axpy(l->n, -alpha[j], l->y + j * l->n, d);
    }
    kb_published_laplace_solve(l->metric, l->model->field, d, l->work);
    for (size_t i = l->n_z; i < l->n; i++) d[i] *= l->length_metric;
    for (size_t k = l->n_pairs; k-- > 0;) {
        size_t j = (l->newest + MEMORY - k) % MEMORY;
        kb_axpy(l->n, alpha[j] - l->rho[j] * kb_dot(l->n, l->y + j * l->n, d), l->s + j * l->n, d);
    }
}

static void remember(lbfgs *l)
{
    size_t at = l->n_pairs ? (l->newest + 1) % MEMORY : 0;
    double *s = l->s + at * l->n, *y = l->y + at * l->n;
    for (size_t i = 0; i < l->n; i++) {
        s[i] = l->next_x[i] - l->x[i];
        y[i] = l->next_g[i] - l->g[i];
    }
    double product = kb_dot(l->n, s, y);
    if (!(product > 1e-12 * kb_dot(l->n, y, y) * 1e-6)) return; /* no curvature to learn from */
    l->rho[at] = 1 / product;
    l->newest = at;
    if (l->n_pairs < MEMORY) l->n_pairs++;
}

/* The longest step along the direction, 1 at most, that moves no length scale too far. */
static double first_step(const lbfgs *l)
{
    double step = 1;
    for (size_t i = l->n_z; i < l->n; i++)
        if (fabs(l->direction[i]) * step > longest_move) step = longest_move / fabs(l->direction[i]);
    return step;
}

/* One step with backtracking; false when none helps. */
static bool advance(lbfgs *l, double *J)
{
    find_direction(l);
    double slope = kb_dot(l->n, l->g, l->direction), step = first_step(l);
    if (!(slope < 0)) return false;
    for (int k = 0; k < HALVINGS; k++, step /= 2) {
        for (size_t i = 0; i < l->n; i++) l->next_x[i] = l->x[i] + step * l->direction[i];
        double next = evaluate(l, l->next_x, l->next_g);
        if (!(next <= *J + sufficient * step * slope)) continue;
        remember(l);
        memcpy(l->x, l->next_x, l->n * sizeof *l->x);
        memcpy(l->g, l->next_g, l->n * sizeof *l->g);
        *J = next;
        return true;
    }
    put(l, l->x);
    return false;
}

static bool has_gone_far(const kb_published_field *f)
{
    for (size_t i = 0; i < f->n_fields * f->n_axes; i++)
        if (kb_published_axis_is_far(f->axis[i], exp(f->log_length[i]))) return true;
    return false;
}

static kbass_status begin_round(lbfgs *l, double *J, kbass_error *error)
{
    const kb_published_field *f = l->model->field;
    if (!allocate(l)) return kb_out_of_memory(error, "the joint solution");
    memcpy(l->x, f->z, l->n_z * sizeof *l->x);
    memcpy(l->x + l->n_z, f->log_length, (l->n - l->n_z) * sizeof *l->x);
    *J = evaluate(l, l->x, l->g);
    l->length_metric = 1 / (1 + fabs(*J));
    if (isnan(*J)) return kb_fail(error, KBASS_ERROR_DATA, "the joint solution fails in numerical trouble");
    return kb_published_laplace_create(l->model, &l->metric, error);
}

/* Steps with the nodes as they are, until the length scales have gone far; *is_flat: nothing was gained. */
static kbass_status round_of_steps(lbfgs *l, kb_run *run, int *left, bool *is_flat, kbass_error *error)
{
    double J = 0;
    kbass_status status = begin_round(l, &J, error);
    double first = J;
    bool is_stuck = false;
    for (int k = 0; k < ROUND && status == KBASS_OK && *left > 0 && !is_stuck; k++, --*left) {
        if (!kb_run_continue(run, l->model->columns->n) || has_gone_far(l->model->field)) break;
        is_stuck = !advance(l, &J);
    }
    clear(l);
    *is_flat = !(first - J > flat * fabs(J));
    return status;
}

/* ---------------------------------------------------------------- the whole */

/* Weights and sds of the joint solution; sds are those of the weights given the field. */
static bool take_weights(lbfgs *l)
{
    kb_published_posterior *p = l->posterior;
    double J = 0;
    if (!kb_published_model_gram(l->model)) return false;
    for (size_t i = 0; i < l->model->n_equations; i++) {
        kb_published_equation *e = &l->model->equations[i];
        if (!e->n) continue;
        if (!solve_weights(l, e, &J) || !kb_cholesky_inverse(e->n, p->G, e->n)) return false;
        for (size_t q = 0; q < e->n; q++) {
            double unit = l->model->columns->unit[e->column[q]];
            p->weight[e->column[q]] = e->w[q] * unit;
            p->sd[e->column[q]] = sqrt(p->G[q + q * e->n]) * unit;
        }
    }
    return true;
}

kbass_status kb_published_finish(kb_published_posterior *posterior, long step, kb_run *run, bool *has_converged,
                                 kbass_error *error)
{
    lbfgs l = {.posterior = posterior, .model = posterior->model};
    kb_published_model *m = l.model;
    bool *changed = KB_NEW(bool, m->field->n_fields), is_flat = false;
    kbass_status status = changed ? KBASS_OK : kb_out_of_memory(error, "the joint solution");
    int left = MOST_ITERATIONS, stalled = 0;
    for (size_t i = 0; i < m->n_equations; i++) {
        m->equations[i].has_covariance = false;
        m->equations[i].tau = kb_published_m_variance(posterior, step, m->equations[i].state);
    }
    while (status == KBASS_OK && left > 0 && stalled < STALLED && !kb_run_stopped(run)) {
        status = round_of_steps(&l, run, &left, &is_flat, error);
        stalled = is_flat ? stalled + 1 : 0;
        if (status == KBASS_OK) status = kb_published_field_place(m->field, changed, error);
        if (status == KBASS_OK) status = kb_published_model_resize(m, error);
    }
    kb_free(changed);
    *has_converged = status == KBASS_OK && stalled == STALLED;
    if (status == KBASS_OK && !take_weights(&l))
        status = kb_fail(error, KBASS_ERROR_DATA, "the joint solution fails in numerical trouble");
    return status;
}
