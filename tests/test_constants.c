/* Unknown constants inside terms: ranges and forms, the values that terms take, and laws found with them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "check.h"
#include "constants/stepwise.h"
#include "dictionary/constants.h"
#include "found.h"
#include "weights/columns.h"

static const char *const names[] = {"s", "x"};

static kbass_status make(const char *unknown, const char *terms, kb_dictionary **out, kbass_error *error)
{
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.unknown = unknown;
    settings.terms = terms;
    return kb_dictionary_create(&settings, 2, names, "t", out, error);
}

static void bad_ranges_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][3] = {{"K=20:1", "s/(K+s)", "reversed"},
                                           {"K=1:1", "s/(K+s)", "empty"},
                                           {"K=a:2", "s/(K+s)", "not two numbers"},
                                           {"K", "s/(K+s)", "needed a name and a range"},
                                           {"s=1:2", "s", "name of a state"},
                                           {"K=1:2, K=2:3", "s/(K+s)", "twice"},
                                           {"K=1:2, L=1:2", "s/(K+s)", "no term names the constant L"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kbass_error error;
        kb_dictionary *d = NULL;
        CHECK_FAILS(make(cases[i][0], cases[i][1], &d, &error), KBASS_ERROR_ARGUMENT, cases[i][2]);
    }
}

/* By the name of the constant, not by the number in its place. */
static void what_is_not_finite_is_told(void **state)
{
    (void)state;
    kbass_error error;
    kb_dictionary *d = NULL;
    kbass_data *data = NULL;
    const double times[] = {0, 1}, values[] = {5, 1, 4, 1};
    CHECK_OK(make("K=0.25:4", "s, log(K-s)", &d, &error));
    CHECK_OK(kbass_data_create(2, 2, times, values, NULL, names, &data, &error));
    CHECK_FAILS(kb_columns_check_data(d, data, &error), KBASS_ERROR_DATA,
                "is not finite in the data at t = 0, where s = 5, K = 1");
    CHECK(strstr(error.message, "K") && !strstr(error.message, "log(1"));
    kbass_data_destroy(data);
    kb_dictionary_destroy(d);
}

/* Terms have values for names, the same as the formula's; K[*] gives each its own. */
static void forms_take_values(void **state)
{
    (void)state;
    kbass_error error;
    kb_dictionary *d = NULL;
    const double values[] = {2, 3}, point[3] = {1.5, 4, 0.5};
    double found[3], work[200];
    const size_t terms[] = {0, 1, 2};
    CHECK_OK(make("K=0.1:20, n=1:8", "s, s/(K+s), hill(s,K,n)", &d, &error));
    CHECK_TEXT(kb_dictionary_form(d, 1), "s/(s+K)");
    CHECK(!kb_dictionary_form(d, 0) && kb_dictionary_names_constant(d, 2, 1) && !kb_dictionary_names_constant(d, 1, 1));
    CHECK_OK(kb_dictionary_set_constants(d, values, &error));
    CHECK_TEXT(kb_dictionary_name(d, 1), "s/(2+s)");
    kb_dictionary_at_point(d, 3, terms, point, found, NULL, work);
    CHECK_CLOSE(found[1], 1.5 / 3.5, 1e-15);                            /* rounding */
    CHECK_CLOSE(found[2], pow(1.5, 3) / (8 + pow(1.5, 3)), 1e-15);      /* rounding */
    CHECK_CLOSE(kb_constant_at(&d->constants[0], 0.5), sqrt(2), 1e-14); /* logarithmic: sqrt(0.1 * 20) */
    CHECK_CLOSE(kb_constant_share(&d->constants[0], kb_constant_at(&d->constants[0], 0.3)), 0.3, 1e-14);
    kb_dictionary_destroy(d);
    CHECK_OK(make("K=0.1:20", "s/(K[*]+s), x/(K[*]+x)", &d, &error));
    CHECK(d->n_constants == 3 && d->constants[0].is_pattern);
    CHECK_TEXT(kb_dictionary_form(d, 0), "s/(s+K1)");
    CHECK_TEXT(kb_dictionary_form(d, 1), "x/(x+K2)");
    kb_dictionary_destroy(d);
}

