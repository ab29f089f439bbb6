#include "constants/starts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "evidence/thresholds.h"
#include "weights/constraints.h"
#include "weights/ties.h"

enum { MOST_STARTS = 3 };        /* starts: of the constants; seconds */
enum { MOST_ROUNDS = 3 };        /* rounds: of constants and structure in turn */
enum { MOST_COLUMNS = 32 };      /* room: columns of a law */
static const double alike = 0.1; /* nats: evidences that are one */

/* Columns of the chosen model that name constants. */
static size_t count_used(const kb_constants_task *t)
{
    const kb_columns *columns = t->columns(t->context);
    size_t n = 0;
    if (!kb_has_model(t->found)) return 0;
    const kb_support *support = &t->found->pool.fits[0]->support;
    for (size_t q = 0; q < support->n; q++)
        n += kb_dictionary_has_constant(t->dictionary, columns->term[support->column[q]]);
    return n;
}

static kb_profile_setting setting_of(const kb_constants_task *t)
{
    return (kb_profile_setting){.dictionary = t->dictionary,
                                .columns = t->columns(t->context),
                                .n_start = t->found->pool.n_start,
                                .make = t->make,
                                .context = t->context,
                                .run = t->run};
}

static kbass_status profile(const kb_constants_task *t, const double *steps, kb_constant_estimate *estimates,
                            double *correlation, kb_constants_spread *spread, double *log_mass, kbass_error *error)
{
    const kb_profile_setting setting = setting_of(t);
    return kb_constants_profile(&setting, steps, t->found->pool.fits[0], estimates, correlation, spread, log_mass,
                                error);
}

/* What a start led to. */
typedef struct {
    double log_evidence, log_mass;
    double values[KB_MOST_CONSTANTS], steps[KB_MOST_CONSTANTS];
    kb_constant_estimate estimates[KB_MOST_CONSTANTS];
    size_t n_columns, columns[MOST_COLUMNS]; /* of the law that no term was missed in; 0: none yet */
} landing;

static void remember_columns(const kb_support *support, landing *l)
{
    l->n_columns = support->n <= MOST_COLUMNS ? support->n : 0;
    memcpy(l->columns, support->column, l->n_columns * sizeof *l->columns);
}

static bool is_remembered(const kb_support *support, const landing *l)
{
    return support->n == l->n_columns && !memcmp(support->column, l->columns, support->n * sizeof *l->columns);
}

/* ---------------------------------------------------------------- structures that look better at other constants */

static size_t count_required(const kb_columns *columns, const kb_support *support)
{
    size_t n = 0;
    for (size_t q = 0; q < support->n; q++) n += columns->required[support->column[q]];
    return n;
}

/* Does the law without a column have a name of its own: that of the first of those that constraints tie to it? */
static bool is_lead(const kb_columns *columns, size_t column)
{
    return !columns->constraints || !columns->constraints->ties || columns->constraints->ties->lead[column] == column;
}

/* A law without one of its columns, and those tied to it; *out stays NULL where that cannot be, or has no constant. */
static kbass_status without(const kb_constants_task *t, const kb_fit *parent, size_t column, kb_fit **out,
                            kbass_error *error)
{
    const kb_columns *columns = t->columns(t->context);
    size_t n_start = t->found->pool.n_start, n = parent->support.n, n_named = 0;
    if (!is_lead(columns, column)) return KBASS_OK;
    kb_fit *fit = NULL;
    kbass_status status = kb_fit_create(columns->n, n_start, parent->n_windows, n, &fit, error);
    if (status != KBASS_OK) return status;
    kb_fit_copy(parent, fit, columns->n, n_start);
    kb_support_remove(&fit->support, column);
    if (columns->constraints) kb_constraints_prune(columns, &fit->support);
    kb_fit_begin(fit, parent, columns->n, n_start);
    for (size_t q = 0; q < fit->support.n; q++)
        n_named += kb_dictionary_has_constant(t->dictionary, columns->term[fit->support.column[q]]);
    bool is_allowed = count_required(columns, &fit->support) == count_required(columns, &parent->support);
    if (fit->support.n && n_named && is_allowed) *out = fit;
    else kb_fit_destroy(fit);
    return KBASS_OK;
}

