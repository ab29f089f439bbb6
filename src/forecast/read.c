/* The strict reader of result files, for what is drawn from them (docs/schema.md). Whatever does not fit is refused
 * with the path of the field at fault; nothing is mended.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "simulate/result_file.h"
#include "forecast/reader.h"
#include "forecast/spread.h"
#include "report/json.h"

enum { MOST_START = 20000, NAMES_SIZE = 120 };
static const double tiny = 1e-300;

/* ---------------------------------------------------------------- the file and the data it was made from */

static kbass_status load(kb_reader *r)
{
    json_error_t problem;
    r->root = kb_result_parse(r->result, JSON_REJECT_DUPLICATES, &problem);
    if (r->root) return KBASS_OK;
    if (problem.line < 0) return kb_fail(r->error, KBASS_ERROR_FILE, "%s", problem.text);
    return kb_fail(r->error, KBASS_ERROR_DATA, "%.150s:%d: not a whole result file: %s", r->path, problem.line,
                   problem.text);
}

static kbass_status check_format(const kb_reader *r)
{
    json_t *format = json_object_get(r->root, "format"), *version = json_object_get(r->root, "format_version");
    if (!json_is_string(format) || strcmp(json_string_value(format), "kbass-result"))
        return kb_read_wrong(r, "format", "is not \"kbass-result\": this is no result of kbass discover --json");
    if (!json_is_integer(version))
        return kb_read_wrong(r, "format_version",
                             "is missing: the file is of an older program; run kbass discover --json again");
    if (json_integer_value(version) != KB_FORMAT_VERSION)
        return kb_read_wrong(r, "format_version", "is %lld, this program reads %d",
                             (long long)json_integer_value(version), KB_FORMAT_VERSION);
    return KBASS_OK;
}

static kbass_status read_names(const kb_reader *r, const char *key, size_t least, size_t most, size_t *n, char ***names)
{
    char field[KB_FIELD_SIZE];
    json_t *list = json_object_get(json_object_get(r->root, "data"), key);
    snprintf(field, sizeof field, "data.%s", key);
    size_t found = json_array_size(list);
    if (found < least || found > most)
        return kb_read_wrong(r, field, "has %zu names, needed %zu to %zu", found, least, most);
    *names = KB_NEW(char *, found);
    if (!*names) return kb_out_of_memory(r->error, r->path);
    *n = found;
    for (size_t i = 0; i < found; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        bool is_name = name && *name;
        for (const char *c = name; is_name && *c; c++) is_name = (unsigned char)*c >= ' ' && *c != 127;
        if (!is_name) return kb_read_wrong(r, field, "holds something that is not a name");
        for (size_t k = 0; k < i; k++)
            if (!strcmp((*names)[k], name)) return kb_read_wrong(r, field, "has \"%.60s\" twice", name);
        if (!((*names)[i] = kb_strdup(name))) return kb_out_of_memory(r->error, r->path);
    }
    return KBASS_OK;
}

static kbass_status check_span(const kb_reader *r, size_t axis, const char *field)
{
    const kbass_posterior *p = r->posterior;
    return p->first[axis] < p->last[axis] ? KBASS_OK
                                          : kb_read_wrong(r, field, "does not ascend along %.60s", p->axis_names[axis]);
}

/* Of one run alone: those of the data. */
static kbass_status read_spans(const kb_reader *r)
{
    kbass_posterior *p = r->posterior;
    json_t *data = json_object_get(r->root, "data"), *spans = json_object_get(data, "span");
    double first = NAN, last = NAN;
    kbass_status status = KBASS_OK;
    for (size_t a = 0; status == KBASS_OK && a < p->n_axes; a++) {
        char field[KB_FIELD_SIZE];
        double pair[2];
        snprintf(field, sizeof field, "data.span.%.60s", p->axis_names[a]);
        status = kb_read_numbers(r, json_object_get(spans, p->axis_names[a]), field, 2, -INFINITY, pair);
        p->first[a] = p->origin[a] = pair[0];
        p->last[a] = pair[1];
        p->span[a] = pair[1] - pair[0];
        if (status == KBASS_OK) status = check_span(r, a, field);
    }
    if (status == KBASS_OK) status = kb_read_number_at(r, data, "data", "first_time", &first);
    if (status == KBASS_OK) status = kb_read_number_at(r, data, "data", "last_time", &last);
    if (status == KBASS_OK && first != p->first[0])
        status = kb_read_wrong(r, "data.first_time", "is not where data.span begins");
    if (status == KBASS_OK && last != p->last[0])
        status = kb_read_wrong(r, "data.last_time", "is not where data.span ends");
    return status;
}

