/* Programs: SymPy states the equations, MATLAB and C evaluate their right-hand sides. */
#include <string.h>

#include "base/status.h"
#include "report/export.h"

static bool has_space(const kb_export *e) { return e->law->symbols->n_axes > 1; }

static const char *time_word(const kb_export *e) { return e->words[kb_export_axis(e, 0)]; }

/* "1900", "(1900, 1920)" */
static void put_span(kb_export *e, const char *open, const char *between, const char *close)
{
    kb_buffer_put(&e->out, open);
    kb_buffer_number(&e->out, e->law->first);
    kb_buffer_put(&e->out, between);
    kb_buffer_number(&e->out, e->law->last);
    kb_buffer_put(&e->out, close);
}

/* "x: 30.1, y: 4.2" with `by` between name and number; the number alone when it is NULL. */
static void put_initial(kb_export *e, const char *by, const char *separator)
{
    for (size_t i = 0; i < kb_export_states(e); i++) {
        if (i) kb_buffer_put(&e->out, separator);
        if (by) kb_buffer_print(&e->out, "%s%s", e->words[i], by);
        kb_buffer_number(&e->out, e->law->initial[i]);
    }
}

static bool calls(const kb_export *e, size_t function)
{
    bool is_called = false;
    for (size_t i = 0; i < e->law->n_equations; i++)
        for (size_t j = 0; j < e->law->equations[i].n_terms; j++)
            is_called = is_called || kb_formula_calls(e->law->equations[i].terms[j].poly, function);
    return is_called;
}

/* ---------------------------------------------------------------- SymPy */

/* u_xxy is u.diff(x, 2, y, 1) */
static bool name_derivatives(kb_export *e)
{
    const kb_dictionary *symbols = e->law->symbols;
    bool is_done = true;
    for (size_t v = symbols->n_states; v < kb_export_axis(e, 0) && is_done; v++) {
        kb_buffer text = {0};
        for (size_t axis = 1; axis < symbols->n_axes; axis++)
            if (symbols->variables[v].order[axis])
                kb_buffer_print(&text, "%s%s, %d", text.length ? ", " : "", e->words[kb_export_axis(e, axis)],
                                symbols->variables[v].order[axis]);
        is_done =
            !text.is_lost && kb_export_symbol(e, v, "%s.diff(%s)", e->words[symbols->variables[v].field], text.text);
        kb_buffer_clear(&text);
    }
    return is_done;
}

/* "t, x" */
static void put_axes(kb_export *e)
{
    for (size_t axis = 0; axis < e->law->symbols->n_axes; axis++)
        kb_buffer_print(&e->out, "%s%s", axis ? ", " : "", e->words[kb_export_axis(e, axis)]);
}

static void declare_sympy(kb_export *e)
{
    const kb_dictionary *symbols = e->law->symbols;
    kb_buffer_put(&e->out, "import sympy as sp\n\n");
    for (size_t axis = 0; axis < symbols->n_axes; axis++) {
        size_t v = kb_export_axis(e, axis);
        kb_buffer_print(&e->out, "%s = sp.Symbol(\"%s\", real=True)\n", e->words[v], e->words[v]);
    }
    for (size_t i = 0; i < symbols->n_states; i++) {
        kb_buffer_print(&e->out, "%s = sp.Function(\"%s\", real=True)(", e->words[i], symbols->state_names[i]);
        put_axes(e);
        kb_buffer_put(&e->out, ")\n");
    }
}

kbass_status kb_export_sympy(kb_export *e, kbass_error *error)
{
    (void)error;
    if (!name_derivatives(e)) e->out.is_lost = true;
    if (e->out.is_lost) return KBASS_OK;
    kb_export_heading(e);
    declare_sympy(e);
    kb_buffer_put(&e->out, "\nequations = [\n");
    for (size_t i = 0; i < e->law->n_equations; i++) {
        const kb_written_equation *equation = &e->law->equations[i];
        kb_buffer_print(&e->out, "    sp.Eq(%s.diff(%s, %d), ", e->words[equation->state], time_word(e),
                        equation->order);
        kb_export_rhs(e, equation);
        kb_buffer_put(&e->out, "),\n");
    }
    put_span(e, "]\nspan = (", ", ", ")\n");
    if (!e->law->initial) return KBASS_OK;
    kb_buffer_put(&e->out, "initial = {");
    put_initial(e, ": ", ", ");
    kb_buffer_put(&e->out, "}\n");
    return KBASS_OK;
}

/* ---------------------------------------------------------------- MATLAB and Octave */

static void put_outputs(kb_export *e, const char *separator)
{
    for (size_t i = 0; i < e->law->n_equations; i++)
        kb_buffer_print(&e->out, "%s%s", i ? separator : "", e->law->equations[i].lhs);
}

static void matlab_fields(kb_export *e)
{
    kb_buffer_put(&e->out, "function [");
    put_outputs(e, ", ");
    kb_buffer_print(&e->out, "] = %s(", e->function);
    for (size_t v = 0, n = 0; v < e->law->symbols->n_variables; v++)
        if (kb_export_is_argument(e, v)) kb_buffer_print(&e->out, "%s%s", n++ ? ", " : "", e->words[v]);
    kb_buffer_put(&e->out, ")\n% arrays of one shape; derivatives are the caller's\n");
    kb_export_heading(e);
    for (size_t i = 0; i < e->law->n_equations; i++) {
        kb_buffer_print(&e->out, "%s = ", e->law->equations[i].lhs);
        kb_export_rhs(e, &e->law->equations[i]);
        if (kb_export_is_constant(&e->law->equations[i])) kb_buffer_print(&e->out, " + zeros(size(%s))", e->words[0]);
        kb_buffer_put(&e->out, ";\n");
    }
    kb_buffer_put(&e->out, "end\n");
}

