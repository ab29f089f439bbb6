/* Julia: the equations as ModelingToolkit states them; known inputs are functions of time, defined before them. */
#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "gp/input_curves.h"
#include "report/export.h"
#include "simulate/result_file.h"

enum { POINTS_BETWEEN = 8 }; /* of an input's curve, straight lines between them */

static const char *time_word(const kb_export *e) { return e->words[kb_export_axis(e, 0)]; }

/* The known input of this name in the result; NULL: it is none. */
static json_t *input_of(const kb_export *e, const char *name)
{
    json_t *first = json_array_get(json_object_get(e->law->root, "run_posteriors"), 0), *item;
    json_t *posterior = first ? first : json_object_get(e->law->root, "posterior");
    size_t i;
    json_array_foreach(json_object_get(posterior, "inputs"), i, item)
    {
        const char *own = json_string_value(json_object_get(item, "name"));
        if (own && !strcmp(own, name)) return item;
    }
    return NULL;
}

static json_t *input_state(const kb_export *e, size_t state)
{
    return input_of(e, e->law->symbols->state_names[state]);
}

static kbass_status check(const kb_export *e, kbass_error *error)
{
    size_t n_inputs = 0;
    if (e->law->symbols->n_axes > 1)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "%s: a PDESystem needs boundary values, which are not in the result: "
                       "export to sympy, matlab or c",
                       e->law->path);
    for (size_t i = 0; i < kb_export_states(e); i++) n_inputs += input_state(e, i) != NULL;
    if (e->law->n_equations + n_inputs < kb_export_states(e))
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "%s: found %zu equations for %zu states, an ODESystem needs all of them", e->law->path,
                       e->law->n_equations, kb_export_states(e) - n_inputs);
    return KBASS_OK;
}

static bool calls_erf(const kb_export *e)
{
    bool is_called = false;
    for (size_t i = 0; i < e->law->n_equations; i++)
        for (size_t j = 0; j < e->law->equations[i].n_terms; j++)
            is_called = is_called || kb_formula_calls(e->law->equations[i].terms[j].poly, KB_FUNCTION_erf);
    return is_called;
}

/* ---------------------------------------------------------------- inputs */

/* "f_times = [0, 0.5]" of a curve's points, or of its values there. */
static void put_points(kb_export *e, const char *word, const kb_curve *curve, bool are_times)
{
    size_t between = curve->is_held ? 1 : POINTS_BETWEEN;
    kb_buffer_print(&e->out, "%s_%s = [", word, are_times ? "times" : "values");
    for (size_t i = 0; i < curve->n; i++)
        for (size_t k = 0; k < (i + 1 < curve->n ? between : 1); k++) {
            double step = i + 1 < curve->n ? curve->time[i + 1] - curve->time[i] : 0,
                   at = curve->time[i] + step * (double)k / (double)between;
            if (i || k) kb_buffer_put(&e->out, ", ");
            kb_buffer_number(&e->out, are_times ? at : kb_curve_at(curve, at, NULL));
        }
    kb_buffer_put(&e->out, "]\n");
}

static void put_function(kb_export *e, const char *word, bool is_held)
{
    kb_buffer_print(&e->out, "function %s_at(time)\n", word);
    if (is_held)
        kb_buffer_print(&e->out, "    %s_values[clamp(searchsortedlast(%s_times, time), 1, length(%s_times))]\n", word,
                        word, word);
    else
        kb_buffer_print(&e->out,
                        "    i = clamp(searchsortedlast(%s_times, time), 1, length(%s_times) - 1)\n"
                        "    share = clamp((time - %s_times[i]) / (%s_times[i + 1] - %s_times[i]), 0, 1)\n"
                        "    %s_values[i] + share * (%s_values[i + 1] - %s_values[i])\n",
                        word, word, word, word, word, word, word, word);
    kb_buffer_print(&e->out, "end\n@register_symbolic %s_at(time)\n", word);
}

