/* The doctor on data that are known to be good, and on data that are bad in one known way each. */
#include <jansson.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "doctor/local.h"

enum { N = 120, GRID = 20 };
static kbass_error error;

/* ---------------------------------------------------------------- data */

/* Two oscillations of different frequency over t = 0 to 12, with noise of 5 % of their standard deviation. */
static void oscillate(double *times, double *values)
{
    kb_random random;
    kb_random_seed(&random, 7);
    for (size_t i = 0; i < N; i++) {
        double t = times[i] = 12 * (double)i / (N - 1);
        values[2 * i] = sin(t) + 0.5 * sin(2.3 * t) + 0.04 * kb_random_normal(&random);
        values[2 * i + 1] = cos(1.7 * t) + 0.3 * t + 0.04 * kb_random_normal(&random);
    }
}

static kbass_doctor *examine(size_t n, const double *times, const double *values, size_t n_states)
{
    static const char *const names[] = {"x", "y", "z"};
    kbass_data *data = NULL;
    kbass_doctor *doctor = NULL;
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.degree = 2;
    CHECK_OK(kbass_data_create(n, n_states, times, values, "t", names, &data, &error));
    CHECK_OK(kbass_doctor_create(data, &settings, &doctor, &error));
    kbass_data_destroy(data);
    return doctor;
}

static const kbass_finding *find(const kbass_doctor *doctor, const char *check, const char *subject)
{
    const kbass_finding *finding = NULL;
    for (size_t i = 0; (finding = kbass_doctor_finding(doctor, i)); i++)
        if (!strcmp(finding->check, check) && (!subject || !strcmp(finding->subject, subject))) return finding;
    return NULL;
}

static const kbass_finding *demand(const kbass_doctor *doctor, const char *check, const char *subject,
                                   kbass_severity severity)
{
    const kbass_finding *finding = find(doctor, check, subject);
    if (!finding) fail_msg("no finding %s about %s", check, subject ? subject : "anything");
    if (finding->severity != severity) fail_msg("severity %d: %s", (int)finding->severity, finding->sentence);
    CHECK((severity == KBASS_FINE) == !*finding->suggestion);
    return finding;
}

/* ---------------------------------------------------------------- good data */

static void test_good(void **state)
{
    (void)state;
    double times[N], values[2 * N], mean[2 * N], sd[2 * N], off = 0;
    oscillate(times, values);
    kbass_doctor *doctor = examine(N, times, values, 2);
    CHECK(kbass_doctor_severity(doctor) == KBASS_FINE);
    CHECK_CLOSE(demand(doctor, "noise", "x", KBASS_FINE)->number, 0.04 / 0.79,
                0.015); /* sd of x; 120 values: 7 % and a bit */
    CHECK(demand(doctor, "sampling", "t", KBASS_FINE)->number > 3);
    CHECK(demand(doctor, "derivatives", "t", KBASS_FINE)->number >= 1);
    CHECK(demand(doctor, "excitation", "x", KBASS_FINE)->number < 0.2);
    CHECK(!find(doctor, "outliers", NULL) && !find(doctor, "saturated", NULL) && !find(doctor, "gap", NULL));
    CHECK_OK(kbass_doctor_smooth(doctor, N, times, NULL, mean, sd, &error));
    for (size_t i = 0; i < N; i++) off = fmax(off, fabs(mean[2 * i] - sin(times[i]) - 0.5 * sin(2.3 * times[i])));
    CHECK(off < 0.1); /* a few samples' noise is averaged: 4 of its sd of about 0.02 */
    kbass_doctor_destroy(doctor);
}

/* ---------------------------------------------------------------- bad data */

