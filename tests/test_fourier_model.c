/* Fields over several space axes: against closed forms and differences. */
#include "base/larger.h"
#include "base/linalg.h"
#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "problem/run_samples.h"
#include "forward/spectral/fourier_model.h"
#include "forward/spectral/mirrored.h"

enum { ROWS = 6, SIDE = 8, POINTS = SIDE * SIDE, SAMPLES = 200, MOST_TANGENTS = 8, MOST_VALUES = ROWS * POINTS * 2 };
static const double last = 0.8, width = 2 * M_PI; /* of t, and the period of x and y */
static kbass_error error;

typedef double truth(size_t field, double t, double x, double y);

typedef struct {
    truth *u;
    const char *terms;
    size_t n_fields;
    size_t waves, steps;
    double period; /* of the box in units of the record */
} plan;

typedef struct {
    plan p;
    kbass_data *data;
    kb_field_samples *samples;
    kb_dictionary *dictionary;
    kb_columns *columns;
    kb_fourier_model *fourier;
    kb_dynamics *d;
    kb_support support;
    double *w, *start;
    size_t n;
    double predicted[MOST_VALUES];
} setup;

/* ---------------------------------------------------------------- setups */

/* The record ends one spacing before the period does. */
static kbass_data *sample(const plan *p)
{
    static const char *const axes[] = {"t", "x", "y"}, *const names[] = {"u", "v"};
    double times[ROWS * POINTS], positions[ROWS * POINTS * 2], values[MOST_VALUES];
    kbass_data *data = NULL;
    for (size_t i = 0; i < ROWS * POINTS; i++) {
        times[i] = last * (double)(i / POINTS) / (ROWS - 1);
        positions[2 * i] = width * (double)(i / SIDE % SIDE) / SIDE;
        positions[2 * i + 1] = width * (double)(i % SIDE) / SIDE;
        for (size_t f = 0; f < p->n_fields; f++)
            values[i * p->n_fields + f] = p->u(f, times[i], positions[2 * i], positions[2 * i + 1]);
    }
    CHECK_OK(
        kbass_data_create_axes(ROWS * POINTS, 3, p->n_fields, times, positions, values, axes, names, &data, &error));
    return data;
}

static void make_columns(setup *s)
{
    kb_random random;
    double squares[2] = {1, 1}, *points = KB_NEW(double, SAMPLES * s->dictionary->n_variables);
    kb_random_seed(&random, 5);
    for (size_t i = 0; i < SAMPLES * s->dictionary->n_variables; i++) points[i] = kb_random_normal(&random);
    CHECK_OK(kb_columns_create(s->dictionary, s->samples->sd, s->samples->span[0], SAMPLES, points, squares,
                               &s->columns, &error));
    kb_free(points);
}

static void begin(setup *s, const plan *p)
{
    static const char *const axes[] = {"t", "x", "y"}, *const names[] = {"u", "v"};
    kbass_settings settings;
    kb_fourier_settings fourier = {.n_waves = {p->waves, p->waves},
                                   .period = {p->period, p->period},
                                   .length = {0.1, 0.1},
                                   .amplitude = 1,
                                   .noise = 1e-12,
                                   .most_modes = 100,
                                   .steps = p->steps};
    *s = (setup){.p = *p, .data = sample(p)};
    kb_settings_default(&settings);
    settings.terms = p->terms;
    CHECK_OK(kb_field_samples_create(s->data, NULL, &s->samples, &error));
    CHECK_OK(kb_dictionary_create_fields(&settings, p->n_fields, names, 3, axes, &s->dictionary, &error));
    make_columns(s);
    CHECK_OK(
        kb_fourier_model_create(s->samples, s->dictionary, s->columns, &fourier, MOST_TANGENTS, &s->fourier, &error));
    CHECK_OK(kb_support_create(s->columns->n, &s->support, &error));
    s->d = &s->fourier->dynamics;
    s->n = s->d->observation_start[s->d->n_rows];
    s->w = KB_NEW(double, s->columns->n);
    s->start = KB_NEW(double, s->d->n_start);
    CHECK(s->n == ROWS * POINTS * p->n_fields);
}

static void end(setup *s)
{
    s->d->destroy(s->d);
    kb_support_clear(&s->support);
    kb_columns_destroy(s->columns);
    kb_dictionary_destroy(s->dictionary);
    kb_field_samples_destroy(s->samples);
    kbass_data_destroy(s->data);
    kb_free(s->w);
    kb_free(s->start);
}

