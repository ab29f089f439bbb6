/* Discovery of fields over several space axes and of second order in time, through the public header, on closed forms.
 */
#include "base/random.h"
#include "check.h"
#include "kbass/kbass.h"

enum { MOST_POINTS = 1200 };
static const double width = 6, last = 1;
static const char *const axes[] = {"t", "x", "y"}, *const names[] = {"u"};
static kbass_error error;

/* ---------------------------------------------------------------- what is measured */

typedef double truth(double t, double x, double y);

/* u_t = 0.4 u_xx + 0.4 u_yy - u_x: decaying waves, carried along x */
static double drift(double t, double x, double y)
{
    double k = 2 * M_PI / width, xi = k * (x - t), eta = k * y, rate = 0.4 * k * k;
    return 1 + exp(-rate * t) * (cos(xi) + sin(eta)) + exp(-2 * rate * t) * cos(xi - 1) * cos(eta) +
           0.5 * exp(-4 * rate * t) * sin(2 * xi);
}

/* u_tt = 4 u_xx: waves travelling both ways */
static double waves(double t, double x, double y)
{
    double k = 2 * M_PI / width;
    (void)y;
    return cos(k * (x - 2 * t)) + 0.6 * sin(2 * k * (x + 2 * t)) + 0.5 * cos(k * x) * sin(2 * k * t);
}

/* n_t x n_x (x n_y, unless that is 1) even points. */
static kbass_data *grid_of(truth *u, size_t n_t, size_t n_x, size_t n_y, double percent)
{
    double times[MOST_POINTS], positions[2 * MOST_POINTS], values[MOST_POINTS];
    size_t n = n_t * n_x * n_y, space = n_y > 1 ? 2 : 1;
    kbass_data *data = NULL;
    for (size_t i = 0; i < n; i++) {
        double x = width * (double)(i / n_y % n_x) / (double)(n_x - 1),
               y = n_y > 1 ? width * (double)(i % n_y) / (double)(n_y - 1) : 0;
        times[i] = last * (double)(i / (n_x * n_y)) / (double)(n_t - 1);
        positions[i * space] = x;
        if (space > 1) positions[i * space + 1] = y;
        values[i] = u(times[i], x, y);
    }
    CHECK_OK(kbass_data_create_axes(n, space + 1, 1, times, positions, values, axes, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, percent, 3, &error));
    return data;
}

/* Points by powers of a plastic number's inverse: scattered, but the same everywhere. */
static kbass_data *scatter_of(truth *u, size_t n, double percent)
{
    double times[MOST_POINTS], positions[2 * MOST_POINTS], values[MOST_POINTS];
    kbass_data *data = NULL;
    for (size_t i = 0; i < n; i++) {
        double x = width * fmod(0.7548776662466927 * (double)i, 1), y = width * fmod(0.5698402909980532 * (double)i, 1);
        times[i] = last * (double)i / (double)(n - 1);
        positions[2 * i] = x;
        positions[2 * i + 1] = y;
        values[i] = u(times[i], x, y);
    }
    CHECK_OK(kbass_data_create_axes(n, 3, 1, times, positions, values, axes, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, percent, 3, &error));
    return data;
}

/* ---------------------------------------------------------------- what is found */

static kbass_settings settings_of(int degree, int threads)
{
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.degree = degree;
    settings.derivatives = 2;
    settings.threads = threads;
    return settings;
}

