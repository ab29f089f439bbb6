/* Known inputs: the curve through their values, what the engines make of it, and the laws that have them. */
#include "check.h"
#include "found.h"
#include "gp/record.h"
#include "ode_setup.h"
#include "collocation/ode_field.h"

/* ---------------------------------------------------------------- the curve */

/* Largest distance from a function between n even points of [0, 2]; its slopes by differences of the curve itself. */
static double curve_error(double (*function)(double), size_t n)
{
    double times[100], values[100], largest = 0, slope;
    kb_curve curve;
    for (size_t i = 0; i < n; i++) values[i] = function(times[i] = 2 * (double)i / (double)(n - 1));
    CHECK(kb_curve_create(n, times, values, false, &curve));
    for (int i = 1; i < 400; i++) {
        double t = 0.005 * i + 1e-4, h = 1e-5, found = kb_curve_at(&curve, t, &slope);
        largest = fmax(largest, fabs(found - function(t)));
        if (t + h < 2)
            CHECK_CLOSE((kb_curve_at(&curve, t + h, NULL) - kb_curve_at(&curve, t - h, NULL)) / (2 * h), slope,
                        1e-3); /* kinks of the second derivative */
    }
    kb_curve_clear(&curve);
    return largest;
}

static double wave(double t) { return exp(0.5 * t) + sin(t); } /* rises all the way: no slope is limited */
static double cubic(double t) { return 1 + t * (2 + t * t); }

static void smooth_values_are_met_to_fourth_order(void **state)
{
    (void)state;
    CHECK_CLOSE(curve_error(cubic, 7), 0, 1e-13); /* a spline with the right ends is the cubic; rounding */
    double coarse = curve_error(wave, 11), fine = curve_error(wave, 21);
    CHECK(fine > 0 && coarse / fine > 12); /* 2^4 = 16 as the points get dense */
}

/* Switched values stay within their steps and flat outside of them; beyond the ends they are held. */
static void steps_do_not_overshoot(void **state)
{
    (void)state;
    static const double times[] = {0, 1, 2, 3, 4, 5}, values[] = {0, 0, 0, 1, 1, 1};
    kb_curve curve;
    double slope;
    CHECK(kb_curve_create(6, times, values, false, &curve));
    for (int i = 0; i <= 500; i++) {
        double t = 0.01 * i, value = kb_curve_at(&curve, t, &slope);
        CHECK(value >= 0 && value <= 1 && slope >= 0);
        if (t <= 2) CHECK(value == 0);
        if (t >= 3) CHECK(value == 1);
    }
    CHECK(kb_curve_at(&curve, -1, &slope) == 0 && slope == 0 && kb_curve_at(&curve, 9, NULL) == 1);
    kb_curve_clear(&curve);
}

/* ---------------------------------------------------------------- data */

static const char *const names[] = {"x", "f"};

static kbass_status take(size_t n, const double *times, const double *values)
{
    static const bool is_input[] = {false, true};
    kbass_data *data = NULL;
    kb_record *record = NULL;
    CHECK_OK(kbass_data_create(n, 2, times, values, NULL, names, &data, &error));
    CHECK_OK(kb_record_create(data, NULL, &record, &error));
    kbass_status status = kb_record_take_inputs(record, data, is_input, false, &error);
    if (status == KBASS_OK) CHECK(record->count[1] == 0 && record->n_values == record->count[0]);
    kb_record_destroy(record);
    kbass_data_destroy(data);
    return status;
}

static void an_input_is_known_throughout(void **state)
{
    (void)state;
    static const double times[] = {0, 1, 2, 3, 3, 4}, good[] = {1, 0, 2, NAN, 1, 4, 5, 2, NAN, 2, 6, 3};
    static const double twice[] = {1, 0, 2, NAN, 1, 4, 5, 2, NAN, 1, 6, 1},
                        early[] = {1, 0, 2, 1, 1, 4, 5, 2, 4, 2, 6, NAN};
    CHECK_OK(take(6, times, good)); /* at t = 3 its value comes twice */
    CHECK_FAILS(take(6, times, twice), KBASS_ERROR_DATA, "two values at t = 3");
    CHECK_FAILS(take(6, times, early), KBASS_ERROR_DATA, "known from t = 0 to 3");
}

