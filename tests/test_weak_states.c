/* The weak form of states: bumps against differences, messages against plain loops, powers against averages over noise,
   and the structures it proposes on long records, with gaps, missing cells and several runs. */
#include <math.h>

#include "gp/swings.h"
#include "ode_setup.h"
#include "propose/weak/bump.h"
#include "propose/weak/structures.h"

static const char *const oscillator[] = {"x_t = y", "y_t = -x"};
static const char *const predators[] = {"x_t = x - x*y", "y_t = x*y - y"};
static const double initial[] = {2, 1};
static const kb_weak_schedule schedule = {4, 0.25, 1, 4, 2};

static void bumps(void **state)
{
    (void)state;
    for (size_t order = 0; order < 5; order++)
        for (double s = -0.95; s < 1; s += 0.19) {
            double h = 1e-4, at[] = {s - h, s + h}, value[2], next;
            kb_bump_derivative(7, order, 2, at, value);
            kb_bump_derivative(7, order + 1, 1, &s, &next);
            CHECK_CLOSE(next, (value[1] - value[0]) / (2 * h), 1e-3 * (1 + fabs(next))); /* h^2 / 6 third derivatives */
        }
    double outside[] = {-1, 1, 1.5}, zero[3];
    kb_bump_derivative(4, 1, 3, outside, zero);
    for (int i = 0; i < 3; i++) CHECK_CLOSE(zero[i], 0, 0);
}

/* A setup whose slabs are those of a law, not of the test setup's one length scale. */
static void open_law(setup *s, const char *const *law, double last, size_t n, double noise)
{
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.degree = 3;
    kbass_data *data = setup_sample(2, law, initial, n, last);
    CHECK_OK(kbass_data_add_noise(data, noise, 3, &error));
    setup_open(s, data, &settings, 200);
    for (size_t c = 0; c < s->columns->n; c++) s->columns->slab[c] = 25 * last * last;
}

/* One column of all bumps by plain loops, with the same trapezoid rule. */
static void messages(void **state)
{
    (void)state;
    setup s;
    double variance[] = {0, 0}, h = 0.11;
    open_law(&s, predators, 20, 161, 0);
    kb_weak_states *w = NULL;
    CHECK_OK(kb_weak_states_create(s.record, s.dictionary, s.columns, variance, &w, &error));
    CHECK_OK(kb_weak_states_integrate(w, h, &error));
    kb_subset *regression = NULL;
    size_t n = kb_columns_end(s.columns, 0), column = setup_column(&s, 0, "x*y");
    CHECK_OK(kb_subset_create(s.columns, 0, n, &regression, &error));
    CHECK_OK(kb_weak_states_regression(w, 0, regression, &error));
    const kb_message *m = regression->unit;
    double gram = 0, right = 0, bumps_seen = 0;
    for (double centre = h; centre <= 1 - h * (1 - 1e-9); centre += h / 2, bumps_seen++) {
        double X = 0, H = 0;
        for (size_t row = 0; row < s.record->n_rows; row++) {
            double z = (s.record->time[row] - centre) / h, dt = 1 / 160.;
            if (!(fabs(z) < 1)) continue;
            double low = fmax(s.record->time[row] - dt, centre - h), high = fmin(s.record->time[row] + dt, centre + h);
            double weight = (high - low) / 2 / h, b = 1 - z * z;
            double x = s.data->values[2 * row], y = s.data->values[2 * row + 1];
            X += weight * pow(b, 4) * x * y / s.columns->scale[column];
            H -= weight * -8 * z * pow(b, 3) / h * s.record->value[row];
        }
        gram += X * X, right += X * H;
    }
    CHECK_CLOSE((double)w->n_queries, bumps_seen, 0);
    CHECK_CLOSE(m->G[column + column * n], gram / 3, 1e-9 * gram); /* sums in another order */
    CHECK_CLOSE(m->b[column], right / 3, 1e-9 * (fabs(right) + gram));
    kb_subset_destroy(regression);
    kb_weak_states_destroy(w);
    setup_close(&s);
}