/* Values over the record, the function through them, and how it stands in formulas. */
static kbass_status define_input(kb_export *e, size_t state, json_t *input, kbass_error *error)
{
    json_t *list = json_array();
    kb_input_curves curves = {0};
    double delay = json_number_value(json_object_get(input, "delay"));
    kbass_status status = json_array_append(list, input) == 0
                              ? kb_result_file_inputs(e->law->path, "posterior", list, &curves, error)
                              : kb_out_of_memory(error, "the inputs");
    if (status == KBASS_OK) {
        curves.curves[0].delay = 0;
        put_points(e, e->words[state], &curves.curves[0], true);
        put_points(e, e->words[state], &curves.curves[0], false);
        put_function(e, e->words[state], curves.curves[0].is_held);
        char number[KB_NUMBER_SIZE];
        kb_number_print(delay, number);
        bool is_named = delay > 0 ? kb_export_symbol(e, state, "%s_at(%s - %s)", e->words[state], time_word(e), number)
                                  : kb_export_symbol(e, state, "%s_at(%s)", e->words[state], time_word(e));
        if (!is_named) status = kb_out_of_memory(error, "the inputs");
    }
    kb_input_curves_clear(&curves);
    json_decref(list);
    return status;
}

/* ---------------------------------------------------------------- the system */

static void put_equations(kb_export *e)
{
    kb_buffer_print(&e->out, "\n@independent_variables %s\n@variables", time_word(e));
    for (size_t i = 0; i < kb_export_states(e); i++)
        if (!input_state(e, i)) kb_buffer_print(&e->out, " %s(%s)", e->words[i], time_word(e));
    kb_buffer_print(&e->out, "\nD = Differential(%s)\n\nequations = [\n", time_word(e));
    for (size_t i = 0; i < e->law->n_equations; i++) {
        kb_buffer_print(&e->out, "    D(%s) ~ ", e->words[e->law->equations[i].state]);
        kb_export_rhs(e, &e->law->equations[i]);
        kb_buffer_put(&e->out, ",\n");
    }
    kb_buffer_print(&e->out, "]\n@named system = ODESystem(equations, %s)\nspan = (", time_word(e));
    kb_buffer_number(&e->out, e->law->first);
    kb_buffer_put(&e->out, ", ");
    kb_buffer_number(&e->out, e->law->last);
    kb_buffer_put(&e->out, ")\n");
}

/* The fitted start; nothing where a state has none. */
static void put_start(kb_export *e)
{
    json_t *initial = json_object_get(e->law->root, "initial");
    size_t n = 0;
    for (size_t i = 0; i < kb_export_states(e); i++)
        if (!input_state(e, i) && !json_is_number(json_object_get(initial, e->law->symbols->state_names[i]))) return;
    kb_buffer_put(&e->out, "initial = [");
    for (size_t i = 0; i < kb_export_states(e); i++) {
        if (input_state(e, i)) continue;
        kb_buffer_print(&e->out, "%s%s => ", n++ ? ", " : "", e->words[i]);
        kb_buffer_number(&e->out, json_number_value(json_object_get(initial, e->law->symbols->state_names[i])));
    }
    kb_buffer_put(&e->out, "]\n# using OrdinaryDiffEq; "
                           "solve(ODEProblem(structural_simplify(system), initial, span), Tsit5())\n");
}

kbass_status kb_export_julia(kb_export *e, kbass_error *error)
{
    kbass_status status = check(e, error);
    if (status != KBASS_OK) return status;
    kb_export_heading(e);
    if (calls_erf(e)) kb_buffer_put(&e->out, "using SpecialFunctions: erf\n");
    kb_buffer_put(&e->out, "using ModelingToolkit\n");
    for (size_t i = 0; status == KBASS_OK && i < kb_export_states(e); i++)
        if (input_state(e, i)) status = define_input(e, i, input_state(e, i), error);
    if (status != KBASS_OK) return status;
    put_equations(e);
    put_start(e);
    return KBASS_OK;
}
