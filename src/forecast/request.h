/* What a forecast is asked for, and whether it can be.
 */
#ifndef KB_FORECAST_REQUEST_H
#define KB_FORECAST_REQUEST_H

#include "base/run.h"
#include "forecast/stage.h"

typedef struct {
    const kbass_posterior *posterior;
    const kbass_forecast_options *options;
    size_t n_times, n_places;
    const double *times, *places;
    kb_ends ends;
    int threads;
    kb_run *run;
    kbass_forecast *forecast;
} kb_forecast_request;

/* Options, times and places; chooses the ends of fields. */
kbass_status kb_forecast_check(kb_forecast_request *q, kbass_error *error);

#endif
