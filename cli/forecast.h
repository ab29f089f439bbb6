/* What kbass forecast has computed, and how it is written. */
#ifndef CLI_FORECAST_H
#define CLI_FORECAST_H

#include "kbass/kbass.h"
#include "numbers.h"

typedef struct {
    kbass_posterior *posterior;
    kbass_forecast *forecast;
    kbass_data *data; /* or NULL */
    char *origin;     /* the date of time 0, or NULL */
    double seconds;   /* of time 1 */
    cli_numbers times;
    size_t n_space, n_along, n_places; /* axes of space, places along each, and in all: 1 without space */
    cli_numbers places;                /* n_places x n_space, the last axis fastest */
    cli_numbers percents;              /* of the quantiles */
    size_t n_written;                  /* times that at least one draw reaches */
    double *mean, *quantiles;          /* times x places x states; one such block for each quantile */
    size_t *reached;                   /* draws, per time */
} cli_outlook;

/* Even places along every axis of space, n along each. Returns an exit code, as the others. */
int cli_outlook_places(cli_outlook *outlook, size_t n);
/* Place i along an axis. */
double cli_outlook_place(const cli_outlook *outlook, size_t axis, size_t i);

/* Each returns an exit code. */
int cli_outlook_write(const cli_outlook *outlook, const char *path); /* mean and quantiles */
int cli_outlook_draws(const cli_outlook *outlook, const char *path);
int cli_outlook_figure(const cli_outlook *outlook, const char *path);

#endif
