#include "report/text_terms.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MOST_CORRELATIONS = 5 };
static const double NEAR_CANDIDATE = 0.01; /* terms left out are shown when likelier than this */
static const double CLOSELY_RELATED = 0.9; /* correlations of weights are shown above this */

/* ---------------------------------------------------------------- the table of terms */

static bool is_shown(const kbass_term *term, bool all)
{
    return all || term->selected || term->probability > NEAR_CANDIDATE;
}

static int widest_term(const kbass_result *result, bool all)
{
    size_t width = strlen("term");
    for (size_t i = 0; i < result->n_equations; i++)
        for (size_t j = 0; j < result->equations[i].n_terms; j++) {
            const kbass_term *term = &result->equations[i].terms[j];
            if (is_shown(term, all) && strlen(kb_text_face(term)) > width) width = strlen(kb_text_face(term));
        }
    return (int)width;
}

/* Of the column of units; 0 when no weight has one. */
static int widest_unit(const kbass_result *result, bool all)
{
    size_t width = 0;
    for (size_t i = 0; i < result->n_equations; i++)
        for (size_t j = 0; j < result->equations[i].n_terms; j++) {
            const kbass_term *term = &result->equations[i].terms[j];
            if (term->unit && is_shown(term, all) && strlen(term->unit) > width) width = strlen(term->unit);
        }
    return (int)(width && width < strlen("unit") ? strlen("unit") : width);
}

/* The unit stands behind the weight, in a column of its own. */
static void print_term_row(const kb_text_page *to, const char *lhs, int lhs_width, const kbass_term *term,
                           int term_width, int unit_width)
{
    char weight[KB_TEXT_NUMBER], sd[KB_TEXT_NUMBER], probability[KB_TEXT_NUMBER], interval[2 * KB_TEXT_NUMBER + 4];
    kb_text_number(term->weight, term->sd, weight);
    kb_text_sd(term->sd, sd);
    kb_text_interval(term, interval);
    kb_text_probability(term->probability, probability);
    fprintf(to->out, "  %-*s  %-*s %12s", lhs_width, lhs, term_width, kb_text_face(term), weight);
    if (unit_width) fprintf(to->out, " %-*s", unit_width, term->unit ? term->unit : "-");
    fprintf(to->out, " %11s %22s %12s   %s%s\n", sd, interval, probability, kbass_verdict_name(term->verdict),
            term->at_bound ? ", at its bound" : "");
}

/* The weight of a term left out is what it would be in the likeliest model that has it. */
void kb_text_print_terms(const kb_text_page *to, const kbass_result *result, bool all)
{
    int lhs_width = kb_text_widest_lhs(result), term_width = widest_term(result, all),
        unit_width = widest_unit(result, all);
    size_t n_hidden = 0, n_sought = 0;
    for (size_t i = 0; i < result->n_equations; i++) n_sought += !result->equations[i].known;
    if (!n_sought) return;
    fprintf(to->out, "\n  %-*s  %-*s %12s", lhs_width, "", term_width, "term", "weight");
    if (unit_width) fprintf(to->out, " %-*s", unit_width, "unit");
    fprintf(to->out, " %11s %22s %12s\n", "sd", "95 % interval", "probability");
    for (size_t i = 0; i < result->n_equations; i++) {
        const kbass_equation *equation = &result->equations[i];
        const char *lhs = equation->lhs;
        if (equation->known) continue;
        for (size_t j = 0; j < equation->n_terms; j++) {
            if (!is_shown(&equation->terms[j], all)) {
                n_hidden++;
                continue;
            }
            print_term_row(to, lhs, lhs_width, &equation->terms[j], term_width, unit_width);
            lhs = "";
        }
    }
    if (n_hidden)
        fprintf(to->out, "  %zu candidates are out, below %g each; --all-terms shows what they could weigh\n", n_hidden,
                NEAR_CANDIDATE);
}

/* ---------------------------------------------------------------- correlations and averages */

/* The equation and term of the index-th estimated weight. */
static const kbass_term *estimated(const kbass_result *result, size_t index, const char **lhs)
{
    for (size_t i = 0; i < result->n_equations; i++) {
        const kbass_equation *equation = &result->equations[i];
        for (size_t j = 0; !equation->known && j < equation->n_terms; j++) {
            *lhs = equation->lhs;
            if (equation->terms[j].selected && index-- == 0) return &equation->terms[j];
        }
    }
    return NULL;
}

