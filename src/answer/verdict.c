#include "answer/verdict.h"

#include <math.h>

#include "base/statistics.h"
#include "evidence/thresholds.h"
#include "weights/fit.h"

double kb_verdict_rest(const kb_verdict_numbers *n)
{
    return n->drift_is_law ? n->constant : fmax(n->constant, n->drift);
}

/* Odds of what has log evidence e against the laws together: the caution is for what the data say of the two, once, and
   not for each law. */
static double odds(const kb_verdict_numbers *n, double e)
{
    return exp(fmin(kb_log_odds(e - n->law - n->others), 600));
}

/* Short growth and decay curves look like any smooth curve: two parameters describe them as well as a law. Where the
   law leaves no more noise than the bare field, and that is white, there is nothing that the field explains and it does
   not: the field's lead is then a matter of priors, up to a bound. A straight line is no such curve. */
static double field_odds(const kb_verdict_numbers *n)
{
    double ratio = odds(n, n->field);
    return !n->is_line && n->is_white && n->noise_ratio <= kb_threshold.more_noise && ratio < kb_threshold.no_rival
               ? fmin(ratio, 1 / kb_threshold.no_rival)
               : ratio;
}

/* The law without terms is none, though it is among the models: what it has is not for a law. */
double kb_verdict_probability(const kb_verdict_numbers *n)
{
    double drift = n->drift_is_law ? 0 : odds(n, n->drift), with_terms = n->is_empty ? 1 - n->chosen : 1;
    return with_terms / (1 + odds(n, n->constant) + drift + field_odds(n));
}

static bool leaves_noise(const kb_verdict_numbers *n, double share)
{
    return n->noise_ratio > fmax(kb_threshold.more_noise, sqrt(kb_fisher_quantile(share, n->values, n->freedom)));
}

bool kb_verdict_leaves_noise(const kb_verdict_numbers *n) { return leaves_noise(n, kb_threshold.by_chance); }

bool kb_verdict_misses(const kb_verdict_numbers *n)
{
    return leaves_noise(n, kb_threshold.by_less_chance) || !n->is_white;
}

static bool is_approximate(const kb_verdict_numbers *n)
{
    return n->change >= kb_threshold.nearly_all && n->values >= kb_threshold.long_record && n->is_sure;
}

kbass_law_verdict kb_verdict(const kb_verdict_numbers *n)
{
    double at_rest = n->is_empty ? fmax(kb_verdict_rest(n), n->law) : kb_verdict_rest(n);
    bool field_leads = odds(n, n->field) >= kb_threshold.clearly;
    bool misses = kb_verdict_leaves_noise(n) || !n->is_white;
    double still = fmax(at_rest, n->noise);
    bool is_curve = n->noise > -INFINITY; /* of noise alone; fields need more to move than to lead */
    bool field_moves =
        kb_log_odds(n->field - still) >= log(kb_threshold.clearly) && (!n->is_empty || misses || is_curve);
    bool laws_lead = kb_verdict_probability(n) >= kb_threshold.sure; /* together, though each is worse */
    bool is_nothing = at_rest >= n->law && !laws_lead && !field_moves;
    if (is_nothing) return n->is_whole ? KBASS_NOTHING_TO_EXPLAIN : KBASS_LAW_UNDECIDED;
    if (!n->is_whole) return KBASS_LAW_UNDECIDED;
    if (n->turns) return KBASS_LAW_NONE;
    if (field_leads && misses) return is_approximate(n) ? KBASS_LAW_APPROXIMATE : KBASS_LAW_NONE;
    if (!n->is_sure || n->is_improving || !(kb_verdict_probability(n) >= kb_threshold.sure)) return KBASS_LAW_UNDECIDED;
    if (!kb_verdict_misses(n)) return KBASS_LAW_FOUND;
    return is_approximate(n) ? KBASS_LAW_APPROXIMATE : KBASS_LAW_UNDECIDED;
}