static void refuses(kbass_settings settings, size_t n_axes, kbass_status status, const char *message)
{
    static const char *const axes[] = {"t", "z"};
    kb_dictionary *d = NULL;
    CHECK_FAILS(kb_dictionary_create_fields(&settings, 2, names, n_axes, axes, &d, &error), status, message);
}

static void settings_are_checked(void **state)
{
    (void)state;
    refuses((kbass_settings){.degree = 1, .input = "g"}, 1, KBASS_ERROR_SYNTAX, "--input: unknown state \"g\"");
    refuses((kbass_settings){.degree = 1, .input = "x, f"}, 1, KBASS_ERROR_ARGUMENT, "every column");
    refuses((kbass_settings){.degree = 1, .input = "f", .equation_for = "f"}, 1, KBASS_ERROR_ARGUMENT,
            "is a known --input");
    refuses((kbass_settings){.degree = 1, .input = "f", .fix = "f_t = x"}, 1, KBASS_ERROR_ARGUMENT,
            "that of an --input");
    refuses((kbass_settings){.degree = 1, .input = "f"}, 2, KBASS_ERROR_ARGUMENT, "found fields over space");
}

/* ---------------------------------------------------------------- the engines */

/* x_t = -x + f with a polynomial f that the curve meets exactly: the flow against the solution in closed form. */
static void the_flow_has_the_input(void **state)
{
    (void)state;
    static const bool is_input[] = {false, true};
    double times[9], values[18], w[8] = {0}, states[18];
    for (size_t i = 0; i < 9; i++) {
        double t = times[i] = 0.25 * (double)i;
        values[2 * i] = exp(-t) + t * t; /* x of x_t = -x + f, f = t^2 + 2 t */
        values[2 * i + 1] = t * t + 2 * t;
    }
    kbass_settings settings;
    kbass_data *data = NULL;
    kb_flow *flow = NULL;
    setup s;
    kb_settings_default(&settings);
    settings.degree = 1;
    settings.input = "f";
    CHECK_OK(kbass_data_create(9, 2, times, values, NULL, names, &data, &error));
    setup_open(&s, data, &settings, 40);
    CHECK_OK(kb_record_take_inputs(s.record, data, is_input, false, &error));
    setup_include(&s, 0, "x", -1, w);
    setup_include(&s, 0, "f", 1, w);
    CHECK_OK(kb_flow_create(s.record, s.dictionary, s.columns, 2, &flow, &error));
    kb_flow_model(flow, &s.support, w, NULL);
    double start[] = {(1 - s.record->mean[0]) / s.record->sd[0], -7}; /* the input's own start plays no role for x */
    CHECK(kb_flow_integrate(flow, 9, s.record->time, start, states, NULL));
    for (size_t i = 0; i < 9; i++)
        CHECK_CLOSE(s.record->mean[0] + s.record->sd[0] * states[2 * i], values[2 * i],
                    1e-6); /* the integrator's tolerance */
    kb_flow_destroy(flow);
    setup_close(&s);
}

/* The field's gradient by differences of its objective: nothing pulls at an input. */
static void the_field_leaves_inputs_alone(void **state)
{
    (void)state;
    static const bool is_input[] = {false, true};
    double times[12], values[24], w[12] = {0};
    kbass_settings settings;
    kbass_data *data = NULL;
    kb_ode_field *field = NULL;
    setup s;
    for (size_t i = 0; i < 12; i++) {
        times[i] = (double)i;
        values[2 * i] = sin(0.5 * times[i]);
        values[2 * i + 1] = cos(times[i]);
    }
    kb_settings_default(&settings);
    settings.degree = 2;
    settings.input = "f";
    CHECK_OK(kbass_data_create(12, 2, times, values, NULL, names, &data, &error));
    setup_open(&s, data, &settings, 40);
    CHECK_OK(kb_record_take_inputs(s.record, data, is_input, false, &error));
    setup_include(&s, 0, "x*f", 0.7, w);
    setup_include(&s, 0, "f", -0.4, w);
    CHECK_OK(kb_ode_field_create(s.record, s.dictionary, s.columns, 40, s.level->rank, &field, &error));
    kb_ode_field_set_level(field, s.level);
    for (size_t i = 0; i < 2; i++) field->v[i] = 0.01, field->tau[i] = 1;
    size_t r = s.level->rank;
    for (size_t i = 0; i < r; i++) field->z[i] = 0.3 * cos((double)i);
    memcpy(field->w, w, s.columns->n * sizeof *w);
    kb_ode_field_gradient(field, &s.support);
    for (size_t i = 0; i < 2 * r; i++) {
        double at = field->z[i], step = 1e-5, found = field->gz[i];
        if (i >= r) CHECK(found == 0);
        field->z[i] = at + step;
        double above = kb_ode_field_objective(field, &s.support, field->z, field->w);
        field->z[i] = at - step;
        double below = kb_ode_field_objective(field, &s.support, field->z, field->w);
        field->z[i] = at;
        CHECK_CLOSE((above - below) / (2 * step), found, 1e-6 * (1 + fabs(found))); /* rounding over the step */
    }
    CHECK_CLOSE(field->points[40], 1, 1e-15);       /* cos 0 */
    CHECK_CLOSE(field->points[79], cos(11), 1e-14); /* the last value; rounding of the time */
    kb_ode_field_destroy(field);
    setup_close(&s);
}

