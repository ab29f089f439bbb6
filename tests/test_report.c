/* The JSON report, read back by jansson and compared with docs/schema.md in both directions. */
#include <jansson.h>
#include <stdlib.h>

#include "base/memory.h"
#include "check.h"
#include "report/json.h"

static const kbass_term x_terms[] = {{"y", 1, 0, 1, 1, KBASS_IN, 1, 1, 1, 0, NULL, 0, NULL, 0}};
static const kbass_term y_terms[] = {
    {"y", 2.499, 0.02, 0.9995, 1, KBASS_IN, 2.46, 2.538, 2.498, 0.021, "1/s", 0.019, NULL, 0},
    {"x^2*y", -2.5, 0.03, 0.999, 1, KBASS_IN, -2.559, -2.441, -2.5, 0.031, NULL, 0.029, NULL, 0},
    {"1", 0.25, 0.01, 0.9, 1, KBASS_IN, 0.23, 0.27, 0.225, 0.08, "m/s", 0.01, NULL, 0},
    {"x + sin(y)", -1.5, 0.1, 0.8, 1, KBASS_UNDECIDED, -1.7, -1.3, -1.2, 0.6, NULL, 0.1, NULL, 0},
    {"x^3", 0.01, NAN, 0.02, 0, KBASS_OUT, NAN, NAN, 0.0002, 0.001, NULL, NAN, NULL, 0}};
static const kbass_equation equations[] = {{"x_t", 1, 1, x_terms}, {"y_t", 0, 5, y_terms}};
static const double noise[] = {0.1, INFINITY}, initial[] = {1, 0};
static const char *const rival_equations[] = {"x_t = y", "y_t = -x"};
static const double correlation[] = {1,   0.5, 0,    0, /* of the four selected terms of y_t: x_t is known */
                                     0.5, 1,   -0.2, 0, 0, -0.2, 1, 0.1, 0, 0, 0.1, 1};
static const char *const alike[] = {"1", "x^3"};
static const kbass_group groups[] = {{"y_t", 2, alike, 1, 0.97}};
static const double alike_weights[] = {1.5, -0.5};
static const kbass_alike told_alike[] = {
    {KBASS_ALIKE_TERMS, "y_t", "x", 2, 2, alike, alike_weights, 1e-5, "y_t: 2 x may as well be others"}};
static const kbass_weight_change changes[] = {{"y_t", "y", 2.499, 0.02, 1.2, 0.4}, {"y_t", "1", 0.25, 0.01, 0, 0}};
static const kbass_explanation explanations[] = {{"y_t", "1", 0, 1, -7.5, -4.5, 0.1, 0.3, 2, changes}};
static const double noise_low[] = {0.08, NAN}, noise_high[] = {0.13, NAN};
static const kbass_residual_test tests_of_residuals[] = {{0, KBASS_TEST_SPREAD, 4.2, 0.001}};
static const char *const warnings[] = {"the scatter of x grows with its size"};
static const kbass_runner_up rivals[] = {{-2, 0.12, 0.2, 2, rival_equations, "with y_t: x"}};

static const kbass_varied varied[] = {{"x_t", "y", 2, initial, initial, 0.5, 3}};
static const kbass_missing_term missing[] = {{0, "sin(x)", 5.5, 1e-6}};
static const kbass_misfit misfits[] = {{0, 0.5, 1, NAN, NAN, -4, 1e-4}};

static const char *const fold_equations[] = {"x_t = 1 y", "y_t = -1 x"};
static const kbass_fold folds[] = {{.name = "t > 0.75",
                                    .is_scored = 1,
                                    .n_equations = 2,
                                    .equations = fold_equations,
                                    .is_same = 1,
                                    .n_values = 8,
                                    .r2 = 0.9,
                                    .log_score = -1.5,
                                    .leaves = NAN}};

