/* PDEs: transforms and derivatives against their definitions, solutions against closed forms, refusals. */
#include "check.h"

#include <complex.h>

#include "base/memory.h"
#include "base/random.h"
#include "kbass/kbass.h"
#include "simulate/fft.h"
#include "simulate/nodes.h"

/* The promise of kbass_model_sample, relative to the largest sample; 1e-7 is what it aims at. */
static const double PROMISED = 1e-6;

/* ---------------------------------------------------------------- parts */

static void transform_is_the_sum(void **state)
{
    const size_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 48, 54};
    (void)state;
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
        size_t n = sizes[c];
        kb_complex x[54], y[54];
        kb_fft fft;
        kb_random random;
        kb_random_seed(&random, n);
        CHECK(kb_fft_create(&fft, n, 1));
        for (size_t j = 0; j < n; j++)
            x[j] = y[j] = kb_complex_of(kb_random_normal(&random), kb_random_normal(&random));
        kb_fft_forward(&fft, y);
        for (size_t k = 0; k < n; k++) {
            kb_complex sum = 0;
            for (size_t j = 0; j < n; j++) sum += x[j] * cexp(-2 * M_PI * I * (double)(j * k) / (double)n);
            CHECK_CLOSE(cabs(y[k] - sum / (double)n), 0, 1e-13); /* rounding of 54 terms */
        }
        kb_fft_backward(&fft, y);
        for (size_t j = 0; j < n; j++) CHECK_CLOSE(cabs(y[j] - x[j]), 0, 1e-13); /* the same */
        kb_fft_clear(&fft);
    }
}

/* exp(i(2x - y + 3z)) has one coefficient. */
static void transform_of_a_cube(void **state)
{
    enum { N = 6 };
    kb_complex table[N * N * N];
    kb_fft fft;
    (void)state;
    CHECK(kb_fft_create(&fft, N, 3));
    for (size_t i = 0; i < N * N * N; i++) {
        double phase = 2.0 * (double)(i % N) - (double)(i / N % N) + 2.0 * (double)(i / (N * N));
        table[i] = cexp(2 * M_PI * I * phase / N);
    }
    kb_fft_forward(&fft, table);
    for (size_t i = 0; i < N * N * N; i++)
        CHECK_CLOSE(cabs(table[i]), i == 2 + 5 * N + 2 * N * N, 1e-14); /* rounding */
    kb_fft_clear(&fft);
}

static void check_nodes(size_t n, bool is_periodic, double (*f)(double), double (*slope)(double))
{
    enum { MOST = 40 };
    double matrix[MOST * MOST], weight[MOST], value[MOST];
    kb_nodes nodes;
    CHECK(kb_nodes_create(&nodes, n, is_periodic, -1, 2));
    for (size_t j = 0; j < n; j++) value[j] = f(nodes.at[j]);
    kb_nodes_derivative(&nodes, matrix);
    for (size_t i = 0; i < n && (n % 2 || !is_periodic); i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) sum += matrix[i + j * n] * value[j];
        CHECK_CLOSE(sum, slope(nodes.at[i]), 1e-10); /* n^2 roundings of values near 7 */
    }
    for (size_t i = 0; i <= 50; i++) {
        double x = i == 50 ? nodes.at[3] : -1 + 0.06 * (double)i, sum = 0;
        kb_nodes_weights(&nodes, x, weight);
        for (size_t j = 0; j < n; j++) sum += weight[j] * value[j];
        CHECK_CLOSE(sum, f(x), 1e-12); /* resolved functions: rounding */
    }
    kb_nodes_clear(&nodes);
}

static double ring(double x) { return exp(sin(2 * M_PI * x / 3)); }
static double ring_slope(double x) { return 2 * M_PI / 3 * cos(2 * M_PI * x / 3) * ring(x); }

static void nodes_differentiate_and_interpolate(void **state)
{
    (void)state;
    check_nodes(37, true, ring, ring_slope);
    check_nodes(36, true, ring, ring_slope);
    check_nodes(24, false, exp, exp);
}

/* ---------------------------------------------------------------- closed forms */

typedef double (*closed_form)(const double *point); /* t, x, y */