static void powers_of_what_passes_zero(void **state)
{
    (void)state;
    kbass_error error;
    kb_dictionary *d = NULL;
    size_t n = 0;
    const bool passes[] = {true, false};
    CHECK_OK(make("K=0.1:20, n=1:8", "hill(s,K,n), x^n", &d, &error));
    CHECK_OK(kb_dictionary_guard_powers(d, passes, &n, &error));
    CHECK(n == 1);
    CHECK(strstr(kb_dictionary_form(d, 0), "max(0,s)^n"));
    CHECK_TEXT(kb_dictionary_form(d, 1), "x^n");
    kb_dictionary_destroy(d);
}

static const char *wanted_family, *wanted_explain, *wanted_constraint;
static uint64_t noise_seed = 3;

static kbass_discovery *discover_unknown(const char *const *equations, size_t n, const double *start, double until,
                                         size_t rows, const char *unknown, const char *terms)
{
    kbass_error error;
    kbass_model *model = NULL;
    kbass_data *data = NULL;
    kbass_discovery *d = NULL;
    kbass_settings settings;
    double times[100], states[200];
    CHECK_OK(kbass_model_parse(n, equations, NULL, &model, &error));
    for (size_t i = 0; i < rows; i++) times[i] = until * (double)i / (double)(rows - 1);
    CHECK_OK(kbass_model_integrate(model, 0, start, rows, times, states, &error));
    const char *columns[2] = {kbass_model_state_name(model, 0), n > 1 ? kbass_model_state_name(model, 1) : NULL};
    CHECK_OK(kbass_data_create(rows, n, times, states, NULL, columns, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 2, noise_seed, &error));
    kb_settings_default(&settings);
    settings.threads = 2;
    settings.unknown = unknown;
    settings.constraint = wanted_constraint;
    settings.terms = terms;
    settings.family = wanted_family;
    settings.explain = wanted_explain;
    CHECK_OK(kbass_discovery_create(data, &settings, &d, &error));
    CHECK_OK(kbass_discovery_run(d, NULL, NULL, &error));
    kbass_data_destroy(data);
    kbass_model_destroy(model);
    return d;
}

static bool selects(const kbass_result *result, size_t equation, size_t n, const char *const *faces)
{
    size_t selected = 0, found = 0;
    for (size_t i = 0; i < result->equations[equation].n_terms; i++) {
        const kbass_term *term = &result->equations[equation].terms[i];
        if (!term->selected) continue;
        selected++;
        for (size_t k = 0; k < n; k++) found += !strcmp(term->form ? term->form : term->term, faces[k]);
    }
    return selected == n && found == n;
}

/* Monod's growth: the constant with its interval, and the law exactly. */
static void growth_that_saturates(void **state)
{
    (void)state;
    static const char *const law[] = {"s_t = -1.2*s*x/(2.3+s)", "x_t = 0.8*s*x/(2.3+s) - 0.1*x"};
    static const char *const uptake[] = {"s*x/(s+K)"}, *const growth[] = {"x", "s*x/(s+K)"};
    kbass_discovery *d =
        discover_unknown(law, 2, (double[]){8, 0.5}, 12, 30, "K=0.1:20", "s, x, s*x, s*x/(K+s), s^2, x^2, s/(K+s)");
    const kbass_result *result = kbass_discovery_result(d);
    CHECK(selects(result, 0, 1, uptake) && selects(result, 1, 2, growth));
    CHECK(result->n_constants == 1 && result->constants[0].is_used);
    CHECK_CLOSE(result->constants[0].value, 2.3, 0.46); /* 20 %, the bar: its limit is 8 % */
    CHECK(result->constants[0].low < 2.3 && result->constants[0].high > 2.3);
    CHECK(result->constants[0].correlation && !result->constants[0].at_high);
    kbass_discovery_destroy(d);
}

enum { INHIBITED = 50 };

/* s_t = -w s/(K + s + s^2/Ki), its parameters' logarithms and the start. */
static void inhibited(const double *p, double *states)
{
    char text[200];
    const char *equation = text;
    double times[INHIBITED], start = p[3];
    kbass_error error;
    kbass_model *model = NULL;
    snprintf(text, sizeof text, "s_t = -%.17g*s/(%.17g+s+s^2/%.17g)", exp(p[0]), exp(p[1]), exp(p[2]));
    for (size_t i = 0; i < INHIBITED; i++) times[i] = 14 * (double)i / (INHIBITED - 1);
    CHECK_OK(kbass_model_parse(1, &equation, NULL, &model, &error));
    CHECK_OK(kbass_model_integrate(model, 0, &start, INHIBITED, times, states, &error));
    kbass_model_destroy(model);
}

