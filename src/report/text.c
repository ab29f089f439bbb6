#include "report/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "report/summary.h"

enum { MOST_RUNNERS_UP = 5, MOST_CORRELATIONS = 5 };

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
static void print_terms(const kb_text_page *to, const kbass_result *result, bool all)
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

static void print_correlations(const kb_text_page *to, const kbass_result *result)
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
static void print_averages(const kb_text_page *to, const kbass_result *result)
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

static void print_constants(const kb_text_page *to, const kbass_result *result)
{
    if (result->n_constants) fputs("\n  constants inside terms:\n", to->out);
    for (size_t i = 0; i < result->n_constants; i++)
        if (result->constants[i].is_used) print_constant(to, &result->constants[i]);
    print_unused_constants(to, result);
}

/* ---------------------------------------------------------------- noise, rivals, outcome */

static double spread(const kbass_data *data, size_t state)
{
    size_t n = 0, n_states = kbass_data_states(data);
    double sum = 0, squares = 0;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < kbass_data_rows(data); i++) {
            double value = kbass_data_values(data)[i * n_states + state];
            if (isnan(value)) continue;
            if (pass == 0) sum += value, n++;
            else squares += (value - sum / (double)n) * (value - sum / (double)n);
        }
    return sqrt(squares / (double)n);
}

static bool has_error_bars(const kbass_data *data, size_t state)
{
    const double *sigma = kbass_data_sigma(data);
    for (size_t i = 0; sigma && i < kbass_data_rows(data); i++)
        if (sigma[i * kbass_data_states(data) + state] > 0) return true;
    return false;
}

/* "x 0.17 (0.13 to 0.24; 12 % of its sd)", or as a share of the value "x 15 % (12 to 19 %)" */
static void print_state_noise(const kb_text_page *to, const kbass_data *data, const kbass_result *result, size_t state)
{
    char noise[KB_TEXT_NUMBER], low[KB_TEXT_NUMBER], high[KB_TEXT_NUMBER];
    double scale = result->noise_is_relative ? 100 : 1;
    bool has_interval = result->noise_low && result->noise_high && result->noise_high[state] > result->noise_low[state];
    kb_text_sd(scale * result->noise[state], noise);
    fprintf(to->out, "    %s: %s%s", kbass_data_state_name(data, state), noise, result->noise_is_relative ? " %" : "");
    if (has_interval) {
        kb_text_sd(scale * result->noise_low[state], low);
        kb_text_sd(scale * result->noise_high[state], high);
        fprintf(to->out, ", 95 %% interval %s to %s", low, high);
    }
    if (has_error_bars(data, state)) fprintf(to->out, " by its error bars");
    if (!result->noise_is_relative)
        fprintf(to->out, ", %.2g %% of its sd", 100 * result->noise[state] / spread(data, state));
    fputc('\n', to->out);
}

static void print_noise(const kb_text_page *to, const kbass_data *data, const kbass_result *result)
{
    if (!result->noise) return;
    fprintf(to->out, "\n  noise%s:\n", result->noise_is_relative ? ", as a share of the value" : "");
    for (size_t j = 0; j < result->n_states; j++)
        if (!isnan(result->noise[j])) print_state_noise(to, data, result, j); /* NaN: only followed */
    for (size_t i = 0; i < result->n_warnings; i++) fprintf(to->out, "  warning: %s\n", result->warnings[i]);
    fputc('\n', to->out);
}

/* What the law leaves, in words; nothing where it leaves nothing. */
static void print_missing(const kb_text_page *to, const kbass_data *data, const kbass_result *result)
{
    if (!result->n_missing && !result->n_misfits) return;
    fprintf(to->out, "  the law leaves something unexplained:\n");
    for (size_t i = 0; i < result->n_misfits; i++) {
        const kbass_misfit *m = &result->misfits[i];
        fprintf(to->out, "    from %s = %.4g to %.4g", kbass_data_axis_name(data, 0), m->from, m->until);
        if (isfinite(m->low)) fprintf(to->out, ", %s = %.4g to %.4g", kbass_data_axis_name(data, 1), m->low, m->high);
        fprintf(to->out, ", %s is measured %s the solution: %.1f standard deviations in all\n",
                kbass_data_state_name(data, m->state), m->score > 0 ? "above" : "below", fabs(m->score));
    }
    for (size_t i = 0; i < result->n_missing; i++) {
        const kbass_missing_term *m = &result->missing[i];
        fprintf(to->out,
                "    %s %s in %s would help, by %.1f standard deviations; it is not in the dictionary (--terms)\n",
                i ? "or" : "a term", m->term, kb_text_lhs(data, result, m->state), fabs(m->score));
    }
    fputc('\n', to->out);
}

