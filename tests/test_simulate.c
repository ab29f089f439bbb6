#include <stdlib.h>

#include "base/memory.h"
#include "kbass/kbass.h"
#include "scratch.h"

static kbass_error error;

static void write_text(const char *text) { write_bytes(text, strlen(text)); }

static kbass_model *parse(size_t n, const char *const *equations)
{
    kbass_model *model = NULL;
    CHECK_OK(kbass_model_parse(n, equations, NULL, &model, &error));
    return model;
}

static kbass_model *parse_one(const char *equation) { return parse(1, &equation); }

/* ---------------------------------------------------------------- closed forms */

static void test_harmonic_oscillator(void **state)
{
    enum { N = 50 };
    kbass_model *model = NULL;
    double times[N], states[2 * N];
    (void)state;
    CHECK_OK(kbass_model_named("harmonic", &model, &error));
    for (int i = 0; i < N; i++) times[i] = 0.5 * i;
    CHECK_OK(kbass_model_integrate(model, 0, kbass_model_initial(model), N, times, states, &error));
    for (int i = 0; i < N; i++) {
        CHECK_CLOSE(states[2 * i], cos(times[i]), 1e-7);      /* 1e-10 a step, some hundred steps */
        CHECK_CLOSE(states[2 * i + 1], -sin(times[i]), 1e-7); /* likewise */
    }
    kbass_model_destroy(model);
}

static void test_logistic_growth(void **state)
{
    static const double times[] = {1900, 1900, 1903.5, 1910, 1925}, initial[] = {2.5};
    kbass_model *model = parse_one("x_t = x*(1 - x/10)");
    double states[5];
    (void)state;
    CHECK_OK(kbass_model_integrate(model, 1900, initial, 5, times, states, &error));
    for (int i = 0; i < 5; i++)
        CHECK_CLOSE(states[i], 10 / (1 + 3 * exp(1900 - times[i])), 1e-7); /* 1e-10 a step, some hundred steps */
    kbass_model_destroy(model);
}

/* Time on the right, and a start before the first time. */
static void test_driven_by_time(void **state)
{
    static const double times[] = {1, 2, 7}, initial[] = {3};
    kbass_model *model = parse_one("x_t = 2*t - cos(t)");
    double states[3];
    (void)state;
    CHECK_OK(kbass_model_integrate(model, 0, initial, 3, times, states, &error));
    for (int i = 0; i < 3; i++)
        CHECK_CLOSE(states[i], 3 + times[i] * times[i] - sin(times[i]), 1e-7); /* 1e-10 a step, some hundred steps */
    kbass_model_destroy(model);
}

/* The fast part dies within 1e-6; without an implicit method this would take 1e7 steps. */
static void test_stiff(void **state)
{
    static const char *const equations[] = {"x_t = -1e6*(x - y)", "y_t = -y"};
    static const double times[] = {10}, initial[] = {5, 1};
    kbass_model *model = parse(2, equations);
    double states[2];
    (void)state;
    CHECK_OK(kbass_model_integrate(model, 0, initial, 1, times, states, &error));
    CHECK_CLOSE(states[1], exp(-10), 1e-9);                   /* 1e-10 a step */
    CHECK_CLOSE(states[0], exp(-10) * 1e6 / (1e6 - 1), 1e-9); /* the slow part of the exact solution */
    kbass_model_destroy(model);
}

/* The units of the states do not matter: the same oscillator, one state a million times larger. */
static void test_scales(void **state)
{
    static const char *const equations[] = {"x_t = 1e-12*y", "y_t = -1e12*x"};
    static const double times[] = {20}, initial[] = {1e-9, 0};
    kbass_model *model = parse(2, equations);
    double states[2];
    (void)state;
    CHECK_OK(kbass_model_integrate(model, 0, initial, 1, times, states, &error));
    CHECK_CLOSE(states[0], 1e-9 * cos(20), 1e-15); /* 1e-6 relative */
    CHECK_CLOSE(states[1], -1e3 * sin(20), 1e-3);  /* likewise */
    kbass_model_destroy(model);
}