/* The best of a law's smaller ones at constants of its own, which are the dictionary's then; NULL: none is better. */
static kbass_status best_without(const kb_constants_task *t, const landing *from, const kb_fit *law, kb_fit **out,
                                 kbass_error *error)
{
    const kb_profile_setting setting = setting_of(t);
    double best = law->log_evidence, chosen[KB_MOST_CONSTANTS];
    size_t n = t->dictionary->n_constants;
    kbass_status status = KBASS_OK;
    memcpy(chosen, from->values, n * sizeof *chosen);
    for (size_t q = 0; status == KBASS_OK && q < law->support.n && !kb_run_stopped(t->run); q++) {
        kb_fit *fit = NULL;
        status = without(t, law, law->support.column[q], &fit, error);
        if (status != KBASS_OK || !fit) continue;
        status = kb_dictionary_set_constants(t->dictionary, from->values, error);
        if (status == KBASS_OK) status = kb_constants_climb(&setting, from->steps, fit, error);
        bool is_better = status == KBASS_OK && fit->log_evidence > best;
        if (is_better) {
            best = fit->log_evidence;
            for (size_t i = 0; i < n; i++) chosen[i] = t->dictionary->constants[i].value;
        }
        kb_fit_destroy(is_better ? *out : fit);
        if (is_better) *out = fit;
    }
    return status == KBASS_OK ? kb_dictionary_set_constants(t->dictionary, chosen, error) : status;
}

/* The landing becomes that of a smaller law, with its own mass of constants. */
static kbass_status land_on(const kb_constants_task *t, kb_fit *law, landing *found, kbass_error *error)
{
    const kb_profile_setting setting = setting_of(t);
    kbass_status status =
        kb_constants_profile(&setting, found->steps, law, found->estimates, NULL, NULL, &found->log_mass, error);
    for (size_t i = 0; i < t->dictionary->n_constants; i++) found->values[i] = t->dictionary->constants[i].value;
    found->log_evidence = law->log_evidence + found->log_mass;
    return status;
}

/* A term may only make up for constants that are off. Where the law without it, at constants of its own, is the better
   one, these are what to search at; and so on, term by term. */
static kbass_status try_without(const kb_constants_task *t, landing *found, bool *is_better, kbass_error *error)
{
    const kb_fit *chosen = t->found->pool.fits[0];
    kb_fit *law = NULL, *smaller = NULL;
    *is_better = false;
    if (is_remembered(&chosen->support, found)) return KBASS_OK;
    kbass_status status = best_without(t, found, chosen, &smaller, error);
    while (status == KBASS_OK && smaller && !kb_run_stopped(t->run)) {
        *is_better = true;
        kb_fit_destroy(law);
        law = smaller;
        smaller = NULL;
        status = land_on(t, law, found, error);
        if (status == KBASS_OK) status = best_without(t, found, law, &smaller, error);
    }
    if (!*is_better) remember_columns(&chosen->support, found);
    kb_fit_destroy(law);
    kb_fit_destroy(smaller);
    return status;
}

/* The law found, climbed from a start: its constants are the dictionary's then. */
static kbass_status climb_law(const kb_constants_task *t, const double *values, const double *steps, kb_fit **fit,
                              kbass_error *error)
{
    const kb_profile_setting setting = setting_of(t);
    const kb_fit *law = t->found->pool.fits[0];
    kbass_status status =
        kb_fit_create(setting.columns->n, setting.n_start, law->n_windows, law->support.n, fit, error);
    if (status == KBASS_OK) status = kb_dictionary_set_constants(t->dictionary, values, error);
    if (status != KBASS_OK) return status;
    kb_fit_copy(law, *fit, setting.columns->n, setting.n_start);
    return kb_constants_climb(&setting, steps, *fit, error);
}