static void print_runners_up(const kb_text_page *to, const kbass_result *result)
{
    char text[KB_TEXT_NUMBER];
    kb_text_probability(result->probability, text);
    if (isfinite(result->probability)) fprintf(to->out, "  probability of this model among those compared: %s\n", text);
    for (size_t i = 0; i < result->n_runners_up && i < MOST_RUNNERS_UP; i++) {
        const kbass_runner_up *rival = &result->runners_up[i];
        kb_text_odds(rival->log_odds, text);
        fprintf(to->out, "%s  runner-up %zu, odds %s, misfit %.3g:\n", i ? "" : "\n", i + 1, text, rival->misfit);
        for (size_t j = 0; j < rival->n_equations; j++)
            if (!kb_text_is_definition(&result->equations[j])) fprintf(to->out, "      %s\n", rival->equations[j]);
    }
    if (result->n_runners_up > MOST_RUNNERS_UP)
        fprintf(to->out, "  and %zu more with smaller odds (all of them: --json)\n",
                result->n_runners_up - MOST_RUNNERS_UP);
}

/* ---------------------------------------------------------------- explanations */

/* "0.322 +- 0.019", or "-" where the model is without the term */
static void format_weight(double weight, double sd, char text[2 * KB_TEXT_NUMBER + 5])
{
    char number[KB_TEXT_NUMBER], spread_text[KB_TEXT_NUMBER];
    kb_text_number(weight, sd, number);
    kb_text_sd(sd, spread_text);
    if (weight == 0 && sd == 0) snprintf(text, 2 * KB_TEXT_NUMBER + 5, "-");
    else snprintf(text, 2 * KB_TEXT_NUMBER + 5, "%s +- %s", number, spread_text);
}

static void print_change(const kb_text_page *to, const kbass_weight_change *change, int lhs_width, int term_width)
{
    char before[2 * KB_TEXT_NUMBER + 5], after[2 * KB_TEXT_NUMBER + 5];
    format_weight(change->before, change->before_sd, before);
    format_weight(change->after, change->after_sd, after);
    fprintf(to->out, "      %-*s  %-*s %24s   -> %24s\n", lhs_width, change->lhs, term_width, change->term, before,
            after);
}

/* "y_t: x  a -1.01 +- 0.02, b ..., spread 0.3", by run */
static void print_varied(const kb_text_page *to, const kbass_data *data, const kbass_result *result)
{
    char weight[KB_TEXT_NUMBER], sd[KB_TEXT_NUMBER];
    if (!result->n_varied) return;
    double gain = result->varied[0].log_odds;
    fprintf(to->out, "\n  with weights that differ between runs, odds %.3g : 1 against the law above:\n",
            exp(fmin(gain, 600)));
    for (size_t i = 0; i < result->n_equations; i++) fprintf(to->out, "      %s\n", result->varied_equations[i]);
    for (size_t i = 0; i < result->n_varied; i++) {
        const kbass_varied *v = &result->varied[i];
        fprintf(to->out, "    %s: %s by run, spread %.2g\n", v->lhs, v->term, v->spread);
        for (size_t run = 0; run < v->n_runs; run++) {
            kb_text_number(v->weights[run], v->sds[run], weight);
            kb_text_sd(v->sds[run], sd);
            fprintf(to->out, "      %-20s %12s +- %s\n", kbass_data_run_name(data, run), weight, sd);
        }
    }
}

static void print_explanations(const kb_text_page *to, const kbass_result *result)
{
    for (size_t i = 0; i < result->n_explanations; i++) {
        const kbass_explanation *e = &result->explanations[i];
        char odds[KB_TEXT_NUMBER];
        int width = 0;
        fprintf(to->out, "\n  %s %s: %s: ", e->is_added ? "with" : "without", e->lhs, e->term);
        if (!e->is_fitted) {
            fprintf(to->out, "%s\n", "such a model cannot be fitted to these data");
            continue;
        }
        kb_text_odds(e->log_odds, odds);
        fprintf(to->out, "log evidence %+.1f (odds %s), misfit %.3g -> %.3g\n", e->log_evidence, odds, e->misfit_before,
                e->misfit_after);
        for (size_t j = 0; j < e->n_changes; j++)
            if ((int)strlen(e->changes[j].term) > width) width = (int)strlen(e->changes[j].term);
        for (size_t j = 0; j < e->n_changes; j++) print_change(to, &e->changes[j], kb_text_widest_lhs(result), width);
    }
}

