/* The published method for fields over space: regression and band against dense matrices, gradients against
   differences, and what it finds. */
#include "base/linalg.h"
#include "dense.h"
#include "kbass/kbass.h"
#include "patch_setup.h"
#include "collocation/gradient.h"
#include "collocation/normal_equations.h"
#include "collocation/smoother.h"
#include "tensor/rows.h"

/* ---------------------------------------------------------------- rows of scattered points */

static void rows_are_products_of_the_axes_features(void **state)
{
    (void)state;
    kb_random random;
    kb_random_seed(&random, 5);
    size_t n = 7, columns[3] = {4, 2, 3}, m = 24;
    kb_mode phi[3];
    double *features[3], *u = random_numbers(&random, m), *y = random_numbers(&random, n), v[7], back[24];
    for (size_t a = 0; a < 3; a++) {
        features[a] = random_numbers(&random, (n + 2) * columns[a]); /* leading dimension larger than the points */
        phi[a] = (kb_mode){n, columns[a], n + 2, features[a]};
    }
    double *work = KB_NEW(double, kb_rows_work(3, phi));
    kb_rows_product(3, phi, u, v, work);
    kb_rows_adjoint(3, phi, y, back, work);
    double expected[24] = {0};
    for (size_t p = 0; p < n; p++) {
        double sum = 0;
        for (size_t j = 0; j < m; j++) {
            double row = 1;
            for (size_t a = 0, rest = j; a < 3; rest /= columns[a++])
                row *= features[a][p + rest % columns[a] * (n + 2)];
            sum += row * u[j];
            expected[j] += row * y[p];
        }
        CHECK_CLOSE(v[p], sum, 1e-12); /* rounding of sums of 24 */
    }
    for (size_t j = 0; j < m; j++) CHECK_CLOSE(back[j], expected[j], 1e-12); /* of sums of 7 */
    for (size_t a = 0; a < 3; a++) kb_free(features[a]);
    kb_free(u), kb_free(y), kb_free(work);
}

/* ---------------------------------------------------------------- regression without any equation */

static kbass_settings small_dictionary(void)
{
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.degree = 2;
    settings.derivatives = 2;
    return settings;
}

/* A = R'R/v + I of one field, from R's columns: the field at the data for unit coefficients. */
static void dense_system(setup *s, size_t field, double *R, double *A)
{
    const kb_patch *p = s->patch;
    const double *y = p->value + field * p->n_points, *measured = p->measured + field * p->n_points;
    double *z = KB_NEW(double, p->n), *work = KB_NEW(double, kb_patch_data_work(p));
    for (size_t j = 0; j < p->n; j++) {
        memset(z, 0, p->n * sizeof *z);
        z[j] = 1;
        kb_patch_residual(p, field, z, R + j * p->n_points, work);
        for (size_t i = 0; i < p->n_points; i++) R[i + j * p->n_points] += measured[i] * y[i];
    }
    for (size_t j = 0; j < p->n; j++)
        for (size_t i = 0; i < p->n; i++)
            A[i + j * p->n] =
                (i == j) + kb_dot(p->n_points, R + i * p->n_points, R + j * p->n_points) / s->variance[field];
    kb_free(z), kb_free(work);
}

/* Regression and the variance at the first points of the mesh, by the smoother and by elimination. */
static void compare_smoother(setup *s, size_t field)
{
    enum { POINTS = 5 };
    const kb_patch *p = s->patch;
    size_t n = p->n, N = p->n_points;
    kb_smoother *smoother = NULL;
    kb_mode features[KB_SAMPLE_AXES];
    double *R = KB_NEW(double, N *n), *A = KB_NEW(double, n *n), *B = KB_NEW(double, n *(POINTS + 1));
    double *z = KB_NEW(double, n), variance[POINTS];
    CHECK_OK(kb_smoother_create(p, s->variance, &smoother, &error));
    dense_system(s, field, R, A);
    for (size_t a = 0; a < p->n_axes; a++) {
        const kb_axis_level *level = p->level[a];
        features[a] = (kb_mode){POINTS, p->kept.rank[a], p->axis[a]->n_mesh, level->mesh[0] + 3 * a};
    }
    for (size_t j = 0; j < n; j++) {
        B[j] = kb_dot(N, R + j * N, p->value + field * N) / s->variance[field];
        for (size_t k = 0; k < POINTS; k++) {
            double row = 1;
            for (size_t a = 0, rest = j; a < p->n_axes; rest /= p->kept.rank[a++])
                row *= features[a].entries[k + rest % p->kept.rank[a] * features[a].ld];
            B[j + (k + 1) * n] = row;
        }
    }
    double *X = KB_NEW(double, n *(POINTS + 1));
    memcpy(X, B, n * (POINTS + 1) * sizeof *X);
    dense_solve(n, A, POINTS + 1, X);
    kb_smoother_regress(smoother, field, z);
    kb_smoother_variance(smoother, field, features, variance);
    for (size_t j = 0; j < n; j++) CHECK_CLOSE(z[j], X[j], 1e-8); /* condition 1e4 of A, rounding */
    for (size_t k = 0; k < POINTS; k++)
        CHECK_CLOSE(variance[k], kb_dot(n, B + (k + 1) * n, X + (k + 1) * n), 1e-9); /* likewise, of numbers below 1 */
    kb_smoother_destroy(smoother);
    kb_free(R), kb_free(A), kb_free(B), kb_free(X), kb_free(z);
}

