#include "report/json_parts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "dictionary/text.h"

/* ---------------------------------------------------------------- values */

void kb_json_put(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) == 0) return;
    json_decref(*object);
    *object = NULL;
}

void kb_json_append(json_t **array, json_t *value)
{
    if (json_array_append_new(*array, value) == 0) return;
    json_decref(*array);
    *array = NULL;
}

json_t *kb_json_number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *kb_json_pair(double first, double second)
{
    json_t *array = json_array();
    kb_json_append(&array, kb_json_number(first));
    kb_json_append(&array, kb_json_number(second));
    return array;
}

json_t *kb_json_count(size_t value) { return json_integer((json_int_t)value); }

/* Paths and column names may hold bytes that are not UTF-8; those become '?'. */
json_t *kb_json_text(const char *bytes)
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
    json_t *string = kb_json_text(line);
    kb_free(line);
    return string;
}

static json_t *equation_object(const kbass_equation *equation)
{
    json_t *terms = json_array();
    for (size_t i = 0; i < equation->n_terms; i++) {
        const kbass_term *term = &equation->terms[i];
        json_t *object = json_pack(
            "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s}", "term", kb_json_text(term->term), "weight",
            kb_json_number(term->weight), "unit", term->unit ? kb_json_text(term->unit) : json_null(), "sd",
            kb_json_number(term->sd), "own_sd", kb_json_number(term->own_sd), "interval",
            kb_json_pair(term->low, term->high), "average", kb_json_number(term->average), "average_sd",
            kb_json_number(term->average_sd), "probability", kb_json_number(term->probability), "selected",
            term->selected, "verdict", kbass_verdict_name(term->verdict));
        if (object && term->form) kb_json_put(&object, "form", kb_json_text(term->form));
        if (object && term->at_bound) kb_json_put(&object, "at_bound", json_true());
        kb_json_append(&terms, object);
    }
    return json_pack("{s:o, s:b, s:o, s:o}", "lhs", kb_json_text(equation->lhs), "known", equation->known, "text",
                     equation_text(equation), "terms", terms);
}

json_t *kb_json_equations(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_equations; i++) kb_json_append(&array, equation_object(&result->equations[i]));
    return array;
}

/* "x_t: y" */
static json_t *label(const char *lhs, const char *term)
{
    size_t size = strlen(lhs) + strlen(term) + 3;
    char *both = KB_NEW(char, size);
    if (!both) return NULL;
    snprintf(both, size, "%s: %s", lhs, term);
    json_t *string = kb_json_text(both);
    kb_free(both);
    return string;
}

/* The estimated weights, and the matrix in their order. */
json_t *kb_json_correlation(const kbass_result *result)
{
    size_t n = result->correlation ? result->n_weights : 0;
    json_t *names = json_array(), *matrix = json_array();
    for (size_t e = 0; n && e < result->n_equations; e++)
        for (size_t i = 0; !result->equations[e].known && i < result->equations[e].n_terms; i++)
            if (result->equations[e].terms[i].selected)
                kb_json_append(&names, label(result->equations[e].lhs, result->equations[e].terms[i].term));
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < n; j++) kb_json_append(&row, kb_json_number(result->correlation[j + i * n]));
        kb_json_append(&matrix, row);
    }
    return json_pack("{s:o, s:o}", "weights", names, "matrix", matrix);
}

json_t *kb_json_groups(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_groups; i++) {
        const kbass_group *group = &result->groups[i];
        json_t *terms = json_array();
        for (size_t j = 0; j < group->n_terms; j++) kb_json_append(&terms, kb_json_text(group->terms[j]));
        kb_json_append(&array,
                       json_pack("{s:o, s:o, s:o, s:o}", "lhs", kb_json_text(group->lhs), "terms", terms, "present",
                                 kb_json_count(group->n_present), "probability", kb_json_number(group->probability)));
    }
    return array;
}

static const char *alike_name(kbass_alike_kind kind)
{
    static const char *const names[] = {"terms", "conserved", "rest"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

json_t *kb_json_alike(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_alike; i++) {
        const kbass_alike *a = &result->alike[i];
        json_t *terms = json_array(), *weights = json_array();
        for (size_t j = 0; j < a->n_terms; j++)
            kb_json_append(&terms, kb_json_text(a->terms[j])), kb_json_append(&weights, kb_json_number(a->weights[j]));
        kb_json_append(&array, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", alike_name(a->kind), "lhs",
                                         a->lhs ? kb_json_text(a->lhs) : json_null(), "what", kb_json_text(a->what),
                                         "value", kb_json_number(a->value), "terms", terms, "weights", weights, "share",
                                         kb_json_number(a->share), "sentence", kb_json_text(a->sentence)));
    }
    return array;
}

json_t *kb_json_runners_up(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_runners_up; i++) {
        const kbass_runner_up *rival = &result->runners_up[i];
        json_t *equations = json_array();
        for (size_t j = 0; j < rival->n_equations; j++) kb_json_append(&equations, kb_json_text(rival->equations[j]));
        kb_json_append(&array,
                       json_pack("{s:o, s:o, s:o, s:o, s:o}", "difference",
                                 kb_json_text(rival->difference ? rival->difference : ""), "log_odds",
                                 kb_json_number(rival->log_odds), "probability", kb_json_number(rival->probability),
                                 "misfit", kb_json_number(rival->misfit), "equations", equations));
    }
    return array;
}

/* ---------------------------------------------------------------- explanations */

static json_t *all_changes(const kbass_explanation *explanation)
{
    json_t *array = json_array();
    for (size_t i = 0; i < explanation->n_changes; i++) {
        const kbass_weight_change *change = &explanation->changes[i];
        kb_json_append(&array, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "lhs", kb_json_text(change->lhs), "term",
                                         kb_json_text(change->term), "before", kb_json_number(change->before),
                                         "before_sd", kb_json_number(change->before_sd), "after",
                                         kb_json_number(change->after), "after_sd", kb_json_number(change->after_sd)));
    }
    return array;
}

json_t *kb_json_explanations(const kbass_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->n_explanations; i++) {
        const kbass_explanation *e = &result->explanations[i];
        kb_json_append(&array,
                       json_pack("{s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "lhs", kb_json_text(e->lhs), "term",
                                 kb_json_text(e->term), "change", e->is_added ? "added" : "dropped", "fitted",
                                 e->is_fitted, "log_evidence", kb_json_number(e->log_evidence), "log_odds",
                                 kb_json_number(e->log_odds), "misfit_before", kb_json_number(e->misfit_before),
                                 "misfit_after", kb_json_number(e->misfit_after), "weights", all_changes(e)));
    }
    return array;
}
