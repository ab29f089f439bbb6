/* Forecasts: factors against their matrices, spreads against the fit's own bands and closed forms, draws against exact
 * moments, the reader against files that someone has touched. */
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "forecast/spread.h"
#include "forecast/stage.h"
#include "report/json.h"

/* ---------------------------------------------------------------- factors */

static void factors_give_their_matrix_back(void **state)
{
    (void)state;
    enum { N = 7, RANK = 4 };
    double A[N * RANK], V[N * N], L[N * N], back[N * N];
    kb_random random;
    kb_random_seed(&random, 5);
    for (size_t i = 0; i < N * RANK; i++) A[i] = kb_random_normal(&random) * (i % N == 2 ? 1e6 : i % N == 3 ? 1e-7 : 1);
    for (size_t j = 0; j < RANK; j++) A[5 + j * N] = 0; /* a direction without variance */
    kb_gemm(KB_PLAIN, KB_TRANSPOSED, N, N, RANK, 1, A, N, A, N, 0, V, N);
    CHECK(kb_covariance_factor(N, V, L));
    kb_gemm(KB_PLAIN, KB_TRANSPOSED, N, N, N, 1, L, N, L, N, 0, back, N);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double unit = sqrt(V[i + i * N] * V[j + j * N]);
            CHECK_CLOSE(back[i + j * N], V[i + j * N], 2e-3 * unit); /* root of the 1e-6 that counts as no variance */
            if (j > i) CHECK(L[i + j * N] == 0);
        }
    V[1 + 0 * N] = V[0 + 1 * N] = 1.01 * sqrt(V[0] * V[1 + N]); /* a correlation above 1 */
    CHECK(!kb_is_covariance(N, V));
    V[0] = -1;
    CHECK(!kb_is_covariance(N, V));
    V[0] = NAN;
    CHECK(!kb_is_covariance(N, V));
}

/* ---------------------------------------------------------------- an equation that can be solved by hand */

/* x_t = a x (or a x^2) on t in [0, 1], with given standard deviations of a and x(0), independent. */
static kbass_posterior *growth(const char *term, double a, double sd_a, double x, double sd_x)
{
    static const double times[] = {0, 1}, values[] = {1, 2};
    static const char *const names[] = {"x"};
    kbass_data *data = NULL;
    kbass_posterior *p = NULL;
    kbass_error error;
    CHECK_OK(kbass_data_create(2, 1, times, values, NULL, names, &data, &error));
    CHECK_OK(kb_posterior_create(data, 0, 1, 1, &p, &error));
    CHECK_OK(kb_belief_allocate(p, 1, 1, &p->models[0], &error));
    p->n_models = 1;
    kb_belief *b = &p->models[0];
    b->term[0] = kb_strdup(term);
    b->weight[0] = a;
    b->noise[0] = 0.1;
    b->windows[0].first = 0;
    b->windows[0].last = 1;
    b->windows[0].start[0] = x;
    b->windows[0].covariance[0] = sd_a * sd_a;
    b->windows[0].covariance[3] = sd_x * sd_x;
    kbass_data_destroy(data);
    return p;
}

static void spread_is_that_of_the_closed_form(void **state)
{
    (void)state;
    const double a = -0.7, x = 2, sd_a = 0.05, sd_x = 0.1, times[] = {0, 0.4, 1};
    kbass_posterior *p = growth("x", a, sd_a, x, sd_x);
    double mean[3], factor[6];
    kbass_error error;
    CHECK_OK(kb_spread(p, &p->models[0], 3, times, NULL, mean, factor, &error));
    for (size_t i = 0; i < 3; i++) {
        double t = times[i];
        CHECK_CLOSE(mean[i], x * exp(a * t), 1e-8);                  /* the integrator's 1e-10, with room */
        CHECK_CLOSE(factor[2 * i], sd_a * t * x * exp(a * t), 1e-6); /* differences: (0.1 sd t)^2 / 6 of it */
        CHECK_CLOSE(factor[2 * i + 1], sd_x * exp(a * t), 1e-7);     /* linear: rounding only */
    }
    kbass_posterior_destroy(p);
}

/* x(2) = x(1) exp(a) with (a, x(1)) Gaussian: E = exp(a + s^2/2) (x1 + c), c = cov(a, x1), s = sd(a) */
static void moments_of_draws_are_exact(void **state)
{
    (void)state;
    enum { DRAWS = 4000 };
    const double a = 0.5, sd_a = 0.2, sd_x = 0.1, until = 2;
    kbass_posterior *p = growth("x", a, sd_a, 1, sd_x);
    kbass_forecast_options options = {.n_draws = DRAWS, .seed = 3, .threads = 2};
    kbass_forecast *f = NULL;
    kbass_error error;
    double x1 = exp(a), covariance = sd_a * sd_a * exp(a), mean = NAN, median = NAN, half = 0.5;
    size_t reached = 0;
    CHECK_OK(kbass_posterior_forecast(p, &options, 1, &until, 0, NULL, &f, &error));
    CHECK_OK(kbass_forecast_summary(f, 1, &half, &mean, &median, &reached, &error));
    CHECK(reached == DRAWS && kbass_forecast_lost(f, NULL, NULL) == 0);
    double spread = x1 * exp(a) * sqrt(pow(2 * sd_a, 2) + sd_x * sd_x) * 1.2; /* of one draw, about */
    CHECK_CLOSE(mean, exp(a + sd_a * sd_a / 2) * (x1 + covariance),
                4 * spread / sqrt(DRAWS)); /* four standard errors */
    CHECK(median < mean);                  /* skewed to the right */
    kbass_forecast_destroy(f);
    kbass_posterior_destroy(p);
}