static void include(setup *s, size_t equation, const char *term, double weight)
{
    const kb_columns *c = s->columns;
    for (size_t q = 0; q < c->n; q++) {
        if (c->equation[q] != equation || strcmp(kb_dictionary_name(s->dictionary, c->term[q]), term)) continue;
        kb_support_add(&s->support, q);
        s->w[q] = weight / c->unit[q];
        return;
    }
    fail_msg("no column %s in equation %zu", term, equation);
}

/* The truth at t = 0: values on the nodes of a box that is the period, in the modes that the start has. */
static void start_from_truth(setup *s)
{
    kb_fourier_model *p = s->fourier;
    for (size_t f = 0; f < s->p.n_fields; f++)
        for (size_t i = 0; i < p->n_modes; i++) {
            double sum = 0;
            size_t kx = p->mode[i] % p->m[0], ky = p->mode[i] / p->m[0];
            for (size_t a = 0; a < p->n[0]; a++)
                for (size_t b = 0; b < p->n[1]; b++) {
                    double x = width * (double)a / (double)p->n[0], y = width * (double)b / (double)p->n[1];
                    double q = (s->p.u(f, 0, x, y) - s->samples->mean[f]) / s->samples->sd[f];
                    sum += (kx ? 2 : 1) * p->basis[0][0][a + kx * p->n[0]] * (ky ? 2 : 1) *
                           p->basis[1][0][b + ky * p->n[1]] * q / (double)p->n_nodes;
                }
            s->start[f * p->n_modes + i] = sum / p->mode_scale[i];
        }
}

static bool predict(setup *s)
{
    s->d->set_model(s->d, &s->support, s->w, NULL);
    return s->d->predict(s->d, 0, s->d->n_rows - 1, s->start, s->predicted, NULL);
}

static double largest_error(setup *s)
{
    double most = 0;
    CHECK(predict(s));
    for (size_t o = 0; o < s->n; o++) most = kb_larger(most, fabs(s->predicted[o] - s->d->observed[o]));
    return most;
}

/* ---------------------------------------------------------------- closed forms */

static double drifting(size_t field, double t, double x, double y)
{
    (void)field;
    return exp(-0.3 * t) * sin(x - t) + exp(-1.1 * t) * cos(2 * (x - t) + y + 0.5 * t);
}

/* u_t = -u_x + 0.5 u_y + 0.3 u_xx - 0.1 u_yy: the first wave decays as 0.3, the second as 1.2 - 0.1; the linear part is
   exact, the drift that of Runge-Kutta steps of 0.02. */
static void test_linear_waves(void **state)
{
    (void)state;
    setup s;
    begin(&s, &(plan){drifting, "u_x, u_y, u_xx, u_yy", 1, 3, 8, SIDE / (SIDE - 1.0)});
    include(&s, 0, "u_x", -1);
    include(&s, 0, "u_y", 0.5);
    include(&s, 0, "u_xx", 0.3);
    include(&s, 0, "u_yy", -0.1);
    start_from_truth(&s);
    CHECK_CLOSE(largest_error(&s), 0, 1e-6);
    end(&s);
}

/* A rigid turn of amplitude one: u = cos, v = sin of a phase that moves on and the wave x + y. */
static double turning(size_t field, double t, double x, double y)
{
    double phase = x + y - 2 * t;
    return field ? sin(phase) : cos(phase);
}

/* u_t = 2 v, v_t = -2 u holds for the wave; u*(1 - u^2 - v^2) vanishes on it but its parts do not. */
static void set_turn(setup *s)
{
    begin(s, &(plan){turning, "u, v, u^3, u*v^2, u^2*v, v^3", 2, 4, 8, SIDE / (SIDE - 1.0)});
    include(s, 0, "v", 2);
    include(s, 1, "u", -2);
    include(s, 0, "u", 1);
    include(s, 0, "u^3", -1);
    include(s, 0, "u*v^2", -1);
    start_from_truth(s);
}

static void test_coupled_fields(void **state)
{
    (void)state;
    setup s;
    set_turn(&s);
    CHECK_CLOSE(largest_error(&s), 0, 1e-6); /* fourth order: (2 * 0.02)^4 over 40 steps */
    end(&s);
}

/* Burgers' equation along x - y, for which u(x - y, t) has viscosity 2 nu and speed 2: another road is the same wave on
   twice the waves. */
static double ridge(size_t field, double t, double x, double y)
{
    (void)field;
    return 1 + 0.4 * sin(x - y) * exp(-0.2 * t);
}

