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
#include "dictionary/text.h"

/* Values are NULL when memory ran out, and so is what contains them: json_pack, put and append see to that. */

static void put(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) == 0) return;
    json_decref(*object);
    *object = NULL;
}

static void append(json_t **array, json_t *value)
{
    if (json_array_append_new(*array, value) == 0) return;
    json_decref(*array);
    *array = NULL;
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *pair(double first, double second)
{
    json_t *array = json_array();
    append(&array, number(first));
    append(&array, number(second));
    return array;
}

static json_t *count(size_t value) { return json_integer((json_int_t)value); }

/* Paths and column names may hold bytes that are not UTF-8; those become '?'. */
static json_t *text(const char *bytes)
{
    json_t *string = json_string(bytes);
    char *ascii = string ? NULL : kb_strdup(bytes);
    if (!ascii) return string;
    for (char *c = ascii; *c; c++)
        if ((unsigned char)*c >= 0x80) *c = '?';
    string = json_string(ascii);
    kb_free(ascii);
    return string;
}

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
    else value = *written ? text(written) : json_null();
    kb_free(written);
    return value;
}

static json_t *all_settings(const kbass_settings *settings)
{
    json_t *object = json_object();
    for (size_t i = 0; i < kbass_settings_count(); i++)
        put(&object, kbass_settings_info(i)->name, setting(settings, i));
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
    return pair(low, high);
}

/* Names as they were written, and units, where there are any. */
static json_t *captions(const kbass_data *data, bool are_faces)
{
    json_t *object = json_object();
    for (size_t i = 0; i < data->n_axes + data->n_states; i++) {
        bool is_axis = i < data->n_axes;
        const char *name = is_axis ? data->axis_names[i] : data->state_names[i - data->n_axes];
        const char *face = kbass_data_face(data, name), *unit = kbass_data_unit(data, name);
        if (are_faces && strcmp(face, name) != 0) put(&object, name, text(face));
        if (!are_faces && unit) put(&object, name, text(unit));
    }
    return object;
}

/* What reading was told: for those who read the data again. */
static json_t *reading(const kbass_data *data)
{
    json_t *object = json_object();
    for (size_t i = 0; i < KB_ASKED; i++)
        if (data->asked[i]) put(&object, kb_asked_names[i], text(data->asked[i]));
    return object;
}

static json_t *data_summary(const kbass_data *data)
{
    json_t *states = json_array(), *missing = json_object(), *axes = json_array(), *spans = json_object();
    for (size_t i = 0; i < data->n_states; i++) {
        append(&states, text(data->state_names[i]));
        put(&missing, data->state_names[i], count(missing_values(data, i)));
    }
    for (size_t axis = 0; axis < data->n_axes; axis++) {
        append(&axes, text(data->axis_names[axis]));
        put(&spans, data->axis_names[axis], span(data, axis));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "source",
                     text(data->source), "sha256", text(data->sha256), "rows", count(data->n_rows), "states", states,
                     "axes", axes, "span", spans, "time_name", text(data->time_name), "first_time",
                     number(data->times[0]), "last_time", number(data->times[kb_data_run_start(data, 1) - 1]),
                     "missing", missing, "run_column", data->run_column ? text(data->run_column) : json_null(),
                     "sigma_columns", data->sigma_columns ? text(data->sigma_columns) : json_null(), "part",
                     data->part ? text(data->part) : json_null(), "faces", captions(data, true), "units",
                     captions(data, false), "time_origin", data->time_origin ? text(data->time_origin) : json_null(),
                     "reading", reading(data));
}

static json_t *by_state(const kbass_data *data, size_t n, const double *values)
{
    json_t *object = json_object();
    for (size_t i = 0; values && i < n && i < data->n_states; i++)
        put(&object, data->state_names[i], number(values[i]));
    return object;
}

/* A field begins with a whole profile: an expression in x where there is one, else null. */
static json_t *initial_state(const kbass_data *data, const kbass_result *result, size_t run)
{
    size_t n = result->n_states;
    if (data->n_axes == 1) return by_state(data, n, result->initial ? result->initial + run * n : NULL);
    if (!result->profiles) return json_null();
    json_t *object = json_object();
    for (size_t i = 0; i < n; i++) put(&object, data->state_names[i], text(result->profiles[run * n + i]));
    return object;
}

/* ---------------------------------------------------------------- equations */