static void matlab_states(kb_export *e)
{
    kb_buffer_print(&e->out, "function rate = %s(%s, state)\n", e->function, time_word(e));
    kb_export_heading(e);
    if (e->law->initial && e->law->n_equations == kb_export_states(e)) {
        kb_buffer_print(&e->out, "%% [times, states] = ode45(@%s, ", e->function);
        put_span(e, "[", ", ", "], [");
        put_initial(e, NULL, "; ");
        kb_buffer_put(&e->out, "]);\n");
    }
    for (size_t i = 0; i < kb_export_states(e); i++)
        if (e->law->is_used[i]) kb_buffer_print(&e->out, "%s = state(%zu);\n", e->words[i], i + 1);
    kb_buffer_print(&e->out, "rate = zeros(%zu, 1);\n", e->law->n_equations);
    for (size_t i = 0; i < e->law->n_equations; i++) {
        kb_buffer_print(&e->out, "rate(%zu) = ", i + 1);
        kb_export_rhs(e, &e->law->equations[i]);
        kb_buffer_print(&e->out, "; %% %s\n", e->law->equations[i].lhs);
    }
    kb_buffer_put(&e->out, "end\n");
}

kbass_status kb_export_matlab(kb_export *e, kbass_error *error)
{
    (void)error;
    if (has_space(e)) matlab_fields(e);
    else matlab_states(e);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- C */

static bool name_elements(kb_export *e)
{
    bool is_done = true;
    for (size_t v = 0; v < e->law->symbols->n_variables && is_done; v++)
        is_done = kb_export_symbol(e, v, "%s[i]", e->words[v]);
    return is_done;
}

static void c_fields(kb_export *e)
{
    kb_buffer_print(&e->out, "// at n points; derivatives are the caller's\nvoid %s(size_t n", e->function);
    for (size_t v = 0; v < e->law->symbols->n_variables; v++)
        if (kb_export_is_argument(e, v)) kb_buffer_print(&e->out, ", const double *%s", e->words[v]);
    for (size_t i = 0; i < e->law->n_equations; i++) kb_buffer_print(&e->out, ", double *%s", e->law->equations[i].lhs);
    kb_buffer_put(&e->out, ")\n{\n");
    for (size_t i = 0; i < kb_export_states(e); i++)
        if (!e->law->is_used[i]) kb_buffer_print(&e->out, "    (void)%s;\n", e->words[i]);
    kb_buffer_put(&e->out, "    for (size_t i = 0; i < n; i++) {\n");
    for (size_t i = 0; i < e->law->n_equations; i++) {
        kb_buffer_print(&e->out, "        %s[i] = ", e->law->equations[i].lhs);
        kb_export_rhs(e, &e->law->equations[i]);
        kb_buffer_put(&e->out, ";\n");
    }
    kb_buffer_put(&e->out, "    }\n}\n");
}

static void c_states(kb_export *e)
{
    size_t n = kb_export_states(e), time = kb_export_axis(e, 0);
    bool has_states = false;
    if (e->law->initial) {
        put_span(e, "// from ", " to ", ", starting with ");
        put_initial(e, " = ", ", ");
        kb_buffer_put(&e->out, "\n");
    }
    kb_buffer_print(&e->out, "void %s(double %s, const double state[%zu], double rate[%zu])\n{\n", e->function,
                    time_word(e), n, e->law->n_equations);
    for (size_t i = 0; i < n; i++) {
        if (!e->law->is_used[i]) continue;
        kb_buffer_print(&e->out, "    const double %s = state[%zu];\n", e->words[i], i);
        has_states = true;
    }
    if (!e->law->is_used[time]) kb_buffer_print(&e->out, "    (void)%s;\n", time_word(e));
    if (!has_states) kb_buffer_put(&e->out, "    (void)state;\n");
    for (size_t i = 0; i < e->law->n_equations; i++) {
        kb_buffer_print(&e->out, "    rate[%zu] = ", i);
        kb_export_rhs(e, &e->law->equations[i]);
        kb_buffer_print(&e->out, "; // %s\n", e->law->equations[i].lhs);
    }
    kb_buffer_put(&e->out, "}\n");
}

kbass_status kb_export_c(kb_export *e, kbass_error *error)
{
    (void)error;
    kb_export_heading(e);
    kb_buffer_put(&e->out, "#include <math.h>\n#include <stddef.h>\n\n");
    if (calls(e, KB_FUNCTION_sign))
        kb_buffer_put(&e->out, "static double kbass_sign(double v) { return (v > 0) - (v < 0); }\n\n");
    if (has_space(e) && !name_elements(e)) e->out.is_lost = true;
    if (e->out.is_lost) return KBASS_OK;
    if (has_space(e)) c_fields(e);
    else c_states(e);
    return KBASS_OK;
}