/* The square root has an infinite slope at the start; the solution exists all the same. */
static void test_infinite_slope(void **state)
{
    static const double times[] = {2}, initial[] = {1};
    kbass_model *model = parse_one("x_t = sqrt(abs(x - 1)) + 1");
    double states[1];
    (void)state;
    CHECK_OK(kbass_model_integrate(model, 0, initial, 1, times, states, &error));
    double z = sqrt(states[0] - 1);           /* t = 2 (z - log(1 + z)) */
    CHECK_CLOSE(2 * (z - log1p(z)), 2, 1e-6); /* the corner at the start costs accuracy */
    kbass_model_destroy(model);
}

static void test_nothing_to_do(void **state)
{
    static const double times[] = {1, 1}, initial[] = {4};
    kbass_model *model = parse_one("x_t = 0");
    double states[2] = {0, 0};
    (void)state;
    CHECK_OK(kbass_model_integrate(model, 0, initial, 0, NULL, NULL, &error));
    CHECK_OK(kbass_model_integrate(model, 1, initial, 2, times, states, &error));
    CHECK(states[0] == 4 && states[1] == 4);
    CHECK_OK(kbass_model_integrate(model, 0, initial, 2, times, states, &error));
    CHECK(states[0] == 4 && states[1] == 4);
    kbass_model_destroy(model);
}

/* ---------------------------------------------------------------- trouble */

static void refuse_to_integrate(const char *equation, double initial, double last, const char *message)
{
    kbass_model *model = parse_one(equation);
    double state = 0;
    CHECK_FAILS(kbass_model_integrate(model, 0, &initial, 1, &last, &state, &error), KBASS_ERROR_NUMERICAL, message);
    kbass_model_destroy(model);
}

static void test_blow_up(void **state)
{
    (void)state;
    refuse_to_integrate("x_t = x^2", 1, 3, "the solution leaves every bound near t = 1 (x = ");
    refuse_to_integrate("x_t = x^3", 1, 0.5, "the solution leaves every bound near t = 0.5 (x = ");
    refuse_to_integrate("x_t = -x^4", -1, 3, "the solution leaves every bound near t = 0.333333 (x = -");
    refuse_to_integrate("x_t = 1000*x", 1, 3, "the solution leaves every bound near t = 0.23");
    refuse_to_integrate("x_t = -1/x", 1, 3, "cannot be followed beyond t = 0.5 (x = ");
    refuse_to_integrate("x_t = log(x)", -1, 3, "cannot be followed beyond t = 0 (x = -1)");
    refuse_to_integrate("x_t = 1/(t - 2)", 1, 3, "t = 2");
}

static void test_growth_is_not_blow_up(void **state)
{
    static const double times[] = {50}, initial[] = {1};
    kbass_model *model = parse_one("x_t = x");
    double states[1];
    (void)state;
    CHECK_OK(kbass_model_integrate(model, 0, initial, 1, times, states, &error));
    CHECK_CLOSE(states[0] / exp(50), 1, 1e-6); /* 1e-10 a step, some thousand steps */
    kbass_model_destroy(model);
}

static void test_bad_times(void **state)
{
    static const double down[] = {1, 0.5}, early[] = {-1}, nan[] = {NAN}, initial[] = {1}, bad[] = {INFINITY};
    kbass_model *model = parse_one("x_t = -x");
    double s[2];
    (void)state;
    CHECK_FAILS(kbass_model_integrate(model, 0, initial, 2, down, s, &error), KBASS_ERROR_ARGUMENT,
                "time 2 is 0.5, after 1");
    CHECK_FAILS(kbass_model_integrate(model, 0, initial, 1, early, s, &error), KBASS_ERROR_ARGUMENT,
                "time 1 is -1, after 0");
    CHECK_FAILS(kbass_model_integrate(model, 0, initial, 1, nan, s, &error), KBASS_ERROR_ARGUMENT, "times must ascend");
    CHECK_FAILS(kbass_model_integrate(model, NAN, initial, 1, down, s, &error), KBASS_ERROR_ARGUMENT, "start time");
    CHECK_FAILS(kbass_model_integrate(model, 0, bad, 1, down, s, &error), KBASS_ERROR_ARGUMENT, "initial value of x");
    kbass_model_destroy(model);
}

