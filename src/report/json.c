#include "report/json.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/data.h"
#include "report/json_parts.h"

/* ---------------------------------------------------------------- settings */

/* 0 stands for "chosen from the data" where it is the default: null. */
static json_t *setting_number(const kbass_setting_info *info, const char *written)
{
    double value = NAN;
    if (!kb_number_parse(written, &value) || (value == 0 && info->standard == 0)) return json_null();
    return info->kind == KBASS_INTEGER ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *setting(const kbass_settings *settings, size_t index)
{
    const kbass_setting_info *info = kbass_settings_info(index);
    size_t length = kbass_settings_get(settings, info->name, NULL, 0);
    char *written = KB_NEW(char, length + 1);
    json_t *value = NULL;
    if (!written) return NULL;
    kbass_settings_get(settings, info->name, written, length + 1);
    if (info->kind == KBASS_INTEGER || info->kind == KBASS_REAL) value = setting_number(info, written);
    else if (info->kind == KBASS_FLAG) value = json_boolean(!strcmp(written, "yes"));
    else value = *written ? kb_json_text(written) : json_null();
    kb_free(written);
    return value;
}

static json_t *all_settings(const kbass_settings *settings)
{
    json_t *object = json_object();
    for (size_t i = 0; i < kbass_settings_count(); i++)
        kb_json_put(&object, kbass_settings_info(i)->name, setting(settings, i));
    return object;
}

static json_t *method(const kbass_settings *settings)
{
    for (size_t i = 0; i < kbass_settings_count(); i++)
        if (!strcmp(kbass_settings_info(i)->name, "method")) return setting(settings, i);
    return NULL;
}

/* ---------------------------------------------------------------- data */

static size_t missing_values(const kbass_data *data, size_t state)
{
    size_t missing = 0;
    for (size_t row = 0; row < data->n_rows; row++) missing += isnan(data->values[row * data->n_states + state]) != 0;
    return missing;
}

/* [first, last] along an axis */
static json_t *span(const kbass_data *data, size_t axis)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t row = 0; row < data->n_rows; row++) {
        low = fmin(low, kb_data_coordinate(data, row, axis));
        high = fmax(high, kb_data_coordinate(data, row, axis));
    }
    return kb_json_pair(low, high);
}

/* Names as they were written, and units, where there are any. */
static json_t *captions(const kbass_data *data, bool are_faces)
{
    json_t *object = json_object();
    for (size_t i = 0; i < data->n_axes + data->n_states; i++) {
        bool is_axis = i < data->n_axes;
        const char *name = is_axis ? data->axis_names[i] : data->state_names[i - data->n_axes];
        const char *face = kbass_data_face(data, name), *unit = kb_data_unit(data, name);
        if (are_faces && strcmp(face, name) != 0) kb_json_put(&object, name, kb_json_text(face));
        if (!are_faces && unit) kb_json_put(&object, name, kb_json_text(unit));
    }
    return object;
}

/* What reading was told: for those who read the data again. */
static json_t *reading(const kbass_data *data)
{
    json_t *object = json_object();
    for (size_t i = 0; i < KB_ASKED; i++)
        if (data->asked[i]) kb_json_put(&object, kb_asked_names[i], kb_json_text(data->asked[i]));
    return object;
}

static json_t *data_summary(const kbass_data *data)
{
    json_t *states = json_array(), *missing = json_object(), *axes = json_array(), *spans = json_object();
    for (size_t i = 0; i < data->n_states; i++) {
        kb_json_append(&states, kb_json_text(data->state_names[i]));
        kb_json_put(&missing, data->state_names[i], kb_json_count(missing_values(data, i)));
    }
    for (size_t axis = 0; axis < data->n_axes; axis++) {
        kb_json_append(&axes, kb_json_text(data->axis_names[axis]));
        kb_json_put(&spans, data->axis_names[axis], span(data, axis));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "source",
                     kb_json_text(data->source), "sha256", kb_json_text(data->sha256), "rows",
                     kb_json_count(data->n_rows), "states", states, "axes", axes, "span", spans, "time_name",
                     kb_json_text(data->time_name), "first_time", kb_json_number(data->times[0]), "last_time",
                     kb_json_number(data->times[kb_data_run_start(data, 1) - 1]), "missing", missing, "run_column",
                     data->run_column ? kb_json_text(data->run_column) : json_null(), "sigma_columns",
                     data->sigma_columns ? kb_json_text(data->sigma_columns) : json_null(), "part",
                     data->part ? kb_json_text(data->part) : json_null(), "faces", captions(data, true), "units",
                     captions(data, false), "time_origin",
                     data->time_origin ? kb_json_text(data->time_origin) : json_null(), "reading", reading(data));
}