/* Grid and scattered points against the closed form of the first field. */
static void check_solution(size_t n, const char *const *equations, const char *domain, const char *initial,
                           const char *boundary, closed_form exact)
{
    kbass_error error = {0};
    kbass_model *pde = NULL;
    CHECK_OK(kbass_model_parse(n, equations,
                               &(kbass_model_options){.domain = domain, .initial = initial, .boundary = boundary}, &pde,
                               &error));
    size_t n_axes = kbass_model_axes(pde), counts[KBASS_MAX_AXES] = {5, 7, 4, 3};
    for (int way = 0; way < 2; way++) {
        kbass_data *data = NULL;
        if (way == 0) CHECK_OK(kbass_model_grid(pde, counts, &data, &error));
        else CHECK_OK(kbass_model_scattered(pde, 40, 3, &data, &error));
        size_t n_rows = kbass_data_rows(data), n_fields = kbass_data_states(data);
        assert_int_equal(n_rows, way ? 40 : n_axes == 2 ? 35 : 140);
        assert_int_equal(n_fields, n);
        for (size_t row = 0; row < n_rows; row++) {
            double point[KBASS_MAX_AXES] = {kbass_data_times(data)[row]};
            memcpy(point + 1, kbass_data_positions(data) + row * (n_axes - 1), (n_axes - 1) * sizeof *point);
            CHECK_CLOSE(kbass_data_values(data)[row * n_fields], exact(point), PROMISED); /* all are of size 1 */
        }
        kbass_data_destroy(data);
    }
    kbass_model_destroy(pde);
}

static void check_one(const char *equation, const char *domain, const char *initial, const char *boundary,
                      closed_form exact)
{
    check_solution(1, &equation, domain, initial, boundary, exact);
}

static double rod(const double *p)
{
    return exp(-M_PI * M_PI * p[0]) * sin(M_PI * p[1]) + exp(-9 * M_PI * M_PI * p[0]) * sin(3 * M_PI * p[1]) / 2;
}
static double insulated(const double *p) { return 0.5 + exp(-M_PI * M_PI * p[0]) * cos(M_PI * p[1]); }
static double raised(const double *p) { return 1 + p[1] + exp(-M_PI * M_PI * p[0]) * sin(M_PI * p[1]) / 2; }

static void heat_between_ends(void **state)
{
    (void)state;
    check_one("u_t = u_xx", "x=0:1, t=0:0.2", "sin(pi*x) + sin(3*pi*x)/2", "dirichlet", rod);
    check_one("u_t = u_xx", "x=0:1, t=0:0.2", "0.5 + cos(pi*x)", "neumann", insulated);
    check_one("u_t = u_xx", "x=0:1, t=0:0.2", "1 + x + sin(pi*x)/2", "x=dirichlet", raised);
}

static double carried(const double *p) { return exp(-0.4 * p[0]) * cos(2 * (p[1] - 0.7 * p[0])); }

static void advection_diffusion(void **state)
{
    (void)state;
    check_one("u_t = -0.7*u_x + 0.1*u_xx", "t=0:3, x=0:2*pi", "cos(2*x)", NULL, carried);
}

/* The sawtooth's ends do not meet: sum_k 2 (-1)^(k+1) / (k pi) sin(k pi x) exp(-k^2 pi^2 t / 10) */
static double sawtooth(const double *p)
{
    double sum = 0;
    if (!(p[0] > 0)) return p[1];
    for (int k = 1; k < 20000; k++)
        sum += 2 * (k % 2 ? 1 : -1) / (k * M_PI) * sin(k * M_PI * p[1]) * exp(-k * k * M_PI * M_PI * p[0] / 10);
    return sum;
}

static void ends_that_do_not_meet(void **state)
{
    (void)state;
    check_one("u_t = 0.1*u_xx", "x=-1:1, t=0:1", "x", "periodic", sawtooth);
}

/* Cole and Hopf: u = -2 nu phi_x / phi, phi = 1 + exp(-nu t) cos(x) / 2 a solution of the heat equation */
static double cole_hopf(const double *p)
{
    double decay = exp(-0.3 * p[0]) / 2;
    return 0.6 * decay * sin(p[1]) / (1 + decay * cos(p[1]));
}

static void burgers_by_cole_and_hopf(void **state)
{
    (void)state;
    check_one("u_t = -u*u_x + 0.3*u_xx", "x=0:2*pi, t=0:4", "0.3*sin(x)/(1 + cos(x)/2)", "periodic", cole_hopf);
    check_one("u_t = -u*u_x + 0.3*u_xx", "x=0:pi, t=0:4", "0.3*sin(x)/(1 + cos(x)/2)", "dirichlet", cole_hopf);
}

