/* Many states: integrals along a field against closed forms, the search of a regression's columns against all subsets,
   moves from many columns and sweeps against evidences, and a wide system found. */
#include <math.h>

#include "found.h"
#include "ode_setup.h"
#include "weights/integral_form.h"
#include "weights/subset.h"
#include "weights/sweep.h"

/* ---------------------------------------------------------------- integrals */

/* x = t, y = t^2 on [0, 2]: int x = t^2/2, int y = t^3/3, int x y = t^4/4; a start for each half taken out. */
static void integrals_along_a_field(void **state)
{
    (void)state;
    enum { ROWS = 21, NODES = 401 };
    double times[ROWS], values[2 * ROWS], *points = KB_NEW(double, NODES * 3), *scaled = KB_NEW(double, NODES * 2);
    size_t start[] = {0, NODES};
    const char *names[] = {"x", "y"};
    kbass_settings settings;
    kb_dictionary *d = NULL;
    kbass_data *data = NULL;
    kb_record *record = NULL;
    kb_columns *columns = NULL;
    kb_integral_form *form = NULL;
    double squares[] = {1, 1};
    for (int i = 0; i < ROWS; i++) {
        times[i] = 0.1 * i;
        values[2 * i] = times[i];
        values[2 * i + 1] = times[i] * times[i];
    }
    for (int k = 0; k < NODES; k++) {
        double t = 2. * k / (NODES - 1);
        points[k] = t, points[k + NODES] = t * t, points[k + 2 * NODES] = t;
    }
    kb_settings_default(&settings);
    settings.terms = "x, y, x*y";
    CHECK_OK(kbass_data_create(ROWS, 2, times, values, NULL, names, &data, &error));
    CHECK_OK(kb_dictionary_create(&settings, 2, names, "t", &d, &error));
    CHECK_OK(kb_record_create(data, 0, &record, &error));
    CHECK_OK(kb_columns_create(d, record->sd, record->span, NODES, points, squares, &columns, &error));
    kb_field_points field = {NODES, start, points, scaled};
    CHECK_OK(kb_integral_form_create(record, d, columns, &field, &form, &error));
    kb_integral_form_divide(form, 2);
    CHECK_CLOSE(form->n_counted, ROWS - 2, 0);
    for (size_t term = 0; term < 3; term++) {
        double sum[2] = {0, 0}, mean = 0;
        for (int i = 0; i < ROWS; i++) {
            double t = times[i], exact = pow(t, (double)term + 2) / ((double)term + 2) / record->span;
            double found = form->sums[i + term * ROWS] * columns->scale[term];
            CHECK_CLOSE(found, exact, 2e-5); /* trapezoids of 0.005: h^2/12 t f' */
            sum[i >= ROWS / 2] += form->X[i + term * ROWS];
        }
        CHECK_CLOSE(sum[0], 0, 1e-12);
        CHECK_CLOSE(sum[1], 0, 1e-12);
        for (int i = 0; i < ROWS / 2; i++) mean += form->sums[i + term * ROWS] / (ROWS / 2);
        CHECK_CLOSE(form->X[term * ROWS], form->sums[term * ROWS] - mean, 1e-12);
    }
    kb_integral_form_destroy(form);
    kb_columns_destroy(columns);
    kb_record_destroy(record);
    kb_dictionary_destroy(d);
    kbass_data_destroy(data);
    kb_free(points);
    kb_free(scaled);
}

/* ---------------------------------------------------------------- subsets */

enum { COLUMNS = 10, ROWS = 60 };

typedef struct {
    kb_columns columns;
    size_t equation[COLUMNS], term[COLUMNS];
    double log_odds[COLUMNS], slab[COLUMNS], X[ROWS * COLUMNS], y[ROWS];
    bool required[COLUMNS];
} regression;

/* Random walks, which are all alike, of which three make y. */
static void make_regression(regression *r, uint64_t seed)
{
    kb_random random;
    *r = (regression){0};
    r->columns = (kb_columns){.n = COLUMNS,
                              .equation = r->equation,
                              .term = r->term,
                              .log_odds = r->log_odds,
                              .slab = r->slab,
                              .required = r->required};
    kb_random_seed(&random, seed);
    for (size_t j = 0; j < COLUMNS; j++) {
        double x = 0;
        r->term[j] = j;
        r->log_odds[j] = -2;
        r->slab[j] = 25;
        for (size_t i = 0; i < ROWS; i++) {
            r->X[i + j * ROWS] = x += 0.3 * kb_random_normal(&random);
            r->y[i] += j == 2 || j == 5 || j == 9 ? (j == 5 ? -1 : 1) * x : 0;
        }
    }
    for (size_t i = 0; i < ROWS; i++) r->y[i] += 0.05 * kb_random_normal(&random);
}