static void threads_do_not_matter_and_seeds_do(void **state)
{
    (void)state;
    kbass_posterior *p = growth("x", 0.5, 0.2, 1, 0.1);
    const double times[] = {1.5, 2};
    kbass_forecast *f[3];
    kbass_error error;
    for (size_t i = 0; i < 3; i++) {
        kbass_forecast_options options = {.n_draws = 20, .seed = i == 2 ? 8 : 7, .threads = i == 1 ? 3 : 1};
        CHECK_OK(kbass_posterior_forecast(p, &options, 2, times, 0, NULL, &f[i], &error));
    }
    for (size_t draw = 0; draw < 20; draw++) {
        CHECK(!memcmp(kbass_forecast_values(f[0], draw), kbass_forecast_values(f[1], draw), 2 * sizeof(double)));
        CHECK(kbass_forecast_values(f[0], draw)[1] != kbass_forecast_values(f[2], draw)[1]);
    }
    for (size_t i = 0; i < 3; i++) kbass_forecast_destroy(f[i]);
    kbass_posterior_destroy(p);
}

/* A caller whose struct ends before `boundary` has none, whatever lies behind it. */
static void test_options_of_an_older_header(void **state)
{
    (void)state;
    kbass_posterior *p = growth("x", 0.5, 0.2, 1, 0.1);
    const double until = 1.5, lost = NAN;
    kbass_forecast *f = NULL;
    kbass_error error;
    kbass_forecast_options options = {.n_draws = 5, .state = &lost};
    CHECK_FAILS(kbass_posterior_forecast(p, &options, 1, &until, 0, NULL, &f, &error), KBASS_ERROR_ARGUMENT, "");
    options.size = offsetof(kbass_forecast_options, state);
    CHECK_OK(kbass_posterior_forecast(p, &options, 1, &until, 0, NULL, &f, &error));
    kbass_forecast_destroy(f);
    kbass_posterior_destroy(p);
}

/* x_t = x^2 from x(1) = 1 has its pole at t = 2; from -1 it has none. */
static void poles_are_counted(void **state)
{
    (void)state;
    const double times[] = {1, 1.5, 2.5}, up = 1, down = -1, half = 0.5;
    kbass_posterior *p = growth("x^2", 1, 0.01, 0.5, 0.01);
    kbass_forecast_options options = {.n_draws = 50, .seed = 1, .state = &up};
    kbass_forecast *f = NULL;
    kbass_error error;
    double first = NAN, mean[3], median[3];
    size_t reached[3];
    CHECK_OK(kbass_posterior_forecast(p, &options, 3, times, 0, NULL, &f, &error));
    CHECK(kbass_forecast_lost(f, &first, NULL) == 50);
    CHECK_CLOSE(first, 2.5, 0); /* the first time asked for beyond the pole */
    CHECK_OK(kbass_forecast_summary(f, 1, &half, mean, median, reached, &error));
    CHECK(reached[0] == 50 && reached[1] == 50 && reached[2] == 0);
    CHECK_CLOSE(mean[0], 1, 0);      /* the given state, without spread */
    CHECK_CLOSE(median[1], 2, 0.05); /* 1 / (1 - 0.5 a), a = 1 +- 0.01 */
    CHECK(isnan(mean[2]));
    kbass_forecast_destroy(f);
    options.state = &down;
    CHECK_OK(kbass_posterior_forecast(p, &options, 3, times, 0, NULL, &f, &error));
    CHECK(kbass_forecast_lost(f, NULL, NULL) == 0);
    kbass_forecast_destroy(f);
    kbass_posterior_destroy(p);
}