static double soliton(const double *p)
{
    double s = 1 / cosh(p[1] - 4 * p[0] + 3);
    return 2 * s * s;
}

static void soliton_keeps_its_shape(void **state)
{
    (void)state;
    check_one("u_t = -6*u*u_x - u_xxx", "x=-15:15, t=0:1.5", "8/(exp(x + 3) + exp(-x - 3))^2", "periodic", soliton);
}

/* u = 2 + exp(-t) cos(x) by its source; diffusion with a coefficient that moves needs the implicit engine. */
static double made_up(const double *p) { return 2 + exp(-p[0]) * cos(p[1]); }

static void porous_medium_with_source(void **state)
{
    (void)state;
    check_one("u_t = u*u_xx + u_x^2 - exp(-t)*cos(x) + (2 + exp(-t)*cos(x))*exp(-t)*cos(x) - exp(-2*t)*sin(x)^2",
              "x=0:2*pi, t=0:2", "2 + cos(x)", "periodic", made_up);
}

static double running(const double *p) { return sin(p[1] - p[0]); }
static double standing(const double *p) { return sin(M_PI * p[1]) * cos(M_PI * p[0]); }
static double fading(const double *p) { return exp(-p[0]) * cos(p[1]) * (cos(p[0]) + sin(p[0])); }

static void waves(void **state)
{
    (void)state;
    check_one("u_tt = u_xx", "x=0:2*pi, t=0:5", "sin(x); u_t = -cos(x)", "periodic", running);
    check_one("u_tt = u_xx", "x=0:1, t=0:3", "sin(pi*x)", "dirichlet", standing);
    check_one("u_tt = 2*u_xx - 2*u_t", "x=0:2*pi, t=0:3", "u=cos(x)", "periodic", fading);
}

static double spot(const double *p)
{
    double x = p[1] - p[0], y = p[2] - 0.5 * p[0];
    return exp(-0.2 * p[0]) * (cos(x) * sin(y) + sin(x + y) / 4);
}
static double plate(const double *p) { return exp(-2 * M_PI * M_PI * p[0]) * sin(M_PI * p[1]) * sin(M_PI * p[2]); }
static double ribbon(const double *p) { return exp(-0.5 * p[0]) * cos(2 * p[1]) * cos(p[2]); }

static void heat_in_the_plane(void **state)
{
    (void)state;
    check_one("u_t = -u_x - 0.5*u_y + 0.1*u_xx + 0.1*u_yy", "x=0:2*pi, y=0:2*pi, t=0:2", "cos(x)*sin(y) + sin(x + y)/4",
              "periodic", spot);
    check_one("u_t = u_xx + u_yy", "x=0:1, y=0:1, t=0:0.05", "sin(pi*x)*sin(pi*y)", "dirichlet", plate);
    check_one("u_t = 0.1*u_xx + 0.1*u_yy", "x=0:2*pi, y=0:pi, t=0:1", "cos(2*x)*cos(y)", "x=periodic, y=neumann",
              ribbon);
}

/* A turn of (u, v) that fades: u = exp(-t/10) cos(t) sin(x) */
static double turning(const double *p) { return exp(-p[0] / 10) * cos(p[0]) * sin(p[1]); }

static void two_fields(void **state)
{
    const char *const equations[] = {"u_t = 0.1*u_xx - v", "v_t = 0.1*v_xx + u"};
    (void)state;
    check_solution(2, equations, "x=0:2*pi, t=0:3", "u=sin(x); v=0*x", "periodic", turning);
    check_solution(2, equations, "x=0:pi, t=0:3", "v=0; u=sin(x)", "dirichlet", turning);
}

/* ---------------------------------------------------------------- named ones */

