/* What a forecast came to: draws, by time and value. */
#ifndef KB_FORECAST_OUTLOOK_H
#define KB_FORECAST_OUTLOOK_H

#include <stdbool.h>

#include "kbass/kbass.h"

struct kbass_forecast {
    size_t n_draws, n_times, n_values; /* values: of one time */
    double *times;
    double *values; /* n_draws x n_times x n_values */
    bool *is_done;  /* n_draws */
    bool *is_too_far;
};

/* Among ranks: is this draw done here? And after the draws: every rank gets those of all (values and flags). */
bool kb_forecast_is_own(const kbass_reduce *reduce, size_t draw);
kbass_status kb_forecast_exchange(kbass_forecast *forecast, const kbass_reduce *reduce, kbass_error *error);

#endif