/* ---------------------------------------------------------------- equations */

static void refuse_equations(size_t n, const char *const *equations, kbass_status status, const char *message)
{
    kbass_model *model = NULL;
    CHECK_FAILS(kbass_model_parse(n, equations, NULL, &model, &error), status, message);
    CHECK(model == NULL && kbass_model_parse(n, equations, NULL, &model, NULL) == status);
}

static void test_bad_equations(void **state)
{
    static const char *const twice[] = {"x_t = y", "x_t = -x"};
    static const char *const one_line[] = {"x_t",     "x = y",  "dx/dt = x",     "2x_t = 1",    "_t = 1",
                                           "t_t = 1", "x_t = ", "x_t = 2*z + x", "x_t = x = 1", "x_t = (x"};
    static const char *const messages[] = {"\"x_t\" has no \"=\"", "time derivative, such as x_t",
                                           "time derivative",      "time derivative",
                                           "time derivative",      "\"t\" is time",
                                           "the equation of x: ",  "every state needs an equation",
                                           "the equation of x: ",  "the equation of x: "};
    (void)state;
    refuse_equations(0, NULL, KBASS_ERROR_ARGUMENT, "at least one equation");
    refuse_equations(2, twice, KBASS_ERROR_SYNTAX, "two equations for the state \"x\"");
    for (size_t i = 0; i < sizeof one_line / sizeof *one_line; i++)
        refuse_equations(1, &one_line[i], KBASS_ERROR_SYNTAX, messages[i]);
}

static void test_accessors(void **state)
{
    static const char *const equations[] = {"y_t=x - t", " x_t = -y "};
    kbass_model *model = parse(2, equations);
    double first = 0, last = 0;
    (void)state;
    CHECK(kbass_model_states(model) == 2 && kbass_model_initial(model) == NULL);
    CHECK_TEXT(kbass_model_state_name(model, 0), "y");
    CHECK_TEXT(kbass_model_state_name(model, 1), "x");
    CHECK(kbass_model_state_name(model, 2) == NULL && kbass_model_equation(model, 2) == NULL);
    CHECK_TEXT(kbass_model_equation(model, 1), "x_t = -y");
    first = kbass_model_axis(model, 0)->first, last = kbass_model_axis(model, 0)->last;
    CHECK(isnan(first) && isnan(last));
    kbass_model_destroy(model);
    kbass_model_destroy(NULL);
}

/* ---------------------------------------------------------------- named systems */

static void test_named_systems(void **state)
{
    size_t n = 0;
    (void)state;
    for (; kbass_model_name(n); n++) {
        kbass_model *model = NULL;
        double times[2], states[2 * 6];
        CHECK_OK(kbass_model_named(kbass_model_name(n), &model, &error));
        const kbass_axis *time = kbass_model_axis(model, 0);
        times[0] = time->first, times[1] = time->last;
        CHECK(kbass_model_summary(n) && times[0] < times[1]);
        if (kbass_model_axes(model) > 1) {
            kbass_model_destroy(model);
            continue;
        }
        CHECK(kbass_model_states(model) <= 6);
        CHECK_OK(kbass_model_integrate(model, times[0], kbass_model_initial(model), 2, times, states, &error));
        for (size_t i = 0; i < 2 * kbass_model_states(model); i++) CHECK(fabs(states[i]) <= 100);
        kbass_model_destroy(model);
    }
    CHECK(n >= 24 && kbass_model_summary(n) == NULL);
}

