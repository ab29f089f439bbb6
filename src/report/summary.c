#include "report/summary.h"

#include <math.h>
#include <string.h>

enum { SENTENCE = 900, GROUP_END = 120, SHOWN_RIVALS = 2, SHOWN_MISSING = 1 };

bool kb_summary_is_brief(const kbass_result *result)
{
    return result->law.verdict == KBASS_LAW_NONE || result->law.verdict == KBASS_NOTHING_TO_EXPLAIN;
}

void kb_summary_verdict(const kb_text_page *to, const kbass_result *result)
{
    const kbass_law *law = &result->law;
    char probability[KB_TEXT_NUMBER], text[SENTENCE], name[64];
    if (law->verdict == KBASS_LAW_NOT_JUDGED) return;
    snprintf(name, sizeof name, "%s", kbass_law_verdict_name(law->verdict));
    if (*name >= 'a' && *name <= 'z') *name = (char)(*name - 'a' + 'A');
    kb_text_probability(law->probability, probability);
    snprintf(text, sizeof text, "%s: P(law) %s; %s.", name, probability, law->reason);
    fprintf(to->out, "\n%s", kb_text_bold(to, true));
    kb_text_wrapped(to, 0, text);
    fputs(kb_text_bold(to, false), to->out);
    if (kb_summary_is_brief(result)) fprintf(to->out, "The best law of this dictionary, all the same:\n");
}

/* " (that of c is noise)", of states at rest */
static void name_noise(const kbass_result *result, char text[SENTENCE / 2])
{
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < result->n_alike && used < SENTENCE / 2 - GROUP_END; i++)
        if (result->alike[i].kind == KBASS_ALIKE_REST)
            used +=
                (size_t)snprintf(text + used, GROUP_END, "%s%.100s", used ? ", " : " (that of ", result->alike[i].what);
    if (used) strcpy(text + used, " is noise)");
}

void kb_summary_confidence(const kb_text_page *to, const kbass_result *result)
{
    const kbass_law *law = &result->law;
    char text[SENTENCE], noise[SENTENCE / 2];
    if (law->verdict == KBASS_LAW_NOT_JUDGED || !isfinite(law->explained)) return;
    name_noise(result, noise);
    snprintf(text, sizeof text, "Explains %.*f %% of the variance%s, misfit %.3g; %zu other law%s within 1 : 10.",
             law->explained > 0.995 ? 3 : 1, 100 * fmax(law->explained, 0), noise, law->misfit, law->n_rivals,
             law->n_rivals == 1 ? "" : "s");
    kb_text_wrapped(to, 0, text);
}

/* ---------------------------------------------------------------- terms */

static bool is_shown(const kbass_result *result, const kbass_term *term)
{
    return term->selected || (term->verdict != KBASS_OUT && !kb_summary_is_brief(result));
}

static int widest_term(const kbass_result *result)
{
    size_t width = strlen("term");
    for (size_t i = 0; i < result->n_equations; i++)
        for (size_t j = 0; j < result->equations[i].n_terms; j++) {
            const kbass_term *term = &result->equations[i].terms[j];
            if (is_shown(result, term) && strlen(kb_text_face(term)) > width) width = strlen(kb_text_face(term));
        }
    return (int)width;
}

static void print_term(const kb_text_page *to, const char *lhs, int lhs_width, const kbass_term *term, int term_width)
{
    char weight[KB_TEXT_NUMBER], probability[KB_TEXT_NUMBER], interval[2 * KB_TEXT_NUMBER + 4];
    kb_text_number(term->weight, term->sd, weight);
    kb_text_interval(term, interval);
    kb_text_probability(term->probability, probability);
    fprintf(to->out, "  %-*s  %-*s %10s %22s %9s  ", lhs_width, lhs, term_width, kb_text_face(term), weight, interval,
            probability);
    if (term->unit)
        fprintf(to->out, "%-9s  %s%s\n", kbass_verdict_name(term->verdict), term->unit,
                term->at_bound ? ", at its bound" : "");
    else fprintf(to->out, "%s%s\n", kbass_verdict_name(term->verdict), term->at_bound ? ", at its bound" : "");
}

static bool has_units(const kbass_result *result)
{
    for (size_t i = 0; i < result->n_equations; i++)
        for (size_t j = 0; j < result->equations[i].n_terms; j++)
            if (is_shown(result, &result->equations[i].terms[j]) && result->equations[i].terms[j].unit) return true;
    return false;
}