static void test_outliers(void **state)
{
    (void)state;
    double times[N], values[2 * N];
    oscillate(times, values);
    values[2 * 30] += 0.8;
    values[2 * 31] -= 0.7;
    values[2 * 90] += 2;
    kbass_doctor *doctor = examine(N, times, values, 2);
    const kbass_finding *finding = demand(doctor, "outliers", "x", KBASS_WARNING);
    CHECK(finding->n_rows == 3 && finding->rows[0] == 30 && finding->rows[1] == 31 && finding->rows[2] == 90);
    CHECK(!find(doctor, "outliers", "y"));
    CHECK_CLOSE(demand(doctor, "noise", "x", KBASS_FINE)->number, 0.04 / 0.82, 0.015); /* without them */
    kbass_doctor_destroy(doctor);
}

/* A column of noise beside one that moves is at rest, and the law of the other is found all the same. */
static void test_noise_beside_signal(void **state)
{
    (void)state;
    double times[N], values[2 * N], noise[N];
    kb_random random;
    kb_random_seed(&random, 3);
    oscillate(times, values);
    for (size_t i = 0; i < N; i++) values[2 * i + 1] = noise[i] = 5 + 0.02 * kb_random_normal(&random);
    kbass_doctor *doctor = examine(N, times, values, 2);
    CHECK(strstr(demand(doctor, "noise", "y", KBASS_WARNING)->suggestion, "--ignore"));
    demand(doctor, "noise", "x", KBASS_FINE);
    CHECK(kbass_doctor_severity(doctor) == KBASS_WARNING);
    kbass_doctor_destroy(doctor);
    doctor = examine(N, times, noise, 1);
    demand(doctor, "noise", "x", KBASS_HOPELESS);
    kbass_doctor_destroy(doctor);
}

static void test_constant_and_few(void **state)
{
    (void)state;
    double times[N], values[2 * N], three[3 * N];
    oscillate(times, values);
    for (size_t i = 0; i < N; i++) {
        three[3 * i] = values[2 * i];
        three[3 * i + 1] = 4;
        three[3 * i + 2] = i < 3 ? (double)i : NAN;
    }
    kbass_doctor *doctor = examine(N, times, three, 3);
    demand(doctor, "constant", "y", KBASS_HOPELESS);
    CHECK_CLOSE(demand(doctor, "too few", "z", KBASS_HOPELESS)->number, 3, 0); /* a count */
    demand(doctor, "noise", "x", KBASS_FINE);                                  /* the rest is examined all the same */
    CHECK(kbass_doctor_severity(doctor) == KBASS_HOPELESS);
    kbass_doctor_destroy(doctor);
}

static void test_saturated(void **state)
{
    (void)state;
    double times[N], values[2 * N];
    size_t n = 0;
    oscillate(times, values);
    for (size_t i = 0; i < N; i++) {
        values[2 * i] = fmin(values[2 * i], 0.9);
        n += values[2 * i] == 0.9;
    }
    kbass_doctor *doctor = examine(N, times, values, 2);
    CHECK(demand(doctor, "saturated", "x", KBASS_WARNING)->n_rows == n);
    CHECK(!find(doctor, "saturated", "y"));
    kbass_doctor_destroy(doctor);
}

static void test_gap_and_rest(void **state)
{
    (void)state;
    double times[N], values[2 * N];
    kb_random random;
    kb_random_seed(&random, 3);
    oscillate(times, values);
    for (size_t i = 0; i < N; i++) {
        if (i >= 50 && i < 90) values[2 * i] = NAN;
        values[2 * i + 1] = exp(-2 * times[i]) + 0.01 * kb_random_normal(&random);
    }
    kbass_doctor *doctor = examine(N, times, values, 2);
    const kbass_finding *finding = demand(doctor, "gap", "x", KBASS_WARNING);
    CHECK(finding->n_rows == 2 && finding->rows[0] == 49 && finding->rows[1] == 90);
    CHECK(demand(doctor, "excitation", "y", KBASS_WARNING)->number > 0.5);
    kbass_doctor_destroy(doctor);
}

