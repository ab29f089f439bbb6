/* A setup with one patch of a PDE's fields, for the tests of the kernel engine: data, columns, workspace, and a point
   (z, w) to look from. */
#ifndef KB_PATCH_SCENE_H
#define KB_PATCH_SCENE_H

#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "collocation/collocation.h"

static kbass_error error;

static inline kbass_settings some_terms(const char *terms)
{
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.terms = terms;
    return settings;
}

static inline double *random_numbers(kb_random *random, size_t n)
{
    double *x = KB_NEW(double, n);
    for (size_t i = 0; i < n; i++) x[i] = kb_random_normal(random);
    return x;
}

typedef struct {
    kbass_data *data;
    kb_field_samples *samples;
    kb_dictionary *dictionary;
    kb_columns *columns;
    kb_patch *patch;
    kb_patch_workspace *workspace;
    kb_support all;
    double amplitude[2], variance[2], slope_squares[2], *z, *w;
    kb_hyper hyper;
    size_t nz;
} setup;

static inline double field_value(size_t field, double t, double x, double y)
{
    return field ? cos(2 * x - t) + 0.3 * y : sin(3 * x + t) * exp(-t) + 0.5 * y * x;
}

/* n[0] x n[1] ... points, jittered when scattered; every seventh value of the last field missing when asked. */
static inline kbass_data *make_data(size_t n_axes, size_t n_fields, const size_t *n, bool scattered, bool missing)
{
    static const char *const axes[] = {"t", "x", "y"}, *const fields[] = {"u", "v"};
    size_t rows = 1;
    kb_random random;
    kb_random_seed(&random, 3);
    for (size_t a = 0; a < n_axes; a++) rows *= n[a];
    double *times = malloc(rows * sizeof *times), *positions = malloc(rows * 2 * sizeof *positions);
    double *values = malloc(rows * n_fields * sizeof *values), at[3] = {0};
    for (size_t i = 0; i < rows; i++) {
        for (size_t a = 0, rest = i; a < n_axes; rest /= n[a++])
            at[a] = (double)(rest % n[a]) / (double)(n[a] - 1) * (1 + (double)a) +
                    (scattered ? 0.1 * kb_random_uniform(&random) : 0);
        times[i] = at[0];
        for (size_t a = 1; a < n_axes; a++) positions[i * (n_axes - 1) + a - 1] = at[a];
        for (size_t f = 0; f < n_fields; f++)
            values[i * n_fields + f] = field_value(f, at[0], at[1], at[2]) + 0.01 * kb_random_normal(&random);
        if (missing && i % 7 == 0) values[i * n_fields + n_fields - 1] = NAN;
    }
    kbass_data *data = NULL;
    CHECK_OK(kbass_data_create_axes(rows, n_axes, n_fields, times, positions, values, axes, fields, &data, &error));
    free(times), free(positions), free(values);
    return data;
}

static inline void random_start(setup *s)
{
    kb_random random;
    kb_random_seed(&random, 11);
    for (size_t i = 0; i < s->nz; i++) s->z[i] = 0.5 * kb_random_normal(&random);
    for (size_t j = 0; j < s->columns->n; j++) s->w[j] = j % 2 ? 0.4 * kb_random_normal(&random) : 0;
}

static inline void open_setup_with(setup *s, kbass_data *data, const kbass_settings *settings, double length,
                                   bool whole)
{
    double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    kb_patch_scales scales = {.kind = KB_KERNEL_SE,
                              .unit = {length, length, length},
                              .shortest = {length, length, length},
                              .margin = KB_AXIS_MARGIN,
                              .whole = whole};
    *s = (setup){.data = data, .amplitude = {0.8, 1.3}, .variance = {0.01, 0.02}, .slope_squares = {2, 3}};
    CHECK_OK(kb_field_samples_create(data, NULL, &s->samples, &error));
    CHECK_OK(kb_dictionary_create_fields(settings, data->n_states, (const char *const *)data->state_names, data->n_axes,
                                         (const char *const *)data->axis_names, &s->dictionary, &error));
    size_t variables = s->dictionary->n_variables;
    double *reference = KB_NEW(double, 2 * variables);
    for (size_t i = 0; i < 2 * variables; i++) reference[i] = 0.5 + 0.3 * (double)(i % 5);
    CHECK_OK(kb_columns_create(s->dictionary, s->samples->sd, s->samples->span[0], 2, reference, s->slope_squares,
                               &s->columns, &error));
    kb_free(reference);
    CHECK_OK(kb_patch_create(s->samples, s->dictionary, lo, hi, &scales, &s->patch, &error));
    CHECK_OK(kb_patch_set_level(s->patch, (kb_steps){0, 0}, &error));
    CHECK_OK(kb_patch_workspace_create(1, &s->patch, s->dictionary, s->columns, &s->workspace, &error));
    CHECK_OK(kb_support_create(s->columns->n, &s->all, &error));
    for (size_t j = 0; j < s->columns->n; j++) kb_support_add(&s->all, j);
    s->hyper = (kb_hyper){0.1, s->slope_squares, s->variance, s->amplitude, 0};
    s->nz = s->patch->n * s->patch->n_fields;
    s->z = KB_NEW(double, s->nz);
    s->w = KB_NEW(double, s->columns->n);
    random_start(s);
}

static inline void open_setup(setup *s, kbass_data *data, const kbass_settings *settings, double length)
{
    open_setup_with(s, data, settings, length, false);
}

static inline void close_setup(setup *s)
{
    kb_free(s->z), kb_free(s->w);
    kb_support_clear(&s->all);
    kb_patch_workspace_destroy(s->workspace);
    kb_patch_destroy(s->patch);
    kb_columns_destroy(s->columns);
    kb_dictionary_destroy(s->dictionary);
    kb_field_samples_destroy(s->samples);
    kbass_data_destroy(s->data);
}

#endif