/* Inhibition by the substrate: K, Ki and the weight trade against each other, their correlations are 0.97 and more. sds
   against (J'J)^{-1} v, J by differences. */
static void constants_along_a_ridge(void **state)
{
    (void)state;
    static const char *const law[] = {"s_t = -2*s/(0.5+s+s^2/3)"}, *const terms[] = {"s/(s+K+s^2/Ki)"};
    kbass_discovery *d = discover_unknown(law, 1, (double[]){10}, 14, INHIBITED, "K=0.05:10, Ki=0.1:50",
                                          "1, s, s^2, s^3, s/(K+s+s^2/Ki)");
    const kbass_result *result = kbass_discovery_result(d);
    const kbass_constant *K = &result->constants[0], *Ki = &result->constants[1];
    CHECK(selects(result, 0, 1, terms) && result->n_constants == 2);
    double p[4] = {0, log(K->value), log(Ki->value), 10}, up[INHIBITED], down[INHIBITED], J[4][INHIBITED], A[16];
    for (size_t i = 0; i < result->equations[0].n_terms; i++)
        if (result->equations[0].terms[i].selected) p[0] = log(-result->equations[0].terms[i].weight);
    for (size_t q = 0; q < 4; q++) {
        double h = 1e-4, kept = p[q];
        p[q] = kept + h, inhibited(p, up);
        p[q] = kept - h, inhibited(p, down);
        p[q] = kept;
        for (size_t i = 0; i < INHIBITED; i++) J[q][i] = (up[i] - down[i]) / (2 * h);
    }
    for (size_t q = 0; q < 16; q++) A[q] = kb_dot(INHIBITED, J[q / 4], J[q % 4]) / pow(result->noise[0], 2);
    CHECK(kb_cholesky(4, A, 4) && kb_cholesky_inverse(4, A, 4));
    CHECK_CLOSE(K->sd / K->value / sqrt(A[5]), 1, 0.12); /* L is no parabola over a standard deviation */
    CHECK_CLOSE(Ki->sd / Ki->value / sqrt(A[10]), 1, 0.12);
    CHECK_CLOSE(log(K->high / K->low) / (3.92 * sqrt(A[5])), 1, 0.2); /* whether it holds the truth is the noise's */
    kbass_discovery_destroy(d);
}

/* x = c (exp(-0.3 t) - exp(-0.7 t)) solves x_t = w exp(-k t) - r x with (k, r) either way round: both are told. */
static void constants_that_may_as_well_be_others(void **state)
{
    (void)state;
    static const char *const law[] = {"x_t = 3*exp(-0.7*t) - 0.3*x"};
    kbass_discovery *d = discover_unknown(law, 1, (double[]){0}, 12, 40, "k=0.05:10", "1, x, x^2, t, exp(-k*t)");
    const kbass_result *result = kbass_discovery_result(d);
    double other = 0, k = result->constants[0].value;
    for (size_t i = 0; i < result->n_warnings; i++) {
        const char *told = strstr(result->warnings[i], "may as well be ");
        if (told) other = strtod(told + strlen("may as well be "), NULL);
    }
    CHECK_CLOSE(fmin(k, other), 0.3, 0.03); /* 10 % for noise of 2 % */
    CHECK_CLOSE(fmax(k, other), 0.7, 0.07); /* likewise */
    kbass_discovery_destroy(d);
}

/* x/(K+x) without a constant term beside it: told that the law has one, K is another, and the fit at the old K worse.
 */