/* 1.5 turns a unit of time: every one is counted. */
static void test_many_periods(void **state)
{
    (void)state;
    enum { ROWS = 400 };
    double *times = calloc(ROWS, sizeof *times), *values = calloc(ROWS, sizeof *values);
    for (size_t i = 0; i < ROWS; i++) {
        times[i] = 0.1 * (double)i;
        values[i] = sin(6.283185307179586 * 1.5 * times[i] + 0.3);
    }
    kbass_doctor *doctor = examine(ROWS, times, values, 1);
    CHECK(strstr(demand(doctor, "excitation", "x", KBASS_FINE)->sentence, "passes its mean 119 times (59.5 periods)"));
    kbass_doctor_destroy(doctor);
    free(values);
    free(times);
}

/* A fast beginning is sound, however far it lies from what follows; sparse samples say a range of noise. */
static void test_first_samples_and_sparse_noise(void **state)
{
    (void)state;
    double times[25], values[50];
    kb_random random;
    kb_random_seed(&random, 5);
    for (size_t i = 0; i < 25; i++) {
        times[i] = 0.25 * (double)i;
        values[2 * i] = 3 * exp(-3 * times[i]) + 0.02 * kb_random_normal(&random);
        values[2 * i + 1] = sin(6.7 * times[i]) + 0.1 * kb_random_normal(&random);
    }
    kbass_doctor *doctor = examine(25, times, values, 2);
    CHECK(!find(doctor, "outliers", "x"));
    const kbass_finding *noise = find(doctor, "noise", "y");
    CHECK(noise && strstr(noise->sentence, " to ") && strstr(noise->sentence, "too sparse to tell"));
    kbass_doctor_destroy(doctor);
}

/* No law x_t = f(x) goes up and down again; growth does not, nor does noise about it. */
static void test_turning(void **state)
{
    (void)state;
    enum { ROWS = 30 };
    double times[ROWS], pulse[ROWS], growth[ROWS];
    kb_random random;
    kb_random_seed(&random, 11);
    for (size_t i = 0; i < ROWS; i++) {
        double t = times[i] = 0.5 * (double)i, noise = 0.05 * kb_random_normal(&random);
        pulse[i] = exp(-pow(t - 6, 2) / 8) + noise;
        growth[i] = 1 / (1 + exp(5 - t)) + noise;
    }
    kbass_doctor *doctor = examine(ROWS, times, pulse, 1);
    const kbass_finding *finding = demand(doctor, "turning", "x", KBASS_HOPELESS);
    CHECK(finding->number > 3 && strstr(finding->sentence, "no law x_t = f(x)"));
    kbass_doctor_destroy(doctor);
    doctor = examine(ROWS, times, growth, 1);
    CHECK(!find(doctor, "turning", "x"));
    kbass_doctor_destroy(doctor);
}

static void test_noise_only(void **state)
{
    (void)state;
    double times[N], values[N];
    kb_random random;
    kb_random_seed(&random, 5);
    for (size_t i = 0; i < N; i++) times[i] = (double)i, values[i] = kb_random_normal(&random);
    kbass_doctor *doctor = examine(N, times, values, 1);
    CHECK(find(doctor, "noise", "x")->severity != KBASS_FINE);
    CHECK(kbass_doctor_severity(doctor) != KBASS_FINE);
    kbass_doctor_destroy(doctor);
}

/* On the circle x^2 + y^2 is constant; z is a copy of x, and t counts in another unit. */
static void test_alike(void **state)
{
    (void)state;
    double times[N], circle[2 * N], copies[3 * N];
    for (size_t i = 0; i < N; i++) {
        double t = times[i] = 20 * (double)i / (N - 1);
        copies[3 * i] = circle[2 * i] = sin(t);
        circle[2 * i + 1] = cos(t);
        copies[3 * i + 1] = 3 * t + 1;
        copies[3 * i + 2] = 1 - 2 * sin(t);
    }
    kbass_data *data = NULL;
    kbass_doctor *doctor = NULL;
    kbass_settings settings;
    kb_settings_default(&settings);
    static const char *const names[] = {"x", "y"};
    CHECK_OK(kbass_data_create(N, 2, times, circle, "t", names, &data, &error));
    CHECK_OK(kbass_doctor_create(data, &settings, &doctor, &error)); /* with the constant */
    const kbass_finding *finding = demand(doctor, "collinear", NULL, KBASS_WARNING);
    CHECK(finding->n_terms == 2 && !strcmp(finding->terms[0], "x^2") && !strcmp(finding->terms[1], "y^2"));
    demand(doctor, "dependent", NULL, KBASS_WARNING);
    kbass_doctor_destroy(doctor);
    kbass_data_destroy(data);
    doctor = examine(N, times, copies, 3);
    demand(doctor, "copies", "z", KBASS_WARNING);
    demand(doctor, "axes", "y", KBASS_WARNING);
    kbass_doctor_destroy(doctor);
}