static kbass_result sample_result(void)
{
    kbass_result result = {.outcome = KBASS_CONVERGED,
                           .n_equations = 2,
                           .equations = equations,
                           .n_states = 2,
                           .noise = noise,
                           .noise_low = noise_low,
                           .noise_high = noise_high,
                           .n_tests = 1,
                           .tests = tests_of_residuals,
                           .n_warnings = 1,
                           .warnings = warnings,
                           .initial = initial,
                           .n_weights = 4,
                           .correlation = correlation,
                           .n_groups = 1,
                           .groups = groups,
                           .n_alike = 1,
                           .alike = told_alike,
                           .engine = "the integrated equation",
                           .n_runners_up = 1,
                           .runners_up = rivals,
                           .n_explanations = 1,
                           .explanations = explanations,
                           .n_varied = 1,
                           .varied = varied,
                           .n_missing = 1,
                           .missing = missing,
                           .n_misfits = 1,
                           .misfits = misfits,
                           .n_folds = 1,
                           .folds = folds,
                           .probability = 0.88,
                           .log_evidence = -12.5,
                           .n_starts = 12,
                           .n_starts_lost = 1,
                           .n_models = 40,
                           .seconds = {0.1, 0.2, 0.3, 0.4},
                           .seconds_total = 1};
    return result;
}

static kbass_data *sample_data(void)
{
    static const double times[] = {0, 0.5, 1}, values[] = {1, 0, 2, NAN, 3, 1};
    static const char *const names[] = {"x", "y"};
    kbass_data *data = NULL;
    kbass_error error;
    CHECK_OK(kbass_data_create(3, 2, times, values, NULL, names, &data, &error));
    return data;
}

static kbass_data *sample_field(void)
{
    static const double times[] = {0, 0, 1, 1}, positions[] = {-2, 3, 3, -2}, values[] = {1, 2, 3, 4};
    static const char *const axes[] = {"t", "x"}, *const names[] = {"u"};
    kbass_data *data = NULL;
    kbass_error error;
    CHECK_OK(kbass_data_create_axes(4, 2, 1, times, positions, values, axes, names, &data, &error));
    return data;
}

/* One model of a field with one term. */
static kbass_posterior *sample_posterior(void)
{
    kbass_data *data = sample_field();
    kbass_posterior *p = NULL;
    kbass_error error;
    CHECK_OK(kb_posterior_create(data, 0, 3, 1, &p, &error));
    CHECK_OK(kb_belief_allocate(p, 1, 1, &p->models[0], &error));
    p->n_models = 1;
    p->profile.n_modes = 3;
    p->models[0].term[0] = kb_strdup("u_xx");
    p->models[0].weight[0] = 0.25;
    p->models[0].windows[0].covariance[5] = 2; /* (1, 1) of 4 x 4 */
    kbass_data_destroy(data);
    return p;
}

/* A solution that is known everywhere: state j is t + 2 x + 10 j, and 100 more in each run; its sd 0.1; NaN where t is
 * last. */
static kbass_status fourier(const void *context, size_t run, size_t n, const double *times, const double *positions,
                            double *mean, double *sd, kbass_error *error)
{
    const kbass_data *data = context;
    (void)error;
    for (size_t i = 0; i < n * data->n_states; i++) {
        size_t point = i / data->n_states;
        mean[i] = times[point] + 2 * (positions ? positions[point] : 0) + 10 * (double)(i % data->n_states) +
                  100 * (double)run;
        if (sd) sd[i] = times[point] == data->times[data->n_rows - 1] ? NAN : 0.1;
    }
    return KBASS_OK;
}

/* Takes the data over. */
static json_t *report_on(kbass_data *data, const kbass_result *result)
{
    kbass_settings settings;
    kbass_error error;
    json_error_t trouble;
    char *text = NULL;
    kb_settings_default(&settings);
    settings.box_degree = 4;
    settings.fix = "x_t = y";
    settings.constant = 1;
    settings.seed = 7;
    kbass_posterior *posterior = sample_posterior();
    kb_sketch *sketch = NULL;
    if (!data->sigma) data->sigma = KB_NEW(double, data->n_rows * data->n_states);
    CHECK_OK(kb_sketch_create(data, fourier, data, &sketch, &error));
    CHECK_OK(kb_report_json(data, &settings, result, &posterior, sketch, &text, &error));
    kbass_posterior_destroy(posterior);
    kb_sketch_destroy(sketch);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &trouble);
    if (!root) fail_msg("line %d: %s", trouble.line, trouble.text);
    kbass_free(text);
    kbass_data_destroy(data);
    return root;
}

static json_t *report_of(const kbass_result *result) { return report_on(sample_data(), result); }

/* Follows "equations[].terms[].term": [] is the last item of a list, NAME the first member of an object. */
static json_t *follow(json_t *at, const char *path)
{
    while (at && *path) {
        char key[80];
        size_t length = strcspn(path, ".[");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        if (!strcmp(key, "NAME")) at = json_object_iter_value(json_object_iter(at));
        else if (length) at = json_object_get(at, key);
        path += length;
        if (!strncmp(path, "[]", 2)) {
            at = json_array_get(at, json_array_size(at) - 1);
            path += 2;
        }
        path += *path == '.';
    }
    return at;
}