static void explained_laws_have_constants_of_their_own(void **state)
{
    (void)state;
    static const char *const law[] = {"s_t = -1.5*s/(0.8+s) + 0.3"};
    wanted_explain = "1";
    kbass_discovery *d = discover_unknown(law, 1, (double[]){5}, 8, 40, "K=0.05:20", "1, s, s/(K+s)");
    wanted_explain = NULL;
    const kbass_result *result = kbass_discovery_result(d);
    CHECK(result->n_explanations == 1 && result->explanations[0].is_fitted && !result->explanations[0].is_added);
    const kbass_weight_change *change = &result->explanations[0].changes[1];
    CHECK_TEXT(change->term, "s/(s+K)");
    CHECK(result->explanations[0].misfit_after < 0.035); /* 0.05 at the K of the law with it */
    kbass_discovery_destroy(d);
}

/* Many frequencies fit a little: the right one is found among them. */
/* What goes out of s comes into p. A tied pair of s had made up for a K that was off: both go together. */
static void laws_without_tied_terms(void **state)
{
    (void)state;
    static const char *const equations[] = {"s_t = -2*s/(0.7+s)", "p_t = 2*s/(0.7+s)"}, *const terms[] = {"s/(s+K)"};
    const double start[] = {5, 0.5};
    wanted_constraint = "s_t + p_t = 0";
    noise_seed = 5;
    kbass_discovery *d = discover_unknown(equations, 2, start, 5, 30, "K=0.05:20", "1, s, p, s^2, s*p, s/(K+s)");
    wanted_constraint = NULL;
    noise_seed = 3;
    const kbass_result *result = kbass_discovery_result(d);
    CHECK(selects(result, 0, 1, terms) && selects(result, 1, 1, terms));
    CHECK(result->law.verdict == KBASS_LAW_FOUND);
    CHECK(result->constants[0].low < 0.7 && result->constants[0].high > 0.7);
    kbass_discovery_destroy(d);
}

static void a_frequency(void **state)
{
    (void)state;
    static const char *const law[] = {"x_t = 1.5*sin(2.2*t) - 0.4*x"}, *const terms[] = {"x", "sin(t*w)"};
    kbass_discovery *d = discover_unknown(law, 1, (double[]){1}, 20, 60, "w=0.1:10", "x, x^2, x^3, sin(w*t), cos(w*t)");
    const kbass_result *result = kbass_discovery_result(d);
    CHECK(selects(result, 0, 2, terms));
    CHECK_CLOSE(result->constants[0].value, 2.2, 0.022); /* 1 %, the bar */
    kbass_discovery_destroy(d);
}

/* --family: Monod's growth again, nothing named; ranges come from the data. */
static void families(void **state)
{
    (void)state;
    static const char *const law[] = {"s_t = -1.2*s*x/(2.3+s)", "x_t = 0.8*s*x/(2.3+s) - 0.1*x"};
    static const char *const uptake[] = {"s*x/(s+K1)"}, *const growth[] = {"x", "s*x/(s+K1)"};
    wanted_family = "saturating";
    kbass_discovery *d = discover_unknown(law, 2, (double[]){8, 0.5}, 12, 30, NULL, NULL);
    wanted_family = NULL;
    const kbass_result *result = kbass_discovery_result(d);
    CHECK(kbass_discovery_candidates(d) == 10 + 8); /* degree 3 with the constant, four terms of each state */
    CHECK(selects(result, 0, 1, uptake) && selects(result, 1, 2, growth));
    const kbass_constant *K = &result->constants[0];
    CHECK(K->is_used && K->low < 2.3 && K->high > 2.3);
    CHECK(K->range_low > 0.1 && K->range_low < 0.3 && K->range_high > 35 && K->range_high < 45); /* of 8 */
    kbass_discovery_destroy(d);
}

static void ranges_of_families(void **state)
{
    (void)state;
    kbass_error error;
    kb_dictionary *d = NULL;
    kbass_settings settings;
    const double lowest[] = {-3, -0.1}, highest[] = {3, 5};
    const kb_measured_ranges measured = {lowest, highest, 10, 0.1};
    kb_settings_default(&settings);
    settings.degree = 1;
    settings.family = "periodic, saturating";
    CHECK_OK(kb_dictionary_create(&settings, 2, names, "t", &d, &error));
    CHECK(d->n_terms == 2 + 2 + 8 && d->n_constants == 1 + 8);
    CHECK_OK(kb_dictionary_set_family_ranges(d, &measured, &error));
    CHECK_CLOSE(d->constants[0].low, M_PI / 10, 1e-12);
    CHECK_CLOSE(d->constants[0].high, 0.8 * M_PI / 0.1, 1e-12);
    CHECK_TEXT(kb_dictionary_form(d, 4), "s*x/(s+K1)");
    CHECK(d->roles[4] == KB_ABSENT && d->constants[1].is_pattern); /* s passes -K */
    CHECK_TEXT(kb_dictionary_form(d, 6), "s^2*x/(s^2+K3^2)");
    CHECK(d->roles[6] == KB_CANDIDATE);
    CHECK_CLOSE(d->constants[5].low, 0.2, 1e-12); /* x reaches -0.1 */
    CHECK_CLOSE(d->constants[5].high, 25, 1e-12);
    kb_dictionary_destroy(d);
}

