#include "discover/doubt.h"

#include <math.h>

#include "discover/council.h"
#include "discover/horizon.h"

enum { MOST_USUAL = 4 };             /* terms of an equation: laws have few, a patch on a wrong one takes many */
enum { FEW_VALUES = 1000 };          /* where a second search takes seconds, and the first is soonest deceived */
static const double unlikely = 0.05; /* chance of neighbouring residuals so alike */

static bool leaves_a_pattern(const kb_residual_tests *residual_tests)
{
    for (size_t i = 0; i < residual_tests->n; i++)
        if (residual_tests->tests[i].kind == KB_TEST_WHITENESS && residual_tests->tests[i].p_value < unlikely)
            return true;
    return false;
}

static size_t count_values(const kb_pde1d_problem *l)
{
    size_t n = 0;
    for (size_t run = 0; run < l->n_runs; run++) n += l->run_samples[run]->n_values;
    return n;
}

/* Short windows let wrong laws follow the data, each start mending a little; many terms do the same; and what a wrong
   law cannot follow it leaves in the residuals. */
static bool is_doubtful(const kb_pde1d_problem *l, const kb_search_result *result)
{
    if (!kb_has_model(result) || leaves_a_pattern(&result->residual_tests) || count_values(l) <= FEW_VALUES)
        return true;
    return result->windows->n > l->n_runs || result->pool.fits[0]->support.n > MOST_USUAL * l->run_samples[0]->n_fields;
}

static double evidence(const kb_search_result *result)
{
    return kb_has_model(result) ? result->pool.fits[0]->log_evidence : -INFINITY;
}

/* What both cost is in the one that stays. */
static void keep_better(kb_search_result *result, kb_search_result *other)
{
    if (evidence(other) > evidence(result)) {
        kb_search_result swapped = *result;
        *result = *other;
        *other = swapped;
    }
    result->n_models += other->n_models;
    for (int stage = 0; stage < KBASS_STAGE_COUNT; stage++) result->seconds[stage] += other->seconds[stage];
    kb_search_result_clear(other);
}

kbass_status kb_doubt_search(const kb_pde1d_problem *l, kb_run *run, kb_search_result *result, kbass_error *error)
{
    kb_search_result other = {0};
    kbass_status status =
        kb_is_restless(l) ? kb_council_search(l, run, result, error) : kb_horizon_search(l, run, result, error);
    if (status != KBASS_OK || kb_run_stopped(run) || !is_doubtful(l, result)) return status;
    if (kb_horizon_search_simple(l, result, run, &other, NULL) != KBASS_OK) kb_search_result_clear(&other);
    keep_better(result, &other); /* what goes wrong with the second search takes nothing from the first */
    return KBASS_OK;
}
