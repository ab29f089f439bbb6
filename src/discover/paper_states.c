#include "discover/paper_states.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

static const double spacings = 0.7; /* of the samples, to a length scale */

typedef struct {
    kb_canvas canvas; /* first, so that the loop's pointer is ours */
    const kb_ode_problem *problem;
    kb_level *level;
    kb_ode_field *field; /* at the end Hzz holds its Cholesky factor */
} states;

static const states *const_states(const kb_canvas *canvas) { return (const states *)canvas; }

static kb_ode_field *field_of(kb_canvas *canvas) { return ((states *)canvas)->field; }

/* ---------------------------------------------------------------- what the loop asks for */

static bool regress(kb_canvas *canvas)
{
    const states *s = const_states(canvas);
    kb_ode_field *f = s->field;
    for (size_t i = 0; i < f->n_states; i++) {
        f->v[i] = kb_paper_noise(canvas->settings, s->problem->record->known_variance[i]);
        f->tau[i] = kb_paper_tau(canvas, i);
    }
    kb_ode_field_set_level(f, s->level);
    return kb_ode_field_regress(f);
}

static void listen(kb_canvas *canvas, const kb_support *support) { kb_ode_field_assemble(field_of(canvas), support); }

static double descend(kb_canvas *canvas, const kb_support *support)
{
    return kb_ode_field_gradient(field_of(canvas), support);
}

/* Leaves the Cholesky factor of the field's Hessian for the band. */
static bool finish(kb_canvas *canvas, const kb_support *support)
{
    kb_ode_field *f = field_of(canvas);
    kb_ode_field_assemble(f, support);
    return kb_cholesky(f->nz, f->Hzz, f->nz);
}

static double residual_rms(const kb_canvas *canvas, size_t state)
{
    const states *s = const_states(canvas);
    const kb_record *record = s->problem->record;
    const kb_level *level = s->level;
    double squares = 0;
    for (size_t row = 0; row < record->n_rows; row++) {
        double q = 0;
        if (record->measured[row + state * record->n_rows] == 0) continue;
        for (size_t r = 0; r < level->rank; r++)
            q += level->rows[row + r * record->n_rows] * canvas->z[state * level->rank + r];
        q -= record->value[row + state * record->n_rows];
        squares += q * q;
    }
    return record->sd[state] * sqrt(squares / (double)record->count[state]);
}

/* The mesh begins at the first time. */
static double initial(const kb_canvas *canvas, size_t state)
{
    const states *s = const_states(canvas);
    double q = 0;
    for (size_t r = 0; r < s->level->rank; r++)
        q += s->level->mesh[r * s->problem->n_mesh] * canvas->z[state * s->level->rank + r];
    return s->problem->record->mean[state] + s->problem->record->sd[state] * q;
}

/* ---------------------------------------------------------------- the solution */

/* Variance of the state's field where its features are `phi`: phi' (Hzz^{-1})_ii phi */
static double variance_at(const states *s, size_t state, const double *phi, size_t stride, double *a)
{
    size_t r = s->level->rank, nz = s->field->nz;
    memset(a, 0, nz * sizeof *a);
    for (size_t q = 0; q < r; q++) a[state * r + q] = phi[q * stride];
    kb_lower_solve(nz, 1, s->field->Hzz, nz, a, nz);
    return kb_dot(nz, a, a);
}

static void fill_solution(const states *s, size_t n_times, const double *features, double *a, double *mean, double *sd)
{
    const kb_record *record = s->problem->record;
    size_t n = record->n_states, r = s->level->rank;
    for (size_t k = 0; k < n_times; k++)
        for (size_t i = 0; i < n; i++) {
            double q = 0;
            for (size_t j = 0; j < r; j++) q += features[k + j * n_times] * s->field->z[i * r + j];
            mean[k * n + i] = record->mean[i] + record->sd[i] * q;
            sd[k * n + i] = record->sd[i] * sqrt(variance_at(s, i, features + k, n_times, a));
        }
}

/* The field and its Laplace band, the weights taken as known. */
static kbass_status evaluate(kb_canvas *canvas, size_t n, const double *times, const double *positions, double *mean,
                             double *sd, kbass_error *error)
{
    const states *s = const_states(canvas);
    const kb_record *record = s->problem->record;
    double *scaled = KB_NEW(double, n), *features = KB_NEW(double, n * s->level->rank);
    double *work = KB_NEW(double, n * s->problem->n_mesh), *a = KB_NEW(double, s->field->nz);
    bool complete = scaled && features && work && a;
    (void)positions;
    if (complete) {
        for (size_t k = 0; k < n; k++) scaled[k] = (times[k] - record->first) / record->span;
        kb_basis_features(s->level->basis, n, scaled, 0, features, work);
        fill_solution(s, n, features, a, mean, sd);
    }
    kb_free(scaled);
    kb_free(features);
    kb_free(work);
    kb_free(a);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the solution");
}

/* ---------------------------------------------------------------- life */

static void destroy(kb_canvas *canvas)
{
    states *s = (states *)canvas;
    kb_level_destroy(s->level);
    kb_ode_field_destroy(s->field);
    kb_free(s);
}

static kb_canvas describe(const states *s)
{
    const kb_ode_problem *p = s->problem;
    kb_ode_field *f = s->field;
    return (kb_canvas){.settings = p->settings,
                       .frame = kb_ode_problem_frame(p),
                       .all = &p->all,
                       .slope_squares = p->slope_squares,
                       .n = p->record->n_states * s->level->rank,
                       .z = f->z,
                       .w = f->w,
                       .gradient = f->gz,
                       .G = f->Hww,
                       .gradient_w = f->gw,
                       .regress = regress,
                       .listen = listen,
                       .descend = descend,
                       .finish = finish,
                       .residual_rms = residual_rms,
                       .initial = initial,
                       .evaluate = evaluate,
                       .destroy = destroy};
}

kbass_status kb_paper_states_create(const kb_ode_problem *p, kb_canvas **out, kbass_error *error)
{
    states *s = KB_NEW(states, 1);
    if (!s) return kb_out_of_memory(error, "the published method");
    s->problem = p;
    kb_kernel_kind kind = (kb_kernel_kind)p->settings->kernel;
    double length = kb_paper_length(p->settings, spacings * p->record->spacing);
    kbass_status status = kb_level_create(p->record, kind, length, p->n_mesh, &s->level, error);
    if (status == KBASS_OK)
        status = kb_ode_field_create(p->record, p->dictionary, p->columns, p->n_mesh, s->level->rank, &s->field, error);
    if (status == KBASS_OK) {
        s->canvas = describe(s);
        *out = &s->canvas;
    } else {
        destroy(&s->canvas);
    }
    return status;
}
