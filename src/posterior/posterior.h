/* What a fit leaves to believe: the chosen model and its near rivals, each with its weights and, window by window, the
 * start of the solution and the joint covariance of both. It is what a result file keeps and forecasts are drawn from.
 *
 * Of several runs each has its own: models and weights are common to them, windows are the run's.
 *
 * States over time: weights and starts in the data's units. Fields over space: weights likewise, starts in the modes of
 * forward/line.h, whose grid and scales are kept with them.
 */
#ifndef KB_POSTERIOR_H
#define KB_POSTERIOR_H

#include "forward/pde1d/runs.h"
#include "forward/shoot.h"

typedef struct {
    double first, last; /* times */
    double *start;      /* n_start */
    double *covariance; /* of the weights, then the start: (n_terms + n_start)^2, column-major */
} kb_stretch;

typedef struct {
    double log_odds; /* against the first model */
    size_t n_terms;
    size_t *equation; /* n_terms: which state's */
    char **term;      /* n_terms */
    double *weight;   /* n_terms; those given by --fix have no variance */
    double *noise;    /* n_states: standard deviation; a share of the value where the noise is relative */
    size_t n_windows;
    kb_stretch *windows;
} kb_belief;

struct kbass_posterior {
    size_t n_states, n_axes, n_start;
    char **state_names, **axis_names;
    char sha256[65];                              /* of the data */
    char *run;                                    /* its name; NULL: of one run alone */
    double first[KB_MAX_AXES], last[KB_MAX_AXES]; /* what was measured */
    bool is_relative;                             /* the noise */
    size_t n_models;
    kb_belief *models;
    /* of fields */
    double origin[2], span[2]; /* scaled coordinates are (x - origin) / span: of one run alone the record's */
    kb_pde1d_settings line;
    kb_profile profile;
    double spacing[2];         /* scaled, along time and space */
    double *mean, *sd, *bound; /* n_states: units of the scaled fields, and how far those may go */
    size_t n_boundary;
    double *boundary; /* amplitudes of the boundary's modes */
};

/* Names and spans of a run of the data; models to be added. */
kbass_status kb_posterior_create(const kbass_data *data, size_t run, size_t n_start, size_t most_models,
                                 kbass_posterior **out, kbass_error *error);
/* Room for one more model, which is not counted before n_models is raised. */
kbass_status kb_belief_allocate(const kbass_posterior *posterior, size_t n_terms, size_t n_windows, kb_belief *belief,
                                kbass_error *error);
void kb_belief_clear(kb_belief *belief);

/* The first fits of a sorted pool, as far as their odds count, for each run: `out` has as many as there are runs, whose
   windows begin at window_start (one more than runs). They stay NULL when the best fit cannot be linearised. */
kbass_status kb_posterior_of_states(const kbass_data *data, const kb_record *record, const kb_dictionary *dictionary,
                                    const kb_columns *columns, const kb_windows *windows, const size_t *window_start,
                                    size_t n_fits, kb_fit *const *fits, kbass_posterior **out, kbass_error *error);
kbass_status kb_posterior_of_fields(const kbass_data *data, const kb_pde1d_setup *setups,
                                    const kb_dictionary *dictionary, const kb_columns *columns,
                                    const kb_windows *windows, const size_t *window_start, size_t n_fits,
                                    kb_fit *const *fits, kbass_posterior **out, kbass_error *error);

#endif
