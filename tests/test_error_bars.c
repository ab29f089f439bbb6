/* Error bars: which columns they are, and what they weigh. */
#include "check.h"
#include "dense.h"
#include "found.h"
#include "gp/field_samples.h"
#include "ode_setup.h"
#include "collocation/ode_field.h"

enum { ROWS = 9 };
static const double row_times[ROWS] = {0, 1, 2, 2, 3, 4, 5, 6, 7};
static const double row_values[ROWS * 3] = {1.0, 0.1, 0.3, 1.5, 0.2, 0.1, 1.1, 0.4, 0.2, 1.2, 0.1, 0.1, 0.4, 0.3,
                                            0.2, 0.2, 0.1, 0.5, 0.9, 0.6, 0.1, 1.3, 0.1, 0.3, NAN, 0.2, 0.2};
static const char *const row_names[] = {"x", "sx", "y"};

static kbass_data *table(void)
{
    kbass_data *data = NULL;
    CHECK_OK(kbass_data_create(ROWS, 3, row_times, row_values, NULL, row_names, &data, &error));
    return data;
}

/* ---------------------------------------------------------------- columns */

static void columns_of_error_bars_are_no_states(void **state)
{
    (void)state;
    char text[400];
    kbass_data *data = table();
    CHECK_OK(kbass_data_error_bars(data, "x = sx", &error));
    CHECK(kbass_data_states(data) == 2 && kbass_data_sigma(data)[0] == 0.1 && isnan(kbass_data_sigma(data)[1]));
    CHECK_TEXT(kbass_data_state_name(data, 1), "y");
    for (size_t i = 0; i < ROWS; i++) CHECK(data->values[2 * i + 1] == row_values[3 * i + 2]);
    kbass_data_describe(data, text, sizeof text);
    CHECK(strstr(text, "error bars from 0.1 to 0.6"));
    CHECK_FAILS(kbass_data_error_bars(data, "y", &error), KBASS_ERROR_ARGUMENT, "error bars already");
    kbass_data_destroy(data);

    data = table();
    CHECK_OK(kbass_data_error_bars(data, "sx", &error));
    for (size_t i = 0; i < ROWS; i++)
        CHECK(data->sigma[2 * i] == row_values[3 * i + 1] && data->sigma[2 * i + 1] == data->sigma[2 * i]);
    kbass_data_destroy(data);
}

