/* Is there a law? The rule on numbers by hand, the evidence of data without a law by a second road, and the verdict on
   data whose answer is known. */
#include <stdlib.h>

#include "answer/verdict.h"
#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "evidence/without_law.h"

static kbass_error error;

/* ---------------------------------------------------------------- the rule */

static kb_verdict_numbers numbers(double law, double field, double constant)
{
    return (kb_verdict_numbers){.law = law,
                                .chosen = 1,
                                .field = field,
                                .constant = constant,
                                .drift = constant - 1,
                                .noise = -INFINITY,
                                .is_sure = true,
                                .is_whole = true,
                                .is_white = true,
                                .noise_ratio = 0.9,
                                .values = 20,
                                .freedom = 12,
                                .explained = 0.95,
                                .change = 0.95};
}

/* The issue's own figures: law, bare field, constant. */
static void the_rule_follows_its_examples(void **state)
{
    (void)state;
    kb_verdict_numbers n = numbers(69.6, -9.1, -14.6);
    CHECK(kb_verdict(&n) == KBASS_LAW_FOUND);
    CHECK(kb_verdict_probability(&n) > 0.999);
    n = numbers(-11.9, -7.6, -14.6);
    CHECK(kb_verdict(&n) == KBASS_LAW_UNDECIDED);
    n = numbers(-20.9, -19.0, -18.4);
    CHECK(kb_verdict(&n) == KBASS_NOTHING_TO_EXPLAIN);
    n = numbers(-15.7, 3.3, -9.6);
    CHECK(kb_verdict(&n) == KBASS_LAW_UNDECIDED); /* growth and decay: no more noise than the field, and white */
    n.noise_ratio = 5;
    CHECK(kb_verdict(&n) == KBASS_LAW_NONE);
    n.noise_ratio = 0.9;
    n.is_white = false;
    CHECK(kb_verdict(&n) == KBASS_LAW_NONE);
    n.explained = n.change = 0.999;
    n.values = 1000;
    CHECK(kb_verdict(&n) == KBASS_LAW_APPROXIMATE);
}

/* Logistic growth: the curve leads by 6.4 nats, but leaves no less noise; a field that moves has no law without terms.
 */
static void the_field_leads_only_by_what_it_explains(void **state)
{
    (void)state;
    kb_verdict_numbers n = numbers(52.7, 59.1, -18.4);
    CHECK(kb_verdict(&n) == KBASS_LAW_FOUND);
    CHECK(kb_verdict_probability(&n) > 0.98);
    n.noise_ratio = 1.3;
    CHECK(kb_verdict(&n) == KBASS_LAW_UNDECIDED);
    CHECK(kb_verdict_probability(&n) < 0.03);
    n = numbers(52.7, 62.7, -18.4); /* odds of 400 */
    CHECK(kb_verdict(&n) == KBASS_LAW_UNDECIDED);
    n = numbers(69.6, -9.1, -14.6);
    n.is_improving = true;
    CHECK(kb_verdict(&n) == KBASS_LAW_UNDECIDED);
    n = numbers(169.8, 139.9, -47.4); /* a relay, told as a polynomial: it leads, but leaves more noise */
    n.noise_ratio = 1.54;
    n.values = 40;
    n.freedom = 25;
    CHECK(kb_verdict(&n) == KBASS_LAW_UNDECIDED);
    n.noise_ratio = 1.2;
    CHECK(kb_verdict(&n) == KBASS_LAW_FOUND);
    n.is_white = false;
    CHECK(kb_verdict(&n) == KBASS_LAW_UNDECIDED);
    n.values = 1000;
    n.explained = n.change = 0.999;
    CHECK(kb_verdict(&n) == KBASS_LAW_APPROXIMATE);
    n = numbers(-86, 33, -5);
    n.is_empty = true;
    CHECK(kb_verdict(&n) == KBASS_NOTHING_TO_EXPLAIN);
    CHECK(kb_verdict_probability(&n) < 1e-9);
    n.noise_ratio = 3.7;
    CHECK(kb_verdict(&n) == KBASS_LAW_NONE);
    n = numbers(-19.5, -4.8, -14.6); /* two smooth curves of ten samples: they change, though by no law without terms */
    n.is_empty = true;
    n.noise = -12.3;
    CHECK(kb_verdict(&n) == KBASS_LAW_UNDECIDED);
    n.field = -11.5;
    CHECK(kb_verdict(&n) == KBASS_NOTHING_TO_EXPLAIN);
}

