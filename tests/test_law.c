/* The law along functions that solve it, and along one that does not. */
#include <math.h>

#include "base/larger.h"
#include "base/settings.h"
#include "check.h"
#include "posterior/law.h"

static kbass_error error;

typedef double field(double t, double x, double y);

static double wave(double t, double x, double y) { return exp(-5 * t) * sin(2 * x + y); }     /* 5 = 2^2 + 1^2 */
static double swing(double t, double x, double y) { return cos(2 * t) * sin(2 * x) + 0 * y; } /* u_tt = u_xx */
static double jump(double t, double x, double y) { return wave(t, x, y) + (t > 0.5); }

typedef struct {
    field *u;
    size_t n_space;
} context;

static kbass_status evaluate(const void *user, size_t n, const double *times, const double *positions, double *values,
                             kbass_error *unused)
{
    const context *c = user;
    (void)unused;
    for (size_t i = 0; i < n; i++) {
        const double *at = positions + i * c->n_space;
        CHECK(times[i] >= (i ? times[i - 1] : 0) && times[i] <= 1 && at[0] >= 0 && at[0] <= 1); /* ascending, within */
        values[i] = c->u(times[i], at[0], c->n_space > 1 ? at[1] : 0);
    }
    return KBASS_OK;
}

/* Largest |lhs - rhs| at ends, middles and a border, for weights[] of terms[]. */
static double worst(field *u, size_t n_space, const char *list, const char *lhs_name, const double *weights,
                    size_t n_borders, const double *borders)
{
    static const char *const axes[] = {"t", "x", "y"}, *const fields[] = {"u"};
    enum { N = 27 };
    double times[N], positions[2 * N], lhs[N], rhs[N], most = 0;
    context c = {u, n_space};
    kbass_settings settings;
    kb_dictionary *dictionary = NULL;
    kb_settings_default(&settings);
    settings.terms = list;
    settings.lhs = lhs_name;
    CHECK_OK(kb_dictionary_create_fields(&settings, 1, fields, n_space + 1, axes, &dictionary, &error));
    for (size_t i = 0; i < N; i++) {
        times[i] = 0.5 * (double)(i / 9);
        positions[i * n_space] = 0.5 * (double)(i % 3);
        if (n_space > 1) positions[i * n_space + 1] = 0.5 * (double)(i / 3 % 3);
    }
    kb_law law = {.dictionary = dictionary,
                  .weights = weights,
                  .solution = evaluate,
                  .context = &c,
                  .high = {1, 1, 1},
                  .step = {0.01, 0.02, 0.02},
                  .n_borders = n_borders,
                  .borders = borders};
    CHECK_OK(kb_law_sides(&law, N, times, positions, lhs, rhs, &error));
    for (size_t i = 0; i < N; i++) most = kb_larger(most, fabs(lhs[i] - rhs[i]));
    kb_dictionary_destroy(dictionary);
    return most;
}

static void test_holds(void **state)
{
    const double heat[] = {1, 1}, second[] = {1}, border = 0.5;
    (void)state;
    /* seven points: errors of h^5 u^(7) / 7 in time, 1e-10 * 5^7; one-sided second derivatives in space: 1e-9 * 2^7 */
    CHECK_CLOSE(worst(wave, 2, "u_xx, u_yy", NULL, heat, 0, NULL), 0, 1e-5);
    CHECK_CLOSE(worst(wave, 2, "u, u_xx, u_xy + 2*u", NULL, (const double[]){-5, 0, 0}, 0, NULL), 0, 1e-5);
    CHECK_CLOSE(worst(swing, 1, "u_xx", "u_tt", second, 0, NULL), 0, 1e-5);
    CHECK(worst(jump, 2, "u_xx, u_yy", NULL, heat, 0, NULL) > 1);               /* across the jump */
    CHECK_CLOSE(worst(jump, 2, "u_xx, u_yy", NULL, heat, 1, &border), 0, 1e-5); /* on either side of it */
}

/* u_xy of sin(2x + y) is -2 sin(2x + y): a wrong weight shows as what it adds. */
static void test_fails(void **state)
{
    const double weights[] = {1, 1, 0.25};
    (void)state;
    CHECK_CLOSE(worst(wave, 2, "u_xx, u_yy, u_xy", NULL, weights, 0, NULL), 0.5, 0.01); /* sin(2x + y) reaches 0.997 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_holds), cmocka_unit_test(test_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