/* No subset of all 1023 has more evidence than the one that is found. */
static void subsets(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        regression r;
        kb_subset *s = NULL;
        size_t found_columns[COLUMNS], columns[COLUMNS];
        kb_support found = {0, found_columns}, trial = {0, columns};
        make_regression(&r, seed);
        CHECK_OK(kb_subset_create(&r.columns, 0, COLUMNS, &s, &error));
        kb_subset_set(s, ROWS, r.X, r.term, r.y, ROWS);
        double best = kb_subset_search(s, &found), most = -INFINITY;
        for (unsigned bits = 1; bits < 1u << COLUMNS; bits++) {
            trial.n = 0;
            for (size_t j = 0; j < COLUMNS; j++)
                if (bits >> j & 1) columns[trial.n++] = j;
            most = fmax(most, kb_subset_evidence(s, &trial));
        }
        CHECK_CLOSE(best, most, 0.05); /* the noise of either is settled to 2 % */
        CHECK(kb_support_has(&found, 2) && kb_support_has(&found, 5) && kb_support_has(&found, 9));
        kb_subset_destroy(s);
    }
}

/* ---------------------------------------------------------------- moves from many columns */

/* Each move's gain is the difference of two evidences, whichever way it was computed. */
static void moves_from_many_columns(void **state)
{
    (void)state;
    enum { N = 60, K = 40, MOST = 400 };
    static kb_move moves[MOST];
    double *work = KB_NEW(double, kb_message_work(N)), slab[N], log_odds[N];
    size_t equation[N], columns[N], trial_columns[N];
    bool required[N] = {true};
    kb_columns c = {.n = N, .equation = equation, .log_odds = log_odds, .required = required, .slab = slab};
    kb_support support = {0, columns}, trial = {0, trial_columns};
    kb_message *m = NULL;
    kb_random random;
    kb_random_seed(&random, 5);
    CHECK_OK(kb_message_create(N, &m, &error));
    for (size_t j = 0; j < N; j++) {
        equation[j] = j / 20;
        slab[j] = 2, log_odds[j] = -1;
        if (j % 3) columns[support.n++] = j;
    }
    CHECK(support.n == K);
    for (int row = 0; row < 100; row++) {
        double x[N], y = kb_random_normal(&random);
        for (size_t j = 0; j < N; j++) x[j] = kb_random_normal(&random);
        for (size_t j = 0; j < N; j++) {
            m->b[j] += x[j] * (y + x[1]);
            for (size_t i = 0; i < N; i++) m->G[i + j * N] += x[i] * x[j];
        }
    }
    size_t n = kb_message_moves(m, &c, &support, true, MOST, moves, work);
    CHECK(n > 200);
    double own = kb_message_evidence(m, &c, &support, NULL, work);
    for (size_t i = 0; i < n; i++) {
        kb_support_copy(&support, &trial);
        kb_move_apply(&moves[i], &c, &trial);
        CHECK_CLOSE(kb_message_evidence(m, &c, &trial, NULL, work) - own, moves[i].gain, 1e-7); /* of 100 rows */
    }
    kb_message_destroy(m);
    kb_free(work);
}

/* A sweep ends at the best support of all where equations do not know of each other: the pairs of each. */
static void sweeps(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        regression r;
        size_t columns[COLUMNS] = {0}, trial_columns[COLUMNS];
        kb_support support = {0, columns}, trial = {0, trial_columns};
        double work[4 * COLUMNS * COLUMNS + 10 * COLUMNS], most = -INFINITY;
        kb_message *m = NULL;
        bool changed = false;
        make_regression(&r, seed);
        CHECK_OK(kb_message_create(COLUMNS, &m, &error));
        for (size_t j = 0; j < COLUMNS; j++) {
            r.equation[j] = j / 5;
            m->b[j] = kb_dot(ROWS, r.X + j * ROWS, r.y) / 0.01;
            for (size_t i = 0; i < COLUMNS; i++)
                m->G[i + j * COLUMNS] = kb_dot(ROWS, r.X + i * ROWS, r.X + j * ROWS) / 0.01;
        }
        kb_support_add(&support, 0);
        kb_support_add(&support, 7);
        for (int round = 0; round < 4; round++) CHECK_OK(kb_message_sweep(m, &r.columns, &support, &changed, &error));
        CHECK(!changed);
        for (unsigned bits = 1; bits < 1u << COLUMNS; bits++) {
            if (!(bits & 31) || !(bits >> 5)) continue; /* an equation keeps a term */
            trial.n = 0;
            for (size_t j = 0; j < COLUMNS; j++)
                if (bits >> j & 1) trial_columns[trial.n++] = j;
            most = fmax(most, kb_message_evidence(m, &r.columns, &trial, NULL, work));
        }
        CHECK_CLOSE(kb_message_evidence(m, &r.columns, &support, NULL, work), most, 0.2); /* gains below 0.1 stay */
        kb_message_destroy(m);
    }
}