/* Of several: its own. */
static kbass_status read_run_spans(const kb_reader *r)
{
    kbass_posterior *p = r->posterior;
    kbass_status status = kb_read_numbers_at(r, r->part, r->where, "first", p->n_axes, -INFINITY, p->first);
    if (status == KBASS_OK) status = kb_read_numbers_at(r, r->part, r->where, "last", p->n_axes, -INFINITY, p->last);
    if (status == KBASS_OK)
        status = kb_read_numbers_at(r, r->part, r->where, "origin", p->n_axes, -INFINITY, p->origin);
    if (status == KBASS_OK) status = kb_read_numbers_at(r, r->part, r->where, "span", p->n_axes, tiny, p->span);
    for (size_t a = 0; status == KBASS_OK && a < p->n_axes; a++) status = check_span(r, a, r->where);
    p->run = kb_strdup(r->run);
    return status == KBASS_OK && !p->run ? kb_out_of_memory(r->error, r->path) : status;
}

size_t kb_read_find_name(size_t n, char *const *names, const char *name)
{
    size_t i = 0;
    while (i < n && (!name || strcmp(names[i], name))) i++;
    return i;
}

/* Inputs are columns of the data and no states of the posterior; they are known over the record. */
static kbass_status read_inputs(const kb_reader *r)
{
    kbass_posterior *p = r->posterior;
    char field[KB_FIELD_SIZE];
    json_t *list = json_object_get(r->part, "inputs");
    kbass_status status = kb_result_file_inputs(r->path, r->where, list, &p->inputs, r->error);
    for (size_t k = 0; status == KBASS_OK && k < p->inputs.n; k++) {
        const kb_curve *c = &p->inputs.curves[k];
        size_t at = kb_read_find_name(p->n_states, p->state_names, p->inputs.names[k]);
        snprintf(field, sizeof field, "%.60s.inputs[%zu]", r->where, k);
        if (at == p->n_states || p->n_states == 1) return kb_read_wrong(r, field, "is not one of data.states");
        if (!(c->time[0] <= p->first[0] && c->time[c->n - 1] >= p->last[0]))
            return kb_read_wrong(r, field, "does not cover the record");
        kb_free(p->state_names[at]);
        memmove(p->state_names + at, p->state_names + at + 1, (--p->n_states - at) * sizeof *p->state_names);
    }
    return status;
}

static kbass_status read_data(const kb_reader *r)
{
    kbass_posterior *p = r->posterior;
    const char *sum = json_string_value(json_object_get(json_object_get(r->root, "data"), "sha256"));
    if (!sum || strlen(sum) != 64 || strspn(sum, "0123456789abcdef") != 64)
        return kb_read_wrong(r, "data.sha256", "is missing or not 64 hexadecimal digits");
    memcpy(p->sha256, sum, 65);
    kbass_status status = read_names(r, "states", 1, 1000, &p->n_states, &p->state_names);
    if (status == KBASS_OK) status = read_names(r, "axes", 1, KB_MAX_AXES, &p->n_axes, &p->axis_names);
    if (status == KBASS_OK) status = r->run ? read_run_spans(r) : read_spans(r);
    const char *units = json_string_value(json_object_get(json_object_get(r->root, "settings"), "units"));
    if (status == KBASS_OK && units && !(p->units = kb_strdup(units))) status = kb_out_of_memory(r->error, r->path);
    return status == KBASS_OK ? read_inputs(r) : status;
}

/* ---------------------------------------------------------------- the grid of fields */

