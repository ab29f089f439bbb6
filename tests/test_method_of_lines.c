/* The method of lines: against closed forms, an explicit integration of the same system, and differences. */
#include "base/linalg.h"
#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "forward/pde1d/method_of_lines.h"

enum { ROWS = 9, COLUMNS = 16, SAMPLES = 200, MOST_TANGENTS = 6, MOST_VALUES = ROWS * COLUMNS * 2 };
static const double last = 2, width = 3; /* of t and x in the data's units */
static kbass_error error;

typedef double truth(size_t field, double t, double x);

typedef struct {
    truth *u;
    const char *terms;
    size_t n_fields;
    bool periodic;
    size_t nodes, steps;
    double length; /* of the profile's prior */
} plan;

typedef struct {
    plan p;
    kbass_data *data;
    kb_field_samples *samples;
    kb_dictionary *dictionary;
    kb_columns *columns;
    kb_pde1d *line;
    kb_dynamics *d;
    kb_support support;
    double *w, *start;
    size_t n; /* observations */
    double predicted[MOST_VALUES];
} setup;

/* ---------------------------------------------------------------- setups */

static kbass_data *sample(const plan *p)
{
    static const char *const axes[] = {"t", "x"}, *const names[] = {"u", "v"};
    double times[ROWS * COLUMNS], positions[ROWS * COLUMNS], values[MOST_VALUES];
    kbass_data *data = NULL;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        times[i] = last * (double)(i / COLUMNS) / (ROWS - 1);
        positions[i] = width * (double)(i % COLUMNS) / (COLUMNS - 1);
        for (size_t f = 0; f < p->n_fields; f++) values[i * p->n_fields + f] = p->u(f, times[i], positions[i]);
    }
    CHECK_OK(
        kbass_data_create_axes(ROWS * COLUMNS, 2, p->n_fields, times, positions, values, axes, names, &data, &error));
    return data;
}

/* Terms are scaled on random variables: any scale serves here. */
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

/* The profile of the truth at t = 0, on the nodes; boundaries as guessed. */
static void start_from_truth(setup *s)
{
    const kb_pde1d *l = s->line;
    size_t M = l->n_modes;
    CHECK(kb_pde1d_guess(l, 0, s->start));
    for (size_t f = 0; f < s->p.n_fields; f++) {
        double *z = s->start + f * M;
        memset(z, 0, M * sizeof *z);
        for (size_t i = 0; i < l->n; i++) {
            double q = (s->p.u(f, 0, l->dx * (double)i) - s->samples->mean[f]) / s->samples->sd[f];
            kb_axpy(M, q, l->modes + i * M, z);
        }
        kb_cholesky_solve(M, 1, l->gram, M, z, M);
    }
}

