/* Fits beside a known law: ours, the oracle's, and the fit without one of the true terms. */
#ifndef BENCH_JUDGE_H
#define BENCH_JUDGE_H

#include <jansson.h>

#include "cases.h"

/* A number, or null when it is not finite. */
json_t *bench_real(double value);

/* One discovery, judged: {"outcome", "exact", "rmse", "recall", "precision", "seconds", "cpu", "models", "probability",
   "equations": [...], "errors": {"y_t: x": relative error, ...}}, where rmse is ||w - w*|| / ||w*|| over all terms and
   the error of a true term that was not found is -1. {"error": message} when it fails. */
json_t *bench_fit(const kbass_data *data, const kbass_settings *settings, const bench_law *law);

/* The same told the true terms, no others: the maximum-likelihood fit through the integrated equation. */
json_t *bench_oracle(const kbass_data *data, const kbass_settings *settings, const bench_law *law);

/* The distance from the clean samples, in noise standard deviations, of the best fit without the term `absent`:
   sqrt(sum ((y - fit)/sd)^2), the others and the start refitted; infinite when nothing can be fitted. */
kbass_status bench_detectability(const kbass_data *clean, const double *sd, const kbass_settings *settings,
                                 const bench_law *law, size_t absent, double *sigmas, kbass_error *error);

/* The same for all terms, linearised: each weight over its standard deviation in the fit that is told all terms. It
   needs no fit of a wrong model, which may end in a poor minimum, but holds near the truth only. NaN: no fit. */
kbass_status bench_linear_detectability(const kbass_data *clean, const double *sd, const kbass_settings *settings,
                                        const bench_law *law, double *sigmas, kbass_error *error);

/* "y_t: x^2*y" */
enum { BENCH_LABEL_SIZE = 40 };
void bench_label(const bench_term *term, char label[BENCH_LABEL_SIZE]);

#endif