static json_t *by_state(const kbass_data *data, size_t n, const double *values)
{
    json_t *object = json_object();
    for (size_t i = 0; values && i < n && i < data->n_states; i++)
        kb_json_put(&object, data->state_names[i], kb_json_number(values[i]));
    return object;
}

/* A field begins with a whole profile: an expression in x where there is one, else null. */
static json_t *initial_state(const kbass_data *data, const kbass_result *result, size_t run)
{
    size_t n = result->n_states;
    if (data->n_axes == 1) return by_state(data, n, result->initial ? result->initial + run * n : NULL);
    if (!result->profiles) return json_null();
    json_t *object = json_object();
    for (size_t i = 0; i < n; i++)
        kb_json_put(&object, data->state_names[i], kb_json_text(result->profiles[run * n + i]));
    return object;
}

/* ---------------------------------------------------------------- noise */

static json_t *noise_intervals(const kbass_data *data, const kbass_result *result)
{
    json_t *object = json_object();
    for (size_t i = 0; result->noise_low && result->noise_high && i < result->n_states && i < data->n_states; i++)
        kb_json_put(&object, data->state_names[i], kb_json_pair(result->noise_low[i], result->noise_high[i]));
    return object;
}

static const char *test_name(kbass_test_kind kind)
{
    static const char *const names[] = {"whiteness", "normality", "spread"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

static json_t *all_tests(const kbass_data *data, const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_tests; i++) {
        const kbass_residual_test *test = &result->tests[i];
        kb_json_append(&array, json_pack("{s:o, s:s, s:o, s:o}", "state", kb_json_text(data->state_names[test->state]),
                                         "test", test_name(test->kind), "score", kb_json_number(test->score), "p_value",
                                         kb_json_number(test->p_value)));
    }
    return array;
}

static json_t *all_warnings(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_warnings; i++) kb_json_append(&array, kb_json_text(result->warnings[i]));
    return array;
}

/* ---------------------------------------------------------------- the whole */

static json_t *all_missing(const kbass_data *data, const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_missing; i++) {
        const kbass_missing_term *m = &result->missing[i];
        kb_json_append(&array, json_pack("{s:o, s:o, s:o, s:o}", "state", kb_json_text(data->state_names[m->state]),
                                         "term", kb_json_text(m->term), "score", kb_json_number(m->score), "p_value",
                                         kb_json_number(m->p_value)));
    }
    return array;
}

static json_t *all_misfits(const kbass_data *data, const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_misfits; i++) {
        const kbass_misfit *m = &result->misfits[i];
        kb_json_append(&array, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "state",
                                         kb_json_text(data->state_names[m->state]), "from", kb_json_number(m->from),
                                         "until", kb_json_number(m->until), "low", kb_json_number(m->low), "high",
                                         kb_json_number(m->high), "score", kb_json_number(m->score), "p_value",
                                         kb_json_number(m->p_value)));
    }
    return array;
}

static json_t *numbers(size_t n, const double *values)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) kb_json_append(&array, kb_json_number(values[i]));
    return array;
}

static json_t *all_varied(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_varied; i++) {
        const kbass_varied *v = &result->varied[i];
        kb_json_append(&array, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "lhs", kb_json_text(v->lhs), "term",
                                         kb_json_text(v->term), "weights", numbers(v->n_runs, v->weights), "sds",
                                         numbers(v->n_runs, v->sds), "spread", kb_json_number(v->spread), "log_odds",
                                         kb_json_number(v->log_odds)));
    }
    return array;
}

static json_t *varied_equations(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; result->varied_equations && i < result->n_equations; i++)
        kb_json_append(&array, kb_json_text(result->varied_equations[i]));
    return array;
}

static json_t *seconds(const kbass_result *result)
{
    json_t *object = json_object();
    for (int stage = 0; stage < KBASS_STAGE_COUNT; stage++)
        kb_json_put(&object, kbass_stage_name(stage), kb_json_number(result->seconds[stage]));
    kb_json_put(&object, "total", kb_json_number(result->seconds_total));
    return object;
}