static void check_smoother(size_t n_axes, const size_t *n, bool scattered, bool missing)
{
    kbass_settings settings = small_dictionary();
    setup s;
    open_setup_with(&s, make_data(n_axes, 2, n, scattered, missing), &settings, 0.7, true);
    CHECK(s.patch->gridded == !(scattered || missing));
    compare_smoother(&s, 0);
    compare_smoother(&s, 1);
    close_setup(&s);
}

static void regression_agrees_with_dense_matrices(void **state)
{
    (void)state;
    check_smoother(2, (size_t[]){6, 8}, false, false);
    check_smoother(3, (size_t[]){5, 6, 5}, false, false);
    check_smoother(2, (size_t[]){6, 8}, true, false);
    check_smoother(3, (size_t[]){5, 6, 5}, true, false);
    check_smoother(2, (size_t[]){7, 8}, false, true);
}

/* ---------------------------------------------------------------- gradients */

static void check_gradient(size_t n_axes, const size_t *n, bool scattered)
{
    kbass_settings settings = small_dictionary();
    setup s;
    kb_patch_workspace *light = NULL;
    open_setup_with(&s, make_data(n_axes, 2, n, scattered, false), &settings, 0.7, true);
    CHECK_OK(kb_patch_workspace_create_light(s.patch, s.dictionary, s.columns, &light, &error));
    double J = kb_patch_gradient(light, s.patch, &s.hyper, &s.all, s.z, s.w);
    double *gradient = KB_NEW(double, s.nz);
    memcpy(gradient, light->gz, s.nz * sizeof *gradient);
    CHECK_CLOSE(J, kb_collocation_objective(s.workspace, s.patch, &s.hyper, &s.all, s.z, s.w),
                1e-10 * J); /* rounding */
    for (size_t i = 0; i < s.nz; i += 5) {
        double h = 1e-5, z = s.z[i];
        s.z[i] = z + h;
        double up = kb_collocation_objective(s.workspace, s.patch, &s.hyper, &s.all, s.z, s.w);
        s.z[i] = z - h;
        double down = kb_collocation_objective(s.workspace, s.patch, &s.hyper, &s.all, s.z, s.w);
        s.z[i] = z;
        double tolerance = 1e-5 * (1 + fabs(gradient[i])) + 1e-15 * J / h; /* h^2 truncation and the rounding of J */
        CHECK_CLOSE((up - down) / (2 * h), gradient[i], tolerance);
    }
    kb_normal_assemble(s.workspace, s.patch, &s.hyper, &s.all, s.z, s.w);
    kb_patch_plug_in(light, s.patch, &s.hyper, &s.all, s.z, s.w);
    for (size_t i = 0; i < s.all.n * s.all.n; i++)
        CHECK_CLOSE(light->Hww[i], s.workspace->Hww[i], 1e-12 * (1 + fabs(s.workspace->Hww[i]))); /* the same sums */
    for (size_t i = 0; i < s.all.n; i++)
        CHECK_CLOSE(light->gw[i], s.workspace->gw[i], 1e-12 * (1 + fabs(s.workspace->gw[i])));
    kb_free(gradient);
    kb_patch_workspace_destroy(light);
    close_setup(&s);
}

static void gradients_are_those_of_the_objective(void **state)
{
    (void)state;
    check_gradient(2, (size_t[]){6, 8}, false);
    check_gradient(3, (size_t[]){5, 6, 5}, true);
}

/* ---------------------------------------------------------------- the whole */