static void proposes(const setup *s, const char *const *terms, size_t n, double noise_variance)
{
    double variance[] = {noise_variance, noise_variance}, period;
    kb_weak_states *w = NULL;
    kb_weak_proposals list = {0};
    bool found = false;
    CHECK_OK(kb_record_period(s->record, &period, NULL, &error));
    CHECK_OK(kb_weak_states_create(s->record, s->dictionary, s->columns, variance, &w, &error));
    CHECK_OK(kb_weak_propose(w, &schedule, period, &list, &error));
    for (size_t i = 0; i < list.n; i++) {
        bool equal = list.proposals[i].support.n == n;
        for (size_t q = 0; q < n; q++)
            equal = equal && kb_support_has(&list.proposals[i].support, setup_column(s, q / (n / 2), terms[q]));
        found = found || (equal && list.proposals[i].behind == 0);
    }
    CHECK(found);
    CHECK(list.n < 30);
    kb_weak_proposals_clear(&list);
    kb_weak_states_destroy(w);
}

static const char *const oscillator_terms[] = {"y", "x"}, *const predator_terms[] = {"x", "x*y", "y", "x*y"};

static void long_records(void **state)
{
    (void)state;
    setup s;
    double period, spread;
    open_law(&s, oscillator, 200 * acos(-1), 1601, 5);
    CHECK_OK(kb_record_period(s.record, &period, &spread, &error));
    CHECK(spread < 0.2);
    CHECK_CLOSE(period, 0.01, 5e-4); /* 100 periods; crossings fall on samples, 16 of them in a period */
    proposes(&s, oscillator_terms, 2, 0.0025);
    setup_close(&s);
    open_law(&s, predators, 140, 321 * 2, 5);
    proposes(&s, predator_terms, 4, 0.0025);
    setup_close(&s);
}

/* A twentieth of the cells missing, a gap of some periods. */
static void missing_cells(void **state)
{
    (void)state;
    setup s;
    open_law(&s, oscillator, 80 * acos(-1), 801, 5);
    for (size_t i = 0; i < 1602; i += 19) s.record->measured[i] = 0;
    for (size_t row = 300; row < 400; row++) s.record->measured[row] = s.record->measured[row + 801] = 0;
    proposes(&s, oscillator_terms, 2, 0.0025);
    setup_close(&s);
}

/* (y^2 - v) and (y^3 - 3 v y) have the means x^2 and x^3 when noise takes the values +-sd: the bias of the plain powers
   would be v and 3 x v */
static void powers_have_no_bias(void **state)
{
    (void)state;
    setup s;
    double sums[2] = {0, 0}, truth = 0, variance[] = {0.04, 0.04};
    open_law(&s, oscillator, 12, 241, 0);
    size_t column = setup_column(&s, 0, "x^2"), rows = s.record->n_rows;
    for (int corrected = 0; corrected < 3; corrected++) {
        double none[] = {0, 0};
        kb_weak_states *w = NULL;
        for (size_t row = 0; corrected < 2 && row < rows; row++) s.record->value[row] += row % 2 ? 0.2 : -0.2;
        CHECK_OK(
            kb_weak_states_create(s.record, s.dictionary, s.columns, corrected == 1 ? variance : none, &w, &error));
        CHECK_OK(kb_weak_states_integrate(w, 0.3, &error));
        double G = w->G[w->slot[s.columns->term[column]] * (w->n_terms + 1)];
        if (corrected == 2) truth = G;
        else sums[corrected] = G;
        kb_weak_states_destroy(w);
        for (size_t row = 0; corrected < 2 && row < rows; row++) s.record->value[row] -= row % 2 ? 0.2 : -0.2;
    }
    CHECK_CLOSE(sums[1], truth, 0.004 * truth); /* alternating noise, not independent of the bump's trapezoids */
    CHECK(fabs(sums[0] - truth) > 0.05 * truth);
    setup_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bumps),
        cmocka_unit_test(messages),
        cmocka_unit_test(long_records),
        cmocka_unit_test(missing_cells),
        cmocka_unit_test(powers_have_no_bias),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