static void discover_at(double K, size_t n, const double *times, double *mean, double *sd, kbass_constant *found)
{
    static const char *const law[] = {"s_t = -1.2*s*x/(2.3+s)", "x_t = 0.8*s*x/(2.3+s) - 0.1*x"};
    char terms[100];
    kbass_error error;
    snprintf(terms, sizeof terms, K > 0 ? "x, s*x/(%.12g+s)" : "x, s*x/(K+s)", K);
    kbass_discovery *d = discover_unknown(law, 2, (double[]){8, 0.5}, 12, 30, K > 0 ? NULL : "K=0.1:20", terms);
    if (found) *found = kbass_discovery_result(d)->constants[0];
    CHECK_OK(kbass_discovery_solution(d, 0, n, times, NULL, mean, sd, &error));
    kbass_discovery_destroy(d);
}

/* var x = var(x | K) + (dx/dK)^2 var K: with K unknown, against three laws in which it is known. */
static void bands_know_of_constants(void **state)
{
    (void)state;
    enum { N = 7 };
    double times[N], mean[4][2 * N], sd[4][2 * N];
    kbass_constant K = {0};
    for (size_t i = 0; i < N; i++) times[i] = 2.0 * (double)i;
    discover_at(0, N, times, mean[0], sd[0], &K);
    discover_at(K.value, N, times, mean[1], sd[1], NULL);
    discover_at(K.value - K.sd, N, times, mean[2], sd[2], NULL);
    discover_at(K.value + K.sd, N, times, mean[3], sd[3], NULL);
    double widest = 1;
    for (size_t i = 0; i < 2 * N; i++) {
        double expected = hypot(sd[1][i], 0.5 * (mean[3][i] - mean[2][i]));
        CHECK_CLOSE(sd[0][i] / expected, 1, 0.05); /* differences over two standard deviations are not tangents */
        widest = fmax(widest, sd[0][i] / sd[1][i]);
    }
    CHECK(widest > 1.2);
}

/* What terms become beyond the ends of a constant's range. */
static void limits(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"s*x/(K+s)", "s*x", "x"}, {"s/(K+s)", "s", "1"}, {"s^2/(K^2+s^2)", "s^2", "1"}, {"exp(-K*t)", NULL, "1"},
        {"sin(K*t)", NULL, "t"},   {"x^K", NULL, NULL},   {"x/(1+K*s)", NULL, "x"},      {"hill(s,K,2.5)", NULL, "1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kbass_error error;
        kb_dictionary *d = NULL;
        char terms[100];
        snprintf(terms, sizeof terms, "%s", cases[i][0]);
        CHECK_OK(make("K=0.1:20", terms, &d, &error));
        for (int side = 0; side < 2; side++) {
            char *name = NULL;
            CHECK_OK(kb_dictionary_limit(d, 0, 0, side == 0, &name, &error));
            CHECK(!name == !cases[i][1 + side]);
            if (name) CHECK_TEXT(name, cases[i][1 + side]);
            kb_free(name);
        }
        kb_dictionary_destroy(d);
    }
}