/* ---------------------------------------------------------------- the outcome */

enum { OUTCOME_SIZE = 200, SENTENCE_SIZE = 300 };

/* False where there is nothing to say. */
static bool words_for(const kbass_result *result, char words[OUTCOME_SIZE])
{
    const char *reason = result->outcome == KBASS_TIME_LIMIT  ? "The time limit was reached"
                         : result->outcome == KBASS_CANCELLED ? "Stopped"
                                                              : NULL;
    if (result->outcome == KBASS_CONVERGED) return false;
    if (reason && result->n_equations && !result->n_models)
        snprintf(words, OUTCOME_SIZE, "%s; this is the best answer by then.", reason);
    else if (reason && result->n_equations)
        snprintf(words, OUTCOME_SIZE,
                 "%s after %zu model%s; the search was still improving. This is the best answer by then.", reason,
                 result->n_models, result->n_models == 1 ? "" : "s");
    else if (reason) snprintf(words, OUTCOME_SIZE, "%s before there was a model.", reason);
    else
        snprintf(words, OUTCOME_SIZE, "%s",
                 result->outcome == KBASS_NOT_CONVERGED
                     ? "The search was still improving when its budget ended; this is the best it found."
                     : "There is no model: no candidate could be fitted to these data.");
    return true;
}

static void print_outcome(const kb_text_page *to, const kbass_result *result)
{
    char words[OUTCOME_SIZE];
    bool has_words = words_for(result, words);
    if (has_words) fprintf(to->out, "\n  %s\n", words);
    fprintf(to->out, "%s  %.1f s", has_words ? "" : "\n", result->seconds_total);
    if (result->n_models) fprintf(to->out, ": %zu model%s fitted", result->n_models, result->n_models == 1 ? "" : "s");
    if (result->n_models && result->n_starts)
        fprintf(to->out, " from %zu start%s", result->n_starts, result->n_starts == 1 ? "" : "s");
    if (result->n_starts_lost) fprintf(to->out, ", %zu starts lost to numerical trouble", result->n_starts_lost);
    fputc('\n', to->out);
    if (result->engine && result->n_equations) fprintf(to->out, "  Fitted by %s.\n", result->engine);
    if (result->n_part)
        fprintf(to->out,
                "  Part used: structures were proposed by all data, compared on %zu values, and the best fitted to all "
                "rows.\n",
                result->n_part);
    if (result->n_condensed)
        fprintf(to->out, "  Part used: %.2g %% of the rows: %zu that say what all do, noise included.\n",
                100 * result->rows_used, result->n_condensed);
    if (result->n_screened)
        fprintf(to->out,
                "  Of the candidates %zu were left out before the search: the data's slopes have little of them.\n",
                result->n_screened);
}

/* ---------------------------------------------------------------- the report */

/* What was understood, a line for each part, and what makes that doubtful. */
static void print_data(const kb_text_page *to, const kbass_data *data)
{
    char text[2000];
    kbass_data_describe(data, text, sizeof text);
    for (char *part = text, *next = NULL; part; part = next) {
        next = strstr(part, "; ");
        if (next) *next = '\0';
        if (next) next += 2;
        fprintf(to->out, "%s%s\n", part == text ? "" : "  ", part);
    }
    for (size_t i = 0; kbass_data_doubt(data, i, text, sizeof text); i++) fprintf(to->out, "  warning: %s\n", text);
}

static void print_problem(const kb_text_page *to, const kbass_data *data, const kbass_discovery *discovery)
{
    size_t n = kbass_discovery_candidates(discovery), i = 0;
    print_data(to, data);
    int column = fprintf(to->out, "%zu candidate terms in each equation:", n);
    for (; i < n; i++) {
        const char *term = kbass_discovery_candidate(discovery, i);
        if (column + (int)strlen(term) + 6 > KB_TEXT_WIDTH) break;
        column += fprintf(to->out, " %s%s", term, i + 1 < n ? "," : "");
    }
    fprintf(to->out, "%s\n", i < n ? " ..." : "");
}

