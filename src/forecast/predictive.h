/* What a predictor says of values, and how well it foretold them (docs/math.md, eq. 69). */
#ifndef KB_PREDICTIVE_H
#define KB_PREDICTIVE_H

#include "kbass/kbass.h"

/* Of one value: draws of the state, each with the noise of a measurement. One draw makes a Gaussian. */
typedef struct {
    size_t n; /* 0: it says nothing */
    const double *draws;
    double sd;
} kb_prediction;

/* Of a state at a scored row; draws: room for as many as there may be. */
typedef kb_prediction (*kb_predict)(const void *context, size_t point, size_t state, double *draws);

/* Judges a predictor on the scored rows; the score has room for it. */
kbass_status kb_score_add(kbass_score *score, const char *name, size_t most_draws, kb_predict predict,
                          const void *context, kbass_error *error);

#endif