/* Two waves along x, or on a fourier, that drift and decay: u_t = -0.5 u_x + 0.05 u_xx (+ 0.05 u_yy). */
static double wave(size_t n_axes, double t, double x, double y)
{
    double c = 0.5, D = 0.05, decay = n_axes == 3 ? 5 * D : 4 * D;
    return exp(-D * t) * sin(x - c * t) + 0.5 * exp(-decay * t) * cos(2 * (x - c * t) + y);
}

static kbass_data *drifting_waves(size_t n_axes, const size_t *n)
{
    static const char *const axes[] = {"t", "x", "y"}, *const fields[] = {"u"};
    size_t rows = 1, space = n_axes - 1;
    kbass_data *data = NULL;
    for (size_t a = 0; a < n_axes; a++) rows *= n[a];
    double *times = malloc(rows * sizeof *times), *positions = malloc(rows * space * sizeof *positions);
    double *values = malloc(rows * sizeof *values), at[3] = {0};
    for (size_t i = 0; i < rows; i++) {
        for (size_t a = 0, rest = i; a < n_axes; rest /= n[a++]) at[a] = 4 * (double)(rest % n[a]) / (double)(n[a] - 1);
        times[i] = at[0];
        for (size_t a = 0; a < space; a++) positions[i * space + a] = at[a + 1];
        values[i] = wave(n_axes, at[0], at[1], at[2]);
    }
    CHECK_OK(kbass_data_create_axes(rows, n_axes, 1, times, positions, values, axes, fields, &data, &error));
    free(times), free(positions), free(values);
    return data;
}