void kb_text_print_correlations(const kb_text_page *to, const kbass_result *result)
{
    size_t n = result->correlation ? result->n_weights : 0, n_shown = 0, n_strong = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            double r = result->correlation[j + i * n];
            const char *lhs[2] = {NULL, NULL};
            if (!(fabs(r) > CLOSELY_RELATED) || n_strong++ >= MOST_CORRELATIONS) continue;
            const kbass_term *a = estimated(result, i, &lhs[0]), *b = estimated(result, j, &lhs[1]);
            if (a && b)
                fprintf(to->out, "%s  weights move together: %s: %s and %s: %s, correlation %.3f\n",
                        n_shown++ ? "" : "\n", lhs[0], a->term, lhs[1], b->term, r);
        }
    if (n_strong > n_shown)
        fprintf(to->out, "  and %zu more pairs of weights (all of them: --json)\n", n_strong - n_shown);
}

static bool is_undecided(const kbass_result *result)
{
    for (size_t i = 0; i < result->n_equations; i++)
        for (size_t j = 0; j < result->equations[i].n_terms; j++)
            if (result->equations[i].terms[j].verdict == KBASS_UNDECIDED) return true;
    return false;
}

/* What the choice of the model hides: weights averaged over all of them, where terms are undecided; those out aside. */
void kb_text_print_averages(const kb_text_page *to, const kbass_result *result)
{
    int lhs_width = kb_text_widest_lhs(result), term_width = widest_term(result, false);
    if (!is_undecided(result)) return;
    fprintf(to->out, "\n  weights averaged over all models compared, 0 in those without the term:\n");
    for (size_t i = 0; i < result->n_equations; i++) {
        const char *lhs = result->equations[i].lhs;
        for (size_t j = 0; !result->equations[i].known && j < result->equations[i].n_terms; j++) {
            const kbass_term *term = &result->equations[i].terms[j];
            char mean[KB_TEXT_NUMBER], sd[KB_TEXT_NUMBER];
            if (term->verdict == KBASS_OUT) continue;
            kb_text_number(term->average, term->average_sd, mean);
            kb_text_sd(term->average_sd, sd);
            fprintf(to->out, "  %-*s  %-*s %12s %11s\n", lhs_width, lhs, term_width, kb_text_face(term), mean, sd);
            lhs = "";
        }
    }
}

/* ---------------------------------------------------------------- constants inside terms */

static void print_constant(const kb_text_page *to, const kbass_constant *c)
{
    char value[KB_TEXT_NUMBER], low[KB_TEXT_NUMBER], high[KB_TEXT_NUMBER];
    kb_text_number(c->value, c->sd, value);
    kb_text_number(c->low, c->sd, low);
    kb_text_number(c->high, c->sd, high);
    fprintf(to->out, "    %s = %s, 95 %% interval %s to %s, sought from %.4g to %.4g%s\n", c->name, value, low, high,
            c->range_low, c->range_high, c->at_high || c->at_low ? " (an end of it is as good)" : "");
}

/* "no selected term has K2, K3" */
static void print_unused_constants(const kb_text_page *to, const kbass_result *result)
{
    size_t n = 0;
    int column = 0;
    for (size_t i = 0; i < result->n_constants; i++) {
        const char *name = result->constants[i].name;
        if (result->constants[i].is_used) continue;
        if (column + (int)strlen(name) + 2 > KB_TEXT_WIDTH) column = fprintf(to->out, ",\n      ") - 2;
        else if (n) column += fprintf(to->out, ", ");
        else column += fprintf(to->out, "    no selected term has ");
        column += fprintf(to->out, "%s", name);
        n++;
    }
    if (n) fputc('\n', to->out);
}

void kb_text_print_constants(const kb_text_page *to, const kbass_result *result)
{
    if (result->n_constants) fputs("\n  constants inside terms:\n", to->out);
    for (size_t i = 0; i < result->n_constants; i++)
        if (result->constants[i].is_used) print_constant(to, &result->constants[i]);
    print_unused_constants(to, result);
}
