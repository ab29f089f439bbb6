#include "tasks/axes_resolution.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { LEAST_WAVES = 5 };                 /* waves: along an axis */
enum { LEAST_MODES = 150 };               /* modes: of a start, whatever is seen */
enum { MOST_MODES = 900 };                /* modes: of all fields' starts; their square is the cost of a tangent */
enum { MOST_STEPS = 64 };                 /* steps: of a record; more, and a fit is dear */
enum { MOST_COEFFICIENTS = 10000 };       /* coefficients: of all fields; more, and a fit is dear */
enum { LEAST_VISIBLE = 20 };              /* modes: that count as seen in any field */
static const double visible = 4.5;        /* sds: one of a thousand modes of noise in a hundred rows */
static const double longest = 0.159;      /* 1/(2 pi), of the period: beyond, the first waves count as short ones */
static const double matern_length = 0.41; /* 1/sqrt(6): its spectrum falls at first as the Gaussian one of length 1 */

void kb_axes_plan(kb_axes *c)
{
    const kb_field_samples *samples = c->problem->run_samples[0];
    const kb_patched_domain *domain = c->problem->domain;
    double amplitude = 1, largest = 1;
    for (size_t f = 0; f < samples->n_fields; f++) {
        amplitude = fmax(amplitude, domain->amplitude[f]);
        c->noise += domain->variance[f] / (double)samples->n_fields;
    }
    size_t seen = samples->n_points / samples->n_grid[0] /
                  2; /* half of what a row shows: beyond are the corners of the spectrum */
    for (size_t i = 0; i < samples->n_points * samples->n_fields; i++)
        if (samples->measured[i] > 0) largest = fmax(largest, samples->value[i] * samples->value[i]);
    c->fourier = (kb_fourier_settings){.amplitude = sqrt(fmin(amplitude, largest)),
                                       .noise = c->noise,
                                       .steps = 1,
                                       .most_modes = seen < LEAST_MODES ? LEAST_MODES : seen};
    if (c->fourier.most_modes > MOST_MODES / samples->n_fields) c->fourier.most_modes = MOST_MODES / samples->n_fields;
    c->all_modes = c->fourier.most_modes;
    for (size_t a = 0; a + 1 < samples->n_axes; a++) {
        c->fourier.period[a] = samples->period[a + 1];
        c->fourier.length[a] =
            fmin(matern_length * domain->run_domains[0].gp->length[a + 1], longest * samples->period[a + 1]);
        c->fourier.n_waves[a] = (size_t)fmax(LEAST_WAVES, ceil(0.5 * c->fourier.period[a] / samples->spacing[a + 1]));
    }
}

kbass_status kb_axes_make_model(const kb_axes *c, const kb_fourier_settings *settings, size_t max_tangents,
                                kb_fourier_model **out, kbass_error *error)
{
    const kb_pde_nd_problem *e = c->problem;
    return kb_fourier_model_create(e->run_samples[0], e->dictionary, e->columns, settings, max_tangents, out, error);
}

kbass_status kb_axes_translate(const kb_axes *c, const kb_fourier_settings *from, const double *start,
                               const kb_fourier_settings *to, double *translated, kbass_error *error)
{
    kb_fourier_model *known = NULL, *fourier = NULL;
    kbass_status status = kb_axes_make_model(c, from, KB_NO_TANGENTS, &known, error);
    if (status == KBASS_OK) status = kb_axes_make_model(c, to, KB_NO_TANGENTS, &fourier, error);
    if (status == KBASS_OK) kb_fourier_model_translate(known, start, fourier, translated);
    if (known) known->dynamics.destroy(&known->dynamics);
    if (fourier) fourier->dynamics.destroy(&fourier->dynamics);
    return status;
}

/* A model and where it starts: on a fourier of these settings. */
typedef struct {
    const kb_fit *fit;
    const double *start;
    kb_fourier_settings fourier;
} followed_model;

/* A model's predictions up to a row at some resolution; false in *done when it cannot be integrated. */
static kbass_status predict(const kb_axes *c, const followed_model *from, const kb_fourier_settings *settings,
                            size_t last, double *predicted, bool *done, kbass_error *error)
{
    kb_fourier_model *fourier = NULL;
    double *start = NULL;
    kbass_status status = kb_axes_make_model(c, settings, KB_NO_TANGENTS, &fourier, error);
    if (status == KBASS_OK && !(start = KB_NEW(double, fourier->dynamics.n_start)))
        status = kb_out_of_memory(error, "the start");
    if (status == KBASS_OK) status = kb_axes_translate(c, &from->fourier, from->start, settings, start, error);
    if (status == KBASS_OK) {
        kb_dynamics *d = &fourier->dynamics;
        d->set_model(d, &from->fit->support, from->fit->w, NULL);
        *done = d->predict(d, 0, last, start, predicted, NULL);
    }
    if (fourier) fourier->dynamics.destroy(&fourier->dynamics);
    kb_free(start);
    return status;
}

static bool is_same(const kb_axes *c, size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum < c->tolerance * c->noise;
}

/* Twice the steps (axis 0), or half as many waves again along a space axis. */
static kb_fourier_settings refine(const kb_axes *c, size_t axis)
{
    kb_fourier_settings finer = c->fourier;
    if (axis) finer.n_waves[axis - 1] += (finer.n_waves[axis - 1] + 1) / 2;
    else finer.steps *= 2;
    return finer;
}

