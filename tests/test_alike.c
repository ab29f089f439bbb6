/* What cannot be told apart: terms in the span of others, combinations that stay constant, curves that only rise. Each
   by a second road. */
#include <string.h>

#include "answer/alike.h"
#include "base/random.h"
#include "base/statistics.h"
#include "check.h"
#include "base/monotone.h"
#include "evidence/substitutes.h"

static kbass_error error;

/* ---------------------------------------------------------------- substitutes */

enum { COLUMNS = 5, POINTS = 200 };
static size_t equation[COLUMNS] = {0, 0, 0, 0, 0};
static bool required[COLUMNS] = {0};
static const kb_columns columns = {.n = COLUMNS, .equation = equation, .required = required};

/* G = P' P / v of columns on a circle: y, x, x^2 y, y^3, x y */
static kb_message *message_on(double radius_change, double noise)
{
    kb_message *m = NULL;
    CHECK_OK(kb_message_create(COLUMNS, &m, &error));
    for (size_t p = 0; p < POINTS; p++) {
        double s = 6.28 * (double)p / POINTS, r = 1 + radius_change * s, x = r * cos(s), y = r * sin(s);
        double column[COLUMNS] = {y, x, x * x * y, y * y * y, x * y};
        for (size_t i = 0; i < COLUMNS; i++)
            for (size_t j = 0; j < COLUMNS; j++) m->G[i + j * COLUMNS] += column[i] * column[j] / (noise * noise);
    }
    return m;
}

/* On a circle y = x^2 y + y^3 and nothing tells; on a spiral the three differ. */
static void terms_in_the_span_of_others_are_found(void **state)
{
    (void)state;
    size_t list[COLUMNS] = {0, 1}, n = 0;
    kb_support law = {2, list};
    double w[COLUMNS] = {2, -1, 0, 0, 0};
    kb_substitute found[2];
    kb_message *m = message_on(0, 0.01);
    CHECK_OK(kb_substitutes_find(m, &columns, &law, w, found, &n, &error));
    CHECK(n == 1 && found[0].column == 0 && found[0].n == 2 && found[0].other[0] == 2 && found[0].other[1] == 3);
    CHECK_CLOSE(found[0].weight[0], 2, 1e-6); /* rounding of a Schur complement */
    CHECK_CLOSE(found[0].weight[1], 2, 1e-6);
    CHECK(found[0].loss < 1e-3 && found[0].share < 1e-9);
    kb_message_destroy(m);
    m = message_on(0.1, 0.01);
    CHECK_OK(kb_substitutes_find(m, &columns, &law, w, found, &n, &error));
    CHECK(n == 0);
    kb_message_destroy(m);
    m = message_on(0, 0.01);
    required[0] = true; /* a term that was asked for has no rival */
    CHECK_OK(kb_substitutes_find(m, &columns, &law, w, found, &n, &error));
    CHECK(n == 0);
    required[0] = false;
    kb_message_destroy(m);
}

/* ---------------------------------------------------------------- combinations */

static void combinations_have_plain_names(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    double spread[3] = {1, 1, 1}, whole[3] = {-0.501, -1.0, 0.001}, odd[3] = {1, -0.713, 0}, alone[3] = {1, 0, 0.001};
    char text[80];
    CHECK(kb_combination_text(3, names, whole, spread, text, sizeof text));
    CHECK(!strcmp(text, "a + 2 b"));
    CHECK_CLOSE(whole[1], 2, 0);
    CHECK(kb_combination_text(3, names, odd, spread, text, sizeof text));
    CHECK(!strcmp(text, "a - 0.713 b"));
    CHECK(!kb_combination_text(3, names, alone, spread, text, sizeof text));
}

/* Two states that sum to a constant but for noise of variance 1, and two that do not. */
static void a_constant_sum_is_conserved(void **state)
{
    (void)state;
    double lambda[2], sum[4] = {101, -100, -100, 101}, free[4] = {101, -60, -60, 101}, still[4] = {1, 0, 0, 1};
    CHECK(kb_is_conserved(2, sum, lambda, 50));
    CHECK_CLOSE(lambda[0], 1, 1e-9); /* rounding */
    CHECK_CLOSE(sum[0] / sum[1], 1, 1e-9);
    CHECK(!kb_is_conserved(2, free, lambda, 50));
    CHECK(!kb_is_conserved(2, still, lambda, 50));
}

/* ---------------------------------------------------------------- curves that only rise */

/* The isotonic fit is m_i = max over a <= i of min over b >= i of the mean from a to b. */
static double by_means(size_t n, const double *y, const double *weight)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        double best = -INFINITY;
        for (size_t a = 0; a <= i; a++) {
            double least = INFINITY;
            for (size_t b = i; b < n; b++) {
                double sum = 0, weights = 0;
                for (size_t k = a; k <= b; k++) sum += weight[k] * y[k], weights += weight[k];
                least = fmin(least, sum / weights);
            }
            best = fmax(best, least);
        }
        squares += weight[i] * (y[i] - best) * (y[i] - best);
    }
    return squares;
}

static void monotone_curves_are_the_best(void **state)
{
    (void)state;
    enum { N = 25 };
    double y[N], negative[N], weight[N], work[3 * N];
    kb_random random;
    kb_random_seed(&random, 5);
    for (int trial = 0; trial < 20; trial++) {
        for (size_t i = 0; i < N; i++) {
            y[i] = 0.05 * trial * (double)i + kb_random_normal(&random);
            negative[i] = -y[i];
            weight[i] = 0.5 + kb_random_uniform(&random);
        }
        CHECK_CLOSE(kb_monotone_squares(N, y, weight, 1, work), by_means(N, y, weight), 1e-10); /* rounding */
        CHECK_CLOSE(kb_monotone_squares(N, y, weight, -1, work), by_means(N, negative, weight), 1e-10);
    }
}

/* Tables of the 95 and 99 % points. */
static void fisher_is_that_of_tables(void **state)
{
    (void)state;
    CHECK_CLOSE(kb_fisher_quantile(0.95, 5, 10), 3.325835, 1e-6); /* the table's digits */
    CHECK_CLOSE(kb_fisher_quantile(0.99, 10, 5), 10.051017, 1e-6);
    CHECK_CLOSE(kb_fisher_quantile(0.95, 1, 7), pow(2.364624251592785, 2), 1e-6); /* Student's square */
    CHECK_CLOSE(kb_fisher_quantile(0.975, 10, INFINITY), kb_chi2_quantile(0.975, 10) / 10, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_in_the_span_of_others_are_found),
        cmocka_unit_test(combinations_have_plain_names),
        cmocka_unit_test(a_constant_sum_is_conserved),
        cmocka_unit_test(monotone_curves_are_the_best),
        cmocka_unit_test(fisher_is_that_of_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