/* " - 2.497*x^2*y"; returns its length, as snprintf does. */
static size_t print_term(const kbass_term *term, bool is_first, char *end, size_t room)
{
    char weight[KB_NUMBER_SIZE];
    bool is_constant = !strcmp(term->term, "1"), is_unit = fabs(term->weight) == 1 && !is_constant;
    const char *sign = term->weight < 0 ? (is_first ? " -" : " - ") : is_first ? " " : " + ";
    const char *format = kb_is_sum(term->term) ? "%s%s%s(%s)" : "%s%s%s%s";
    kb_number_round(fabs(term->weight), 15, weight);
    return (size_t)snprintf(end, room, format, sign, is_unit ? "" : weight, is_unit || is_constant ? "" : "*",
                            is_constant ? "" : term->term);
}

/* "y_t = 2.499*y - 2.497*x^2*y - x": what the parser of equations reads. */
static json_t *equation_text(const kbass_equation *equation)
{
    size_t room = strlen(equation->lhs) + 8, length = 0, n_selected = 0;
    for (size_t i = 0; i < equation->n_terms; i++) room += strlen(equation->terms[i].term) + KB_NUMBER_SIZE + 8;
    char *line = KB_NEW(char, room);
    if (!line) return NULL;
    length = (size_t)snprintf(line, room, "%s =", equation->lhs);
    for (size_t i = 0; i < equation->n_terms; i++)
        if (equation->terms[i].selected)
            length += print_term(&equation->terms[i], n_selected++ == 0, line + length, room - length);
    if (!n_selected) snprintf(line + length, room - length, " 0");
    json_t *string = text(line);
    kb_free(line);
    return string;
}

static json_t *equation_object(const kbass_equation *equation)
{
    json_t *terms = json_array();
    for (size_t i = 0; i < equation->n_terms; i++) {
        const kbass_term *term = &equation->terms[i];
        json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s}", "term", text(term->term),
                                   "weight", number(term->weight), "unit", term->unit ? text(term->unit) : json_null(),
                                   "sd", number(term->sd), "own_sd", number(term->own_sd), "interval",
                                   pair(term->low, term->high), "average", number(term->average), "average_sd",
                                   number(term->average_sd), "probability", number(term->probability), "selected",
                                   term->selected, "verdict", kbass_verdict_name(term->verdict));
        if (object && term->form) put(&object, "form", text(term->form));
        if (object && term->at_bound) put(&object, "at_bound", json_true());
        append(&terms, object);
    }
    return json_pack("{s:o, s:b, s:o, s:o}", "lhs", text(equation->lhs), "known", equation->known, "text",
                     equation_text(equation), "terms", terms);
}

static json_t *all_equations(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_equations; i++) append(&array, equation_object(&result->equations[i]));
    return array;
}

/* "x_t: y" */
static json_t *label(const char *lhs, const char *term)
{
    size_t size = strlen(lhs) + strlen(term) + 3;
    char *both = KB_NEW(char, size);
    if (!both) return NULL;
    snprintf(both, size, "%s: %s", lhs, term);
    json_t *string = text(both);
    kb_free(both);
    return string;
}

/* The estimated weights, and the matrix in their order. */
static json_t *correlation(const kbass_result *result)
{
    size_t n = result->correlation ? result->n_weights : 0;
    json_t *names = json_array(), *matrix = json_array();
    for (size_t e = 0; n && e < result->n_equations; e++)
        for (size_t i = 0; !result->equations[e].known && i < result->equations[e].n_terms; i++)
            if (result->equations[e].terms[i].selected)
                append(&names, label(result->equations[e].lhs, result->equations[e].terms[i].term));
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < n; j++) append(&row, number(result->correlation[j + i * n]));
        append(&matrix, row);
    }
    return json_pack("{s:o, s:o}", "weights", names, "matrix", matrix);
}

static json_t *all_groups(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_groups; i++) {
        const kbass_group *group = &result->groups[i];
        json_t *terms = json_array();
        for (size_t j = 0; j < group->n_terms; j++) append(&terms, text(group->terms[j]));
        append(&array, json_pack("{s:o, s:o, s:o, s:o}", "lhs", text(group->lhs), "terms", terms, "present",
                                 count(group->n_present), "probability", number(group->probability)));
    }
    return array;
}

static json_t *all_alike(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_alike; i++) {
        const kbass_alike *a = &result->alike[i];
        json_t *terms = json_array(), *weights = json_array();
        for (size_t j = 0; j < a->n_terms; j++)
            append(&terms, text(a->terms[j])), append(&weights, number(a->weights[j]));
        append(&array,
               json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", kbass_alike_name(a->kind), "lhs",
                         a->lhs ? text(a->lhs) : json_null(), "what", text(a->what), "value", number(a->value), "terms",
                         terms, "weights", weights, "share", number(a->share), "sentence", text(a->sentence)));
    }
    return array;
}