static kbass_status read_profile(const kb_reader *r, json_t *profile)
{
    char where[KB_FIELD_SIZE];
    snprintf(where, sizeof where, "%s.grid.profile", r->where);
    kb_profile *f = &r->posterior->profile;
    kbass_status status = kb_read_number_at(r, profile, where, "period", &f->period);
    if (status == KBASS_OK) status = kb_read_number_at(r, profile, where, "length", &f->length);
    if (status == KBASS_OK) status = kb_read_number_at(r, profile, where, "cutoff", &f->cutoff);
    if (status == KBASS_OK) status = kb_read_number_at(r, profile, where, "amplitude", &f->amplitude);
    if (status == KBASS_OK) status = kb_read_count_at(r, profile, where, "modes", 1, KB_PDE1D_MOST_MODES, &f->n_modes);
    if (status == KBASS_OK && !(f->period >= 1 && f->length > 0 && f->amplitude > 0))
        status = kb_read_wrong(r, where, "needs a period of at least 1, length and amplitude above 0");
    return status;
}

static kbass_status allocate_scales(const kb_reader *r)
{
    kbass_posterior *p = r->posterior;
    p->mean = KB_NEW(double, p->n_states);
    p->sd = KB_NEW(double, p->n_states);
    p->bound = KB_NEW(double, p->n_states);
    p->boundary = KB_NEW(double, p->n_boundary);
    return p->mean && p->sd && p->bound && p->boundary ? KBASS_OK : kb_out_of_memory(r->error, r->path);
}

static kbass_status read_grid(const kb_reader *r)
{
    char where[KB_FIELD_SIZE], field[KB_FIELD_SIZE];
    kbass_posterior *p = r->posterior;
    json_t *grid = json_object_get(r->part, "grid");
    snprintf(where, sizeof where, "%s.grid", r->where);
    snprintf(field, sizeof field, "%s.grid.periodic", r->where);
    p->n_start = p->n_states;
    if (p->n_axes == 1)
        return json_is_null(grid) ? KBASS_OK : kb_read_wrong(r, where, "is not null, but there is no space axis");
    if (!json_is_object(grid)) return kb_read_wrong(r, where, "is missing or not an object");
    if (p->n_axes > 2 || json_object_get(grid, "time_order")) {
        p->n_start = 0;
        return kb_read_row_grid(r, grid, where);
    }
    if (!json_is_boolean(json_object_get(grid, "periodic")))
        return kb_read_wrong(r, field, "is missing or not true or false");
    p->line.periodic = json_is_true(json_object_get(grid, "periodic"));
    p->n_boundary = p->line.periodic ? 0 : json_array_size(json_object_get(grid, "boundary"));
    kbass_status status = allocate_scales(r);
    if (status == KBASS_OK) status = kb_read_count_at(r, grid, where, "nodes", 8, 100000, &p->line.n_nodes);
    if (status == KBASS_OK) status = kb_read_count_at(r, grid, where, "steps", 1, 100000, &p->line.steps);
    if (status == KBASS_OK) status = kb_read_number_at(r, grid, where, "period", &p->line.period);
    if (status == KBASS_OK && p->line.periodic && !(p->line.period >= 1))
        status = kb_read_wrong(r, where, "has the period %g, needed at least 1", p->line.period);
    if (status == KBASS_OK) status = kb_read_numbers_at(r, grid, where, "spacing", 2, tiny, p->spacing);
    if (status == KBASS_OK) status = kb_read_numbers_at(r, grid, where, "mean", p->n_states, -INFINITY, p->mean);
    if (status == KBASS_OK) status = kb_read_numbers_at(r, grid, where, "sd", p->n_states, tiny, p->sd);
    if (status == KBASS_OK) status = kb_read_numbers_at(r, grid, where, "bound", p->n_states, tiny, p->bound);
    if (status == KBASS_OK) status = kb_read_numbers_at(r, grid, where, "boundary", p->n_boundary, 0, p->boundary);
    if (status == KBASS_OK) status = read_profile(r, json_object_get(grid, "profile"));
    p->n_start = p->n_states * (p->profile.n_modes + 2 * p->n_boundary);
    if (status == KBASS_OK && p->n_start > MOST_START) status = kb_read_wrong(r, where, "has %zu unknowns", p->n_start);
    return status;
}

/* ---------------------------------------------------------------- which posterior */

/* "a, b, c", as far as there is room. */
static void list_runs(json_t *list, char names[NAMES_SIZE])
{
    size_t used = 0, i;
    json_t *item;
    names[0] = '\0';
    json_array_foreach(list, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "run"));
        if (used + 1 < NAMES_SIZE)
            used += (size_t)snprintf(names + used, NAMES_SIZE - used, "%s%.40s", i ? ", " : "", name ? name : "?");
    }
}

