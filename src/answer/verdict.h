/* The verdict: is there a law at all? Numbers in, verdict out; docs/math.md, section 10, has the rule.
 *
 * Laws of the dictionary compete with a constant, with a drift and with the bare field, a curve or field that needs no
 * equation. Evidence is the yardstick, but on short smooth records a bare field of two parameters is hard to beat: it
 * wins only where the law also leaves more noise than it, or residuals that are not white.
 */
#ifndef KB_ANSWER_VERDICT_H
#define KB_ANSWER_VERDICT_H

#include <stdbool.h>

#include "kbass/kbass.h"

typedef struct {
    double law;             /* log evidence of the best law of the dictionary */
    double others;          /* log of the sum over its laws of their evidence over the best's, 0 for one alone */
    double chosen;          /* share of the best among them, as probabilities of terms count them */
    double constant, drift; /* log evidence of u_t = 0 and u_t = c, */
    double field;           /* and of the bare field; -INFINITY: not known */
    double noise;           /* of noise alone, at what the field pays for its numbers; -INFINITY: likewise */
    bool drift_is_law;      /* the dictionary has the term 1 */
    bool is_empty;          /* the best law has no term at all, */
    bool is_line;           /* or none but 1: straight lines */
    bool is_sure;           /* each of its terms is in */
    bool is_whole;          /* it was fitted to the whole record, by a search that was not stopped */
    bool is_improving;      /* the kernel engine, whose probabilities are no guide then, had not come to an end */
    bool is_white;          /* its residuals do not resemble their neighbours */
    bool turns;             /* the only state passes values both rising and falling: no x_t = f(x) does */
    double noise_ratio;     /* sd of the noise that the law leaves over that beside the bare field, the worst state's */
    double values;          /* measurements of that state, */
    double freedom;         /* and the degrees of freedom behind the noise beside the bare field */
    double explained;       /* share of the variance, */
    double change;          /* and of what it is beside a field at rest */
} kb_verdict_numbers;

/* Log evidence of a constant, or of a drift where that is no law. */
double kb_verdict_rest(const kb_verdict_numbers *numbers);
/* P(a law of the dictionary holds), against all that needs none. */
double kb_verdict_probability(const kb_verdict_numbers *numbers);
/* Does the law leave more noise than the bare field, beyond what so many measurements let it vary? */
bool kb_verdict_leaves_noise(const kb_verdict_numbers *numbers);
/* Is more left than a law that is called found leaves: noise, at less certainty, or residuals that are not white? */
bool kb_verdict_misses(const kb_verdict_numbers *numbers);
kbass_law_verdict kb_verdict(const kb_verdict_numbers *numbers);

#endif