static char *schema_text(void)
{
    FILE *file = fopen(KBASS_ROOT "/docs/schema.md", "r");
    CHECK(file);
    char *text = calloc(1, 1 << 16);
    CHECK(text && fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

static void documented_keys_are_written(void **state)
{
    (void)state;
    kbass_result result = sample_result();
    json_t *root = report_of(&result);
    char *schema = schema_text(), *at = schema;
    size_t n = 0;
    while ((at = strstr(at, "\n| `"))) {
        char path[80];
        at += strlen("\n| `");
        snprintf(path, sizeof path, "%.*s", (int)strcspn(at, "`"), at);
        if (!follow(root, path)) fail_msg("docs/schema.md names %s, which is not written", path);
        n++;
    }
    CHECK(n > 40);
    free(schema);
    json_decref(root);
}

static bool has_free_names(const char *path)
{
    static const char *const maps[] = {"settings",       "data.missing",  "data.span",        "initial",
                                       "runs[].initial", "noise",         "solution.axes",    "solution.mean",
                                       "solution.sd",    "samples.axes",  "samples.measured", "samples.sigma",
                                       "samples.fitted", "noise_interval"};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (!strcmp(maps[i], path)) return true;
    return false;
}

static void check_documented(json_t *at, const char *path, const char *schema)
{
    char row[200];
    const char *key = NULL;
    json_t *value = NULL;
    snprintf(row, sizeof row, "\n| `%s` |", path);
    if (*path && path[strlen(path) - 1] != ']' && !strstr(schema, row)) fail_msg("docs/schema.md lacks %s", path);
    json_object_foreach(at, key, value)
    {
        char inner[160];
        snprintf(inner, sizeof inner, "%s%s%s", path, *path ? "." : "", has_free_names(path) ? "NAME" : key);
        check_documented(value, inner, schema);
    }
    if (json_array_size(at) && json_is_object(json_array_get(at, 0))) {
        char inner[160];
        snprintf(inner, sizeof inner, "%s[]", path);
        check_documented(json_array_get(at, 0), inner, schema);
    }
}

static void written_keys_are_documented(void **state)
{
    (void)state;
    kbass_result result = sample_result();
    json_t *root = report_of(&result);
    char *schema = schema_text();
    check_documented(root, "", schema);
    free(schema);
    json_decref(root);
}

static const char *text_at(json_t *root, const char *path) { return json_string_value(follow(root, path)); }

static double number_at(json_t *root, const char *path) { return json_number_value(follow(root, path)); }

static void values_are_those_of_the_result(void **state)
{
    (void)state;
    kbass_result result = sample_result();
    json_t *root = report_of(&result);
    CHECK_TEXT(text_at(root, "format"), "kbass-result");
    CHECK_TEXT(text_at(root, "version"), kbass_version());
    CHECK_TEXT(text_at(root, "method"), "kbass");
    CHECK_TEXT(text_at(root, "outcome"), kbass_outcome_name(KBASS_CONVERGED));
    CHECK(json_integer_value(follow(root, "seed")) == 7);
    CHECK(json_integer_value(follow(root, "settings.box-degree")) == 4);
    CHECK(json_is_null(follow(root, "settings.degree")));
    CHECK(json_is_null(follow(root, "settings.terms")));
    CHECK(json_is_true(follow(root, "settings.constant")));
    CHECK_TEXT(text_at(root, "settings.fix"), "x_t = y");
    CHECK_TEXT(text_at(root, "settings.kernel"), "se");
    CHECK(json_integer_value(follow(root, "data.rows")) == 3);
    CHECK(json_integer_value(follow(root, "data.missing.y")) == 1);
    CHECK(strlen(text_at(root, "data.sha256")) == 64);
    CHECK_CLOSE(number_at(root, "data.last_time"), 1, 0);         /* a number that is exact in decimal */
    CHECK_CLOSE(number_at(root, "runners_up[].log_odds"), -2, 0); /* likewise */
    CHECK_CLOSE(number_at(root, "seconds.polish"), 0.4, 1e-15);   /* 15 digits are written */
    CHECK_CLOSE(number_at(root, "noise.x"), 0.1, 1e-15);          /* likewise */
    CHECK(json_array_size(follow(root, "equations[].terms")) == 5);
    CHECK(json_is_true(follow(json_array_get(follow(root, "equations"), 0), "known")));
    CHECK(json_is_false(follow(root, "equations[].terms[].selected")));
    CHECK_CLOSE(number_at(root, "posterior.models[].terms[].weight"), 0.25, 0); /* exact in decimal */
    json_t *rows = follow(root, "posterior.models[].windows[].covariance");
    CHECK(json_array_size(rows) == 4 && json_array_size(json_array_get(rows, 3)) == 4);
    CHECK_CLOSE(json_number_value(json_array_get(json_array_get(rows, 1), 1)), 2, 0); /* likewise */
    json_decref(root);
}

static void what_is_not_finite_is_null(void **state)
{
    (void)state;
    kbass_result result = sample_result();
    result.log_evidence = -INFINITY;
    json_t *root = report_of(&result);
    CHECK(json_is_null(follow(root, "noise.y")));
    CHECK(json_is_null(follow(root, "equations[].terms[].sd")));
    CHECK(json_is_null(follow(root, "log_evidence")));
    json_decref(root);
}

static void equations_are_written_for_the_parser(void **state)
{
    (void)state;
    kbass_result result = sample_result();
    json_t *root = report_of(&result);
    const char *x = text_at(json_array_get(follow(root, "equations"), 0), "text");
    CHECK_TEXT(x, "x_t = y");
    CHECK_TEXT(text_at(root, "equations[].text"), "y_t = 2.499*y - 2.5*x^2*y + 0.25 - 1.5*(x + sin(y))");
    json_decref(root);
}

static void a_run_without_a_model_is_reported(void **state)
{
    (void)state;
    const kbass_outcome outcomes[] = {KBASS_NO_MODEL, KBASS_TIME_LIMIT, KBASS_CANCELLED};
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        kbass_result bare = {.outcome = outcomes[i], .probability = NAN, .log_evidence = NAN};
        json_t *root = report_of(&bare);
        CHECK_TEXT(text_at(root, "outcome"), kbass_outcome_name(outcomes[i]));
        CHECK(json_is_array(follow(root, "equations")) && json_array_size(follow(root, "equations")) == 0);
        CHECK(json_is_object(follow(root, "initial")));
        json_decref(root);
    }
}

static void fields_have_axes_and_no_initial_state(void **state)
{
    (void)state;
    kbass_result result = sample_result();
    json_t *root = report_on(sample_field(), &result);
    json_t *axes = follow(root, "data.axes"), *x = follow(root, "data.span.x");
    CHECK(json_array_size(axes) == 2 && json_array_size(x) == 2);
    CHECK_TEXT(json_string_value(json_array_get(axes, 0)), "t");
    CHECK_TEXT(json_string_value(json_array_get(axes, 1)), "x");
    CHECK_CLOSE(json_number_value(json_array_get(x, 0)), -2, 0); /* a number that is exact in decimal */
    CHECK_CLOSE(json_number_value(json_array_get(x, 1)), 3, 0);  /* likewise */
    CHECK(json_is_null(follow(root, "initial")));
    json_decref(root);
    root = report_of(&result);
    CHECK(json_array_size(follow(root, "data.axes")) == 1 && json_is_object(follow(root, "initial")));
    json_decref(root);
}

static double item(json_t *root, const char *path, size_t index)
{
    return json_number_value(json_array_get(follow(root, path), index));
}

static void figures_get_a_grid_and_the_samples(void **state)
{
    (void)state;
    kbass_result result = sample_result();
    json_t *root = report_on(sample_field(), &result);
    size_t n_t = json_array_size(follow(root, "solution.axes.t")),
           n_x = json_array_size(follow(root, "solution.axes.x"));
    CHECK(n_t > 2 && n_x > 2 && json_array_size(follow(root, "solution.mean.u")) == n_t * n_x);
    for (size_t i = 0; i < n_t; i += 7)
        for (size_t j = 0; j < n_x; j += 11)
            CHECK_CLOSE(item(root, "solution.mean.u", i * n_x + j),
                        item(root, "solution.axes.t", i) + 2 * item(root, "solution.axes.x", j), 1e-5); /* 7 digits */
    CHECK_CLOSE(item(root, "solution.sd.u", 0), 0.1, 1e-7);                                             /* likewise */
    CHECK(json_is_null(json_array_get(follow(root, "solution.sd.u"), n_t * n_x - 1)));
    CHECK(json_integer_value(follow(root, "samples.step")) == 1);
    for (size_t i = 0; i < 4; i++) /* small whole numbers are exact */
        CHECK_CLOSE(item(root, "samples.fitted.u", i),
                    item(root, "samples.axes.t", i) + 2 * item(root, "samples.axes.x", i), 0);
    json_decref(root);
    root = report_of(&result);
    CHECK(json_is_null(json_array_get(follow(root, "samples.measured.y"), 1))); /* not measured */
    CHECK_CLOSE(item(root, "samples.fitted.y", 1), 10.5, 0);                    /* exact in decimal */
    json_decref(root);
}

static void each_run_is_drawn_over_its_own_times(void **state)
{
    (void)state;
    static const double times[] = {0, 1, 2, 5, 6, 9}, values[] = {1, 2, 3, 4, 5, 6};
    static const char *const names[] = {"x"}, *const runs[] = {"a", "b"};
    kbass_data *parts[2] = {0}, *data = NULL;
    kbass_error error;
    CHECK_OK(kbass_data_create(3, 1, times, values, NULL, names, &parts[0], &error));
    CHECK_OK(kbass_data_create(3, 1, times + 3, values + 3, NULL, names, &parts[1], &error));
    CHECK_OK(kbass_data_join(2, (const kbass_data *const *)parts, runs, &data, &error));
    kb_sketch *sketch = NULL;
    CHECK_OK(kb_sketch_create(data, fourier, data, &sketch, &error));
    CHECK(sketch->n_runs == 2 && sketch->n_along[0] == 800);
    CHECK_CLOSE(sketch->along[0][399], 2, 0); /* the ends are the data's */
    CHECK_CLOSE(sketch->along[0][400], 5, 0);
    CHECK_CLOSE(sketch->mean[400], 105, 0); /* whole numbers */
    CHECK_CLOSE(sketch->fitted[2], 2, 0);
    CHECK_CLOSE(sketch->fitted[5], 109, 0);
    kb_sketch_destroy(sketch);
    for (size_t i = 0; i < 2; i++) kbass_data_destroy(parts[i]);
    kbass_data_destroy(data);
}

static void many_rows_are_thinned(void **state)
{
    (void)state;
    enum { N = 25001 };
    static double times[N], values[N];
    static const char *const names[] = {"x"};
    kbass_data *data = NULL;
    kb_sketch *sketch = NULL;
    kbass_error error;
    for (size_t i = 0; i < N; i++) times[i] = values[i] = (double)i;
    CHECK_OK(kbass_data_create(N, 1, times, values, NULL, names, &data, &error));
    CHECK_OK(kb_sketch_create(data, fourier, data, &sketch, &error));
    CHECK(sketch->n_rows <= 10000 && (sketch->n_rows - 1) * sketch->step < N && sketch->n_rows * sketch->step >= N);
    CHECK_CLOSE(sketch->fitted[sketch->n_rows - 1], (double)((sketch->n_rows - 1) * sketch->step),
                0); /* whole numbers */
    kb_sketch_destroy(sketch);
    kbass_data_destroy(data);
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    kbass_posterior *none = NULL;
    kbass_data *data = sample_data();
    kbass_result result = sample_result();
    kbass_settings settings;
    kbass_error error;
    char *text = NULL;
    kb_settings_default(&settings);
    for (long n = 0; !text && n < 1000; n++) {
        kb_memory_fail_after(n);
        kbass_status status = kb_report_json(data, &settings, &result, &none, NULL, &text, &error);
        kb_memory_fail_after(-1);
        CHECK(status == KBASS_ERROR_MEMORY || (status == KBASS_OK && text && strstr(text, "\"total\"")));
    }
    CHECK(text);
    kbass_free(text);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documented_keys_are_written),
        cmocka_unit_test(written_keys_are_documented),
        cmocka_unit_test(values_are_those_of_the_result),
        cmocka_unit_test(what_is_not_finite_is_null),
        cmocka_unit_test(equations_are_written_for_the_parser),
        cmocka_unit_test(a_run_without_a_model_is_reported),
        cmocka_unit_test(fields_have_axes_and_no_initial_state),
        cmocka_unit_test(figures_get_a_grid_and_the_samples),
        cmocka_unit_test(each_run_is_drawn_over_its_own_times),
        cmocka_unit_test(many_rows_are_thinned),
        cmocka_unit_test(lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