/* Equations that were given have no rows. */
static bool has_rows(const kbass_result *result)
{
    for (size_t i = 0; i < result->n_equations; i++)
        for (size_t j = 0; !result->equations[i].known && j < result->equations[i].n_terms; j++)
            if (is_shown(result, &result->equations[i].terms[j])) return true;
    return false;
}

void kb_summary_terms(const kb_text_page *to, const kbass_result *result)
{
    int lhs_width = kb_text_widest_lhs(result), term_width = widest_term(result);
    size_t n_out = 0, n_open = 0;
    if (has_rows(result))
        fprintf(to->out, "  %-*s  %-*s %10s %22s %9s%s\n", lhs_width, "", term_width, "term", "weight", "95 % interval",
                "P(in)", has_units(result) ? "             unit of the weight" : "");
    for (size_t i = 0; i < result->n_equations; i++) {
        const kbass_equation *equation = &result->equations[i];
        const char *lhs = equation->lhs;
        for (size_t j = 0; !equation->known && j < equation->n_terms; j++) {
            if (!is_shown(result, &equation->terms[j])) {
                *(equation->terms[j].verdict == KBASS_OUT ? &n_out : &n_open) += 1;
                continue;
            }
            print_term(to, lhs, lhs_width, &equation->terms[j], term_width);
            lhs = "";
        }
    }
    bool is_stopped = result->outcome != KBASS_CONVERGED && result->outcome != KBASS_NOT_CONVERGED;
    if (n_out)
        fprintf(to->out, "  %zu other candidate%s out%s.\n", n_out, n_out == 1 ? " is" : "s are",
                is_stopped ? " so far" : "");
    if (n_open) fprintf(to->out, "  %zu more cannot be ruled out (--details).\n", n_open);
}

void kb_summary_groups(const kb_text_page *to, const kbass_result *result)
{
    static const char *const numbers[] = {"one or more", "one", "two"};
    if (result->n_groups) fputc('\n', to->out);
    for (size_t i = 0; i < result->n_groups; i++) {
        const kbass_group *group = &result->groups[i];
        char probability[KB_TEXT_NUMBER], text[SENTENCE];
        int used = snprintf(text, SENTENCE - GROUP_END, "%s: %s of", group->lhs, numbers[group->n_present]);
        for (size_t j = 0; j < group->n_terms && used < SENTENCE - GROUP_END; j++)
            used +=
                snprintf(text + used, (size_t)(SENTENCE - GROUP_END - used), "%s %s", j ? "," : "", group->terms[j]);
        kb_text_probability(group->probability, probability);
        snprintf(text + strlen(text), GROUP_END, "%s: %s together; these data cannot tell which",
                 used < SENTENCE - GROUP_END ? "" : " ...", probability);
        kb_text_wrapped(to, 2, text);
    }
}

/* ---------------------------------------------------------------- warnings and rivals */

void kb_summary_warnings(const kb_text_page *to, const kbass_data *data, const kbass_result *result)
{
    char text[SENTENCE];
    for (size_t i = 0; i < result->n_warnings; i++) {
        snprintf(text, sizeof text, "warning: %s", result->warnings[i]);
        kb_text_wrapped(to, 2, text);
    }
    for (size_t i = 0; i < result->n_missing && i < SHOWN_MISSING; i++) {
        const kbass_missing_term *m = &result->missing[i];
        snprintf(text, sizeof text, "missing: %s in %s would help by %.1f sd; not in the dictionary (--terms)", m->term,
                 kb_text_lhs(data, result, m->state), fabs(m->score));
        kb_text_wrapped(to, 2, text);
    }
}

void kb_summary_alike(const kb_text_page *to, const kbass_result *result)
{
    char text[SENTENCE];
    for (size_t i = 0; i < result->n_alike; i++) {
        snprintf(text, sizeof text, "alike: %s", result->alike[i].sentence);
        kb_text_wrapped(to, 2, text);
    }
}

void kb_summary_rivals(const kb_text_page *to, const kbass_result *result)
{
    for (size_t i = 0; i < result->n_runners_up && i < SHOWN_RIVALS; i++) {
        const kbass_runner_up *rival = &result->runners_up[i];
        char odds[KB_TEXT_NUMBER], text[SENTENCE];
        kb_text_odds(rival->log_odds, odds);
        snprintf(text, sizeof text, "rival, odds %s: %s", odds, rival->difference);
        kb_text_wrapped(to, 2, text);
    }
}