/* Each run with its own initial state, or profile. */
static json_t *all_runs(const kbass_data *data, const kbass_result *result)
{
    json_t *runs = json_array();
    for (size_t run = 0; run < kbass_data_runs(data); run++) {
        size_t first = kb_data_run_start(data, run), end = kb_data_run_start(data, run + 1);
        kb_json_append(&runs, json_pack("{s:o, s:o, s:o, s:o, s:o}", "name",
                                        kb_json_text(data->n_runs ? data->run_names[run] : ""), "rows",
                                        kb_json_count(end - first), "first_time", kb_json_number(data->times[first]),
                                        "last_time", kb_json_number(data->times[end - 1]), "initial",
                                        initial_state(data, result, run)));
    }
    return runs;
}

/* Of unknown constants inside terms: correlations in the order of the weights. */
static json_t *all_constants(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_constants; i++) {
        const kbass_constant *c = &result->constants[i];
        json_t *correlation = c->correlation ? json_array() : json_null();
        for (size_t k = 0; c->correlation && k < c->n_weights; k++)
            kb_json_append(&correlation, kb_json_number(c->correlation[k]));
        kb_json_append(&array, json_pack("{s:o, s:b, s:o, s:o, s:o, s:o, s:b, s:b, s:o}", "name", kb_json_text(c->name),
                                         "selected", c->is_used, "value", kb_json_number(c->value), "sd",
                                         kb_json_number(c->sd), "interval", kb_json_pair(c->low, c->high), "range",
                                         kb_json_pair(c->range_low, c->range_high), "at_low", c->at_low, "at_high",
                                         c->at_high, "correlation", correlation));
    }
    return array;
}

static json_t *root_object(const kbass_data *data, const kbass_settings *settings, const kbass_result *result)
{
    json_t *starts = json_pack("{s:o, s:o, s:o, s:o, s:o, s:f}", "run", kb_json_count(result->n_starts), "lost",
                               kb_json_count(result->n_starts_lost), "screened", kb_json_count(result->n_screened),
                               "part", kb_json_count(result->n_part), "condensed", kb_json_count(result->n_condensed),
                               "rows_used", result->rows_used > 0 ? result->rows_used : 1);
    json_t *root = json_pack(
        "{s:s, s:s, s:i, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "format", "kbass-result", "version", kbass_version(), "seed", settings->seed, "method", method(settings),
        "outcome", kbass_outcome_name(result->outcome), "settings", all_settings(settings), "data", data_summary(data),
        "equations", kb_json_equations(result), "initial", initial_state(data, result, 0), "runs",
        all_runs(data, result), "period", kb_json_number(result->period), "noise",
        by_state(data, result->n_states, result->noise), "noise_interval", noise_intervals(data, result),
        "residual_tests", all_tests(data, result), "warnings", all_warnings(result), "probability",
        kb_json_number(result->probability), "log_evidence", kb_json_number(result->log_evidence), "correlation",
        kb_json_correlation(result), "groups", kb_json_groups(result), "runners_up", kb_json_runners_up(result),
        "explanations", kb_json_explanations(result), "starts", starts, "models", kb_json_count(result->n_models),
        "windows", kb_json_count(result->n_windows), "patches", kb_json_count(result->n_patches), "iterations",
        kb_json_count(result->n_iterations), "seconds_per_iteration", kb_json_number(result->seconds_per_iteration),
        "seconds", seconds(result));
    if (root) kb_json_put(&root, "constants", all_constants(result));
    if (root) kb_json_put(&root, "alike", kb_json_alike(result));
    if (root) kb_json_put(&root, "engine", result->engine ? kb_json_text(result->engine) : json_null());
    return root;
}

/* What laws found without a part of the data say of it. */
static json_t *all_folds(const kbass_result *result)
{
    json_t *folds = json_array();
    for (size_t i = 0; i < result->n_folds; i++) {
        const kbass_fold *f = &result->folds[i];
        json_t *equations = json_array();
        for (size_t e = 0; e < f->n_equations; e++) kb_json_append(&equations, kb_json_text(f->equations[e]));
        kb_json_append(&folds, json_pack("{s:o, s:b, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "left_out",
                                         kb_json_text(f->name), "is_scored", f->is_scored, "reason",
                                         f->reason ? kb_json_text(f->reason) : json_null(), "equations", equations,
                                         "is_same", f->is_same, "n_values", kb_json_count(f->n_values), "r2",
                                         kb_json_number(f->r2), "log_score", kb_json_number(f->log_score), "within_50",
                                         kb_json_number(f->within_50), "within_90", kb_json_number(f->within_90),
                                         "baseline", kb_json_number(f->baseline), "leaves", kb_json_number(f->leaves)));
    }
    return folds;
}