/* Does a start lead to where the last one led, in the law found there? */
static kbass_status leads_there(const kb_constants_task *t, const double *values, const double *steps,
                                const landing *last, bool *does, kbass_error *error)
{
    kb_fit *fit = NULL;
    kbass_status status = climb_law(t, values, steps, &fit, error);
    *does = status == KBASS_OK && fit->log_evidence <= t->found->pool.fits[0]->log_evidence + alike;
    for (size_t i = 0; status == KBASS_OK && *does && i < t->dictionary->n_constants; i++) {
        const kb_constant *c = &t->dictionary->constants[i];
        const kb_constant_estimate *e = &last->estimates[i];
        *does = !e->is_used || (c->value >= e->low && c->value <= e->high);
    }
    kb_fit_destroy(fit);
    return status;
}

/* ---------------------------------------------------------------- all starts */

static kbass_status search_start(const kb_constants_task *t, const double *values, const double *steps, landing *out,
                                 kbass_error *error)
{
    size_t n = t->dictionary->n_constants;
    bool is_better = false;
    kbass_status status = kb_dictionary_set_constants(t->dictionary, values, error);
    out->log_evidence = -INFINITY;
    out->n_columns = 0;
    if (status == KBASS_OK) status = t->search(t->context, 0, error);
    if (status != KBASS_OK || !count_used(t) || kb_run_stopped(t->run)) return status;
    status = profile(t, steps, out->estimates, NULL, NULL, &out->log_mass, error);
    memcpy(out->steps, steps, n * sizeof *steps);
    for (size_t i = 0; i < n; i++) out->values[i] = t->dictionary->constants[i].value;
    out->log_evidence = t->found->pool.fits[0]->log_evidence + out->log_mass;
    return status == KBASS_OK ? try_without(t, out, &is_better, error) : status;
}

/* Constants within their ranges, where starts are just places to begin at. */
static bool is_settled(const kb_constants_task *t, const landing *l)
{
    bool is_inside = isfinite(l->log_evidence);
    for (size_t i = 0; i < t->dictionary->n_constants; i++)
        is_inside = is_inside && !l->estimates[i].at_low && !l->estimates[i].at_high;
    return t->starts_are_blind && is_inside;
}

/* Searches from each start and profiles the constants in what it finds; the best of them stays. Starts that the law
   found last leads from to its own constants are not searched at. */
static kbass_status search_starts(const kb_constants_task *t, size_t n_starts, const double *values,
                                  const double *steps, landing *best, kbass_error *error)
{
    size_t n = t->dictionary->n_constants;
    kbass_status status = KBASS_OK;
    landing found = {.log_evidence = -INFINITY};
    best->log_evidence = -INFINITY;
    for (size_t i = 0; status == KBASS_OK && i < n_starts && !(i && kb_run_stopped(t->run)); i++) {
        bool is_known = false;
        if (is_settled(t, &found)) break;
        if (isfinite(found.log_evidence))
            status = leads_there(t, values + i * n, steps + i * n, &found, &is_known, error);
        if (status != KBASS_OK || is_known) continue;
        status = search_start(t, values + i * n, steps + i * n, &found, error);
        if (status == KBASS_OK && found.log_evidence > best->log_evidence) *best = found;
    }
    if (status == KBASS_OK && isfinite(best->log_evidence))
        status = kb_dictionary_set_constants(t->dictionary, best->values, error);
    return status;
}

static void shorten_steps(const kb_constants_task *t, const kb_constant_estimate *estimates, double *steps)
{
    for (size_t i = 0; i < t->dictionary->n_constants; i++) {
        const kb_constant *c = &t->dictionary->constants[i];
        if (!estimates[i].is_used || !(estimates[i].high > estimates[i].low)) continue;
        double width = kb_constant_share(c, estimates[i].high) - kb_constant_share(c, estimates[i].low);
        steps[i] = fmin(steps[i], 0.5 * width);
    }
}

/* Terms whose constant is at an end of its range: what they become there joins the dictionary. */
static kbass_status add_limits(const kb_constants_task *t, const kb_constant_estimate *estimates, bool *is_new,
                               kbass_error *error)
{
    const kb_columns *columns = t->columns(t->context);
    const kb_support *support = &t->found->pool.fits[0]->support;
    kbass_status status = KBASS_OK;
    *is_new = false;
    for (size_t i = 0; i < t->dictionary->n_constants; i++)
        for (size_t q = 0; status == KBASS_OK && estimates[i].is_used && q < support->n; q++) {
            size_t term = columns->term[support->column[q]];
            bool is_added = false;
            if (!(estimates[i].at_high || estimates[i].at_low) || !kb_dictionary_names_constant(t->dictionary, term, i))
                continue;
            status = kb_dictionary_add_limit(t->dictionary, term, i, estimates[i].at_high, &is_added, error);
            *is_new = *is_new || is_added;
        }
    return status;
}