static void test_unknown_system(void **state)
{
    kbass_model *model = NULL;
    (void)state;
    CHECK_FAILS(kbass_model_named("lorentz63", &model, &error), KBASS_ERROR_ARGUMENT, "did you mean \"lorenz63\"?");
    CHECK_FAILS(kbass_model_named("zzz", &model, &error), KBASS_ERROR_ARGUMENT, "known: vdp, lorenz63");
    CHECK(strstr(error.message, "harmonic") && strstr(error.message, "burgers"));
}

/* The Lorenz 63 attractor is symmetric: (-x, -y, z) solves it too. */
static void test_lorenz_symmetry(void **state)
{
    static const double times[] = {1, 2}, mirrored[] = {8, -8, 27};
    kbass_model *model = NULL;
    double a[6], b[6];
    (void)state;
    CHECK_OK(kbass_model_named("lorenz63", &model, &error));
    CHECK_OK(kbass_model_integrate(model, 0, kbass_model_initial(model), 2, times, a, &error));
    CHECK_OK(kbass_model_integrate(model, 0, mirrored, 2, times, b, &error));
    for (int i = 0; i < 6; i++) CHECK_CLOSE(i % 3 == 2 ? b[i] : -b[i], a[i], 1e-6); /* chaos times 1e-10 a step */
    kbass_model_destroy(model);
}

/* Lorenz 96 seen from the next site: x_{i+1} starts as x_i did. */
static void lorenz96_slope(const double *x, double *slope)
{
    for (size_t i = 0; i < 6; i++) slope[i] = (x[(i + 1) % 6] - x[(i + 4) % 6]) * x[(i + 5) % 6] - x[i] + 8;
}

/* x + h * slope */
static void moved(const double *x, double h, const double *slope, double *out)
{
    for (size_t i = 0; i < 6; i++) out[i] = x[i] + h * slope[i];
}

/* The classical method of Runge and Kutta with tiny steps, over as long as the benchmark's chaotic samples. */
static void test_lorenz96_second_road(void **state)
{
    enum { STEPS = 20000 };
    double x[6] = {2.05, 2, 2, 2, 2, 2}, k[4][6], y[6], end = 3.4, h = end / STEPS, found[6];
    kbass_model *model = NULL;
    (void)state;
    CHECK_OK(kbass_model_named("lorenz96", &model, &error));
    CHECK_OK(kbass_model_integrate(model, 0, x, 1, &end, found, &error));
    for (int step = 0; step < STEPS; step++) {
        lorenz96_slope(x, k[0]);
        for (int s = 1; s < 4; s++) {
            moved(x, s < 3 ? h / 2 : h, k[s - 1], y);
            lorenz96_slope(y, k[s]);
        }
        for (size_t i = 0; i < 6; i++) x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    for (size_t i = 0; i < 6; i++) CHECK_CLOSE(found[i], x[i], 1e-5); /* 1e-6 of the largest state */
    kbass_model_destroy(model);
}

static void test_lorenz96_rotation(void **state)
{
    static const double times[] = {2}, rotated[] = {2, 2.05, 2, 2, 2, 2};
    kbass_model *model = NULL;
    double a[6], b[6];
    (void)state;
    CHECK_OK(kbass_model_named("lorenz96", &model, &error));
    CHECK_OK(kbass_model_integrate(model, 0, kbass_model_initial(model), 1, times, a, &error));
    CHECK_OK(kbass_model_integrate(model, 0, rotated, 1, times, b, &error));
    for (int i = 0; i < 6; i++) CHECK_CLOSE(b[(i + 1) % 6], a[i], 1e-5); /* chaos times 1e-10 a step */
    kbass_model_destroy(model);
}

/* ---------------------------------------------------------------- result files */

static const char good_result[] =
    "{\"data\": {\"first_time\": 1900, \"last_time\": 1920.5, \"time_name\": \"year\"},\n"
    " \"initial\": {\"y\": 4, \"x\": 30.25, \"z\": 1},\n"
    " \"equations\": [\n"
    "  {\"lhs\": \"x_t\", \"terms\": [{\"term\": \"x\", \"weight\": 0.5, \"selected\": true},\n"
    "    {\"term\": \"x*y\", \"weight\": -0.025, \"selected\": true}, {\"term\": \"y\", \"weight\": 9, \"selected\": "
    "false}]},\n"
    "  {\"lhs\": \"y_t\", \"terms\": [{\"term\": \"1\", \"weight\": -1e-7, \"selected\": true},\n"
    "    {\"term\": \"y - year\", \"weight\": -1, \"selected\": true}]},\n"
    "  {\"lhs\": \"z_t\", \"terms\": []}]}\n";

/* The good result with `old` replaced. */
static void write_result(const char *old, const char *new)
{
    char text[2 * sizeof good_result];
    const char *at = strstr(good_result, old);
    CHECK(at != NULL);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good_result), good_result, new, at + strlen(old));
    write_text(text);
}

