/* What all languages share: names, the heading, right-hand sides. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "dictionary/text.h"
#include "report/export.h"

/* ---------------------------------------------------------------- names */

static bool is_taken(const kb_export *e, size_t variable, const char *word)
{
    for (const char *const *w = e->language->reserved; w && *w; w++)
        if (!strcmp(*w, word)) return true;
    for (size_t v = 0; v < variable; v++)
        if (!strcmp(e->words[v], word)) return true;
    for (size_t i = 0; i < e->law->n_equations; i++) /* results are called u_t */
        if (!strcmp(e->law->equations[i].lhs, word)) return true;
    return !strcmp(word, e->function);
}

/* The name itself where the language allows it, else with underscores behind it; a time called "time (s)" is t. */
static char *choose_word(const kb_export *e, size_t variable)
{
    const char *name = e->law->symbols->variable_names[variable];
    size_t n = e->law->symbols->n_variables + e->law->n_equations + 4, length = strlen(name);
    char *word = KB_NEW(char, length + n);
    if (!word) return NULL;
    if (!kb_is_identifier(name)) strcpy(word, "t");
    else if (*name == '_') sprintf(word, "v%s", name);
    else strcpy(word, name);
    while (is_taken(e, variable, word)) strcat(word, "_");
    return word;
}

bool kb_export_name(kb_export *e)
{
    size_t n = e->law->symbols->n_variables;
    bool is_done = (e->words = KB_NEW(char *, n)) && (e->symbols = KB_NEW(char *, n));
    for (size_t v = 0; v < n && is_done; v++)
        is_done = (e->words[v] = choose_word(e, v)) && (e->symbols[v] = kb_strdup(e->words[v]));
    return is_done;
}

bool kb_export_symbol(kb_export *e, size_t variable, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length >= 0 ? KB_NEW(char, (size_t)length + 1) : NULL;
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    kb_free(e->symbols[variable]);
    e->symbols[variable] = text;
    return text != NULL;
}

void kb_export_clear(kb_export *e)
{
    for (size_t v = 0; v < (e->law->symbols ? e->law->symbols->n_variables : 0); v++) {
        if (e->words) kb_free(e->words[v]);
        if (e->symbols) kb_free(e->symbols[v]);
    }
    kb_free(e->words);
    kb_free(e->symbols);
    kb_buffer_clear(&e->out);
}

size_t kb_export_states(const kb_export *e) { return e->law->symbols->n_states; }

size_t kb_export_axis(const kb_export *e, size_t axis)
{
    return e->law->symbols->n_variables - e->law->symbols->n_axes + axis;
}

bool kb_export_is_argument(const kb_export *e, size_t variable)
{
    return variable < e->law->symbols->n_states || e->law->is_used[variable];
}

/* ---------------------------------------------------------------- right-hand sides */

typedef enum { ALL_DIGITS, MEASURED } precision;

static void put_term(kb_export *e, const kb_language *language, const char *const *names, const kb_written_term *term,
                     precision digits)
{
    double size = fabs(term->weight);
    bool is_one = kb_formula_is_one(term->poly), is_sum = kb_formula_is_sum(term->poly);
    bool has_weight = is_one || size != 1 || !isnan(term->sd);
    if (has_weight && digits == MEASURED && !isnan(term->sd)) kb_formula_measured(&e->out, language, size, term->sd);
    else if (has_weight) kb_formula_number(&e->out, language, size);
    if (is_one) return;
    if (has_weight) kb_buffer_put(&e->out, language->times);
    if (is_sum) kb_buffer_put(&e->out, language->brackets.open);
    kb_formula_poly(&e->out, language, names, term->poly);
    if (is_sum) kb_buffer_put(&e->out, language->brackets.close);
}

static void put_rhs(kb_export *e, const kb_language *language, const char *const *names,
                    const kb_written_equation *equation, precision digits)
{
    enum { TERMS_PER_LINE = 4 }; /* of LaTeX */
    if (!equation->n_terms) kb_buffer_put(&e->out, "0");
    for (size_t i = 0; i < equation->n_terms; i++) {
        bool is_negative = equation->terms[i].weight < 0;
        if (language == &kb_latex && i && i % TERMS_PER_LINE == 0) kb_buffer_put(&e->out, " \\\\\n    &\\quad");
        if (i) kb_buffer_put(&e->out, is_negative ? " - " : " + ");
        else if (is_negative) kb_buffer_put(&e->out, "-");
        put_term(e, language, names, &equation->terms[i], digits);
    }
}