/* Three states of 60 values that are noise: the field is white, too, and pays once for all states. */
static void a_field_that_is_noise_does_not_move(void **state)
{
    (void)state;
    kb_verdict_numbers n = numbers(-109.4, -94.7, -102.3);
    n.noise_ratio = 3.5;
    CHECK(kb_verdict(&n) == KBASS_LAW_NONE);
    n.noise = -94.1;
    CHECK(kb_verdict(&n) == KBASS_NOTHING_TO_EXPLAIN);
    n.field = -90;
    CHECK(kb_verdict(&n) == KBASS_LAW_NONE);
}

static void a_drift_is_a_law_where_the_dictionary_has_it(void **state)
{
    (void)state;
    kb_verdict_numbers n = numbers(10, 0, -5);
    n.drift = 12;
    CHECK(kb_verdict(&n) == KBASS_NOTHING_TO_EXPLAIN);
    n.drift_is_law = true;
    CHECK(kb_verdict(&n) == KBASS_LAW_FOUND);
    n.is_sure = false;
    CHECK(kb_verdict(&n) == KBASS_LAW_UNDECIDED);
    n.is_sure = true;
    n.is_whole = false;
    CHECK(kb_verdict(&n) == KBASS_LAW_UNDECIDED);
    n.is_empty = n.is_whole = true;
    CHECK(kb_verdict(&n) == KBASS_NOTHING_TO_EXPLAIN);
}

/* ---------------------------------------------------------------- evidence without a law */

enum { ROWS = 12 };

/* log p(y) one measurement after another: each given those before, by Gauss elimination of the joint covariance. */
static double sequential(size_t n, const double *t, const double *y, double length, double v)
{
    double a[ROWS][ROWS + 1], sum = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) a[i][j] = exp(-0.5 * pow((t[i] - t[j]) / length, 2)) + (i == j ? v : 0);
        a[i][n] = y[i];
    }
    for (size_t k = 0; k < n; k++) {
        sum -= 0.5 * (log(a[k][k]) + a[k][n] * a[k][n] / a[k][k]);
        for (size_t i = k + 1; i < n; i++) {
            double factor = a[i][k] / a[k][k];
            for (size_t j = k; j <= n; j++) a[i][j] -= factor * a[k][j];
        }
    }
    return sum;
}

static kb_dynamics dynamics_of(size_t n, size_t *starts, double *y, size_t *group, double *known)
{
    static double mean = 0, sd = 1;
    for (size_t i = 0; i <= n; i++) starts[i] = i;
    return (kb_dynamics){.n_rows = n,
                         .n_runs = 1,
                         .n_groups = 1,
                         .observation_start = starts,
                         .observed = y,
                         .group = group,
                         .mean = &mean,
                         .sd = &sd,
                         .known_variance = known,
                         .noise_floor = 1e-6};
}

static void the_bare_field_is_at_its_best(void **state)
{
    (void)state;
    size_t starts[ROWS + 1], group[ROWS] = {0};
    double t[ROWS], y[ROWS], known = 0, best = -INFINITY;
    kb_random random;
    kb_without_law found;
    kb_random_seed(&random, 3);
    for (size_t i = 0; i < ROWS; i++)
        t[i] = (double)i / (ROWS - 1), y[i] = sin(7 * t[i]) + 0.1 * kb_random_normal(&random);
    kb_dynamics d = dynamics_of(ROWS, starts, y, group, &known);
    CHECK_OK(kb_without_law_of_states(&d, t, KB_KERNEL_SE, 2, &found, &error));
    for (double length = 0.05; length <= 2; length *= 1.03)
        for (double v = 1e-6; v < 3; v *= 1.1) best = fmax(best, sequential(ROWS, t, y, length, v));
    CHECK_CLOSE(found.field, best - log(ROWS), 0.05); /* both are grids: half a step off costs so much */
    CHECK(found.field > found.drift && found.drift >= found.constant);
    CHECK_CLOSE(found.counts[0], ROWS, 0);
    kb_without_law_clear(&found);
}

