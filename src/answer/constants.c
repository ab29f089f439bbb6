#include "answer/constants.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* Terms by their present values; the answer's names point into the dictionary, whose terms may be made anew. */
static kbass_status add_forms(kb_answer *answer, const kb_dictionary *d, kbass_error *error)
{
    kbass_equation *equations = (kbass_equation *)answer->result.equations;
    for (size_t e = 0; e < answer->result.n_equations; e++)
        for (size_t i = 0; i < equations[e].n_terms; i++) {
            kbass_term *term = (kbass_term *)&equations[e].terms[i];
            size_t place = kb_dictionary_find(d, term->term);
            if (place < d->n_terms && d->forms[place] && kb_dictionary_is_form(d, place) &&
                !(term->form = kb_answer_text(answer, d->forms[place])))
                return kb_out_of_memory(error, "the answer");
        }
    return KBASS_OK;
}

static kbass_status add_correlation(kb_answer *answer, size_t k, const double *row, kbass_constant *out,
                                    kbass_error *error)
{
    double *own = kb_answer_own(answer, k, sizeof *own);
    if (!own) return kb_out_of_memory(error, "the answer");
    memcpy(own, row, k * sizeof *own);
    out->n_weights = k;
    out->correlation = own;
    return KBASS_OK;
}

static size_t find_constant(const kb_dictionary *d, const char *name)
{
    size_t i = 0;
    while (i < d->n_constants && strcmp(d->constants[i].name, name)) i++;
    return i;
}

/* The first selected term that names the constant; n_terms: there is none. */
static size_t term_with(const kb_frame *p, const kb_fit *fit, size_t constant)
{
    for (size_t q = 0; q < fit->support.n; q++) {
        size_t term = p->columns->term[fit->support.column[q]];
        if (kb_dictionary_names_constant(p->dictionary, term, constant)) return term;
    }
    return p->dictionary->n_terms;
}

static const char *face_of(const kb_dictionary *d, size_t term)
{
    return kb_dictionary_form(d, term) ? kb_dictionary_form(d, term) : kb_dictionary_name(d, term);
}

static const char *form_of(const kb_frame *p, const kb_fit *fit, const char *name)
{
    size_t term = term_with(p, fit, find_constant(p->dictionary, name));
    return term < p->dictionary->n_terms ? face_of(p->dictionary, term) : "";
}

/* What that term becomes at an end of the constant's range, or NULL. */
static kbass_status name_limit(const kb_frame *p, const kb_fit *fit, const char *name, bool is_high, char **limit,
                               kbass_error *error)
{
    size_t constant = find_constant(p->dictionary, name), term = term_with(p, fit, constant);
    if (term == p->dictionary->n_terms) return KBASS_OK;
    return kb_dictionary_limit(p->dictionary, term, constant, is_high, limit, error);
}

/* Terms that were added while it was searched. */
static kbass_status tell_limits(kb_answer *answer, const kb_dictionary *d, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && i < d->n_limits; i++) {
        const kb_limit *l = &d->limits[i];
        const kb_constant *c = &d->constants[l->constant];
        char text[500];
        snprintf(
            text, sizeof text,
            "%.40s of %.150s went to the %s end of its range, %.4g, where it becomes %.100s: that was a candidate, "
            "too",
            c->name, face_of(d, l->of), l->is_high ? "upper" : "lower", l->is_high ? c->high : c->low,
            kb_dictionary_name(d, l->term));
        status = kb_answer_warn(answer, text, error);
    }
    return status;
}

static bool is_delay(const kb_dictionary *d, const char *name)
{
    for (size_t state = 0; state < d->n_states; state++)
        if (d->delay_constant[state] != KB_NO_CONSTANT && !strcmp(d->constants[d->delay_constant[state]].name, name))
            return true;
    return false;
}