static void bad_requests_are_refused(void **state)
{
    (void)state;
    const double early = 0.5, late = 2, lost = NAN, outside = -1, back[] = {2, 1.5};
    kbass_posterior *p = growth("log(x)", 1, 0.01, 1.5, 0.01);
    kbass_forecast_options options = {.n_draws = 5}, none = {.n_draws = 0}, bad = {.n_draws = 5, .state = &outside};
    kbass_forecast_options walls = {.n_draws = 5, .boundary = "neumann"}, nowhere = {.n_draws = 5, .state = &lost};
    kbass_forecast *f = NULL;
    kbass_error error;
    CHECK_FAILS(kbass_posterior_forecast(p, &none, 1, &late, 0, NULL, &f, &error), KBASS_ERROR_ARGUMENT,
                "found 0 draws");
    CHECK_FAILS(kbass_posterior_forecast(p, &options, 1, &early, 0, NULL, &f, &error), KBASS_ERROR_ARGUMENT,
                "where the record ends");
    CHECK_FAILS(kbass_posterior_forecast(p, &options, 1, &lost, 0, NULL, &f, &error), KBASS_ERROR_ARGUMENT, "nan");
    CHECK_FAILS(kbass_posterior_forecast(p, &options, 2, back, 0, NULL, &f, &error), KBASS_ERROR_ARGUMENT, "ascending");
    CHECK_FAILS(kbass_posterior_forecast(p, &bad, 1, &late, 0, NULL, &f, &error), KBASS_ERROR_ARGUMENT, "cannot start");
    CHECK_FAILS(kbass_posterior_forecast(p, &nowhere, 1, &late, 0, NULL, &f, &error), KBASS_ERROR_ARGUMENT, "nan");
    CHECK_FAILS(kbass_posterior_forecast(p, &walls, 1, &late, 0, NULL, &f, &error), KBASS_ERROR_ARGUMENT, "boundary");
    kbass_posterior_destroy(p);
}

/* ---------------------------------------------------------------- results of real runs */

typedef struct {
    kbass_data *data;
    kbass_discovery *discovery;
    kbass_posterior *posterior;
} run_of;

static run_of discover(kbass_data *data, const char *terms)
{
    run_of r = {.data = data};
    kbass_settings settings;
    kbass_error error;
    kb_settings_default(&settings);
    settings.terms = terms;
    settings.threads = 2;
    CHECK_OK(kbass_discovery_create(data, &settings, &r.discovery, &error));
    CHECK_OK(kbass_discovery_run(r.discovery, NULL, NULL, &error));
    CHECK_OK(kbass_discovery_posterior(r.discovery, 0, &r.posterior, &error));
    return r;
}

static void end(run_of *r)
{
    kbass_posterior_destroy(r->posterior);
    kbass_discovery_destroy(r->discovery);
    kbass_data_destroy(r->data);
}

/* A turning pair, x = cos t, y = -sin t, with noise. */
static run_of discover_turn(void)
{
    enum { N = 40 };
    static const char *const names[] = {"x", "y"};
    double times[N], values[2 * N];
    kbass_data *data = NULL;
    kbass_error error;
    for (size_t i = 0; i < N; i++) {
        times[i] = 0.2 * (double)i;
        values[2 * i] = cos(times[i]);
        values[2 * i + 1] = -sin(times[i]);
    }
    CHECK_OK(kbass_data_create(N, 2, times, values, NULL, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 5, 11, &error));
    return discover(data, "x, y");
}

/* u(t, x) on an even grid of n_t x n_x points. */
static run_of discover_field(size_t n_t, size_t n_x, double until, double width, double (*u)(double, double),
                             const char *terms)
{
    static const char *const axes[] = {"t", "x"}, *const names[] = {"u"};
    size_t n = n_t * n_x;
    double *times = KB_NEW(double, n), *positions = KB_NEW(double, n), *values = KB_NEW(double, n);
    kbass_data *data = NULL;
    kbass_error error;
    for (size_t i = 0; i < n; i++) {
        times[i] = until * (double)(i / n_x) / (double)(n_t - 1);
        positions[i] = width * (double)(i % n_x) / (double)(n_x - 1);
        values[i] = u(times[i], positions[i]);
    }
    CHECK_OK(kbass_data_create_axes(n, 2, 1, times, positions, values, axes, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 2, 4, &error));
    kb_free(times);
    kb_free(positions);
    kb_free(values);
    return discover(data, terms);
}

static double wave(double t, double x) { return exp(-t) * cos(x) + 0.5 * exp(-0.5 * t); }
static double rod(double t, double x)
{
    return 1 + exp(-M_PI * M_PI * t) * cos(M_PI * x) + 0.4 * exp(-4 * M_PI * M_PI * t) * cos(2 * M_PI * x);
}

/* One model's part of the band: squares += odds (sd^2 + (mean - chosen)^2); returns its odds. */
static double add_spread(const kbass_posterior *p, const kb_belief *b, size_t n, const double *times,
                         const double *positions, const double *chosen, double *squares)
{
    size_t size = kb_spread_size(p, b), values = n * p->n_states;
    double *mean = KB_NEW(double, values), *factor = KB_NEW(double, values *size), odds = exp(b->log_odds);
    kbass_error error;
    CHECK_OK(kb_spread(p, b, n, times, positions, mean, factor, &error));
    for (size_t i = 0; i < values; i++)
        squares[i] += odds * (kb_dot(size, factor + i * size, factor + i * size) + pow(mean[i] - chosen[i], 2));
    kb_free(mean);
    kb_free(factor);
    return odds;
}