static void constants_and_drifts_have_closed_forms(void **state)
{
    (void)state;
    size_t starts[ROWS + 1], group[ROWS] = {0};
    double t[ROWS], y[ROWS], known = 0, n = ROWS;
    kb_without_law found;
    for (size_t i = 0; i < ROWS; i++) t[i] = (double)i / (ROWS - 1), y[i] = 3 * t[i] + (i % 2 ? 0.1 : -0.1);
    kb_dynamics d = dynamics_of(ROWS, starts, y, group, &known);
    double mean = 0, tt = 0, ty = 0, constant = 0, drift = 0;
    for (size_t i = 0; i < ROWS; i++) mean += y[i] / n;
    for (size_t i = 0; i < ROWS; i++) tt += (t[i] - 0.5) * (t[i] - 0.5), ty += (t[i] - 0.5) * y[i];
    for (size_t i = 0; i < ROWS; i++) {
        constant += pow(y[i] - mean, 2);
        drift += pow(y[i] - mean - ty / tt * (t[i] - 0.5), 2);
    }
    CHECK_OK(kb_without_law_of_states(&d, t, KB_KERNEL_SE, 2, &found, &error));
    CHECK_CLOSE(found.constant, -0.5 * n * (log(constant / n) + 1) - log(n), 1e-9); /* rounding */
    CHECK_CLOSE(found.drift, -0.5 * n * (log(drift / n) + 1) - 1.5 * log(n), 1e-9);
    CHECK_CLOSE(found.noise, found.constant, 1e-9); /* one state and run: mean and noise, as length and noise */
    kb_without_law_clear(&found);
    known = 0.01;
    CHECK_OK(kb_without_law_of_states(&d, t, KB_KERNEL_SE, 2, &found, &error));
    CHECK_CLOSE(found.constant, -0.5 * n * log(known) - 0.5 * constant / known - 0.5 * log(n), 1e-7);
    CHECK_CLOSE(found.field_variance[0], known, 0);
    kb_without_law_clear(&found);
}

/* ---------------------------------------------------------------- whole answers */

static double given_back; /* nats: what states at rest pay beyond a constant's price, in the last answer */