static void begin(setup *s, const plan *p)
{
    static const char *const axes[] = {"t", "x"}, *const names[] = {"u", "v"};
    kbass_settings settings;
    kb_pde1d_settings line = {.n_nodes = p->nodes, .steps = p->steps, .periodic = p->periodic, .period = 1};
    kb_profile profile = {
        .period = p->periodic ? 1 : 1.3, .length = p->length, .amplitude = 1, .noise = 1e-10, .n_modes = 31};
    *s = (setup){.p = *p, .data = sample(p)};
    kb_settings_default(&settings);
    settings.terms = p->terms;
    CHECK_OK(kb_field_samples_create(s->data, NULL, &s->samples, &error));
    CHECK_OK(kb_dictionary_create_fields(&settings, p->n_fields, names, 2, axes, &s->dictionary, &error));
    make_columns(s);
    CHECK_OK(kb_pde1d_create(s->samples, s->dictionary, s->columns, &line, &profile, MOST_TANGENTS, &s->line, &error));
    CHECK_OK(kb_support_create(s->columns->n, &s->support, &error));
    s->d = &s->line->dynamics;
    s->n = s->d->observation_start[s->d->n_rows];
    s->w = KB_NEW(double, s->columns->n);
    s->start = KB_NEW(double, s->d->n_start);
    CHECK(s->n == ROWS * COLUMNS * p->n_fields);
    start_from_truth(s);
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

static bool predict(setup *s)
{
    s->d->set_model(s->d, &s->support, s->w, NULL);
    return s->d->predict(s->d, 0, s->d->n_rows - 1, s->start, s->predicted, NULL);
}

/* Largest difference to the data, which are the truth here, in standard deviations of the field. */
static double largest_error(setup *s)
{
    double most = 0;
    CHECK(predict(s));
    for (size_t o = 0; o < s->n; o++) {
        double miss = fabs(s->predicted[o] - s->d->observed[o]);
        if (!(miss <= most)) most = miss;
    }
    return most;
}

/* ---------------------------------------------------------------- closed forms */

static const double wave = 2 * M_PI / 3; /* one period over the axis */

static double heat(size_t field, double t, double x)
{
    (void)field;
    return 3 + exp(-0.1 * wave * wave * t) * cos(wave * x) + 0.3 * exp(-0.4 * wave * wave * t) * sin(2 * wave * x);
}

static double travelling(size_t field, double t, double x)
{
    (void)field;
    return 1 + cos(wave * (x - 0.7 * t)) + 0.4 * sin(2 * wave * (x - 0.7 * t));
}

static double dispersing(size_t field, double t, double x) /* u_t = -0.05 u_xxx - 0.02 u_xxxx */
{
    (void)field;
    double k = wave;
    return exp(-0.02 * pow(k, 4) * t) * cos(k * x + 0.05 * pow(k, 3) * t);
}

static double turning(size_t field, double t, double x) /* u_t = v + 0.1 u_xx, v_t = -u + 0.1 v_xx */
{
    double decay = exp(-0.1 * wave * wave * t);
    return decay * cos(wave * x) * (field ? -sin(t) : cos(t));
}

static double front(size_t field, double t, double x) /* of Burgers' equation, viscosity 0.1, speed 0.25 */
{
    (void)field;
    return 0.25 - 0.5 * tanh(0.5 * (x - 1.2 - 0.25 * t) / 0.2);
}

static void decay_of_heat(void **state)
{
    setup s;
    (void)state;
    begin(&s, &(plan){heat, "u_x, u_xx", 1, true, 100, 3, 0.1});
    include(&s, 0, "u_xx", 0.1);
    CHECK_CLOSE(largest_error(&s), 0, 5e-5); /* third order in time steps of 1/12, four times the error found */
    end(&s);
}

static void travelling_and_dispersing(void **state)
{
    setup s;
    (void)state;
    begin(&s, &(plan){travelling, "u_x", 1, true, 100, 6, 0.1});
    include(&s, 0, "u_x", -0.7);
    CHECK_CLOSE(largest_error(&s), 0, 4e-4); /* phase error h^3 (c k)^4 T / 24 of the second harmonic */
    end(&s);
    begin(&s, &(plan){dispersing, "u_xxx, u_xxxx", 1, true, 100, 4, 0.1});
    include(&s, 0, "u_xxx", -0.05);
    include(&s, 0, "u_xxxx", -0.02);
    CHECK_CLOSE(largest_error(&s), 0, 1e-5); /* fourth-order stencils: (k dx)^4 / 40 = 4e-7; steps as above */
    end(&s);
}

static void two_coupled_fields(void **state)
{
    setup s;
    (void)state;
    begin(&s, &(plan){turning, "u, v, u_xx, v_xx", 2, true, 80, 4, 0.1});
    include(&s, 0, "v", 1);
    include(&s, 0, "u_xx", 0.1);
    include(&s, 1, "u", -1);
    include(&s, 1, "v_xx", 0.1);
    CHECK_CLOSE(largest_error(&s), 0, 5e-5); /* steps as above */
    end(&s);
}

static void front_on_an_open_axis(void **state)
{
    setup s;
    (void)state;
    begin(&s, &(plan){front, "u*u_x, u_xx", 1, false, 200, 3, 0.1});
    include(&s, 0, "u*u_x", -1);
    include(&s, 0, "u_xx", 0.1);
    CHECK_CLOSE(largest_error(&s), 0, 3e-3); /* the tails reach the ends, where the boundary's modes follow them */
    end(&s);
}

/* ---------------------------------------------------------------- a second road for Burgers' equation */

/* u_t = -(u^2/2)_x + 0.05 u_xx, sixth-order differences on a ring, written out */
static void ring_rate(size_t n, double dx, const double *u, double *rate)
{
    for (size_t i = 0; i < n; i++) {
        double flux = 0, curve = -490.0 / 180 * u[i];
        static const double first[] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
        static const double second[] = {270.0 / 180, -27.0 / 180, 2.0 / 180};
        for (size_t m = 1; m <= 3; m++) {
            double up = u[(i + m) % n], down = u[(i + n - m) % n];
            flux += first[m - 1] * 0.5 * (up * up - down * down);
            curve += second[m - 1] * (up + down);
        }
        rate[i] = -flux / dx + 0.05 * curve / (dx * dx);
    }
}

static void runge_kutta(size_t n, double dx, double h, double *u)
{
    static const double node[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double k[2][200] = {{0}}, at[200], sum[200] = {0};
    for (size_t stage = 0; stage < 4; stage++) {
        for (size_t i = 0; i < n; i++) at[i] = u[i] + node[stage] * h * k[(stage + 1) % 2][i];
        ring_rate(n, dx, at, k[stage % 2]);
        for (size_t i = 0; i < n; i++) sum[i] += weight[stage] * k[stage % 2][i];
    }
    for (size_t i = 0; i < n; i++) u[i] += h * sum[i];
}

static void begin_burgers(setup *s, size_t steps)
{
    begin(s, &(plan){travelling, "u*u_x, u_xx", 1, true, 100, steps, 0.1});
    include(s, 0, "u*u_x", -1);
    include(s, 0, "u_xx", 0.05);
}

static void burgers_by_runge_kutta(void **state)
{
    setup s;
    double u[100], miss[2];
    (void)state;
    for (size_t fine = 0; fine < 2; fine++) {
        begin_burgers(&s, fine ? 12 : 6);
        const kb_pde1d *l = s.line;
        for (size_t i = 0; i < l->n; i++) {
            u[i] = s.samples->mean[0];
            for (size_t m = 0; m < l->n_modes; m++)
                u[i] += s.samples->sd[0] * l->modes[i * l->n_modes + m] * s.start[m];
        }
        CHECK(predict(&s));
        for (int step = 0; step < 2000; step++) runge_kutta(l->n, l->dx, last / 2000, u);
        miss[fine] = 0;
        for (size_t i = 0; i < l->n; i++)
            miss[fine] = fmax(miss[fine], fabs(l->state[i] - (u[i] - s.samples->mean[0]) / s.samples->sd[0]));
        end(&s);
    }
    CHECK_CLOSE(miss[1], 0, 2e-4);               /* third order in steps of 1/48 */
    CHECK_CLOSE(miss[1] / miss[0], 0.125, 0.06); /* a third-order method, not yet quite at its asymptote */
}

static void fluxes_keep_the_integral(void **state)
{
    setup s;
    double before = 0, after = 0;
    (void)state;
    begin_burgers(&s, 3);
    const kb_pde1d *l = s.line;
    for (size_t i = 0; i < l->n; i++)
        for (size_t m = 0; m < l->n_modes; m++) before += l->modes[i * l->n_modes + m] * s.start[m];
    CHECK(predict(&s));
    for (size_t i = 0; i < l->n; i++) after += l->state[i];
    CHECK_CLOSE(after, before, 1e-9); /* Newton keeps linear invariants at every iteration: rounding only */
    end(&s);
}

/* ---------------------------------------------------------------- tangents */

static void compare_tangent(setup *s, const double *tangents, size_t parameters, size_t p, double *unknown)
{
    static double above[MOST_VALUES], below[MOST_VALUES];
    double kept = *unknown, h = 1e-4 * (1 + fabs(kept));
    *unknown = kept + h;
    CHECK(predict(s));
    memcpy(above, s->predicted, sizeof above);
    *unknown = kept - h;
    CHECK(predict(s));
    memcpy(below, s->predicted, sizeof below);
    *unknown = kept;
    for (size_t o = 0; o < s->n; o++) {
        double expected = (above[o] - below[o]) / (2 * h), found = tangents[o * parameters + p];
        CHECK_CLOSE(found, expected, 2e-5 * (1 + fabs(expected))); /* Newton's 1e-10 over h, and h^2 */
    }
}

static void check_tangents(setup *s)
{
    size_t k = s->support.n, parameters = k + s->d->n_start;
    double *tangents = KB_NEW(double, s->n *parameters);
    s->d->set_model(s->d, &s->support, s->w, &s->support);
    CHECK(s->d->predict(s->d, 0, s->d->n_rows - 1, s->start, s->predicted, tangents));
    for (size_t q = 0; q < k; q++) compare_tangent(s, tangents, parameters, q, &s->w[s->support.column[q]]);
    for (size_t q = 0; q < s->d->n_start; q++) compare_tangent(s, tangents, parameters, k + q, &s->start[q]);
    kb_free(tangents);
}

static void tangents_are_derivatives(void **state)
{
    setup s;
    (void)state;
    begin_burgers(&s, 2);
    include(&s, 0, "u_xx", 0.1);
    check_tangents(&s);
    end(&s);
    begin(&s, &(plan){front, "u*u_x, u_xx, u^2*u_xx, u*x", 1, false, 60, 2, 0.15});
    include(&s, 0, "u*u_x", -1);
    include(&s, 0, "u_xx", 0.1);
    include(&s, 0, "u^2*u_xx", 0.05);
    include(&s, 0, "u*x", -0.1);
    check_tangents(&s);
    end(&s);
    begin(&s, &(plan){turning, "v, u_xx, u*v_x", 2, true, 40, 2, 0.15});
    include(&s, 0, "v", 1);
    include(&s, 0, "u_xx", 0.1);
    include(&s, 0, "u*v_x", 0.3);
    include(&s, 1, "u_xx", 0.05);
    check_tangents(&s);
    end(&s);
}

/* A weight of 0 has a tangent too: that is how terms outside the model are proposed. */
static void tangents_of_terms_outside(void **state)
{
    setup s;
    (void)state;
    begin(&s, &(plan){heat, "u_x, u_xx, u*u_x", 1, true, 60, 2, 0.15});
    include(&s, 0, "u_xx", 0.1);
    include(&s, 0, "u_x", 0);
    include(&s, 0, "u*u_x", 0);
    check_tangents(&s);
    end(&s);
}

/* ---------------------------------------------------------------- refusals, carrying, guessing */

static void ill_posed_models_are_refused(void **state)
{
    setup s;
    (void)state;
    begin(&s, &(plan){heat, "u_xx, u_xxxx", 1, true, 100, 3, 0.1});
    include(&s, 0, "u_xx", -0.1);
    CHECK(!predict(&s));
    include(&s, 0, "u_xxxx", -0.01); /* the fourth derivative tames the shortest waves: well-posed again */
    CHECK(predict(&s));
    include(&s, 0, "u_xx", 0.1);
    include(&s, 0, "u_xxxx", 0.01);
    CHECK(!predict(&s));
    end(&s);
}

static void escapes_are_refused(void **state)
{
    setup s;
    (void)state;
    begin(&s, &(plan){heat, "u, u^2, u_xx", 1, true, 100, 3, 0.1});
    include(&s, 0, "u_xx", 0.1);
    include(&s, 0, "u^2", 1); /* 3 / (1 - 3 t) has its pole at t = 1/3 */
    CHECK(!predict(&s));
    include(&s, 0, "u^2", NAN);
    CHECK(!predict(&s));
    end(&s);
}

static void carried_starts_continue(void **state)
{
    setup s;
    double direct[MOST_VALUES], *carried = NULL;
    const size_t from = 4;
    (void)state;
    begin(&s, &(plan){heat, "u_xx", 1, true, 100, 3, 0.1});
    include(&s, 0, "u_xx", 0.1);
    CHECK(predict(&s));
    memcpy(direct, s.predicted, sizeof direct);
    carried = KB_NEW(double, s.d->n_start);
    CHECK(s.d->carry(s.d, 0, from, s.start, carried));
    CHECK(s.d->predict(s.d, from, s.d->n_rows - 1, carried, s.predicted, NULL));
    for (size_t o = s.d->observation_start[from]; o < s.n; o++)
        CHECK_CLOSE(s.predicted[o - s.d->observation_start[from]], direct[o], 1e-4); /* ridge of the projection */
    kb_free(carried);
    end(&s);
}

static double standing(size_t field, double t, double x)
{
    (void)t;
    return travelling(field, 0, x);
}

static void guess_recovers_a_profile(void **state)
{
    setup s;
    (void)state;
    begin(&s, &(plan){standing, "u_x", 1, true, 100, 3, 0.1});
    CHECK(kb_pde1d_guess(s.line, 0, s.start));
    CHECK(predict(&s)); /* without a term nothing moves: the first row is the profile */
    for (size_t o = 0; o < s.d->observation_start[1]; o++)
        CHECK_CLOSE(s.predicted[o], s.d->observed[o], 1e-2); /* noise 1e-4 in the ridge */
    for (size_t o = s.d->observation_start[1]; o < s.n; o++)
        CHECK_CLOSE(s.predicted[o], s.predicted[o % COLUMNS], 1e-12); /* rounding */
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decay_of_heat),
        cmocka_unit_test(travelling_and_dispersing),
        cmocka_unit_test(two_coupled_fields),
        cmocka_unit_test(front_on_an_open_axis),
        cmocka_unit_test(burgers_by_runge_kutta),
        cmocka_unit_test(fluxes_keep_the_integral),
        cmocka_unit_test(tangents_are_derivatives),
        cmocka_unit_test(tangents_of_terms_outside),
        cmocka_unit_test(ill_posed_models_are_refused),
        cmocka_unit_test(escapes_are_refused),
        cmocka_unit_test(carried_starts_continue),
        cmocka_unit_test(guess_recovers_a_profile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