static kbass_discovery *discover(const kbass_data *data, const kbass_settings *settings)
{
    kbass_discovery *discovery = NULL;
    CHECK_OK(kbass_discovery_create(data, settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    return discovery;
}

static double weight_of(const kbass_result *result, const char *term)
{
    const kbass_equation *equation = &result->equations[0];
    for (size_t i = 0; i < equation->n_terms; i++)
        if (equation->terms[i].selected && !strcmp(equation->terms[i].term, term)) return equation->terms[i].weight;
    return NAN;
}

static kbass_settings paper_settings(const char *mesh)
{
    kbass_settings settings = small_dictionary();
    kbass_settings_set(&settings, "method", "paper", NULL);
    settings.mesh = mesh;
    settings.degree = 1;
    return settings;
}

static void it_finds_drift_and_diffusion(void **state)
{
    (void)state;
    size_t n[] = {16, 16}, m = 16 * 16;
    kbass_data *data = drifting_waves(2, n);
    kbass_settings settings = paper_settings("40,40");
    settings.paper_length_scale = 0.2; /* the waves are long for their sampling */
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(result->outcome == KBASS_CONVERGED && result->n_equations == 1 && isnan(result->initial[0]));
    CHECK(result->n_iterations > 1 && result->seconds_per_iteration > 0);
    CHECK_CLOSE(weight_of(result, "u_x"), -0.5, 0.01); /* 2 %: the kernel's error on 16 samples without noise */
    CHECK_CLOSE(weight_of(result, "u_xx"), 0.05, 0.005);
    double *mean = malloc(m * sizeof *mean), *sd = malloc(m * sizeof *sd), far = 4.1;
    CHECK_OK(kbass_discovery_solution(discovery, 0, m, kbass_data_times(data), kbass_data_positions(data), mean, sd,
                                      &error));
    for (size_t i = 0; i < m; i++) {
        CHECK_CLOSE(mean[i], kbass_data_values(data)[i], 0.03); /* the noise that is allowed for, 3 % of the sd */
        CHECK(sd[i] > 0 && sd[i] < 0.03);
    }
    CHECK_FAILS(kbass_discovery_solution(discovery, 0, 1, &far, &far, mean, sd, &error), KBASS_ERROR_ARGUMENT, "4.1");
    far = 1;
    CHECK_FAILS(kbass_discovery_solution(discovery, 0, 1, &far, NULL, mean, sd, &error), KBASS_ERROR_ARGUMENT, "field");
    free(mean), free(sd);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void it_finds_them_on_a_plane(void **state)
{
    (void)state;
    size_t n[] = {9, 10, 8};
    kbass_data *data = drifting_waves(3, n);
    kbass_settings settings = paper_settings("20");
    settings.paper_iterations = 20;
    settings.terms = "u, u_x, u_y, u_xx, u_yy";
    settings.degree = settings.derivatives = 0;
    settings.paper_length_scale = 0.25;
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(result->n_equations == 1);
    CHECK_CLOSE(weight_of(result, "u_x"), -0.5, 0.05); /* 10 %: eight to ten samples along an axis */
    double t = 2, place[] = {1.3, 2.2}, mean, sd;
    CHECK_OK(kbass_discovery_solution(discovery, 0, 1, &t, place, &mean, &sd, &error));
    CHECK_CLOSE(mean, wave(3, 2, 1.3, 2.2), 0.05); /* between samples half a unit apart */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* u = exp(-t) sin(x) + exp(-4t) cos(2x)/2 at 12 places of one period, the end left out or repeated. */
static kbass_data *ring(bool repeat)
{
    static const char *const axes[] = {"t", "x"}, *const fields[] = {"u"};
    enum { TIMES = 10, PLACES = 12 };
    size_t places = PLACES + repeat, rows = TIMES * places;
    double times[TIMES * (PLACES + 1)], positions[TIMES * (PLACES + 1)], values[TIMES * (PLACES + 1)];
    kbass_data *data = NULL;
    for (size_t i = 0; i < rows; i++) {
        double t = times[i] = (double)(i / places) / (TIMES - 1);
        double x = positions[i] = 2 * M_PI * (double)(i % places) / PLACES;
        values[i] = exp(-t) * sin(x) + 0.5 * exp(-4 * t) * cos(2 * x);
    }
    CHECK_OK(kbass_data_create_axes(rows, 2, 1, times, positions, values, axes, fields, &data, &error));
    return data;
}

static void a_periodic_axis_closes(void **state)
{
    (void)state;
    for (int repeat = 0; repeat < 2; repeat++) {
        kbass_data *data = ring(repeat);
        kbass_settings settings = paper_settings("30,30");
        double times[] = {0.4, 0.4, 0.4}, places[] = {0, 2 * M_PI, 2 * M_PI - 0.2}, mean[3], sd[3], mesh[30];
        settings.periodic = "x";
        settings.paper_length_scale = 0.2;
        kbass_discovery *discovery = discover(data, &settings);
        CHECK_CLOSE(weight_of(kbass_discovery_result(discovery), "u_xx"), 1,
                    0.05); /* under a noise of 3 % that is allowed for */
        CHECK_OK(kbass_discovery_solution(discovery, 0, 3, times, places, mean, sd, &error));
        CHECK_CLOSE(mean[0], mean[1], 1e-9); /* the same point, up to rounding of the period */
        CHECK_CLOSE(sd[0], sd[1], 1e-9);
        CHECK_CLOSE(mean[2], exp(-0.4) * sin(-0.2) + 0.5 * exp(-1.6) * cos(-0.4),
                    0.01); /* between the last and the first */
        CHECK(kbass_discovery_mesh(discovery, 1, mesh) == 30 && mesh[0] == 0);
        CHECK_CLOSE(mesh[29], 2 * M_PI * 29 / 30, 1e-9); /* one period without its end */
        kbass_discovery_destroy(discovery);
        kbass_data_destroy(data);
    }
}

/* Each allocation of creation and run in turn fails; the leak checker of the sanitizers watches. */
static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    size_t n[] = {6, 7};
    kbass_data *data = drifting_waves(2, n);
    kbass_settings settings = paper_settings("20,20");
    kbass_discovery *discovery = NULL;
    long count = 0;
    settings.paper_iterations = settings.paper_steps = 1;
    for (kbass_status status = KBASS_ERROR_MEMORY; status != KBASS_OK; count++) {
        kb_memory_fail_after(count);
        status = kbass_discovery_create(data, &settings, &discovery, &error);
        if (status == KBASS_OK) status = kbass_discovery_run(discovery, NULL, NULL, &error);
        kb_memory_fail_after(-1);
        /* the eigensolver does not tell lack of workspace from failure: KBASS_ERROR_NUMERICAL */
        CHECK(status == KBASS_OK || status == KBASS_ERROR_MEMORY || status == KBASS_ERROR_NUMERICAL);
        kbass_discovery_destroy(discovery);
        discovery = NULL;
    }
    CHECK(count > 100);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_products_of_the_axes_features),
        cmocka_unit_test(regression_agrees_with_dense_matrices),
        cmocka_unit_test(gradients_are_those_of_the_objective),
        cmocka_unit_test(it_finds_drift_and_diffusion),
        cmocka_unit_test(it_finds_them_on_a_plane),
        cmocka_unit_test(a_periodic_axis_closes),
        cmocka_unit_test(lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