/* A line for each part that was left out: how well the law found without it foretells it. */
static void print_validation(const kb_text_page *to, const kbass_result *result)
{
    if (result->n_folds)
        fprintf(to->out, "\n  found without a part of the data, and held against it:\n    %-28s %8s %10s %8s  %s\n",
                "left out", "R^2", "log score", "in 90 %", "terms");
    for (size_t i = 0; i < result->n_folds; i++) {
        const kbass_fold *f = &result->folds[i];
        if (!f->is_scored) {
            fprintf(to->out, "    %-28s not scored: %s\n", f->name, f->reason ? f->reason : "stopped");
            continue;
        }
        fprintf(to->out, "    %-28s %8.3f %10.3f %6.0f %%  %s%s\n", f->name, f->r2, f->log_score, 100 * f->within_90,
                f->is_same ? "the same" : "others", f->log_score > f->baseline ? "" : "; no law would foretell more");
        for (size_t e = 0; !f->is_same && e < f->n_equations; e++) fprintf(to->out, "      %s\n", f->equations[e]);
    }
}

/* The outcome in a line or two. */
static void print_end(const kb_text_page *to, const kbass_result *result)
{
    char words[OUTCOME_SIZE];
    if (words_for(result, words)) kb_text_wrapped(to, 2, words);
    if (result->n_patches && result->engine && result->n_equations) {
        char text[SENTENCE_SIZE];
        snprintf(text, sizeof text, "Fitted by %s.", result->engine);
        kb_text_wrapped(to, 2, text);
    }
    fprintf(to->out, "  %.1f s", result->seconds_total);
    if (result->n_models) fprintf(to->out, ", %zu model%s fitted", result->n_models, result->n_models == 1 ? "" : "s");
    if (result->n_part) fprintf(to->out, ", compared on %zu values", result->n_part);
    if (result->n_condensed) fprintf(to->out, ", part used: %.2g %% of the rows", 100 * result->rows_used);
    if (result->n_screened) fprintf(to->out, ", %zu candidates screened out", result->n_screened);
    fprintf(to->out, ".%s\n", result->n_equations ? " More: --details, kbass help words." : "");
}

/* What fits on a screen. What was asked for is never left out. */
static void print_summary(const kb_text_page *to, const kbass_data *data, const kbass_result *result)
{
    if (result->n_equations) {
        kb_summary_verdict(to, result);
        if (result->law.verdict == KBASS_LAW_NOT_JUDGED) fputc('\n', to->out);
        kb_text_equations(to, result);
        kb_summary_confidence(to, result);
        kb_summary_terms(to, result);
        print_constants(to, result);
        if (!kb_summary_is_brief(result)) kb_summary_groups(to, result);
        kb_summary_alike(to, result);
        kb_summary_warnings(to, data, result);
        kb_summary_rivals(to, result);
        print_varied(to, data, result);
        print_explanations(to, result);
        print_validation(to, result);
    }
    print_end(to, result);
}

static void print_details(const kb_text_page *to, const kbass_data *data, const kbass_result *result, bool all_terms)
{
    if (result->n_equations) {
        kb_summary_verdict(to, result);
        if (result->law.verdict == KBASS_LAW_NOT_JUDGED) fputc('\n', to->out);
        kb_text_equations(to, result);
        kb_summary_confidence(to, result);
        print_terms(to, result, all_terms);
        kb_summary_groups(to, result);
        kb_summary_alike(to, result);
        print_correlations(to, result);
        print_averages(to, result);
        print_constants(to, result);
        print_noise(to, data, result);
        print_missing(to, data, result);
        print_runners_up(to, result);
        print_varied(to, data, result);
        print_explanations(to, result);
        print_validation(to, result);
    }
    print_outcome(to, result);
}

kbass_status kb_report_text(const kbass_data *data, const kbass_discovery *discovery, int parts, char **text,
                            kbass_error *error)
{
    size_t size = 0;
    *text = NULL;
    kb_text_page to = {.out = open_memstream(text, &size), .has_bold = parts & KBASS_TEXT_BOLD};
    if (!to.out) return kb_out_of_memory(error, "the report");
    if (parts & KBASS_TEXT_PROBLEM) print_problem(&to, data, discovery);
    if (parts & KBASS_TEXT_RESULT)
        (parts & (KBASS_TEXT_DETAILS | KBASS_TEXT_ALL_TERMS))
            ? print_details(&to, data, kbass_discovery_result(discovery), parts & KBASS_TEXT_ALL_TERMS)
            : print_summary(&to, data, kbass_discovery_result(discovery));
    bool is_whole = !ferror(to.out);
    if (fclose(to.out) == 0 && is_whole) return KBASS_OK;
    free(*text);
    *text = NULL;
    return kb_out_of_memory(error, "the report");
}