/* sd of the models' spreads against that of the fits' own tangents */
static void check_bands(const run_of *r, size_t n, const double *times, const double *positions, double tolerance)
{
    const kbass_posterior *p = r->posterior;
    size_t values = n * p->n_states, size = kb_spread_size(p, &p->models[0]);
    double *mean = KB_NEW(double, values), *sd = KB_NEW(double, values), *found = KB_NEW(double, values);
    double *factor = KB_NEW(double, values *size), *squares = KB_NEW(double, values), total = 0;
    kbass_error error;
    if (positions) CHECK_OK(kbass_discovery_solution(r->discovery, 0, n, times, positions, mean, sd, &error));
    else CHECK_OK(kbass_discovery_solution(r->discovery, 0, n, times, NULL, mean, sd, &error));
    CHECK_OK(kb_spread(p, &p->models[0], n, times, positions, found, factor, &error));
    for (size_t m = 0; m < p->n_models; m++) total += add_spread(p, &p->models[m], n, times, positions, mean, squares);
    for (size_t i = 0; i < values; i++) {
        CHECK_CLOSE(found[i], mean[i], 0.01 * sd[i] + 1e-6); /* two integrators: far below the band */
        CHECK_CLOSE(sqrt(squares[i] / total), sd[i], tolerance * sd[i]);
    }
    kb_free(squares);
    kb_free(mean);
    kb_free(sd);
    kb_free(found);
    kb_free(factor);
}

static void spreads_are_the_bands_of_the_fit(void **state)
{
    (void)state;
    const double times[] = {0, 1.3, 4, 7.8}, field_times[] = {0, 0.3, 0.3, 1}, positions[] = {1, 0.5, 2, 3};
    run_of turn = discover_turn(), field = discover_field(10, 12, 1, 2 * M_PI, wave, "u, u_xx, 1");
    check_bands(&turn, 4, times, NULL, 0.01);             /* differences of a tenth of an sd: nonlinearity */
    check_bands(&field, 4, field_times, positions, 0.02); /* steps fall elsewhere; factor cut at 1e-6 */
    end(&turn);
    end(&field);
}

static void fields_go_on(void **state)
{
    (void)state;
    run_of r = discover_field(12, 16, 0.1, 1, rod, "u, u_xx");
    const double times[] = {0.1, 0.12, 0.2}, places[] = {0, 0.25, 0.5, 1}, shares[] = {0.005, 0.995};
    kbass_forecast_options options = {.n_draws = 100, .seed = 2, .boundary = "neumann", .threads = 2};
    kbass_forecast *f = NULL;
    kbass_error error;
    double mean[12], band[24];
    CHECK(!r.posterior->line.periodic);
    CHECK_OK(kbass_posterior_forecast(r.posterior, &options, 3, times, 4, places, &f, &error));
    CHECK_OK(kbass_forecast_summary(f, 2, shares, mean, band, NULL, &error));
    CHECK(kbass_forecast_lost(f, NULL, NULL) == 0);
    for (size_t i = 0; i < 12; i++) { /* no slope at the ends is true of this field */
        double truth = rod(times[i / 4], places[i % 4]), width = band[12 + i] - band[i];
        CHECK(width > 0 && width < 0.2);
        CHECK_CLOSE(mean[i], truth, 1.5 * width + 0.01); /* the 99 % band, and the half cell by which the wall is off */
    }
    kbass_forecast_destroy(f);
    options.boundary = "fitted";
    CHECK_FAILS(kbass_posterior_forecast(r.posterior, &options, 3, times, 4, places, &f, &error), KBASS_ERROR_ARGUMENT,
                "quarter");
    options.boundary = "periodic";
    CHECK_FAILS(kbass_posterior_forecast(r.posterior, &options, 3, times, 4, places, &f, &error), KBASS_ERROR_ARGUMENT,
                "not periodic");
    options.boundary = "open";
    CHECK_FAILS(kbass_posterior_forecast(r.posterior, &options, 3, times, 4, places, &f, &error), KBASS_ERROR_ARGUMENT,
                "\"open\"");
    const double outside = 1.5;
    CHECK_FAILS(kbass_posterior_forecast(r.posterior, &options, 3, times, 1, &outside, &f, &error),
                KBASS_ERROR_ARGUMENT, "domain");
    end(&r);
}

/* ---------------------------------------------------------------- draws of the solution */

