/* Discovery of partial differential equations through the public header, on data made here: by closed forms, and by a
   fine explicit scheme. */
#include "check.h"
#include "kbass/kbass.h"

enum { NODES = 120, MOST_POINTS = 400 };
static const double width = 6, last = 1.5;
static kbass_error error;

/* ---------------------------------------------------------------- what is measured */

typedef double truth(double t, double x);

/* u_t = 0.5 u_xx on a ring */
static double heat(double t, double x)
{
    double k = 2 * M_PI / width;
    return 1 + exp(-0.5 * k * k * t) * cos(k * x) + 0.5 * exp(-2 * k * k * t) * sin(2 * k * x);
}

/* u_t = 0.5 u_xx - 2 u_x */
static double drift(double t, double x) { return heat(t, x - 2 * t); }

static double burgers_rate(const double *u, size_t i, double dx)
{
    double a[5];
    for (size_t m = 0; m < 5; m++) a[m] = u[(i + NODES + m - 2) % NODES];
    double slope = (a[0] - 8 * a[1] + 8 * a[3] - a[4]) / (12 * dx);
    double curve = (-a[0] + 16 * a[1] - 30 * a[2] + 16 * a[3] - a[4]) / (12 * dx * dx);
    return -u[i] * slope + 0.2 * curve;
}

/* u_t = -u u_x + 0.2 u_xx from a smooth bump: Heun's method, 4000 steps on 120 nodes; t a multiple of last / 4000 */
static double burgers(double t, double x)
{
    static double at, u[NODES], rate[2][NODES], trial[NODES];
    const double h = last / 4000, dx = width / NODES;
    for (size_t i = 0; (t == 0 || t < at - h / 2) && i < NODES; i++)
        u[i] = 0.5 + sin(2 * M_PI * (double)i / NODES) + 0.3 * cos(4 * M_PI * (double)i / NODES);
    if (t == 0 || t < at - h / 2) at = 0;
    for (; at < t - h / 2; at += h) {
        for (size_t i = 0; i < NODES; i++) rate[0][i] = burgers_rate(u, i, dx);
        for (size_t i = 0; i < NODES; i++) trial[i] = u[i] + h * rate[0][i];
        for (size_t i = 0; i < NODES; i++) rate[1][i] = burgers_rate(trial, i, dx);
        for (size_t i = 0; i < NODES; i++) u[i] += h / 2 * (rate[0][i] + rate[1][i]);
    }
    return u[(size_t)lround(x / dx) % NODES];
}

static kbass_data *data_of(size_t n, const double *times, const double *positions, const double *values, double percent)
{
    static const char *const axes[] = {"t", "x"}, *const names[] = {"u"};
    kbass_data *data = NULL;
    CHECK_OK(kbass_data_create_axes(n, 2, 1, times, positions, values, axes, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, percent, 3, &error));
    return data;
}

/* n_t x n_x even points, the ring's last point left out; every `gap`-th cell missing (0: none). */
static kbass_data *grid_of(truth *u, size_t n_t, size_t n_x, double percent, size_t gap)
{
    double times[MOST_POINTS], positions[MOST_POINTS], values[MOST_POINTS];
    for (size_t i = 0; i < n_t * n_x; i++) {
        times[i] = last * (double)(i / n_x) / (double)(n_t - 1);
        positions[i] = width * (double)(i % n_x) / (double)n_x;
        values[i] = gap && i % gap == 3 ? NAN : u(times[i], positions[i]);
    }
    return data_of(n_t * n_x, times, positions, values, percent);
}

/* Points by the golden ratio: scattered, but the same everywhere. */
static kbass_data *scatter_of(truth *u, size_t n, double percent)
{
    double times[MOST_POINTS], positions[MOST_POINTS], values[MOST_POINTS];
    for (size_t i = 0; i < n; i++) {
        times[i] = last * (double)i / (double)(n - 1);
        positions[i] = width * fmod(0.618033988749895 * (double)i, 1);
        values[i] = u(times[i], positions[i]);
    }
    return data_of(n, times, positions, values, percent);
}

/* ---------------------------------------------------------------- what is found */