static bool is_too_fine(const kb_axes *c, const kb_fourier_settings *settings)
{
    double coefficients = (double)c->problem->run_samples[0]->n_fields;
    for (size_t a = 0; a + 1 < c->problem->run_samples[0]->n_axes; a++)
        coefficients *= 2 * (double)settings->n_waves[a] + 1;
    return settings->steps > MOST_STEPS || coefficients > MOST_COEFFICIENTS;
}

/* The coarsest steps and, if asked for, waves at which a model's predictions up to a row are those of finer ones; false
 *in found when there are none. */
static kbass_status resolve(kb_axes *c, const followed_model *from, size_t last, bool with_waves, bool *found,
                            kbass_error *error)
{
    size_t n = c->problem->run_samples[0]->n_values;
    double *here = KB_NEW(double, n), *there = KB_NEW(double, n); /* what is not reached stays 0 */
    bool is_here = false, is_there = false;
    kbass_status status = here && there ? predict(c, from, &c->fourier, last, here, &is_here, error)
                                        : kb_out_of_memory(error, "the search");
    *found = true;
    size_t n_axes = with_waves ? c->problem->run_samples[0]->n_axes : 1;
    for (size_t axis = 0; status == KBASS_OK && *found && axis < n_axes; axis++)
        for (bool same = false; status == KBASS_OK && *found && !same;) {
            kb_fourier_settings finer = refine(c, axis);
            if (axis && is_here && is_too_fine(c, &finer)) break; /* what there is has to do */
            *found = !is_too_fine(c, &finer);
            if (*found) status = predict(c, from, &finer, last, there, &is_there, error);
            same = *found && is_here && is_there && is_same(c, n, here, there);
            double *swapped = here;
            if (!same) here = there, there = swapped, is_here = is_there, c->fourier = finer;
        }
    kb_free(here);
    kb_free(there);
    return status;
}

kbass_status kb_axes_resolve(kb_axes *c, const kb_fit *fit, const double *start, size_t last, double tolerance,
                             bool with_waves, bool *found, kbass_error *error)
{
    followed_model from = {fit, start, c->fourier};
    c->tolerance = tolerance * (double)c->problem->run_samples[0]->n_values;
    return resolve(c, &from, last, with_waves, found, error);
}

/* So many of a start's modes, and half of them again, hold all that stand out of the noise of the first row. */
static size_t visible_modes(const kb_axes *c, const kb_fourier_model *model, const double *start)
{
    const kb_field_samples *samples = c->problem->run_samples[0];
    double seen = (double)(samples->n_points / samples->n_grid[0]),
           noise = c->noise * pow(2, (double)model->n_axes) / seen; /* of a product of cosines' amplitude */
    size_t last = 0;
    for (size_t i = 0; i < model->n_modes; i++)
        for (size_t f = 0; f < model->n_fields; f++) {
            double amplitude = model->mode_scale[i] * start[f * model->n_modes + i];
            if (amplitude * amplitude > visible * visible * noise) last = i;
        }
    size_t modes = (3 * (last + 1) + 1) / 2;
    return modes < LEAST_VISIBLE ? LEAST_VISIBLE : modes;
}

/* The waves of those modes along each axis, at least. */
static void set_waves(kb_axes *c, const kb_fourier_model *model)
{
    for (size_t a = 0; a < model->n_axes; a++) c->fourier.n_waves[a] = LEAST_WAVES;
    for (size_t i = 0; i < c->fourier.most_modes; i++)
        for (size_t a = 0, rest = model->mode[i]; a < model->n_axes; rest /= model->m[a++]) {
            size_t wave = (rest % model->m[a] + 1) / 2;
            if (wave > c->fourier.n_waves[a]) c->fourier.n_waves[a] = wave;
        }
}

kbass_status kb_axes_resolve_first(kb_axes *c, const kb_fit *proposal, size_t last, double tolerance, bool *found,
                                   kbass_error *error)
{
    kb_fourier_model *fourier = NULL;
    double *start = NULL;
    kbass_status status = kb_axes_make_model(c, &c->fourier, KB_NO_TANGENTS, &fourier, error);
    if (status == KBASS_OK) {
        start = KB_NEW(double, fourier->dynamics.n_start);
        status =
            start ? fourier->dynamics.guess(&fourier->dynamics, 0, start, error) : kb_out_of_memory(error, "the start");
    }
    followed_model from = {proposal, start, c->fourier};
    if (status == KBASS_OK) {
        size_t modes = visible_modes(c, fourier, start);
        c->all_modes = fourier->n_modes;
        c->fourier.most_modes = modes < c->all_modes ? modes : c->all_modes;
        set_waves(c, fourier);
        c->tolerance = tolerance * (double)c->problem->run_samples[0]->n_values;
        const kb_fourier_settings coarse = c->fourier;
        status = resolve(c, &from, last, true, found, error);
        if (status == KBASS_OK && !*found) { /* a poor proposal has waves of its own */
            c->fourier = coarse;
            status = resolve(c, &from, last, false, found, error);
        }
    }
    if (fourier) fourier->dynamics.destroy(&fourier->dynamics);
    kb_free(start);
    return status;
}