/* x = x0 exp(a t): the second derivative is a^2 x, linearised like everything else. */
static void derivatives_of_draws_are_those_of_the_solution(void **state)
{
    (void)state;
    enum { DRAWS = 5 };
    const double a = -0.7, times[] = {0, 0.4, 1};
    kbass_posterior *p = growth("x", a, 0.05, 2, 0.1);
    double draws[3 * DRAWS], second[3 * DRAWS], exact[3 * DRAWS];
    kbass_error error;
    CHECK_OK(kbass_posterior_draws(p, 3, times, NULL, 0, 0, DRAWS, 9, draws, &error));
    CHECK_OK(kbass_posterior_draws(p, 3, times, NULL, 2, 0, DRAWS, 9, second, &error));
    for (size_t d = 0; d < DRAWS; d++) {
        double dx = draws[3 * d] - 2; /* of the start; then that of a, from the last value */
        double da = (draws[3 * d + 2] - (2 + dx) * exp(a)) / (2 * exp(a));
        for (size_t i = 0; i < 3; i++) { /* d/da of a^2 x0 e^{at} = (2 a + a^2 t) x0 e^{at} */
            double t = times[i];
            exact[3 * d + i] = exp(a * t) * (a * a * (2 + dx) + (2 * a + a * a * t) * 2 * da);
            CHECK_CLOSE(second[3 * d + i], exact[3 * d + i],
                        1e-3); /* 1e-9 of the integrator over the step squared, times the weights at the ends */
        }
    }
    CHECK_FAILS(kbass_posterior_draws(p, 3, times, NULL, 0, 1, 1, 1, draws, &error), KBASS_ERROR_ARGUMENT,
                "none in space");
    CHECK_FAILS(kbass_posterior_draws(p, 3, times, times, 0, 0, 1, 1, draws, &error), KBASS_ERROR_ARGUMENT,
                "positions");
    kbass_posterior_destroy(p);
}

static void draws_of_fields_obey_the_law(void **state)
{
    (void)state;
    enum { N = 3, DRAWS = 4 };
    run_of r = discover_field(10, 12, 1, 2 * M_PI, wave, "u_xx");
    const double times[N] = {0.2, 0.5, 0.9}, positions[N] = {1, 3, 5};
    double rate[N * DRAWS], curvature[N * DRAWS];
    kbass_error error;
    CHECK(r.posterior->models[0].n_terms == 1);
    double w = r.posterior->models[0].weight[0];
    CHECK_OK(kbass_posterior_draws(r.posterior, N, times, positions, 1, 0, DRAWS, 2, rate, &error));
    CHECK_OK(kbass_posterior_draws(r.posterior, N, times, positions, 0, 2, DRAWS, 2, curvature, &error));
    for (size_t i = 0; i < N * DRAWS; i++) /* u_t = w u_xx, up to the draw's own w, some per cent away, and the grid */
        CHECK_CLOSE(rate[i], w * curvature[i], 0.1);
    end(&r);
}

/* ---------------------------------------------------------------- what one more sample would tell */

static void gains_are_those_of_gaussians(void **state)
{
    (void)state;
    const double a = -0.7, times[] = {0, 0.5, 1};
    kbass_posterior *p = growth("x", a, 0.05, 2, 0.1);
    double models[3], weights[3];
    kbass_error error;
    CHECK_OK(kbass_posterior_gain(p, 3, times, NULL, models, weights, &error));
    for (size_t i = 0; i < 3; i++) {
        double t = times[i], by_a = 0.05 * t * 2 * exp(a * t), by_x = 0.1 * exp(a * t), noise = 0.1;
        double rest = by_x * by_x + noise * noise;
        CHECK_CLOSE(weights[i], 0.5 * log((by_a * by_a + rest) / rest), 1e-6); /* that of the differences */
        CHECK_CLOSE(models[i], 0, 0);                                          /* there is one model only */
    }
    kbass_posterior_destroy(p);
}

/* Two models that agree at t = 0 and are worlds apart later: all of log 2 can be learnt there, nothing at the start. */
static void gains_about_models_reach_their_entropy(void **state)
{
    (void)state;
    const double times[] = {0, 1};
    kbass_posterior *p = growth("x", -0.7, 1e-6, 2, 0.01), *other = growth("x", 1.5, 1e-6, 2, 0.01);
    kb_belief *both = KB_NEW(kb_belief, 2);
    double models[2], weights[2];
    kbass_error error;
    both[0] = p->models[0];
    both[1] = other->models[0];
    kb_free(p->models);
    p->models = both;
    p->n_models = 2;
    other->n_models = 0;
    CHECK_OK(kbass_posterior_gain(p, 2, times, NULL, models, weights, &error));
    CHECK_CLOSE(models[0], 0, 1e-9);      /* the same prediction */
    CHECK_CLOSE(models[1], log(2), 1e-6); /* 80 standard deviations apart */
    kbass_posterior_destroy(p);
    kbass_posterior_destroy(other);
}

/* ---------------------------------------------------------------- several runs */

static kbass_data *turn(double size, double from, double until, uint64_t seed)
{
    enum { N = 25 };
    static const char *const names[] = {"x", "y"};
    double times[N], values[2 * N];
    kbass_data *data = NULL;
    kbass_error error;
    for (size_t i = 0; i < N; i++) {
        times[i] = from + (until - from) * (double)i / (N - 1);
        values[2 * i] = size * cos(times[i]);
        values[2 * i + 1] = -size * sin(times[i]);
    }
    CHECK_OK(kbass_data_create(N, 2, times, values, NULL, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 2, seed, &error));
    return data;
}