static void set_ridge(setup *s, size_t waves, size_t steps)
{
    begin(s, &(plan){ridge, "u*u_x, u*u_y, u_xx, u_yy", 1, waves, steps, SIDE / (SIDE - 1.0)});
    include(s, 0, "u*u_x", -1);
    include(s, 0, "u*u_y", 0.5);
    include(s, 0, "u_xx", 0.2);
    include(s, 0, "u_yy", 0.2);
    start_from_truth(s);
}

static void test_resolution(void **state)
{
    (void)state;
    setup coarse, fine;
    set_ridge(&coarse, 6, 4);
    set_ridge(&fine, 10, 12);
    CHECK(predict(&coarse) && predict(&fine));
    for (size_t o = 0; o < coarse.n; o++) CHECK_CLOSE(coarse.predicted[o], fine.predicted[o], 1e-4);
    end(&coarse);
    end(&fine);
}

/* ---------------------------------------------------------------- tangents */

/* Central differences of every parameter; the start's by two of its modes. Differences of size 1e-5 err by 1e-9. */
static void check_tangents(setup *s)
{
    size_t k = s->support.n, P = k + s->d->n_start;
    double *tangents = KB_NEW(double, s->n *P), *up = KB_NEW(double, s->n), h = 1e-5;
    s->d->set_model(s->d, &s->support, s->w, &s->support);
    CHECK(s->d->predict(s->d, 0, s->d->n_rows - 1, s->start, s->predicted, tangents));
    for (size_t q = 0; q < P; q += q < k ? 1 : 7) {
        double *parameter = q < k ? &s->w[s->support.column[q]] : &s->start[q - k], at = *parameter;
        *parameter = at + h;
        CHECK(predict(s));
        memcpy(up, s->predicted, s->n * sizeof *up);
        *parameter = at - h;
        CHECK(predict(s));
        *parameter = at;
        for (size_t o = 0; o < s->n; o++)
            CHECK_CLOSE(tangents[o * P + q], (up[o] - s->predicted[o]) / (2 * h),
                        2e-6 * (1 + fabs(tangents[o * P + q])));
    }
    kb_free(tangents);
    kb_free(up);
}

static void test_tangents(void **state)
{
    (void)state;
    setup s;
    set_turn(&s);
    check_tangents(&s);
    end(&s);
    set_ridge(&s, 6, 12);
    check_tangents(&s);
    end(&s);
}

/* Turned tangents against the product of L' and the tangents as they are, which are seen point by point; equal but for
   rounding. Where a point of a row stands elsewhere its points are no grid. */
static void check_turned(setup *s)
{
    kb_random random;
    size_t P = s->support.n + s->d->n_start;
    s->d->set_model(s->d, &s->support, s->w, &s->support);
    double *tangents = KB_NEW(double, s->n *P), *L = KB_NEW(double, P *P), *expected = KB_NEW(double, s->n *P),
           *turned = KB_NEW(double, s->n *P), *work = KB_NEW(double, kb_fourier_model_turn_work(s->fourier));
    kb_random_seed(&random, 3);
    for (size_t j = 0; j < P; j++)
        for (size_t i = j; i < P; i++) L[i + j * P] = kb_random_normal(&random);
    CHECK(s->d->predict(s->d, 0, s->d->n_rows - 1, s->start, s->predicted, tangents));
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, P, s->n, P, 1, L, P, tangents, P, 0, expected, P);
    for (size_t row = 0; row < s->d->n_rows; row++) {
        size_t at = s->d->observation_start[row], n = s->d->observation_start[row + 1] - at;
        CHECK(kb_fourier_model_reach_turned(s->fourier, 0, row, s->start, s->predicted));
        kb_fourier_model_turn(s->fourier, row, L, turned, work);
        for (size_t i = 0; i < n * P; i++)
            CHECK_CLOSE(turned[i], expected[at * P + i], 1e-9 * (1 + fabs(expected[at * P + i])));
    }
    kb_free(tangents);
    kb_free(L);
    kb_free(expected);
    kb_free(turned);
    kb_free(work);
}

static void test_turned(void **state)
{
    (void)state;
    setup s;
    set_turn(&s);
    check_turned(&s);
    s.samples->point[POINTS + 3 + s.samples->n_points] +=
        0.01; /* the waves there are those of the old place: for both */
    check_turned(&s);
    end(&s);
}

/* ---------------------------------------------------------------- starts */