static kbass_status search_again(const kb_constants_task *t, landing *best, kb_constant_estimate *estimates,
                                 double **correlation, kb_constants_spread *spread, kbass_error *error)
{
    size_t n = t->dictionary->n_constants, used = 0;
    bool is_better = isfinite(best->log_evidence);
    kbass_status status = KBASS_OK;
    if (!is_better) return KBASS_OK;
    memcpy(estimates, best->estimates, n * sizeof *estimates);
    for (size_t i = 0; i < n; i++) used += best->estimates[i].is_used;
    shorten_steps(t, best->estimates, best->steps);
    for (size_t round = 0; status == KBASS_OK && is_better && round < MOST_ROUNDS; round++) {
        is_better = false;
        if (kb_run_stopped(t->run)) return KBASS_OK;
        kb_free(*correlation);
        kb_constants_spread_clear(spread);
        *correlation = NULL;
        status = t->search(t->context, best->log_mass / (double)(used ? used : 1), error);
        if (status != KBASS_OK || !kb_has_model(t->found) || kb_run_stopped(t->run)) return status;
        *correlation = KB_NEW(double, n * t->found->pool.fits[0]->support.n);
        if (!*correlation) return kb_out_of_memory(error, "the constants");
        status = profile(t, best->steps, estimates, *correlation, spread, &best->log_mass, error);
        for (size_t i = 0; i < n; i++) best->values[i] = t->dictionary->constants[i].value;
        if (status != KBASS_OK || round + 1 == MOST_ROUNDS) break;
        status = try_without(t, best, &is_better, error);
        if (status == KBASS_OK && !is_better) status = add_limits(t, estimates, &is_better, error);
    }
    return status;
}

/* Where the chosen law's constants go from a start: another place that is as good is noted, and what it is worth. */
static kbass_status note_other(const kb_constants_task *t, const double *values, const double *steps,
                               kb_constant_estimate *estimates, kbass_error *error)
{
    const kb_fit *law = t->found->pool.fits[0];
    kb_fit *fit = NULL;
    kbass_status status = climb_law(t, values, steps, &fit, error);
    for (size_t i = 0; status == KBASS_OK && i < t->dictionary->n_constants; i++) {
        kb_constant_estimate *e = &estimates[i];
        double value = t->dictionary->constants[i].value, odds = exp(kb_fit_log_odds(fit, law));
        bool is_far = e->is_used && (value < e->low - (e->value - e->low) || value > e->high + (e->high - e->value));
        if (!is_far || !(odds >= kb_threshold.rival) || odds <= e->odds) continue;
        e->other = value;
        e->odds = odds;
    }
    kb_fit_destroy(fit);
    return status;
}

static kbass_status note_others(const kb_constants_task *t, size_t n_starts, const double *values, const double *steps,
                                kb_constant_estimate *estimates, kbass_error *error)
{
    size_t n = t->dictionary->n_constants;
    double chosen[KB_MOST_CONSTANTS];
    kbass_status status = KBASS_OK;
    if (!count_used(t)) return KBASS_OK;
    for (size_t i = 0; i < n; i++) chosen[i] = t->dictionary->constants[i].value;
    for (size_t i = 0; status == KBASS_OK && i < n_starts && !kb_run_stopped(t->run); i++)
        status = note_other(t, values + i * n, steps + i * n, estimates, error);
    return status == KBASS_OK ? kb_dictionary_set_constants(t->dictionary, chosen, error) : status;
}

/* ---------------------------------------------------------------- what was asked about */

/* A law that --explain asks about, from one place of the constants: where they lead it to the better it stays, `best`
   being its constants there. */