/* Another place of the constants, at which the same terms do as well with other weights. */
static kbass_status warn_of_others(kb_answer *answer, const kb_frame *p, const kb_fit *fit, const char *name,
                                   const kb_constant_estimate *e, kbass_error *error)
{
    char text[500];
    if (!e->is_used || !(e->odds > 0)) return KBASS_OK;
    snprintf(
        text, sizeof text,
        "%.40s of %.100s may as well be %.4g: there the same terms, with other weights, fit these data as well (odds "
        "1 : %.2g); intervals are those about %.4g alone. A run from another start would tell",
        name, form_of(p, fit, name), e->other, 1 / e->odds, e->value);
    return kb_answer_warn(answer, text, error);
}

static kbass_status warn_of_ends(kb_answer *answer, const kb_frame *p, const kb_fit *fit, size_t i, kbass_error *error)
{
    char text[500], *limit = NULL;
    const kbass_constant *c = &answer->result.constants[i];
    if (!c->is_used || !(c->at_low || c->at_high)) return KBASS_OK;
    kbass_status status = name_limit(p, fit, c->name, c->at_high, &limit, error);
    if (status != KBASS_OK) return status;
    if (is_delay(p->dictionary, c->name))
        snprintf(text, sizeof text,
                 "%s, the delay in %.100s, may as well be at the %s end of its range, %g: its value is a bound%s",
                 c->name, form_of(p, fit, c->name), c->at_high ? "upper" : "lower",
                 c->at_high ? c->range_high : c->range_low,
                 c->at_high && c->at_low ? "; these data tell nothing about it" : "");
    else
        snprintf(text, sizeof text,
                 "%s of %.100s may as well be at the %s end of its range, %.4g: these data ask for %.100s%s it "
                 "becomes there, %s; its value is a bound",
                 c->name, form_of(p, fit, c->name), c->at_high ? "upper" : "lower",
                 c->at_high ? c->range_high : c->range_low, limit ? limit : "the simpler term",
                 limit ? ", which" : " that",
                 c->at_high && c->at_low ? "or tell nothing about it" : "or for a wider range");
    kb_free(limit);
    return kb_answer_warn(answer, text, error);
}

kbass_status kb_answer_constants(kb_answer *answer, const kb_frame *p, const kb_search_result *found,
                                 const kb_constant_estimate *estimates, const double *correlation, size_t n_guarded,
                                 kbass_error *error)
{
    const kb_dictionary *d = p->dictionary;
    if (!d->n_constants || !answer->result.n_equations) return KBASS_OK;
    const kb_fit *fit = found->pool.fits[0];
    kbass_constant *out = kb_answer_own(answer, d->n_constants, sizeof *out);
    kbass_status status = out ? add_forms(answer, d, error) : kb_out_of_memory(error, "the answer");
    size_t n = 0;
    for (size_t i = 0; status == KBASS_OK && i < d->n_constants; i++) {
        const kb_constant *c = &d->constants[i];
        const kb_constant_estimate *e = &estimates[i];
        if (c->is_pattern) continue;
        out[n] = (kbass_constant){.name = c->name,
                                  .range_low = c->low,
                                  .range_high = c->high,
                                  .is_used = e->is_used,
                                  .value = e->value,
                                  .sd = e->sd,
                                  .low = e->low,
                                  .high = e->high,
                                  .at_low = e->at_low,
                                  .at_high = e->at_high};
        if (e->is_used && correlation)
            status = add_correlation(answer, fit->support.n, correlation + i * fit->support.n, &out[n], error);
        n++;
    }
    answer->result.constants = out;
    answer->result.n_constants = status == KBASS_OK ? n : 0;
    for (size_t i = 0; status == KBASS_OK && i < n; i++) status = warn_of_ends(answer, p, fit, i, error);
    for (size_t i = 0; status == KBASS_OK && i < d->n_constants; i++)
        status = warn_of_others(answer, p, fit, d->constants[i].name, &estimates[i], error);
    if (status == KBASS_OK) status = tell_limits(answer, d, error);
    if (status == KBASS_OK && n_guarded)
        status = kb_answer_warn(answer, "a state with an unknown power passes 0: max(0,x)^n stands for x^n", error);
    return status;
}
