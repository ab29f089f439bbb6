#include "published/published.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "gp/bare_field.h"
#include "gp/mesh.h"
#include "published/finish.h"
#include "published/laplace.h"
#include "published/loop.h"
#include "published/regress.h"
#include "collocation/refine_mesh.h"
#include "tensor/rows.h"

struct kb_published {
    kb_published_options options;
    const kb_dictionary *dictionary;
    kb_field_samples *samples;
    double *variance; /* by field: v, in the field's units */
    kb_kernel kernels[KB_SAMPLE_AXES];
    double *lengths; /* fields x axes, at the start */
    kb_published_model *model;
    kb_published_posterior *posterior;
    kb_published_laplace *laplace; /* after a run that found a model */
    double noise_share; /* of the variance, by marginal likelihood, where the start depends on it; else NaN */
};

/* From this share of noise on a preset begins as the authors' script for the noisy file: between the shares of their
   two Burgers files, 0.003 and 0.06. */
static const double noisy = 0.015;

/* ---------------------------------------------------------------- life */

void kb_published_destroy(kb_published *p)
{
    if (!p) return;
    kb_published_laplace_destroy(p->laplace);
    kb_published_posterior_destroy(p->posterior);
    kb_published_model_destroy(p->model);
    kb_free(p->variance);
    kb_free(p->lengths);
    kb_field_samples_destroy(p->samples);
    kb_free(p);
}

/* Doubles for each point of the mesh: variables and pulls, left-hand sides and forces, a tensor of work. */
static size_t count_doubles(const kb_dictionary *dictionary)
{
    return 2 * dictionary->n_variables + 2 * dictionary->n_states + 4;
}

static kbass_status read_data(kb_published *p, const kbass_data *data, const kbass_settings *settings,
                              kbass_error *error)
{
    kbass_settings with = *settings;
    kbass_status status = kb_field_samples_create(data, settings->noise, &p->samples, error);
    if (p->options.mesh && !(with.mesh && *with.mesh)) with.mesh = p->options.mesh;
    if (status == KBASS_OK && data->n_axes > 1)
        status = kb_dictionary_check_points(p->dictionary, p->samples->n_grid, error);
    if (status == KBASS_OK && data->n_axes > 1)
        status = kb_field_samples_read_periodic(p->samples, data, settings->periodic, error);
    if (status == KBASS_OK) status = kb_mesh_lay(p->samples, data, &with, p->dictionary, error);
    for (size_t a = 0; status == KBASS_OK && a < data->n_axes; a++)
        status = kb_mesh_close(p->samples, a, kb_mesh_standard(data->n_axes), error);
    return status == KBASS_OK ? kb_mesh_check_memory(p->samples, count_doubles(p->dictionary), error) : status;
}

/* Which of two scripts the length scales begin with. */
static kbass_status choose_start(kb_published *p, kbass_error *error)
{
    kb_bare_field *gp = NULL;
    p->noise_share = NAN;
    if (!(p->options.noisy_length[0] > 0)) return KBASS_OK;
    kbass_status status = kb_bare_field_fit(p->samples, KB_KERNEL_SE, &gp, error);
    if (status != KBASS_OK) return status;
    p->noise_share = gp->variance[0];
    if (p->noise_share >= noisy) memcpy(p->options.length, p->options.noisy_length, sizeof p->options.length);
    kb_bare_field_destroy(gp);
    return KBASS_OK;
}

