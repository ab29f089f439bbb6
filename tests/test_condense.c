/* Condensed records: what they say about a cubic is what all samples say, their errors are as large as they claim, and
   a law found from 50,000 samples is the law. */
#include <math.h>

#include "base/linalg.h"
#include "base/random.h"
#include "found.h"
#include "gp/condense.h"
#include "ode_setup.h"

enum { N = 6000 };

/* Samples of a function with noise of sd 0.05 at uneven times; every 11th missing when asked. */
static kbass_data *sample(double (*function)(double), bool gaps)
{
    static double times[N], values[N];
    const char *names[] = {"x"};
    kbass_data *data = NULL;
    kb_random random;
    kb_random_seed(&random, 5);
    for (size_t i = 0; i < N; i++) {
        times[i] = ((double)i + 0.8 * kb_random_uniform(&random)) / N;
        values[i] = gaps && i % 11 == 3 ? NAN : function(times[i]) + 0.05 * kb_random_normal(&random);
    }
    CHECK_OK(kbass_data_create(N, 1, times, values, NULL, names, &data, &error));
    return data;
}

static double cubic(double t) { return 1 + 2 * t - 5 * t * t + 4 * t * t * t; }
static double wave(double t) { return sin(25 * t) + t; }

/* Normal equations of a cubic in time, weighted by the squares of `measured`. */
static void fit_cubic(const kb_record *r, double *A, double *b)
{
    for (int i = 0; i < 16; i++) A[i] = 0;
    for (int i = 0; i < 4; i++) b[i] = 0;
    for (size_t row = 0; row < r->n_rows; row++) {
        double p[4] = {1, r->time[row], pow(r->time[row], 2), pow(r->time[row], 3)}, w = pow(r->measured[row], 2);
        for (int i = 0; i < 4; i++) {
            b[i] += w * p[i] * r->value[row];
            for (int j = 0; j < 4; j++) A[i + 4 * j] += w * p[i] * p[j];
        }
    }
}

static void says_the_same_of_a_cubic(void **state)
{
    (void)state;
    for (int gaps = 0; gaps < 2; gaps++) {
        kbass_data *data = sample(cubic, gaps);
        kb_record *record = NULL, *fewer = NULL;
        double A[16], B[16], a[4], b[4];
        CHECK_OK(kb_record_create(data, NULL, &record, &error));
        CHECK_OK(kb_record_condense(record, &fewer, &error));
        CHECK(fewer && fewer->n_rows < 20);
        CHECK_CLOSE(fewer->time[0], 0, 0);
        CHECK_CLOSE(fewer->time[fewer->n_rows - 1], record->time[record->n_rows - 1], 0);
        fit_cubic(record, A, a);
        fit_cubic(fewer, B, b);
        for (int i = 0; i < 16; i++) CHECK_CLOSE(B[i], A[i], 1e-9 * N); /* quadrature to degree 7 is exact */
        for (int i = 0; i < 4; i++) CHECK_CLOSE(b[i], a[i], 1e-9 * N);
        kb_record_destroy(record);
        kb_record_destroy(fewer);
        kbass_data_destroy(data);
    }
}

static void errors_are_as_claimed(void **state)
{
    (void)state;
    kbass_data *data = sample(wave, false);
    kb_record *record = NULL, *fewer = NULL;
    double chi = 0, n = 0;
    CHECK_OK(kb_record_create(data, NULL, &record, &error));
    CHECK_OK(kb_record_condense(record, &fewer, &error));
    CHECK(fewer && fewer->n_rows < N / 10);
    for (size_t row = 0; row < fewer->n_rows; row++) {
        double t = fewer->origin[0] + fewer->span * fewer->time[row];
        double z = (fewer->mean[0] + fewer->sd[0] * fewer->value[row] - wave(t)) * fewer->measured[row] / 0.05;
        if (fewer->measured[row] > 0) chi += z * z, n++;
    }
    CHECK_CLOSE(chi, n, 4 * sqrt(2 * n)); /* chi-square with n degrees of freedom, four of its sd */
    kb_record_destroy(record);
    kb_record_destroy(fewer);
    kbass_data_destroy(data);
}

/* Few samples, and samples that each say something of their own, stay as they are. */
static void sparse_records_stay(void **state)
{
    (void)state;
    const char *const law[] = {"x_t = y", "y_t = -x"};
    const double initial[] = {1, 0};
    kbass_data *data = setup_sample(2, law, initial, 4801, 600 * acos(-1));
    kb_record *record = NULL, *fewer = NULL;
    CHECK_OK(kbass_data_add_noise(data, 5, 1, &error));
    CHECK_OK(kb_record_create(data, NULL, &record, &error));
    CHECK_OK(kb_record_condense(record, &fewer, &error));
    CHECK(!fewer);
    kb_record_destroy(record);
    kbass_data_destroy(data);
}

/* The answer says which share of the rows was used. */
static void share_of_the_rows(void **state)
{
    (void)state;
    const char *const law[] = {"x_t = y", "y_t = -x"};
    const double initial[] = {1, 0};
    static const size_t rows[] = {6001, 60};
    for (int i = 0; i < 2; i++) {
        kbass_data *data = setup_sample(2, law, initial, rows[i], 12);
        CHECK_OK(kbass_data_add_noise(data, 2, 1, &error));
        kbass_discovery *d = discover(data, "x, y");
        const kbass_result *result = kbass_discovery_result(d);
        if (i) CHECK(result->n_condensed == 0 && result->rows_used == 1);
        else CHECK(result->n_condensed > 0 && result->n_condensed < 600);
        CHECK_CLOSE(result->rows_used, i ? 1 : (double)result->n_condensed / 6001, 1e-12);
        kbass_discovery_destroy(d);
        kbass_data_destroy(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_the_same_of_a_cubic),
        cmocka_unit_test(errors_are_as_claimed),
        cmocka_unit_test(sparse_records_stay),
        cmocka_unit_test(share_of_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