static kbass_discovery *discover(const kbass_data *data, int degree, int derivatives, int threads)
{
    kbass_settings settings;
    kbass_discovery *discovery = NULL;
    kb_settings_default(&settings);
    settings.degree = degree;
    settings.derivatives = derivatives;
    settings.threads = threads;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    return discovery;
}

/* Exactly these terms, each weight within four of its standard deviations or within `share` of it; the standard
   deviation is a small share of the weight. */
static void check_law(const kbass_discovery *discovery, size_t n, const char *const *terms, const double *weights,
                      double share)
{
    const kbass_result *result = kbass_discovery_result(discovery);
    size_t selected = 0;
    CHECK(result->n_equations == 1);
    const kbass_equation *equation = &result->equations[0];
    CHECK_TEXT(equation->lhs, "u_t");
    for (size_t i = 0; i < equation->n_terms; i++) {
        selected += equation->terms[i].selected != 0;
        CHECK(isfinite(equation->terms[i].weight) && equation->terms[i].sd > 0); /* of terms left out too */
    }
    CHECK(selected == n && equation->n_terms == kbass_discovery_candidates(discovery));
    for (size_t i = 0; i < n; i++) {
        const kbass_term *term = find_term(equation, terms[i]);
        if (!term || !term->selected) fail_msg("%s was not found", terms[i]);
        CHECK_CLOSE(term->weight, weights[i], fmax(4 * term->sd, share * fabs(weights[i]))); /* four sd, or as said */
        CHECK_CLOSE(term->sd / fabs(weights[i]), 0, 0.1); /* these data say it to 10 % or better */
        CHECK(term->probability > 0.5);
    }
}

/* Share of 21 x 24 points where the truth lies within two standard deviations of the solution, which is itself closer
   than `slack` everywhere. */
static double covered(const kbass_discovery *discovery, truth *u, double slack)
{
    enum { N_T = 21, N_X = 24, N = N_T * N_X };
    double times[N], positions[N], mean[N], sd[N], inside = 0;
    for (size_t i = 0; i < N; i++) {
        times[i] = last * (double)(i / N_X) / (N_T - 1);
        positions[i] = width * (double)(i % N_X * 4) / NODES; /* up to 0.77 of the ring, on nodes */
    }
    CHECK_OK(kbass_discovery_solution(discovery, 0, N, times, positions, mean, sd, &error));
    for (size_t i = 0; i < N; i++) {
        double miss = fabs(mean[i] - u(times[i], positions[i]));
        CHECK_CLOSE(miss, 0, slack); /* the caller's */
        CHECK(sd[i] > 0 && isfinite(sd[i]));
        inside += miss <= 2 * sd[i];
    }
    return inside / N;
}

static const char *const drift_terms[] = {"u_x", "u_xx"};
static const double drift_weights[] = {-2, 0.5};