/* Kernels and length scales at the start. A periodic axis has the periodic kernel. */
static kbass_status set_kernels(kb_published *p, const kbass_settings *settings, kbass_error *error)
{
    const kb_field_samples *c = p->samples;
    p->lengths = KB_NEW(double, c->n_fields * c->n_axes);
    p->variance = KB_NEW(double, c->n_fields);
    if (!p->lengths || !p->variance) return kb_out_of_memory(error, "the published method");
    for (size_t a = 0; a < c->n_axes; a++) {
        double reach = p->options.in_data_units ? c->span[a] : 1, given = p->options.length[a];
        p->kernels[a] = (kb_kernel){.kind = (kb_kernel_kind)settings->kernel, .length = 1, .period = reach};
        if (c->period[a] > 0)
            p->kernels[a] = (kb_kernel){.kind = KB_KERNEL_PERIODIC, .length = 1, .period = reach * c->period[a]};
        for (size_t i = 0; i < c->n_fields; i++)
            p->lengths[i + a * c->n_fields] = given > 0 ? given : reach * c->spacing[a];
    }
    return KBASS_OK;
}

/* v as it is known, given, or by cross-validation; in the field's units. */
static kbass_status find_variances(kb_published *p, kb_published_field *field, kbass_error *error)
{
    const kb_field_samples *c = p->samples;
    kbass_status status = KBASS_OK;
    if (!p->options.noise_variance.n) status = kb_published_cross_validate(field, p->variance, error);
    for (size_t i = 0; i < c->n_fields; i++) {
        double unit = p->options.in_data_units ? c->sd[i] * c->sd[i] : 1;
        if (p->options.noise_variance.n) p->variance[i] = kb_schedule_value(&p->options.noise_variance, 0, i);
        else p->variance[i] *= unit;
        if (c->known_variance[i] > 0) p->variance[i] = c->known_variance[i] * unit;
    }
    return status;
}

/* Line 1 of the algorithm. */
static kbass_status regress(kb_published *p, kbass_error *error)
{
    kb_published_field *field = NULL;
    kbass_status status = kb_published_field_create(p->samples, p->options.in_data_units, p->kernels, p->options.jitter,
                                                    p->options.is_whole, p->lengths, &field, error);
    if (status == KBASS_OK) status = find_variances(p, field, error);
    if (status == KBASS_OK) status = kb_published_regress(field, p->variance, error);
    if (status != KBASS_OK) {
        kb_published_field_destroy(field);
        return status;
    }
    status = kb_published_model_create(field, p->dictionary, p->options.in_data_units, &p->model, error);
    if (status != KBASS_OK) return status;
    memcpy(p->model->variance, p->variance, p->samples->n_fields * sizeof *p->variance);
    if (p->options.starts_at_zero) memset(field->z, 0, field->first[field->n_fields] * sizeof *field->z);
    return kb_published_posterior_create(p->model, &p->options, &p->posterior, error);
}

kbass_status kb_published_create(const kbass_data *data, const kbass_settings *settings,
                                 const kb_dictionary *dictionary, kb_published **out, kbass_error *error)
{
    kb_published *p = KB_NEW(kb_published, 1);
    if (!p) return kb_out_of_memory(error, "the published method");
    p->dictionary = dictionary;
    kbass_status status = kb_published_options_read(settings, data->n_axes, &p->options, error);
    if (status == KBASS_OK) status = read_data(p, data, settings, error);
    if (status == KBASS_OK) status = choose_start(p, error);
    if (status == KBASS_OK) status = set_kernels(p, settings, error);
    if (status == KBASS_OK) status = regress(p, error);
    if (status == KBASS_OK) *out = p;
    else kb_published_destroy(p);
    return status;
}

const kb_field_samples *kb_published_samples(const kb_published *p) { return p->samples; }

/* ---------------------------------------------------------------- the run */

static kb_frame frame_of(const kb_published *p)
{
    const kb_field_samples *c = p->samples;
    return (kb_frame){p->dictionary, p->model->columns, c->mean, c->sd, c->span[0], 1, false, 0, 0};
}

/* The columns that are left. */
static kbass_status gather_support(const kb_published_model *m, kb_support *support, kbass_error *error)
{
    kbass_status status = kb_support_create(m->columns->n, support, error);
    for (size_t i = 0; status == KBASS_OK && i < m->n_equations; i++)
        for (size_t q = 0; q < m->equations[i].n; q++) kb_support_add(support, m->equations[i].column[q]);
    return status;
}