/* ---------------------------------------------------------------- discovery */

enum { SITES = 12 }; /* at most */

/* Lorenz 96 on a ring of n sites: every one of its equations, and nothing else. */
static void check_ring(int n)
{
    char text[SITES][80];
    const char *equations[SITES];
    char expected_text[4 * SITES][24];
    const char *expected[4 * SITES];
    double start[SITES];
    for (int i = 0; i < n; i++) {
        int next = (i + 1) % n + 1, before = (i + n - 1) % n + 1, second = (i + n - 2) % n + 1;
        snprintf(text[i], sizeof text[i], "x%d_t = 8 - x%d + x%d*x%d - x%d*x%d", i + 1, i + 1, before, next, before,
                 second);
        equations[i] = text[i];
        start[i] = 3 + 4 * sin(2.4 * i * i + 1);
        char *e[] = {expected_text[4 * i], expected_text[4 * i + 1], expected_text[4 * i + 2],
                     expected_text[4 * i + 3]};
        snprintf(e[0], 24, "x%d_t: 1", i + 1);
        snprintf(e[1], 24, "x%d_t: x%d", i + 1, i + 1);
        snprintf(e[2], 24, "x%d_t: x%d*x%d", i + 1, before < next ? before : next, before < next ? next : before);
        snprintf(e[3], 24, "x%d_t: x%d*x%d", i + 1, before < second ? before : second,
                 before < second ? second : before);
        for (int k = 0; k < 4; k++) expected[4 * i + k] = e[k];
    }
    kbass_settings settings;
    kbass_discovery *d = NULL;
    kbass_model *model = NULL;
    kbass_data *data = NULL;
    double times[80], states[80 * SITES];
    const char *names[SITES];
    CHECK_OK(kbass_model_parse((size_t)n, equations, NULL, &model, &error));
    for (int i = 0; i < 80; i++) times[i] = 1 + 3. * i / 79;
    CHECK_OK(kbass_model_integrate(model, 0, start, 80, times, states, &error));
    for (size_t i = 0; i < (size_t)n; i++) names[i] = kbass_model_state_name(model, i);
    CHECK_OK(kbass_data_create(80, (size_t)n, times, states, NULL, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 1, 7, &error));
    kb_settings_default(&settings);
    settings.degree = 2;
    settings.constant = 1;
    settings.threads = 2;
    CHECK_OK(kbass_discovery_create(data, &settings, &d, &error));
    CHECK_OK(kbass_discovery_run(d, NULL, NULL, &error));
    CHECK(has_support(kbass_discovery_result(d), 4 * (size_t)n, expected));
    kbass_discovery_destroy(d);
    kbass_data_destroy(data);
    kbass_model_destroy(model);
}

static void a_wide_system(void **state)
{
    (void)state;
    check_ring(SITES);
}

/* By the integral form, too; the kernel's proposals are not asked for. */
static void some_states(void **state)
{
    (void)state;
    check_ring(6);
}

/* ---------------------------------------------------------------- a slow manifold */

/* After a layer of 0.03 z follows x, and nine terms of z_t follow it to 0.03 %; three are the law. */
static void check_slow_manifold(size_t n_samples)
{
    const char *equations[] = {"x_t = -5*y - 5*z", "y_t = 5*x - y", "z_t = 1 + 5*x*z - 28.5*z"};
    const char *expected[] = {"x_t: y", "x_t: z", "y_t: x", "y_t: y", "z_t: 1", "z_t: z", "z_t: x*z"};
    const double start[] = {2.3, 1.1, 0.8};
    kbass_settings settings;
    kbass_discovery *d = NULL;
    kbass_data *data = setup_sample(3, equations, start, n_samples, 10);
    kb_settings_default(&settings);
    settings.threads = 1;
    CHECK_OK(kbass_discovery_create(data, &settings, &d, &error));
    CHECK_OK(kbass_discovery_run(d, NULL, NULL, &error));
    CHECK(has_support(kbass_discovery_result(d), 7, expected));
    kbass_discovery_destroy(d);
    kbass_data_destroy(data);
}

/* With 47 samples the law is the ninth of what is screened along a solution of four other terms. */
static void a_slow_manifold(void **state)
{
    (void)state;
    check_slow_manifold(54);
    check_slow_manifold(47);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(integrals_along_a_field), cmocka_unit_test(subsets),
                                       cmocka_unit_test(moves_from_many_columns), cmocka_unit_test(sweeps),
                                       cmocka_unit_test(a_wide_system),           cmocka_unit_test(some_states),
                                       cmocka_unit_test(a_slow_manifold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