/* ---------------------------------------------------------------- fields */

static void make_wave(double *times, double *positions, double *values)
{
    kb_random random;
    kb_random_seed(&random, 11);
    for (size_t i = 0; i < GRID * GRID; i++) {
        times[i] = 4 * (double)(i / GRID) / (GRID - 1);
        positions[i] = 6 * (double)(i % GRID) / (GRID - 1);
        values[i] = sin(positions[i] - times[i]) + 0.03 * kb_random_normal(&random);
    }
}

/* A table of a field without --axes is answered with them. */
static void test_forgotten_axes(void **state)
{
    (void)state;
    double times[GRID * GRID], positions[GRID * GRID], values[GRID * GRID], table[2 * GRID * GRID];
    make_wave(times, positions, values);
    for (size_t i = 0; i < GRID * GRID; i++) table[2 * i] = positions[i], table[2 * i + 1] = values[i];
    kbass_doctor *doctor = examine(GRID * GRID, times, table, 2);
    CHECK_TEXT(demand(doctor, "axes", "t", KBASS_HOPELESS)->suggestion, "--axes t,x");
    kbass_doctor_destroy(doctor);
}

static void test_field(void **state)
{
    (void)state;
    static const char *const axes[] = {"t", "x"}, *const fields[] = {"u"};
    double times[GRID * GRID], positions[GRID * GRID], values[GRID * GRID];
    kbass_data *data = NULL;
    kbass_doctor *doctor = NULL;
    kbass_settings settings;
    make_wave(times, positions, values);
    values[210] += 0.8;
    kb_settings_default(&settings);
    settings.derivatives = 2;
    settings.degree = 1;
    CHECK_OK(kbass_data_create_axes(GRID * GRID, 2, 1, times, positions, values, axes, fields, &data, &error));
    CHECK_OK(kbass_doctor_create(data, &settings, &doctor, &error));
    const kbass_finding *finding = demand(doctor, "outliers", "u", KBASS_WARNING);
    CHECK(finding->n_rows == 1 && finding->rows[0] == 210);
    CHECK(demand(doctor, "derivatives", "x", KBASS_FINE)->number >= 2);
    /* u and u_xx are opposite on a wave of one length: their correlation is -1 */
    finding = demand(doctor, "collinear", NULL, KBASS_WARNING);
    CHECK(finding->n_terms >= 2);
    kbass_doctor_destroy(doctor);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- JSON, memory */

static void test_json(void **state)
{
    (void)state;
    double times[N], values[2 * N];
    char *text = NULL;
    oscillate(times, values);
    values[2 * 30] += 1;
    kbass_doctor *doctor = examine(N, times, values, 2);
    CHECK_OK(kbass_doctor_json(doctor, &text, &error));
    json_t *root = json_loads(text, 0, NULL), *findings = json_object_get(root, "findings");
    size_t n = json_array_size(findings);
    CHECK(n && kbass_doctor_finding(doctor, n - 1) && !kbass_doctor_finding(doctor, n));
    CHECK_TEXT(json_string_value(json_object_get(root, "verdict")), "warning");
    CHECK_TEXT(json_string_value(json_object_get(json_array_get(findings, 0), "check")),
               kbass_doctor_finding(doctor, 0)->check);
    json_decref(root);
    kbass_free(text);
    kbass_doctor_destroy(doctor);
}

static void test_memory(void **state)
{
    (void)state;
    double times[N], values[2 * N];
    static const char *const names[] = {"x", "y"};
    kbass_data *data = NULL;
    kbass_settings settings;
    bool is_done = false;
    kb_settings_default(&settings);
    oscillate(times, values);
    values[2 * 30] += 1;
    CHECK_OK(kbass_data_create(N / 4, 2, times, values, "t", names, &data, &error));
    for (long n = 0; !is_done && n < 5000; n += 1 + n / 8) {
        kbass_doctor *doctor = NULL;
        kb_memory_fail_after(n);
        kbass_status status = kbass_doctor_create(data, &settings, &doctor, &error);
        kb_memory_fail_after(-1);
        is_done = status == KBASS_OK;
        CHECK(is_done || status == KBASS_ERROR_MEMORY || status == KBASS_ERROR_NUMERICAL);
        kbass_doctor_destroy(doctor);
    }
    CHECK(is_done);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- local regression */

/* Derivatives against differences of the mean; variances between none and the prior. */
static void test_local(void **state)
{
    (void)state;
    double times[30], values[30];
    static const char *const names[] = {"x"};
    kbass_data *data = NULL;
    kb_field_samples *samples = NULL;
    kb_local *local = NULL;
    double amplitude = 1, variance = 1e-4, step = 1e-4;
    kb_bare_field gp = {.length = {0.2}, .amplitude = &amplitude, .variance = &variance};
    for (size_t i = 0; i < 30; i++) times[i] = (double)i, values[i] = sin(0.3 * (double)i);
    CHECK_OK(kbass_data_create(30, 1, times, values, "t", names, &data, &error));
    CHECK_OK(kb_field_samples_create(data, NULL, &samples, &error));
    CHECK_OK(kb_local_create(samples, &gp, NULL, &local, &error));
    for (int order = 0; order < 4; order++) {
        int this[KB_SAMPLE_AXES] = {order}, next[KB_SAMPLE_AXES] = {order + 1};
        double at[] = {0.43 - step, 0.43 + step, 0.43}, mean[2];
        for (int k = 0; k < 2; k++) {
            CHECK(kb_local_go(local, &at[k], local->n_cells));
            mean[k] = kb_local_mean(local, this);
        }
        CHECK(kb_local_go(local, &at[2], local->n_cells));
        double slope = kb_local_mean(local, next), scale = sqrt(kb_local_prior(local, next));
        CHECK_CLOSE(slope, (mean[1] - mean[0]) / (2 * step), 1e-5 * scale); /* (step/length)^2 and roundings */
        kb_kernel kernel = {KB_KERNEL_SE, 0.2, 1};
        double prior = kb_kernel_derivative(&kernel, 0, 0, 2 * order) * (order % 2 ? -1 : 1);
        CHECK_CLOSE(kb_local_prior(local, this) / prior, 1, 1e-9); /* two formulas of one number */
        CHECK(kb_local_variance(local, this) < kb_local_prior(local, this));
    }
    double far = 3;
    int value[KB_SAMPLE_AXES] = {0};
    CHECK(kb_local_go(local, &far, local->n_cells));
    CHECK_CLOSE(kb_local_variance(local, value), 1, 1e-9); /* ten length scales off: e^-100 */
    kb_local_destroy(local);
    kb_field_samples_destroy(samples);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_noise_beside_signal),
        cmocka_unit_test(test_constant_and_few),
        cmocka_unit_test(test_saturated),
        cmocka_unit_test(test_gap_and_rest),
        cmocka_unit_test(test_many_periods),
        cmocka_unit_test(test_first_samples_and_sparse_noise),
        cmocka_unit_test(test_turning),
        cmocka_unit_test(test_noise_only),
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_forgotten_axes),
        cmocka_unit_test(test_field),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_local),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