static void test_result_file(void **state)
{
    kbass_model *model = NULL;
    double first = 0, last = 0;
    (void)state;
    write_text(good_result);
    CHECK_OK(kbass_model_from_result(path, &model, &error));
    CHECK(kbass_model_states(model) == 3);
    CHECK_TEXT(kbass_model_equation(model, 0), "x_t = 0.5*x - 0.025*x*y");
    CHECK_TEXT(kbass_model_equation(model, 1), "y_t = -1e-07*1 - 1*(y - year)");
    CHECK_TEXT(kbass_model_equation(model, 2), "z_t = 0");
    CHECK(kbass_model_initial(model)[0] == 30.25 && kbass_model_initial(model)[1] == 4);
    first = kbass_model_axis(model, 0)->first, last = kbass_model_axis(model, 0)->last;
    CHECK(first == 1900 && last == 1920.5);
    kbass_model_destroy(model);
}

static void refuse_result(const char *old, const char *new, const char *message)
{
    kbass_model *model = NULL;
    write_result(old, new);
    kbass_status status = kbass_model_from_result(path, &model, &error);
    CHECK(status == KBASS_ERROR_DATA || status == KBASS_ERROR_SYNTAX);
    CHECK(model == NULL && strncmp(error.message, path, strlen(path)) == 0);
    if (!strstr(error.message, message)) fail_msg("\"%s\" does not contain \"%s\"", error.message, message);
}

static void test_bad_result_files(void **state)
{
    kbass_model *model = NULL;
    (void)state;
    CHECK_FAILS(kbass_model_from_result("/no/such.json", &model, &error), KBASS_ERROR_FILE, "/no/such.json");
    refuse_result("]}\n", "", ": not a result file: ");
    refuse_result("\"equations\"", "\"equation\"", "\"equations\" is missing or not a list");
    refuse_result(good_result, "{\"equations\": []}", "the result has no equations");
    refuse_result(good_result, "[1, 2]", "\"equations\" is missing");
    refuse_result("\"lhs\": \"x_t\"", "\"lhs\": 3", "\"equations[0].lhs\" is missing or not text");
    refuse_result("[]}", "{}}", "\"equations[2].terms\" is missing or not a list");
    refuse_result("\"weight\": -0.025", "\"weight\": null",
                  "\"equations[0].terms[1].weight\" is missing or not a number");
    refuse_result("\"term\": \"1\"", "\"name\": \"1\"", "\"equations[1].terms[0].term\" is missing or not text");
    refuse_result("true", "\"yes\"", "\"equations[0].terms[0].selected\" is missing or not true or false");
    refuse_result("\"y\": 4", "\"y\": \"4\"", "\"initial.y\" is missing or not a number");
    refuse_result(", \"z\": 1", "", "\"initial.z\" is missing");
    refuse_result("\"time_name\": \"year\"", "\"time_name\": 7", "\"data.time_name\" is missing or not text");
    refuse_result("\"year\"", "\"t\"", "unknown name \"year\"");
    refuse_result("x*y", "x*", "the equation of x: ");
    refuse_result("1920.5", "null", "\"data.last_time\" is missing or not a number");
}

