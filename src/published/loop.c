#include "published/loop.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"

enum {
    WINDOW = 1000
}; /* steps over which change is measured: that of a single one is the rate's, whatever the progress */
static const double longest = 10; /* length scale, in records; the shortest is that of the mesh */

/* ---------------------------------------------------------------- life */

void kb_published_loop_destroy(kb_published_loop *l)
{
    if (!l) return;
    kb_adam_destroy(l->field);
    kb_adam_destroy(l->lengths);
    kb_free(l->fields);
    kb_free(l->weights);
    kb_free(l->log_lengths);
    kb_free(l->changed);
    kb_free(l->first);
    kb_free(l);
}

kbass_status kb_published_loop_create(kb_published_posterior *posterior, kb_published_trace *trace,
                                      kb_published_loop **out, kbass_error *error)
{
    kb_published_model *m = posterior->model;
    kb_published_field *f = m->field;
    kb_published_loop *l = KB_NEW(kb_published_loop, 1);
    if (!l) return kb_out_of_memory(error, "the published method");
    *l = (kb_published_loop){.model = m, .posterior = posterior, .options = posterior->options, .trace = trace};
    kbass_status status = kb_adam_create(f->first[f->n_fields], &l->field, error);
    if (status == KBASS_OK) status = kb_adam_create(f->n_fields * f->n_axes, &l->lengths, error);
    l->fields = KB_NEW(double, f->n_fields * f->n_mesh);
    l->weights = KB_NEW(double, m->columns->n);
    l->log_lengths = KB_NEW(double, f->n_fields * f->n_axes);
    l->changed = KB_NEW(bool, f->n_fields);
    l->first = KB_NEW(size_t, f->n_fields + 1);
    if (status == KBASS_OK && !(l->fields && l->weights && l->log_lengths && l->changed && l->first))
        status = kb_out_of_memory(error, "the published method");
    if (status == KBASS_OK) *out = l;
    else kb_published_loop_destroy(l);
    return status;
}

/* ---------------------------------------------------------------- M step */

/* Length scales stay between a mesh step and many records: beyond them the kernel is a point or a constant. */
static void limit_lengths(kb_published_field *f)
{
    for (size_t a = 0; a < f->n_axes; a++) {
        const double *at = f->coordinate[a];
        size_t n = f->samples->n_mesh[a];
        double low = log((at[n - 1] - at[0]) / (double)(n - 1)), high = log(longest * (at[n - 1] - at[0]));
        for (size_t i = 0; i < f->n_fields; i++) {
            double *log_length = &f->log_length[i + a * f->n_fields];
            *log_length = fmin(fmax(*log_length, low), high);
        }
    }
}

static bool is_far(const kb_published_field *f)
{
    for (size_t i = 0; i < f->n_fields * f->n_axes; i++)
        if (kb_published_axis_is_far(f->axis[i], exp(f->log_length[i]))) return true;
    return false;
}

/* Adam's moments after the field's coefficients have moved. */
static kbass_status follow_field(kb_published_loop *l, kbass_error *error)
{
    kb_published_field *f = l->model->field;
    kbass_status status = kb_published_model_resize(l->model, error);
    return status == KBASS_OK ? kb_adam_follow(l->field, f->n_fields, l->first, f->first, l->changed, error) : status;
}

/* Nodes for length scales that went far. */
static kbass_status follow_lengths(kb_published_loop *l, kbass_error *error)
{
    kb_published_field *f = l->model->field;
    if (!is_far(f)) return KBASS_OK;
    memcpy(l->first, f->first, (f->n_fields + 1) * sizeof *l->first);
    kbass_status status = kb_published_field_place(f, l->changed, error);
    return status == KBASS_OK ? follow_field(l, error) : status;
}

/* From now on coefficients at the nodes alone. */
static kbass_status compress(kb_published_loop *l, kbass_error *error)
{
    kb_published_field *f = l->model->field;
    memcpy(l->first, f->first, (f->n_fields + 1) * sizeof *l->first);
    kbass_status status = kb_published_field_compress(f, l->changed, error);
    return status == KBASS_OK ? follow_field(l, error) : status;
}

/* One step of Adam; J is NaN in numerical trouble. */
static kbass_status m_step(kb_published_loop *l, double *J, kbass_error *error)
{
    kb_published_model *m = l->model;
    const kb_published_options *o = l->options;
    for (size_t i = 0; i < m->field->n_fields; i++)
        if (o->noise_variance.n && !(m->field->samples->known_variance[i] > 0))
            m->variance[i] = kb_schedule_value(&o->noise_variance, l->steps, i);
    for (size_t i = 0; i < m->n_equations; i++)
        m->equations[i].tau = kb_published_m_variance(l->posterior, l->steps, m->equations[i].state);
    *J = kb_published_model_gradient(m);
    if (!isfinite(*J)) return KBASS_OK;
    kb_adam_step(l->field, kb_schedule_value(&o->rate, l->steps, 0), m->gradient, m->field->z);
    kb_adam_step(l->lengths, kb_schedule_value(&o->length_rate, l->steps, 0), m->slope, m->field->log_length);
    limit_lengths(m->field);
    return follow_lengths(l, error);
}

