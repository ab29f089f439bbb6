/* The published method's field and objective by a second road: values against the kernel expansion, gradients by the
 * coefficients and by the length scales against differences. */
#include <stdlib.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/settings.h"
#include "check.h"
#include "kbass/kbass.h"
#include "gp/mesh.h"
#include "published/model.h"
#include "published/regress.h"

enum { MOST_POINTS = 400, MOST_FIELDS = 2 };

typedef struct {
    kbass_data *data;
    kb_field_samples *samples;
    kb_dictionary *dictionary;
    kb_published_model *model;
} setting;

static double wave(size_t field, double t, double x) { return field ? cos(2 * t) * sin(x) : sin(2 * t + x) + 0.3 * x; }

/* Two states over time, or two fields over time and space: on a grid, or scattered with a value missing. */
static kbass_data *measure(bool has_space, bool is_scattered)
{
    static double times[MOST_POINTS], positions[MOST_POINTS], values[MOST_POINTS * MOST_FIELDS];
    static const char *const names[] = {"u", "v"}, *const axes[] = {"t", "x"};
    size_t n = 0, n_space = has_space ? 9 : 1;
    kbass_data *data = NULL;
    kbass_error error;
    for (size_t i = 0; i < 11; i++)
        for (size_t j = 0; j < n_space; j++, n++) {
            times[n] = 0.2 * (double)i;
            positions[n] = 0.25 * (double)j + (is_scattered ? 0.03 * sin(7 * (double)n) : 0);
            for (size_t f = 0; f < 2; f++) values[2 * n + f] = wave(f, times[n], has_space ? positions[n] : 0.4);
        }
    if (is_scattered) values[9] = NAN;
    if (has_space) CHECK_OK(kbass_data_create_axes(n, 2, 2, times, positions, values, axes, names, &data, &error));
    else CHECK_OK(kbass_data_create(n, 2, times, values, NULL, names, &data, &error));
    return data;
}

static setting prepare(bool has_space, bool is_scattered, bool in_data_units, bool is_whole)
{
    setting s = {.data = measure(has_space, is_scattered)};
    static const char *const names[] = {"u", "v"}, *const axes[] = {"t", "x"};
    kb_published_field *field = NULL;
    kbass_settings settings;
    kbass_error error;
    kb_kernel kernels[KB_SAMPLE_AXES] = {{KB_KERNEL_SE, 1, 0}, {KB_KERNEL_SE, 1, 0}};
    double lengths[] = {0.21, 0.25, 0.3, 0.27}, variance[] = {1e-2, 2e-2};
    kb_settings_default(&settings);
    settings.terms = has_space ? "u, u*v, u_xx, v*u_x, u_x^2" : "u, u*v, v^2";
    if (has_space) CHECK_OK(kb_dictionary_create_fields(&settings, 2, names, 2, axes, &s.dictionary, &error));
    else CHECK_OK(kb_dictionary_create(&settings, 2, names, "t", &s.dictionary, &error));
    CHECK_OK(kb_field_samples_create(s.data, NULL, &s.samples, &error));
    for (size_t a = 0; a < s.samples->n_axes; a++) CHECK_OK(kb_mesh_close(s.samples, a, a ? 26 : 31, &error));
    for (size_t i = 0; i < 4 && in_data_units; i++) lengths[i] *= 2;
    CHECK_OK(kb_published_field_create(s.samples, in_data_units, kernels, 1e-6, is_whole, lengths, &field, &error));
    CHECK_OK(kb_published_regress(field, variance, &error));
    CHECK_OK(kb_published_model_create(field, s.dictionary, in_data_units, &s.model, &error));
    memcpy(s.model->variance, variance, sizeof variance);
    return s;
}

static void clear(setting *s)
{
    kb_published_model_destroy(s->model);
    kb_dictionary_destroy(s->dictionary);
    kb_field_samples_destroy(s->samples);
    kbass_data_destroy(s->data);
}

/* Weights and covariances of no meaning. */
static void set_weights(kb_published_model *m, bool has_covariance)
{
    m->has_equations = true;
    for (size_t i = 0; i < m->n_equations; i++) {
        kb_published_equation *e = &m->equations[i];
        e->tau = 0.3 + (double)i;
        e->has_covariance = has_covariance;
        for (size_t q = 0; q < e->n; q++) {
            e->w[q] = 0.7 * sin((double)(q + 3 * i) + 1);
            for (size_t s = 0; s < e->n; s++)
                e->covariance[s + q * e->n] = (s == q ? 0.05 : 0) + 0.01 * cos((double)s) * cos((double)q);
        }
    }
}

/* (J(x + h) - J(x - h)) / 2h against the slope: h^2 truncation and the rounding of J. */
static void check_slope(kb_published_model *m, double *x, double slope)
{
    double h = 1e-5, at = *x;
    *x = at + h;
    double up = kb_published_model_gradient(m);
    *x = at - h;
    double down = kb_published_model_gradient(m);
    *x = at;
    double tolerance = 2e-5 * (1 + fabs(slope)) + 1e-14 * fabs(up) / h;
    CHECK_CLOSE((up - down) / (2 * h), slope, tolerance);
}

