/* What a fit leaves to believe: the chosen model and its near rivals, each with its weights and, window by window, the
 * start of the solution and the joint covariance of both. It is what a result file keeps and forecasts are drawn from.
 *
 * Of several runs each has its own: models and weights are common to them, windows are the run's.
 *
 * States over time: weights and starts in the data's units. Fields over one space axis: weights likewise, starts in the
 * modes of forward/pde1d, whose grid and scales are kept with them. Fields over several axes, or of second order in
 * time: one window without a start, the last row at nodes, and predictions on a mesh (docs/math.md, section 33).
 */
#ifndef KB_POSTERIOR_H
#define KB_POSTERIOR_H

#include "forward/pde1d/runs.h"
#include "forward/shoot.h"
#include "gp/input_curves.h"
#include "posterior/field_spread.h"
#include "weights/constants_spread.h"
#include "weights/frame.h"

typedef struct {
    double first, last; /* times */
    double *start;      /* n_start */
    double *covariance; /* of the weights, then the start: (n_terms + n_start)^2, column-major */
} kb_stretch;

typedef struct {
    double log_odds; /* against the first model */
    size_t n_terms;
    size_t n_constant_terms; /* of these, the last: of weight 0, for constants inside terms that are uncertain */
    size_t *equation;        /* n_terms: which state's */
    char **term;             /* n_terms */
    double *weight;          /* n_terms; those given by --fix have no variance */
    double *noise;           /* n_states: standard deviation; a share of the value where the noise is relative */
    size_t n_windows;
    kb_stretch *windows;
    /* over several axes: weights + factor e, last row = last + factor e; both in the data's units */
    size_t rank;
    double *last;      /* n_last */
    double *factor;    /* (n_terms + n_last) x rank, the last fastest */
    double *predicted; /* 3 x n_points x n_states: mean, variance, variance when the weights are known */
} kb_belief;

/* What the last rows and the predictions of several axes are of. */
typedef struct {
    int time_order; /* 0: not of several axes */
    bool has_rates; /* the last row: values, then their first derivatives in time */
    size_t n_nodes[KB_MAX_AXES - 1];
    bool is_closed[KB_MAX_AXES - 1];
    double low[KB_MAX_AXES - 1], high[KB_MAX_AXES - 1]; /* of the nodes (simulate/nodes.h), along each axis of space */
    size_t n_last;                                      /* nodes (the first axis fastest) x states, rates after them */
    size_t n_mesh[KB_MAX_AXES], n_points;               /* even points over the record, time slowest */
} kb_last_row;

/* Of several axes: the chosen model's fields at the nodes of the last row, where the record begins and, with open axes,
   at even times over it. */
typedef struct {
    size_t n;       /* times */
    double *times;  /* n */
    double *values; /* n x nodes x n_states */
    double *rates;  /* nodes x n_states, of second order in time; else NULL */
} kb_first_rows;

struct kbass_posterior {
    size_t n_states, n_axes, n_start; /* states: those with an equation */
    char **state_names, **axis_names;
    kb_input_curves inputs;                       /* of states: what drives them */
    char sha256[65];                              /* of the data */
    char *run;                                    /* its name; NULL: of one run alone */
    char *units;                                  /* "t:h, s:g/l" as far as they are known, or NULL */
    double first[KB_MAX_AXES], last[KB_MAX_AXES]; /* what was measured */
    bool is_relative;                             /* the noise */
    size_t n_models;
    kb_belief *models;
    /* of fields */
    double origin[KB_MAX_AXES],
        span[KB_MAX_AXES]; /* scaled coordinates are (x - origin) / span: of one run alone the record's */
    kb_pde1d_settings line;
    kb_profile profile;
    double spacing[2];         /* scaled, along time and space */
    double *mean, *sd, *bound; /* n_states: units of the scaled fields, and how far those may go */
    size_t n_boundary;
    double *boundary; /* amplitudes of the boundary's modes */
    kb_last_row row;  /* of several axes */
    kb_first_rows start;
};

static inline bool kb_posterior_has_row(const kbass_posterior *p) { return p->row.time_order > 0; }

/* Names and spans of a run of the data; models to be added. */
kbass_status kb_posterior_create(const kbass_data *data, size_t run, size_t n_start, size_t most_models,
                                 kbass_posterior **out, kbass_error *error);
/* Room for one more model, which is not counted before n_models is raised. */
kbass_status kb_belief_allocate(const kbass_posterior *posterior, size_t n_terms, size_t n_windows, kb_belief *belief,
                                kbass_error *error);
void kb_belief_clear(kb_belief *belief);
/* Terms and weights of a fit, those given by --fix first. */
kbass_status kb_belief_name_terms(const kb_frame *frame, const kb_fit *fit, kb_belief *belief, kbass_error *error);

/* Room for the last row and the predictions of a model. */
kbass_status kb_belief_allocate_row(const kbass_posterior *posterior, size_t rank, kb_belief *belief,
                                    kbass_error *error);
/* Coordinates of a node of the last row, and of a point of the mesh (time first). */
void kb_last_row_node(const kb_last_row *row, size_t n_space, size_t node, double *place);
void kb_last_row_point(const kbass_posterior *posterior, size_t point, double *at);

/* The first fits of a sorted pool, as far as their odds count, for each run: `out` has as many as there are runs, whose
   windows begin at window_start (one more than runs). They stay NULL when the best fit cannot be linearised. */
kbass_status kb_posterior_of_states(const kbass_data *data, const kb_record *record, const kb_dictionary *dictionary,
                                    const kb_columns *columns, const kb_windows *windows, const size_t *window_start,
                                    size_t n_fits, kb_fit *const *fits, kbass_posterior **out, kbass_error *error);
kbass_status kb_posterior_of_fields(const kbass_data *data, const kb_pde1d_setup *setups,
                                    const kb_dictionary *dictionary, const kb_columns *columns,
                                    const kb_windows *windows, const size_t *window_start, size_t n_fits,
                                    kb_fit *const *fits, kbass_posterior **out, kbass_error *error);

/* The chosen model's belief with its uncertain constants: terms, and windows of one run, which begin at first_window of
   the fit's; n_start: unknowns of a start in the fit. */
kbass_status kb_posterior_add_constants(kbass_posterior *posterior, const kb_frame *frame, const kb_fit *fit,
                                        size_t n_start, size_t first_window, const kb_constants_spread *spread,
                                        kbass_error *error);

/* A model's fields at points (times ascending), as field_spread.h has them; what it is to fill is allocated. */
typedef kbass_status kb_spread_source(const void *context, size_t fit, size_t n, const double *times,
                                      const double *positions, kb_field_spread *spread, kbass_error *error);
/* The same of one run of fields over several axes, or of second order in time. noise_unit: by state, what a noise
   variance of 1 is a standard deviation of. *out stays NULL when the best fit cannot be linearised. */
kbass_status kb_posterior_of_axes(const kbass_data *data, size_t run, const kb_frame *frame,
                                  const kb_field_samples *samples, const double *noise_unit, size_t n_fits,
                                  kb_fit *const *fits, kb_spread_source *source, const void *context,
                                  kbass_posterior **out, kbass_error *error);

#endif