static void heat_from_a_coarse_grid(void **state)
{
    static const char *const terms[] = {"u_xx"};
    static const double weights[] = {0.5};
    kbass_data *data = grid_of(heat, 10, 12, 5, 0);
    kbass_discovery *discovery = discover(data, 2, 2, 2);
    (void)state;
    check_law(discovery, 1, terms, weights, 0);
    CHECK(covered(discovery, heat, 0.05) > 0.6); /* 95 % on average, but the errors come in few modes */
    CHECK_CLOSE(kbass_discovery_result(discovery)->noise[0], 0.026, 0.005); /* 5 % of the field's sd; 120 values */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void burgers_from_a_coarse_grid(void **state)
{
    static const char *const terms[] = {"u*u_x", "u_xx"};
    static const double weights[] = {-1, 0.2};
    kbass_data *data = grid_of(burgers, 11, 12, 5, 0);
    kbass_discovery *discovery = discover(data, 2, 3, 2);
    (void)state;
    check_law(discovery, 2, terms, weights, 0);
    CHECK_CLOSE(kbass_discovery_result(discovery)->period, width, 1e-9 * width); /* the usual one, not one near it */
    CHECK(covered(discovery, burgers, 0.1) > 0.6);                               /* likewise */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void a_grid_with_gaps(void **state)
{
    kbass_data *data = grid_of(drift, 12, 12, 5, 5);
    kbass_discovery *discovery = discover(data, 2, 2, 2);
    (void)state;
    check_law(discovery, 2, drift_terms, drift_weights, 0);
    CHECK_CLOSE(kbass_discovery_result(discovery)->period, width, 1e-9 * width); /* not traded for some drift */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void scattered_points(void **state)
{
    skip_with_sanitizers();
    kbass_data *data = scatter_of(drift, 150, 5);
    kbass_discovery *discovery = discover(data, 2, 2, 2);
    (void)state;
    check_law(discovery, 2, drift_terms, drift_weights, 0.04); /* points gathered into lines tell the period to 2 % */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void threads_do_not_matter(void **state)
{
    kbass_data *data = grid_of(drift, 8, 10, 5, 0);
    kbass_discovery *one = discover(data, 2, 2, 1), *two = discover(data, 2, 2, 2);
    const kbass_result *a = kbass_discovery_result(one), *b = kbass_discovery_result(two);
    (void)state;
    CHECK(a->n_equations == 1 && b->n_equations == 1 && a->equations[0].n_terms == b->equations[0].n_terms);
    for (size_t i = 0; i < a->equations[0].n_terms; i++) {
        const kbass_term *left = &a->equations[0].terms[i], *right = &b->equations[0].terms[i];
        CHECK_TEXT(left->term, right->term);
        CHECK(left->selected == right->selected);
        CHECK_CLOSE(right->weight, left->weight, 0);           /* the same sums in the same order */
        CHECK_CLOSE(right->probability, left->probability, 0); /* likewise */
    }
    kbass_discovery_destroy(one);
    kbass_discovery_destroy(two);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- the field's door */

/* The equation is known; what is left is the field. */
static kbass_discovery *fit_heat(const kbass_data *data, const char *periodic)
{
    kbass_settings settings;
    kbass_discovery *discovery = NULL;
    kb_settings_default(&settings);
    settings.terms = "u_xx";
    settings.fix = "u_t = 0.5*u_xx";
    settings.periodic = periodic;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_FAILS(kbass_discovery_solution(discovery, 0, 0, NULL, NULL, NULL, NULL, &error), KBASS_ERROR_ARGUMENT,
                "no run");
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    return discovery;
}

static void check_refused(const kbass_discovery *discovery, double time, double position, const char *message)
{
    double times[] = {0.5, time}, positions[] = {2, position}, mean[2], sd[2];
    CHECK_FAILS(kbass_discovery_solution(discovery, 0, 2, times, positions, mean, sd, &error), KBASS_ERROR_ARGUMENT,
                message);
}

static void fields_are_asked_for_within_the_record(void **state)
{
    double time = 0.5, mean, sd;
    kbass_data *data = grid_of(heat, 8, 10, 2, 0);
    kbass_discovery *discovery = fit_heat(data, NULL);
    (void)state;
    check_refused(discovery, last + 1, 2, "time 2.5");
    check_refused(discovery, 0.2, 2, "time 0.2 is not ascending");
    check_refused(discovery, NAN, 2, "time nan");
    check_refused(discovery, 1, width + 1, "position 7");
    check_refused(discovery, 1, -1, "position -1");
    check_refused(discovery, 1, NAN, "position nan");
    CHECK_FAILS(kbass_discovery_solution(discovery, 0, 1, &time, NULL, &mean, &sd, &error), KBASS_ERROR_ARGUMENT,
                "over space");
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void the_field_on_an_open_axis(void **state)
{
    kbass_data *data = grid_of(heat, 10, 16, 2, 0);
    kbass_discovery *discovery = fit_heat(data, "none");
    (void)state;
    CHECK(covered(discovery, heat, 0.1) > 0.6); /* as above, and the boundary's modes follow the ring only nearly */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heat_from_a_coarse_grid),   cmocka_unit_test(burgers_from_a_coarse_grid),
        cmocka_unit_test(a_grid_with_gaps),          cmocka_unit_test(scattered_points),
        cmocka_unit_test(threads_do_not_matter),     cmocka_unit_test(fields_are_asked_for_within_the_record),
        cmocka_unit_test(the_field_on_an_open_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