static void check_gradient(bool has_space, bool is_scattered, bool in_data_units, bool has_covariance, bool is_whole)
{
    setting s = prepare(has_space, is_scattered, in_data_units, is_whole);
    kb_published_field *f = s.model->field;
    size_t n = f->first[f->n_fields], lengths = f->n_fields * f->n_axes;
    double *gradient = calloc(n, sizeof *gradient), slope[4];
    set_weights(s.model, has_covariance);
    CHECK(isfinite(kb_published_model_gradient(s.model)));
    memcpy(gradient, s.model->gradient, n * sizeof *gradient);
    memcpy(slope, s.model->slope, lengths * sizeof *slope);
    for (size_t i = 0; i < n; i += 13) check_slope(s.model, &f->z[i], gradient[i]);
    for (size_t i = 0; i < lengths; i++) check_slope(s.model, &f->log_length[i], slope[i]);
    free(gradient);
    clear(&s);
}

static void the_gradient_of_states_is_that_of_the_objective(void **state)
{
    (void)state;
    check_gradient(false, false, false, false, false);
    check_gradient(false, false, true, true, true);
}

static void the_gradient_of_fields_is_that_of_the_objective(void **state)
{
    (void)state;
    check_gradient(true, false, false, true, false);
    check_gradient(true, true, true, false, true);
}

/* New nodes carry the field over: the same function up to the root of the jitter, which is 1e-6. `move`: what makes
   them due. */
static void check_nodes(bool is_whole, void (*move)(kb_published_field *))
{
    static const int value[KB_SAMPLE_AXES] = {0};
    static const unsigned orders[KB_SAMPLE_AXES] = {1, 1, 1, 1};
    setting s = prepare(true, false, false, is_whole);
    kb_published_field *f = s.model->field;
    kbass_error error;
    bool changed[MOST_FIELDS];
    double *before = calloc(f->n_mesh, sizeof *before), *after = calloc(f->n_mesh, sizeof *after);
    CHECK((f->first[1] == f->n_mesh) == is_whole);
    move(f);
    CHECK(kb_published_field_set(f, orders));
    kb_published_field_derivative(f, 1, value, before);
    CHECK_OK(kb_published_field_place(f, changed, &error));
    CHECK(changed[0] && changed[1] && f->first[1] < f->n_mesh);
    CHECK(kb_published_field_set(f, orders));
    kb_published_field_derivative(f, 1, value, after);
    for (size_t p = 0; p < f->n_mesh; p++) CHECK_CLOSE(after[p], before[p], 1e-3);
    free(before);
    free(after);
    clear(&s);
}

/* D^order u = D^order K(M, M) L^{-T} z over the mesh M of time, L L' = K(M, M) + jitter, all of it dense. */
static void expand_densely(const kb_published_field *f, size_t which, int order, double *out)
{
    const kb_published_axis *axis = f->axis[which];
    size_t n = axis->n_mesh;
    double *L = calloc(n * n, sizeof *L), *c = calloc(n, sizeof *c);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            L[i + j * n] =
                kb_kernel_derivative(&axis->kernel, axis->mesh[i], axis->mesh[j], 0) + (i == j ? axis->jitter : 0);
    CHECK(kb_cholesky(n, L, n));
    memcpy(c, f->z + f->first[which], n * sizeof *c);
    kb_lower_transposed_solve(n, 1, L, n, c, n);
    for (size_t i = 0; i < n; i++) {
        out[i] = 0;
        for (size_t j = 0; j < n; j++)
            out[i] += kb_kernel_derivative(&axis->kernel, axis->mesh[i], axis->mesh[j], order) * c[j];
    }
    free(c);
    free(L);
}

/* Coefficients of the whole mesh make the field of the paper's kernel expansion, 4 % away from the nodes' length scale
   too: interpolation between nodes errs by some per cent of the jitter (1e-6) in K(M, M), so within a tenth of its root
   for coefficients of white noise, times what a derivative magnifies. */
static void the_whole_mesh_is_the_papers_expansion(void **state)
{
    static const unsigned orders[KB_SAMPLE_AXES] = {7};
    static const double tolerance[] = {1e-4, 3e-3, 1e-1};
    setting s = prepare(false, false, false, true);
    kb_published_field *f = s.model->field;
    double found[MOST_POINTS], expected[MOST_POINTS];
    (void)state;
    for (size_t i = 0; i < f->first[2]; i++) f->z[i] = sin(3.7 * (double)i);
    for (size_t i = 0; i < 2; i++) f->log_length[i] -= i ? 0.04 : -0.04;
    CHECK(kb_published_field_set(f, orders));
    for (size_t i = 0; i < 2; i++)
        for (int order = 0; order < 3; order++) {
            kb_published_field_derivative(f, i, &order, found);
            expand_densely(f, i, order, expected);
            for (size_t p = 0; p < f->n_mesh; p++) CHECK_CLOSE(found[p], expected[p], tolerance[order]);
        }
    clear(&s);
}

static void move_lengths(kb_published_field *f)
{
    for (size_t i = 0; i < 4; i++) f->log_length[i] -= 0.06;
}

static void compress(kb_published_field *f)
{
    for (size_t i = 0; i < 4; i++) kb_published_axis_compress(f->axis[i]);
}

static void new_nodes_keep_the_field(void **state)
{
    (void)state;
    check_nodes(false, move_lengths);
}

/* From the coefficients of the whole mesh to those of few nodes. */
static void compression_keeps_the_field(void **state)
{
    (void)state;
    check_nodes(true, compress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_of_states_is_that_of_the_objective),
        cmocka_unit_test(the_gradient_of_fields_is_that_of_the_objective),
        cmocka_unit_test(the_whole_mesh_is_the_papers_expansion),
        cmocka_unit_test(new_nodes_keep_the_field),
        cmocka_unit_test(compression_keeps_the_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