static kbass_law_verdict verdict_of(size_t n, size_t n_states, const double *t, const double *u, const char *degree)
{
    static const char *const names[] = {"x", "y", "z"};
    kbass_data *data = NULL;
    kbass_settings *settings = NULL;
    kbass_discovery *discovery = NULL;
    CHECK_OK(kbass_settings_create(&settings, &error));
    CHECK_OK(kbass_settings_set(settings, "degree", degree, &error));
    CHECK_OK(kbass_data_create(n, n_states, t, u, NULL, names, &data, &error));
    CHECK_OK(kbass_discovery_create(data, settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    const kbass_result *result = kbass_discovery_result(discovery);
    kbass_law_verdict verdict = result->law.verdict;
    CHECK(result->law.reason && *result->law.reason);
    CHECK(result->law.probability >= 0 && result->law.probability <= 1);
    given_back = result->law.law - result->log_evidence;
    CHECK(n_states > 1 ? given_back >= 0 : given_back == 0);
    kbass_discovery_destroy(discovery);
    kbass_settings_destroy(settings);
    kbass_data_destroy(data);
    return verdict;
}

static void listed_cases_have_their_verdicts(void **state)
{
    (void)state;
    enum { N = 20 };
    double t[N], noise[N], decay[N], bump[N], logistic[N], turn[2 * N];
    kb_random random;
    kb_random_seed(&random, 11);
    for (size_t i = 0; i < N; i++) {
        t[i] = 0.3 * (double)i;
        noise[i] = kb_random_normal(&random);
        decay[i] = 3 * exp(-0.5 * t[i]) + 0.03 * kb_random_normal(&random);
        bump[i] = 75 * exp(-pow(t[i] - 2.5, 2)) + 0.5 * kb_random_normal(&random);
        logistic[i] = 1 / (1 + 9 * exp(-1.5 * t[i])) + 0.02 * kb_random_normal(&random);
        turn[2 * i] = cos(t[i]) + 0.02 * kb_random_normal(&random);
        turn[2 * i + 1] = -sin(t[i]) + 0.02 * kb_random_normal(&random);
    }
    CHECK(verdict_of(N, 2, t, turn, "2") == KBASS_LAW_FOUND);
    CHECK(verdict_of(N, 1, t, decay, "2") == KBASS_LAW_FOUND);
    CHECK(verdict_of(N, 1, t, noise, "1") == KBASS_NOTHING_TO_EXPLAIN);
    CHECK(verdict_of(N, 1, t, bump, "2") == KBASS_LAW_NONE); /* one measured curve of an epidemic */
    kbass_law_verdict growth = verdict_of(N, 1, t, logistic, "2");
    CHECK(growth == KBASS_LAW_FOUND || growth == KBASS_LAW_UNDECIDED);
}

/* Noise of several states was no law or undecided in five of eight draws: a field without length is noise, too. */
static void noise_of_three_states_is_nothing_to_explain(void **state)
{
    (void)state;
    enum { N = 40 };
    double t[N], noise[3 * N];
    kb_random random;
    kb_random_seed(&random, 1);
    for (size_t i = 0; i < 9 * N; i++) { /* the third draw is such a one */
        t[i / 3 % N] = 0.3 * (double)(i / 3 % N);
        noise[i % (3 * N)] = kb_random_normal(&random);
    }
    CHECK(verdict_of(N, 3, t, noise, "1") == KBASS_NOTHING_TO_EXPLAIN);
}

/* The caution is for what the data say of laws and of none, once, and not for each law: of 20 laws alike, all at 2 nats
   below the constant, P(law) was 0.86. */
static void many_laws_are_cautious_once(void **state)
{
    (void)state;
    kb_verdict_numbers n = numbers(-20, -30, -18);
    n.others = log(20);
    CHECK_CLOSE(kb_verdict_probability(&n),
                1 / (1 + pow(exp(2) / 20, 0.6) * (1 + exp(-0.6)) + exp(-0.6 * (10 + log(20)))), 1e-9);
    CHECK(kb_verdict(&n) == KBASS_NOTHING_TO_EXPLAIN);
    n.others = log(2000);
    CHECK(kb_verdict_probability(&n) > 0.9);
    CHECK(kb_verdict(&n) == KBASS_LAW_FOUND);
}

/* A logistic curve with 20 % noise: the straight line is the best law, and a smooth curve is better. */
static void a_straight_line_is_no_growth_curve(void **state)
{
    (void)state;
    kb_verdict_numbers n = numbers(19.2, 21.2, -18.4);
    n.drift_is_law = true;
    CHECK(kb_verdict(&n) == KBASS_LAW_FOUND);
    n.is_line = true;
    CHECK(kb_verdict(&n) == KBASS_LAW_UNDECIDED);
    n.field = 10;
    CHECK(kb_verdict(&n) == KBASS_LAW_FOUND);
}

/* A column of noise beside a law is a constant with the law and without it; it hid the law of nine rows, P(law) 0.45.
 */
static void noise_beside_a_law_does_not_hide_it(void **state)
{
    (void)state;
    enum { N = 9 };
    double t[N], u[3 * N], a = 2, b = 1, h = 0.01;
    kb_random random;
    kb_random_seed(&random, 5);
    for (size_t i = 0; i < N; i++) {
        t[i] = (double)i;
        u[3 * i] = a + 0.05 * kb_random_normal(&random);
        u[3 * i + 1] = b + 0.05 * kb_random_normal(&random);
        u[3 * i + 2] = kb_random_normal(&random);
        for (int step = 0; step < 100; step++) { /* midpoint rule */
            double am = a + h / 2 * (a - a * b), bm = b + h / 2 * (a * b - b);
            a += h * (am - am * bm);
            b += h * (am * bm - bm);
        }
    }
    kbass_law_verdict verdict = verdict_of(N, 3, t, u, "2");
    CHECK(verdict == KBASS_LAW_UNDECIDED || verdict == KBASS_LAW_FOUND);
    CHECK(given_back > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rule_follows_its_examples),
        cmocka_unit_test(the_field_leads_only_by_what_it_explains),
        cmocka_unit_test(a_field_that_is_noise_does_not_move),
        cmocka_unit_test(a_drift_is_a_law_where_the_dictionary_has_it),
        cmocka_unit_test(the_bare_field_is_at_its_best),
        cmocka_unit_test(constants_and_drifts_have_closed_forms),
        cmocka_unit_test(listed_cases_have_their_verdicts),
        cmocka_unit_test(noise_of_three_states_is_nothing_to_explain),
        cmocka_unit_test(many_laws_are_cautious_once),
        cmocka_unit_test(a_straight_line_is_no_growth_curve),
        cmocka_unit_test(noise_beside_a_law_does_not_hide_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
