/* Shooting: a model's weights and initial states fitted to the data through the integrated equation.
 *
 * The record is cut into windows that share their border rows (each counted half in both), every window with its own
 * initial state, all with the same weights and noise; one window is single shooting. The normal equations are a
 * block arrow: eliminating each window's initial state leaves its message about the weights, and messages add
 * (docs/math.md, eqs 19 to 22). Noise is estimated per state, drawn towards a common share of the states' variances.
 */
#ifndef KB_SHOOT_H
#define KB_SHOOT_H

#include "forward/comparison.h"
#include "forward/ode/trajectory.h"
#include "weights/likelihood.h"

/* One thread's workspace. */
typedef struct {
    kb_likelihood likelihood; /* how a search sees it */
    kb_dynamics *dynamics;    /* owned */
    kb_flow *flow;            /* that of ODE dynamics, NULL otherwise */
    size_t max_columns, max_windows;
    double *predicted, *tangents; /* windows one after another, a shared border row in both; at offset[window] */
    size_t *offset;
    double *normals, *weighted; /* one window's J'J and J */
    double *Hww, *gw, *Hzw, *Hzz, *gz, *system, *dw, *dz, *trial_w, *trial_start, *squares, *counts, *before;
    double *gradient, *inverse, *spread;
    /* Where columns have constraints: the basis of free weights (k x n_free), workspace, and weights that are held. */
    double *basis, *constrained_work, *placed_w;
    size_t n_free;
    bool *held, was_cut; /* the last step ended at a bound */
    kb_comparison comparison;
    double log_relative;                              /* sum of log h over what squares were summed over */
    size_t n_tangents;                                /* of the model set last */
    const kb_support *model_support, *model_tangents; /* that model, while it is integrated */
    const double *model_w;
    bool was_stiff;                         /* the last integration */
    double *kept_tangents, *kept_residuals; /* where kb_shooter_linearise wants them, or NULL */
    double *blocks;                         /* what windows leave that threads weigh together (shoot_team.h) */
    size_t n_blocks;                        /* numbers in it */
    double pace;          /* of the last integration with tangents: seconds for a row and a parameter; 0: none yet */
    kb_work_key identity; /* of the dynamics, once it was asked for */
    struct kb_shooter_ranks *ranks; /* that share the windows (shoot_share.h); NULL: none do */
} kb_shooter;

/* The shooter that a likelihood is. */
static inline kb_shooter *kb_shooter_of(kb_likelihood *likelihood) { return (kb_shooter *)likelihood; }
/* Fills the interface of a shooter's likelihood, made from its dynamics. */
void kb_shooter_implement(kb_shooter *shooter, const kb_columns *columns);

/* Shooting of trajectories through a record. */
kbass_status kb_shooter_create(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                               size_t max_windows, size_t max_columns, kb_shooter **out, kbass_error *error);
/* The same for any dynamics, which the shooter takes over, also when it fails. */
kbass_status kb_shooter_create_on(kb_dynamics *dynamics, const kb_columns *columns, size_t max_windows,
                                  size_t max_columns, kb_shooter **out, kbass_error *error);
void kb_shooter_destroy(kb_shooter *shooter);

/* As kb_likelihood has them. */
void kb_shooter_fit(kb_shooter *shooter, kb_fit *fit, int max_iterations, double rival);
/* The start (n) at a row of a window that continues the fitted solution. */
bool kb_shooter_state(kb_shooter *shooter, const kb_fit *fit, size_t window, size_t row, double *state);
bool kb_shooter_covariances(kb_shooter *shooter, const kb_fit *fit, double *covariances);
/* Residuals of all windows' observations at a valid fit and, P = k + n for each, their tangents, both over the noise's
   sd and times the root of their weight; leaves the factors of the normal equations in Hzz, Hzw and system. */
bool kb_shooter_linearise(kb_shooter *shooter, const kb_fit *fit, double *tangents, double *residuals);
/* After that: x <- A^{-1} x for k x n_right numbers, A the weights' normal equations; `work` as many. */
void kb_shooter_solve(const kb_shooter *shooter, size_t k, size_t n_right, double *x, double *work);
/* Degrees of freedom behind the noise estimate of a group; INFINITY when the noise is known. */
double kb_shooter_freedom(kb_shooter *shooter, const kb_fit *fit, size_t group);
/* The message about the columns of `all` at a valid fit. */
bool kb_shooter_message(kb_shooter *shooter, const kb_fit *fit, const kb_support *all, kb_message *message);
/* The message of the integral form along the fitted solution, every equation for itself; false where there is none.
   `mixes`: states that the fit follows poorly are those of the bare field. */
bool kb_shooter_integrals(kb_shooter *shooter, const kb_fit *fit, bool mixes, kb_message *message);
/* After kb_shooter_message: the windows' starts (n each) follow a change dw of the weights of `all`, as the message
 * supposes. */
void kb_shooter_follow(kb_shooter *shooter, const double *dw, double *start);

#endif