static void what_is_no_error_bar_is_refused(void **state)
{
    (void)state;
    static const double zero[] = {1, 0.1, 2, 0, 3, 0.1, 4, 0.1}, times[] = {0, 1, 2, 3};
    kbass_data *data = table();
    kbass_discovery *discovery = NULL;
    kbass_settings settings;
    kb_settings_default(&settings);
    CHECK_FAILS(kbass_data_error_bars(data, "s", &error), KBASS_ERROR_ARGUMENT, "no column \"s\"");
    CHECK_FAILS(kbass_data_error_bars(data, "z=sx", &error), KBASS_ERROR_ARGUMENT, "no column \"z\"");
    CHECK_FAILS(kbass_data_error_bars(data, "x=sx, y=x", &error), KBASS_ERROR_ARGUMENT, "both a state and");
    CHECK_OK(kbass_data_error_bars(data, "sx", &error));
    settings.noise = "5%";
    CHECK_FAILS(kbass_discovery_create(data, &settings, &discovery, &error), KBASS_ERROR_ARGUMENT,
                "noise: the data have error bars");
    kbass_data_destroy(data);
    CHECK_OK(kbass_data_create(4, 2, times, zero, NULL, row_names, &data, &error));
    CHECK_FAILS(kbass_data_error_bars(data, "sx", &error), KBASS_ERROR_DATA, "\"sx\" = 0 at t = 1");
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- the Gaussian process, densely */

/* log N(y; 0, R R' + v diag h) of the measured values of a state, without its -n/2 log 2 pi and -1/2 sum log h. */
static double dense_evidence(const kb_level *level, const kb_record *r, size_t state, double v)
{
    size_t rows[ROWS], n = 0;
    double K[ROWS * ROWS], y[ROWS], solved[ROWS], logs = 0;
    for (size_t row = 0; row < r->n_rows; row++)
        if (r->measured[row + state * r->n_rows] > 0) rows[n++] = row;
    for (size_t a = 0; a < n; a++) {
        double root = r->measured[rows[a] + state * r->n_rows], h = 1 / (root * root);
        y[a] = solved[a] = r->value[rows[a] + state * r->n_rows];
        logs += log(h);
        for (size_t b = 0; b < n; b++) {
            K[a + b * n] = a == b ? v * h : 0;
            for (size_t q = 0; q < level->rank; q++)
                K[a + b * n] += level->rows[rows[a] + q * level->n_rows] * level->rows[rows[b] + q * level->n_rows];
        }
    }
    double logdet = dense_solve(n, K, 1, solved), square = 0;
    for (size_t a = 0; a < n; a++) square += y[a] * solved[a];
    return -0.5 * (square + logdet - logs);
}

static void the_evidence_is_that_of_the_dense_covariance(void **state)
{
    (void)state;
    kbass_data *data = table();
    kb_record *record = NULL;
    kb_level *level = NULL;
    CHECK_OK(kbass_data_error_bars(data, "x=sx", &error));
    CHECK_OK(kb_record_create(data, NULL, &record, &error));
    CHECK(record->has_error_bars && record->known_variance[0] > 0 && record->known_variance[1] == 0);
    for (size_t row = 0; row + 1 < ROWS; row++) { /* v h is the error bar's square, scaled */
        double sigma = row_values[3 * row + 1] / record->sd[0], root = record->measured[row];
        CHECK_CLOSE(record->known_variance[0] / (root * root), sigma * sigma, 1e-14 * sigma * sigma); /* rounding */
    }
    CHECK_OK(kb_level_create(record, KB_KERNEL_SE, 0.2, 40, &level, &error));
    double *work = KB_NEW(double, 2 * level->rank * (level->rank + 1)), expected = 0;
    for (size_t i = 0; i < 2; i++) expected += dense_evidence(level, record, i, i ? 0.05 : record->known_variance[0]);
    CHECK_CLOSE(kb_level_evidence(level, record, 0.05, NULL, work), expected, 1e-9); /* condition 1/v of both roads */
    kb_free(work);
    kb_level_destroy(level);
    kb_record_destroy(record);
    kbass_data_destroy(data);
}

/* The field's gradient by differences of its objective. */
static void the_field_weighs_its_residuals(void **state)
{
    (void)state;
    setup s;
    kb_ode_field *field = NULL;
    kbass_settings settings;
    kbass_data *data = table();
    kb_settings_default(&settings);
    settings.degree = 1;
    CHECK_OK(kbass_data_error_bars(data, "sx", &error));
    setup_open(&s, data, &settings, 40);
    CHECK_OK(kb_ode_field_create(s.record, s.dictionary, s.columns, 40, s.level->rank, &field, &error));
    kb_ode_field_set_level(field, s.level);
    for (size_t i = 0; i < 2; i++) field->v[i] = s.record->known_variance[i], field->tau[i] = 1;
    for (size_t i = 0; i < 2 * s.level->rank; i++) field->z[i] = 0.1 * sin((double)i);
    memset(field->w, 0, s.columns->n * sizeof *field->w);
    kb_ode_field_gradient(field, &s.support);
    for (size_t i = 0; i < 2 * s.level->rank; i += 3) {
        double at = field->z[i], step = 1e-5, found = field->gz[i];
        field->z[i] = at + step;
        double above = kb_ode_field_objective(field, &s.support, field->z, field->w);
        field->z[i] = at - step;
        double below = kb_ode_field_objective(field, &s.support, field->z, field->w);
        field->z[i] = at;
        CHECK_CLOSE((above - below) / (2 * step), found,
                    1e-6 * (1 + fabs(found))); /* quadratic: rounding over the step */
    }
    kb_ode_field_destroy(field);
    setup_close(&s);
}

/* ---------------------------------------------------------------- discovery */

/* x_t = 1 is the line a + b t: weighted least squares, with the sd that the error bars say. */
static void weights_are_those_of_weighted_least_squares(void **state)
{
    (void)state;
    enum { N = 12 };
    static const char *const names[] = {"x", "s"};
    double times[N], values[2 * N], S = 0, St = 0, Stt = 0, Sx = 0, Stx = 0;
    for (size_t i = 0; i < N; i++) {
        double t = times[i] = (double)i, s = i % 3 ? 0.1 : 2, x = 3 + 0.7 * t + s * sin(5.0 * t), p = 1 / (s * s);
        values[2 * i] = x;
        values[2 * i + 1] = s;
        S += p, St += p * t, Stt += p * t * t, Sx += p * x, Stx += p * t * x;
    }
    double slope = (S * Stx - St * Sx) / (S * Stt - St * St), sd = sqrt(S / (S * Stt - St * St));
    kbass_data *data = NULL;
    CHECK_OK(kbass_data_create(N, 2, times, values, NULL, names, &data, &error));
    CHECK_OK(kbass_data_error_bars(data, "s", &error));
    kbass_discovery *discovery = discover(data, "1, x");
    const kbass_term *term = &kbass_discovery_result(discovery)->equations[0].terms[0];
    CHECK_TEXT(term->term, "1");
    CHECK(term->selected);
    CHECK_CLOSE(term->weight, slope, 0.05 * sd); /* the slab holds back by a small share of a standard deviation */
    CHECK_CLOSE(term->own_sd, sd, 0.02 * sd);    /* likewise */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* The data with noise, every third value much more of it, and a column "s" that says so if asked for. */
static kbass_data *uneven_noise(const kbass_data *clean, double small, double large, uint64_t seed, bool is_told)
{
    size_t n = clean->n_rows, states = clean->n_states, width = states + is_told;
    double *values = KB_NEW(double, n *width);
    const char *names[8], *axes[2] = {clean->axis_names[0], clean->n_axes > 1 ? clean->axis_names[1] : NULL};
    kbass_data *data = NULL;
    kb_random random;
    kb_random_seed(&random, seed);
    for (size_t i = 0; i < states; i++) names[i] = clean->state_names[i];
    names[states] = "s";
    for (size_t row = 0; row < n; row++) {
        double s = row % 3 ? small : large;
        for (size_t i = 0; i < states; i++)
            values[row * width + i] = clean->values[row * states + i] + s * kb_random_normal(&random);
        if (is_told) values[row * width + states] = s;
    }
    CHECK_OK(kbass_data_create_axes(n, clean->n_axes, width, clean->times, clean->positions, values, axes, names, &data,
                                    &error));
    if (is_told) CHECK_OK(kbass_data_error_bars(data, "s", &error));
    kb_free(values);
    return data;
}

static void a_record_of_uneven_noise_needs_its_error_bars(void **state)
{
    (void)state;
    static const char *const equations[] = {"x_t = y", "y_t = 2.5*y - 2.5*x^2*y - x"};
    static const char *const support[] = {"x_t: y", "y_t: x", "y_t: y", "y_t: x^2*y"};
    static const double start[] = {1, 1};
    kbass_data *clean = setup_sample(2, equations, start, 24, 8);
    for (int is_told = 0; is_told < 2; is_told++) {
        kbass_data *data = uneven_noise(clean, 0.05, 3, 1, is_told);
        kbass_discovery *discovery = discover(data, NULL);
        const kbass_result *result = kbass_discovery_result(discovery);
        CHECK(has_support(result, 4, support) == is_told);
        if (is_told) CHECK(result->probability > 0.5 && result->n_missing + result->n_misfits == 0);
        kbass_discovery_destroy(discovery);
        kbass_data_destroy(data);
    }
    kbass_data_destroy(clean);
}

static void fields_have_error_bars(void **state)
{
    (void)state;
    static const char *const support[] = {"u_t: u*u_x", "u_t: u_xx"};
    static const size_t counts[] = {12, 13};
    kbass_model *pde = NULL;
    kbass_data *clean = NULL;
    kb_field_samples *samples = NULL;
    CHECK_OK(kbass_model_named("burgers", &pde, &error));
    CHECK_OK(kbass_model_grid(pde, counts, &clean, &error));
    kbass_data *data = uneven_noise(clean, 0.01, 0.4, 1, true);
    CHECK_OK(kb_field_samples_create(data, NULL, &samples, &error));
    for (size_t i = 0; i < data->n_rows; i++) { /* v h is the error bar's square, scaled */
        double sigma = data->sigma[i] / samples->sd[0];
        CHECK_CLOSE(samples->known_variance[0] * samples->relative[i], sigma * sigma,
                    1e-14 * sigma * sigma); /* rounding */
    }
    kbass_discovery *discovery = discover(data, "u, u^2, u_x, u*u_x, u_xx, u*u_xx, u_xxx");
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(has_support(result, 2, support) && result->n_missing + result->n_misfits == 0);
    CHECK_CLOSE(result->equations[0].terms[0].weight, -1, 0.05); /* 4 sd of 0.012 */
    kbass_discovery_destroy(discovery);
    kb_field_samples_destroy(samples);
    kbass_data_destroy(data);
    kbass_data_destroy(clean);
    kbass_model_destroy(pde);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_error_bars_are_no_states),
        cmocka_unit_test(what_is_no_error_bar_is_refused),
        cmocka_unit_test(the_evidence_is_that_of_the_dense_covariance),
        cmocka_unit_test(the_field_weighs_its_residuals),
        cmocka_unit_test(weights_are_those_of_weighted_least_squares),
        cmocka_unit_test(a_record_of_uneven_noise_needs_its_error_bars),
        cmocka_unit_test(fields_have_error_bars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