/* Each of two runs goes on from its own end; within its record its spread is the band of the fit. */
static void runs_go_on_from_their_own_ends(void **state)
{
    (void)state;
    static const char *const names[] = {"small", "large"};
    const double sizes[] = {1, 3}, ends[] = {6, 5.5};
    kbass_data *parts[] = {turn(1, 0, 6, 1), turn(3, 2, 5.5, 2)}, *data = NULL;
    kbass_error error;
    CHECK_OK(kbass_data_join(2, (const kbass_data *const *)parts, names, &data, &error));
    run_of r = discover(data, "x, y");
    for (size_t run = 0; run < 2; run++) {
        const double times[] = {ends[run], ends[run] + 1}, within[] = {2.5, 4};
        kbass_forecast_options options = {.n_draws = 200, .seed = 2};
        kbass_posterior *p = NULL;
        kbass_forecast *f = NULL;
        double mean[4], fitted[4], sd[4], spread[4];
        CHECK_OK(kbass_discovery_posterior(r.discovery, run, &p, &error));
        CHECK_TEXT(p->run, names[run]);
        CHECK_OK(kbass_posterior_forecast(p, &options, 2, times, 0, NULL, &f, &error));
        CHECK_OK(kbass_forecast_summary(f, 0, NULL, mean, NULL, NULL, &error));
        for (size_t i = 0; i < 4; i++) {
            double truth = sizes[run] * (i % 2 ? -sin(times[i / 2]) : cos(times[i / 2]));
            CHECK_CLOSE(mean[i], truth, 0.1); /* 50 samples with 2 % of an sd near 2 as noise, one unit of time ahead */
        }
        CHECK_OK(kb_spread(p, &p->models[0], 2, within, NULL, spread, NULL, &error));
        CHECK_OK(kbass_discovery_solution(r.discovery, run, 2, within, NULL, fitted, sd, &error));
        for (size_t i = 0; i < 4; i++) CHECK_CLOSE(spread[i], fitted[i], 0.01 * sd[i] + 1e-6); /* two integrators */
        kbass_forecast_destroy(f);
        kbass_posterior_destroy(p);
    }
    for (size_t i = 0; i < 2; i++) kbass_data_destroy(parts[i]);
    end(&r);
}

/* ---------------------------------------------------------------- the file */

static char path[64];

static void save(json_t *root) { CHECK(json_dump_file(root, path, JSON_REAL_PRECISION(15)) == 0); }

static json_t *result_of(const run_of *r)
{
    char *text = NULL;
    kbass_error error;
    CHECK_OK(kbass_discovery_json(r->discovery, &text, &error));
    json_t *root = json_loads(text, 0, NULL);
    CHECK(root);
    kbass_free(text);
    return root;
}

static void files_keep_what_was_found(void **state)
{
    (void)state;
    run_of r = discover_turn();
    json_t *root = result_of(&r);
    kbass_posterior *p = NULL;
    kbass_error error;
    save(root);
    CHECK_OK(kbass_posterior_read(path, NULL, &p, &error));
    CHECK_OK(kbass_posterior_check_data(p, r.data, &error));
    CHECK(p->n_models == r.posterior->n_models && p->models[0].n_terms == 2 && p->n_start == 2);
    CHECK_CLOSE(kbass_posterior_probability(p, 0), kbass_posterior_probability(r.posterior, 0), 1e-12); /* 15 digits */
    const kb_stretch *found = &p->models[0].windows[0], *kept = &r.posterior->models[0].windows[0];
    for (size_t i = 0; i < 16; i++)
        CHECK_CLOSE(found->covariance[i], kept->covariance[i],
                    1e-12 * fabs(kept->covariance[i]) + 1e-18); /* 15 digits */
    kbass_data_add_noise(r.data, 1, 1, NULL);
    CHECK_FAILS(kbass_posterior_check_data(p, r.data, &error), KBASS_ERROR_DATA, "data.sha256");
    kbass_posterior_destroy(p);
    json_decref(root);
    end(&r);
}

/* A result is its file or its text, and messages do not repeat all of it. */
static void results_are_read_from_text(void **state)
{
    (void)state;
    run_of r = discover_turn();
    kbass_posterior *p = NULL;
    kbass_model *model = NULL;
    kbass_error error;
    char *json = NULL, *law = NULL;
    CHECK_OK(kbass_discovery_json(r.discovery, &json, &error));
    CHECK_OK(kbass_posterior_read(json, NULL, &p, &error));
    CHECK_OK(kbass_model_from_result(json, &model, &error));
    CHECK_OK(kbass_export(json, "csv", NULL, NULL, &law, &error));
    CHECK(p->n_models == r.posterior->n_models && kbass_model_states(model) == 2);
    kbass_model_destroy(model);
    kbass_posterior_destroy(p);
    kbass_free(law);
    json[strlen(json) / 2] = '\0';
    CHECK_FAILS(kbass_posterior_read(json, NULL, &p, &error), KBASS_ERROR_DATA, "the result:");
    CHECK_FAILS(kbass_model_from_result(json, &model, &error), KBASS_ERROR_DATA, "the result:");
    kbass_free(json);
    end(&r);
}