/* ---------------------------------------------------------------- discovery */

static kbass_discovery *discover_driven(const kbass_data *data, const char *input)
{
    kbass_settings settings;
    kbass_discovery *discovery = NULL;
    kb_settings_default(&settings);
    settings.threads = 2;
    settings.degree = 2;
    settings.input = input;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    return discovery;
}

/* A driven oscillator with 5 % noise in x and y, none in f. */
static kbass_data *driven(const char *f_rate, double f0, uint64_t seed)
{
    const char *equations[] = {"x_t = y", "y_t = -x - 0.2*y + f", f_rate};
    double start[] = {1, 0, f0};
    kbass_data *data = setup_sample(3, equations, start, 50, 16);
    CHECK_OK(kbass_data_disturb(data, (double[]){0.03, 0.03, 0}, seed, &error));
    return data;
}

static void the_law_of_a_driven_oscillator(void **state)
{
    (void)state;
    static const char *const support[] = {"x_t: y", "y_t: x", "y_t: y", "y_t: f"};
    kbass_data *data = driven("f_t = cos(1.7*t)", 0, 3);
    kbass_discovery *discovery = discover_driven(data, "f");
    const kbass_result *result = kbass_discovery_result(discovery);
    double mean[3], sd[3], at = 16.0 / 49;
    kbass_posterior *posterior = NULL;
    CHECK(has_support(result, 4, support) && result->n_equations == 2 && isnan(result->noise[2]));
    CHECK_OK(kbass_discovery_solution(discovery, 0, 1, &at, NULL, mean, sd, &error));
    CHECK_CLOSE(mean[2], data->values[5], 1e-5); /* the integrator's tolerance */
    CHECK(sd[2] < 1e-12);                        /* rounding, between models */
    CHECK_FAILS(kbass_discovery_posterior(discovery, 0, &posterior, &error), KBASS_ERROR_DATA, "equation");
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* Two runs, each with a force of its own; in one of them it is sampled in rows between the others. */
static void runs_have_inputs_of_their_own(void **state)
{
    (void)state;
    static const char *const support[] = {"x_t: y", "y_t: x", "y_t: y", "y_t: f"}, *const run_names[] = {"a", "b"};
    kbass_data *parts[] = {driven("f_t = cos(1.7*t)", 0, 4), driven("f_t = -0.5*f", 2, 5)}, *joined = NULL;
    for (size_t row = 1; row < 49; row++)
        for (size_t i = 0; i < 3; i++)
            if ((i == 2) == (row % 2 == 0)) parts[1]->values[row * 3 + i] = NAN;
    CHECK_OK(kbass_data_join(2, (const kbass_data *const *)parts, run_names, &joined, &error));
    kbass_discovery *discovery = discover_driven(joined, "f");
    CHECK(has_support(kbass_discovery_result(discovery), 4, support));
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(joined);
    for (size_t i = 0; i < 2; i++) kbass_data_destroy(parts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_values_are_met_to_fourth_order),
        cmocka_unit_test(steps_do_not_overshoot),
        cmocka_unit_test(an_input_is_known_throughout),
        cmocka_unit_test(settings_are_checked),
        cmocka_unit_test(the_flow_has_the_input),
        cmocka_unit_test(the_field_leaves_inputs_alone),
        cmocka_unit_test(the_law_of_a_driven_oscillator),
        cmocka_unit_test(runs_have_inputs_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
