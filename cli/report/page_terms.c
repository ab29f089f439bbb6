/* Terms, residual checks, rivals: what the result says about itself. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "page_parts.h"

static void put_math(FILE *out, const char *term)
{
    fputs("<math><mrow>", out);
    html_term(out, term);
    fputs("</mrow></math>", out);
}

static const char *verdict_words(const view_equation *equation, const view_term *term)
{
    if (equation->is_known) return "✓ given";
    if (!strcmp(term->verdict, "in")) return "✓ in";
    if (!strcmp(term->verdict, "out")) return "✗ out";
    return "? undecided";
}

static bool deserves_card(const view_term *term) { return term->is_selected || !strcmp(term->verdict, "undecided"); }

/* ---------------------------------------------------------------- constants inside terms */

static void put_constant(page *p, const json_t *constant)
{
    const json_t *interval = json_object_get(constant, "interval"), *range = json_object_get(constant, "range");
    const char *name = json_string_value(json_object_get(constant, "name"));
    bool is_at_end =
        json_is_true(json_object_get(constant, "at_low")) || json_is_true(json_object_get(constant, "at_high"));
    double value = page_number(constant, "value"), low = json_number_value(json_array_get(interval, 0)),
           high = json_number_value(json_array_get(interval, 1));
    if (!name || !json_is_true(json_object_get(constant, "selected"))) return;
    fputs("<p class=\"constant\"><math><mrow>", p->out);
    html_term(p->out, name);
    fputs(value < 0 ? "<mo>=</mo><mo>−</mo>" : "<mo>=</mo>", p->out);
    html_weight(p->out, fabs(value), page_number(constant, "sd"));
    fputs("</mrow></math>", p->out);
    if (json_array_size(interval) == 2) fprintf(p->out, ", 95 %% interval %.4g to %.4g", low, high);
    if (json_array_size(range) == 2)
        fprintf(p->out, ", sought from %.4g to %.4g", json_number_value(json_array_get(range, 0)),
                json_number_value(json_array_get(range, 1)));
    fputs(is_at_end ? " (an end of it is as good)</p>\n" : "</p>\n", p->out);
}

void page_constants(page *p)
{
    const json_t *constant = NULL;
    size_t i = 0;
    json_array_foreach(json_object_get(p->v->root, "constants"), i, constant) put_constant(p, constant);
}

/* ---------------------------------------------------------------- cards */

static void put_numbers(page *p, const view_term *term)
{
    fputs("<dl><dt>weight</dt><dd>", p->out);
    if (isfinite(term->weight)) {
        fprintf(p->out, "<math><mrow>%s", term->weight < 0 ? "<mo>−</mo>" : "");
        html_weight(p->out, fabs(term->weight), term->sd);
        fputs("</mrow></math>", p->out);
        if (term->unit) html_unit(p->out, term->unit);
    } else {
        fputs("–", p->out);
    }
    if (term->sd > 0 && isfinite(term->low) && isfinite(term->high)) {
        fputs("</dd><dt>95 %</dt><dd>", p->out);
        html_interval(p->out, term->low, term->high, term->sd);
    }
    fputs("</dd></dl>", p->out);
}

static void put_card(page *p, const view_equation *equation, const view_term *term, size_t *n_weights)
{
    const panel_kind *weights = panel_find("weights");
    const view_equation *of = NULL;
    const view_term *drawn = NULL;
    fputs("<article class=\"card\"><h4>", p->out);
    put_math(p->out, term->name);
    fputs("<span class=\"verdict ", p->out);
    html_text(p->out, equation->is_known ? "in" : term->verdict);
    fprintf(p->out, "\">%s</span></h4>\n", verdict_words(equation, term));
    if (!equation->is_known) {
        fprintf(p->out,
                "<div class=\"bar\" aria-hidden=\"true\"><i style=\"width:%.1f%%\"></i></div><span "
                "class=\"quiet\">probability ",
                isfinite(term->probability) ? 100 * fmax(0, fmin(1, term->probability)) : 0);
        html_probability(p->out, term->probability);
        fprintf(p->out, "%s</span>\n", term->is_selected ? "" : ", not in the chosen model");
    }
    put_numbers(p, term);
    if (weight_at(p->v, *n_weights, &of, &drawn) && drawn == term) {
        if (p->has_figures) html_figure(p->out, p->v, weights, *n_weights, p->n_figures++);
        ++*n_weights;
    }
    fputs("</article>\n", p->out);
}

static void put_rest(page *p, const view_equation *equation)
{
    size_t n = 0;
    for (size_t i = 0; i < equation->n_terms; i++) n += !deserves_card(&equation->terms[i]);
    if (!n) return;
    fprintf(p->out,
            "<details><summary>%zu candidate%s out</summary><div class=\"wide\"><table><thead><tr><th>term</th>"
            "<th>probability</th><th>could weigh (95 %%)</th></tr></thead><tbody>\n",
            n, n == 1 ? " is" : "s are");
    for (size_t i = 0; i < equation->n_terms; i++) {
        const view_term *term = &equation->terms[i];
        if (deserves_card(term)) continue;
        fputs("<tr><td>", p->out);
        put_math(p->out, term->name);
        fputs("</td><td class=\"number\">", p->out);
        html_probability(p->out, term->probability);
        fputs("</td><td class=\"number\">", p->out);
        html_interval(p->out, term->low, term->high, term->sd);
        fputs("</td></tr>\n", p->out);
    }
    fputs("</tbody></table></div></details>\n", p->out);
}

void page_terms(page *p)
{
    size_t n_weights = 0;
    if (!p->v->n_equations) return;
    fputs("<h2>Terms</h2>\n", p->out);
    for (size_t e = 0; e < p->v->n_equations; e++) {
        const view_equation *equation = &p->v->equations[e];
        fputs("<h3>In the equation of <math><mrow>", p->out);
        html_term(p->out, equation->lhs);
        fputs("</mrow></math></h3>\n<div class=\"cards\">\n", p->out);
        for (size_t i = 0; i < equation->n_terms; i++)
            if (deserves_card(&equation->terms[i])) put_card(p, equation, &equation->terms[i], &n_weights);
        fputs("</div>\n", p->out);
        put_rest(p, equation);
    }
}
