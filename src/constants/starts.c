#include "constants/starts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { MOST_STARTS = 3 };

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

static kbass_status profile(const kb_constants_task *t, const double *steps, kb_constant_estimate *estimates,
                            double *correlation, kb_constants_spread *spread, double *log_mass, kbass_error *error)
{
    kb_profile_setting setting = {.dictionary = t->dictionary,
                                  .columns = t->columns(t->context),
                                  .n_start = t->found->pool.n_start,
                                  .make = t->make,
                                  .context = t->context,
                                  .run = t->run};
    return kb_constants_profile(&setting, steps, t->found->pool.fits[0], estimates, correlation, spread, log_mass,
                                error);
}

/* What a start led to. */
typedef struct {
    double log_evidence, log_mass;
    double values[KB_MOST_CONSTANTS], steps[KB_MOST_CONSTANTS];
    kb_constant_estimate estimates[KB_MOST_CONSTANTS];
} landing;

static kbass_status search_start(const kb_constants_task *t, const double *values, const double *steps, landing *out,
                                 kbass_error *error)
{
    size_t n = t->dictionary->n_constants;
    kbass_status status = kb_dictionary_set_constants(t->dictionary, values, error);
    out->log_evidence = -INFINITY;
    if (status == KBASS_OK) status = t->search(t->context, 0, error);
    if (status != KBASS_OK || !count_used(t) || kb_run_stopped(t->run)) return status;
    status = profile(t, steps, out->estimates, NULL, NULL, &out->log_mass, error);
    memcpy(out->steps, steps, n * sizeof *steps);
    for (size_t i = 0; i < n; i++) out->values[i] = t->dictionary->constants[i].value;
    out->log_evidence = t->found->pool.fits[0]->log_evidence + out->log_mass;
    return status;
}

/* Searches from each start and profiles the constants in what it finds; the best of them stays. */
static kbass_status search_starts(const kb_constants_task *t, size_t n_starts, const double *values,
                                  const double *steps, landing *best, kbass_error *error)
{
    size_t n = t->dictionary->n_constants;
    kbass_status status = KBASS_OK;
    best->log_evidence = -INFINITY;
    for (size_t i = 0; status == KBASS_OK && i < n_starts && !(i && kb_run_stopped(t->run)); i++) {
        landing found;
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

static kbass_status search_again(const kb_constants_task *t, landing *best, kb_constant_estimate *estimates,
                                 double **correlation, kb_constants_spread *spread, kbass_error *error)
{
    size_t n = t->dictionary->n_constants, used = 0;
    double again = 0, *steps = best->steps;
    for (size_t i = 0; i < n; i++) used += best->estimates[i].is_used;
    if (!isfinite(best->log_evidence) || kb_run_stopped(t->run)) return KBASS_OK;
    shorten_steps(t, best->estimates, steps);
    memcpy(estimates, best->estimates, n * sizeof *estimates);
    kbass_status status = t->search(t->context, best->log_mass / (double)(used ? used : 1), error);
    if (status != KBASS_OK || !kb_has_model(t->found) || kb_run_stopped(t->run)) return status;
    *correlation = KB_NEW(double, n * t->found->pool.fits[0]->support.n);
    if (!*correlation) return kb_out_of_memory(error, "the constants");
    return profile(t, steps, estimates, *correlation, spread, &again, error);
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
        estimates[i] = (kb_constant_estimate){.value = NAN, .low = NAN, .high = NAN, .sd = NAN};
    if (status == KBASS_OK) status = t->scan(t->context, MOST_STARTS, values, steps, &n_starts, error);
    if (status == KBASS_OK) status = search_starts(t, n_starts, values, steps, &best, error);
    if (status == KBASS_OK) status = search_again(t, &best, estimates, correlation, spread, error);
    kb_free(values);
    kb_free(steps);
    return status;
}