static kbass_status find_run(kb_reader *r, json_t *list)
{
    char names[NAMES_SIZE];
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "run"));
        if (!r->run || !name || strcmp(name, r->run)) continue;
        r->part = item;
        snprintf(r->where, sizeof r->where, "run_posteriors[%zu]", i);
        return KBASS_OK;
    }
    list_runs(list, names);
    if (r->run)
        return kb_fail(r->error, KBASS_ERROR_ARGUMENT, "%.150s: found no run \"%.60s\", there are: %s", r->path, r->run,
                       names);
    return kb_fail(r->error, KBASS_ERROR_ARGUMENT,
                   "%.150s: the data are several runs: --of-run says which of them goes on (%s)", r->path, names);
}

static kbass_status no_posterior(const kb_reader *r)
{
    const char *method = json_string_value(json_object_get(r->root, "method"));
    if (!json_array_size(json_object_get(r->root, "equations")))
        return kb_read_wrong(r, "equations", "is empty: no model was found");
    if (method && strcmp(method, "kbass") != 0)
        return kb_read_wrong(r, "posterior", "is null: --method %.20s gives no joint posterior of weights and state",
                             method);
    return kb_read_wrong(r, "posterior",
                         "is missing or null: every state needs an equation, and the file has to be of this program");
}

static kbass_status find_part(kb_reader *r)
{
    json_t *runs = json_object_get(r->root, "run_posteriors");
    if (json_array_size(runs)) return find_run(r, runs);
    r->part = json_object_get(r->root, "posterior");
    snprintf(r->where, sizeof r->where, "posterior");
    if (!json_is_object(r->part)) return no_posterior(r);
    if (r->run)
        return kb_fail(r->error, KBASS_ERROR_ARGUMENT, "%.150s: found no run \"%.60s\": the data are one run alone",
                       r->path, r->run);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- the public door */

kbass_status kbass_posterior_read(const char *result, const char *run, kbass_posterior **posterior, kbass_error *error)
{
    kb_reader r = {.result = result,
                   .path = kb_result_name(result),
                   .run = run,
                   .posterior = KB_NEW(kbass_posterior, 1),
                   .error = error};
    kbass_status status = r.posterior ? load(&r) : kb_out_of_memory(error, "the posterior");
    if (status == KBASS_OK) status = check_format(&r);
    if (status == KBASS_OK) status = find_part(&r);
    if (status == KBASS_OK) status = read_data(&r);
    if (status == KBASS_OK) status = read_grid(&r);
    if (status == KBASS_OK) status = kb_read_models(&r);
    if (status == KBASS_OK) status = kb_read_compare_equations(&r);

    if (status == KBASS_OK) *posterior = r.posterior;
    else kbass_posterior_destroy(r.posterior);
    json_decref(r.root);
    return status;
}

kbass_status kbass_posterior_check_data(const kbass_posterior *p, const kbass_data *data, kbass_error *error)
{
    if (!strcmp(p->sha256, kbass_data_sha256(data))) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_DATA,
                   "the result is of other data: its \"data.sha256\" is %.12s..., that of these data "
                   "%.12s...",
                   p->sha256, kbass_data_sha256(data));
}

size_t kbass_posterior_states(const kbass_posterior *p) { return p->n_states; }
size_t kbass_posterior_axes(const kbass_posterior *p) { return p->n_axes; }
size_t kbass_posterior_models(const kbass_posterior *p) { return p->n_models; }

const char *kbass_posterior_state_name(const kbass_posterior *p, size_t state)
{
    return state < p->n_states ? p->state_names[state] : NULL;
}

const char *kbass_posterior_axis_name(const kbass_posterior *p, size_t axis)
{
    return axis < p->n_axes ? p->axis_names[axis] : NULL;
}

void kbass_posterior_range(const kbass_posterior *p, size_t axis, double *first, double *last)
{
    *first = axis < p->n_axes ? p->first[axis] : NAN;
    *last = axis < p->n_axes ? p->last[axis] : NAN;
}

double kbass_posterior_probability(const kbass_posterior *p, size_t model)
{
    double total = 0;
    for (size_t i = 0; i < p->n_models; i++) total += exp(p->models[i].log_odds);
    return model < p->n_models ? exp(p->models[model].log_odds) / total : NAN;
}