/* The best of all subsets, by trying each, where two columns pay only together. */
static void a_few_columns(void **state)
{
    (void)state;
    enum { ROWS = 40, N = 7 };
    double X[ROWS * N], y[ROWS], G[N * N], c[N], yy = 0, best = INFINITY;
    bool may[N];
    for (size_t i = 0; i < ROWS; i++) {
        double t = (double)i / ROWS;
        for (size_t j = 0; j < N; j++) X[i + j * ROWS] = sin((double)(j + 1) * 3 * t) + 0.1 * cos(17 * t * (double)j);
        y[i] = 3 * (X[i] - 0.99 * X[i + 3 * ROWS]) + X[i + 5 * ROWS] + 0.01 * cos(91 * t);
        yy += y[i] * y[i];
    }
    for (size_t j = 0; j < N; j++) {
        may[j] = j != 6;
        c[j] = 0;
        for (size_t i = 0; i < ROWS; i++) c[j] += X[i + j * ROWS] * y[i];
        for (size_t k = 0; k < N; k++) {
            G[k + j * N] = 0;
            for (size_t i = 0; i < ROWS; i++) G[k + j * N] += X[i + j * ROWS] * X[i + k * ROWS];
        }
    }
    const kb_stepwise problem = {.n_rows = ROWS, .n = N, .G = G, .c = c, .yy = yy, .floor = 1e-4, .may = may};
    for (unsigned subset = 0; subset < 1u << 6; subset++) {
        double A[36], w[6], rss = yy;
        size_t n = 0, column[6];
        for (size_t j = 0; j < 6; j++)
            if (subset >> j & 1) column[n++] = j;
        for (size_t j = 0; j < n; j++) {
            for (size_t i = 0; i < n; i++) A[i + j * n] = G[column[i] + column[j] * N];
            w[j] = c[column[j]];
        }
        if (n && !kb_cholesky(n, A, n)) continue;
        if (n) kb_cholesky_solve(n, 1, A, n, w, n);
        for (size_t j = 0; j < n; j++) rss -= w[j] * c[column[j]];
        best = fmin(best, ROWS * log(fmax(rss, 0) / ROWS + 1e-4) + 2.5 * (double)n * log(ROWS));
    }
    CHECK_CLOSE(kb_stepwise_score(&problem), best,
                0.05); /* its matrix is regularised by 1e-8, y has 1e6 times the floor */
}

/* A form that differs from its term by a factor would be told with a wrong weight. */
static void forms_that_are_terms(void **state)
{
    (void)state;
    kbass_error error;
    kb_dictionary *d = NULL;
    CHECK_OK(make("A=1:3", "s/(A+s), s*(s-A), A*x, s*(A-s)", &d, &error));
    CHECK(kb_dictionary_is_form(d, 0) && !kb_dictionary_is_form(d, 1) && !kb_dictionary_is_form(d, 2));
    kb_dictionary_destroy(d);
}

/* Nothing saturates: K goes to the far end of its range, and the law is told with the simpler term. */
static void the_simpler_term(void **state)
{
    (void)state;
    static const char *const law[] = {"s_t = -0.15*s*x", "x_t = 0.1*s*x - 0.1*x"};
    static const char *const uptake[] = {"s*x"}, *const growth[] = {"x", "s*x"};
    kbass_discovery *d = discover_unknown(law, 2, (double[]){8, 0.5}, 12, 30, "K=0.1:20", "x, s*x/(K+s), s/(K+s)");
    const kbass_result *result = kbass_discovery_result(d);
    CHECK(selects(result, 0, 1, uptake) && selects(result, 1, 2, growth));
    CHECK(!result->constants[0].is_used);
    CHECK(result->n_warnings && strstr(result->warnings[0], "where it becomes s*x"));
    kbass_discovery_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_ranges_are_refused),
        cmocka_unit_test(forms_take_values),
        cmocka_unit_test(what_is_not_finite_is_told),
        cmocka_unit_test(powers_of_what_passes_zero),
        cmocka_unit_test(growth_that_saturates),
        cmocka_unit_test(constants_along_a_ridge),
        cmocka_unit_test(constants_that_may_as_well_be_others),
        cmocka_unit_test(explained_laws_have_constants_of_their_own),
        cmocka_unit_test(laws_without_tied_terms),
        cmocka_unit_test(a_frequency),
        cmocka_unit_test(families),
        cmocka_unit_test(limits),
        cmocka_unit_test(a_few_columns),
        cmocka_unit_test(forms_that_are_terms),
        cmocka_unit_test(the_simpler_term),
        cmocka_unit_test(ranges_of_families),
        cmocka_unit_test(bands_know_of_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