static json_t *verdict(const kbass_law *law)
{
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "name", kbass_law_verdict_name(law->verdict), "reason",
        law->reason ? kb_json_text(law->reason) : json_null(), "probability", kb_json_number(law->probability),
        "explained", kb_json_number(law->explained), "misfit", kb_json_number(law->misfit), "rivals",
        kb_json_count(law->n_rivals), "noise_ratio", kb_json_number(law->noise_ratio), "log_evidence",
        json_pack("{s:o, s:o, s:o, s:o}", "law", kb_json_number(law->law), "constant", kb_json_number(law->constant),
                  "drift", kb_json_number(law->drift), "field", kb_json_number(law->field)),
        "white", law->is_white);
}

/* Parts with many numbers, which would take a line each: they are written without breaks, behind the rest. */
typedef struct {
    const char *key;
    char *text; /* NULL when memory ran out */
} appendix;

/* 17 digits read back as the same number: a posterior that was saved forecasts what one at hand does. */
enum { N_APPENDICES = 4, DIGITS = 15, ALL_DIGITS = 17 };

/* Takes the value over. */
static char *compact(json_t *value)
{
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(ALL_DIGITS)) : NULL;
    char *copy = text ? kb_strdup(text) : NULL;
    free(text);
    json_decref(value);
    return copy;
}

static json_t *posterior_of(const kbass_posterior *posterior)
{
    return posterior ? kb_report_posterior(posterior) : json_null();
}

/* Empty for one run alone. */
static json_t *run_posteriors(size_t runs, kbass_posterior *const *posteriors)
{
    json_t *list = json_array();
    for (size_t run = 0; runs > 1 && run < runs && posteriors[run]; run++)
        kb_json_append(&list, posterior_of(posteriors[run]));
    return list;
}

/* rest without its closing brace, then ,\n  "key": text for each */
static char *join(const char *rest, const appendix *parts)
{
    static const char last[] = "\n}", format[] = ",\n  \"%s\": %s", end[] = "\n}\n";
    size_t length = strlen(rest) - strlen(last), room = length + sizeof end;
    for (size_t i = 0; i < N_APPENDICES; i++) room += sizeof format + strlen(parts[i].key) + strlen(parts[i].text);
    char *whole = KB_NEW(char, room);
    if (!whole) return NULL;
    memcpy(whole, rest, length);
    for (size_t i = 0; i < N_APPENDICES; i++)
        length += (size_t)snprintf(whole + length, room - length, format, parts[i].key, parts[i].text);
    snprintf(whole + length, room - length, "%s", end);
    return whole;
}

kbass_status kb_report_json(const kbass_data *data, const kbass_settings *settings, const kbass_result *result,
                            kbass_posterior *const *posteriors, const kb_sketch *sketch, char **json,
                            kbass_error *error)
{
    size_t runs = kbass_data_runs(data);
    appendix parts[N_APPENDICES] = {{"posterior", compact(posterior_of(runs == 1 ? posteriors[0] : NULL))},
                                    {"run_posteriors", compact(run_posteriors(runs, posteriors))},
                                    {"solution", sketch ? kb_report_solution(data, sketch) : kb_strdup("null")},
                                    {"samples", sketch ? kb_report_samples(data, sketch) : kb_strdup("null")}};
    json_t *root = root_object(data, settings, result);
    if (root) kb_json_put(&root, "format_version", json_integer(KB_FORMAT_VERSION));
    if (root) kb_json_put(&root, "verdict", verdict(&result->law));
    if (root) kb_json_put(&root, "varied", all_varied(result));
    if (root) kb_json_put(&root, "varied_equations", varied_equations(result));
    if (root) kb_json_put(&root, "missing", all_missing(data, result));
    if (root) kb_json_put(&root, "misfits", all_misfits(data, result));
    if (root) kb_json_put(&root, "validation", all_folds(result));
    char *rest = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS)) : NULL;
    bool is_whole = rest != NULL;
    for (size_t i = 0; i < N_APPENDICES; i++) is_whole = is_whole && parts[i].text;
    char *written = is_whole ? join(rest, parts) : NULL;
    if (written) *json = written;
    for (size_t i = 0; i < N_APPENDICES; i++) kb_free(parts[i].text);
    free(rest);
    json_decref(root);
    return written ? KBASS_OK : kb_out_of_memory(error, "the result as JSON");
}