/* ---------------------------------------------------------------- when to stop */

static long last_change(const kb_published_loop *l)
{
    const kb_published_options *o = l->options;
    const kb_schedule *schedules[] = {&o->noise_variance, &o->m_variance,  &o->e_variance, &o->alpha,
                                      &o->rate,           &o->length_rate, &o->bound};
    long last = o->e_variance.n && o->m_variance.n ? 0 : kb_published_last_stage();
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        long change = kb_schedule_last(schedules[i]);
        if (change > last) last = change;
    }
    return last;
}

/* |x - before| / |x|, and x goes to `before` */
static double change_of(size_t n, const double *x, double *before)
{
    double moved = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        moved += (x[i] - before[i]) * (x[i] - before[i]);
        size += x[i] * x[i];
        before[i] = x[i];
    }
    return moved == 0 ? 0 : sqrt(moved / size);
}

static double larger(double a, double b) { return !(b <= a) ? b : a; } /* NaN stays */

/* The weights of an equation's columns, in their place among all. */
static double change_of_weights(const kb_published_equation *e, double *weights)
{
    double moved = 0, size = 0;
    for (size_t q = 0; q < e->n; q++) {
        double *before = &weights[e->column[q]];
        moved += (e->w[q] - *before) * (e->w[q] - *before);
        size += e->w[q] * e->w[q];
        *before = e->w[q];
    }
    return moved == 0 ? 0 : sqrt(moved / size);
}

/* The largest relative change since the last call: of a field, of an equation's weights, of a length scale. */
static double measure_change(kb_published_loop *l)
{
    static const int value[KB_SAMPLE_AXES] = {0};
    kb_published_field *f = l->model->field;
    double most = 0;
    for (size_t i = 0; i < f->n_fields; i++) {
        kb_published_field_derivative(f, i, value, f->spare);
        most = larger(most, change_of(f->n_mesh, f->spare, l->fields + i * f->n_mesh));
    }
    for (size_t i = 0; i < l->model->n_equations; i++)
        most = larger(most, change_of_weights(&l->model->equations[i], l->weights));
    for (size_t i = 0; i < f->n_fields * f->n_axes; i++) {
        most = larger(most, fabs(f->log_length[i] - l->log_lengths[i]));
        l->log_lengths[i] = f->log_length[i];
    }
    return most;
}

/* ---------------------------------------------------------------- the loop */

static bool is_e_step(const kb_published_loop *l)
{
    long since = l->steps - l->options->first;
    return since >= 0 && since % l->options->interval == 0;
}

/* Sets is_lost in numerical trouble. */
static kbass_status e_step(kb_published_loop *l, kbass_error *error)
{
    size_t pruned = 0;
    bool is_first = !l->posterior->has_run;
    l->is_lost = !kb_published_e_step(l->posterior, l->steps, &pruned);
    if (l->is_lost) return KBASS_OK;
    if (is_first) {
        kb_adam_reset(l->field);
        kb_adam_reset(l->lengths);
    }
    return l->trace ? kb_published_trace_write(l->trace, l->posterior, l->steps, error) : KBASS_OK;
}

static bool is_still(kb_published_loop *l)
{
    if (l->steps % WINDOW || l->steps < l->options->first) return false;
    l->change = measure_change(l);
    return l->change <= l->options->tolerance && l->steps >= last_change(l) + WINDOW;
}

kbass_status kb_published_loop_run(kb_published_loop *l, kb_run *run, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    double J = 0;
    l->change = NAN;
    run->has_step_limit = true;
    for (l->steps = 0; l->steps < l->options->limit; l->steps++) {
        run->fraction = 0.05 + 0.95 * (double)l->steps / (double)l->options->limit;
        if (is_e_step(l)) status = e_step(l, error);
        if (status != KBASS_OK || l->is_lost) return status;
        l->has_converged = is_still(l);
        if (l->has_converged || !kb_run_continue(run, l->model->columns->n)) break;
        status = m_step(l, &J, error);
        l->is_lost = !isfinite(J);
        if (status != KBASS_OK || l->is_lost) return status;
    }
    if (!(is_e_step(l) && l->has_converged)) status = e_step(l, error);
    return status == KBASS_OK && !l->is_lost ? compress(l, error) : status;
}