static json_t *all_runners_up(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_runners_up; i++) {
        const kbass_runner_up *rival = &result->runners_up[i];
        json_t *equations = json_array();
        for (size_t j = 0; j < rival->n_equations; j++) append(&equations, text(rival->equations[j]));
        append(&array,
               json_pack("{s:o, s:o, s:o, s:o, s:o}", "difference", text(rival->difference ? rival->difference : ""),
                         "log_odds", number(rival->log_odds), "probability", number(rival->probability), "misfit",
                         number(rival->misfit), "equations", equations));
    }
    return array;
}

/* ---------------------------------------------------------------- noise */

static json_t *noise_intervals(const kbass_data *data, const kbass_result *result)
{
    json_t *object = json_object();
    for (size_t i = 0; result->noise_low && result->noise_high && i < result->n_states && i < data->n_states; i++)
        put(&object, data->state_names[i], pair(result->noise_low[i], result->noise_high[i]));
    return object;
}

static json_t *all_tests(const kbass_data *data, const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_tests; i++) {
        const kbass_residual_test *test = &result->tests[i];
        append(&array,
               json_pack("{s:o, s:s, s:o, s:o}", "state", text(data->state_names[test->state]), "test",
                         kbass_test_name(test->kind), "score", number(test->score), "p_value", number(test->p_value)));
    }
    return array;
}

static json_t *all_warnings(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_warnings; i++) append(&array, text(result->warnings[i]));
    return array;
}

/* ---------------------------------------------------------------- explanations */

static json_t *all_changes(const kbass_explanation *explanation)
{
    json_t *array = json_array();
    for (size_t i = 0; i < explanation->n_changes; i++) {
        const kbass_weight_change *change = &explanation->changes[i];
        append(&array, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "lhs", text(change->lhs), "term", text(change->term),
                                 "before", number(change->before), "before_sd", number(change->before_sd), "after",
                                 number(change->after), "after_sd", number(change->after_sd)));
    }
    return array;
}

static json_t *all_explanations(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_explanations; i++) {
        const kbass_explanation *e = &result->explanations[i];
        append(&array,
               json_pack("{s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "lhs", text(e->lhs), "term", text(e->term),
                         "change", e->is_added ? "added" : "dropped", "fitted", e->is_fitted, "log_evidence",
                         number(e->log_evidence), "log_odds", number(e->log_odds), "misfit_before",
                         number(e->misfit_before), "misfit_after", number(e->misfit_after), "weights", all_changes(e)));
    }
    return array;
}

/* ---------------------------------------------------------------- the whole */

static json_t *all_missing(const kbass_data *data, const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_missing; i++) {
        const kbass_missing_term *m = &result->missing[i];
        append(&array, json_pack("{s:o, s:o, s:o, s:o}", "state", text(data->state_names[m->state]), "term",
                                 text(m->term), "score", number(m->score), "p_value", number(m->p_value)));
    }
    return array;
}

static json_t *all_misfits(const kbass_data *data, const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_misfits; i++) {
        const kbass_misfit *m = &result->misfits[i];
        append(&array, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "state", text(data->state_names[m->state]),
                                 "from", number(m->from), "until", number(m->until), "low", number(m->low), "high",
                                 number(m->high), "score", number(m->score), "p_value", number(m->p_value)));
    }
    return array;
}

static json_t *numbers(size_t n, const double *values)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) append(&array, number(values[i]));
    return array;
}

static json_t *all_varied(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_varied; i++) {
        const kbass_varied *v = &result->varied[i];
        append(&array, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "lhs", text(v->lhs), "term", text(v->term),
                                 "weights", numbers(v->n_runs, v->weights), "sds", numbers(v->n_runs, v->sds), "spread",
                                 number(v->spread), "log_odds", number(v->log_odds)));
    }
    return array;
}

static json_t *varied_equations(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; result->varied_equations && i < result->n_equations; i++)
        append(&array, text(result->varied_equations[i]));
    return array;
}

static json_t *seconds(const kbass_result *result)
{
    json_t *object = json_object();
    for (int stage = 0; stage < KBASS_STAGE_COUNT; stage++)
        put(&object, kbass_stage_name(stage), number(result->seconds[stage]));
    put(&object, "total", number(result->seconds_total));
    return object;
}

