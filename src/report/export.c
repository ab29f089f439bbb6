#include "report/export.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/suggest.h"
#include "data/data.h"
#include "dictionary/text.h"
#include "simulate/result_file.h"

/* ---------------------------------------------------------------- the solution as a table */

enum { N_TIMES = 200 };

/* A chaotic record is fitted in windows with starts of their own: one run from the first leaves it soon. */
static kbass_status check_windows(const kb_written_law *law, kbass_error *error)
{
    json_int_t n = json_integer_value(json_object_get(law->root, "windows"));
    if (n <= 1 || n == (json_int_t)json_array_size(json_object_get(law->root, "runs"))) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_DATA,
                   "%s: the record was fitted in %lld windows, each with its own start, and no "
                   "single solution follows it: use discover --solution",
                   law->path, (long long)n);
}

static kbass_status solve_states(const kbass_model *model, kbass_data **data, kbass_error *error)
{
    const kbass_axis *time = kbass_model_axis(model, 0);
    size_t n = kbass_model_states(model);
    double times[N_TIMES], *states = KB_NEW(double, n *N_TIMES);
    const char **names = KB_NEW(const char *, n);
    kbass_status status = states && names ? KBASS_OK : kb_out_of_memory(error, "the solution");
    for (size_t i = 0; i < N_TIMES; i++)
        times[i] = time->first + (time->last - time->first) * (double)i / (N_TIMES - 1);
    for (size_t i = 0; names && i < n; i++) names[i] = kbass_model_state_name(model, i);
    if (status == KBASS_OK)
        status = kbass_model_integrate(model, time->first, kbass_model_initial(model), N_TIMES, times, states, error);
    if (status == KBASS_OK) status = kbass_data_create(N_TIMES, n, times, states, NULL, names, data, error);
    kb_free(names);
    kb_free(states);
    return status;
}

static kbass_status solve(const char *result, const kbass_data *inputs, kbass_data **data, kbass_error *error)
{
    kbass_model *model = NULL;
    kbass_status status = kbass_model_from_result(result, &model, error);
    if (status == KBASS_OK && inputs) status = kbass_model_set_inputs(model, inputs, 0, error);
    if (status == KBASS_OK)
        status =
            kbass_model_axes(model) > 1 ? kbass_model_grid(model, NULL, data, error) : solve_states(model, data, error);
    kbass_model_destroy(model);
    return status;
}

static void put_table(kb_buffer *out, const char *time_name, const kbass_data *data)
{
    size_t n_places = kbass_data_axes(data) - 1, n = kbass_data_states(data);
    kb_buffer_put(out, time_name);
    for (size_t axis = 1; axis <= n_places; axis++) kb_buffer_print(out, ",%s", kbass_data_axis_name(data, axis));
    for (size_t i = 0; i < n; i++) kb_buffer_print(out, ",%s", kbass_data_state_name(data, i));
    for (size_t row = 0; row < kbass_data_rows(data); row++) {
        kb_buffer_put(out, "\n");
        kb_buffer_number(out, kbass_data_times(data)[row]);
        for (size_t axis = 0; axis < n_places; axis++) {
            kb_buffer_put(out, ",");
            kb_buffer_number(out, kbass_data_positions(data)[row * n_places + axis]);
        }
        for (size_t i = 0; i < n; i++) {
            kb_buffer_put(out, ",");
            kb_buffer_number(out, kbass_data_values(data)[row * n + i]);
        }
    }
    kb_buffer_put(out, "\n");
}

static kbass_status export_csv(kb_export *e, kbass_error *error)
{
    kbass_data *data = NULL;
    kbass_status status = check_windows(e->law, error);
    if (status == KBASS_OK) status = solve(e->law->result, e->inputs, &data, error);
    if (status == KBASS_OK) put_table(&e->out, e->law->symbols->time_name, data);
    kbass_data_destroy(data);
    return status;
}

/* ---------------------------------------------------------------- formats */

static const struct {
    const char *name, *summary;
    const kb_language *language;
    kbass_status (*write)(kb_export *e, kbass_error *error);
} formats[] = {
    {"latex", "aligned equations, standard deviations in parentheses; needs amsmath", &kb_latex, kb_export_latex},
    {"sympy", "Python with SymPy: a list of equations", &kb_sympy, kb_export_sympy},
    {"julia", "Julia with ModelingToolkit: an ODESystem", &kb_julia, kb_export_julia},
    {"matlab", "a MATLAB or Octave function of the right-hand side", &kb_matlab, kb_export_matlab},
    {"c", "a C function of the right-hand side", &kb_c, kb_export_c},
    {"csv", "the solution over the record as a table", &kb_plain, export_csv}};
enum { N_FORMATS = sizeof formats / sizeof *formats };

const char *kbass_export_format(size_t index) { return index < N_FORMATS ? formats[index].name : NULL; }

const char *kbass_export_summary(size_t index) { return index < N_FORMATS ? formats[index].summary : NULL; }

static kbass_status find_format(const char *name, size_t *format, kbass_error *error)
{
    const char *names[N_FORMATS];
    char advice[160];
    for (*format = 0; *format < N_FORMATS; ++*format) {
        if (!strcmp(formats[*format].name, name)) return KBASS_OK;
        names[*format] = formats[*format].name;
    }
    kb_name_advice(name, N_FORMATS, names, advice, sizeof advice);
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "unknown format \"%.60s\"%s", name, advice);
}

/* A word that the language, its compiler or what stands around the function has for itself; in C also its functions. */
static bool is_taken(const kb_language *language, const char *word)
{
    static const char *const in_c[] = {"main", "sin", "cos", "tan", "exp", "log", "sqrt", "tanh", NULL};
    for (const char *const *w = language ? language->reserved : NULL; w && *w; w++)
        if (!strcmp(*w, word)) return true;
    for (const char *const *w = language == &kb_c ? in_c : NULL; w && *w; w++)
        if (!strcmp(*w, word)) return true;
    return false;
}

static kbass_status check_function(const kb_language *language, const char *function, kbass_error *error)
{
    if (kb_is_identifier(function) && function[0] != '_' && is_taken(language, function))
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "function name \"%.60s\": is a word of the language: choose another", function);
    if (kb_is_identifier(function) && function[0] != '_') return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_ARGUMENT,
                   "function name \"%.60s\": needed letters, digits and _, and a letter first", function);
}

kbass_status kbass_export(const char *result, const char *format, const char *function, const kbass_data *inputs,
                          char **text, kbass_error *error)
{
    kb_written_law law = {0};
    kb_export e = {.law = &law, .function = function ? function : "kbass_rhs", .inputs = inputs};
    size_t index = 0;
    kbass_status status = find_format(format, &index, error);
    if (status == KBASS_OK) status = check_function(formats[index].language, e.function, error);
    if (status == KBASS_OK) status = kb_written_read(result, &law, error);
    if (status == KBASS_OK) {
        e.language = formats[index].language;
        status = kb_export_name(&e) ? formats[index].write(&e, error) : kb_out_of_memory(error, "the export");
    }
    if (status == KBASS_OK && !(*text = kb_buffer_take(&e.out))) status = kb_out_of_memory(error, "the export");
    kb_export_clear(&e);
    kb_written_clear(&law);
    return status;
}
