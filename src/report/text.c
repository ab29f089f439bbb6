#include "report/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "report/summary.h"
#include "report/text_terms.h"

enum { MOST_RUNNERS_UP = 5 };

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
    if (!result->noise_is_relative) {
        kb_text_sd(100 * result->noise[state] / spread(data, state), noise);
        fprintf(to->out, ", %s %% of its sd", noise);
    }
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
        kb_text_print_constants(to, result);
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
        kb_text_print_terms(to, result, all_terms);
        kb_summary_groups(to, result);
        kb_summary_alike(to, result);
        kb_text_print_correlations(to, result);
        kb_text_print_averages(to, result);
        kb_text_print_constants(to, result);
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
