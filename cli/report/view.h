/* A result file as the reader of a report sees it: names, equations, solution, samples. Read from JSON
 * (docs/schema.md); whatever does not fit is refused with the field at fault.
 */
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include <jansson.h>
#include <stdbool.h>

#include "kbass/kbass.h"
#include "options.h"

typedef struct {
    const char *name, *verdict, *unit;         /* unit: NULL when it is not known */
    double weight, sd, low, high, probability; /* NaN where it is not known */
    bool is_selected;
} view_term;

typedef struct {
    const char *lhs, *text;
    bool is_known; /* given by --fix */
    size_t n_terms;
    view_term *terms;
} view_equation;

/* Quantiles of the forecast: 5, 50 and 95 %. */
typedef struct {
    size_t run, n_times, n_places, n_draws, n_lost;
    double *times, *places;
    double *quantiles[3]; /* n_times x n_places x n_states */
} view_forecast;

typedef struct {
    const char *path; /* in messages */
    json_t *root;     /* owns all names */
    size_t n_states, n_axes, n_equations;
    const char **states, *axes[KBASS_MAX_AXES];
    char **state_labels, *axis_labels[KBASS_MAX_AXES]; /* "x (m)" where the unit is known */
    const char *origin;             /* "2021-03-04 05:06": the date of time 0 where times were dates; else NULL, */
    double seconds;                 /* and a unit of time in seconds */
    size_t n_runs;                  /* 1 or more */
    const char **runs;              /* their names, "" for one alone */
    double span[KBASS_MAX_AXES][2]; /* measured, along each axis */
    double *noise;                  /* by state, */
    bool noise_is_relative;         /* as a share of the value */
    view_equation *equations;
    /* the solution on an even grid, time slowest; n_points is 0 where there is none. Of several runs each has its own
       grid, one after the other */
    size_t n_points, n_along[KBASS_MAX_AXES];
    double *along[KBASS_MAX_AXES], **mean, **sd; /* by state */
    size_t *point_run;                           /* of several runs that of each time of the grid; else NULL */
    /* the samples */
    size_t n_rows, step;
    double *at[KBASS_MAX_AXES], **measured, **fitted, **sigma; /* sigma: error bars, NULL without */
    size_t *row_run;
    view_forecast forecast; /* n_times is 0 when none was asked for */
} view;

/* Both return an exit code; a view that failed to open can be closed. `path` stands in messages. */
int view_open(const char *path, view *v);
int view_parse(const char *path, const char *json, view *v);
void view_close(view *v);

/* Integrates draws from the end of the record to `until`, of several runs in the one with this name, else NULL; the
   file is read again for its posterior. */
int view_look_ahead(view *v, const cli_arguments *arguments, double until);

/* Names with their units, as axes of figures have them. */
int view_label(view *v);

/* One run of fields as a view of its own: borrowed, but for what `view_run_close` frees. False: out of memory. */
bool view_run_open(const view *v, size_t run, view *out);
void view_run_close(view *run);

/* n_rows residuals of a state in units of the noise; NaN where nothing was measured or the noise is not known. */
void view_residuals(const view *v, size_t state, double *residuals);

#endif