/* What continues from the middle is what continues from the beginning, and the guess is near the truth's start. */
static void test_starts(void **state)
{
    (void)state;
    setup s;
    double whole[MOST_VALUES];
    size_t half = ROWS / 2;
    set_turn(&s);
    CHECK(predict(&s));
    memcpy(whole, s.predicted, sizeof whole);
    CHECK(s.d->carry(s.d, 0, half, s.start, s.start));
    CHECK(s.d->predict(s.d, half, ROWS - 1, s.start, s.predicted, NULL));
    for (size_t o = s.d->observation_start[half], i = 0; o < s.n; o++, i++) CHECK_CLOSE(s.predicted[i], whole[o], 1e-9);
    CHECK_OK(s.d->guess(s.d, half, s.start, &error));
    CHECK(s.d->predict(s.d, half, half, s.start, s.predicted, NULL));
    for (size_t o = 0; o < POINTS * 2; o++) CHECK_CLOSE(s.predicted[o], whole[s.d->observation_start[half] + o], 0.02);
    end(&s);
}

/* Shortest waves that grow are refused before anything is integrated; so is a field that runs away. */
static void test_refusals(void **state)
{
    (void)state;
    setup s;
    set_ridge(&s, 6, 4);
    include(&s, 0, "u_xx", -1);
    CHECK(!predict(&s));
    include(&s, 0, "u_xx", 0.2);
    include(&s, 0, "u*u_x", -1e6);
    CHECK(!predict(&s));
    end(&s);
}

/* ---------------------------------------------------------------- axes that close */

static double rising(size_t field, double t, double x, double y)
{
    (void)field;
    return sin(x - t) * (1 + 0.3 * y) + 0.5 * cos(2 * x) - 0.4 * y;
}

/* Waves along x close after one spacing more than the record has; what rises along y does not. */
static void test_closed_axes(void **state)
{
    (void)state;
    kb_field_samples *samples = NULL;
    kbass_data *data = sample(&(plan){.u = rising, .n_fields = 1});
    CHECK_OK(kbass_data_add_noise(data, 3, 1, &error));
    CHECK_OK(kb_field_samples_create(data, NULL, &samples, &error));
    CHECK_OK(kb_field_samples_find_periodic(samples, NULL, &error));
    CHECK(samples->periodic[1] && !samples->periodic[2]);
    CHECK_CLOSE(samples->period[1], SIDE / (SIDE - 1.0), 1e-9); /* the grid's own rounding */
    kb_field_samples_destroy(samples);
    kbass_data_destroy(data);
}

/* By symmetry, and sum by sum; back again. */
static void test_mirrored(void **unused)
{
    (void)unused;
    enum { WAVES = 3, M = 2 * WAVES + 1, N = 10, LEFT = 2, RIGHT = 3 };
    for (int order = 0; order < 3; order++) {
        double basis[N * M], waves[LEFT * M * RIGHT], nodes[LEFT * N * RIGHT], back[LEFT * M * RIGHT],
            work[LEFT * (N + 2)];
        for (size_t i = 0; i < N; i++)
            for (size_t k = 0; k < M; k++) {
                double j = (double)((k + 1) / 2), phase = 2 * M_PI * j * (double)i / N + order * M_PI_2;
                basis[i + k * N] = k ? pow(j, order) * (k % 2 ? cos(phase) : sin(phase)) : order == 0;
            }
        for (size_t i = 0; i < LEFT * M * RIGHT; i++) waves[i] = sin(1 + 7 * (double)i);
        kb_mirrored mirrored = {WAVES, N, order, basis};
        kb_mirrored_to_nodes(&mirrored, LEFT, RIGHT, waves, nodes, work);
        for (size_t l = 0; l < LEFT; l++)
            for (size_t i = 0; i < N; i++)
                for (size_t r = 0; r < RIGHT; r++) {
                    double sum = 0;
                    for (size_t k = 0; k < M; k++) sum += basis[i + k * N] * waves[l + LEFT * (k + M * r)];
                    CHECK_CLOSE(nodes[l + LEFT * (i + N * r)], sum, 1e-12);
                }
        if (order) continue;
        kb_mirrored_to_waves(&mirrored, LEFT, RIGHT, nodes, back, work);
        for (size_t i = 0; i < LEFT * M * RIGHT; i++) CHECK_CLOSE(back[i], waves[i], 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_waves), cmocka_unit_test(test_coupled_fields), cmocka_unit_test(test_resolution),
        cmocka_unit_test(test_tangents),     cmocka_unit_test(test_turned),         cmocka_unit_test(test_starts),
        cmocka_unit_test(test_refusals),     cmocka_unit_test(test_closed_axes),    cmocka_unit_test(test_mirrored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
