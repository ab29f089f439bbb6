/* The forecast of a report: quantiles of draws from the end of the record on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "read.h"
#include "view.h"

enum { N_TIMES = 101, N_PLACES = 100, N_DRAWS = 200, N_DRAWS_OF_SEVERAL = 60 }; /* several axes take longer */

static double *even(size_t n, double first, double last)
{
    double *values = calloc(n, sizeof *values);
    for (size_t i = 0; values && i < n; i++) values[i] = first + (last - first) * (double)i / (double)(n - 1);
    return values;
}

/* Along the first axis of space, halfway along the others: n_places x the axes of space. */
static double *line_through_middle(const view *v, const kbass_posterior *posterior)
{
    size_t space = v->n_axes - 1;
    double *places = calloc(N_PLACES * space, sizeof *places), first = NAN, last = NAN;
    for (size_t d = 0; places && d < space; d++) {
        kbass_posterior_range(posterior, d + 1, &first, &last);
        for (size_t i = 0; i < N_PLACES; i++)
            places[i * space + d] = d ? (first + last) / 2 : first + (last - first) * (double)i / (N_PLACES - 1);
    }
    return places;
}

/* Values by the posterior's states to values by the view's columns, of which inputs have none. */
static void put_columns(const view *v, const kbass_posterior *posterior, size_t n, const double *from, double *to)
{
    size_t states = kbass_posterior_states(posterior);
    for (size_t j = 0; j < v->n_states; j++) {
        size_t state = 0;
        while (state < states && strcmp(kbass_posterior_state_name(posterior, state), v->states[j])) state++;
        for (size_t i = 0; i < n; i++) to[i * v->n_states + j] = state < states ? from[i * states + state] : NAN;
    }
}

static kbass_status summarise(view *v, const kbass_posterior *posterior, const kbass_forecast *forecast,
                              kbass_error *error)
{
    static const double shares[] = {0.05, 0.5, 0.95};
    view_forecast *f = &v->forecast;
    size_t n = N_TIMES * (v->n_axes > 1 ? N_PLACES : 1);
    double *own = calloc(n * kbass_posterior_states(posterior), sizeof *own);
    kbass_status status = own ? KBASS_OK : KBASS_ERROR_MEMORY;
    for (size_t k = 0; status == KBASS_OK && k < 3; k++) {
        f->quantiles[k] = calloc(n * v->n_states, sizeof *f->quantiles[k]);
        status = f->quantiles[k] ? kbass_forecast_summary(forecast, 1, &shares[k], NULL, own, NULL, error)
                                 : KBASS_ERROR_MEMORY;
        if (status == KBASS_OK) put_columns(v, posterior, n, own, f->quantiles[k]);
    }
    free(own);
    f->n_draws = kbass_forecast_draws(forecast);
    f->n_lost = kbass_forecast_lost(forecast, NULL, NULL);
    return status;
}

static int draw(view *v, const kbass_posterior *posterior, double until)
{
    double first[2] = {NAN, NAN}, last[2] = {NAN, NAN};
    const kbass_forecast_options options = {
        .n_draws = v->n_axes > 2 ? N_DRAWS_OF_SEVERAL : N_DRAWS, .seed = 1, .average = 1};
    double *positions = v->n_axes > 1 ? line_through_middle(v, posterior) : NULL;
    view_forecast *f = &v->forecast;
    kbass_forecast *forecast = NULL;
    kbass_error error = {0};
    for (size_t a = 0; a < 2; a++) kbass_posterior_range(posterior, a, &first[a], &last[a]);
    if (!(until > last[0])) {
        free(positions);
        return cli_fail("--until: found %.10g, needed more than %.10g, where the record ends", until, last[0]);
    }
    f->n_places = v->n_axes > 1 ? N_PLACES : 0;
    f->times = even(N_TIMES, last[0], until);
    f->places = f->n_places ? even(N_PLACES, first[1], last[1]) : NULL;
    bool complete = f->times && (!f->n_places || (f->places && positions));
    kbass_status status = complete ? kbass_posterior_forecast(posterior, &options, N_TIMES, f->times, f->n_places,
                                                              positions, &forecast, &error)
                                   : KBASS_ERROR_MEMORY;
    free(positions);
    if (!complete) return cli_fail("out of memory for the forecast");
    if (status == KBASS_OK) status = summarise(v, posterior, forecast, &error);
    if (status == KBASS_OK) f->n_times = N_TIMES;
    kbass_forecast_destroy(forecast);
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}

int view_look_ahead(view *v, const cli_arguments *arguments, double until)
{
    kbass_posterior *posterior = NULL;
    kbass_error error;
    const char *run = cli_value(arguments, "of-run");
    kbass_status status = kbass_posterior_read(v->path, run, &posterior, &error);
    while (run && v->forecast.run + 1 < v->n_runs && strcmp(run, v->runs[v->forecast.run])) v->forecast.run++;
    int code = status == KBASS_OK ? cli_take_inputs(arguments, v->path, posterior) : cli_fail_with(status, &error);
    if (code == EXIT_OK) code = draw(v, posterior, until);
    kbass_posterior_destroy(posterior);
    return code;
}