static kbass_discovery *discover(const kbass_data *data, const kbass_settings *settings)
{
    kbass_discovery *discovery = NULL;
    CHECK_OK(kbass_discovery_create(data, settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    return discovery;
}

static size_t selected_terms(const kbass_discovery *discovery)
{
    const kbass_equation *equation = &kbass_discovery_result(discovery)->equations[0];
    size_t n = 0;
    for (size_t i = 0; i < equation->n_terms; i++) n += equation->terms[i].selected != 0;
    return n;
}

/* Exactly these terms, each weight within four of its standard deviations. */
static void check_law(const kbass_discovery *discovery, const char *lhs, size_t n, const char *const *terms,
                      const double *weights)
{
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(result->n_equations == 1);
    const kbass_equation *equation = &result->equations[0];
    CHECK_TEXT(equation->lhs, lhs);
    for (size_t i = 0; i < n; i++) {
        const kbass_term *term = find_term(equation, terms[i]);
        if (!term || !term->selected) fail_msg("%s was not found", terms[i]);
        CHECK_CLOSE(term->weight, weights[i], 4 * term->sd);
        CHECK_CLOSE(term->sd / fabs(weights[i]), 0, 0.15); /* these data say it to 15 % or better */
        CHECK(term->probability > 0.5);
    }
    CHECK(selected_terms(discovery) == n);
}

/* Share of 300 points where the truth lies within two standard deviations of the solution, which is closer than `slack`
   everywhere. */
static double covered(const kbass_discovery *discovery, truth *u, size_t space, double slack)
{
    enum { N = 300 };
    double times[N], positions[2 * N], mean[N], sd[N], inside = 0;
    for (size_t i = 0; i < N; i++) {
        times[i] = last * (double)i / (N - 1);
        for (size_t a = 0; a < space; a++) positions[i * space + a] = width * fmod((a ? 0.57 : 0.755) * (double)i, 1);
    }
    CHECK_OK(kbass_discovery_solution(discovery, 0, N, times, positions, mean, sd, &error));
    for (size_t i = 0; i < N; i++) {
        double miss = fabs(mean[i] - u(times[i], positions[i * space], space > 1 ? positions[i * space + 1] : 0));
        CHECK_CLOSE(miss, 0, slack); /* the caller's */
        CHECK(sd[i] > 0 && isfinite(sd[i]));
        inside += miss <= 2 * sd[i];
    }
    return inside / N;
}

static const char *const drift_terms[] = {"u_x", "u_xx", "u_yy"};
static const double drift_weights[] = {-1, 0.4, 0.4};

static void drift_in_the_plane(void **state)
{
    kbass_data *data = grid_of(drift, 9, 10, 10, 5);
    kbass_settings settings = settings_of(2, 2);
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_result *result = kbass_discovery_result(discovery);
    (void)state;
    check_law(discovery, "u_t", 3, drift_terms, drift_weights);
    CHECK(covered(discovery, drift, 2, 0.3) > 0.8); /* 95 % on average; errors are smooth, so they come together */
    CHECK_CLOSE(result->noise[0], 0.05, 0.01);      /* 5 % of an sd near 1; 900 values, some 200 of them spent */
    CHECK(result->outcome == KBASS_CONVERGED);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void scattered_points(void **state)
{
    kbass_data *data = scatter_of(drift, 700, 3);
    kbass_settings settings = settings_of(1, 2);
    kbass_discovery *discovery = discover(data, &settings);
    (void)state;
    check_law(discovery, "u_t", 3, drift_terms, drift_weights);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* n points at 3 % noise with these error bars and, behind them, `spoilt` ones that say nothing, and say so. */
static kbass_data *with_error_bars(size_t n, size_t spoilt)
{
    static const char *const columns[] = {"u", "s"};
    double times[MOST_POINTS], positions[2 * MOST_POINTS], values[2 * MOST_POINTS];
    kbass_data *clean = scatter_of(drift, n, 3), *data = NULL;
    kb_random random;
    kb_random_seed(&random, 4);
    for (size_t i = 0; i < n + spoilt; i++) {
        bool is_spoilt = i >= n;
        times[i] = is_spoilt ? last * kb_random_uniform(&random) : kbass_data_times(clean)[i];
        for (size_t a = 0; a < 2; a++)
            positions[2 * i + a] =
                is_spoilt ? width * kb_random_uniform(&random) : kbass_data_positions(clean)[2 * i + a];
        values[2 * i] = is_spoilt ? kb_random_normal(&random) : kbass_data_values(clean)[i];
        values[2 * i + 1] = is_spoilt ? 100 : 0.03;
    }
    CHECK_OK(kbass_data_create_axes(n + spoilt, 3, 2, times, positions, values, axes, columns, &data, &error));
    CHECK_OK(kbass_data_error_bars(data, "s", &error));
    kbass_data_destroy(clean);
    return data;
}

/* The fit with measurements of huge error bars is the fit without them. */
static void error_bars_weigh_the_measurements(void **state)
{
    kbass_settings settings = settings_of(1, 2);
    kbass_discovery *found[2];
    const kbass_term *terms[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        kbass_data *data = with_error_bars(600, i * 150);
        found[i] = discover(data, &settings);
        check_law(found[i], "u_t", 3, drift_terms, drift_weights);
        kbass_data_destroy(data);
    }
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < 2; i++)
            terms[i] = find_term(&kbass_discovery_result(found[i])->equations[0], drift_terms[k]);
        CHECK_CLOSE(terms[1]->weight, terms[0]->weight,
                    terms[0]->sd);                        /* the scales and length scales differ a little */
        CHECK_CLOSE(terms[1]->sd / terms[0]->sd, 1, 0.3); /* likewise */
    }
    for (size_t i = 0; i < 2; i++) kbass_discovery_destroy(found[i]);
}

/* Both axes close: what leaves at one end comes in at the other. */
static void drift_on_a_torus(void **state)
{
    enum { N = 12 };
    double times[2 * N], positions[4 * N], mean[2 * N], sd[2 * N];
    kbass_data *data = grid_of(drift, 9, 9, 9, 5);
    kbass_settings settings = settings_of(1, 2);
    settings.periodic = "x,y";
    kbass_discovery *discovery = discover(data, &settings);
    (void)state;
    check_law(discovery, "u_t", 3, drift_terms, drift_weights);
    for (size_t i = 0; i < 2 * N; i++) {
        times[i] = last * (double)(i / 2) / (N - 1);
        positions[2 * i] = i % 2 ? width : 0;
        positions[2 * i + 1] = width * (double)(i / 2) / (N - 1);
    }
    CHECK_OK(kbass_discovery_solution(discovery, 0, 2 * N, times, positions, mean, sd, &error));
    for (size_t i = 0; i < 2 * N; i += 2)
        CHECK_CLOSE(mean[i], mean[i + 1], 1e-9); /* rounding: one and the same place */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* u_t = 0.4 (u_xx + u_yy + u_zz) - u_x on 5 x 6 x 6 x 6 points */
static void drift_in_space(void **state)
{
    static const char *const in_space[] = {"t", "x", "y", "z"}, *const terms[] = {"u_x", "u_xx", "u_yy", "u_zz"};
    static const double weights[] = {-1, 0.4, 0.4, 0.4};
    enum { T = 5, X = 6, N = T * X * X * X };
    static double times[N], positions[3 * N], values[N];
    double k = 2 * M_PI / width;
    kbass_data *data = NULL;
    (void)state;
    for (size_t i = 0, rest = 0; i < N; i++) {
        times[i] = last * (double)(i / (X * X * X)) / (T - 1);
        rest = i;
        for (size_t a = 3; a-- > 0; rest /= X) positions[3 * i + a] = width * (double)(rest % X) / (X - 1);
        double z = positions[3 * i + 2], decay = exp(-0.4 * k * k * times[i]);
        double xi = k * (positions[3 * i] - times[i]), eta = k * positions[3 * i + 1];
        values[i] = decay * (cos(xi) + sin(eta) + cos(k * z)) +
                    decay * decay * (sin(eta) * sin(k * z) + cos(xi - 1) * cos(eta));
    }
    CHECK_OK(kbass_data_create_axes(N, 4, 1, times, positions, values, in_space, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 2, 3, &error));
    kbass_settings settings = settings_of(1, 2);
    settings.degree = settings.derivatives = 0;
    settings.terms = "u, u_x, u_y, u_z, u_xx, u_yy, u_zz, u*u_x";
    kbass_discovery *discovery = discover(data, &settings);
    check_law(discovery, "u_t", 4, terms, weights);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void second_order_in_time(void **state)
{
    static const char *const terms[] = {"u_xx"};
    static const double weights[] = {4};
    kbass_data *data = grid_of(waves, 16, 16, 1, 5);
    kbass_settings settings = settings_of(2, 2);
    settings.lhs = "u_tt";
    kbass_discovery *discovery = discover(data, &settings);
    (void)state;
    check_law(discovery, "u_tt", 1, terms, weights);
    CHECK(covered(discovery, waves, 1, 0.3) > 0.8); /* as above */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void threads_do_not_matter(void **state)
{
    kbass_data *data = grid_of(drift, 8, 8, 8, 5);
    kbass_settings settings = settings_of(1, 1);
    kbass_discovery *one = discover(data, &settings);
    settings.threads = 2;
    kbass_discovery *two = discover(data, &settings);
    const kbass_result *a = kbass_discovery_result(one), *b = kbass_discovery_result(two);
    (void)state;
    CHECK(a->equations[0].n_terms == b->equations[0].n_terms);
    for (size_t i = 0; i < a->equations[0].n_terms; i++) {
        const kbass_term *left = &a->equations[0].terms[i], *right = &b->equations[0].terms[i];
        CHECK_TEXT(left->term, right->term);
        CHECK_CLOSE(right->weight, left->weight, 1e-6 * fabs(left->weight)); /* BLAS in threads adds in another order */
        CHECK_CLOSE(right->probability, left->probability, 1e-5);            /* likewise, through the evidence */
    }
    kbass_discovery_destroy(one);
    kbass_discovery_destroy(two);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- several runs */

/* Profiles of one wavelength decay alike by u, u_xx + u_yy and others; those of two tell them apart. */
static double long_waves(double t, double x, double y)
{
    double k = 2 * M_PI / width;
    return exp(-0.4 * k * k * t) * (cos(k * (x - t)) + sin(k * y));
}

static double short_waves(double t, double x, double y)
{
    double k = 2 * M_PI / width, xi = k * (x - t);
    return exp(-0.8 * k * k * t) * sin(xi) * sin(k * y) + 0.6 * exp(-1.6 * k * k * t) * sin(2 * xi);
}

static kbass_data *join(kbass_data *first, kbass_data *second)
{
    static const char *const runs[] = {"long", "short"};
    const kbass_data *parts[] = {first, second};
    kbass_data *data = NULL;
    CHECK_OK(kbass_data_join(2, parts, runs, &data, &error));
    kbass_data_destroy(first);
    kbass_data_destroy(second);
    return data;
}

static void check_run(const kbass_discovery *discovery, size_t run, truth *u, double slack)
{
    enum { N = 60 };
    double times[N], positions[2 * N], mean[N], sd[N];
    for (size_t i = 0; i < N; i++) {
        times[i] = last * (double)i / (N - 1);
        for (size_t a = 0; a < 2; a++) positions[i * 2 + a] = width * fmod((a ? 0.57 : 0.755) * (double)i, 1);
    }
    CHECK_OK(kbass_discovery_solution(discovery, run, N, times, positions, mean, sd, &error));
    for (size_t i = 0; i < N; i++)
        CHECK_CLOSE(mean[i], u(times[i], positions[2 * i], positions[2 * i + 1]), slack); /* the caller's */
}

static void two_runs_in_the_plane_tell_what_neither_does(void **state)
{
    kbass_settings settings = settings_of(1, 2);
    truth *const each[] = {long_waves, short_waves};
    (void)state;
    settings.periodic = "none"; /* with closed axes one run is enough */
    for (size_t i = 0; i < 2; i++) {
        kbass_data *data = grid_of(each[i], 6, 8, 8, 5);
        kbass_discovery *alone = discover(data, &settings);
        const kbass_term *u = find_term(&kbass_discovery_result(alone)->equations[0], "u");
        CHECK(selected_terms(alone) < 3 || (u && u->selected)); /* not the law */
        kbass_discovery_destroy(alone);
        kbass_data_destroy(data);
    }
    kbass_data *data = join(grid_of(long_waves, 6, 8, 8, 5), grid_of(short_waves, 6, 8, 8, 5));
    kbass_discovery *together = discover(data, &settings);
    check_law(together, "u_t", 3, drift_terms, drift_weights);
    CHECK(kbass_discovery_result(together)->n_runs == 2);
    for (size_t i = 0; i < 2; i++) check_run(together, i, each[i], 0.15); /* noise of 0.05, 384 samples */
    kbass_discovery_destroy(together);
    kbass_data_destroy(data);
}

/* Two phases in the plane, 10 % noise: the law through the integrated equation, and its solution against the
 * solver's.
 */
static void phases_in_the_plane(void **state)
{
    enum { N = 40 };
    static const char *const law[] = {"u_t = 0.05*u_xx + 0.05*u_yy + u - u^3"}, *const terms[] = {"u", "u^3", "u_xx",
                                                                                                  "u_yy"};
    static const double weights[] = {1, -1, 0.05, 0.05};
    static const size_t counts[] = {12, 14, 14};
    double points[N * 3], times[N], places[N * 2], truth_there[N], mean[N], sd[N];
    kbass_settings settings = settings_of(3, 2);
    kbass_model *pde = NULL;
    kbass_data *data = NULL;
    (void)state;
    CHECK_OK(kbass_model_parse(1, law,
                               &(kbass_model_options){.domain = "x=0:2*pi, y=0:2*pi, t=0:3",
                                                      .initial = "0.3*sin(x)*cos(2*y) + 0.2*cos(x - y)"},
                               &pde, &error));
    CHECK_OK(kbass_model_grid(pde, counts, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 10, 1, &error));
    kbass_discovery *discovery = discover(data, &settings);
    check_law(discovery, "u_t", 4, terms, weights);
    for (size_t i = 0; i < N; i++) {
        points[3 * i] = times[i] = 3 * (double)i / (N - 1);
        points[3 * i + 1] = places[2 * i] = 2 * M_PI * fmod(0.755 * (double)i, 1);
        points[3 * i + 2] = places[2 * i + 1] = 2 * M_PI * fmod(0.57 * (double)i, 1);
    }
    CHECK_OK(kbass_model_sample(pde, N, points, truth_there, &error));
    CHECK_OK(kbass_discovery_solution(discovery, 0, N, times, places, mean, sd, &error));
    for (size_t i = 0; i < N; i++) CHECK_CLOSE(mean[i], truth_there[i], 4.5 * sd[i]); /* 40 draws of a normal */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
    kbass_model_destroy(pde);
}

static double waves_to_the_right(double t, double x, double y)
{
    (void)y;
    return cos(2 * M_PI / width * (x - 2 * t));
}

static double waves_to_the_left(double t, double x, double y)
{
    (void)y;
    return sin(4 * M_PI / width * (x + 2 * t));
}

static void two_runs_of_second_order(void **state)
{
    static const char *const terms[] = {"u_xx"};
    static const double weights[] = {4};
    kbass_data *data = join(grid_of(waves_to_the_right, 12, 12, 1, 5), grid_of(waves_to_the_left, 14, 14, 1, 5));
    kbass_settings settings = settings_of(2, 2);
    settings.lhs = "u_tt";
    kbass_discovery *discovery = discover(data, &settings);
    (void)state;
    check_law(discovery, "u_tt", 1, terms, weights);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* u_tt = 9 u_xx */
static double faster_waves(double t, double x, double y) { return waves(1.5 * t, x, y); }

/* The weight of u_xx in data of one speed, which are taken over. */
static double speed_of(kbass_data *data, const kbass_settings *settings)
{
    kbass_discovery *discovery = discover(data, settings);
    const kbass_result *r = kbass_discovery_result(discovery);
    double weight = NAN;
    for (size_t i = 0; i < r->equations[0].n_terms; i++)
        if (!strcmp(r->equations[0].terms[i].term, "u_xx")) weight = r->equations[0].terms[i].weight;
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
    return weight;
}

/* Each run's weight is what that run says alone: the patches share nothing else. */
static void weights_by_run_of_second_order(void **state)
{
    kbass_settings settings = settings_of(1, 2);
    settings.lhs = "u_tt";
    const double alone[] = {speed_of(grid_of(waves, 12, 12, 1, 3), &settings),
                            speed_of(grid_of(faster_waves, 12, 12, 1, 3), &settings)};
    kbass_data *data = join(grid_of(waves, 12, 12, 1, 3), grid_of(faster_waves, 12, 12, 1, 3));
    settings.vary = "u_xx";
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_result *r = kbass_discovery_result(discovery);
    (void)state;
    CHECK(r->n_varied == 1 && r->varied[0].n_runs == 2 && r->varied[0].log_odds > 10);
    for (size_t run = 0; run < 2; run++) { /* one sd: alone, other length scales and noise are found */
        CHECK_CLOSE(r->varied[0].weights[run], alone[run], r->varied[0].sds[run]);
        CHECK_CLOSE(r->varied[0].weights[run], run ? 9 : 4, 3 * r->varied[0].sds[run]);
    }
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- what the law leaves */

static void check_missing(kbass_data *data, const kbass_settings *settings, const char *term)
{
    kbass_discovery *discovery = discover(data, settings);
    const kbass_result *r = kbass_discovery_result(discovery);
    CHECK(term ? r->n_missing > 0 : !r->n_missing && !r->n_misfits); /* by chance 1 record in 50 */
    if (term) CHECK_TEXT(r->missing[0].term, term);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void missing_terms_are_named(void **state)
{
    kbass_settings settings;
    (void)state;
    kb_settings_default(&settings);
    settings.threads = 2;
    for (int open = 0; open < 2; open++) {
        settings.periodic = open ? "none" : "x,y";
        settings.terms = "u_xx, u_yy, u";
        check_missing(grid_of(drift, 8, 9, 9, 2), &settings, "u_x");
        settings.terms = "u_x, u_xx, u_yy";
        check_missing(grid_of(drift, 8, 9, 9, 2), &settings, NULL);
    }
    settings.periodic = NULL;
    settings.lhs = "u_tt";
    settings.terms = "u_xx, u_x";
    check_missing(grid_of(waves, 12, 12, 1, 3), &settings, NULL);
}

/* ---------------------------------------------------------------- what is known */

static void roles_are_kept(void **state)
{
    kbass_data *data = grid_of(drift, 8, 8, 8, 5);
    kbass_settings settings = settings_of(1, 2);
    settings.require = "u";
    settings.forbid = "u_yy";
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_equation *equation = &kbass_discovery_result(discovery)->equations[0];
    const kbass_term *term = find_term(equation, "u");
    (void)state;
    CHECK(term && term->selected && term->probability == 1);
    CHECK(!find_term(equation, "u_yy"));
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void a_known_equation(void **state)
{
    kbass_data *data = grid_of(drift, 8, 8, 8, 5);
    kbass_settings settings = settings_of(1, 2);
    settings.fix = "u_t = 0.4*u_xx + 0.4*u_yy - u_x";
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_result *result = kbass_discovery_result(discovery);
    (void)state;
    CHECK(result->n_equations == 1 && result->equations[0].known && result->equations[0].n_terms == 3);
    CHECK(covered(discovery, drift, 2, 0.3) > 0.8); /* as above */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- stopping, and the field's door */

typedef struct {
    double fraction;
    int calls, most, searching; /* searching: calls before the polish */
    bool falls;
} watch;

static int look(const kbass_progress *progress, void *user)
{
    watch *w = user;
    w->falls = w->falls || !(progress->fraction >= w->fraction);
    w->fraction = progress->fraction;
    w->searching += strcmp(progress->stage, "polish") != 0;
    return ++w->calls > w->most;
}

static void runs_can_be_watched_and_stopped(void **state)
{
    kbass_data *data = grid_of(drift, 8, 8, 8, 5);
    kbass_settings settings = settings_of(1, 2);
    kbass_discovery *discovery = NULL;
    watch all = {.most = 1000000}, some = {0};
    (void)state;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, look, &all, &error));
    CHECK(!all.falls && all.fraction > 0.5 && all.fraction <= 1);
    some.most = all.searching * 3 / 4; /* there is a model by then */
    CHECK_OK(kbass_discovery_run(discovery, look, &some, &error));
    CHECK(kbass_discovery_result(discovery)->outcome == KBASS_CANCELLED);
    CHECK(some.calls == some.most + 1 && kbass_discovery_result(discovery)->n_equations == 1);
    kbass_discovery_destroy(discovery);
    settings.time_limit = 1e-6;
    discovery = discover(data, &settings);
    CHECK(kbass_discovery_result(discovery)->outcome == KBASS_TIME_LIMIT);
    CHECK(kbass_discovery_result(discovery)->n_equations <= 1); /* the rescue of a stopped run may have found one */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void fields_are_asked_for_within_the_record(void **state)
{
    kbass_data *data = grid_of(drift, 7, 7, 7, 5);
    kbass_settings settings = settings_of(1, 2);
    kbass_discovery *discovery = NULL;
    double times[] = {0.5, 0.6}, positions[] = {1, 2, 3, 7}, mean[2], sd[2];
    (void)state;
    settings.terms = "u_x, u_xx, u_yy";
    settings.degree = settings.derivatives = 0;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_FAILS(kbass_discovery_solution(discovery, 0, 2, times, positions, mean, sd, &error), KBASS_ERROR_ARGUMENT,
                "no run");
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    CHECK_FAILS(kbass_discovery_solution(discovery, 0, 2, times, positions, mean, sd, &error), KBASS_ERROR_ARGUMENT,
                "position 7");
    CHECK_FAILS(kbass_discovery_solution(discovery, 0, 2, times, NULL, mean, sd, &error), KBASS_ERROR_ARGUMENT,
                "over space");
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drift_in_the_plane),
        cmocka_unit_test(scattered_points),
        cmocka_unit_test(error_bars_weigh_the_measurements),
        cmocka_unit_test(drift_on_a_torus),
        cmocka_unit_test(drift_in_space),
        cmocka_unit_test(phases_in_the_plane),
        cmocka_unit_test(second_order_in_time),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(two_runs_in_the_plane_tell_what_neither_does),
        cmocka_unit_test(two_runs_of_second_order),
        cmocka_unit_test(weights_by_run_of_second_order),
        cmocka_unit_test(missing_terms_are_named),
        cmocka_unit_test(roles_are_kept),
        cmocka_unit_test(a_known_equation),
        cmocka_unit_test(runs_can_be_watched_and_stopped),
        cmocka_unit_test(fields_are_asked_for_within_the_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
