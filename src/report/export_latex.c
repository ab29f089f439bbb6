/* LaTeX: an align* environment, for papers. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "report/export.h"

static bool is_greek(const char *word, size_t length)
{
    static const char *const letters[] = {
        "alpha", "beta",  "gamma",  "delta", "epsilon", "zeta",  "eta",     "theta", "iota", "kappa", "lambda", "mu",
        "nu",    "xi",    "pi",     "rho",   "sigma",   "tau",   "upsilon", "phi",   "chi",  "psi",   "omega",  "Gamma",
        "Delta", "Theta", "Lambda", "Xi",    "Pi",      "Sigma", "Upsilon", "Phi",   "Psi",  "Omega"};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (strlen(letters[i]) == length && !strncmp(letters[i], word, length)) return true;
    return false;
}

static void put_escaped(kb_buffer *out, const char *word, size_t length)
{
    static const char special[] = "_#$%&{}";
    for (size_t i = 0; i < length; i++) {
        if (strchr(special, word[i])) kb_buffer_print(out, "\\%c", word[i]);
        else if (strchr("\\^~", word[i]) || iscntrl((unsigned char)word[i])) kb_buffer_put(out, "?");
        else kb_buffer_print(out, "%c", word[i]);
    }
}

static void put_word(kb_buffer *out, const char *word, size_t length)
{
    if (length == 1 && isalpha((unsigned char)*word)) kb_buffer_print(out, "%c", *word);
    else if (is_greek(word, length)) kb_buffer_print(out, "\\%.*s", (int)length, word);
    else {
        kb_buffer_put(out, "\\mathrm{");
        put_escaped(out, word, length);
        kb_buffer_put(out, "}");
    }
}

/* x1 is x_{1}, T_in is T_{\mathrm{in}}; `derivative` comes behind: u_{1,xx}. */
static void put_name(kb_buffer *out, const char *name, const char *derivative)
{
    size_t length = strlen(name), head = strcspn(name, "_"), tail = head + 1;
    if (head == 0 || head + 1 >= length) { /* no subscript: digits at the end are one */
        for (head = length; head > 1 && isdigit((unsigned char)name[head - 1]);) head--;
        tail = head;
    }
    put_word(out, name, head);
    if (tail >= length && !*derivative) return;
    kb_buffer_put(out, "_{");
    if (tail < length && isdigit((unsigned char)name[tail])) put_escaped(out, name + tail, length - tail);
    else if (tail < length) put_word(out, name + tail, length - tail);
    kb_buffer_print(out, "%s%s}", tail < length && *derivative ? "," : "", derivative);
}

/* The state x_t beside the state x. */
static bool is_velocity(const kb_dictionary *symbols, size_t variable)
{
    const char *name = symbols->variable_names[variable];
    size_t length = strlen(name);
    bool is_state = symbols->n_axes == 1 && variable < symbols->n_states;
    for (size_t i = 0; is_state && i < symbols->n_states; i++)
        if (strlen(symbols->state_names[i]) + 2 == length && !strcmp(name + length - 2, "_t") &&
            !strncmp(name, symbols->state_names[i], length - 2))
            return true;
    return false;
}

static void put_velocity(kb_buffer *out, const char *name)
{
    char position[256];
    snprintf(position, sizeof position, "%.*s", (int)strlen(name) - 2, name);
    kb_buffer_put(out, "\\dot{");
    put_name(out, position, "");
    kb_buffer_put(out, "}");
}

static bool name_symbols(kb_export *e)
{
    const kb_dictionary *symbols = e->law->symbols;
    bool is_done = true;
    for (size_t v = 0; v < symbols->n_variables && is_done; v++) {
        kb_buffer text = {0};
        const kb_variable *variable = &symbols->variables[v];
        const char *name = symbols->variable_names[v], *derivative = "";
        if (variable->axis < 0) {
            const char *field = symbols->state_names[variable->field];
            if (kb_variable_order(variable)) derivative = name + strlen(field) + 1;
            name = field;
        }
        if (is_velocity(symbols, v)) put_velocity(&text, name);
        else put_name(&text, name, derivative);
        is_done = !text.is_lost && kb_export_symbol(e, v, "%s", text.text);
        kb_buffer_clear(&text);
    }
    return is_done;
}

static void put_lhs(kb_export *e, const kb_written_equation *equation)
{
    const char *d = e->law->symbols->n_axes > 1 ? "\\partial" : "\\mathrm{d}",
               *power = equation->order == 2 ? "^{2}" : "";
    kb_buffer_print(&e->out, "\\frac{%s%s %s}{%s %s%s}", d, power, e->symbols[equation->state], d,
                    e->symbols[kb_export_axis(e, 0)], power);
}

/* K = 2.36(13), a line each. */
static void put_constants(kb_export *e)
{
    kb_export_estimate c;
    for (size_t i = 0; kb_export_constant(e, i, &c); i++) {
        if (!c.is_used) continue;
        kb_buffer_put(&e->out, " \\\\\n  ");
        put_name(&e->out, c.name, "");
        kb_buffer_put(&e->out, " &= ");
        kb_formula_measured(&e->out, &kb_latex, c.value, c.sd);
    }
}

kbass_status kb_export_latex(kb_export *e, kbass_error *error)
{
    (void)error;
    if (!name_symbols(e)) e->out.is_lost = true;
    if (e->out.is_lost) return KBASS_OK;
    kb_export_heading(e);
    kb_buffer_put(&e->out, "% needs \\usepackage{amsmath}\n\\begin{align*}\n");
    for (size_t i = 0; i < e->law->n_equations; i++) {
        kb_buffer_put(&e->out, "  ");
        put_lhs(e, &e->law->equations[i]);
        kb_buffer_put(&e->out, " &= ");
        kb_export_rhs(e, &e->law->equations[i]);
        kb_buffer_put(&e->out, i + 1 < e->law->n_equations ? " \\\\\n" : "");
    }
    put_constants(e);
    kb_buffer_put(&e->out, "\n");
    kb_buffer_put(&e->out, "\\end{align*}\n");
    return KBASS_OK;
}