static void named_ones_can_be_read(void **state)
{
    kbass_error error = {0};
    (void)state;
    for (size_t i = 0; kbass_model_name(i); i++) {
        kbass_model *pde = NULL;
        CHECK_OK(kbass_model_named(kbass_model_name(i), &pde, &error));
        bool is_of_fields = kbass_model_axes(pde) > 1;
        CHECK(is_of_fields == !strncmp(kbass_model_summary(i), "PDE: ", 5));
        for (size_t d = 0; is_of_fields && d < kbass_model_axes(pde); d++) {
            const kbass_axis *axis = kbass_model_axis(pde, d);
            CHECK(axis->n_samples > 1 && axis->low <= axis->first && axis->first < axis->last);
            CHECK(axis->last <= axis->high);
        }
        CHECK(strchr(kbass_model_equation(pde, 0), '=') && kbass_model_state_name(pde, 0));
        CHECK(!kbass_model_axis(pde, kbass_model_axes(pde)) && !kbass_model_state_name(pde, kbass_model_states(pde)));
        kbass_model_destroy(pde);
    }
    CHECK_FAILS(kbass_model_named("burgrs", NULL, &error), KBASS_ERROR_ARGUMENT, "did you mean \"burgers\"");
    kbass_model_destroy(NULL);
}

static void check_released(const char *name, const double *points, const double *released, double tolerance)
{
    double values[3];
    kbass_error error = {0};
    kbass_model *pde = NULL;
    CHECK_OK(kbass_model_named(name, &pde, &error));
    CHECK_OK(kbass_model_sample(pde, 3, points, values, &error));
    for (size_t i = 0; i < 3; i++) CHECK_CLOSE(values[i], released[i], tolerance);
    kbass_model_destroy(pde);
}

/* From the data that the paper's authors released. */
static void as_released(void **state)
{
    const double x = 0.09817477042468103, ks[] = {0, x, 3.8000000000000003, x, 7.6000000000000005, x};
    const double ks_released[] = {0.999925495119212, 0.9239428134062356, 0.7612231707982172};
    const double burgers[] = {0.8410513141426784, 4.2842842842842845, 4.2052565707133915,
                              4.2842842842842845, 7.569461827284106,  6.426426426426427};
    const double burgers_released[] = {0.7930031936944384, 0.3419709688550984, 0.43282949599194476};
    (void)state;
    check_released("ks", ks, ks_released, 2e-6);                         /* the error of the released steps, 0.1 long */
    check_released("burgers-released", burgers, burgers_released, 1e-7); /* what both solvers aim at */
}

/* Other points, other steps, the same solution; and the kink of the initial profile at the seam. */
static void samples_do_not_depend_on_the_others(void **state)
{
    const char *const names[] = {"burgers", "allen-cahn", "fisher", "kdv"};
    kbass_error error = {0};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kbass_model *pde = NULL;
        kbass_data *data = NULL;
        double value = NAN;
        CHECK_OK(kbass_model_named(names[i], &pde, &error));
        CHECK_OK(kbass_model_scattered(pde, 30, 7, &data, &error));
        size_t row = kbass_data_rows(data) / 2;
        double point[2] = {kbass_data_times(data)[row], kbass_data_positions(data)[row]};
        CHECK_OK(kbass_model_sample(pde, 1, point, &value, &error));
        CHECK_CLOSE(value, kbass_data_values(data)[row], 2 * PROMISED); /* each may err by that */
        kbass_data_destroy(data);
        kbass_model_destroy(pde);
    }
}

static void grids_lie_within(void **state)
{
    const size_t counts[] = {3, 2};
    kbass_error error = {0};
    kbass_model *pde = NULL;
    kbass_data *data = NULL, *again = NULL;
    (void)state;
    CHECK_OK(kbass_model_named("heat", &pde, &error));
    CHECK_OK(kbass_model_within(pde, "x = 1/4 : 0.75, t=0:0.1", &error));
    CHECK_OK(kbass_model_grid(pde, counts, &data, &error));
    assert_int_equal(kbass_data_rows(data), 6);
    CHECK_TEXT(kbass_data_axis_name(data, 1), "x");
    CHECK_CLOSE(kbass_data_times(data)[5], 0.1, 0);      /* the ends are met exactly */
    CHECK_CLOSE(kbass_data_positions(data)[5], 0.75, 0); /* likewise */
    kbass_data_destroy(data);
    CHECK_OK(kbass_model_scattered(pde, 20, 5, &data, &error));
    CHECK_OK(kbass_model_scattered(pde, 20, 5, &again, &error));
    CHECK_TEXT(kbass_data_sha256(data), kbass_data_sha256(again));
    for (size_t i = 0; i < 20; i++) CHECK(kbass_data_positions(data)[i] > 0.25 && kbass_data_times(data)[i] < 0.1);
    kbass_data_destroy(again);
    kbass_data_destroy(data);
    kbass_model_destroy(pde);
}