/* Which script's start was taken, and why. */
static kbass_status tell_start(const kb_published *p, kb_answer *answer, kbass_error *error)
{
    char text[200];
    snprintf(text, sizeof text,
             "preset: length scales begin as in the script for the file with%s noise: a smooth field leaves %.2g %% of "
             "the variance",
             p->noise_share >= noisy ? "" : "out", 100 * p->noise_share);
    return kb_answer_warn(answer, text, error);
}

static kbass_status add_notes(const kb_published *p, kb_answer *answer, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    if (!p->options.notes) return KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && p->options.notes[i]; i++)
        status = kb_answer_warn(answer, p->options.notes[i], error);
    return status == KBASS_OK && !isnan(p->noise_share) ? tell_start(p, answer, error) : status;
}

/* Noise is the rms of the residuals; states of an ODE system begin where their field does. */
static kbass_status describe_fields(const kb_published *p, kb_answer *answer, kbass_error *error)
{
    double *noise = (double *)answer->result.noise, *initial = (double *)answer->result.initial;
    size_t n = p->samples->n_fields;
    double *sd = kb_answer_own(answer, n, sizeof *sd);
    if (!sd) return kb_out_of_memory(error, "the solution");
    for (size_t i = 0; i < n; i++) {
        noise[i] = kb_published_model_residual(p->model, i);
        initial[i] = NAN;
    }
    return p->samples->n_axes == 1 ? kb_published_solution(p, 1, p->samples->first, NULL, initial, sd, error)
                                   : KBASS_OK;
}

static kbass_status fill(const kb_published *p, kb_answer *answer, kbass_error *error)
{
    const kb_published_posterior *q = p->posterior;
    kb_frame frame = frame_of(p);
    kb_support support = {0};
    /* EP's mean and sd have the spike in them: they are averages already */
    kb_weights weights = {q->weight, q->sd, q->probability, q->weight, q->sd, NULL, NULL, NULL};
    kbass_status status = describe_fields(p, answer, error);
    if (status == KBASS_OK) status = gather_support(p->model, &support, error);
    if (status == KBASS_OK) status = kb_answer_equations(answer, &frame, &weights, &support, error);
    if (status == KBASS_OK) status = add_notes(p, answer, error);
    kb_support_clear(&support);
    return status;
}

static kbass_outcome outcome_of(kb_run *run, const kb_published_loop *loop)
{
    int reason = atomic_load(&run->reason);
    if (reason) return (kbass_outcome)(reason - 1);
    return loop->is_lost ? KBASS_NO_MODEL : loop->has_converged ? KBASS_CONVERGED : KBASS_NOT_CONVERGED;
}

static kbass_status run_loop(kb_published *p, kb_published_loop *loop, kb_run *run, kb_answer *answer,
                             kbass_error *error)
{
    double start = kb_clock();
    run->stage = kbass_stage_name(KBASS_STAGE_SEARCH);
    kbass_status status = kb_published_loop_run(loop, run, error);
    double seconds = kb_clock() - start;
    bool has_model = p->posterior->has_run && !loop->is_lost;
    if (status == KBASS_OK && has_model && p->options.finishes)
        status = kb_published_finish(p->posterior, loop->steps, run, &loop->has_converged, error);
    if (status == KBASS_OK && has_model) status = kb_published_laplace_create(p->model, &p->laplace, error);
    if (status == KBASS_OK && has_model) status = fill(p, answer, error);
    size_t iterations = (size_t)(loop->steps / p->options.interval);
    answer->result.outcome = outcome_of(run, loop);
    answer->result.n_starts = 1;
    answer->result.n_starts_lost = loop->is_lost;
    answer->result.n_iterations = iterations;
    answer->result.seconds_per_iteration = iterations ? seconds / (double)iterations : NAN;
    answer->result.seconds[KBASS_STAGE_SEARCH] = kb_clock() - start;
    return status;
}