void kb_export_rhs(kb_export *e, const kb_written_equation *equation)
{
    put_rhs(e, e->language, (const char *const *)e->symbols, equation,
            e->language == &kb_latex ? MEASURED : ALL_DIGITS);
}

static bool has_variables(const kb_poly *poly)
{
    double number;
    return !kb_poly_is_number(poly, &number);
}

bool kb_export_is_constant(const kb_written_equation *equation)
{
    for (size_t i = 0; i < equation->n_terms; i++)
        if (has_variables(equation->terms[i].poly)) return false;
    return true;
}

/* ---------------------------------------------------------------- heading */

/* A path may hold anything; a comment ends with its line. */
static void put_printable(kb_buffer *out, const char *text)
{
    char letter[2] = "";
    for (; *text; text++) {
        letter[0] = *text;
        if (iscntrl((unsigned char)*text)) letter[0] = '?';
        kb_buffer_put(out, letter);
    }
}

/* "f is a known input, held from each value to the next, 0.8 late" */
static void put_inputs(kb_export *e)
{
    json_t *posterior = json_object_get(e->law->root, "posterior"), *item;
    json_t *first = json_array_get(json_object_get(e->law->root, "run_posteriors"), 0);
    size_t i;
    json_array_foreach(json_object_get(first ? first : posterior, "inputs"), i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        double delay = json_number_value(json_object_get(item, "delay"));
        kb_buffer_print(&e->out, "%s %s is a known input%s", e->language->comment, name ? name : "?",
                        json_is_true(json_object_get(item, "held")) ? ", held from each value to the next" : "");
        if (delay > 0)
            kb_buffer_print(&e->out, ", and acts %.6g late: here stands %s(t - %.6g)", delay, name ? name : "?", delay);
        kb_buffer_put(&e->out, "\n");
    }
}

bool kb_export_constant(const kb_export *e, size_t index, kb_export_estimate *out)
{
    json_t *item = json_array_get(json_object_get(e->law->root, "constants"), index);
    json_t *interval = json_object_get(item, "interval");
    *out = (kb_export_estimate){.name = json_string_value(json_object_get(item, "name")),
                                .is_used = json_is_true(json_object_get(item, "selected")),
                                .value = json_number_value(json_object_get(item, "value")),
                                .sd = json_number_value(json_object_get(item, "sd")),
                                .low = json_number_value(json_array_get(interval, 0)),
                                .high = json_number_value(json_array_get(interval, 1))};
    return out->name != NULL;
}

/* "K inside its terms is 2.36(13), 95 % interval 2.1 to 2.66" */
static void put_constants(kb_export *e)
{
    kb_export_estimate c;
    for (size_t i = 0; kb_export_constant(e, i, &c); i++) {
        if (!c.is_used) continue;
        kb_buffer_print(&e->out, "%s   %s inside its terms is ", e->language->comment, c.name);
        kb_formula_measured(&e->out, &kb_plain, c.value, c.sd);
        kb_buffer_print(&e->out, ", 95 %% interval %.4g to %.4g\n", c.low, c.high);
    }
}

void kb_export_heading(kb_export *e)
{
    json_t *data = json_object_get(e->law->root, "data");
    const char *source = json_string_value(json_object_get(data, "source"));
    const char *hash = json_string_value(json_object_get(data, "sha256")), *mark = e->language->comment;
    const char *const *names = (const char *const *)e->law->symbols->variable_names;
    kb_buffer_print(&e->out, "%s found by kbass %s in \"", mark, kbass_version());
    put_printable(&e->out, source ? source : "");
    kb_buffer_put(&e->out, "\", SHA-256 ");
    put_printable(&e->out, hash ? hash : "unknown");
    kb_buffer_print(&e->out, "\n%s standard deviations in parentheses, in units of the last digit\n", mark);
    for (size_t i = 0; i < e->law->n_equations; i++) {
        kb_buffer_print(&e->out, "%s   %s = ", mark, e->law->equations[i].lhs);
        put_rhs(e, &kb_plain, names, &e->law->equations[i], MEASURED);
        kb_buffer_print(&e->out, "%s\n", e->law->equations[i].is_known ? "  (given)" : "");
    }
    put_constants(e);
    put_inputs(e);
}