/* ---------------------------------------------------------------- refusals */

static kbass_status parse(const char *equation, const char *domain, const char *initial, const char *boundary,
                          kbass_error *error)
{
    kbass_model *pde = NULL;
    *error = (kbass_error){0};
    kbass_status status = kbass_model_parse(
        1, &equation, &(kbass_model_options){.domain = domain, .initial = initial, .boundary = boundary}, &pde, error);
    kbass_model_destroy(pde);
    return status;
}

static void refuses_what_it_cannot_read(void **state)
{
    const kbass_status argument = KBASS_ERROR_ARGUMENT, syntax = KBASS_ERROR_SYNTAX;
    const char *heat = "u_t = u_xx", *box = "x=0:1, t=0:1";
    const char *const twice[] = {"u_t = u_xx", "u_t = u_x"};
    kbass_error error = {0};
    kbass_model *pde = NULL;
    (void)state;
    CHECK_FAILS(parse(heat, "x=0:1", "x", NULL, &error), argument, "needs ranges of t");
    CHECK_FAILS(parse(heat, "t=0:1", "x", NULL, &error), argument, "and of space");
    CHECK_FAILS(parse(heat, "x=1:0, t=0:1", "x", NULL, &error), argument, "must ascend");
    CHECK_FAILS(parse(heat, "x=0:1/0, t=0:1", "x", NULL, &error), syntax, "not finite");
    CHECK_FAILS(parse(heat, "x=0, t=0:1", "x", NULL, &error), argument, "not a range");
    CHECK_FAILS(parse(heat, "x=0:1, x=0:2, t=0:1", "x", NULL, &error), argument, "two ranges");
    CHECK_FAILS(parse(heat, "xy=0:1, t=0:1", "x", NULL, &error), argument, "one letter");
    CHECK_FAILS(parse(heat, "a=0:1,b=0:1,c=0:1,d=0:1,t=0:1", "x", NULL, &error), argument, "more than 4 axes");
    CHECK_FAILS(parse(heat, box, NULL, NULL, &error), argument, "initial condition of u is missing");
    CHECK_FAILS(parse(heat, box, "v=x", NULL, &error), argument, "names \"v\"");
    CHECK_FAILS(parse(heat, box, "u=x; u=1", NULL, &error), argument, "two initial conditions");
    CHECK_FAILS(parse(heat, box, "x*t", NULL, &error), syntax, "unknown name \"t\"");
    CHECK_FAILS(parse(heat, box, "x", "open", &error), argument, "unknown boundary");
    CHECK_FAILS(parse(heat, box, "x", "y=periodic", &error), argument, "no axis \"y\"");
    CHECK_FAILS(parse("u_t = u_xxx", box, "x", "neumann", &error), argument, "periodic boundary");
    CHECK_FAILS(parse("u = u_xx", box, "x", NULL, &error), syntax, "left-hand side");
    CHECK_FAILS(parse("u_t", box, "x", NULL, &error), syntax, "has no \"=\"");
    CHECK_FAILS(parse("x_t = x_xx", box, "x", NULL, &error), argument, "name of another variable");
    CHECK_FAILS(parse("u_t = u + 2*u_xy", box, "x", NULL, &error), syntax, "unknown name \"u_xy\"");
    assert_int_equal(error.column, 7);
    CHECK_FAILS(kbass_model_parse(2, twice, &(kbass_model_options){.domain = box, .initial = "x"}, &pde, &error),
                argument, "two equations");
    CHECK_FAILS(kbass_model_parse(0, twice, &(kbass_model_options){.domain = box, .initial = "x"}, &pde, &error),
                argument, "needs an equation");
}

static kbass_status solve(const char *equation, const char *initial, const char *boundary, kbass_error *error)
{
    const double points[] = {0.5, 0.3, 1, 0.1};
    double values[2];
    kbass_model *pde = NULL;
    kbass_status status = kbass_model_parse(
        1, &equation, &(kbass_model_options){.domain = "x=0:1, t=0:1", .initial = initial, .boundary = boundary}, &pde,
        error);
    if (status == KBASS_OK) status = kbass_model_sample(pde, 2, points, values, error);
    kbass_model_destroy(pde);
    return status;
}