/* What lies at "posterior.models.0.weight": keys and numbers of items, and the last of them. */
static json_t *parent_of(json_t *at, const char *where, char *last, size_t size)
{
    const char *dot = strchr(where, '.');
    snprintf(last, size, "%.*s", dot ? (int)(dot - where) : (int)strlen(where), where);
    if (!dot) return at;
    json_t *next = json_is_array(at) ? json_array_get(at, (size_t)atoi(last)) : json_object_get(at, last);
    return parent_of(next, dot + 1, last, size);
}

static void refuse_edit(const json_t *good, const char *where, const char *value, const char *message)
{
    json_t *root = json_deep_copy(good), *item = json_loads(value, JSON_DECODE_ANY, NULL);
    char last[60];
    kbass_posterior *p = NULL;
    kbass_error error;
    json_t *parent = parent_of(root, where, last, sizeof last);
    CHECK(parent && item);
    if (json_is_array(parent)) json_array_set_new(parent, (size_t)atoi(last), item);
    else json_object_set_new(parent, last, item);
    save(root);
    CHECK_FAILS(kbass_posterior_read(path, NULL, &p, &error), KBASS_ERROR_DATA, message);
    json_decref(root);
}

static void touched_files_are_refused(void **state)
{
    (void)state;
    static const char *const edits[][3] = {
        {"format", "\"result\"", "\"format\""},
        {"format_version", "7", "\"format_version\" is 7, this program reads 1"},
        {"format_version", "null", "\"format_version\" is missing"},
        {"data.sha256", "\"abc\"", "\"data.sha256\""},
        {"data.states", "[\"x\", \"x\"]", "\"data.states\" has \"x\" twice"},
        {"data.states", "[]", "\"data.states\""},
        {"data.last_time", "9", "\"data.last_time\""},
        {"data.span.t", "[3, 1]", "\"data.span.t\" does not ascend"},
        {"posterior", "null", "\"posterior\" is missing or null"},
        {"posterior.grid", "{}", "\"posterior.grid\""},
        {"posterior.models", "[]", "\"posterior.models\""},
        {"posterior.models.0.log_odds", "-1", "\"posterior.models[0].log_odds\""},
        {"posterior.models.0.noise.0", "-1", "\"posterior.models[0].noise[0]\" is -1"},
        {"posterior.models.0.noise", "[1]", "has 1 items, needed 2"},
        {"posterior.models.0.terms.0.term", "\"z^2\"", "\"posterior.models[0].terms[0].term\" is \"z^2\""},
        {"posterior.models.0.terms.0.term", "\"y*1\"", "\"posterior.models[0].terms[0].term\""},
        {"posterior.models.0.terms.0.state", "\"z\"", "\"posterior.models[0].terms[0]\""},
        {"posterior.models.0.terms.0.weight", "\"1\"", "\"posterior.models[0].terms[0].weight\""},
        {"posterior.models.0.terms.0.weight", "3", "posterior.models[0] has 3"},
        {"equations.0.terms.0.weight", "3", "\"equations[0].terms[0]\" has the weight 3"},
        {"equations.0.terms.0.selected", "false", "\"equations\" selects 1"},
        {"posterior.models.0.windows.0.first", "1", "\"posterior.models[0].windows[0]\""},
        {"posterior.models.0.windows.0.last", "1", "\"posterior.models[0].windows[0]\" ends at 1"},
        {"posterior.models.0.windows.0.start", "[1, 2, 3]", "\"posterior.models[0].windows[0].start\" has 3 items"},
        {"posterior.models.0.windows.0.covariance", "[[1], [0, 1]]",
         "windows[0].covariance\" is missing or has not 4 rows"},
        {"posterior.models.0.windows.0.covariance.2", "[1, 2]", "covariance[2]\" has 2 items, needed 3"},
        {"posterior.models.0.windows.0.covariance.1.1", "null", "covariance[1][1]\" is missing"},
        {"posterior.models.0.windows.0.covariance.1.1", "-1", "is not positive semidefinite"},
        {"posterior.models.0.windows.0.covariance.1.0", "5", "is not positive semidefinite"}};
    run_of r = discover_turn();
    json_t *good = result_of(&r);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) refuse_edit(good, edits[i][0], edits[i][1], edits[i][2]);
    json_decref(good);
    end(&r);
}