/* Each run with its own initial state, or profile. */
static json_t *all_runs(const kbass_data *data, const kbass_result *result)
{
    json_t *runs = json_array();
    for (size_t run = 0; run < kbass_data_runs(data); run++) {
        size_t first = kb_data_run_start(data, run), end = kb_data_run_start(data, run + 1);
        append(&runs, json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", text(data->n_runs ? data->run_names[run] : ""),
                                "rows", count(end - first), "first_time", number(data->times[first]), "last_time",
                                number(data->times[end - 1]), "initial", initial_state(data, result, run)));
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
        for (size_t k = 0; c->correlation && k < c->n_weights; k++) append(&correlation, number(c->correlation[k]));
        append(&array, json_pack("{s:o, s:b, s:o, s:o, s:o, s:o, s:b, s:b, s:o}", "name", text(c->name), "selected",
                                 c->is_used, "value", number(c->value), "sd", number(c->sd), "interval",
                                 pair(c->low, c->high), "range", pair(c->range_low, c->range_high), "at_low", c->at_low,
                                 "at_high", c->at_high, "correlation", correlation));
    }
    return array;
}

static json_t *root_object(const kbass_data *data, const kbass_settings *settings, const kbass_result *result)
{
    json_t *starts =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:f}", "run", count(result->n_starts), "lost",
                  count(result->n_starts_lost), "screened", count(result->n_screened), "part", count(result->n_part),
                  "condensed", count(result->n_condensed), "rows_used", result->rows_used > 0 ? result->rows_used : 1);
    json_t *root = json_pack(
        "{s:s, s:s, s:i, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "format", "kbass-result", "version", kbass_version(), "seed", settings->seed, "method", method(settings),
        "outcome", kbass_outcome_name(result->outcome), "settings", all_settings(settings), "data", data_summary(data),
        "equations", all_equations(result), "initial", initial_state(data, result, 0), "runs", all_runs(data, result),
        "period", number(result->period), "noise", by_state(data, result->n_states, result->noise), "noise_interval",
        noise_intervals(data, result), "residual_tests", all_tests(data, result), "warnings", all_warnings(result),
        "probability", number(result->probability), "log_evidence", number(result->log_evidence), "correlation",
        correlation(result), "groups", all_groups(result), "runners_up", all_runners_up(result), "explanations",
        all_explanations(result), "starts", starts, "models", count(result->n_models), "windows",
        count(result->n_windows), "patches", count(result->n_patches), "iterations", count(result->n_iterations),
        "seconds_per_iteration", number(result->seconds_per_iteration), "seconds", seconds(result));
    if (root) put(&root, "constants", all_constants(result));
    if (root) put(&root, "alike", all_alike(result));
    if (root) put(&root, "engine", result->engine ? text(result->engine) : json_null());
    return root;
}

/* What laws found without a part of the data say of it. */
static json_t *all_folds(const kbass_result *result)
{
    json_t *folds = json_array();
    for (size_t i = 0; i < result->n_folds; i++) {
        const kbass_fold *f = &result->folds[i];
        json_t *equations = json_array();
        for (size_t e = 0; e < f->n_equations; e++) append(&equations, text(f->equations[e]));
        append(&folds,
               json_pack("{s:o, s:b, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "left_out", text(f->name),
                         "is_scored", f->is_scored, "reason", f->reason ? text(f->reason) : json_null(), "equations",
                         equations, "is_same", f->is_same, "n_values", count(f->n_values), "r2", number(f->r2),
                         "log_score", number(f->log_score), "within_50", number(f->within_50), "within_90",
                         number(f->within_90), "baseline", number(f->baseline), "leaves", number(f->leaves)));
    }
    return folds;
}

static json_t *verdict(const kbass_law *law)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "name", kbass_law_verdict_name(law->verdict),
                     "reason", law->reason ? text(law->reason) : json_null(), "probability", number(law->probability),
                     "explained", number(law->explained), "misfit", number(law->misfit), "rivals", count(law->n_rivals),
                     "noise_ratio", number(law->noise_ratio), "log_evidence",
                     json_pack("{s:o, s:o, s:o, s:o}", "law", number(law->law), "constant", number(law->constant),
                               "drift", number(law->drift), "field", number(law->field)),
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
    for (size_t run = 0; runs > 1 && run < runs && posteriors[run]; run++) append(&list, posterior_of(posteriors[run]));
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
    if (root) put(&root, "format_version", json_integer(KB_FORMAT_VERSION));
    if (root) put(&root, "verdict", verdict(&result->law));
    if (root) put(&root, "varied", all_varied(result));
    if (root) put(&root, "varied_equations", varied_equations(result));
    if (root) put(&root, "missing", all_missing(data, result));
    if (root) put(&root, "misfits", all_misfits(data, result));
    if (root) put(&root, "validation", all_folds(result));
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