static void refuses_what_it_cannot_solve(void **state)
{
    const kbass_status numerical = KBASS_ERROR_NUMERICAL;
    kbass_error error = {0};
    (void)state;
    CHECK_FAILS(solve("u_t = 4*u^2", "1", "periodic", &error), numerical, "leaves every bound near t = 0.2");
    CHECK_FAILS(solve("u_t = u_xx + 90*u^2", "sin(pi*x)", "dirichlet", &error), numerical, "leaves every bound");
    CHECK_FAILS(solve("u_t = -u_xx", "sin(2*pi*x)", "periodic", &error), numerical, "leaves every bound");
    CHECK_FAILS(solve("u_t = u_xx", "log(x - 0.5)", "periodic", &error), numerical, "initial condition of u is");
    CHECK_FAILS(solve("u_t = -u_x", "x", "dirichlet", &error), numerical, "");
    CHECK_FAILS(solve("u_t = -u_xxx", "exp(-x)", "periodic", &error), numerical,
                "initial condition of u does not close");
}

static void refuses_points_outside(void **state)
{
    const double outside[] = {0.1, 2}, not_a_number[] = {NAN, 0.5};
    const size_t none[] = {3, 0};
    double value;
    kbass_error error = {0};
    kbass_model *pde = NULL;
    kbass_data *data = NULL;
    (void)state;
    CHECK_OK(kbass_model_named("heat", &pde, &error));
    CHECK_FAILS(kbass_model_sample(pde, 1, outside, &value, &error), KBASS_ERROR_ARGUMENT, "x = 2, outside");
    CHECK_FAILS(kbass_model_sample(pde, 1, not_a_number, &value, &error), KBASS_ERROR_ARGUMENT, "outside the domain");
    CHECK_FAILS(kbass_model_within(pde, "x=0:2", &error), KBASS_ERROR_ARGUMENT, "leaves the domain");
    CHECK_FAILS(kbass_model_within(pde, "y=0:1", &error), KBASS_ERROR_ARGUMENT, "no axis \"y\"; there are: t, x");
    CHECK_FAILS(kbass_model_grid(pde, none, &data, &error), KBASS_ERROR_ARGUMENT, "0 points along x");
    CHECK_OK(kbass_model_sample(pde, 0, NULL, NULL, &error));
    kbass_model_destroy(pde);
}

/* Every allocation of a small run fails once. */
static void memory_that_runs_out(void **state)
{
    const char *const boundaries[] = {"periodic", "neumann"};
    kbass_error error = {0};
    (void)state;
    for (size_t b = 0; b < 2; b++) {
        kbass_status status = KBASS_ERROR_MEMORY;
        for (long n = 0; status != KBASS_OK; n++) {
            kb_memory_fail_after(n);
            status = solve("u_t = 0.01*u_xx - u*u_x", "1 + cos(2*pi*x)/9", boundaries[b], &error);
            kb_memory_fail_after(-1);
            if (status != KBASS_OK) assert_int_equal(status, KBASS_ERROR_MEMORY);
            if (n == 120) n += 200; /* the later runs repeat the first */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transform_is_the_sum),
        cmocka_unit_test(transform_of_a_cube),
        cmocka_unit_test(nodes_differentiate_and_interpolate),
        cmocka_unit_test(heat_between_ends),
        cmocka_unit_test(advection_diffusion),
        cmocka_unit_test(ends_that_do_not_meet),
        cmocka_unit_test(burgers_by_cole_and_hopf),
        cmocka_unit_test(soliton_keeps_its_shape),
        cmocka_unit_test(porous_medium_with_source),
        cmocka_unit_test(waves),
        cmocka_unit_test(heat_in_the_plane),
        cmocka_unit_test(two_fields),
        cmocka_unit_test(named_ones_can_be_read),
        cmocka_unit_test(as_released),
        cmocka_unit_test(samples_do_not_depend_on_the_others),
        cmocka_unit_test(grids_lie_within),
        cmocka_unit_test(refuses_what_it_cannot_read),
        cmocka_unit_test(refuses_what_it_cannot_solve),
        cmocka_unit_test(refuses_points_outside),
        cmocka_unit_test(memory_that_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