/* Windows from the middle of the record on, with all rows in both as files had them. */
static void split_window(json_t *posterior)
{
    json_t *windows = json_object_get(json_array_get(json_object_get(posterior, "models"), 0), "windows");
    json_t *first = json_array_get(windows, 0), *second = json_deep_copy(first);
    double middle =
        0.5 * (json_number_value(json_object_get(first, "first")) + json_number_value(json_object_get(first, "last")));
    json_object_set_new(first, "last", json_real(middle));
    json_object_set_new(second, "first", json_real(middle));
    json_array_append_new(windows, second);
}

static size_t n_rows_of(json_t *posterior, size_t window)
{
    json_t *windows = json_object_get(json_array_get(json_object_get(posterior, "models"), 0), "windows");
    return json_array_size(json_object_get(json_array_get(windows, window), "covariance"));
}

static void weights_of_windows_stand_once(void **state)
{
    (void)state;
    run_of r = discover_turn();
    json_t *root = result_of(&r);
    kbass_posterior *p[2] = {NULL};
    kbass_error error;
    split_window(json_object_get(root, "posterior"));
    for (int i = 0; i < 2; i++) {
        save(root);
        CHECK_OK(kbass_posterior_read(path, NULL, &p[i], &error));
        CHECK(p[i]->models[0].n_windows == 2);
        json_object_set_new(root, "posterior", kb_report_posterior(p[i]));
        CHECK(n_rows_of(json_object_get(root, "posterior"), 0) == 4);
        CHECK(n_rows_of(json_object_get(root, "posterior"), 1) == 2); /* those of the start */
    }
    for (size_t window = 0; window < 2; window++)
        for (size_t i = 0; i < 16; i++) {
            double kept = p[0]->models[0].windows[window].covariance[i];
            CHECK_CLOSE(p[1]->models[0].windows[window].covariance[i], kept, 1e-12 * fabs(kept)); /* 15 digits */
        }
    p[0]->models[0].windows[1].covariance[0] *= 2; /* weights of its own */
    json_t *own = kb_report_posterior(p[0]);
    CHECK(n_rows_of(own, 1) == 4);
    json_decref(own);
    kbass_posterior_destroy(p[0]);
    kbass_posterior_destroy(p[1]);
    json_decref(root);
    end(&r);
}

static void cut_files_are_refused(void **state)
{
    (void)state;
    run_of r = discover_turn();
    char *text = NULL;
    kbass_posterior *p = NULL;
    kbass_error error;
    CHECK_OK(kbass_discovery_json(r.discovery, &text, &error));
    for (size_t length = strlen(text) - 3; length > 0; length -= length > 997 ? 997 : length) {
        FILE *file = fopen(path, "w");
        CHECK(file && fwrite(text, 1, length, file) == length && fclose(file) == 0);
        CHECK_FAILS(kbass_posterior_read(path, NULL, &p, &error), KBASS_ERROR_DATA, "not a whole result file");
    }
    unlink(path);
    CHECK_FAILS(kbass_posterior_read(path, NULL, &p, &error), KBASS_ERROR_FILE, path);
    kbass_free(text);
    end(&r);
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    kbass_posterior *p = growth("x", 0.5, 0.2, 1, 0.1);
    const double until = 1.5;
    kbass_forecast_options options = {.n_draws = 2, .threads = 1};
    kbass_forecast *f = NULL;
    kbass_error error;
    for (long n = 0; !f && n < 2000; n++) {
        kb_memory_fail_after(n);
        kbass_status status = kbass_posterior_forecast(p, &options, 1, &until, 0, NULL, &f, &error);
        kb_memory_fail_after(-1);
        CHECK(status == KBASS_ERROR_MEMORY || (status == KBASS_OK && f));
    }
    CHECK(f);
    kbass_forecast_destroy(f);
    kbass_posterior_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_of_an_older_header),
        cmocka_unit_test(factors_give_their_matrix_back),
        cmocka_unit_test(spread_is_that_of_the_closed_form),
        cmocka_unit_test(moments_of_draws_are_exact),
        cmocka_unit_test(threads_do_not_matter_and_seeds_do),
        cmocka_unit_test(poles_are_counted),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(spreads_are_the_bands_of_the_fit),
        cmocka_unit_test(fields_go_on),
        cmocka_unit_test(derivatives_of_draws_are_those_of_the_solution),
        cmocka_unit_test(draws_of_fields_obey_the_law),
        cmocka_unit_test(gains_are_those_of_gaussians),
        cmocka_unit_test(gains_about_models_reach_their_entropy),
        cmocka_unit_test(runs_go_on_from_their_own_ends),
        cmocka_unit_test(files_keep_what_was_found),
        cmocka_unit_test(results_are_read_from_text),
        cmocka_unit_test(touched_files_are_refused),
        cmocka_unit_test(weights_of_windows_stand_once),
        cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(lack_of_memory_is_an_error),
    };
    snprintf(path, sizeof path, "/tmp/kbass-test-forecast-%d.json", (int)getpid());
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failures;
}