kbass_status kb_published_run(kb_published *p, kb_run *run, kb_answer **answer, kbass_error *error)
{
    kb_published_trace *trace = NULL;
    kb_published_loop *loop = NULL;
    kb_answer *found = NULL;
    kb_frame frame = frame_of(p);
    kbass_status status = p->options.trace ? kb_published_trace_open(p->options.trace, &trace, error) : KBASS_OK;
    if (status == KBASS_OK) status = kb_published_loop_create(p->posterior, trace, &loop, error);
    if (status == KBASS_OK) status = kb_answer_begin(&frame, &found, error);
    if (status == KBASS_OK) status = run_loop(p, loop, run, found, error);
    kb_published_loop_destroy(loop);
    status = kb_published_trace_close(trace, status, error);
    if (status == KBASS_OK) *answer = found;
    else kb_answer_destroy(found);
    return status;
}

/* ---------------------------------------------------------------- the solution */

/* Of one field at one point: features by node along each axis, and by coefficient. */
typedef struct {
    double *plain[KB_SAMPLE_AXES], *whitened[KB_SAMPLE_AXES], *work;
} point_features;

static void point_clear(point_features *x)
{
    for (size_t a = 0; a < KB_SAMPLE_AXES; a++) {
        kb_free(x->plain[a]);
        kb_free(x->whitened[a]);
    }
    kb_free(x->work);
}

static bool point_create(const kb_published_field *f, point_features *x)
{
    bool complete = (x->work = KB_NEW(double, f->first[f->n_fields])) != NULL;
    for (size_t a = 0; a < f->n_axes; a++) {
        size_t rank = 0;
        for (size_t i = 0; i < f->n_fields; i++)
            if (f->axis[i + a * f->n_fields]->rank > rank) rank = f->axis[i + a * f->n_fields]->rank;
        complete = (x->plain[a] = KB_NEW(double, rank)) != NULL && complete;
        complete = (x->whitened[a] = KB_NEW(double, rank)) != NULL && complete;
    }
    return complete;
}

/* Mean and sd of a field at a point; coordinates as the field has them. */
static void look(const kb_published *p, point_features *x, size_t which, const double *at, double *mean, double *sd)
{
    kb_published_field *f = p->model->field;
    kb_mode modes[KB_SAMPLE_AXES];
    double value = 0;
    for (size_t a = 0; a < f->n_axes; a++) {
        const kb_published_axis *axis = f->axis[which + a * f->n_fields];
        kb_published_axis_features(axis, 1, &at[a], x->plain[a]);
        kb_gemv(KB_TRANSPOSED, axis->rank, axis->n, 1, axis->A, axis->rank, x->plain[a], 0, x->whitened[a]);
        modes[a] = (kb_mode){1, axis->rank, 1, x->plain[a]};
    }
    kb_rows_product(f->n_axes, modes, f->u + f->first_node[which], &value, x->work);
    *mean = f->offset[which] + f->unit[which] * value;
    if (!sd) return;
    double variance = kb_published_laplace_variance(p->laplace, f, which, (const double *const *)x->whitened, x->work);
    *sd = f->unit[which] * sqrt(variance);
}

kbass_status kb_published_solution(const kb_published *p, size_t n, const double *times, const double *positions,
                                   double *mean, double *sd, kbass_error *error)
{
    const kb_published_field *f = p->model->field;
    const kb_field_samples *c = p->samples;
    point_features x = {0};
    bool complete = point_create(f, &x);
    for (size_t k = 0; complete && k < n; k++) {
        double at[KB_SAMPLE_AXES];
        for (size_t a = 0; a < f->n_axes; a++) {
            double raw = a ? positions[k * (f->n_axes - 1) + a - 1] : times[k];
            at[a] = f->reach[a] * (raw - c->first[a]) / c->span[a];
        }
        for (size_t i = 0; i < f->n_fields; i++)
            look(p, &x, i, at, &mean[k * f->n_fields + i], sd ? &sd[k * f->n_fields + i] : NULL);
    }
    point_clear(&x);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the solution");
}