static kbass_status climb_from(const kb_constants_task *t, const double *values, const double *steps, kb_fit *law,
                               double *best, kbass_error *error)
{
    const kb_profile_setting setting = setting_of(t);
    kb_fit *fit = NULL;
    kbass_status status =
        kb_fit_create(setting.columns->n, setting.n_start, law->n_windows, law->support.n, &fit, error);
    if (status == KBASS_OK) status = kb_dictionary_set_constants(t->dictionary, values, error);
    if (status == KBASS_OK) {
        kb_fit_copy(law, fit, setting.columns->n, setting.n_start);
        status = kb_constants_climb(&setting, steps, fit, error);
    }
    if (status == KBASS_OK && fit->log_evidence > law->log_evidence) {
        kb_fit_copy(fit, law, setting.columns->n, setting.n_start);
        for (size_t i = 0; i < t->dictionary->n_constants; i++) best[i] = t->dictionary->constants[i].value;
    }
    kb_fit_destroy(fit);
    return status;
}

/* The law's constants where they are best: from the chosen law's, and from each start. Its sds know of them. */
static kbass_status profile_other(const kb_constants_task *t, size_t n_starts, const double *values,
                                  const double *steps, const double *chosen, kb_fit *law, kbass_error *error)
{
    const kb_profile_setting setting = setting_of(t);
    size_t n = t->dictionary->n_constants;
    double best[KB_MOST_CONSTANTS], log_mass = 0;
    kb_constant_estimate estimates[KB_MOST_CONSTANTS];
    memcpy(best, chosen, n * sizeof *best);
    kbass_status status = climb_from(t, chosen, steps, law, best, error);
    for (size_t i = 0; status == KBASS_OK && i < n_starts; i++)
        status = climb_from(t, values + i * n, steps + i * n, law, best, error);
    if (status == KBASS_OK) status = kb_dictionary_set_constants(t->dictionary, best, error);
    return status == KBASS_OK ? kb_constants_profile(&setting, steps, law, estimates, NULL, NULL, &log_mass, error)
                              : status;
}

/* Laws with a term more or less have constants of their own. */
static kbass_status explain_anew(const kb_constants_task *t, size_t n_starts, const double *values, const double *steps,
                                 kbass_error *error)
{
    size_t n = t->dictionary->n_constants;
    double chosen[KB_MOST_CONSTANTS];
    kbass_status status = KBASS_OK;
    for (size_t i = 0; i < n; i++) chosen[i] = t->dictionary->constants[i].value;
    for (size_t k = 0; status == KBASS_OK && n_starts && k < t->found->explained.n; k++) {
        kb_fit *law = t->found->explained.fits[k];
        if (!law->valid || kb_run_stopped(t->run)) continue;
        status = profile_other(t, n_starts, values, steps, chosen, law, error);
    }
    return status == KBASS_OK ? kb_dictionary_set_constants(t->dictionary, chosen, error) : status;
}

kbass_status kb_constants_search(const kb_constants_task *t, kb_constant_estimate *estimates, double **correlation,
                                 kb_constants_spread *spread, kbass_error *error)
{
    size_t n = t->dictionary->n_constants, n_starts = 0;
    double *values = KB_NEW(double, MOST_STARTS *n), *steps = KB_NEW(double, MOST_STARTS *n);
    landing best;
    kbass_status status = values && steps ? KBASS_OK : kb_out_of_memory(error, "the constants");
    *correlation = NULL;
    *spread = (kb_constants_spread){0};
    for (size_t i = 0; i < n; i++)
        estimates[i] =
            (kb_constant_estimate){.value = NAN, .low = NAN, .high = NAN, .sd = NAN, .other = NAN, .odds = NAN};
    if (status == KBASS_OK) status = t->scan(t->context, MOST_STARTS, values, steps, &n_starts, error);
    if (status == KBASS_OK) status = search_starts(t, n_starts, values, steps, &best, error);
    if (status == KBASS_OK) status = search_again(t, &best, estimates, correlation, spread, error);
    if (status == KBASS_OK) status = note_others(t, n_starts, values, steps, estimates, error);
    if (status == KBASS_OK) status = explain_anew(t, n_starts, values, steps, error);
    kb_free(values);
    kb_free(steps);
    return status;
}
