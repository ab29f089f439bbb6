/* Known inputs: the curve through their values, what the engines make of it, and the laws that have them. */
#include "check.h"
#include "found.h"
#include "gp/record.h"
#include "ode_setup.h"
#include "collocation/ode_field.h"
#include "posterior/posterior.h"

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

/* Held values jump to the next where that is, late by the delay; the jumps are found from both sides. */
static void held_values_jump(void **state)
{
    (void)state;
    static const double times[] = {0, 1, 2, 3}, values[] = {5, 7, 7, 4};
    kb_curve curve;
    double slope = 1;
    CHECK(kb_curve_create(4, times, values, true, &curve));
    CHECK(kb_curve_at(&curve, 0.99, &slope) == 5 && slope == 0 && kb_curve_at(&curve, 1, NULL) == 7);
    CHECK(kb_curve_at(&curve, 2.5, NULL) == 7 && kb_curve_at(&curve, 3, NULL) == 4 &&
          kb_curve_at(&curve, -1, NULL) == 5);
    CHECK(kb_curve_next_jump(&curve, -1) == 1 && kb_curve_next_jump(&curve, 1) == 3); /* nothing happens at 2 */
    CHECK(kb_curve_next_jump(&curve, 3) == INFINITY);
    curve.delay = 0.25;
    CHECK(kb_curve_at(&curve, 1.2, NULL) == 5 && kb_curve_at(&curve, 1.25, NULL) == 7);
    CHECK(kb_curve_next_jump(&curve, 0.5) == 1.25);
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
    refuses((kbass_settings){.degree = 1, .input_hold = 1}, 1, KBASS_ERROR_ARGUMENT, "no --input");
    refuses((kbass_settings){.degree = 1, .input = "f", .input_delay = "f"}, 1, KBASS_ERROR_ARGUMENT, "its delay");
    refuses((kbass_settings){.degree = 1, .input = "f", .input_delay = "x=1"}, 1, KBASS_ERROR_ARGUMENT, "no --input");
    refuses((kbass_settings){.degree = 1, .input = "f", .input_delay = "f=-1"}, 1, KBASS_ERROR_ARGUMENT, "from 0 on");
    refuses((kbass_settings){.degree = 1, .input = "f", .input_delay = "f=2:1"}, 1, KBASS_ERROR_ARGUMENT, "ascending");
    refuses((kbass_settings){.degree = 1, .input = "f", .input_delay = "f=nan"}, 1, KBASS_ERROR_ARGUMENT, "from 0 on");
    refuses((kbass_settings){.degree = 1, .input = "f", .input_delay = "f=tau"}, 1, KBASS_ERROR_ARGUMENT, "tau");
    refuses((kbass_settings){.degree = 1, .input = "f", .input_delay = "f=a", .unknown = "a=-1:1"}, 1,
            KBASS_ERROR_ARGUMENT, "may be negative");
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

/* f of the steps: 1 in [0, 1), 0 in [1, 2.5), 2 from 2.5 on; x of x_t = -x + f(t - delay) from 0.5, in closed form. */
static const double step_time[] = {0, 1, 2.5}, step_value[] = {1, 0, 2};

static double step_input(double t) { return t < 1 ? 1 : t < 2.5 ? 0 : 2; }

static double step_solution(double t, double delay)
{
    double x = 0.5, now = 0;
    for (size_t i = 0; i < 3; i++) {
        double end = i < 2 ? fmin(step_time[i + 1] + delay, t) : t;
        if (end > now) x = step_value[i] + (x - step_value[i]) * exp(-(end - now)), now = end;
    }
    return x;
}

enum { STEP_ROWS = 21 };

/* Samples at which f may change between two rows of x. */
static kbass_data *step_data(double delay, double noise)
{
    double times[STEP_ROWS], values[2 * STEP_ROWS];
    kbass_data *data = NULL;
    for (size_t i = 0; i < STEP_ROWS; i++) {
        times[i] = 0.25 * (double)i;
        values[2 * i] = step_solution(times[i], delay);
        values[2 * i + 1] = step_input(times[i]);
    }
    CHECK_OK(kbass_data_create(STEP_ROWS, 2, times, values, NULL, names, &data, &error));
    if (noise > 0) CHECK_OK(kbass_data_disturb(data, (double[]){noise, 0}, 3, &error));
    return data;
}

/* The flow stops at jumps: it is as exact as between them, wherever they fall. */
static void the_flow_stops_at_jumps(void **state)
{
    (void)state;
    static const bool is_input[] = {false, true};
    static const double delays[] = {0, 0.1};
    for (size_t k = 0; k < 2; k++) {
        double w[8] = {0}, states[2 * STEP_ROWS], late[] = {0, delays[k]};
        kbass_data *data = step_data(delays[k], 0);
        kbass_settings settings;
        kb_flow *flow = NULL;
        setup s;
        kb_settings_default(&settings);
        settings.degree = 1;
        settings.input = "f";
        setup_open(&s, data, &settings, 40);
        CHECK_OK(kb_record_take_inputs(s.record, data, is_input, true, &error));
        kb_inputs_set_delays(s.record->inputs, late);
        setup_include(&s, 0, "x", -1, w);
        setup_include(&s, 0, "f", 1, w);
        CHECK_OK(kb_flow_create(s.record, s.dictionary, s.columns, 2, &flow, &error));
        kb_flow_model(flow, &s.support, w, NULL);
        double start[] = {(0.5 - s.record->mean[0]) / s.record->sd[0], 0};
        CHECK(kb_flow_integrate(flow, STEP_ROWS, s.record->time, start, states, NULL));
        for (size_t i = 0; i < STEP_ROWS; i++)
            CHECK_CLOSE(s.record->mean[0] + s.record->sd[0] * states[2 * i], step_solution(0.25 * (double)i, delays[k]),
                        1e-6); /* the integrator's tolerance */
        kb_flow_destroy(flow);
        setup_close(&s);
    }
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
    CHECK_OK(kbass_discovery_posterior(discovery, 0, &posterior, &error));
    CHECK(kbass_posterior_states(posterior) == 2 && !kbass_posterior_input_name(posterior, 1));
    CHECK_TEXT(kbass_posterior_input_name(posterior, 0), "f");
    kbass_posterior_destroy(posterior);
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

/* ---------------------------------------------------------------- after the discovery */

static const char *const step_law[] = {"x_t = -x + f"};

/* f at its jumps alone, to the end: t, f. */
static kbass_data *steps_until(double end)
{
    double times[] = {0, 1, 2.5, end}, values[] = {1, 0, 2, 2};
    static const char *const name[] = {"f"};
    kbass_data *data = NULL;
    CHECK_OK(kbass_data_create(4, 1, times, values, NULL, name, &data, &error));
    return data;
}

/* CVODES with a held input against the closed form; ranges and names that are missing are refused. */
static void a_model_is_driven(void **state)
{
    (void)state;
    double times[] = {0, 0.5, 1, 1.7, 2.5, 4}, states[6], initial = 0.5, rate;
    kbass_data *inputs = steps_until(4), *others = step_data(0, 0);
    kbass_model *model = NULL;
    CHECK_OK(kbass_model_parse(1, step_law, &(kbass_model_options){.inputs = inputs, .hold = 1}, &model, &error));
    CHECK(kbass_model_input_name(model, 0) && !kbass_model_input_name(model, 1));
    CHECK_OK(kbass_model_integrate(model, 0, &initial, 6, times, states, &error));
    for (size_t i = 0; i < 6; i++) CHECK_CLOSE(states[i], step_solution(times[i], 0), 1e-10); /* CVODES' tolerance */
    CHECK_OK(kbass_model_rates(model, 1, &times[4], &initial, &rate, &error));
    CHECK_CLOSE(rate, 1.5, 1e-15); /* rounding */
    times[5] = 4.5;
    CHECK_FAILS(kbass_model_integrate(model, 0, &initial, 6, times, states, &error), KBASS_ERROR_ARGUMENT,
                "is known from t = 0 to 4, and needed from 0 to 4.5");
    CHECK_OK(kbass_model_set_inputs(model, others, 0, &error)); /* to t = 5 */
    CHECK_OK(kbass_model_integrate(model, 0, &initial, 6, times, states, &error));
    CHECK_CLOSE(states[5], step_solution(4.5, 0), 1e-10); /* CVODES' tolerance */
    kbass_model_destroy(model);
    kbass_data_destroy(inputs);
    kbass_data_destroy(others);
    static const double at[] = {0, 1}, some[] = {1, 2};
    static const char *const other[] = {"g"};
    CHECK_OK(kbass_data_create(2, 1, at, some, NULL, other, &inputs, &error));
    CHECK_FAILS(kbass_model_parse(1, step_law, &(kbass_model_options){.inputs = inputs, .hold = 1}, &model, &error),
                KBASS_ERROR_SYNTAX, "unknown name");
    kbass_data_destroy(inputs);
}

static kbass_discovery *discover_steps(const kbass_data *data, const char *delay)
{
    kbass_settings settings;
    kbass_discovery *discovery = NULL;
    kb_settings_default(&settings);
    settings.threads = 2;
    settings.terms = "x, f, x^2, x*f";
    settings.input = "f";
    settings.input_hold = 1;
    settings.input_delay = delay;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    return discovery;
}

/* A result with inputs goes on from text: within the record, and beyond it where somebody says what the inputs are. */
static void a_law_with_inputs_goes_on(void **state)
{
    (void)state;
    static const char *const support[] = {"x_t: x", "x_t: f"};
    kbass_data *data = step_data(0, 0.01), *inputs = steps_until(8);
    kbass_discovery *discovery = discover_steps(data, NULL);
    kbass_posterior *p = NULL;
    kbass_model *model = NULL;
    kbass_forecast *forecast = NULL;
    kbass_score *score = NULL;
    kbass_forecast_options options = {.size = sizeof options, .n_draws = 40, .seed = 1, .threads = 1};
    double times[] = {5, 8}, mean[2], within[] = {1, 2, 3}, models[3], weights[3], lhs[8], rhs[8], at[4];
    char *json = NULL;
    CHECK(has_support(kbass_discovery_result(discovery), 2, support));
    for (size_t i = 0; i < 4; i++) at[i] = 0.99 + 0.01 * (double)i; /* about the jump: stencils stay on one side */
    CHECK_OK(kbass_discovery_law(discovery, 0, 4, at, NULL, lhs, rhs, &error));
    for (size_t i = 0; i < 4; i++) CHECK_CLOSE(lhs[2 * i], rhs[2 * i], 1e-5); /* 3e-8 of the flow over its steps */
    CHECK_OK(kbass_discovery_json(discovery, &json, &error));
    CHECK_OK(kbass_posterior_read(json, NULL, &p, &error));
    CHECK_OK(kbass_posterior_gain(p, 3, within, NULL, models, weights, &error));
    CHECK(weights[1] > 0);
    CHECK_FAILS(kbass_posterior_forecast(p, &options, 2, times, 0, NULL, &forecast, &error), KBASS_ERROR_ARGUMENT,
                "and needed from 5 to 8");
    CHECK_FAILS(kbass_posterior_set_inputs(p, inputs, 1, &error), KBASS_ERROR_ARGUMENT, "run 1");
    CHECK_OK(kbass_posterior_set_inputs(p, inputs, 0, &error));
    CHECK_OK(kbass_posterior_forecast(p, &options, 2, times, 0, NULL, &forecast, &error));
    CHECK_OK(kbass_forecast_summary(forecast, 0, NULL, mean, NULL, NULL, &error));
    for (size_t i = 0; i < 2; i++) CHECK_CLOSE(mean[i], step_solution(times[i], 0), 0.03); /* three times the noise */
    CHECK_OK(kbass_posterior_score(p, data, 0, NULL, &score, &error));
    CHECK(score->predictors[0].r2[0] > 0.99);
    CHECK_OK(kbass_model_from_result(json, &model, &error));
    CHECK_OK(kbass_model_integrate(model, 0, kbass_model_initial(model), 3, within, models, &error));
    for (size_t i = 0; i < 3; i++) CHECK_CLOSE(models[i], step_solution(within[i], 0), 0.03); /* likewise */
    kbass_score_destroy(score);
    kbass_forecast_destroy(forecast);
    kbass_model_destroy(model);
    kbass_posterior_destroy(p);
    kbass_free(json);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
    kbass_data_destroy(inputs);
}

/* A delay that is known, and one that is found; the forecast reaches as far beyond the record as it is late. */
static void delays_are_found(void **state)
{
    (void)state;
    static const char *const support[] = {"x_t: x", "x_t: f"};
    kbass_data *data = step_data(0.4, 0.01);
    kbass_discovery *told = discover_steps(data, "f=0.4"), *sought = discover_steps(data, "f=0:1.5");
    const kbass_constant *delay = kbass_discovery_result(sought)->constants;
    kbass_posterior *p = NULL;
    kbass_forecast *forecast = NULL;
    kbass_forecast_options options = {.size = sizeof options, .n_draws = 10, .seed = 1, .threads = 1};
    double time = 5.35;
    CHECK(has_support(kbass_discovery_result(told), 2, support) &&
          has_support(kbass_discovery_result(sought), 2, support));
    CHECK_TEXT(delay->name, "delay_f");
    CHECK(kbass_discovery_result(told)->n_warnings > 0 &&
          strstr(kbass_discovery_result(told)->warnings[0], "acts 0.4 late"));
    CHECK(delay->low <= 0.4 && delay->high >= 0.4);
    CHECK_CLOSE(delay->value, 0.4, 0.05); /* 0.01 of noise over slopes of 1 to 2 near two jumps: sd about 0.01 */
    CHECK_OK(kbass_discovery_posterior(sought, 0, &p, &error));
    CHECK_CLOSE(p->inputs.curves[0].delay, delay->value, 1e-12); /* rounding */
    CHECK_OK(kbass_posterior_forecast(p, &options, 1, &time, 0, NULL, &forecast, &error));
    kbass_forecast_destroy(forecast);
    kbass_posterior_destroy(p);
    kbass_discovery_destroy(told);
    kbass_discovery_destroy(sought);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_values_are_met_to_fourth_order),
        cmocka_unit_test(steps_do_not_overshoot),
        cmocka_unit_test(held_values_jump),
        cmocka_unit_test(the_flow_stops_at_jumps),
        cmocka_unit_test(a_model_is_driven),
        cmocka_unit_test(a_law_with_inputs_goes_on),
        cmocka_unit_test(delays_are_found),
        cmocka_unit_test(an_input_is_known_throughout),
        cmocka_unit_test(settings_are_checked),
        cmocka_unit_test(the_flow_has_the_input),
        cmocka_unit_test(the_field_leaves_inputs_alone),
        cmocka_unit_test(the_law_of_a_driven_oscillator),
        cmocka_unit_test(runs_have_inputs_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
