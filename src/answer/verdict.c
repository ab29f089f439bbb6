#include "answer/verdict.h"

#include <math.h>

#include "base/statistics.h"
#include "weights/fit.h"

static const double sure = 0.9;        /* P(law) from which it is found */
static const double clearly = 10;      /* odds at which the bare field leads */
static const double nearly_all = 0.99; /* share of the variance that an approximate law explains, */
static const double long_record = 100; /* of at least so many measurements */
static const double several = 2;       /* times the noise, which makes a law an approximate one */
static const double more_noise = 1.2;  /* ratio of sds above which there is more noise, where chance allows less */
static const double by_chance = 0.99;  /* share of ratios that chance makes smaller */

static const double no_rival = 100; /* odds up to which a smooth curve is none, where the law leaves nothing to it */

static double rest(const kb_verdict_numbers *n) { return n->drift_is_law ? n->constant : fmax(n->constant, n->drift); }

/* Odds of what has log evidence e against the laws together. */
static double odds(const kb_verdict_numbers *n, double e)
{
    return exp(fmin(kb_log_odds(e - n->law) - n->others, 600));
}

/* Short growth and decay curves look like any smooth curve: two parameters describe them as well as a law. Where the
   law leaves no more noise than the bare field, and that is white, there is nothing that the field explains and it does
   not: the field's lead is then a matter of priors, up to a bound. */
static double field_odds(const kb_verdict_numbers *n)
{
    double ratio = odds(n, n->field);
    return n->is_white && n->noise_ratio <= more_noise && ratio < no_rival ? fmin(ratio, 1 / no_rival) : ratio;
}

/* The law without terms is none, though it is among the models: what it has is not for a law. */
double kb_verdict_probability(const kb_verdict_numbers *n)
{
    double drift = n->drift_is_law ? 0 : odds(n, n->drift), with_terms = n->is_empty ? -expm1(-n->others) : 1;
    return with_terms / (1 + odds(n, n->constant) + drift + field_odds(n));
}

bool kb_verdict_leaves_noise(const kb_verdict_numbers *n)
{
    double chance = sqrt(kb_fisher_quantile(by_chance, n->values, n->freedom));
    return n->noise_ratio > fmax(more_noise, chance);
}

static bool is_approximate(const kb_verdict_numbers *n)
{
    return n->explained >= nearly_all && n->values >= long_record && n->is_sure;
}

kbass_law_verdict kb_verdict(const kb_verdict_numbers *n)
{
    double at_rest = n->is_empty ? fmax(rest(n), n->law) : rest(n);
    bool field_leads = odds(n, n->field) >= clearly;
    bool misses = kb_verdict_leaves_noise(n) || !n->is_white;
    bool field_moves = kb_log_odds(n->field - at_rest) >= log(clearly) && (!n->is_empty || misses);
    bool is_nothing = at_rest >= n->law && !field_moves;
    if (is_nothing) return n->is_whole ? KBASS_NOTHING_TO_EXPLAIN : KBASS_LAW_UNDECIDED;
    if (!n->is_whole) return KBASS_LAW_UNDECIDED;
    if (n->turns) return KBASS_LAW_NONE;
    if (field_leads && misses) return is_approximate(n) ? KBASS_LAW_APPROXIMATE : KBASS_LAW_NONE;
    if (!n->is_sure || !(kb_verdict_probability(n) >= sure)) return KBASS_LAW_UNDECIDED;
    return n->noise_ratio >= several && !n->is_white && is_approximate(n) ? KBASS_LAW_APPROXIMATE : KBASS_LAW_FOUND;
}