/* ---------------------------------------------------------------- no memory */

static kbass_status whole_life(void)
{
    static const double times[] = {0.5, 1};
    double states[4];
    kbass_model *named = NULL, *read = NULL;
    kbass_status status = kbass_model_named("harmonic", &named, &error);
    if (status == KBASS_OK)
        status = kbass_model_integrate(named, 0, kbass_model_initial(named), 2, times, states, &error);
    if (status == KBASS_OK) status = kbass_model_from_result(path, &read, &error);
    kbass_model_destroy(named);
    kbass_model_destroy(read);
    return status;
}

/* Each of our allocations in turn fails; the leak checker of the sanitizers watches. */
static void test_without_memory(void **state)
{
    long n = 0;
    (void)state;
    write_text(good_result);
    for (kbass_status status = KBASS_ERROR_MEMORY; status != KBASS_OK; n++) {
        kb_memory_fail_after(n);
        status = whole_life();
        kb_memory_fail_after(-1);
        CHECK(status == KBASS_OK || status == KBASS_ERROR_MEMORY);
    }
    CHECK(n > 20);
}

/* A state that is exactly 0 makes CVODES begin with a step of a few roundings of t. */
static void test_start_at_zero(void **state)
{
    (void)state;
    static const char *const equations[] = {"x_t = y", "y_t = -x"};
    const double initial[] = {2, 0}, time = 7;
    double found[2];
    kbass_model *model = NULL;
    CHECK_OK(kbass_model_parse(2, equations, NULL, &model, &error));
    CHECK_OK(kbass_model_integrate(model, 6, initial, 1, &time, found, &error));
    CHECK_CLOSE(found[0], 2 * cos(1), 1e-9); /* the integrator's 1e-12, with room */
    kbass_model_destroy(model);
}

/* Against the formulas themselves, with and without times. */
static void test_rates(void **state)
{
    (void)state;
    static const char *const equations[] = {"x_t = y + t", "y_t = -x*y"};
    const double times[] = {3, 0.5}, points[] = {1, 2, -4, 0.25};
    double found[4];
    kbass_model *model = parse(2, equations);
    CHECK_OK(kbass_model_rates(model, 2, times, points, found, &error));
    CHECK_CLOSE(found[0], 5, 0); /* whole numbers and powers of two are exact */
    CHECK_CLOSE(found[1], -2, 0);
    CHECK_CLOSE(found[2], 0.75, 0);
    CHECK_CLOSE(found[3], 1, 0);
    CHECK_OK(kbass_model_rates(model, 1, NULL, points, found, &error));
    CHECK_CLOSE(found[0], 2, 0);
    kbass_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_harmonic_oscillator),
        cmocka_unit_test(test_logistic_growth),
        cmocka_unit_test(test_driven_by_time),
        cmocka_unit_test(test_stiff),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_infinite_slope),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_blow_up),
        cmocka_unit_test(test_growth_is_not_blow_up),
        cmocka_unit_test(test_bad_times),
        cmocka_unit_test(test_bad_equations),
        cmocka_unit_test(test_accessors),
        cmocka_unit_test(test_named_systems),
        cmocka_unit_test(test_unknown_system),
        cmocka_unit_test(test_lorenz_symmetry),
        cmocka_unit_test(test_lorenz96_second_road),
        cmocka_unit_test(test_lorenz96_rotation),
        cmocka_unit_test(test_result_file),
        cmocka_unit_test(test_bad_result_files),
        cmocka_unit_test(test_start_at_zero),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
